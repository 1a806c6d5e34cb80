/*
 * Tiles of C: strip by strip, each finished while it is still in cache. Passes call
 * ny_columns_tile_strip() through columns/tiles.c, which may share out the strips of a unit.
 *
 * The exponential follows the product and is not fused into it. As many rows as take 128 KiB are
 * multiplied, then finished while they are in the cache. A tile then costs its products and its
 * exponentials in cache, added up, to 4 % (measured with d = 10, 16 and 64, and m = 500 and 1,000),
 * so that fusing them could save no more than the load and the store between. In 3 columns this
 * order was worth a seventh of the time.
 */
#include <math.h>
#include <string.h>

#include "columns/columns_private.h"

/* Turns base quantities into kernel values less the shift, row by row in place. */
static void finish_rows(const struct ny_columns *columns, const struct ny_strip *strip,
                        const struct ny_pointwise *how, struct ny_matrix32 K)
{
    for (size_t i = 0; i < strip->count; i++)
        columns->spec.kernel->apply32(how, strip->norms[i], K.at + i * K.stride, K.cols);
}

void ny_columns_block(const struct ny_columns *columns, const struct ny_strip *strip, size_t first,
                      struct ny_matrix32 K)
{
    struct ny_pointwise how = {.params = &columns->preparation.strip_params,
                               .y_norm = columns->norms + first,
                               .shift = columns->zeros,
                               .shift_low = columns->zeros};

    if (!K.cols) return;
    ny_strip_base(columns, strip, first, K);
    finish_rows(columns, strip, &how, K);
}

int ny_columns_diagonal(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                        double *diagonal)
{
    const struct ny_columns_spec *spec = &columns->spec;
    size_t d = spec->geometry->d;
    double *row = NULL;

    if (spec->kernel->base == NY_BASE_GIVEN) { /* the file does not say */
        for (size_t i = 0; i < count; i++)
            diagonal[i] = NAN;
        return NY_OK;
    }
    if (spec->slots) return ny_sparse_diagonals(columns, rows, count, diagonal);
    if (!spec->kernel->constant_diagonal) {
        row = ny_calloc(spec->ctx, NY_MEM_TILES, d, sizeof(double));
        if (!row) return NY_EBUDGET;
    }
    for (size_t i = 0; i < count; i++) {
        double square;

        diagonal[i] = 1;
        if (!row) continue;
        ny_preparation_row(&columns->preparation, spec,
                           (const unsigned char *)rows.at + i * columns->row_bytes, row);
        square = ny_vector()->prepare->dot(row, row, d);
        diagonal[i] = square;
        spec->kernel->apply(&columns->preparation.params, square, &square, &diagonal[i], 1);
    }
    ny_free(spec->ctx, row);
    return NY_OK;
}

/* Rows that are multiplied before they are finished: as many as stay in the cache nearest to the
 * core, and enough to be worth reading the landmarks for. */
static size_t rows_at_a_time(const struct ny_columns *columns)
{
    const size_t cache_bytes = 128 << 10, group = 4 * NY_BYTE_ROWS; /* of NY_DIRECT_ROWS too */
    size_t rows = cache_bytes / (columns->count * sizeof(float)) / group * group;

    if (columns->spec.slots) return NY_SPARSE_GROUP;
    if (rows > NY_STRIP_ROWS) return NY_STRIP_ROWS;
    return rows < group ? group : rows;
}

/* Finishes the rows of a strip, which K has, a few at a time. */
static void compute_rows(const struct ny_columns *columns, const struct ny_strip *strip,
                         struct ny_matrix32 K)
{
    struct ny_pointwise how = {.params = &columns->preparation.strip_params,
                               .minus_one = columns->minus_one,
                               .y_norm = columns->norms,
                               .shift = columns->shift,
                               .shift_low = columns->shift_low};
    size_t piece = rows_at_a_time(columns);

    for (size_t i = 0; i < strip->count; i += piece) {
        size_t left = strip->count - i, count = left < piece ? left : piece;
        struct ny_strip part = ny_strip_part(columns, strip, i, count);
        struct ny_matrix32 rows = ny_rows32(K, i, count);

        ny_strip_base(columns, &part, 0, rows);
        finish_rows(columns, &part, &how, rows);
    }
}

int ny_columns_tile_strip(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                          const struct ny_tile *tile, size_t first, struct ny_matrix32 K,
                          double *diagonal)
{
    size_t left = tile->rows > first ? tile->rows - first : 0;
    size_t count = left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS;
    struct ny_strip strip;

    for (size_t i = 0; i < count; i += strip.count) {
        int err = ny_columns_strip(columns, workspace, tile, first + i, count - i, &strip);

        if (err) return err;
        compute_rows(columns, &strip, ny_rows32(K, i, K.rows - i));
        if (diagonal) err = ny_columns_diagonal(columns, strip.raw, strip.count, diagonal + i);
        if (err) return err;
    }
    for (size_t i = count; i < NY_STRIP_ROWS; i++)
        memset(K.at + i * K.stride, 0, K.cols * sizeof(float));
    for (size_t i = count; diagonal && i < NY_STRIP_ROWS; i++)
        diagonal[i] = 0;
    return NY_OK;
}

int ny_columns_tile(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                    const struct ny_tile *tile, struct ny_matrix32 C, double *diagonal)
{
    int err = NY_OK;

    for (size_t first = 0; !err && first < C.rows; first += NY_STRIP_ROWS)
        err = ny_columns_tile_strip(columns, workspace, tile, first,
                                    ny_rows32(C, first, NY_STRIP_ROWS),
                                    diagonal ? diagonal + first : NULL);
    return err;
}
