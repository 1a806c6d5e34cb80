/* Compares codes of new rows with those of all points (graph/sieve.h): tiles of squared distances,
 * which are whole numbers, and the few of each that count. */
#include <math.h>

#include "columns/vector.h"
#include "graph/sieve_private.h"

/* Number of the first new row where numbers of points end, so that no row is taken for a point. */
#define NEW_ROWS ((uint64_t)1 << 40)

/* Receives the tiles of a strip one after another. */
typedef void take_tile_fn(void *arg, struct ny_matrix32 tile, uint64_t first);

static int scan(const struct ny_sieve *sieve, struct ny_sieve_worker *worker, const uint8_t *code,
                size_t count, take_tile_fn *take, void *arg)
{
    uint64_t n = sieve->knn->n;
    struct ny_strip strip;
    int err;

    ny_columns_clear(worker->own);
    err = ny_columns_append(worker->own, ny_raw_rows(code), count);
    if (err) return err;
    strip = ny_columns_own_strip(worker->own, worker->in, 0, count);
    for (uint64_t first = 0; first < n; first += NY_SIEVE_TILE) {
        size_t cols = n - first < NY_SIEVE_TILE ? (size_t)(n - first) : NY_SIEVE_TILE;
        struct ny_matrix32 tile = {worker->tile, count, cols, NY_SIEVE_TILE, false};

        ny_columns_block(sieve->codes, &strip, (size_t)first, tile);
        take(arg, tile, first);
    }
    return NY_OK;
}

/* ---- the nearest ---------------------------------------------------------------------------- */

static void offer(void *lists, struct ny_matrix32 tile, uint64_t first)
{
    ny_neighbors_offer(lists, &(struct ny_values){tile, NEW_ROWS, first}, NY_SIDE_ROWS);
}

int ny_sieve_nearest(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                     const uint8_t *code, size_t count, size_t width,
                     const struct ny_sieve_hits *hits)
{
    struct ny_neighbors lists;
    int err = ny_neighbors_new(&lists, sieve->spec->ctx, NEW_ROWS, count, width);

    if (!err) err = scan(sieve, worker, code, count, offer, &lists);
    for (size_t i = 0; i < count && !err; i++) {
        struct ny_sieve_hit *hit = hits->hit + i * hits->room;
        size_t used = 0;

        for (; used < width && lists.row[i * width + used] != NY_NO_ROW; used++)
            hit[used] = (struct ny_sieve_hit){lists.value[i * width + used], INFINITY,
                                              lists.row[i * width + used]};
        hits->used[i] = (uint32_t)used;
    }
    ny_neighbors_release(&lists);
    return err;
}

/* ---- those within a bound ------------------------------------------------------------------- */

struct within {
    struct ny_sieve_worker *worker;
    const double *bound;
    const struct ny_sieve_hits *hits;
    struct ny_sieve_hit last[NY_SIEVE_STRIP]; /* of the nearest */
};

/* Keeps the hits of row i among the points of a tile. */
static void keep_row(const struct within *within, size_t i, const float *values, size_t cols,
                     uint64_t first)
{
    const struct ny_sieve_hits *hits = within->hits;
    float below = nextafterf((float)floor(fmin(within->bound[i], 0x1p24)), INFINITY);
    size_t found = ny_vector()->scan->below(values, below, values, cols, within->worker->hits);
    struct ny_sieve_hit last = within->last[i];

    for (size_t k = 0; k < found; k++) {
        size_t j = within->worker->hits[k];
        uint32_t row = (uint32_t)(first + j);

        if (values[j] < last.code || (values[j] == last.code && row <= last.row)) continue;
        if (hits->used[i] < hits->room)
            hits->hit[i * hits->room + hits->used[i]] =
                (struct ny_sieve_hit){values[j], INFINITY, row};
        if (hits->used[i] <= hits->room) hits->used[i]++;
    }
}

static void keep(void *arg, struct ny_matrix32 tile, uint64_t first)
{
    const struct within *within = arg;

    for (size_t i = 0; i < tile.rows; i++)
        keep_row(within, i, tile.at + i * tile.stride, tile.cols, first);
}

int ny_sieve_within(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const uint8_t *code, size_t count, const double *bound,
                    const struct ny_sieve_hits *hits)
{
    struct within within = {.worker = worker, .bound = bound, .hits = hits};

    for (size_t i = 0; i < count; i++)
        within.last[i] = hits->hit[i * hits->room + hits->used[i] - 1];
    return scan(sieve, worker, code, count, keep, &within);
}
