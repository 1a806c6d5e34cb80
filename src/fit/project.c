/* Stage project, pass 2: Y = C′P + 1qᵀ for all points, into the store: the vectors of Talwalkar et
 * al. 2013, eqs. 3 and 4, and of Ouimet & Bengio 2005, Algorithm 1, step 23, by the P of each. */
#include "fit/check_draw.h"
#include "fit/checks.h"
#include "fit/courses.h"
#include "fit/shards.h"
#include "fit/sizes.h"
#include "fit/ideal.h"
#include "fit/timing.h"
#include "select/draws.h"
#include "spectral/krylov.h"

#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "model/embedding.h"
#include "fit/given_columns.h"
#include "fit/plan.h"
#include "fit/projector.h"
#include "fit/unreached.h"
#include "linalg/numbers.h"

/* The state of the pass. What a checkpoint keeps of it is `sums` and `unreached`; rows go to the
 * writers. */
struct project {
    struct ny_fit *fit;
    struct ny_projector projector;
    struct ny_checks checks;
    struct ny_embedding_writer out;
    struct ny_embedding_writer averages; /* for a probe: of each row, or 1/√d_i */
    double *u, offset;                   /* c_i·u are those averages; NULL: not needed */
    double sums[NY_SUMS];
    struct ny_unreached_rows unreached;
    uint64_t kept; /* rows before this one stay as they are */
};

/* Commits the rows in the writer, together with the record that says so. */
static int commit(struct project *run, uint64_t units_done, enum ny_stage_id next)
{
    struct ny_fit *fit = run->fit;
    struct ny_state_at *at = &fit->job.state.at;
    uint64_t rows = units_done * NY_UNIT_ROWS, here = ny_rows_here(&fit->job.points);
    struct ny_batch *batch;
    int err;

    at->part = "embedding";
    at->units = units_done;
    at->rows = rows < here ? rows : here;
    at->sum_squares = run->sums[NY_SUM_SQUARES];
    at->sum_diagonal = run->sums[NY_SUM_DIAGONAL];
    at->sum_entries = run->sums[NY_SUM_ENTRIES];
    at->unreached = run->unreached.count;
    at->first_unreached = run->unreached.first;
    ny_job_mark_time(&fit->job);
    err = fit->settings->room ? fit->job.keep.ops->begin(&fit->job.keep, &batch)
                              : ny_embedding_batch(&run->out, &run->averages, &batch);
    if (err) return err;
    err = ny_checks_put(&run->checks, fit, batch, next != NY_STAGE_PROJECT);
    if (!err) return ny_job_commit(&fit->job, batch, next);
    fit->job.keep.ops->cancel(batch);
    return err;
}

/* Writes coordinates to the caller's memory, where they are wanted there. */
static int give_rows(const struct ny_fit *fit, uint64_t first, size_t count, const void *rows)
{
    const struct ny_coordinates *how = &fit->model->coordinates;
    bool f64 = fit->model->precision == NY_PRECISION_F64;
    size_t row_bytes = ny_coordinates_count(how) * ny_precision_bytes(fit->model->precision);
    char *to;

    if (!fit->settings->room || !fit->settings->room->rows) return NY_OK;
    to = (char *)fit->settings->room->rows + first * row_bytes;
    ny_coordinates_apply(how, f64, rows, count, to);
    return fit->model->degrees.v
               ? ny_coordinates_check_reached(how, fit->job.ctx, f64, to, first, count)
               : ny_coordinates_check(how, fit->job.ctx, f64, to, first, count);
}

/* Computes the coordinates of one unit's rows, and their averages where a probe will want them. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct project *run = arg;
    struct ny_projector *projector = &run->projector;
    int err = ny_projector_tile(projector, tile); /* Y = C′P + 1qᵀ */

    if (err == NY_OK && run->u && !projector->u)
        ny_tile_products(&projector->tiles, tile, run->u, run->offset,
                         projector->roots + (size_t)tile->worker * NY_UNIT_ROWS);
    if (err == NY_OK) err = ny_checks_tile(&run->checks, tile, projector); /* K_S,: Y */
    return err ? err
               : give_rows(run->fit, tile->first_row, tile->rows,
                           ny_projector_rows(projector, tile->worker));
}

/* Adds the sums of a unit and gives its rows to the writers, which are committed when one is full.
 * Rows that an update keeps are not written again. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct project *run = arg;
    const double *sums = ny_projector_sums(&run->projector, tile->worker);
    const char *rows = ny_projector_rows(&run->projector, tile->worker);
    size_t kept = run->kept > tile->first_row ? (size_t)(run->kept - tile->first_row) : 0;

    for (int k = 0; k < NY_SUMS; k++)
        run->sums[k] += sums[k];
    ny_checks_fold(&run->checks, run->fit, tile, &run->projector);
    ny_unreached_rows_add(&run->unreached, &run->projector.unreached[tile->worker]);
    if (run->fit->settings->room) return NY_OK;
    ny_embedding_add(&run->out, rows + kept * run->out.layout.row_bytes, tile->rows - kept);
    if (run->averages.rows) {
        double *roots = run->projector.roots + (size_t)tile->worker * NY_UNIT_ROWS;

        for (size_t i = 0; i < tile->rows; i++)
            if (isnan(roots[i])) roots[i] = 0; /* a probe takes them as rows of zeros */
        ny_embedding_add(&run->averages, roots, tile->rows);
    }
    if (!ny_embedding_full(&run->out) && !(run->averages.rows && ny_embedding_full(&run->averages)))
        return NY_OK;
    return commit(run, tile->unit + 1, NY_STAGE_PROJECT);
}

/* Rows in the caller's memory are not there any more after a kill. */
static int checkpoint(void *arg, uint64_t units_done)
{
    const struct project *run = arg;

    return run->fit->settings->room ? NY_OK : commit(arg, units_done, NY_STAGE_PROJECT);
}

/* Sums and units of the checkpoint, or of the rows that stay as they are. */
static int restore_sums(struct project *run, uint64_t *units)
{
    const struct ny_state *state = &run->fit->job.state;
    bool begun = ny_job_has_image(&run->fit->job, "embedding");

    run->kept = ny_earlier_kept_rows(run->fit);
    *units = run->kept / NY_UNIT_ROWS;
    if (run->fit->settings->room) return NY_OK;
    if (!begun && !run->kept) return NY_OK;
    run->sums[NY_SUM_SQUARES] = begun ? state->at.sum_squares : state->old_at.sum_squares;
    run->sums[NY_SUM_DIAGONAL] = begun ? state->at.sum_diagonal : state->old_at.sum_diagonal;
    run->sums[NY_SUM_ENTRIES] = begun ? state->at.sum_entries : state->old_at.sum_entries;
    if (!begun) return NY_OK;
    run->unreached = (struct ny_unreached_rows){state->at.unreached, state->at.first_unreached};
    *units = state->at.units;
    if (*units >= run->kept / NY_UNIT_ROWS && *units <= ny_units_of(run->fit->job.points.n))
        return NY_OK;
    return ny_job_not_its_checkpoint(&run->fit->job);
}

/* Tells whether this pass is the only one, so that its sums are the certificate. */
static bool certifies(const struct ny_fit *fit)
{
    return !ny_settings_needs_gram(fit->settings) && fit->settings->method->trace_below &&
           !ny_divided(fit->settings->normalisation);
}

/* Tells whether the pass would tell nothing: nobody wants the rows, and what it counts of them is
 * known. */
static bool is_idle(const struct ny_fit *fit)
{
    const struct ny_row_room *room = fit->settings->room;

    return room && !room->rows && !certifies(fit) && !ny_divided(fit->settings->normalisation);
}

/* Computes, for nystrom without a pass 1, the rank-p trace error from Σ‖y_i‖² and tr K of the
 * matrix that was decomposed: t, or if centred over D, t − 2·1ᵀs/m + n·w̄. */
static int certify_projection(struct project *run)
{
    struct ny_fit *fit = run->fit;
    const struct ny_model *model = fit->model;
    struct ny_state_report *report = &fit->job.state.report;
    double n = (double)fit->job.points.n, m = (double)model->m, shift = 0, sums[NY_SUMS], trace;
    int err;

    memcpy(sums, run->sums, sizeof(sums));
    err = ny_peers_fold(ny_context_peers(fit->job.ctx), sums, NY_SUMS);
    if (err || !certifies(fit) || !isnan(report->trace_error)) return err;
    trace = sums[NY_SUM_DIAGONAL];
    for (size_t j = 0; j < model->m; j++)
        shift += model->a[j];
    if (fit->settings->normalisation == NY_CENTRED_LANDMARKS)
        trace += -2 * (sums[NY_SUM_ENTRIES] + n * shift) / m + n * shift / m;
    report->trace = trace;
    report->trace_error = (trace - sums[NY_SUM_SQUARES]) / trace;
    return NY_OK;
}

/* Reports the time of all passes over that of their products. */
static void report_ratio(struct ny_fit *fit)
{
    const struct ny_state_report *report = &fit->job.state.report;
    const struct ny_fit_settings *settings = fit->settings;
    const struct ny_ideal ideal = ny_ideal_of(fit);
    struct ny_problem problem = ny_settings_problem(settings, fit->m);
    double n = (double)ny_rows_here(&fit->job.points), m = (double)fit->m;
    double width = (double)ny_krylov_width(&problem, fit->m);
    double pass_s = ny_ideal_products(&ideal, n * m);
    double ideal_s = pass_s + ny_ideal_map(&ideal, n * m, (double)ny_settings_pairs(settings));
    bool f64 = ny_is(report->gram_precision, "f64");

    if (ny_tile_cache_whole(fit->cache)) /* one pass has made them all */
        pass_s = 0;
    else if (ny_settings_needs_degrees(settings))
        ideal_s += pass_s;
    if (settings->method->krylov)
        ideal_s += (double)report->inner_passes * (pass_s + ny_ideal_map(&ideal, n * m, 2 * width));
    else if (report->gram_precision)
        ideal_s += pass_s + n * m * m / (f64 ? ideal.rate->gram64 : ideal.rate->gram32);
    ny_ideal_report(fit, &ideal, ideal_s);
}

/* Runs pass 2 over the rows from this unit on, and judges those that are not reached. */
static int run_pass(struct project *run, uint64_t first_unit)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct ny_fit *fit = run->fit;
    const struct ny_model *model = fit->model;
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    double flops =
        ny_projector_flops(&spec, model->m, model->p) -
        (ny_tile_cache_whole(fit->cache) ? 2 * (double)model->m * ny_entry_products(&spec) : 0);
    uint64_t rows = fit->job.points.n - (run->kept ? ny_earlier_rows(fit) : 0);
    int err =
        ny_fit_pass(fit, fit->job.points.n,
                    (struct ny_pass){.first_unit = first_unit, .flops_per_row = flops}, &work, run);

    if (!err) err = ny_fit_report_unreached(fit, run->unreached);
    if (!err) ny_job_count_pass(&fit->job, rows, flops * (double)rows);
    return err;
}

/* ---- without a pass ------------------------------------------------------------------------- */

/* The sums of a pass, where all of K was decomposed and its trace is known; Σ c′ is 0, as the shift
 * is that of all its columns. */
static void begin_known(struct project *run)
{
    const struct ny_fit *fit = run->fit;

    run->sums[NY_SUM_DIAGONAL] = fit->job.state.report.trace;
    if (fit->settings->normalisation == NY_CENTRED_LANDMARKS)
        for (size_t j = 0; j < fit->m; j++)
            run->sums[NY_SUM_DIAGONAL] += fit->model->a[j];
}

/* Computes rows first … first+count−1 of Y = P Λ, for λ the p eigenvalues: packed in `out`, float
 * or double as the model is. The model places a point by y = k(x,·)P less its averages, and P = U
 * Λ^-½ for the eigenvectors U, which centring leaves as they are; over the rows themselves that is
 * K U Λ^-½ = U Λ^½. Adds Σ‖y‖² to *squares. NY_ENUMERIC when one is not finite. */
static int known_rows(const struct ny_model *model, const double *values, uint64_t first,
                      size_t count, void *out, double *squares)
{
    const double *P = model->P + first * model->p;
    bool f64 = model->precision == NY_PRECISION_F64;
    size_t p = model->p, not_finite;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < p; k++) {
            double y = P[i * p + k] * values[k];

            *squares += y * y;
            ny_number_set(out, f64, i * p + k, y);
        }
    not_finite = ny_numbers_not_finite(out, f64, count * p);
    return not_finite ? ny_fail_infinite(model->ctx, "embedding", first + (not_finite - 1) / p)
                      : NY_OK;
}

/* Writes the rows of all units from this one on. */
static int write_known(struct project *run, uint64_t unit)
{
    struct ny_fit *fit = run->fit;
    const struct ny_model *model = fit->model;
    uint64_t n = fit->job.points.n;
    size_t element = ny_precision_bytes(model->precision);
    double *values = ny_alloc(fit->job.ctx, NY_MEM_MODEL, model->p * sizeof(double));
    void *rows = ny_alloc(fit->job.ctx, NY_MEM_TILES, NY_UNIT_ROWS * model->p * element);
    int err = values && rows ? NY_OK : NY_EBUDGET;

    for (size_t k = 0; !err && k < model->p; k++)
        values[k] = ny_job_eigenvalue(&fit->job, k);
    for (; !err && unit < ny_units_of(n); unit++) {
        uint64_t first = unit * NY_UNIT_ROWS;
        size_t count = n - first < NY_UNIT_ROWS ? (size_t)(n - first) : NY_UNIT_ROWS;

        err = known_rows(model, values, first, count, rows, &run->sums[NY_SUM_SQUARES]);
        if (!err) err = give_rows(fit, first, count, rows);
        if (err) break;
        if (fit->settings->room) continue;
        ny_embedding_add(&run->out, rows, count);
        if (ny_embedding_full(&run->out)) err = commit(run, unit + 1, NY_STAGE_PROJECT);
    }
    ny_free(fit->job.ctx, rows);
    ny_free(fit->job.ctx, values);
    return err;
}

/* ---- the stage ------------------------------------------------------------------------------ */

/* Tells whether averages are stored for a probe that follows. */
static bool wants_averages(const struct ny_fit *fit)
{
    return ny_settings_probe_averages(fit->settings) && ny_job_next(&fit->job) == NY_STAGE_PROBE;
}

/* Opens the writers of the results, from unit `units` on. */
static int open_writers(struct project *run, uint64_t units)
{
    struct ny_fit *fit = run->fit;
    const struct ny_model *model = fit->model;
    size_t element = ny_precision_bytes(fit->settings->precision);
    uint64_t here = ny_rows_here(&fit->job.points);
    struct ny_embedding_layout layout =
        ny_embedding_layout(here, ny_coordinates_width(&model->coordinates), element);
    uint64_t row = units * NY_UNIT_ROWS < here ? units * NY_UNIT_ROWS : here;
    int err;

    if (fit->settings->room) return NY_OK;
    if (row < run->kept) row = run->kept;
    if (!run->kept) ny_record_renew(fit->job.record, "embedding");
    layout.part = ny_record_part(fit->job.record, "embedding");
    err = ny_embedding_writer_new(&run->out, &fit->job.keep, layout, row);
    if (err || !wants_averages(fit)) return err;
    layout = ny_embedding_layout(here, 1, sizeof(double));
    ny_record_renew(fit->job.record, "averages");
    layout.part = ny_record_part(fit->job.record, "averages");
    err = ny_embedding_writer_new(&run->averages, &fit->job.keep, layout, row);
    if (err || model->degrees.v) return err;
    run->u = ny_calloc(fit->job.ctx, NY_MEM_MODEL, model->m, sizeof(double));
    if (!run->u) return NY_EBUDGET;
    err = ny_job_get_part(&fit->job, "centring", run->u, model->m * sizeof(double));
    if (err == NY_OK) run->offset = ny_dot(run->u, model->a, model->m);
    if (model->spec.kernel->features) run->projector.u = run->u;
    return err;
}

/* Runs stage project. Its last commit has the last rows and makes the next stage the one to
 * run. */
static int run_project(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct project run = {.fit = fit};
    uint64_t units;
    bool known, placed;
    int err;

    err = fit->model ? NY_OK : ny_fit_read_model(fit, &fit->model);
    if (err) goto done;
    fit->m = fit->model->m;
    known = ny_settings_rows_known(fit->settings, &fit->job.points, fit->m);
    err = ny_fit_lower_workers(fit);
    if (err) goto done;
    if (known)
        begin_known(&run);
    else
        err = ny_projector_new(&run.projector, fit->model, NY_DTYPE_NONE,
                               (size_t)fit->job.points.row_slots, fit->job.workers);
    if (err) goto done;
    run.projector.wants_entries =
        certifies(fit) && fit->settings->normalisation == NY_CENTRED_LANDMARKS;
    err = restore_sums(&run, &units);
    if (err) goto done;
    run.projector.kept = run.kept;
    placed = run.kept > 0 || fit->mode == NY_UPDATE_FROZEN; /* a new shard has none to keep */
    run.projector.features.completes = placed; /* rows that were fitted stay as they are */
    err = open_writers(&run, units);
    if (!err && !known && !placed && !is_idle(fit))
        err = ny_checks_open(&run.checks, fit, &run.projector, units);
    if (err) goto done;
    run.projector.tiles.cache = fit->cache;
    if (!is_idle(fit)) err = known ? write_known(&run, units) : run_pass(&run, units);
    if (err) goto done;
    ny_job_mark_time(&fit->job);
    err = certify_projection(&run);
    if (!err) err = ny_checks_report(&run.checks, fit);
    if (err) goto done;
    if (!known && !is_idle(fit)) report_ratio(fit);
    if (fit->settings->room) {
        fit->settings->room->filled = true;
        job->state.record.rows_elsewhere = true;
    }
    err = commit(&run, ny_units_of(ny_rows_here(&job->points)), ny_job_next(job));
done:
    ny_embedding_writer_release(&run.averages);
    ny_free(fit->job.ctx, run.u);
    ny_embedding_writer_release(&run.out);
    ny_checks_release(&run.checks);
    ny_projector_release(&run.projector);
    ny_tile_cache_free(fit->cache);
    fit->cache = NULL;
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Counts the check rows, whose columns are gathered and compared before the pass. */
static void count_checks(struct ny_layout *l, const struct ny_sizes *f, unsigned workers)
{
    struct ny_checks checks = {.R = ny_checks_rows(f->settings, f->points),
                               .p = ny_settings_pairs(f->settings)};
    struct ny_layout_mark mark;
    size_t R = checks.R;

    if (!R) return;
    ny_checks_lay(l, &checks, &f->spec, f->settings->precision, workers);
    mark = ny_layout_mark(l);
    ny_check_draw_count(l, f->points, R, f->m, checks.p, workers);
    ny_layout_add(l, NY_MEM_STORE, workers * ny_sizes_gather(f, NY_STRIP_ROWS));
    ny_layout_back(l, &mark);
    ny_layout_add(l, NY_MEM_STORE, ny_sizes_gather(f, NY_STRIP_ROWS));
    ny_columns_count(l, &f->spec, R);
    ny_lay(l, NY_MEM_SOLVE, R, (R + 1) * sizeof(double) + sizeof(struct ny_draw));
    ny_columns_square_count(l, &f->spec, R, workers);
    if (!f->spec.slots) ny_lay(l, NY_MEM_DICTIONARY, R, ny_raw_bytes(&f->spec));
}

/* Bytes of the stage: model, tiles, the source, and twice the writers' buffers. */
static void count_project(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                          size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    const struct ny_fit_settings *settings = f->settings;
    struct ny_embedding_layout layout =
        ny_embedding_layout(f->points->n, ny_settings_pairs(settings), ny_sizes_element(f));
    size_t p = ny_settings_pairs(settings);
    const struct ny_projector_shape shape = {&f->spec, f->m, p, p + 1, settings->precision,
                                             workers};

    ny_sizes_common(l, f, workers, workers);
    if (!settings->room) ny_embedding_writer_count(l, &layout, limit);
    if (ny_settings_probe_averages(settings)) {
        layout = ny_embedding_layout(f->points->n, 1, sizeof(double));
        ny_embedding_writer_count(l, &layout, limit);
    }
    ny_layout_add(l, NY_MEM_MODEL, f->m * (p + 2) * sizeof(double) + ny_sizes_arrays(f, 2));
    if (!ny_settings_features(settings))
        ny_layout_add(l, NY_MEM_MODEL, ny_kept_bytes(&f->spec, f->m));
    if (ny_settings_rows_known(settings, f->points, f->m)) {
        ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, p * ny_sizes_element(f));
        return;
    }
    ny_projector_lay(l, &(struct ny_projector){0}, &shape);
    ny_sizes_exact(l, f, workers);
    count_checks(l, f, workers);
    ny_sizes_source(l, f, workers);
}

/* Seconds of the pass: of products of the values of rows with p columns, or of tiles with the
 * map. */
static double products_seconds(const struct ny_timing *t, double p)
{
    const double sparse_beats = 0.1; /* for each value and column */
    double values = t->n * t->price.d;

    if (!ny_settings_features(t->settings))
        return ny_timing_tiles(t, NY_STAGE_PROJECT) + ny_price_map(&t->price, t->entries, p);
    return ny_price_rows(&t->price, t->n) +
           (t->sizes->spec.slots ? ny_price_beats(&t->price, sparse_beats * values * p)
                                 : ny_price_map(&t->price, values, p));
}

/* Seconds of the check rows: candidates are read one by one, by all threads, and placed; then the
 * pass has another tile, and its products with the rows. */
static double checks_seconds(const struct ny_timing *t, size_t R, double p)
{
    double N = (double)ny_check_candidates(R, t->sizes->points->n), entries = t->n * (double)R;

    return ny_price_gather(&t->price, N, 1) + ny_price_map(&t->price, N * t->m, p) +
           ny_price_rows(&t->price, t->n) + ny_price_tile(&t->price, N * t->m + entries) +
           2 * entries * p / t->price.rate->gemm64;
}

static void project_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    double p = (double)ny_settings_pairs(t->settings);
    double out_bytes = t->settings->room ? 0 : t->n * p * (t->price.f64 ? 8 : 4);
    double gram_bytes = ny_settings_forms_gram(t->settings) ? 8 * t->m * t->m : 0;
    bool model_holds_rows = !ny_settings_unit_landmarks(t->settings);
    bool measures = model_holds_rows && (t->settings->rule->by_tolerance || t->settings->certify);
    bool averages = t->settings->probes && ny_settings_probe_averages(t->settings);
    bool features = ny_settings_features(t->settings);
    size_t R = ny_checks_rows(t->settings, t->sizes->points);

    t->plan->stage_s[NY_STAGE_PROJECT] = ny_price_commit(&t->price, out_bytes);
    if (!ny_settings_rows_known(t->settings, t->sizes->points, t->plan->m)) {
        t->plan->passes++;
        t->plan->flops += features ? 2 * t->n * t->price.d * p
                                   : ny_timing_tile_flops(t, NY_STAGE_PROJECT) + 2 * t->entries * p;
        t->plan->flops += 2 * t->n * (double)R * (t->price.d + p);
        t->plan->stage_s[NY_STAGE_PROJECT] +=
            ny_timing_share(t, NY_STAGE_PROJECT, count_project) *
            (products_seconds(t, p) + (R ? checks_seconds(t, R, p) : 0));
    }
    out_bytes += t->m * p * 8 +
                 (model_holds_rows ? (double)ny_kept_bytes(&t->sizes->spec, t->plan->m) : 0) +
                 (measures ? 4 * t->n : 0) + (averages ? 8 * t->n : 0);
    t->plan->result_bytes = (uint64_t)(out_bytes + gram_bytes / 2);
    t->plan->disk_bytes = (uint64_t)(out_bytes + gram_bytes);
}

const struct ny_stage ny_stage_project = {NY_STAGE_PROJECT, run_project, count_project,
                                          project_work};
