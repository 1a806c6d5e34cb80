/*
 * The C tiles of a pass: for every worker one shifted tile C′ = k(rows, D) − 1aᵀ, in f32, or in f64
 * where the fit asks for it.
 */
#ifndef NY_COLUMNS_TILES_H
#define NY_COLUMNS_TILES_H

#include "columns/columns.h"
#include "columns/tile_cache.h"

enum ny_precision { NY_PRECISION_F32, NY_PRECISION_F64 };

/* Bytes of an element of tiles, and of the rows stored from them. */
static inline size_t ny_precision_bytes(enum ny_precision precision)
{
    return precision == NY_PRECISION_F64 ? sizeof(double) : sizeof(float);
}

struct ny_tiles {
    const struct ny_columns *columns;
    const double *a; /* f64 only: the shift */
    enum ny_precision precision;
    size_t m;
    unsigned workers;
    unsigned rows; /* rows of a tile: NY_UNIT_ROWS, or fewer where all units are that short */
    struct ny_columns_workspace **workspace; /* one a worker */
    float *C32;                              /* workers × NY_UNIT_ROWS × m */
    double *C64;
    double *diagonal; /* workers × NY_UNIT_ROWS: k(x,x) */
    struct ny_tile_cache *cache; /* borrowed: where strips are looked for and kept; NULL: nowhere */
};

/* Lays out one tile for each worker, against up to m landmarks. Sets BLAS to one thread for the
 * pass. */
void ny_tiles_lay(struct ny_layout *l, struct ny_tiles *tiles, const struct ny_columns_spec *spec,
                  size_t m, enum ny_precision precision, unsigned workers);
/* The tiles that follow are against these columns, with the shift a (NULL: in f32). Both are
 * borrowed. */
void ny_tiles_use(struct ny_tiles *tiles, const struct ny_columns *columns, const double *a);

/* Computes the worker's tile; its rows beyond tile->rows are zero. */
int ny_tiles_compute(struct ny_tiles *tiles, const struct ny_tile *tile);
/* Returns the worker's tile, tiles->rows × m, of f32 tiles; the view is valid until the tile is
 * computed again. */
struct ny_matrix32 ny_tiles_c32(const struct ny_tiles *tiles, unsigned worker);
/* Returns the worker's tile of f64 tiles. */
struct ny_matrix ny_tiles_c64(const struct ny_tiles *tiles, unsigned worker);
/* Returns k(x,x) of the rows of the worker's tile, NY_UNIT_ROWS numbers. */
const double *ny_tiles_diagonal(const struct ny_tiles *tiles, unsigned worker);

#endif
