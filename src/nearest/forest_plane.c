/* Hyperplanes between pivots, and on which side of them points are. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "nearest/forest_private.h"
#include "stream/rows.h"

/* Planes that a node chooses from, and points by which it does. */
enum { PLANES = 16, SPREAD_POINTS = 64 };

uint32_t ny_forest_tie(const struct ny_forest *forest, uint64_t row)
{
    return (uint32_t)ny_hash64(forest->seed, NY_STREAM_FOREST_TIES, row);
}

bool ny_item_before(struct ny_item x, struct ny_item y)
{
    if (x.side < y.side || x.side > y.side) return x.side < y.side;
    return x.tie != y.tie ? x.tie < y.tie : x.at < y.at;
}

static int by_side(const void *a, const void *b)
{
    const struct ny_item *x = a, *y = b;

    return ny_item_before(*x, *y) ? -1 : ny_item_before(*y, *x);
}

void ny_items_sort(struct ny_item *items, size_t count)
{
    qsort(items, count, sizeof(*items), by_side);
}

static double spread_of(struct ny_plane plane, const float *V, const uint32_t *at, size_t count)
{
    size_t points = count < SPREAD_POINTS ? count : SPREAD_POINTS;
    double sum = 0, squares = 0;

    for (size_t i = 0; i < points; i++) {
        double side = (double)ny_plane_side(plane, V + (size_t)at[i * count / points] * NY_PIVOTS);

        sum += side;
        squares += side * side;
    }
    return squares - sum * sum / (double)points;
}

struct ny_plane ny_plane_choose(const struct ny_forest *forest, uint64_t node, const float *V,
                                const uint32_t *at, size_t count)
{
    struct ny_plane best = {0, 1};
    double most = -1;

    for (uint64_t k = 0; k < PLANES; k++) {
        uint64_t hash = ny_hash64(forest->seed, NY_STREAM_FOREST, node * PLANES + k);
        unsigned a = (unsigned)(hash % NY_PIVOTS);
        unsigned b = (unsigned)((a + 1 + (hash >> 32) % (NY_PIVOTS - 1)) % NY_PIVOTS);
        struct ny_plane plane = {a, b};
        double spread = spread_of(plane, V, at, count);

        if (!(spread > most)) continue;
        most = spread;
        best = plane;
    }
    return best;
}

/* ---- pivots --------------------------------------------------------------------------------- */

int ny_pivots_new(struct ny_columns **pivots, const struct ny_forest *forest, const uint32_t *rows,
                  uint64_t count, uint64_t node)
{
    const struct ny_columns_spec *spec = forest->knn->spec;
    uint64_t drawn[NY_PIVOTS];
    char *raw = ny_calloc(spec->ctx, NY_MEM_TILES, NY_PIVOTS, ny_raw_bytes(spec));
    int err = raw ? NY_OK : NY_EBUDGET;

    for (uint64_t k = 0; k < NY_PIVOTS; k++) {
        uint64_t at = ny_hash64(forest->seed, NY_STREAM_FOREST, ~(node * NY_PIVOTS + k)) % count;

        drawn[k] = rows ? rows[at] : at;
        if (rows && err == NY_OK)
            memcpy(raw + k * ny_raw_bytes(spec), ny_held_row(&forest->held, drawn[k]),
                   ny_raw_bytes(spec));
    }
    if (err == NY_OK && !rows)
        err = forest->knn->X->ops->gather(forest->knn->X, spec->slots, drawn, NY_PIVOTS, raw);
    if (err == NY_OK && !*pivots) err = ny_columns_new(pivots, spec);
    if (err == NY_OK) ny_columns_clear(*pivots);
    if (err == NY_OK) err = ny_columns_append(*pivots, ny_raw_rows(raw), NY_PIVOTS);
    ny_free(spec->ctx, raw);
    return err;
}

/* A source of some held rows; only its strips are used. */
struct picks {
    struct ny_source source;
    const struct ny_held *held;
    const uint32_t *rows;
};

static int strip(struct ny_source *source, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct picks *picks = (const struct picks *)source;
    const struct ny_held *held = picks->held;

    for (size_t i = 0; i < count; i++)
        memcpy((char *)rows + i * held->row_bytes,
               ny_held_row(held, picks->rows[tile->first_row + first + i]), held->row_bytes);
    return NY_OK;
}

int ny_pivot_values(const struct ny_forest *forest, const struct ny_columns *pivots,
                    struct ny_columns_workspace *workspace, const uint32_t *rows, size_t count,
                    float *V)
{
    static const struct ny_source_ops ops = {.strip = strip};
    struct picks picks = {.source = {.ops = &ops}, .held = &forest->held, .rows = rows};
    struct ny_tile tile = {.source = &picks.source, .rows = count};

    for (size_t first = 0, rows_read; first < count; first += rows_read) {
        size_t left = count - first;
        struct ny_matrix32 values = ny_matrix32(V + first * NY_PIVOTS, NY_STRIP_ROWS, NY_PIVOTS);
        struct ny_strip points;
        int err = ny_columns_strip(pivots, workspace, &tile, first,
                                   left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS, &points);

        if (err) return err;
        rows_read = points.count;
        ny_columns_block(pivots, &points, 0, values);
    }
    return NY_OK;
}
