/* Compares codes of new rows with those of all points (graph/sieve.h): squared distances, which are
 * whole numbers, of which the few that count are looked at. */
#include <math.h>

#include "graph/sieve_private.h"

/* Makes a strip of codes, which lasts until the next. */
static int make_strip(struct ny_sieve_worker *worker, const uint8_t *code, size_t count,
                      struct ny_strip *strip)
{
    int err;

    ny_columns_clear(worker->own);
    err = ny_columns_append(worker->own, ny_raw_rows(code), count);
    if (!err) *strip = ny_columns_own_strip(worker->own, worker->in, 0, count);
    return err;
}

/* ---- the nearest ---------------------------------------------------------------------------- */

static void add(void *lists, size_t row, size_t point, float value)
{
    ny_neighbors_add(lists, row, value, (uint32_t)point);
}

int ny_sieve_nearest(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                     const uint8_t *code, size_t count, size_t width,
                     const struct ny_sieve_hits *hits)
{
    struct ny_columns_watch watch = {.take = add, .room = worker->tile};
    struct ny_neighbors lists;
    struct ny_strip strip;
    int err = ny_neighbors_new(&lists, sieve->spec->ctx, 0, count, width);

    if (!err) err = make_strip(worker, code, count, &strip);
    watch.arg = &lists;
    watch.bound = lists.bound;
    if (!err) ny_columns_below(sieve->codes, &strip, &watch);
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
    const struct ny_sieve_hits *hits;
    struct ny_sieve_hit last[NY_SIEVE_STRIP]; /* of the nearest */
    float below[NY_SIEVE_STRIP];
};

static void keep(void *arg, size_t row, size_t point, float value)
{
    struct within *within = arg;
    const struct ny_sieve_hits *hits = within->hits;
    struct ny_sieve_hit last = within->last[row];
    uint32_t used = hits->used[row];

    if (value < last.code || (value == last.code && point <= last.row)) return;
    if (used < hits->room)
        hits->hit[row * hits->room + used] =
            (struct ny_sieve_hit){value, INFINITY, (uint32_t)point};
    else
        within->below[row] = -1; /* it has too many */
    hits->used[row]++;
}

int ny_sieve_within(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const uint8_t *code, size_t count, const double *bound,
                    const struct ny_sieve_hits *hits)
{
    struct within within = {.hits = hits};
    struct ny_columns_watch watch = {within.below, keep, &within, worker->tile};
    struct ny_strip strip;
    int err = make_strip(worker, code, count, &strip);

    for (size_t i = 0; i < count; i++) {
        within.last[i] = hits->hit[i * hits->room + hits->used[i] - 1];
        within.below[i] = nextafterf((float)floor(fmin(bound[i], 0x1p24)), INFINITY);
    }
    if (!err) ny_columns_below(sieve->codes, &strip, &watch);
    return err;
}
