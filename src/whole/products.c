/*
 * Stage accumulate of methods that work on all of K: the products with it.
 *
 * Each product is one walk over the tiles of K (whole/kernel_product.c), or passes over its
 * features (whole/feature_product.c), after which the method says what V comes next. V and Y, of n
 * rows each, the roots of the degrees, and by features W are the whole state. A checkpoint keeps
 * them with a place, step · places + places done, a place being a tile or a unit of a pass, so that
 * a run after a kill goes on in the middle of a product. Where the map divides K, the first product
 * is with ones and gives the degrees.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "factored/pass.h"
#include "fit/drawn_rows.h"
#include "fit/sizes.h"
#include "fit/timing.h"
#include "linalg/square.h"
#include "whole/feature_product.h"
#include "whole/products_private.h"

/* ---- the state and its checkpoints ---------------------------------------------------------- */

/* Fails where versions that multiplied by tiles, whatever the kernel, have left the checkpoint. */
static int check_way(const struct ny_job *job, const struct ny_products *shape)
{
    struct ny_products tiles = *shape;

    tiles.features = false;
    if (!shape->features || !ny_job_has_image(job, "products") ||
        job->state.at.bytes != ny_products_state_bytes(&tiles))
        return NY_OK;
    return ny_job_begun_otherwise(job);
}

/* Returns the shape of the products of the job, which an earlier version may have begun. */
static struct ny_products shape_of(const struct ny_fit *fit)
{
    const struct ny_job *job = &fit->job;
    struct ny_products shape = ny_products_of(fit->settings, &job->points);
    struct ny_products before = ny_products_unchecked(shape);

    return ny_job_has_image(job, "products") &&
                   job->state.at.bytes == ny_products_state_bytes(&before)
               ? before
               : shape;
}

int ny_products_open(struct ny_products_state *state, struct ny_fit *fit, uint64_t *place)
{
    struct ny_products shape = shape_of(fit);
    struct ny_image_shape saved = {ny_products_state_bytes(&shape), shape.steps * shape.places};
    size_t n = (size_t)shape.n;
    void *image = NULL;
    int err = ny_fit_load_frozen(fit);

    *state = (struct ny_products_state){.fit = fit, .shape = shape, .saved_s = ny_now()};
    *place = 0;
    if (err == NY_OK) err = check_way(&fit->job, &shape);
    if (err == NY_OK && !fit->state) {
        err = ny_job_load_image(&fit->job, "products", &saved, &image, place);
        fit->state = image;
    }
    if (err) return err;
    if (!fit->state) fit->state = ny_calloc(fit->job.ctx, NY_MEM_OTHER, 1, saved.bytes);
    if (!fit->state) return NY_EBUDGET;
    state->V = ny_matrix(fit->state, n, shape.w);
    state->Y = ny_matrix(fit->state + n * shape.w, n, shape.w);
    if (shape.divided) state->roots = fit->state + 2 * n * shape.w;
    if (shape.features) state->W = fit->state + n * (2 * shape.w + shape.divided);
    state->sketch = (struct ny_sketch){.ctx = fit->job.ctx,
                                       .randomized = fit->settings->randomized,
                                       .V = ny_cols(state->V, 0, shape.r),
                                       .Y = ny_cols(state->Y, 0, shape.r)};
    return NY_OK;
}

/* Saves the state as it is at this place of the product, as the checkpoint of the stage. */
static int save(struct ny_products_state *state, enum ny_stage_id stage, uint64_t place)
{
    int err = ny_job_checkpoint_image(&state->fit->job, stage, "products", state->fit->state,
                                      ny_products_state_bytes(&state->shape),
                                      state->step * state->shape.places + place);

    state->saved_s = ny_now();
    return err;
}

static int checkpoint(void *arg, uint64_t place)
{
    return save(arg, NY_STAGE_ACCUMULATE, place);
}

/* ---- accumulate: the products -------------------------------------------------------------- */

/* The normalisation beside K: HX where the map centres, whose columns lose their means. */
static void normalise(const struct ny_products_state *state, struct ny_matrix X)
{
    if (state->shape.centred) ny_centre_columns(X);
}

/* Makes the first V. Centred maps get a further column of ones, whose product is K1. */
static int start(struct ny_products_state *state)
{
    const struct ny_whole *whole = state->fit->settings->method->whole;
    struct ny_matrix Z = ny_products_checks(&state->shape, state->V);

    for (size_t i = 0; state->shape.centred && i < state->V.rows; i++)
        state->V.at[i * state->V.stride + state->shape.r] = 1;
    for (size_t i = 0; i < Z.rows; i++)
        ny_gaussian(state->fit->settings->seed, NY_STREAM_CHECKS, (uint64_t)i * Z.cols,
                    Z.at + i * Z.stride, Z.cols);
    normalise(state, Z);
    return whole->start(&state->sketch);
}

/* Y = NKNV by tiles, from this one on; N is I without `scale`. */
static int multiply_tiles(struct ny_products_state *state, const double *scale, struct ny_matrix V,
                          struct ny_matrix Y, uint64_t first_tile)
{
    struct ny_fit *fit = state->fit;
    struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_source *points = NULL;
    struct ny_kernel_product product = {.spec = &spec,
                                        .precision = fit->settings->precision,
                                        .workers = fit->job.workers,
                                        .seed = fit->settings->seed,
                                        .stage = "accumulate",
                                        .scale = scale,
                                        .V = V,
                                        .Y = Y,
                                        .first_tile = first_tile,
                                        .checkpoint = checkpoint,
                                        .checkpoint_arg = state};
    double flops = ny_kernel_product_flops(fit->job.points.n, ny_entry_products(&spec), V.cols);
    uint64_t units = ny_units_of(fit->job.points.n);
    int err;

    if (first_tile == 0) memset(Y.at, 0, Y.rows * Y.cols * sizeof(double));
    err = ny_rows_source(fit->job.X, fit->job.points.n, (size_t)fit->job.points.row_slots,
                         fit->job.workers, &points);
    if (err) return err;
    product.points = points;
    err = ny_kernel_product_run(&product);
    ny_source_free(points);
    if (err == NY_OK) ny_job_count_pass(&fit->job, (units + 1) * fit->job.points.n / 2, flops);
    return err;
}

/* Y = NKNV from this place on. */
static int multiply(struct ny_products_state *state, const double *scale, struct ny_matrix V,
                    struct ny_matrix Y, uint64_t place)
{
    const struct ny_feature_product product = {.fit = state->fit,
                                               .scale = scale,
                                               .V = V,
                                               .Y = Y,
                                               .W = state->W,
                                               .first_place = place,
                                               .checkpoint = checkpoint,
                                               .checkpoint_arg = state};

    return state->shape.features ? ny_feature_product_run(&product)
                                 : multiply_tiles(state, scale, V, Y, place);
}

/* Fails where some of `rows` rows have no degree. */
static int check_reached(struct ny_context *ctx, const struct ny_unreached_rows *unreached,
                         uint64_t rows)
{
    if (!unreached->count) return NY_OK;
    return ny_fail(ctx, NY_ENUMERIC,
                   "%llu of %llu rows, the first of them row %llu, have degrees that are negative "
                   "or zero to rounding; take a kernel without negative values (rbf, laplacian), a "
                   "wider one (--gamma), or leave them out",
                   (unsigned long long)unreached->count, (unsigned long long)rows,
                   (unsigned long long)unreached->first);
}

/* Returns about the root mean square of K's values, ‖KV‖/(‖V‖√n), of a V that does not know K. */
static double size_of_values(const struct ny_products_state *state)
{
    struct ny_matrix V = state->sketch.V, Y = state->sketch.Y;
    double v = 0, y = 0;

    for (size_t i = 0; i < V.rows; i++) {
        v += ny_dot(V.at + i * V.stride, V.at + i * V.stride, V.cols);
        y += ny_dot(Y.at + i * Y.stride, Y.at + i * Y.stride, Y.cols);
    }
    return sqrt(y / v / (double)V.rows);
}

/* Refuses kernel values of this size, of which f32, or its products with V, have few digits. */
static int check_size(const struct ny_products_state *state, double size)
{
    const double least = 0x1p-110;

    if (state->fit->settings->precision == NY_PRECISION_F64 || !(size > 0) || size >= least)
        return NY_OK;
    return ny_fail(state->fit->job.ctx, NY_ENUMERIC,
                   "the kernel values are %.3g on average, too small for products in f32; give "
                   "--precision f64, or rescale the data (--scale unit)",
                   size);
}

/* The degrees d = K1, and the g_i = 1/√d_i of them. */
static int find_degrees(struct ny_products_state *state, uint64_t place)
{
    size_t n = state->V.rows;
    struct ny_unreached_rows unreached = {0};
    double mean = 0, *ones = state->V.at;
    int err;

    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    err = multiply(state, NULL, ny_matrix(ones, n, 1), ny_matrix(state->roots, n, 1), place);
    if (err) return err;
    for (size_t i = 0; i < n; i++)
        mean += state->roots[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        if (!ny_degree_reaches(state->roots[i], mean)) ny_unreached_rows_note(&unreached, i);
        state->roots[i] = 1 / sqrt(state->roots[i]);
    }
    state->fit->job.state.record.mean_degree = mean;
    err = check_reached(state->fit->job.ctx, &unreached, state->shape.n);
    return err ? err : check_size(state, mean / (double)n);
}

/* One product, and what follows from it. */
static int run_product(struct ny_products_state *state, uint64_t first_place)
{
    struct ny_fit *fit = state->fit;
    int err;

    if (first_place == 0) normalise(state, state->sketch.V);
    err = multiply(state, state->roots, state->V, state->Y, first_place);
    if (err == NY_OK && state->step == 0) err = check_size(state, size_of_values(state));
    if (err) return err;
    normalise(state, state->sketch.Y);
    ny_blas_parallel(fit->job.ctx, state->shape.r);
    err = fit->settings->method->whole->next(&state->sketch, state->step - state->shape.divided);
    ny_blas_serial();
    return err;
}

/* Step 0 is that of the degrees where there are some; V is made before the first product. */
static int run_step(struct ny_products_state *state, uint64_t first_place)
{
    bool degrees = state->shape.divided && state->step == 0;
    bool first = state->step == state->shape.divided && first_place == 0;
    int err = NY_OK;

    if (degrees) return find_degrees(state, first_place);
    if (first) err = start(state);
    return err ? err : run_product(state, first_place);
}

/* Checks, on a few rows, that f32 is wide enough for products with tiles of K. Those of features
 * form no values of K, and are right to a thousandth where rows are a million of their spread
 * away. */
static int check_tiles(struct ny_fit *fit)
{
    enum { ROWS = 64 };
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_context *ctx = fit->job.ctx;
    struct ny_fit of = *fit; /* as if these rows were its landmarks */
    uint64_t rows[ROWS];
    int err;

    if (fit->settings->precision == NY_PRECISION_F64) return NY_OK;
    of.m = fit->job.points.n < ROWS ? (size_t)fit->job.points.n : ROWS;
    of.columns = NULL;
    of.a = ny_calloc(ctx, NY_MEM_TILES, of.m, sizeof(double));
    of.W = ny_matrix(ny_calloc(ctx, NY_MEM_TILES, of.m, of.m * sizeof(double)), of.m, of.m);
    err = of.a && of.W.at ? ny_draw_rows(fit, NY_STREAM_SAMPLE, of.m, rows) : NY_EBUDGET;
    if (!err) err = ny_fit_gather_columns(&of, &spec, rows, of.m, &of.columns);
    if (!err) err = ny_columns_square(of.columns, of.W);
    if (!err) err = ny_square_sums(ctx, of.W, of.a);
    if (err) goto done;
    for (size_t i = 0; i < of.m; i++)
        of.a[i] /= (double)of.m;
    err = ny_columns_set_shift(of.columns, of.a);
    if (!err) err = ny_fit_check_tiles(&of, NY_TILES_OFF);
done:
    ny_columns_free(of.columns);
    ny_free(ctx, of.W.at);
    ny_free(ctx, of.a);
    return err;
}

/* Runs the products from where the checkpoint left them; a stage that ends saves its last product
 * as well, for stage solve. */
static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_products_state state;
    struct ny_products shape;
    uint64_t place, first_place;
    int err;

    shape = ny_products_of(fit->settings, &fit->job.points);
    fit->m = shape.order;
    err = ny_fit_lower_workers(fit);
    if (!err && !shape.features) err = check_tiles(fit);
    if (!err) err = ny_products_open(&state, fit, &place);
    if (err) return err;
    state.step = (unsigned)(place / state.shape.places);
    first_place = place % state.shape.places;
    for (; state.step < state.shape.steps && err == NY_OK; first_place = 0) {
        err = run_step(&state, first_place);
        state.step++;
        if (err == NY_OK && state.step < state.shape.steps &&
            ny_now() - state.saved_s >= ny_context_checkpoint_s(fit->job.ctx))
            err = save(&state, NY_STAGE_ACCUMULATE, 0);
    }
    return err ? err : save(&state, ny_job_next(job), 0);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The products, then what follows from each; both beside their state. */
static void count_multiply(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                           size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_products products = ny_products_of(f->settings, f->points);
    size_t state = ny_products_state_bytes(&products);

    ny_sizes_common(l, f, workers, workers);
    ny_lay(l, NY_MEM_OTHER, state, 1);
    ny_sizes_source(l, f, workers);
    ny_batch_count(l, NY_MEM_STORE, limit, state);
    if (products.features)
        ny_feature_product_count(l, &f->spec, products.w, f->settings->precision, workers);
    else
        ny_kernel_product_count(l, &f->spec, f->points->n, products.w, f->settings->precision,
                                workers);
    if (!products.features) ny_sizes_exact(l, f, workers);
    ny_orthonormalise_count(l, products.r);
}

/* Returns the seconds of all products by tiles. These are those of whole units, and a tile on the
 * diagonal is computed whole; each reads its rows again. */
static double tiles_seconds(const struct ny_timing *t, const struct ny_products *products)
{
    double n = t->n, tiles = (double)products->tiles;
    double rows = products->steps * tiles * NY_UNIT_ROWS;
    unsigned workers = ny_fit_pass_workers(t->sizes, NY_STAGE_ACCUMULATE, count_multiply);
    double busy = fmin(tiles, ny_price_threads(workers ? workers : 1));

    if (n < NY_UNIT_ROWS) rows *= n / NY_UNIT_ROWS;
    return ny_price_threads(t->settings->threads) / busy *
           (2 * ny_price_rows(&t->price, rows) +
            ny_price_tile(&t->price, ny_products_entries(products)) +
            ny_price_map(&t->price, n * n, ny_products_columns(products)));
}

/* Returns the seconds of all products by features: each pass reads the rows, and two multiply as
 * much as one with Φ and with Φᵀ. */
static double features_seconds(const struct ny_timing *t, const struct ny_products *products)
{
    double pairs = ny_products_passes(products) / 2.0;
    double columns = ny_products_columns(products) / pairs;

    return ny_timing_share(t, NY_STAGE_ACCUMULATE, count_multiply) * pairs *
           (ny_feature_pass_seconds(t, columns) + ny_price_rows(&t->price, t->n));
}

/* All products with K. */
static void multiply_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    struct ny_products products = ny_products_of(t->settings, t->sizes->points);
    double state = (double)ny_products_state_bytes(&products);

    plan->whole = true;
    plan->passes += ny_products_passes(&products);
    plan->flops += ny_products_flops(&products, t->price.d);
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        (products.features ? features_seconds(t, &products) : tiles_seconds(t, &products)) +
        products.steps * ny_price_commit(&t->price, 0) + ny_price_commit(&t->price, state);
}

const struct ny_stage ny_stage_products = {NY_STAGE_ACCUMULATE, run, count_multiply, multiply_work};
