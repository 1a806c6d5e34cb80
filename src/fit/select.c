/*
 * Stage select: which rows are landmarks.
 *
 * The rule of the settings (select/rules.h) does the work; ny_fit_select() gives it the points, the
 * frozen kernel, the image of its last checkpoint, and in an update the earlier landmarks.
 * Afterwards it measures the residuals of all rows where --certify asks for it and the rule does
 * not have them. It leaves the parts "landmarks" (row numbers, u64) and "residuals" (f32, one a
 * row, where they are known). With --online the pass of the selection sums up as well, which is a
 * stage of its own: fit/online.c.
 */
#include "base/text.h"
#include "fit/courses.h"
#include "fit/sizes.h"
#include "fit/select.h"
#include "fit/timing.h"
#include "base/peers.h"
#include "fit/given_columns.h"
#include "model/geometry.h"

static int checkpoint(void *arg, const void *image, size_t bytes)
{
    return ny_job_checkpoint_image(arg, NY_STAGE_SELECT, "select", image, bytes, 0);
}

/* Tells whether the data decide how many passes a selection makes: residuals are measured anew when
 * they have become small, and a search for a size goes on until it is met. */
static bool passes_vary(const struct ny_fit_settings *settings)
{
    const struct ny_rule *rule = settings->rule;

    return rule->measures || (rule->by_tolerance && isnan(settings->dictionary.tolerance));
}

/* Reports the largest residual, its row, and the mean. As they are upper bounds, those of kernels
 * whose k(x,x) is 1 may be rounded to more than that, which no residual is. */
static void report_residuals(struct ny_fit *fit, const struct ny_selection *selection)
{
    const struct ny_kernel *kernel = fit->settings->kernel;
    struct ny_state_report *report = &fit->job.state.report;
    double most = kernel && kernel->constant_diagonal ? 1 : INFINITY;

    report->residual_max = selection->residual_max > most ? most : selection->residual_max;
    report->residual_mean = selection->residual_mean > most ? most : selection->residual_mean;
    report->residual_max_row = selection->residual_max > 0 ? selection->residual_row : NY_NONE;
}

/* Puts the selection into the parts that are committed next, and into the report. */
static int put_selection(struct ny_fit *fit, const struct ny_selection *selection)
{
    struct ny_state_report *report = &fit->job.state.report;
    int err = ny_earlier_compare(fit, selection->rows, selection->m);

    if (!err && selection->rows)
        err = ny_job_put_part(&fit->job, "landmarks", selection->rows,
                              selection->m * sizeof(uint64_t));
    if (err) return err;
    if (selection->residuals)
        err = ny_job_put_part(&fit->job, "residuals",
                              selection->residuals + fit->job.points.here.first,
                              (size_t)ny_rows_here(&fit->job.points) * sizeof(float));
    else
        ny_record_renew(fit->job.record, "residuals"); /* those of before are not of these rows */
    if (err) return err;
    report_residuals(fit, selection);
    report->tolerance = selection->tolerance;
    report->pilot_tolerance_low = selection->pilot_low;
    report->pilot_tolerance_high = selection->pilot_high;
    report->landmarks = selection->m;
    fit->job.state.record.selected = fit->job.points.n;
    if (passes_vary(fit->settings)) report->selection_passes = selection->passes;
    ny_job_count_passes(&fit->job, selection->passes, selection->rows_read, selection->flops);
    if (selection->complete)
        ny_log(fit->job.ctx, fit->settings->landmarks_typed ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%s all rows, so no more are taken (of at most %zu)",
               ny_counted(selection->m, "landmark represents", "landmarks represent").text,
               fit->settings->landmarks);
    return NY_OK;
}

/* Makes the request to the rule. */
static struct ny_selection_request request_of(struct ny_fit *fit,
                                              const struct ny_columns_spec *spec,
                                              const struct ny_select_pass *pass)
{
    const struct ny_fit_settings *settings = fit->settings;

    return (struct ny_selection_request){
        .ctx = fit->job.ctx,
        .X = fit->job.X,
        .n = fit->job.points.n,
        .here = fit->job.points.here,
        .spec = spec,
        .seed = settings->seed,
        .landmarks = settings->landmarks,
        .greedy = {.dictionary = settings->dictionary,
                   .pilot = settings->pilot,
                   .follower = pass->follower},
        .diagonal = ny_settings_diagonal(settings),
        .named_landmarks = settings->named_landmarks,
        .points_given = settings->landmark_points.count > 0,
        .certify = settings->certify,
        .workers = fit->job.workers,
        .checkpoint = {.save = pass->checkpoint, .arg = pass->arg}};
}

/* Measures the residuals that the rule has not measured. */
static int certify(struct ny_fit *fit, struct ny_selection_request *request,
                   struct ny_selection *selection)
{
    void *points = NULL;
    int err = NY_OK;

    if (!ny_settings_certifies(fit->settings)) return NY_OK;
    if (fit->settings->affine)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "residuals are squared distances from the span of the landmarks; rows may be "
               "farther from their affine hull, which --affine projects on; --select greedy "
               "measures those");
    if (!selection->rows) {
        points = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, selection->m,
                           ny_rows_row_bytes(&fit->job.points));
        err = points ? ny_fit_load_points(fit, points) : NY_EBUDGET;
    }
    request->landmark_points = points;
    if (!err) err = ny_selection_certify(request, selection);
    ny_free(fit->job.ctx, points);
    return err;
}

int ny_fit_select(struct ny_fit *fit, const struct ny_select_pass *pass)
{
    struct ny_columns_spec spec;
    struct ny_selection_request request;
    struct ny_selection selection = {0};
    struct ny_selected earlier = {0};
    struct ny_image_shape shape = {NY_IMAGE_ANY, UINT64_MAX};
    void *image = NULL;
    uint64_t units;
    int err;

    err = ny_fit_load_frozen(fit);
    if (err) goto done;
    err = ny_job_load_image(&fit->job, "select", &shape, &image, &units);
    if (err) goto done;
    err = ny_earlier_selection(fit, &earlier);
    if (err) goto done;
    spec = ny_fit_spec(fit);
    request = request_of(fit, &spec, pass);
    request.greedy.earlier = earlier.rows ? &earlier : NULL;
    request.checkpoint.image = image;
    request.checkpoint.image_bytes = shape.bytes;
    request.checkpoint.image_owner = &image;
    err = fit->settings->rule->select(&request, &selection);
    if (!err) err = certify(fit, &request, &selection);
    if (!err) err = put_selection(fit, &selection);
done:
    ny_selection_release(&selection, fit->job.ctx);
    ny_free(fit->job.ctx, earlier.rows);
    ny_free(fit->job.ctx, image);
    return err;
}

/* Warns of a dictionary alone that one landmark makes up. */
static void warn_of_tolerance(const struct ny_fit *fit)
{
    if (fit->settings->rule->by_tolerance && ny_state_landmarks(&fit->job.state) == 1)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "one landmark is enough for --tolerance %g, as no row has a larger residual: give a "
               "smaller --tolerance",
               fit->job.state.report.tolerance);
}

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_select_pass pass = {.checkpoint = checkpoint, .arg = job};
    int err = ny_fit_select(fit, &pass);

    if (err) return err;
    ny_job_clear_checkpoint(job);
    ny_job_mark_time(job);
    if (ny_job_next(job) == NY_STAGE_DONE) warn_of_tolerance(fit);
    return ny_job_save(job, ny_job_next(job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

void ny_select_count(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                     size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    size_t image = 0;
    const struct ny_rule *rule = f->settings->rule;
    bool certifies = ny_settings_certifies(f->settings);
    struct ny_selection_request request = {
        .ctx = f->job.ctx,
        .n = f->points->n,
        .spec = &f->spec,
        .landmarks = f->settings->landmarks,
        .greedy = {.dictionary = f->settings->dictionary, .pilot = f->settings->pilot},
        .diagonal = ny_settings_diagonal(f->settings),
        .workers = workers};
    struct ny_layout_mark mark;

    ny_sizes_common(l, f, workers, workers);
    ny_sizes_earlier(l, f);
    if (rule->count) image = rule->image_bytes(&request, f->m);
    if (rule->count || certifies) {
        ny_sizes_source(l, f, workers);
        ny_layout_add(l, NY_MEM_STORE, ny_sizes_gather(f, NY_UNIT_ROWS + f->m));
        ny_batch_count(l, NY_MEM_STORE, limit, image);
    }
    mark = ny_layout_mark(l);
    ny_layout_add(l, NY_MEM_DICTIONARY, image);
    if (rule->count) rule->count(l, &request, f->m);
    ny_layout_back(l, &mark);
    ny_layout_add(l, NY_MEM_DICTIONARY, 4 * f->m * sizeof(uint64_t));
    if (!certifies) return;
    if (f->settings->landmark_points.count)
        ny_layout_add(l, NY_MEM_DICTIONARY, f->m * ny_sizes_row(f));
    ny_certify_count(l, &request, f->m);
}

/* A kernel block and a substitution a row, most of them left early: 40 % of the work is left, as
 * measured on images. A search for a size makes dozens of runs, most of which skip nearly all rows;
 * but if the rank of K is below the size, all halvings look at all rows, in f64. */
static void time_greedy(const struct ny_timing *t)
{
    const double rank_reached = 1e-11;
    const struct ny_decay *decay = &t->look->decay;
    bool searches = isnan(t->settings->dictionary.tolerance);
    bool whole = searches && decay->count && ny_decay_at(decay, t->m) < rank_reached;
    double runs = !searches ? 1 : whole ? 20 : t->settings->pilot ? 3.3 : 6;
    struct ny_prices price = t->price;

    price.f64 = price.f64 || whole;
    t->plan->passes += !searches ? 1 : whole ? 42 : 18;
    t->plan->flops += runs * t->entries * (2 * t->price.d + 0.4 * t->m);
    t->plan->stage_s[NY_STAGE_SELECT] +=
        runs * (ny_price_tile(&price, t->entries) + ny_price_rows(&price, t->n) +
                t->entries * 0.4 * t->m / (whole ? t->price.rate->gemm64 : t->price.rate->gemm32));
}

static struct ny_selection_work selection_work(const struct ny_timing *t)
{
    const struct ny_selection_request request = {.n = t->sizes->points->n,
                                                 .spec = &t->sizes->spec,
                                                 .diagonal = ny_settings_diagonal(t->settings)};

    return t->settings->rule->work(&request, t->plan->m, &t->look->decay);
}

static void time_rule(const struct ny_timing *t)
{
    const double sum_beats = 1.2, efficiency = 0.5; /* substitutions in short steps */
    struct ny_selection_work work = selection_work(t);
    struct ny_prices tile = t->price, exact = t->price;
    double threads = ny_price_threads(t->settings->threads);

    tile.f64 = false;
    exact.f64 = true;
    t->plan->passes += (unsigned)ceil(work.passes);
    t->plan->flops += 2 * t->price.d * (work.entries + work.exact + work.alone) + work.flops +
                      work.exact_flops + work.alone_flops;
    t->plan->stage_s[NY_STAGE_SELECT] +=
        ny_timing_all(t) *
            (work.passes * ny_price_rows(&tile, t->n) + ny_price_tile(&tile, work.entries) +
             ny_price_tile(&exact, work.exact) + ny_price_beats(&tile, sum_beats * work.sums) +
             work.flops / (efficiency * t->price.rate->gemm32) +
             work.exact_flops / (efficiency * t->price.rate->gemm64)) +
        threads * (ny_price_tile(&exact, work.alone) +
                   work.alone_flops / (efficiency * t->price.rate->gemm64));
    if (work.visits > 0)
        t->plan->stage_s[NY_STAGE_SELECT] +=
            work.visits *
            ny_price_gather(&t->price, work.gathered / work.visits, t->settings->threads);
}

/* Times exact values of all columns, and a substitution a row. */
static void time_certify(const struct ny_timing *t)
{
    struct ny_prices exact = t->price;

    exact.f64 = true;
    t->plan->passes++;
    t->plan->flops += t->entries * (2 * t->price.d + t->m);
    t->plan->stage_s[NY_STAGE_SELECT] +=
        ny_timing_all(t) * (ny_price_rows(&exact, t->n) + ny_price_tile(&exact, t->entries) +
                            t->entries * t->m / t->price.rate->gemm64);
}

void ny_select_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    unsigned before = plan->passes;

    t->plan->stage_s[NY_STAGE_SELECT] = ny_price_commit(&t->price, 0);
    if (t->settings->rule->by_tolerance)
        time_greedy(t);
    else if (t->settings->rule->work)
        time_rule(t);
    if (t->settings->certify) time_certify(t);
    plan->passes_vary = passes_vary(t->settings);
    plan->selection_passes = plan->passes - before;
}

const struct ny_stage ny_stage_select = {NY_STAGE_SELECT, run, ny_select_count, ny_select_work};
