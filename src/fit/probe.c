/*
 * Stage probe: ‖K − K̃‖_F/‖K‖_F from r columns of K, in one more pass.
 *
 * K is the matrix that the map decomposes, with the averages of the fit itself: as it is, or k_ij
 * − ρ_i − ρ_j + ρ̄, or k_ij/√(d_i d_j). K̃ = ÛΛ̂Ûᵀ of the eigenpairs that the result keeps. With
 * e_s = Σ_i (k_is − k̃_is)², f_s = Σ_i k_is² and weights g_s the squared ratio is R = Σ_S e_s/g_s
 * / Σ_S f_s/g_s, and
 *
 *    Var R ≈ (1 − r/n) · r/(r − 1) · Σ_S ((e_s − R f_s)/g_s)² / (Σ_S f_s/g_s)²,
 *    SE √R = √(Var R)/(2√R)
 *
 * (ratio estimator; Cochran, Sampling Techniques, 6.4; the delta method for the root). From all
 * columns, r = n, it is exact. The columns S are drawn in one of two ways:
 *
 *    uniformly, by hash, without replacement; g_s = 1
 *    where K is divided by degrees and k(x,x) is the same of all rows, column i with probability
 *    p_i = (1/n + (1/d_i)/Σ(1/d))/2, with replacement; g_s = n p_s, and 1 − r/n is left out: a row
 *    that no other is near holds a large share of the norm in its own diagonal entry, k_ii/d_i, and
 *    few probes would meet it (Hansen & Hurwitz 1943). Half of p_i is uniform, so that no column
 *    weighs more than twice as much as it would there.
 *
 * The probe knows the fit's own averages: beside the embedding, stage project writes ρ_i or 1/√d_i
 * of each row, 8 bytes, so that this pass meets the r columns alone and not those of the m
 * landmarks again. Solve finds the vector u of which ρ_i = c_i·u. A method on all of K has them
 * from its own stage solve.
 */
#include "fit/courses.h"
#include "fit/given_columns.h"
#include "fit/probe_private.h"
#include "fit/sizes.h"
#include "fit/timing.h"

#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "model/coordinates.h"
#include "model/embedding.h"
#include "model/model.h"
#include "select/draws.h"

/* ---- one unit ------------------------------------------------------------------------------ */

/* Loads the tile's rows of the embedding, and their averages where K is centred or divided. Rows
 * beyond the tile are zero, because the GEMM is of full size. */
static int load_rows(const struct ny_probe *run, const struct ny_probe_side *side,
                     const struct ny_tile *tile)
{
    struct ny_fit *fit = run->fit;
    int err = ny_embedding_rows(&fit->job.keep, &run->embedding, tile->first_row, tile->rows,
                                side->stored);

    if (err) return err;
    ny_probe_widen(run, side->stored, tile->rows, side->Y);
    memset(side->Y.at + tile->rows * run->p, 0,
           (NY_UNIT_ROWS - tile->rows) * run->p * sizeof(double));
    if (!run->averages.part.name[0]) return NY_OK;
    return ny_embedding_rows(&fit->job.keep, &run->averages, tile->first_row, tile->rows,
                             side->averages);
}

/* Makes of k(x_i,x_s) the entry of the matrix that the map decomposes. */
static void normalise(const struct ny_probe *run, const double *averages, struct ny_matrix K)
{
    bool divided = run->fit->settings->map->divided;

    for (size_t i = 0; i < K.rows && run->averages.part.name[0]; i++)
        for (size_t s = 0; s < K.cols; s++) {
            double *k = K.at + i * K.stride + s;

            if (divided)
                *k *= averages[i] * run->column_averages[s];
            else
                *k += run->mean - averages[i] - run->column_averages[s];
        }
}

/* Sums up the squares of each column. */
static void column_squares(struct ny_matrix K, double *squares)
{
    memset(squares, 0, K.cols * sizeof(double));
    for (size_t i = 0; i < K.rows; i++)
        for (size_t s = 0; s < K.cols; s++)
            squares[s] += K.at[i * K.stride + s] * K.at[i * K.stride + s];
}

/* Computes e_s and f_s of one unit. The tile of K is overwritten by K − K̃. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct ny_probe *run = arg;
    const struct ny_probe_side *side = &run->side[tile->worker];
    struct ny_matrix tile_K = ny_tiles_c64(&run->tiles, tile->worker);
    struct ny_matrix K = ny_rows(tile_K, 0, tile->rows);
    int err = ny_tiles_compute(&run->tiles, tile); /* k(tile, S) */

    if (err == NY_OK) err = load_rows(run, side, tile);
    if (err) return err;
    normalise(run, side->averages, K);
    column_squares(K, side->squares);              /* f_s */
    ny_gemm(-1, side->Y, ny_t(run->Z), 1, tile_K); /* K − K̃ */
    column_squares(K, side->errors);               /* e_s */
    return NY_OK;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct ny_probe *run = arg;
    const struct ny_probe_side *side = &run->side[tile->worker];

    for (size_t s = 0; s < run->r; s++) {
        run->sums[s] += side->errors[s];
        run->sums[run->r + s] += side->squares[s];
    }
    return NY_OK;
}

/* Sums of one draw are none of the other: version 1.0 drew all columns alike. */
static const char *image_of(const struct ny_probe *run)
{
    return run->by_diagonal ? "drawn" : "probe";
}

static int checkpoint(void *arg, uint64_t units_done)
{
    struct ny_probe *run = arg;

    return ny_job_checkpoint_image(&run->fit->job, NY_STAGE_PROBE, image_of(run), run->sums,
                                   2 * run->r * sizeof(double), units_done);
}

/* ---- the stage ----------------------------------------------------------------------------- */

/* Reads from the record what the embedding is like, and decides how S is drawn. */
static int describe(struct ny_probe *run)
{
    const struct ny_fit *fit = run->fit;
    const struct ny_fit_settings *settings = fit->settings;
    size_t element = ny_precision_bytes(settings->precision);
    int err = ny_coordinates_parse(&run->coordinates, fit->job.ctx, fit->job.record);

    if (err) return err;
    run->r = settings->probes < fit->job.points.n ? settings->probes : (size_t)fit->job.points.n;
    run->p = run->coordinates.pairs;
    if (!run->p) return ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
    run->f64 = settings->precision == NY_PRECISION_F64;
    run->embedding = ny_embedding_layout(ny_rows_here(&fit->job.points),
                                         ny_coordinates_width(&run->coordinates), element);
    run->embedding.part = ny_record_part(fit->job.record, "embedding");
    run->mean = fit->job.state.record.averages_mean;
    if (!ny_settings_probe_averages(settings)) return NY_OK;
    run->by_diagonal = settings->map->divided && run->r < fit->job.points.n &&
                       (settings->kernel->constant_diagonal || settings->kernel->unit_rows);
    run->averages = ny_embedding_layout(ny_rows_here(&fit->job.points), 1, sizeof(double));
    run->averages.part = ny_record_part(
        fit->job.record, settings->method->whole && settings->map->divided ? "roots" : "averages");
    return NY_OK;
}

static void lay(struct ny_layout *l, struct ny_probe *run, const struct ny_columns_spec *spec,
                size_t row_bytes, unsigned workers)
{
    size_t r = run->r, p = run->p;

    run->Z = ny_lay_matrix(l, NY_MEM_SOLVE, r, p);
    run->shift = ny_lay(l, NY_MEM_SOLVE, r, sizeof(double));
    run->column_averages = ny_lay(l, NY_MEM_SOLVE, r, sizeof(double));
    run->weights = ny_lay(l, NY_MEM_SOLVE, r, sizeof(double));
    run->rows = ny_lay(l, NY_MEM_DICTIONARY, r, sizeof(uint64_t));
    run->side = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->side));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_probe_side spare, *side = run->side ? &run->side[w] : &spare;
        double *Y = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, p * sizeof(double));

        side->Y = ny_matrix(Y, NY_UNIT_ROWS, p);
        side->stored = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row_bytes);
        side->averages = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
        side->errors = ny_lay(l, NY_MEM_TILES, r, sizeof(double));
        side->squares = ny_lay(l, NY_MEM_TILES, r, sizeof(double));
    }
    ny_tiles_lay(l, &run->tiles, spec, r, NY_PRECISION_F64, workers);
}

/* Makes the buffers, draws S, and loads what belongs to its columns. */
static int allocate(struct ny_probe *run)
{
    struct ny_fit *fit = run->fit;
    struct ny_columns_spec of_fit = ny_fit_spec(fit), spec = ny_settings_probe_spec(&of_fit);
    int err;

    run->own.ctx = fit->job.ctx;
    lay(&run->own, run, &spec, run->embedding.row_bytes, fit->job.workers);
    err = run->own.err ? run->own.err : ny_probe_columns(run);
    if (!err) ny_tiles_use(&run->tiles, run->columns, run->shift);
    return err;
}

static void release(struct ny_probe *run)
{
    ny_columns_free(run->columns);
    ny_layout_free(&run->own);
    ny_free(run->fit->job.ctx, run->sums);
    ny_coordinates_release(&run->coordinates, run->fit->job.ctx);
}

static int run_pass(struct ny_probe *run, uint64_t first_unit)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct ny_fit *fit = run->fit;
    double flops = 2 * (double)run->r * (double)(fit->job.points.d + run->p);
    int err =
        ny_fit_pass(fit, fit->job.points.n,
                    (struct ny_pass){.first_unit = first_unit, .flops_per_row = flops}, &work, run);

    if (err == NY_OK)
        ny_job_count_pass(&fit->job, fit->job.points.n, flops * (double)fit->job.points.n);
    return err;
}

/* √R and its standard error; of one column there is none. */
static void report(const struct ny_probe *run)
{
    struct ny_state_report *report = &run->fit->job.state.report;
    const double *e = run->sums, *f = run->sums + run->r;
    double n = (double)run->fit->job.points.n, r = (double)run->r;
    const double *g = run->weights, rest = run->by_diagonal ? 1 : 1 - r / n;
    double E = 0, F = 0, spread = 0, most = 0, R, variance;

    for (size_t s = 0; s < run->r; s++) {
        E += e[s] / g[s];
        F += f[s] / g[s];
        most = fmax(most, f[s] / g[s]);
    }
    R = E / F;
    for (size_t s = 0; s < run->r; s++)
        spread += (e[s] - R * f[s]) * (e[s] - R * f[s]) / (g[s] * g[s]);
    variance = r < n ? rest * r / (r - 1) * spread / (F * F) : 0;
    if (r < n && r > 2 && most > F / 2)
        ny_log(
            run->fit->job.ctx, NY_LOG_WARNING,
            "one of the %zu columns of the probe holds %.0f %% of their norm, and others like it "
            "may have been missed: the standard error of probe_error says little; measure more "
            "columns with --probe",
            run->r, 100 * most / F);
    report->probe_columns = run->r;
    report->probe_error = sqrt(R);
    report->probe_standard_error = variance > 0 ? sqrt(variance) / (2 * sqrt(R)) : variance;
}

/* The result, with what served the probe alone. */
static int finish(struct ny_probe *run)
{
    static const char *const parts[] = {"averages", "centring", "probe.0", "probe.1",
                                        "drawn.0",  "drawn.1",  NULL};
    struct ny_fit *fit = run->fit;

    ny_job_mark_time(&fit->job);
    report(run);
    return ny_job_save_without(&fit->job, ny_job_next(&fit->job), parts);
}

/* Frees what the stages before have left in memory. */
static void drop_fit(struct ny_fit *fit)
{
    ny_model_free(fit->model);
    ny_free(fit->job.ctx, fit->state);
    fit->model = NULL;
    fit->state = NULL;
}

/* Runs the stage: S is drawn again after a kill, the same one, and the sums go on from the
 * checkpoint. */
static int run_probe(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_probe run = {.fit = fit};
    struct ny_image_shape shape = {.units = ny_units_of(fit->job.points.n)};
    void *image = NULL;
    uint64_t units;
    int err;

    drop_fit(fit);
    err = describe(&run);
    if (err) goto done;
    fit->m = ny_fit_order(fit);
    err = ny_fit_lower_workers(fit);
    if (err == NY_OK) err = ny_fit_reserve_blas(fit, run.r);
    if (err) goto done;
    shape.bytes = 2 * run.r * sizeof(double);
    if (run.by_diagonal && ny_job_has_image(&fit->job, "probe"))
        ny_log(
            fit->job.ctx, NY_LOG_NOTE,
            "version 1.0 drew other columns for the probe of '%s': it is measured from the first "
            "row on again",
            fit->job.keep.name);
    err = ny_job_load_image(&fit->job, image_of(&run), &shape, &image, &units);
    if (err) goto done;
    run.sums = image ? image : ny_calloc(fit->job.ctx, NY_MEM_OTHER, 1, shape.bytes);
    if (!run.sums) err = NY_EBUDGET;
    if (err) goto done;
    err = allocate(&run);
    if (err) goto done;
    err = run_pass(&run, units);
    if (err) goto done;
    err = ny_peers_fold(ny_context_peers(fit->job.ctx), run.sums, 2 * run.r);
    if (err) goto done;
    err = finish(&run);
done:
    release(&run);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The columns are gathered before there are tiles; each worker reads chunks of what is stored. */
static void count_probe(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    const struct ny_fit_settings *settings = f->settings;
    struct ny_columns_spec spec = ny_settings_probe_spec(&f->spec);
    size_t r = settings->probes, p = ny_settings_pairs(settings);
    struct ny_probe run = {.r = r, .p = p};
    size_t gathered = settings->landmark_points.count || !spec.slots ? r * ny_sizes_row(f) : 0;
    struct ny_sizes widest = *f;

    if (widest.m < r) widest.m = r;
    ny_sizes_common(l, &widest, workers, workers);
    ny_lay(l, NY_MEM_OTHER, 2 * r, sizeof(double));
    ny_columns_count(l, &spec, r);
    ny_lay(l, NY_MEM_DICTIONARY, r, sizeof(struct ny_draw));
    lay(l, &run, &spec, (p + settings->asymmetric) * ny_sizes_element(f), workers);
    ny_lay_peak(l, NY_MEM_STORE, 1, ny_sizes_gather(f, r) + gathered);
    ny_columns_exact_count(l, &spec, workers);
    ny_sizes_source(l, f, workers);
    ny_layout_add(l, NY_MEM_STORE, workers * NY_CHUNK_BYTES);
    ny_batch_count(l, NY_MEM_STORE, limit, 2 * r * sizeof(double));
}

/* Times exact values of some columns, and of K̃ besides them. Stored rows are read by chunks, for
 * each unit; those of the columns once. */
static void probe_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    const double chunk_byte_beats = 1.2;
    struct ny_columns_spec spec = ny_settings_probe_spec(&t->sizes->spec);
    struct ny_prices price = ny_prices_of(&t->plan->rates, t->sizes->points, &spec, true);
    double r = (double)t->settings->probes, p = (double)ny_settings_pairs(t->settings);
    double rows = t->n * p * (t->price.f64 ? 8 : 4);
    double averages = ny_settings_probe_averages(t->settings) ? 8 * t->n : 0;
    double chunk = fmin(NY_CHUNK_BYTES, rows) + fmin(NY_CHUNK_BYTES, averages);
    double units = ceil(t->n / NY_UNIT_ROWS);

    t->plan->passes++;
    t->plan->flops += 2 * t->n * r * (price.d + p);
    t->plan->stage_s[NY_STAGE_PROBE] =
        ny_timing_share(t, NY_STAGE_PROBE, count_probe) *
            (ny_price_rows(&price, t->n) + ny_price_tile(&price, t->n * r) +
             ny_price_map(&price, t->n * r, p) +
             ny_price_beats(&price, units * chunk * chunk_byte_beats)) +
        ny_price_gather(&price, r, t->settings->threads) +
        ny_price_beats(&price, fmin(r * chunk, rows + averages) * chunk_byte_beats) *
            ny_price_threads(t->settings->threads) +
        ny_price_commit(&price, 0);
}

const struct ny_stage ny_stage_probe = {NY_STAGE_PROBE, run_probe, count_probe, probe_work};
