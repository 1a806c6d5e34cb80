/*
 * Stage accumulate, pass 1: s = Cᵀ1, G = CᵀC, t = Σ k(x_i,x_i) over all points, each weighted by
 * 1/d_i where the kernel is divided (G gives the AᵀA of Ouimet & Bengio 2005, Algorithm 1, steps 17
 * to 21, as A = C W⁺, and the SVD of C of Talwalkar et al. 2013, eq. 4). With implicit degrees
 * (Ouimet & Bengio, Proposition 2) s has to be known first: stage degrees is the same pass without
 * G, and ends with v, for which d_i = c_i·v.
 */
#include "fit/courses.h"
#include "fit/sizes.h"
#include "fit/timing.h"
#include "spectral/gram_noise.h"
#include "fit/sums.h"

#include <stdio.h>
#include <string.h>

#include "fit/given_columns.h"
#include "fit/gram_noise.h"
#include "fit/shards.h"
#include "fit/unreached.h"
#include "base/peers.h"

/* The state of a pass, in which each worker has its own partial sums. */
struct accumulate {
    struct ny_fit *fit;
    const struct ny_accumulate *pass;
    struct ny_layout own;
    struct ny_sums_room room;
    double degree_offset;
    struct ny_unreached_rows unreached;
};

/* Weighs the rows of the tile, too. */
static void sum_up(struct accumulate *run, unsigned worker, const struct ny_tile_rows *rows)
{
    if (run->room.tiles.precision == NY_PRECISION_F64)
        ny_partial_set64(run->room.share[worker].sums, ny_tiles_c64(&run->room.tiles, worker),
                         rows);
    else
        ny_partial_set(run->room.share[worker].sums, ny_tiles_c32(&run->room.tiles, worker), rows);
}

/* Computes the worker's share of H, C′ᵀ(C′U), of one tile. */
static void multiply(struct accumulate *run, unsigned worker)
{
    struct ny_matrix U = run->pass->krylov->U;

    if (run->room.tiles.precision == NY_PRECISION_F64)
        ny_krylov_partial_set64(run->room.share[worker].products,
                                ny_tiles_c64(&run->room.tiles, worker), U);
    else
        ny_krylov_partial_set(run->room.share[worker].products,
                              ny_tiles_c32(&run->room.tiles, worker), U);
}

/* Sums up the tile for the columns of landmarks that joined late. */
static void add_joined(struct accumulate *run, const struct ny_tile *tile)
{
    struct ny_joined_partial *joined = run->room.share[tile->worker].joined;

    if (run->room.tiles.precision == NY_PRECISION_F64)
        ny_joined_partial_set64(joined, ny_tiles_c64(&run->room.tiles, tile->worker), tile->rows);
    else
        ny_joined_partial_set(joined, ny_tiles_c32(&run->room.tiles, tile->worker), tile->rows);
}

/* Rows before the first that counts weigh nothing; how many they are. */
static size_t leave_out(const struct accumulate *run, const struct ny_tile *tile, double *weights)
{
    size_t before = 0;

    for (size_t i = 0; i < tile->rows; i++) {
        bool counts = tile->first_row + i >= run->pass->first_row;

        weights[i] = counts;
        before += !counts;
    }
    return before;
}

/* Counts the rows of a tile that no landmark reaches. */
static struct ny_unreached_rows count_unreached(const struct ny_tile *tile, const double *roots)
{
    struct ny_unreached_rows unreached = {0};

    for (size_t i = 0; i < tile->rows; i++)
        if (roots[i] == 0) ny_unreached_rows_note(&unreached, tile->first_row + i);
    return unreached;
}

/* Computes the tile and its sums, in the worker's own buffers. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct accumulate *run = arg;
    const struct ny_degrees *degrees = &run->fit->degrees;
    unsigned w = tile->worker;
    struct ny_tile_rows rows = {
        .count = tile->rows, .diagonal = ny_tiles_diagonal(&run->room.tiles, w), .tile = tile};
    double *roots = run->room.roots + (size_t)w * NY_UNIT_ROWS;
    size_t before = 0;
    int err = ny_tiles_compute(&run->room.tiles, tile); /* C′ = k(tile, D) − 1aᵀ */

    if (err) return err;
    if (run->pass->matched) {
        add_joined(run, tile);
        return NY_OK;
    }
    if (tile->first_row < run->pass->first_row) {
        before = leave_out(run, tile, roots);
        rows.weights = roots;
    }
    if (degrees->v) { /* C′ ← 𝒟^-½C′ */
        ny_degrees_roots(degrees, run->degree_offset, &run->room.tiles, tile, roots);
        run->room.of_tile[w] = count_unreached(tile, roots);
        rows.weights = roots;
    }
    if (run->pass->acc || rows.weights) sum_up(run, w, &rows); /* s_u = C′ᵀ1, G_u = C′ᵀC′ */
    if (run->pass->krylov) multiply(run, w);                   /* H_u = C′ᵀ(C′U) */
    run->room.share[w].sums->rows -= before;
    return NY_OK;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct accumulate *run = arg;

    if (run->pass->matched) {
        ny_accumulator_fold_joined(run->pass->acc, run->room.share[tile->worker].joined);
        return NY_OK;
    }
    if (run->pass->acc) /* s += s_u, G += G_u */
        ny_accumulator_fold(run->pass->acc, run->room.share[tile->worker].sums);
    if (run->pass->krylov)
        ny_krylov_fold(run->pass->krylov, run->room.share[tile->worker].products);
    ny_unreached_rows_add(&run->unreached, &run->room.of_tile[tile->worker]);
    return NY_OK;
}

/* G packed is half of G: it goes to the store piece by piece. */
struct image {
    const struct ny_accumulator *acc;
    void *piece;
};

/* Packs the piece of the image that the store asks for next. */
static const void *piece_of(const void *arg, size_t at, size_t count)
{
    const struct image *image = arg;

    ny_accumulator_save(image->acc, at, count, image->piece);
    return image->piece;
}

int ny_fit_save_sums(struct ny_fit *fit, const char *part, enum ny_stage_id next, uint64_t units)
{
    const struct ny_accumulator *acc = fit->acc;
    struct image image = {acc, ny_alloc(fit->job.ctx, NY_MEM_GRAM, NY_CHUNK_BYTES)};
    struct ny_pieces pieces = {piece_of, &image, ny_accumulator_image_bytes(acc->m, acc->G.at)};
    int err;

    if (!image.piece) return NY_EBUDGET;
    if (acc->rounded) fit->job.state.record.rounded = true;
    err = next == NY_STAGE_SELECT ? ny_job_put_beside(&fit->job, part, &pieces)
                                  : ny_job_checkpoint_pieces(&fit->job, next, part, &pieces, units);
    ny_free(fit->job.ctx, image.piece);
    return err;
}

/* The image is called "sums" in stage degrees, "gram" later. */
static int save(struct ny_fit *fit, enum ny_stage_id next, uint64_t units)
{
    return ny_fit_save_sums(fit, fit->acc->G.at ? "gram" : "sums", next, units);
}

/* Saves the sums after so many units, together with the rows that were not reached. */
static int checkpoint(void *arg, uint64_t units_done)
{
    struct accumulate *run = arg;

    run->fit->job.state.at.unreached = run->unreached.count;
    run->fit->job.state.at.first_unreached = run->unreached.first;
    return run->pass->save(run->fit, run->fit->job.stage, units_done);
}

int ny_fit_restore_sums(struct ny_fit *fit, const char *part, uint64_t *units, bool *found)
{
    struct ny_image_shape shape = {ny_accumulator_image_bytes(fit->acc->m, fit->acc->G.at),
                                   ny_units_of(fit->job.points.n)};
    void *image;
    int err = ny_job_load_image(&fit->job, part, &shape, &image, units);

    if (err == NY_OK && image) ny_accumulator_restore(fit->acc, image);
    *found = image != NULL;
    ny_free(fit->job.ctx, image);
    return err;
}

int ny_fit_load_sums(struct ny_fit *fit, const char *part, uint64_t *units)
{
    bool found;
    int err = strcmp(part, "sums") == 0 ? ny_accumulator_new_sums(&fit->acc, fit->job.ctx, fit->m)
                                        : ny_accumulator_new(&fit->acc, fit->job.ctx, fit->m);

    if (err) return err;
    if (fit->settings->kernel && fit->settings->kernel->constant_diagonal &&
        !ny_divided(fit->settings->normalisation))
        ny_accumulator_round(fit->acc, 2, fit->job.points.n); /* |k| ≤ 1, and so is the shift */
    ny_shards_watch(fit);
    return ny_fit_restore_sums(fit, part, units, &found);
}

static int allocate(struct accumulate *run)
{
    struct ny_fit *fit = run->fit;
    const struct ny_matched *matched = run->pass->matched;
    const struct ny_sums_shape shape = {.spec = ny_columns_of(fit->columns),
                                        .m = fit->m,
                                        .precision = fit->settings->precision,
                                        .gram = run->pass->gram,
                                        .joins = matched,
                                        .joined = matched ? matched->joined_count : 0,
                                        .width = run->pass->krylov ? run->pass->krylov->U.cols : 0,
                                        .workers = fit->job.workers};

    run->own.ctx = fit->job.ctx;
    ny_sums_lay(&run->own, &run->room, &shape);
    if (run->own.err) return run->own.err;
    ny_tiles_use(&run->room.tiles, fit->columns, fit->a);
    run->room.tiles.cache = fit->cache;
    if (fit->degrees.v) run->degree_offset = ny_degrees_offset(&fit->degrees, fit->a);
    for (unsigned w = 0; w < shape.workers; w++)
        if (matched)
            run->room.share[w].joined->columns = matched->joined;
        else
            run->room.share[w].sums->shared = ny_units_of(fit->job.points.n) <= NY_FEW_UNITS;
    return NY_OK;
}

/* Flops of a row, besides its products with the landmarks. */
static double sum_flops(const struct ny_fit *fit, const struct ny_accumulate *pass)
{
    double m = (double)fit->m;

    if (pass->matched) return 2 * m * (double)pass->matched->joined_count;
    return (pass->krylov ? 4 * m * (double)pass->krylov->U.cols : 0) +
           (pass->gram == NY_GRAM_NONE ? 0 : m * m);
}

int ny_accumulate_pass(struct ny_fit *fit, const struct ny_accumulate *pass)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct accumulate run = {.fit = fit, .pass = pass};
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    uint64_t end = pass->end_row ? pass->end_row : fit->job.points.n;
    uint64_t rows = pass->rows ? pass->rows : end - pass->first_row;
    uint64_t rows_total = fit->online ? ny_rows_here(&fit->job.points) : 0;
    double products = ny_tile_cache_whole(fit->cache) ? 0 : ny_entry_products(&spec);
    double flops = 2 * (double)fit->m * products + sum_flops(fit, pass);
    int err;

    if (pass->first_unit) /* else the count is that of a pass before */
        run.unreached = (struct ny_unreached_rows){fit->job.state.at.unreached,
                                                   fit->job.state.at.first_unreached};
    err = allocate(&run);
    if (err) goto done;
    err = ny_fit_pass(fit, end,
                      (struct ny_pass){.first_unit = pass->first_unit,
                                       .rows_total = rows_total,
                                       .flops_per_row = flops},
                      &work, &run);
    if (err) goto done;
    if (fit->degrees.v) err = ny_fit_check_unreached(fit, &run.unreached);
    if (err) goto done;
    if (fit->online) /* the selection counts the rows */
        ny_job_count_flops(&fit->job, flops * (double)rows);
    else
        ny_job_count_pass(&fit->job, rows, flops * (double)rows);
done:
    ny_layout_free(&run.own);
    return err;
}

/* Saves v of the implicit degrees, from the sums of the pass; destroys W. */
static int save_degrees(struct ny_fit *fit)
{
    size_t m = fit->m;
    double n = (double)fit->job.points.n, *s = fit->acc->s;
    double *v = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, m + 1, sizeof(double));
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    struct ny_problem problem = ny_fit_problem(fit);
    int err = NY_EBUDGET;

    if (!v) goto done;
    for (size_t j = 0; j < m; j++) /* s = s′ + n a */
        s[j] += n * fit->a[j];
    if (ny_peers_leads(peers)) {
        ny_blas_parallel(ny_context_whole(fit->job.ctx), m);
        err = fit->settings->method->degrees(&problem, s, v);
        ny_blas_serial();
        if (err) goto done;
        v[m] = ny_dot(s, v, m) / n;
    }
    err = ny_peers_share(peers, v, (m + 1) * sizeof(double));
    if (err) goto done;
    err = ny_job_put_part(&fit->job, "degrees", v, (m + 1) * sizeof(double));
done:
    ny_free(fit->job.ctx, v);
    return err;
}

/* Runs stage degrees: the sums s of all rows, then v, which is stored as part degrees. */
static int run_degrees(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_accumulate pass = {.gram = NY_GRAM_NONE, .save = save};
    int err;

    err = ny_fit_prepare(fit);
    if (err) return err;
    err = ny_fit_lower_workers(fit);
    if (err) return err;
    err = ny_fit_load_sums(fit, "sums", &pass.first_unit);
    if (err) return err;
    pass.acc = fit->acc;
    err = ny_accumulate_pass(fit, &pass);
    if (err) return err;
    err = ny_accumulator_fold_peers(fit->acc, ny_context_peers(job->ctx));
    if (err) return err;
    err = save_degrees(fit);
    if (err) return err;
    ny_fit_drop_problem(fit);
    ny_job_clear_checkpoint(job);
    ny_job_mark_time(job);
    return ny_job_save(job, ny_job_next(job));
}

/* A pass for s beside W, then the problem that gives v = B s. */
static void count_degrees(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                          size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_layout_mark mark;

    (void)limit;
    ny_sizes_landmarks(l, f, true);
    mark = ny_layout_mark(l);
    ny_sizes_common(l, f, workers, workers);
    ny_sizes_source(l, f, workers);
    ny_layout_add(l, NY_MEM_STORE, NY_CHUNK_BYTES);
    ny_layout_add(l, NY_MEM_GRAM, NY_CHUNK_BYTES + 2 * f->m * sizeof(double));
    ny_sizes_sums(l, f, &(struct ny_sums_shape){.gram = NY_GRAM_NONE, .workers = workers});
    ny_layout_back(l, &mark);
    ny_sizes_common(l, f, workers, 1);
    ny_problem_count(l, f);
}

static void degrees_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    const double degree_beats = 0.3;

    t->plan->passes++;
    t->plan->flops += ny_timing_tile_flops(t, NY_STAGE_DEGREES);
    t->plan->stage_s[NY_STAGE_DEGREES] = ny_timing_prepare(t) + ny_price_commit(&t->price, 0) +
                                         ny_timing_share(t, NY_STAGE_DEGREES, count_degrees) *
                                             (ny_timing_tiles(t, NY_STAGE_DEGREES) +
                                              ny_price_beats(&t->price, degree_beats * t->entries));
}

const struct ny_stage ny_stage_degrees = {NY_STAGE_DEGREES, run_degrees, count_degrees,
                                          degrees_work};

bool ny_fit_sums_outdated(const struct ny_fit *fit)
{
    return fit->gram == NY_GRAM_F64 && !ny_earlier_keeps_precision(fit) &&
           ny_is(fit->job.state.report.gram_precision, "f32");
}

void ny_fit_drop_outdated(struct ny_fit *fit)
{
    if (ny_fit_sums_outdated(fit) && fit->job.state.at.part) ny_job_clear_checkpoint(&fit->job);
}

int ny_fit_sum_all(struct ny_fit *fit)
{
    struct ny_accumulate pass = {.gram = fit->gram, .save = save};
    int err = ny_fit_load_sums(fit, "gram", &pass.first_unit);

    pass.acc = fit->acc;
    return err ? err : ny_accumulate_pass(fit, &pass);
}

int ny_fit_run_sums(struct ny_fit *fit, int (*choose)(struct ny_fit *fit),
                    int (*sum)(struct ny_fit *fit))
{
    struct ny_job *job = &fit->job;
    int err = ny_fit_prepare(fit);

    if (err) return err;
    if (!ny_settings_needs_gram(fit->settings)) return ny_job_save(job, ny_job_next(job));
    err = ny_fit_lower_workers(fit);
    if (!err && choose) err = choose(fit);
    if (!err && choose) err = ny_fit_lower_workers(fit); /* an f64 Gram takes more of each */
    if (err) return err;
    ny_fit_drop_outdated(fit);
    job->state.report.gram_precision = fit->gram == NY_GRAM_F64 ? "f64" : "f32";
    err = sum(fit);
    if (err) return err;
    ny_job_mark_time(job);
    return ny_fit_save_sums(fit, "gram", ny_job_next(job), ny_units_of(ny_rows_here(&job->points)));
}

static int run(struct ny_job *job)
{
    return ny_fit_run_sums(ny_fit_of(job), ny_fit_measure_gram, ny_fit_sum_all);
}

/* Counts the tiles and the workers' shares: of all columns, or in an update of those that joined,
 * if these are more. */
static void count_shares(struct ny_layout *l, const struct ny_sizes *f, unsigned workers)
{
    struct ny_sums_shape shape = {.gram = f->gram, .workers = workers};
    struct ny_layout_mark mark = ny_layout_mark(l);

    ny_sizes_sums(l, f, &shape);
    ny_layout_back(l, &mark);
    shape.joins = true;
    shape.joined = f->m / 2;
    if (f->settings->updates) ny_sizes_sums(l, f, &shape);
}

/* Pass 1 without W, which is made again for solve where it would cost a worker. The loss of f32
 * Grams is measured before the sums and the workers' shares of them exist. */
void ny_accumulate_count(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                         size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_layout_mark mark;

    ny_sizes_common(l, f, workers, workers);
    ny_sizes_landmarks(l, f, f->settings->method->krylov);
    ny_sizes_source(l, f, workers);
    ny_batch_count(l, NY_MEM_STORE, limit, ny_accumulator_image_bytes(f->m, true));
    ny_sizes_earlier(l, f);
    mark = ny_layout_mark(l);
    if (f->gram == NY_GRAM_F32 && !ny_settings_gram_f64(f->settings, f->points->n))
        ny_fit_measure_lay(l, &f->spec, f->m, workers);
    ny_layout_back(l, &mark);
    ny_accumulator_count(l, f->m);
    ny_layout_add(l, NY_MEM_GRAM, NY_CHUNK_BYTES);
    count_shares(l, f, workers);
}

/* Seconds to measure the loss of f32 tile Grams: some of their rows for a few units
 * (fit/gram_noise.h), and W = LLᵀ. */
static double measure_s(const struct ny_timing *t)
{
    double rows = (double)ny_gram_noise_units(ny_units_of((uint64_t)t->n)) * NY_UNIT_ROWS;
    double columns = 2 * (double)ny_gram_meter_rows(t->plan->m);

    return ny_price_rows(&t->price, rows) + ny_price_tile(&t->price, rows * t->m) +
           rows * t->m * columns * (1 / t->price.rate->gemm32 + 1 / t->price.rate->gemm64) +
           t->m * t->m * t->m / 3 / t->price.rate->gemm64;
}

void ny_accumulate_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    bool degrees = ny_settings_needs_degrees(t->settings);

    if (!ny_settings_needs_gram(t->settings)) return;
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        (degrees ? 0 : ny_timing_prepare(t)) + ny_price_commit(&t->price, 4 * t->m * t->m);
    if (!ny_settings_forms_gram(t->settings)) return;
    plan->passes += !t->settings->online; /* else that of the selection */
    plan->flops += ny_timing_tile_flops(t, NY_STAGE_ACCUMULATE) + t->entries * t->m;
    plan->stage_s[NY_STAGE_ACCUMULATE] +=
        ny_timing_share(t, NY_STAGE_ACCUMULATE, ny_accumulate_count) *
        (ny_timing_tiles(t, NY_STAGE_ACCUMULATE) +
         ny_price_gram(&t->price, plan->gram_f64, t->n, t->m));
    if (!plan->gram_f64) plan->stage_s[NY_STAGE_ACCUMULATE] += measure_s(t);
}

const struct ny_stage ny_stage_accumulate = {NY_STAGE_ACCUMULATE, run, ny_accumulate_count,
                                             ny_accumulate_work};

int ny_fit_load_accumulator(struct ny_fit *fit)
{
    uint64_t units;

    return fit->acc || !ny_settings_forms_gram(fit->settings)
               ? NY_OK
               : ny_fit_load_sums(fit, "gram", &units);
}

void ny_fit_keep_sums(struct ny_fit *fit)
{
    struct ny_state *state = &fit->job.state;

    if (!ny_job_has_image(&fit->job, "gram")) return;
    state->sums = (struct ny_state_sums){.there = true,
                                         .part = state->at.slot == 1 ? "gram.1" : "gram.0",
                                         .bytes = state->at.bytes,
                                         .rows = ny_rows_here(&fit->job.points),
                                         .precision = state->report.gram_precision};
}
