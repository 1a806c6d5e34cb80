/*
 * Pass 2: the rows of a result from the tiles of the model, Y = 𝒟^-½(C′P + 1qᵀ). Stage project of a
 * fit (fit/project.c) and the transform of new points (place/transform.c) call it, one tile at a
 * time and from several workers; each worker has its own buffers.
 *
 * C′P is a GEMM of a fixed shape for each strip, in f32 or in f64 as the model is; with at most 4
 * columns it is a dot product for each value, since packing the strip would take longer. Strips are
 * shared out (stream/share.h), and few rows get the bits of many. q and 1/√d_i are applied in
 * f64. Sums Σ‖y‖², Σk(x,x) and Σc′ are left for the caller's fold: the certificate of a fit adds
 * them up, while rows before `kept`, which an earlier result has counted, are left out.
 */
#include "fit/projector.h"

#include <math.h>
#include <string.h>

#include "stream/share.h"

/* A GEMM of few columns packs the whole tile for hardly any work: up to here rows are multiplied as
 * they are. */
enum { NARROW = 4 };

static bool is_narrow(const struct ny_model *model)
{
    return model->p <= NARROW;
}

void ny_projector_lay(struct ny_layout *l, struct ny_projector *projector,
                      const struct ny_projector_shape *shape)
{
    const struct ny_columns_spec *spec = shape->spec;
    bool f64 = shape->precision == NY_PRECISION_F64;
    size_t rows = (size_t)shape->workers * NY_UNIT_ROWS;
    void *Y = ny_lay(l, NY_MEM_TILES, rows, shape->width * ny_precision_bytes(shape->precision));

    projector->width = shape->width;
    projector->Y64 = f64 ? Y : NULL;
    projector->Y32 = f64 ? NULL : Y;
    projector->sums = ny_lay(l, NY_MEM_TILES, shape->workers, NY_SUMS * sizeof(double));
    projector->unreached = ny_lay(l, NY_MEM_TILES, shape->workers, sizeof(*projector->unreached));
    projector->roots = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    if (spec->kernel->features) {
        ny_feature_projector_lay(l, &projector->features, spec, shape->p, shape->precision,
                                 shape->workers);
        projector->diagonal = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
        return;
    }
    if (!f64) projector->P32 = ny_lay(l, NY_MEM_MODEL, shape->m, shape->p * sizeof(float));
    ny_tiles_lay(l, &projector->tiles, spec, shape->m, shape->precision, shape->workers);
    ny_columns_count(l, spec, shape->m);
}

/* P in f32, or its transpose where p is small. */
static void narrow_map(struct ny_projector *projector)
{
    const struct ny_model *model = projector->model;

    for (size_t i = 0; i < model->m; i++)
        for (size_t k = 0; k < model->p; k++)
            projector->P32[is_narrow(model) ? k * model->m + i : i * model->p + k] =
                (float)model->P[i * model->p + k];
}

int ny_projector_new(struct ny_projector *projector, const struct ny_model *model,
                     enum ny_dtype dtype, size_t slots, unsigned workers)
{
    const struct ny_columns_spec spec = ny_model_spec(model, dtype, slots);
    const struct ny_projector_shape shape = {
        &spec,  model->m, model->p, ny_coordinates_width(&model->coordinates), model->precision,
        workers};
    int err = NY_OK;

    *projector = (struct ny_projector){.own.ctx = model->ctx, .model = model};
    ny_projector_lay(&projector->own, projector, &shape);
    err = projector->own.err;
    if (err) goto done;
    if (spec.kernel->features) {
        ny_feature_projector_use(&projector->features, model);
        return NY_OK;
    }
    if (model->degrees.v) projector->degree_offset = ny_degrees_offset(&model->degrees, model->a);
    err = ny_model_columns(model, dtype, slots, &projector->columns);
    if (err) goto done;
    ny_tiles_use(&projector->tiles, projector->columns, model->a);
    if (projector->P32) narrow_map(projector);
done:
    if (err) ny_projector_release(projector);
    return err;
}

void ny_projector_release(struct ny_projector *projector)
{
    ny_columns_free(projector->columns);
    ny_layout_free(&projector->own);
    *projector = (struct ny_projector){0};
}

double ny_projector_flops(const struct ny_columns_spec *spec, size_t m, size_t p)
{
    double products = ny_entry_products(spec);

    if (spec->kernel->features) return 2 * products * (double)p;
    return 2 * (double)m * (products + (double)p);
}

/* Sums in sixteen lanes, so that the result does not depend on the compiler's vectors. */
static float dot32(const float *restrict x, const float *restrict y, size_t count)
{
    float lane[16] = {0}, sum = 0;
    size_t j = 0;

    for (; j + 16 <= count; j += 16)
        for (size_t l = 0; l < 16; l++)
            lane[l] += x[j + l] * y[j + l];
    for (; j < count; j++)
        lane[0] += x[j] * y[j];
    for (size_t l = 0; l < 16; l++)
        sum += lane[l];
    return sum;
}

/* Y = C′P of few columns, of the rows of a strip. */
static void multiply_narrow(const struct ny_projector *projector, struct ny_matrix32 C, float *Y)
{
    const struct ny_model *model = projector->model;

    for (size_t i = 0; i < C.rows; i++)
        for (size_t k = 0; k < model->p; k++)
            Y[i * projector->width + k] =
                dot32(C.at + i * C.stride, projector->P32 + k * model->m, model->m);
}

/* Y = C′P of a strip: `first` is its first row in the worker's tile. */
static void multiply32(const struct ny_projector *projector, unsigned worker, size_t first)
{
    const struct ny_model *model = projector->model;
    size_t width = projector->width;
    struct ny_matrix32 C = ny_rows32(ny_tiles_c32(&projector->tiles, worker), first, NY_STRIP_ROWS);
    float *Y = projector->Y32 + ((size_t)worker * NY_UNIT_ROWS + first) * width;

    if (is_narrow(model))
        multiply_narrow(projector, C, Y);
    else
        ny_gemm32(1, C, ny_matrix32(projector->P32, model->m, model->p), 0,
                  ny_cols32(ny_matrix32(Y, NY_STRIP_ROWS, width), 0, model->p));
}

static void multiply64(const struct ny_projector *projector, unsigned worker, size_t first)
{
    const struct ny_model *model = projector->model;
    size_t width = projector->width;
    struct ny_matrix C = ny_rows(ny_tiles_c64(&projector->tiles, worker), first, NY_STRIP_ROWS);
    double *Y = projector->Y64 + ((size_t)worker * NY_UNIT_ROWS + first) * width;

    ny_gemm(1, C, ny_matrix(model->P, model->m, model->p), 0,
            ny_cols(ny_matrix(Y, NY_STRIP_ROWS, width), 0, model->p));
}

void ny_projector_shorten(struct ny_projector *projector)
{
    if (!projector->model->spec.kernel->features) projector->tiles.rows = NY_STRIP_ROWS;
}

/* Rows of the tile that are left out of the sums. */
static size_t kept_of(const struct ny_projector *projector, const struct ny_tile *tile)
{
    return projector->kept > tile->first_row ? (size_t)(projector->kept - tile->first_row) : 0;
}

/* A strip of the tile that is projected. */
struct strip {
    struct ny_projector *projector;
    const struct ny_tile *tile;
    const double *roots;                          /* of the tile; NULL: the kernel is not divided */
    double squares[NY_UNIT_ROWS / NY_STRIP_ROWS]; /* Σ‖y‖² of each */
    size_t bad[NY_UNIT_ROWS / NY_STRIP_ROWS]; /* 1 + the first row of a piece that is not finite */
};

/* Sums of squares in lanes: one sum would wait for itself at each value. */
enum { LANES = 8 };

static double sum_lanes(const double *lane)
{
    double sum = 0;

    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* y ← (y + q)·root for the p values of a row; returns Σy² of them before they are rounded. */
#define FINISH_ROW(name, type)                                                                     \
    static double name(type *restrict row, const double *restrict q, double root, size_t p)        \
    {                                                                                              \
        double lane[LANES] = {0};                                                                  \
        size_t k = 0;                                                                              \
                                                                                                   \
        for (; k < p / LANES * LANES; k += LANES)                                                  \
            for (size_t l = 0; l < LANES; l++) {                                                   \
                double y = ((double)row[k + l] + q[k + l]) * root;                                 \
                                                                                                   \
                row[k + l] = (type)y;                                                              \
                lane[l] += y * y;                                                                  \
            }                                                                                      \
        for (; k < p; k++) {                                                                       \
            double y = ((double)row[k] + q[k]) * root;                                             \
                                                                                                   \
            row[k] = (type)y;                                                                      \
            lane[0] += y * y;                                                                      \
        }                                                                                          \
        return sum_lanes(lane);                                                                    \
    }

FINISH_ROW(finish_row32, float)
FINISH_ROW(finish_row64, double)

/* Y = C′P, then to each row q, 1/√d_i, and that root itself where it is stored. */
#define PROJECT(name, multiply, finish_row, not_finite, type, all)                                 \
    static int name(struct strip *of, size_t piece, size_t rows)                                   \
    {                                                                                              \
        const struct ny_projector *projector = of->projector;                                      \
        const struct ny_model *model = projector->model;                                           \
        size_t width = projector->width, p = model->p, first = piece * NY_STRIP_ROWS;              \
        size_t kept = kept_of(projector, of->tile), bad = 0;                                       \
        type *at = projector->all + ((size_t)of->tile->worker * NY_UNIT_ROWS + first) * width;     \
                                                                                                   \
        if (!model->spec.kernel->features) multiply(projector, of->tile->worker, first);           \
        for (size_t i = 0; i < rows; i++) {                                                        \
            type *row = at + i * width;                                                            \
            double root = of->roots ? of->roots[first + i] : 1;                                    \
            double square = finish_row(row, model->q, root, p);                                    \
                                                                                                   \
            if (first + i >= kept && !isnan(root)) of->squares[piece] += square;                   \
            if (width > p) row[p] = (type)root;                                                    \
            if (!bad && !isnan(root) && not_finite(row, width)) bad = first + i + 1;               \
        }                                                                                          \
        of->bad[piece] = bad;                                                                      \
        return bad ? NY_ENUMERIC : NY_OK;                                                          \
    }

PROJECT(project32, multiply32, finish_row32, ny_first_not_finite32, float, Y32)
PROJECT(project64, multiply64, finish_row64, ny_first_not_finite, double, Y64)

/* Y = 𝒟^-½(C′P + 1qᵀ) of a strip. */
static int project_strip(void *arg, size_t piece, unsigned worker)
{
    struct strip *of = arg;
    size_t left = of->tile->rows - piece * NY_STRIP_ROWS;
    size_t rows = left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS;

    (void)worker;
    return of->projector->Y64 ? project64(of, piece, rows) : project32(of, piece, rows);
}

/* Σ_ij c′_ij: what the trace of a kernel centred over D needs. */
static double sum_entries(const struct ny_projector *projector, const struct ny_tile *tile)
{
    const struct ny_tiles *tiles = &projector->tiles;
    size_t entries = tile->rows * tiles->m, kept = kept_of(projector, tile);
    double sum = 0;

    if (tiles->precision == NY_PRECISION_F64) {
        const double *c = ny_tiles_c64(tiles, tile->worker).at;

        for (size_t i = kept * tiles->m; i < entries; i++)
            sum += c[i];
        return sum;
    }
    for (size_t i = kept; i < tile->rows; i++) {
        const float *c = ny_tiles_c32(tiles, tile->worker).at + i * tiles->m;
        double lane[8] = {0};
        size_t j = 0;

        for (; j + 8 <= tiles->m; j += 8)
            for (size_t l = 0; l < 8; l++)
                lane[l] += (double)c[j + l];
        for (; j < tiles->m; j++)
            lane[0] += (double)c[j];
        for (size_t l = 0; l < 8; l++)
            sum += lane[l];
    }
    return sum;
}

/* Makes NaN of the roots of rows that no landmark reaches, and counts them but for those that are
 * kept. Features without a value are no such row: they are placed at 0. */
static void find_unreached(struct ny_projector *projector, const struct ny_tile *tile,
                           double *roots)
{
    struct ny_unreached_rows *unreached = &projector->unreached[tile->worker];
    const double *diagonal = projector->diagonal + (size_t)tile->worker * NY_UNIT_ROWS;
    bool features = projector->model->spec.kernel->features;
    size_t kept = kept_of(projector, tile);

    *unreached = (struct ny_unreached_rows){0};
    for (size_t i = 0; roots && i < tile->rows; i++) {
        if (roots[i] > 0 || (features && !(diagonal[i] > 0))) continue;
        roots[i] = NAN;
        if (i >= kept) ny_unreached_rows_note(unreached, tile->first_row + i);
    }
}

/* C′ = k(rows, D) − 1aᵀ, and 1/√d_i where the kernel is divided, d = C v. */
static int find_tile(struct ny_projector *projector, const struct ny_tile *tile, double *roots)
{
    const struct ny_model *model = projector->model;
    int err = ny_tiles_compute(&projector->tiles, tile);

    if (!err && roots)
        ny_degrees_roots(&model->degrees, projector->degree_offset, &projector->tiles, tile, roots);
    return err;
}

/* ΦP, into the stored rows, and the same roots. */
static int find_features(struct ny_projector *projector, const struct ny_tile *tile, double *roots)
{
    const struct ny_feature_rows out = {
        .at = ny_projector_rows(projector, tile->worker),
        .stride = projector->width,
        .roots = roots,
        .u = projector->u,
        .averages = projector->roots + (size_t)tile->worker * NY_UNIT_ROWS,
        .diagonal = projector->diagonal + (size_t)tile->worker * NY_UNIT_ROWS};

    return ny_feature_projector_tile(&projector->features, tile, &out);
}

/* Fails with the number of the first row that is not finite. */
static int strips_fail(const struct strip *strips)
{
    size_t piece = 0;

    while (piece + 1 < NY_UNIT_ROWS / NY_STRIP_ROWS && !strips->bad[piece])
        piece++;
    return ny_fail_infinite(strips->projector->model->ctx, "embedding",
                            strips->tile->first_row + strips->bad[piece] - 1);
}

int ny_projector_tile(struct ny_projector *projector, const struct ny_tile *tile)
{
    const struct ny_model *model = projector->model;
    bool features = model->spec.kernel->features;
    const double *diagonal = ny_projector_diagonal(projector, tile->worker);
    double *sums = projector->sums + (size_t)tile->worker * NY_SUMS, *roots = NULL;
    struct strip strips = {.projector = projector, .tile = tile};
    int err;

    if (model->degrees.v) roots = projector->roots + (size_t)tile->worker * NY_UNIT_ROWS;
    err = features ? find_features(projector, tile, roots) : find_tile(projector, tile, roots);
    if (err) return err;
    find_unreached(projector, tile, roots);
    strips.roots = roots;
    err = ny_tile_share(tile, (tile->rows + NY_STRIP_ROWS - 1) / NY_STRIP_ROWS, project_strip,
                        &strips);
    if (err) return strips_fail(&strips);
    for (int k = 0; k < NY_SUMS; k++)
        sums[k] = 0;
    for (size_t piece = 0; piece < NY_UNIT_ROWS / NY_STRIP_ROWS; piece++)
        sums[NY_SUM_SQUARES] += strips.squares[piece];
    for (size_t i = kept_of(projector, tile); i < tile->rows; i++)
        sums[NY_SUM_DIAGONAL] += diagonal[i];
    if (projector->wants_entries) sums[NY_SUM_ENTRIES] = sum_entries(projector, tile);
    return NY_OK;
}

void *ny_projector_rows(const struct ny_projector *projector, unsigned worker)
{
    size_t first = (size_t)worker * NY_UNIT_ROWS * projector->width;

    if (projector->Y64) return projector->Y64 + first;
    return projector->Y32 + first;
}

const double *ny_projector_diagonal(const struct ny_projector *projector, unsigned worker)
{
    return projector->diagonal ? projector->diagonal + (size_t)worker * NY_UNIT_ROWS
                               : ny_tiles_diagonal(&projector->tiles, worker);
}

const double *ny_projector_sums(const struct ny_projector *projector, unsigned worker)
{
    return projector->sums + (size_t)worker * NY_SUMS;
}
