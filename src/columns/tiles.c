#include "columns/tiles.h"

#include <string.h>

int ny_tiles_new(struct ny_tiles *tiles, const struct ny_columns *columns, const double *a,
                 enum ny_precision precision, unsigned workers)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    struct ny_context *ctx = spec->ctx;
    size_t m = ny_columns_count(columns);
    size_t element = precision == NY_PRECISION_F64 ? sizeof(double) : sizeof(float), bytes;
    void *C;
    int err;

    ny_blas_serial(); /* workers compute whole units, each with BLAS calls of one thread */
    *tiles = (struct ny_tiles){.ctx = ctx,
                               .columns = columns,
                               .a = a,
                               .precision = precision,
                               .m = m,
                               .rows = NY_UNIT_ROWS,
                               .workers = workers};
    err = ny_product(ctx, &bytes, (size_t)workers * NY_UNIT_ROWS, m, element);
    if (err) return err;
    C = ny_alloc(ctx, NY_MEM_TILES, bytes);
    if (!C) return NY_EBUDGET;
    if (precision == NY_PRECISION_F64)
        tiles->C64 = C;
    else
        tiles->C32 = C;
    tiles->diagonal = ny_calloc(ctx, NY_MEM_TILES, workers, NY_UNIT_ROWS * sizeof(double));
    if (!tiles->diagonal) return NY_EBUDGET;
    tiles->workspace = ny_calloc(ctx, NY_MEM_TILES, workers, sizeof(*tiles->workspace));
    if (!tiles->workspace) return NY_EBUDGET;
    for (unsigned w = 0; w < workers && err == NY_OK; w++)
        err = ny_columns_workspace_new(&tiles->workspace[w], spec, NY_STRIP_ROWS);
    return err;
}

void ny_tiles_use(struct ny_tiles *tiles, const struct ny_columns *columns)
{
    tiles->columns = columns;
    tiles->m = ny_columns_count(columns);
}

void ny_tiles_release(struct ny_tiles *tiles)
{
    if (!tiles->ctx) return;
    for (unsigned w = 0; tiles->workspace && w < tiles->workers; w++)
        ny_columns_workspace_free(tiles->workspace[w]);
    ny_free(tiles->ctx, tiles->workspace);
    ny_free(tiles->ctx, tiles->diagonal);
    ny_free(tiles->ctx, tiles->C32);
    ny_free(tiles->ctx, tiles->C64);
    *tiles = (struct ny_tiles){0};
}

size_t ny_tiles_bytes(const struct ny_columns_spec *spec, size_t m, enum ny_precision precision)
{
    size_t element = precision == NY_PRECISION_F64 ? sizeof(double) : sizeof(float);

    return NY_UNIT_ROWS * (m * element + sizeof(double)) +
           ny_columns_workspace_bytes(spec, NY_STRIP_ROWS);
}

struct ny_matrix32 ny_tiles_c32(const struct ny_tiles *tiles, unsigned worker)
{
    return ny_matrix32(tiles->C32 + (size_t)worker * NY_UNIT_ROWS * tiles->m, tiles->rows,
                       tiles->m);
}

struct ny_matrix ny_tiles_c64(const struct ny_tiles *tiles, unsigned worker)
{
    return ny_matrix(tiles->C64 + (size_t)worker * NY_UNIT_ROWS * tiles->m, tiles->rows, tiles->m);
}

const double *ny_tiles_diagonal(const struct ny_tiles *tiles, unsigned worker)
{
    return tiles->diagonal + (size_t)worker * NY_UNIT_ROWS;
}

/* f64: kernel values of f64 rows, strip by strip, less the shift. */
static int compute64(struct ny_tiles *tiles, const struct ny_tile *tile)
{
    struct ny_matrix C = ny_tiles_c64(tiles, tile->worker);
    double *diagonal = tiles->diagonal + (size_t)tile->worker * NY_UNIT_ROWS;
    struct ny_strip strip;
    int err = NY_OK;

    for (size_t first = 0; first < tile->rows && err == NY_OK; first += strip.count) {
        size_t count = tile->rows - first < NY_STRIP_ROWS ? tile->rows - first : NY_STRIP_ROWS;

        err = ny_columns_strip(tiles->columns, tiles->workspace[tile->worker], tile, first, count,
                               &strip);
        if (err) return err;
        count = strip.count;
        err = ny_columns_exact(tiles->columns, strip.raw, count, 0, ny_rows(C, first, count));
        if (err) return err;
        err = ny_columns_diagonal(tiles->columns, strip.raw, count, diagonal + first);
        for (size_t i = first; i < first + count; i++)
            for (size_t j = 0; j < C.cols; j++)
                C.at[i * C.stride + j] -= tiles->a[j];
    }
    memset(C.at + tile->rows * C.stride, 0, (C.rows - tile->rows) * C.stride * sizeof(double));
    return err;
}

int ny_tiles_compute(struct ny_tiles *tiles, const struct ny_tile *tile)
{
    if (tiles->precision == NY_PRECISION_F64) return compute64(tiles, tile);
    return ny_columns_tile(tiles->columns, tiles->workspace[tile->worker], tile,
                           ny_tiles_c32(tiles, tile->worker),
                           tiles->diagonal + (size_t)tile->worker * NY_UNIT_ROWS);
}
