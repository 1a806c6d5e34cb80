/* Stages solve and project of methods that work on all of K: the small eigenproblem that is left of
 * the products, and the embedding, without another pass. */
#include <math.h>
#include <string.h>

#include "columns/kernels.h"
#include "model/coordinates.h"
#include "model/embedding.h"
#include "fit/plan.h"
#include "whole/residuals.h"
#include "fit/sizes.h"
#include "fit/ideal.h"
#include "fit/timing.h"
#include "fit/signs.h"
#include "model/extension.h"

/* ---- solve: B → eigenpairs, and the map ---------------------------------------------------- */

/* The result of the stage: Û = Q U, stored rows Q P, and for new points the offset of k(x,X)ÛΛ^-½.
 */
struct pairs {
    struct ny_layout own;
    size_t count;       /* that are kept: the components, and a trivial one */
    double *values;     /* rank */
    struct ny_matrix U; /* rank × r: eigenvector k of B is row k */
    struct ny_matrix P; /* r × count: U scaled as the map wants it */
    double *offset;     /* count */
};

/* The bound below which an eigenvalue is 0 but for the rounding of tiles, or of B. */
static double cut_of(const struct ny_products_state *state, double largest)
{
    const double f32_tiles = 0x1p-22 / sqrt((double)state->shape.n);
    double f64 = (double)state->shape.r * 0x1p-53;
    double noise = state->sketch.noise > 0 ? state->sketch.noise : 1;

    if (state->fit->settings->precision == NY_PRECISION_F64) return noise * f64 * largest;
    return noise * (f64 > f32_tiles ? f64 : f32_tiles) * largest;
}

/* Reduces the products to B, r × r, and finds its largest eigenpairs. */
static int solve_small(struct ny_products_state *state, struct pairs *pairs)
{
    struct ny_context *ctx = state->fit->job.ctx;
    size_t r = state->shape.r;
    double *at = ny_calloc(ctx, NY_MEM_SOLVE, r, r * sizeof(double));
    struct ny_matrix B = ny_matrix(at, r, r);
    int err;

    if (!at) return NY_EBUDGET;
    ny_blas_parallel(ctx, r);
    err = state->fit->settings->method->whole->reduce(&state->sketch, B);
    if (err == NY_OK) err = ny_eigen_top(ctx, B, state->shape.rank, pairs->values, pairs->U);
    ny_blas_serial();
    ny_free(ctx, at);
    return err;
}

/* û_k of a row. */
static double entry(const struct ny_products_state *state, const struct pairs *pairs, uint64_t row,
                    size_t k)
{
    return ny_dot(state->V.at + (size_t)row * state->V.stride, pairs->U.at + k * pairs->U.stride,
                  state->shape.r);
}

/* Decides the signs of Û, and *trivial, the mean of g_i û_i1, over the rows of smallest hash. */
static int fix_signs(const struct ny_products_state *state, struct pairs *pairs, double *trivial)
{
    struct ny_fit *fit = state->fit;
    struct ny_selection chosen = {0};
    double *at = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, NY_SIGN_ROWS, pairs->count * sizeof(double));
    int err = at ? ny_signs_rows(fit, NULL, &chosen) : NY_EBUDGET;
    struct ny_matrix U = ny_matrix(at, chosen.m, pairs->count);
    bool negative;

    for (size_t k = 0; k < pairs->count && err == NY_OK; k++) {
        for (size_t i = 0; i < chosen.m; i++)
            U.at[i * U.stride + k] = entry(state, pairs, chosen.rows[i], k);
        negative = ny_signs_negative(U, k);
        for (size_t j = 0; negative && j < state->shape.r; j++)
            pairs->U.at[k * pairs->U.stride + j] *= -1;
    }
    *trivial = state->roots ? 0 : NAN;
    for (size_t i = 0; state->roots && i < chosen.m && err == NY_OK; i++)
        *trivial += state->roots[chosen.rows[i]] * entry(state, pairs, chosen.rows[i], 0) /
                    (double)chosen.m;
    ny_selection_release(&chosen, fit->job.ctx);
    ny_free(fit->job.ctx, at);
    return err;
}

/* y(x) = k̃(x,X)ÛΛ^-½, where k̃ = k less the averages of its own row and of the rows of K; the
 * columns of Û add up to 0, so that of these only r = K1/n is left: −Σ_i (r_i − r̄) û_i λ^-½. */
static int find_offset(const struct ny_products_state *state, struct pairs *pairs)
{
    size_t n = state->V.rows, r = state->shape.r;
    double mean = 0, *sum = ny_calloc(state->fit->job.ctx, NY_MEM_SOLVE, r, sizeof(double));

    if (!sum) return NY_EBUDGET;
    for (size_t i = 0; i < n; i++)
        mean += state->Y.at[i * state->Y.stride + r] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < r; j++)
            sum[j] += (state->Y.at[i * state->Y.stride + r] - mean) / (double)n *
                      state->V.at[i * state->V.stride + j];
    for (size_t k = 0; k < pairs->count; k++) {
        double projected = ny_dot(sum, pairs->U.at + k * pairs->U.stride, r);

        pairs->offset[k] = pairs->values[k] > 0 ? -projected / sqrt(pairs->values[k]) : 0;
    }
    ny_free(state->fit->job.ctx, sum);
    return NY_OK;
}

static void lay(struct ny_layout *l, struct pairs *pairs, const struct ny_products *shape)
{
    size_t r = shape->r, rank = shape->rank, p = pairs->count;

    pairs->U = ny_lay_matrix(l, NY_MEM_SOLVE, rank, r);
    pairs->P = ny_lay_matrix(l, NY_MEM_SOLVE, r, p);
    pairs->values = ny_lay(l, NY_MEM_SOLVE, rank, sizeof(double));
    pairs->offset = ny_lay(l, NY_MEM_SOLVE, p, sizeof(double));
}

/* Counts what is above the cut, and what is negative beyond it; the rest becomes 0. */
static int count_values(const struct ny_products_state *state, struct pairs *pairs,
                        struct ny_solution *solution)
{
    size_t rank = state->shape.rank;
    double cut = cut_of(state, fabs(pairs->values[0]));

    solution->rank_effective = ny_solution_count(solution, pairs->values, rank, cut);
    for (size_t k = 0; k < rank; k++)
        if (pairs->values[k] <= cut) pairs->values[k] = 0;
    if (solution->rank_effective) return NY_OK;
    return ny_fail(state->fit->job.ctx, NY_ENUMERIC,
                   "no eigenvalue of the kernel matrix is positive; choose another kernel or "
                   "width");
}

/* Saves P, the degrees' roots where there are some, and what places new points by Nyström's
 * formula. */
static int save_map(struct ny_products_state *state, const struct pairs *pairs)
{
    struct ny_fit *fit = state->fit;
    size_t count = pairs->count, bytes = ny_extension_bytes(count);
    double *image;
    int err =
        ny_job_put_part(&fit->job, "map", pairs->P.at, state->shape.r * count * sizeof(double));

    if (err == NY_OK && state->roots)
        err = ny_job_put_part(&fit->job, "roots", state->roots, state->V.rows * sizeof(double));
    if (err) return err;
    image = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, 1, bytes);
    if (!image) return NY_EBUDGET;
    memcpy(image, &fit->params, sizeof(fit->params));
    image[3] = fit->job.state.record.mean_degree;
    for (size_t k = 0; k < count; k++) {
        image[NY_EXTENSION_HEAD + k] = pairs->values[k] > 0 ? 1 / pairs->values[k] : 0;
        image[NY_EXTENSION_HEAD + count + k] = pairs->offset[k];
    }
    err = ny_job_put_part(&fit->job, "extension", image, bytes);
    ny_free(fit->job.ctx, image);
    return err;
}

/* Tells whether the spread of the columns gives the trace: K is that of dot products, centred. */
static bool has_spread(const struct ny_fit_settings *settings)
{
    return settings->map->additive && settings->kernel == ny_kernel_find("linear");
}

/* tr HXXᵀH: the squares of all columns about their means. */
static int find_spread(const struct ny_fit *fit, double *trace)
{
    struct ny_rows_stats stats;
    double n = (double)fit->job.points.n, sum = 0;
    int err = fit->job.X->ops->stats(fit->job.X, &stats);

    if (err) return err;
    for (uint64_t j = 0; j < stats.d; j++)
        sum += n * stats.variance[j] * fit->geometry->factor[j] * fit->geometry->factor[j];
    if (stats.n == fit->job.points.n) *trace = sum;
    ny_rows_stats_release(&stats, fit->job.ctx);
    return NY_OK;
}

/* Finds the trace of the matrix that is decomposed, as far as it takes no pass: where k(x,x) is 1,
 * Σ g_i², or n less what centring takes off, 1ᵀK1/n. Other kernels leave it as it is. */
static int find_trace(const struct ny_products_state *state, double *trace)
{
    const struct ny_fit_settings *settings = state->fit->settings;
    double sum = 0;

    if (has_spread(settings)) return find_spread(state->fit, trace);
    if (!settings->kernel->constant_diagonal) return NY_OK;
    for (size_t i = 0; i < state->V.rows; i++) {
        sum += state->roots ? state->roots[i] * state->roots[i] : 1;
        if (state->shape.centred)
            sum -= state->Y.at[i * state->Y.stride + state->shape.r] / (double)state->V.rows;
    }
    *trace = sum;
    return NY_OK;
}

/* Saves the averages with which a probe centres K: r = K1/n, and its mean. */
static int save_averages(const struct ny_products_state *state)
{
    struct ny_fit *fit = state->fit;
    size_t n = state->V.rows;
    double mean = 0, *averages;
    int err;

    if (!fit->settings->probes || !state->shape.centred) return NY_OK;
    averages = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, n, sizeof(double));
    if (!averages) return NY_EBUDGET;
    for (size_t i = 0; i < n; i++) {
        averages[i] = state->Y.at[i * state->Y.stride + state->shape.r] / (double)n;
        mean += averages[i] / (double)n;
    }
    fit->job.state.record.averages_mean = mean;
    err = ny_job_put_part(&fit->job, "averages", averages, n * sizeof(double));
    ny_free(fit->job.ctx, averages);
    return err;
}

/* Makes P = U·scale, puts the coordinates into the record, and saves all of it. */
static int make_map(struct ny_products_state *state, struct pairs *pairs,
                    struct ny_solution *solution)
{
    struct ny_fit *fit = state->fit;
    struct ny_coordinates coordinates = {0};
    double *scale = NULL;
    bool scaled;
    int err = fix_signs(state, pairs, &solution->trivial_mean);

    if (err == NY_OK && state->shape.centred) err = find_offset(state, pairs);
    if (err == NY_OK) err = ny_fit_scale(fit, solution, &scale, &coordinates);
    if (err) return err;
    scaled = scale && !coordinates.scale;
    if (!ny_coordinates_plain(&coordinates))
        ny_coordinates_put(&coordinates, fit->job.record, &fit->job.state);
    for (size_t k = 0; k < pairs->count; k++)
        for (size_t j = 0; j < state->shape.r; j++)
            pairs->P.at[j * pairs->count + k] =
                pairs->U.at[k * pairs->U.stride + j] * (scaled ? scale[k] : 1);
    for (size_t k = 0; k < pairs->count; k++) /* a pair that was cut has no vector */
        for (size_t j = 0; j < state->shape.r && !(pairs->values[k] > 0); j++)
            pairs->P.at[j * pairs->count + k] = 0;
    ny_free(fit->job.ctx, scale);
    err = save_map(state, pairs);
    return err ? err : save_averages(state);
}

/* Runs stage solve: B, its eigenpairs, the map, and the next stage in one record. */
static int run_solve(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_solution solution = {.trace = NAN, .trace_approx = NAN};
    struct pairs pairs = {.own.ctx = fit->job.ctx, .count = ny_settings_pairs(fit->settings)};
    struct ny_products_state state;
    uint64_t place;
    int err;

    err = ny_products_open(&state, fit, &place);
    if (err) return err;
    fit->m = state.shape.order; /* the report tells the rank by it */
    lay(&pairs.own, &pairs, &state.shape);
    err = pairs.own.err ? pairs.own.err : solve_small(&state, &pairs);
    if (err) goto done;
    solution.m = state.shape.r;
    solution.p = pairs.count;
    solution.values = pairs.values;
    solution.trace_of = state.shape.centred   ? "centred"
                        : state.shape.divided ? "normalised"
                                              : "raw";
    err = count_values(&state, &pairs, &solution);
    if (err) goto done;
    err = make_map(&state, &pairs, &solution);
    if (err == NY_OK) err = find_trace(&state, &solution.trace);
    if (err) goto done;
    ny_fit_report_solution(fit, &solution);
    err = ny_report_residuals(&state, ny_rows(pairs.U, 0, pairs.count), pairs.values);
    if (err) goto done;
    ny_job_mark_time(&fit->job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_layout_free(&pairs.own);
    return err;
}

static void count_reduce(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                         size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    const size_t hashed_bytes = 32 << 10; /* numbers of the rows that decide signs */
    struct ny_products products = ny_products_of(f->settings, f->points);
    struct pairs pairs = {.count = ny_settings_pairs(f->settings)};
    size_t r = products.r, map = r * pairs.count * sizeof(double);
    size_t roots = (size_t)f->points->n * sizeof(double);

    ny_sizes_common(l, f, workers, 1);
    ny_lay(l, NY_MEM_OTHER, ny_products_state_bytes(&products), 1);
    ny_batch_count(l, NY_MEM_STORE, limit, products.divided && map < roots ? roots : map);
    ny_layout_add(l, NY_MEM_DICTIONARY, hashed_bytes);
    lay(l, &pairs, &products);
    ny_lay_matrix(l, NY_MEM_SOLVE, r, r);
    f->settings->method->whole->count(l, r);
    ny_eigen_top_count(l, r, products.rank);
    ny_lay_peak(l, NY_MEM_SOLVE, NY_SIGN_ROWS, pairs.count * sizeof(double));
    ny_residuals_count(l, &products, pairs.count);
    if (has_spread(f->settings)) { /* statistics of four arrays, from a record of four */
        ny_layout_add(l, NY_MEM_STORE, f->points->stats_bytes);
        ny_layout_add(l, NY_MEM_OTHER, ny_sizes_arrays(f, 8));
    }
    if (f->settings->probes && products.centred) {
        ny_lay(l, NY_MEM_SOLVE, roots, 1);
        ny_batch_count(l, NY_MEM_STORE, limit, roots);
    }
}

static void reduce_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    struct ny_products products = ny_products_of(t->settings, t->sizes->points);
    double r = (double)products.r;
    double small =
        t->settings->method->whole->flops(t->n, r, &t->settings->randomized) + 9 * r * r * r;

    t->plan->flops += small;
    t->plan->stage_s[NY_STAGE_SOLVE] =
        small / t->plan->rates.gemm64 + ny_price_commit(&t->price, 0);
}

const struct ny_stage ny_stage_reduce = {NY_STAGE_SOLVE, run_solve, count_reduce, reduce_work};

/* ---- project: Q·P -------------------------------------------------------------------------- */

struct output {
    struct ny_embedding_writer writer;
    size_t pairs, width; /* of a stored row: model/coordinates.h */
    double *P, *Y;       /* r × pairs; NY_UNIT_ROWS × width */
    float *narrow;
};

static void lay_output(struct ny_layout *l, struct output *out, size_t r)
{
    out->P = ny_lay(l, NY_MEM_SOLVE, r, out->pairs * sizeof(double));
    out->Y = ny_lay(l, NY_MEM_SOLVE, NY_UNIT_ROWS, out->width * sizeof(double));
    out->narrow = ny_lay(l, NY_MEM_SOLVE, NY_UNIT_ROWS, out->width * sizeof(float));
}

/* Makes the writer, and loads P. */
static int allocate_output(struct ny_products_state *state, struct ny_layout *l, struct output *out)
{
    struct ny_fit *fit = state->fit;
    size_t r = state->shape.r, pairs = ny_settings_pairs(fit->settings);
    struct ny_embedding_layout layout;
    int err;

    out->pairs = pairs;
    out->width = pairs + fit->settings->asymmetric;
    lay_output(l, out, r);
    err = l->err ? l->err : ny_job_get_part(&fit->job, "map", out->P, r * pairs * sizeof(double));
    if (err) return err;
    layout = ny_embedding_layout(fit->job.points.n, out->width,
                                 ny_precision_bytes(fit->settings->precision));
    ny_record_renew(fit->job.record, "embedding");
    layout.part = ny_record_part(fit->job.record, "embedding");
    return ny_embedding_writer_new(&out->writer, &fit->job.keep, layout, 0);
}

/* Computes Q P of one unit's rows, adds the roots where they are stored, and gives the rows to the
 * writer. */
static void add_unit(struct ny_products_state *state, struct output *out, size_t first, size_t rows)
{
    bool f64 = state->fit->settings->precision == NY_PRECISION_F64;
    struct ny_matrix Y = ny_matrix(out->Y, rows, out->width);

    ny_gemm(1, ny_rows(state->sketch.V, first, rows), ny_matrix(out->P, state->shape.r, out->pairs),
            0, ny_cols(Y, 0, out->pairs));
    for (size_t i = 0; i < rows && out->width > out->pairs; i++)
        out->Y[i * out->width + out->pairs] = state->roots[first + i];
    for (size_t i = 0; i < rows * out->width; i++)
        out->narrow[i] = (float)out->Y[i];
    ny_embedding_add(&out->writer, f64 ? (void *)out->Y : (void *)out->narrow, rows);
}

/* Commits the rows in the writer; with the last, also commits the record and drops the products. */
static int flush(struct ny_products_state *state, struct output *out, bool last)
{
    struct ny_fit *fit = state->fit;
    struct ny_batch *batch;
    int err = ny_embedding_batch(&out->writer, NULL, &batch);

    if (err) return err;
    for (int slot = 0; slot < 2 && last && err == NY_OK; slot++)
        err = ny_job_delete_part(&fit->job, batch, slot ? "products.1" : "products.0");
    if (err) {
        fit->job.keep.ops->cancel(batch);
        return err;
    }
    return ny_job_commit(&fit->job, batch, last ? ny_job_next(&fit->job) : NY_STAGE_PROJECT);
}

/* Begins anew after an interrupt, as it is short. */
static int write_embedding(struct ny_products_state *state, struct output *out)
{
    size_t n = (size_t)state->shape.n;
    int err = NY_OK;

    for (size_t first = 0; first < n && err == NY_OK; first += NY_UNIT_ROWS) {
        add_unit(state, out, first, n - first < NY_UNIT_ROWS ? n - first : NY_UNIT_ROWS);
        err = ny_check_interrupt(state->fit->job.ctx);
        if (err == NY_OK && ny_embedding_full(&out->writer)) err = flush(state, out, false);
    }
    return err;
}

/* Reports the time of all products over that of their GEMMs. */
static void report_ratio(struct ny_fit *fit)
{
    const struct ny_ideal ideal = ny_ideal_of(fit);
    struct ny_products products = ny_products_of(fit->settings, &fit->job.points);
    double n = (double)fit->job.points.n, columns = ny_products_columns(&products);

    if (products.features)
        ny_ideal_report(fit, &ideal, ny_ideal_map(&ideal, 2 * n * (double)products.d, columns));
    else
        ny_ideal_report(fit, &ideal,
                        ny_ideal_products(&ideal, ny_products_entries(&products)) +
                            ny_ideal_map(&ideal, n * n, columns));
}

/* Runs stage project: the rows of Q P, unit by unit, in the thread of the job. */
static int run_project(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_layout l = {.ctx = fit->job.ctx};
    struct output out = {.P = NULL};
    struct ny_products_state state;
    uint64_t place;
    int err;

    err = ny_products_open(&state, fit, &place);
    if (err) return err;
    err = allocate_output(&state, &l, &out);
    if (err) goto done;
    ny_blas_serial();
    err = write_embedding(&state, &out);
    if (err) goto done;
    ny_job_mark_time(&fit->job);
    report_ratio(fit);
    err = flush(&state, &out, true);
done:
    ny_embedding_writer_release(&out.writer);
    ny_layout_free(&l);
    return err;
}

static void count_write(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_products products = ny_products_of(f->settings, f->points);
    size_t pairs = ny_settings_pairs(f->settings), width = pairs + f->settings->asymmetric;
    struct output out = {.pairs = pairs, .width = width};
    struct ny_embedding_layout layout =
        ny_embedding_layout(f->points->n, width, ny_sizes_element(f));

    ny_sizes_common(l, f, workers, 1);
    ny_lay(l, NY_MEM_OTHER, ny_products_state_bytes(&products), 1);
    lay_output(l, &out, products.r);
    ny_embedding_writer_count(l, &layout, limit);
}

static void write_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    const struct ny_fit_settings *settings = t->settings;
    struct ny_products products = ny_products_of(settings, t->sizes->points);
    double n = t->n, r = (double)products.r, state = (double)ny_products_state_bytes(&products);
    double width = (double)(ny_settings_pairs(settings) + settings->asymmetric);
    double out_bytes = n * width * (t->price.f64 ? 8 : 4);

    t->plan->flops += 2 * n * r * width;
    t->plan->stage_s[NY_STAGE_PROJECT] =
        2 * n * r * width / t->plan->rates.gemm64 + ny_price_commit(&t->price, out_bytes);
    t->plan->result_bytes = (uint64_t)(out_bytes + state);
    t->plan->disk_bytes = (uint64_t)(out_bytes + 2 * state + r * width * 8);
}

const struct ny_stage ny_stage_write = {NY_STAGE_PROJECT, run_project, count_write, write_work};
