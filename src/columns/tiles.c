/* Tiles of a pass: strip by strip, each computed by whoever is free, or copied from those that an
 * earlier pass has left. */
#include "columns/tiles.h"

#include <string.h>

#include "stream/share.h"

void ny_tiles_lay(struct ny_layout *l, struct ny_tiles *tiles, const struct ny_columns_spec *spec,
                  size_t m, enum ny_precision precision, unsigned workers)
{
    size_t rows = (size_t)workers * NY_UNIT_ROWS;
    void *C = ny_lay(l, NY_MEM_TILES, rows, m * ny_precision_bytes(precision));

    if (l->ctx) ny_blas_serial(); /* workers compute whole units, each on one thread */
    *tiles = (struct ny_tiles){.precision = precision,
                               .m = m,
                               .rows = NY_UNIT_ROWS,
                               .workers = workers,
                               .C32 = precision == NY_PRECISION_F64 ? NULL : C,
                               .C64 = precision == NY_PRECISION_F64 ? C : NULL};
    tiles->diagonal = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    tiles->workspace = ny_lay(l, NY_MEM_TILES, workers, sizeof(*tiles->workspace));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_columns_workspace *workspace = ny_columns_workspace_lay(l, spec, NY_STRIP_ROWS);

        if (tiles->workspace) tiles->workspace[w] = workspace;
    }
}

void ny_tiles_use(struct ny_tiles *tiles, const struct ny_columns *columns, const double *a)
{
    tiles->columns = columns;
    tiles->a = a;
    tiles->m = ny_columns_size(columns);
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

/* Kernel values of f64 rows, less the shift. */
static int fill_rows64(const struct ny_tiles *tiles, const struct ny_strip *strip,
                       struct ny_matrix C, double *diagonal)
{
    int err = ny_columns_exact(tiles->columns, strip->raw, strip->count, 0, C);

    if (err) return err;
    for (size_t i = 0; i < C.rows; i++)
        for (size_t j = 0; j < C.cols; j++)
            C.at[i * C.stride + j] -= tiles->a[j];
    return ny_columns_diagonal(tiles->columns, strip->raw, strip->count, diagonal);
}

/* A strip of a tile that is being computed. */
struct strip {
    struct ny_tiles *tiles;
    const struct ny_tile *tile;
};

static int compute64(const struct strip *of, size_t first, unsigned worker)
{
    struct ny_tiles *tiles = of->tiles;
    const struct ny_tile seen = ny_tile_seen_by(of->tile, worker);
    struct ny_matrix C = ny_rows(ny_tiles_c64(tiles, of->tile->worker), first, NY_STRIP_ROWS);
    double *diagonal = tiles->diagonal + (size_t)of->tile->worker * NY_UNIT_ROWS + first;
    size_t left = of->tile->rows > first ? of->tile->rows - first : 0;
    size_t count = left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS;
    struct ny_strip strip;

    for (size_t i = 0; i < count; i += strip.count) {
        int err = ny_columns_strip(tiles->columns, tiles->workspace[worker], &seen, first + i,
                                   count - i, &strip);

        if (!err) err = fill_rows64(tiles, &strip, ny_rows(C, i, strip.count), diagonal + i);
        if (err) return err;
    }
    memset(C.at + count * C.stride, 0, (NY_STRIP_ROWS - count) * C.stride * sizeof(double));
    return NY_OK;
}

static int compute32(const struct strip *of, size_t first, unsigned worker)
{
    struct ny_tiles *tiles = of->tiles;
    const struct ny_tile seen = ny_tile_seen_by(of->tile, worker);
    double *diagonal = tiles->diagonal + (size_t)of->tile->worker * NY_UNIT_ROWS + first;

    return ny_columns_tile_strip(
        tiles->columns, tiles->workspace[worker], &seen, first,
        ny_rows32(ny_tiles_c32(tiles, of->tile->worker), first, NY_STRIP_ROWS), diagonal);
}

/* Returns the place of a row of the tile in C32 or C64. */
static void *row_of(const struct ny_tiles *tiles, unsigned whose, size_t row)
{
    size_t at = ((size_t)whose * NY_UNIT_ROWS + row) * tiles->m;

    return tiles->C64 ? (void *)(tiles->C64 + at) : (void *)(tiles->C32 + at);
}

/* Takes the strip from the cache, or computes it and leaves a copy there. */
static int find_strip(void *arg, size_t piece, unsigned worker)
{
    const struct strip *of = arg;
    struct ny_tiles *tiles = of->tiles;
    size_t first = piece * NY_STRIP_ROWS, whose = of->tile->worker;
    double *diagonal = tiles->diagonal + whose * NY_UNIT_ROWS + first;
    void *C = row_of(tiles, (unsigned)whose, first);
    int err;

    if (tiles->cache && ny_tile_cache_get(tiles->cache, of->tile, first, C, diagonal)) return NY_OK;
    err = tiles->C64 ? compute64(of, first, worker) : compute32(of, first, worker);
    if (tiles->cache && !err) ny_tile_cache_put(tiles->cache, of->tile, first, C, diagonal);
    return err;
}

int ny_tiles_compute(struct ny_tiles *tiles, const struct ny_tile *tile)
{
    struct ny_tile own = *tile;
    struct strip strip = {tiles, &own};

    if (tiles->workers == 1) own.sharing = NULL; /* nobody else has a workspace here */
    return ny_tile_share(&own, tiles->rows / NY_STRIP_ROWS, find_strip, &strip);
}
