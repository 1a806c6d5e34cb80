/*
 * Places new rows with a result that has no landmarks (place/points.h): y = Σ_j k̃(x, x_j)·y_j/λ
 * over all stored points x_j. api/transform.c calls ny_transform_points().
 *
 * New rows are taken in batches of one unit. A batch becomes the columns of a pass over the points:
 * each worker computes the tile C′ = k(points, batch) − 1aᵀ, multiplies it by the stored rows of
 * the embedding, and the folds add up in order. The shift a is estimated from a sample of points
 * where products are f32; its part is added again at the end, unless K is centred, when it
 * vanishes. A divided kernel carries a column of ones along, whose sum is the degree of the new
 * row.
 */
#include "place/points.h"

#include <math.h>
#include <string.h>

#include "model/extension.h"
#include "model/embedding.h"
#include "model/geometry.h"
#include "whole/kernel_product.h"
#include "linalg/numbers.h"
#include "stream/pass.h"

/* ---- one batch of new rows against all points ---------------------------------------------- */

/* Buffers of one worker. */
struct side {
    void *stored;  /* NY_UNIT_ROWS rows of the embedding, as they are stored */
    double *roots; /* NY_UNIT_ROWS: 1/√d_j where K is divided */
    void *Y;       /* NY_UNIT_ROWS × w: what k(x,X) is multiplied with */
    void *part;    /* NY_UNIT_ROWS × w: C′ᵀY */
};

struct by_points {
    struct ny_placer base;
    struct ny_rows_info points;
    uint64_t n;
    size_t pairs, w; /* w: and a column of ones, whose sum is the degree, where K is divided */
    bool centred, divided;
    struct ny_layout own;
    size_t blas_bytes; /* reserved */
    struct ny_embedding_layout layout, roots_layout;
    double *numbers; /* ny_extension */
    struct ny_extension extension;
    struct ny_geometry *geometry;
    struct ny_shift_sample *sample;
    struct ny_columns *columns; /* of the batch */
    struct ny_tiles tiles;
    struct side *side; /* one a worker */
    void *raw;         /* the batch */
    double *a;         /* its shift */
    double *sum;       /* NY_UNIT_ROWS × w: Σ c′ᵀY */
    double *total;     /* w: 1ᵀY */
    void *rows;        /* NY_UNIT_ROWS stored rows of the batch */
    size_t count;
};

static size_t element_of(const struct by_points *run)
{
    return ny_precision_bytes(run->base.precision);
}

static bool is_f64(const struct by_points *run)
{
    return run->base.precision == NY_PRECISION_F64;
}

/* Reads the tile's rows of Û, or Y, from the store, each times 1/√d_j and with a 1 beside it where
 * K is divided. */
static int load_stored(struct by_points *run, struct side *side, const struct ny_tile *tile)
{
    size_t width = ny_coordinates_width(&run->base.coordinates), w = run->w;
    int err;

    memset(side->Y, 0, NY_UNIT_ROWS * w * element_of(run));
    err = ny_embedding_rows(&run->base.fitted->keep, &run->layout, tile->first_row, tile->rows,
                            side->stored);
    if (err == NY_OK && run->divided)
        err = ny_embedding_rows(&run->base.fitted->keep, &run->roots_layout, tile->first_row,
                                tile->rows, side->roots);
    for (size_t i = 0; i < tile->rows && err == NY_OK; i++) {
        double root = run->divided ? side->roots[i] : 1;

        for (size_t k = 0; k < run->pairs; k++)
            ny_number_set(side->Y, is_f64(run), i * w + k,
                          root * ny_number(side->stored, is_f64(run), i * width + k));
        if (run->divided) ny_number_set(side->Y, is_f64(run), i * w + run->pairs, 1);
    }
    return err;
}

/* Multiplies the kernel of a tile's points and the new rows with what is stored of these points. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct by_points *run = arg;
    struct side *side = &run->side[tile->worker];
    size_t w = run->w;
    int err;

    err = ny_tiles_compute(&run->tiles, tile); /* C′ = k(points, new rows) − 1aᵀ */
    if (err == NY_OK) err = load_stored(run, side, tile);
    if (err) return err;
    if (is_f64(run))
        ny_gemm(1, ny_t(ny_tiles_c64(&run->tiles, tile->worker)),
                ny_matrix(side->Y, NY_UNIT_ROWS, w), 0, ny_matrix(side->part, run->count, w));
    else
        ny_gemm32(1, ny_t32(ny_tiles_c32(&run->tiles, tile->worker)),
                  ny_matrix32(side->Y, NY_UNIT_ROWS, w), 0, ny_matrix32(side->part, run->count, w));
    return NY_OK;
}

/* Adds a tile's share to the sums, in the order of the points, so that threads do not change
 * bits. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct by_points *run = arg;
    const struct side *side = &run->side[tile->worker];

    for (size_t i = 0; i < run->count * run->w; i++)
        run->sum[i] += ny_number(side->part, is_f64(run), i);
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t k = 0; k < run->w; k++)
            run->total[k] += ny_number(side->Y, is_f64(run), i * run->w + k);
    return NY_OK;
}

/* Returns 1/√d of a new row by its own degree; NaN where its degree is nearly nothing. */
static double root_of(const struct by_points *run, const double *sum)
{
    if (!run->divided) return 1;
    return ny_degree_reaches(sum[run->pairs], run->extension.mean_degree)
               ? 1 / sqrt(sum[run->pairs])
               : NAN;
}

/* y = Σ_j k̃(x,x_j) y_j/λ. If K is centred, the y_j add up to 0, so that any a takes the part of
 * the new row's own average. */
static int finish(struct by_points *run)
{
    size_t width = ny_coordinates_width(&run->base.coordinates);

    for (size_t i = 0; i < run->count; i++) {
        double *sum = run->sum + i * run->w, root;

        for (size_t k = 0; k < run->w && !run->centred; k++)
            sum[k] += run->a[i] * run->total[k];
        root = root_of(run, sum);
        for (size_t k = 0; k < run->pairs; k++)
            ny_number_set(run->rows, is_f64(run), i * width + k,
                          root * sum[k] * run->extension.inverse[k] + run->extension.offset[k]);
        if (width > run->pairs) ny_number_set(run->rows, is_f64(run), i * width + run->pairs, root);
    }
    return ny_placer_put(&run->base, run->rows, run->count);
}

static int pass(struct by_points *run, struct ny_source *points)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    double flops = 2 * (double)run->count * (double)(points->d + run->w);

    memset(run->sum, 0, run->count * run->w * sizeof(double));
    memset(run->total, 0, run->w * sizeof(double));
    return ny_pass_run(&(struct ny_pass){.source = points,
                                         .stage = "transform",
                                         .workers = run->base.workers,
                                         .flops_per_row = flops},
                       &work, run);
}

/* Makes the tile's new rows the columns that all points are held against. */
static int load_batch(struct by_points *run, const struct ny_tile *tile)
{
    int err = ny_columns_of_tile(&run->columns, &run->base.spec, tile, run->raw);

    if (err) return err;
    run->count = tile->rows;
    memset(run->a, 0, NY_UNIT_ROWS * sizeof(double));
    if (run->sample) err = ny_shift_sample_means(run->sample, tile, run->a);
    if (err == NY_OK) err = ny_columns_set_shift(run->columns, run->a);
    if (!err) ny_tiles_use(&run->tiles, run->columns, run->a);
    return err;
}

static int open_points(const struct by_points *run, struct ny_source **out)
{
    int err =
        ny_rows_source(run->base.fitted->X, run->n, run->base.spec.slots, run->base.workers, out);

    return err ? err : ny_source_widen(out, *out, run->base.spec.dtype, run->base.workers);
}

/* Places all batches of `rows`, in order; each takes one pass over the points of the store. */
static int place(struct ny_placer *placer, struct ny_source *rows)
{
    struct by_points *run = (struct by_points *)placer;
    struct ny_tile tile = {.source = rows};
    int err;

    while ((err = rows->ops->take(rows, &tile)) == NY_OK) {
        struct ny_source *points = NULL;

        err = load_batch(run, &tile);
        if (err == NY_OK) err = open_points(run, &points);
        if (err == NY_OK) err = pass(run, points);
        ny_source_free(points);
        if (err == NY_OK) err = finish(run);
        if (err) return err;
        tile.unit++;
        tile.first_row += tile.rows;
    }
    return err == NY_END ? NY_OK : err;
}

/* ---- what the result says ------------------------------------------------------------------ */

/* Reads the numbers that a fit left for new rows: kernel parameters, 1/λ and offsets. */
static int load_extension(struct by_points *run, struct ny_record record)
{
    double *at = ny_alloc(run->base.spec.ctx, NY_MEM_MODEL, ny_extension_bytes(run->pairs));
    int err;

    run->numbers = at;
    if (!at) return NY_EBUDGET;
    run->extension = (struct ny_extension){.inverse = at + NY_EXTENSION_HEAD,
                                           .offset = at + NY_EXTENSION_HEAD + run->pairs};
    err = run->base.fitted->keep.ops->get(&run->base.fitted->keep,
                                          ny_record_part(record, "extension").name, at,
                                          ny_extension_bytes(run->pairs));
    if (err) return err;
    memcpy(&run->extension.params, at, sizeof(run->extension.params));
    run->extension.mean_degree = at[3];
    return NY_OK;
}

/* Checks that the result is of the points in the store. */
static int check_result(const struct by_points *run, const struct ny_state_facts *facts)
{
    if (facts->kernel && ny_kernel_find(facts->kernel) && run->base.coordinates.pairs && run->n &&
        run->n <= run->points.n && facts->d == run->points.d)
        return NY_OK;
    return ny_fail_damaged(run->base.spec.ctx, run->base.fitted->keep.name,
                           run->base.fitted->keep.place);
}

/* Reads from the record what the map is and how it was scaled; a record may be hostile and is
 * checked against the points. */
static int load_result(struct by_points *run, struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    int err = run->base.fitted->X->ops->info(run->base.fitted->X, &run->points);

    if (err) return err;
    run->n = state.report.n;
    run->centred = ny_is(state.report.trace_of, "centred");
    run->divided = run->base.divided = ny_is(state.report.trace_of, "normalised");
    err = ny_coordinates_parse(&run->base.coordinates, run->base.spec.ctx, record);
    if (err == NY_OK) err = check_result(run, &state.facts);
    if (err) return err;
    run->pairs = run->base.coordinates.pairs;
    run->w = run->pairs + run->divided;
    run->base.precision = ny_is(state.facts.precision, "f64") ? NY_PRECISION_F64 : NY_PRECISION_F32;
    run->base.computed = run->base.precision;
    run->layout =
        ny_embedding_layout(run->n, ny_coordinates_width(&run->base.coordinates), element_of(run));
    run->layout.part = ny_record_part(record, "embedding");
    run->roots_layout = (struct ny_embedding_layout){
        ny_record_part(record, "roots"), run->n, sizeof(double), NY_CHUNK_BYTES / sizeof(double)};
    err = ny_stored_geometry(&run->geometry, &run->base.fitted->keep,
                             ny_record_part(record, "geometry").name, (size_t)run->points.d, NULL);
    if (err == NY_OK) err = load_extension(run, record);
    if (err) return err;
    run->base.spec = (struct ny_columns_spec){.ctx = run->base.spec.ctx,
                                              .kernel = ny_kernel_find(state.facts.kernel),
                                              .params = run->extension.params,
                                              .geometry = run->geometry,
                                              .dtype = run->points.dtype,
                                              .slots = (size_t)run->points.row_slots,
                                              .preparation = run->points.preparation};
    return NY_OK;
}

/* ---- buffers ------------------------------------------------------------------------------- */

static void lay(struct ny_layout *l, struct by_points *run, unsigned workers)
{
    const struct ny_columns_spec *spec = &run->base.spec;
    size_t w = run->w, element = element_of(run);
    size_t row = ny_coordinates_width(&run->base.coordinates) * element;

    run->raw = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, ny_raw_bytes(spec));
    run->a = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
    run->sum = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, w * sizeof(double));
    run->rows = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row);
    run->total = ny_lay(l, NY_MEM_TILES, w, sizeof(double));
    run->side = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->side));
    for (unsigned i = 0; i < workers; i++) {
        struct side spare, *side = run->side ? &run->side[i] : &spare;

        side->stored = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row);
        side->roots = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
        side->Y = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, w * element);
        side->part = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, w * element);
    }
    ny_tiles_lay(l, &run->tiles, spec, NY_UNIT_ROWS, run->base.precision, workers);
}

static void count(struct ny_layout *l, const void *placer, unsigned workers, size_t limit)
{
    struct by_points run = *(const struct by_points *)placer;
    const struct ny_columns_spec *spec = &run.base.spec;

    (void)limit;
    lay(l, &run, workers);
    ny_shift_sample_count(l, spec, workers);
    ny_columns_count(l, spec, NY_UNIT_ROWS);
    if (run.base.precision == NY_PRECISION_F64)
        ny_columns_exact_count(l, spec, workers * ny_context_threads(spec->ctx));
    ny_rows_source_count(l, NY_MEM_STORE, &run.points, workers);
    ny_layout_add(l, NY_MEM_STORE, workers * (NY_CHUNK_BYTES + NY_STRIP_ROWS * ny_raw_bytes(spec)));
    ny_layout_add(l, NY_MEM_PROCESS, ny_blas_bytes(workers, workers, NY_UNIT_ROWS));
}

static int allocate(struct by_points *run)
{
    struct ny_source *points = NULL;
    int err;

    run->own.ctx = run->base.spec.ctx;
    lay(&run->own, run, run->base.workers);
    err = run->own.err;
    if (err || run->base.precision == NY_PRECISION_F64) return err;
    err = open_points(run, &points);
    if (err == NY_OK) err = ny_shift_sample_new(&run->sample, &run->base.spec, points, 0, 1);
    ny_source_free(points);
    return err;
}

/* Reserves what BLAS keeps, and takes the buffers. */
static int begin(struct ny_placer *placer)
{
    struct by_points *run = (struct by_points *)placer;
    size_t blas_bytes = ny_blas_bytes(placer->workers, placer->workers, NY_UNIT_ROWS);
    int err = ny_reserve(placer->spec.ctx, NY_MEM_PROCESS, blas_bytes);

    if (err) return err;
    run->blas_bytes = blas_bytes;
    return allocate(run);
}

static void release_all(struct by_points *run)
{
    struct ny_context *ctx = run->base.spec.ctx;

    ny_free(ctx, run->numbers);
    ny_layout_free(&run->own);
    ny_columns_free(run->columns);
    ny_shift_sample_free(run->sample);
    ny_geometry_free(run->geometry, ctx);
    ny_coordinates_release(&run->base.coordinates, ctx);
    ny_unreserve(ctx, NY_MEM_PROCESS, run->blas_bytes);
}

int ny_transform_points(const struct ny_fitted *fitted, struct ny_new_rows *rows)
{
    static const struct ny_placer_ops ops = {.count = count, .begin = begin, .place = place};
    struct by_points run = {.base = {.ops = &ops,
                                     .spec = {.ctx = fitted->X->ctx},
                                     .whose = "the store has",
                                     .fitted = fitted}};
    int err = load_result(&run, fitted->record);

    if (err == NY_OK) err = ny_place_all(&run.base, rows);
    release_all(&run);
    return err;
}
