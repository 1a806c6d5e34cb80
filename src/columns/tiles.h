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
    struct ny_context *ctx;
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

/* Makes one tile for each of `workers` against `columns`, whose landmarks stay and must outlive it,
 * with the shift a (borrowed; used in f64). Sets BLAS to one thread for the pass. Release it also
 * when it fails: NY_EBUDGET. */
int ny_tiles_new(struct ny_tiles *tiles, const struct ny_columns *columns, const double *a,
                 enum ny_precision precision, unsigned workers);
/* The tiles that follow are against other columns, no more than the first ones. */
void ny_tiles_use(struct ny_tiles *tiles, const struct ny_columns *columns);
/* Frees the tiles; the columns stay. */
void ny_tiles_release(struct ny_tiles *tiles);
/* Bytes of one worker's tile and workspace, for m landmarks. */
size_t ny_tiles_bytes(const struct ny_columns_spec *spec, size_t m, enum ny_precision precision);

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
