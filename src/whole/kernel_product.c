/*
 * One product with all of K as a pass over its tiles (kernel_product.h). whole/products.c calls it
 * for each product of `randomized` and `gaussian`.
 *
 * Each worker holds one panel of at most 2,048 points as columns, and takes the units against it
 * one after another: a tile C′ = K_up − 1aᵀ, then C′V_p for the rows of the unit and C′ᵀV_u for the
 * rows of the panel. On the diagonal (u = p) the second would be the first again and is left out.
 * The fold adds both to Y in f64, with the terms of the shift: 1(aᵀV_p) and a(1ᵀV_u).
 *
 * Y is complete after the last tile; ny_product_finish() refuses values that are not finite, and
 * multiplies by N from the left.
 */
#include "whole/kernel_product.h"

#include <string.h>

#include "linalg/numbers.h"

/* One worker's: the panel that it is at, its tile, and what that adds to Y. Matrices are f32, or
 * f64 where the product is. */
struct side {
    struct ny_pairs_panel panel;
    double *a;     /* shift of the panel's columns */
    void *V_panel; /* NV of the panel; of the unit */
    void *V_unit;
    void *Y_unit; /* C′V_panel, C′ᵀV_unit */
    void *Y_panel;
    double *unit_term; /* w: aᵀV_panel, to be added to each row of Y_unit */
    double *unit_sum;  /* w: 1ᵀV_unit, which a brings to the rows of Y_panel */
};

struct run {
    struct ny_layout own;
    const struct ny_kernel_product *product;
    struct ny_pairs pairs;
    size_t w;
    struct ny_shift_sample *sample; /* f32 */
    struct side *side;              /* one a worker */
};

double ny_kernel_product_flops(uint64_t n, double d, size_t w)
{
    double N = (double)n, unit = NY_UNIT_ROWS;

    return N * (N + unit) * d + 2 * N * N * (double)w;
}

/* ---- one tile ------------------------------------------------------------------------------ */

/* Rows of NV, as the products take them; zero rows up to NY_UNIT_ROWS. */
static void load_rows(const struct run *run, uint64_t unit, void *out)
{
    const struct ny_kernel_product *product = run->product;
    size_t rows = ny_pairs_rows(&run->pairs, unit), w = run->w, first = (size_t)unit * NY_UNIT_ROWS;
    bool f64 = product->precision == NY_PRECISION_F64;

    for (size_t i = 0; i < NY_UNIT_ROWS; i++) {
        const double *v = product->V.at + (first + i) * product->V.stride;
        double scale = product->scale && i < rows ? product->scale[first + i] : 1;

        for (size_t k = 0; k < w; k++)
            ny_number_set(out, f64, i * w + k, i < rows ? scale * v[k] : 0);
    }
}

/* sum[k] = Σ_i a_i v_ik over the rows of NV (a = NULL: 1), in f64. */
static void weighted_sum(const struct run *run, uint64_t unit, const double *a, double *sum)
{
    const struct ny_kernel_product *product = run->product;
    size_t rows = ny_pairs_rows(&run->pairs, unit), w = run->w, first = (size_t)unit * NY_UNIT_ROWS;

    memset(sum, 0, w * sizeof(double));
    for (size_t i = 0; i < rows; i++) {
        const double *v = product->V.at + (first + i) * product->V.stride;
        double factor = (a ? a[i] : 1) * (product->scale ? product->scale[first + i] : 1);

        for (size_t k = 0; k < w; k++)
            sum[k] += factor * v[k];
    }
}

/* Has the tiles that follow against the columns of a new panel, whose rows are this tile. */
static int use_panel(struct run *run, struct side *side, const struct ny_tile *rows)
{
    struct ny_columns *columns = side->panel.columns;
    int err = NY_OK;

    memset(side->a, 0, ny_panel_rows(run->pairs.n) * sizeof(double));
    if (run->sample) err = ny_shift_sample_means(run->sample, rows, side->a);
    if (!err) err = ny_columns_set_shift(columns, side->a);
    if (err) return err;
    load_rows(run, rows->unit, side->V_panel);
    weighted_sum(run, rows->unit, side->a, side->unit_term);
    ny_tiles_use(&side->panel.tiles, columns, side->a);
    return NY_OK;
}

/* Y_u′ = C′V_p; off the diagonal Y_p′ = C′ᵀV_u. */
#define MULTIPLY(name, gemm, transposed, view, tile, matrix)                                       \
    static void name(const struct run *run, struct side *side, bool diagonal)                      \
    {                                                                                              \
        matrix C = tile(&side->panel.tiles, 0);                                                    \
        size_t w = run->w;                                                                         \
                                                                                                   \
        gemm(1, C, view(side->V_panel, C.cols, w), 0, view(side->Y_unit, NY_UNIT_ROWS, w));        \
        if (!diagonal)                                                                             \
            gemm(1, transposed(C), view(side->V_unit, NY_UNIT_ROWS, w), 0,                         \
                 view(side->Y_panel, C.cols, w));                                                  \
    }

MULTIPLY(multiply32, ny_gemm32, ny_t32, ny_matrix32, ny_tiles_c32, struct ny_matrix32)
MULTIPLY(multiply64, ny_gemm, ny_t, ny_matrix, ny_tiles_c64, struct ny_matrix)

/* Computes a tile and what it adds to Y, in the worker's own buffers. A worker stays with a panel
 * as long as the tiles it is given are of that panel. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct side *side = &run->side[tile->worker];
    uint64_t panel, u = ny_pairs_unit(&run->pairs, tile->unit, &panel);
    struct ny_tile rows;
    int err = ny_pairs_panel_take(&side->panel, &run->pairs, run->product->spec, tile, &rows);

    if (!err && rows.rows) err = use_panel(run, side, &rows);
    if (!err) err = ny_pairs_panel_compute(&side->panel, tile); /* C′ = k(unit, panel) − 1aᵀ */
    if (err) return err;
    if (u != panel) {
        load_rows(run, u, side->V_unit);
        weighted_sum(run, u, NULL, side->unit_sum);
    }
    if (run->product->precision == NY_PRECISION_F64)
        multiply64(run, side, u == panel);
    else
        multiply32(run, side, u == panel);
    return NY_OK;
}

/* Y += part + the shift's term: the same for all rows, or in proportion to a_i. */
static void add_rows(const struct run *run, uint64_t at, const void *part, const double *a,
                     const double *term)
{
    const struct ny_kernel_product *product = run->product;
    size_t rows = ny_pairs_rows(&run->pairs, at), w = run->w, first = (size_t)at * NY_UNIT_ROWS;
    bool f64 = product->precision == NY_PRECISION_F64;

    for (size_t i = 0; i < rows; i++) {
        double *y = product->Y.at + (first + i) * product->Y.stride, factor = a ? a[i] : 1;

        for (size_t k = 0; k < w; k++)
            y[k] += ny_number(part, f64, i * w + k) + factor * term[k];
    }
}

/* Adds what the tile gave to Y, in tile order, so that the sum is the same for any number of
 * workers. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct side *side = &run->side[tile->worker];
    uint64_t panel, u = ny_pairs_unit(&run->pairs, tile->unit, &panel);

    add_rows(run, u, side->Y_unit, NULL, side->unit_term); /* Y_u += C′V_p + 1(aᵀV_p) */
    if (u != panel)
        add_rows(run, panel, side->Y_panel, side->a, side->unit_sum); /* Y_p += C′ᵀV_u + a(1ᵀV_u) */
    return NY_OK;
}

static int checkpoint(void *arg, uint64_t tiles_done)
{
    const struct ny_kernel_product *product = ((struct run *)arg)->product;

    return product->checkpoint ? product->checkpoint(product->checkpoint_arg, tiles_done) : NY_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Lays out the workers' buffers, for n rows and w columns. */
static void lay(struct ny_layout *l, struct run *run, const struct ny_columns_spec *spec,
                enum ny_precision precision, unsigned workers)
{
    size_t row = run->w * ny_precision_bytes(precision);

    run->side = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->side));
    for (unsigned w = 0; w < workers; w++) {
        struct side spare, *side = run->side ? &run->side[w] : &spare;

        side->V_panel = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row);
        side->V_unit = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row);
        side->Y_unit = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row);
        side->Y_panel = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row);
        side->a = ny_lay(l, NY_MEM_TILES, ny_panel_rows(run->pairs.n), sizeof(double));
        side->unit_term = ny_lay(l, NY_MEM_TILES, run->w, sizeof(double));
        side->unit_sum = ny_lay(l, NY_MEM_TILES, run->w, sizeof(double));
        ny_pairs_panel_lay(l, &side->panel, spec, run->pairs.n, precision);
    }
}

void ny_kernel_product_count(struct ny_layout *l, const struct ny_columns_spec *spec, uint64_t n,
                             size_t w, enum ny_precision precision, unsigned workers)
{
    struct run run = {.pairs.n = n, .w = w};

    lay(l, &run, spec, precision, workers);
    if (precision == NY_PRECISION_F32) ny_shift_sample_count(l, spec, workers);
}

static int allocate(struct run *run)
{
    const struct ny_kernel_product *product = run->product;
    int err = NY_OK;

    ny_blas_serial();
    if (product->precision == NY_PRECISION_F32)
        err = ny_shift_sample_new(&run->sample, product->spec, product->points, product->seed,
                                  product->workers);
    if (err) return err;
    run->own.ctx = product->spec->ctx;
    lay(&run->own, run, product->spec, product->precision, product->workers);
    return run->own.err;
}

static void release(struct run *run)
{
    for (unsigned w = 0; run->side && w < run->product->workers; w++)
        ny_columns_free(run->side[w].panel.columns);
    ny_layout_free(&run->own);
    ny_shift_sample_free(run->sample);
}

int ny_product_finish(struct ny_context *ctx, const double *scale, struct ny_matrix Y)
{
    for (size_t i = 0; i < Y.rows; i++) {
        double *y = Y.at + i * Y.stride;

        if (ny_first_not_finite(y, Y.cols)) return ny_fail_infinite(ctx, "kernel", i);
        for (size_t k = 0; scale && k < Y.cols; k++)
            y[k] *= scale[i];
    }
    return NY_OK;
}

int ny_kernel_product_run(const struct ny_kernel_product *product)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    uint64_t n = product->points->n, tiles = ny_pairs_all_tiles(n);
    struct run run = {.product = product, .w = product->V.cols};
    double flops = ny_kernel_product_flops(n, ny_entry_products(product->spec), run.w);
    int err = NY_OK;

    ny_pairs_init(&run.pairs, product->points, 0, ny_units_of(n));
    if (product->first_tile < tiles) {
        err = allocate(&run);
        if (err) goto done;
        err = ny_pass_run(&(struct ny_pass){.source = &run.pairs.source,
                                            .stage = product->stage,
                                            .workers = product->workers,
                                            .first_unit = product->first_tile,
                                            .flops_per_row = flops / (double)run.pairs.source.n},
                          &work, &run);
    }
    if (err == NY_OK) err = ny_product_finish(product->spec->ctx, product->scale, product->Y);
done:
    release(&run);
    return err;
}
