/*
 * Stage select: which rows are landmarks.
 *
 * The rule of the settings (select/rules.h) does the work; the stage gives it the points, the
 * frozen kernel, the image of its last checkpoint, and in an update the earlier landmarks.
 * Afterwards it measures the residuals of all rows where --certify asks for it and the rule does
 * not have them. It leaves the parts "landmarks" (row numbers, u64) and "residuals" (f32, one a
 * row, where they are known). With --online the pass of the selection sums up as well, and stage
 * accumulate is left out.
 */
#include "fit/courses.h"
#include "fit/sizes.h"
#include "fit/sums.h"
#include "fit/timing.h"
#include "base/clock.h"
#include "fit/given_columns.h"
#include "fit/online.h"
#include "results/geometry.h"

static int checkpoint(void *arg, const void *image, size_t bytes)
{
    struct ny_fit *fit = arg;
    uint64_t units = fit->online ? fit->online->rows / NY_UNIT_ROWS : 0;
    int err = fit->online ? ny_online_put(fit->online) : NY_OK;

    return err ? err
               : ny_job_checkpoint_image(&fit->job, NY_STAGE_SELECT, "select", image, bytes, units);
}

/* Rows that have arrived are of the job. The wait is no time of it. */
static int await_rows(void *arg, uint64_t rows, uint64_t *n)
{
    struct ny_fit *fit = arg;
    const struct ny_arrivals *arrivals = fit->settings->arrivals;
    int err;

    if (rows <= *n) return NY_OK;
    ny_log(fit->job.ctx, NY_LOG_DETAIL, "%zu landmarks of the first %llu rows; more are awaited",
           fit->acc ? fit->acc->m : 0, (unsigned long long)*n);
    ny_job_mark_time(&fit->job);
    err = arrivals->wait(arrivals->arg, rows, n);
    if (!err) err = ny_points_info(fit->job.store, &fit->job.points);
    fit->job.marked_s = ny_now();
    ny_field_set_count(ny_job_report(&fit->job), "n", fit->job.points.n);
    if (*n < rows) json_object_del(fit->job.record, "arriving"); /* there are no more */
    return err;
}

/* Reports how many landmarks of an update are new. */
static int compare_selection(struct ny_fit *fit, const struct ny_selection *selection)
{
    struct ny_matched matched;
    int err;

    if (!fit->earlier.mode) return NY_OK;
    err = ny_earlier_match(&matched, fit, selection->rows, selection->m);
    if (!err) {
        ny_field_set_count(ny_job_report(&fit->job), "landmarks_added", matched.late_count);
        ny_field_set_json(json_object_get(fit->job.record, "update"), "same_landmarks",
                          json_boolean(matched.same));
    }
    ny_matched_release(&matched, fit->job.ctx);
    return err;
}

/* Saves the selection into the store and the report. */
static int save_selection(struct ny_fit *fit, const struct ny_selection *selection)
{
    json_t *report = ny_job_report(&fit->job);
    bool last = ny_job_next(&fit->job) == NY_STAGE_DONE;
    int err = compare_selection(fit, selection);

    if (err) return err;
    err = ny_job_put_part(&fit->job, "landmarks", selection->rows, selection->m * sizeof(uint64_t));
    if (err) return err;
    if (selection->residuals) {
        err = ny_job_put_part(&fit->job, "residuals", selection->residuals,
                              (size_t)fit->job.points.n * sizeof(float));
        if (err) return err;
        ny_field_set_number(report, "residual_max", selection->residual_max);
        ny_field_set_number(report, "residual_mean", selection->residual_mean);
    }
    ny_field_set_number(report, "tolerance", selection->tolerance);
    ny_field_set_number(report, "pilot_tolerance_low", selection->pilot_low);
    ny_field_set_number(report, "pilot_tolerance_high", selection->pilot_high);
    ny_field_set_count(report, "landmarks", selection->m);
    ny_field_set_count(fit->job.record, "selected", fit->job.points.n);
    ny_job_count_passes(&fit->job, selection->passes, selection->rows_read, selection->flops);
    if (selection->complete)
        ny_log(fit->job.ctx, fit->settings->landmarks_typed ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%zu landmarks represent all rows, so no more are taken (of at most %zu)",
               selection->m, fit->settings->landmarks);
    err = ny_fields_check(fit->job.ctx); /* before their number is the size of anything */
    if (err) return err;
    if (fit->online) return ny_online_finish(fit->online);
    json_object_clear(ny_job_checkpoint(&fit->job));
    ny_job_mark_time(&fit->job);
    if (last && fit->settings->rule->by_tolerance && selection->m == 1)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "one landmark is enough for --tolerance %g, as no row has a larger residual: give a "
               "smaller --tolerance",
               selection->tolerance);
    return ny_job_save(&fit->job, ny_job_next(&fit->job));
}

/* The residuals of the rows that were looked at before. */
static int load_residuals(void *arg, float *residuals)
{
    const struct ny_fit *fit = arg;

    return ny_earlier_get(fit, "residuals", residuals,
                          (size_t)fit->earlier.selected * sizeof(float));
}

/* Describes the earlier selection, whose rows an update need not look at again. */
static int describe_earlier(struct ny_fit *fit, struct ny_selected *earlier)
{
    size_t bytes = fit->earlier.landmarks * sizeof(uint64_t);

    *earlier = (struct ny_selected){.n = fit->earlier.selected,
                                    .m = fit->earlier.landmarks,
                                    .residuals = load_residuals,
                                    .arg = fit};
    if (fit->earlier.mode != NY_UPDATE_FULL || !ny_earlier_starts_selection(fit->settings))
        return NY_OK;
    earlier->rows = ny_alloc(fit->job.ctx, NY_MEM_DICTIONARY, bytes);
    if (!earlier->rows) return NY_EBUDGET;
    return ny_earlier_get(fit, "landmarks", earlier->rows, bytes);
}

/* Makes the request to the rule, without the parts that this run adds. */
static struct ny_selection_request request_of(struct ny_fit *fit,
                                              const struct ny_columns_spec *spec)
{
    const struct ny_fit_settings *settings = fit->settings;

    return (struct ny_selection_request){.ctx = fit->job.ctx,
                                         .store = fit->job.store,
                                         .n = fit->job.points.n,
                                         .spec = spec,
                                         .seed = settings->seed,
                                         .landmarks = settings->landmarks,
                                         .dictionary = settings->dictionary,
                                         .pilot = settings->pilot,
                                         .diagonal = ny_settings_diagonal(settings),
                                         .given = settings->given,
                                         .certify = settings->certify,
                                         .workers = fit->job.workers,
                                         .checkpoint = checkpoint,
                                         .checkpoint_arg = fit,
                                         .checkpoint_s = ny_context_checkpoint_s(fit->job.ctx)};
}

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_columns_spec spec;
    struct ny_selection_request request;
    struct ny_selection selection = {0};
    struct ny_selected earlier = {0};
    struct ny_online online = {0};
    struct ny_follower follower = {ny_online_follow, &online};
    struct ny_arrivals arrivals = {await_rows, fit};
    void *image = NULL;
    size_t bytes;
    int err;

    err = ny_fit_load_frozen(fit);
    if (err) goto done;
    err = ny_job_load_any_image(&fit->job, "select", &image, &bytes);
    if (err) goto done;
    err = describe_earlier(fit, &earlier);
    if (!err && settings->online) err = ny_online_begin(&online, fit);
    if (err) goto done;
    spec = ny_fit_spec(fit);
    request = request_of(fit, &spec);
    request.follower = settings->online ? &follower : NULL;
    request.arrivals = settings->arrivals ? &arrivals : NULL;
    request.earlier = earlier.rows ? &earlier : NULL;
    request.image = image;
    request.image_bytes = bytes;
    request.image_owner = &image;
    err = settings->rule->select(&request, &selection);
    if (!err && ny_settings_certifies(settings)) {
        if (settings->affine)
            ny_log(fit->job.ctx, NY_LOG_WARNING,
                   "residuals are squared distances from the span of the landmarks; rows may be "
                   "farther from their affine hull, which --affine projects on; --select greedy "
                   "measures those");
        err = ny_selection_certify(&request, &selection);
    }
    if (err) goto done;
    err = save_selection(fit, &selection);
done:
    ny_online_release(&online);
    ny_selection_release(&selection, fit->job.ctx);
    ny_free(fit->job.ctx, earlier.rows);
    ny_free(fit->job.ctx, image);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static struct ny_stage_bytes select_bytes(const struct ny_job_sizes *sizes, unsigned workers,
                                          size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_stage_bytes bill = ny_sizes_common(f, workers, workers);
    size_t *dictionary = &bill.by_purpose[NY_MEM_DICTIONARY], image = 0;
    const struct ny_rule *rule = f->settings->rule;
    bool certifies = ny_settings_certifies(f->settings);
    struct ny_selection_request request = {.ctx = f->job.ctx,
                                           .n = f->points->n,
                                           .spec = &f->spec,
                                           .landmarks = f->settings->landmarks,
                                           .dictionary = f->settings->dictionary,
                                           .pilot = f->settings->pilot,
                                           .diagonal = ny_settings_diagonal(f->settings),
                                           .workers = workers};

    *dictionary = 4 * f->m * sizeof(uint64_t) + ny_sizes_earlier(f);
    if (!rule->bytes && !certifies) return bill;
    if (certifies) *dictionary += ny_certify_bytes(&request, f->m);
    if (rule->bytes) {
        size_t own = rule->bytes(&request, f->m) + ny_sizes_earlier(f);

        image = rule->image_bytes(&request, f->m);
        if (*dictionary < own + image) *dictionary = own + image;
    }
    bill.by_purpose[NY_MEM_STORE] += ny_sizes_source(f, workers) +
                                     ny_sizes_gather(f, NY_UNIT_ROWS + f->m) +
                                     ny_batch_put_bytes(limit, image);
    return bill;
}

/* Bytes of an import under way: its read-ahead, and a block as it is, packed, written. */
static size_t arrivals_bytes(const struct ny_sizes *f)
{
    const size_t reader_bytes = (size_t)8 << 20;

    return reader_bytes + 4 * ny_points_block_bytes(f->points);
}

/* The selection comes with the sums of now and of before the landmarks that join, whose
 * coefficients are at most m²/4, and the pass that adds a batch. After it come W and the sums
 * alone. */
static struct ny_stage_bytes online_bytes(const struct ny_job_sizes *sizes, unsigned workers,
                                          size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_stage_bytes bill = select_bytes(sizes, workers, limit),
                          prepare = ny_prepare_bytes(f, workers);
    size_t sums = ny_accumulator_bytes(f->m);

    bill.by_purpose[NY_MEM_GRAM] = 2 * sums + f->m * (f->m / 4 + 4) * sizeof(double) +
                                   NY_CHUNK_BYTES + workers * ny_partial_bytes(f->m, NY_GRAM_F64);
    bill.by_purpose[NY_MEM_DICTIONARY] += ny_columns_bytes(&f->spec, f->m);
    bill.by_purpose[NY_MEM_TILES] += ny_sizes_pass_tiles(f, workers);
    bill.by_purpose[NY_MEM_STORE] +=
        ny_sizes_source(f, workers) +
        ny_batch_put_bytes(limit, ny_accumulator_gram_image_bytes(f->m));
    if (f->settings->arrivals) bill.by_purpose[NY_MEM_IO] += arrivals_bytes(f);
    prepare.by_purpose[NY_MEM_GRAM] += sums + NY_CHUNK_BYTES;
    prepare.by_purpose[NY_MEM_DICTIONARY] += f->points->n * sizeof(float); /* residuals */
    return ny_stage_bytes_larger(prepare, bill);
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
    if (work.visits)
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

static void work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    t->plan->stage_s[NY_STAGE_SELECT] = ny_price_commit(&t->price, 0);
    if (t->settings->rule->by_tolerance)
        time_greedy(t);
    else if (t->settings->rule->work)
        time_rule(t);
    if (t->settings->certify) time_certify(t);
}

/* The pass of the selection sums up, too. */
static void online_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    work(sizes, plan);
    ny_accumulate_work(sizes, plan);
}

const struct ny_stage ny_stage_select = {NY_STAGE_SELECT, run, select_bytes, work};
const struct ny_stage ny_stage_select_online = {NY_STAGE_SELECT, run, online_bytes, online_work};
