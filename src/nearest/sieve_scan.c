/* Compares codes of new rows with those of all points (nearest/sieve.h): squared distances, which
 * are whole numbers, of which the few that count are looked at. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nearest/sieve_private.h"

/* Tells each row of the points whose codes are below its bound. */
static int scan(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                const struct ny_sieve_rows *rows, struct ny_columns_watch watch)
{
    struct ny_strip strip;
    int err;

    watch.room = worker->tile;
    ny_columns_clear(worker->own);
    err = ny_columns_append(worker->own, ny_raw_rows(rows->code), rows->count);
    if (err) return err;
    strip = ny_columns_own_strip(worker->own, worker->in, 0, rows->count);
    ny_columns_below(sieve->codes, &strip, &watch);
    return NY_OK;
}

/* Returns the number just above a squared distance of codes, which are whole. */
static float above(double bound)
{
    return nextafterf((float)floor(fmin(bound, 0x1p24)), INFINITY);
}

/* ---- the nearest ---------------------------------------------------------------------------- */

static void add(void *lists, size_t row, size_t point, float value)
{
    ny_neighbors_insert(lists, row, value, point);
}

int ny_sieve_nearest(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                     const struct ny_sieve_rows *rows, size_t width)
{
    struct ny_neighbors lists;
    int err = ny_neighbors_new(&lists, sieve->spec->ctx, 0, rows->count, width);

    if (!err)
        err = scan(sieve, worker, rows,
                   (struct ny_columns_watch){.bound = lists.bound, .take = add, .arg = &lists});
    for (size_t i = 0; i < rows->count && !err; i++) {
        struct ny_sieve_hit *hit = rows->hits.hit + i * rows->hits.room;
        size_t used = 0;

        for (; used < width && lists.row[i * width + used] != NY_NO_ROW; used++)
            hit[used] =
                (struct ny_sieve_hit){lists.value[i * width + used], lists.row[i * width + used]};
        rows->hits.used[i] = (uint32_t)used;
    }
    ny_neighbors_release(&lists);
    return err;
}

/* ---- those within a bound ------------------------------------------------------------------- */

struct within {
    const struct ny_sieve *sieve;
    struct ny_sieve_worker *worker;
    const struct ny_sieve_rows *rows;
    struct ny_sieve_hit last[NY_SIEVE_STRIP]; /* the farthest of the nearest so far */
    float below[NY_SIEVE_STRIP];
};

static void keep(void *arg, size_t row, size_t point, float value)
{
    struct within *within = arg;
    const struct ny_sieve_rows *rows = within->rows;
    size_t fine = within->sieve->fine;
    struct ny_sieve_hit last = within->last[row];
    uint32_t used = rows->hits.used[row];

    if (value < last.code || (value == last.code && point <= last.row)) return;
    within->worker->looked++;
    if ((double)ny_sieve_fine_square(rows->fine + row * fine,
                                     within->sieve->fine_code + point * fine,
                                     fine) > rows->fine_bound[row])
        return;
    if (used < rows->hits.room)
        rows->hits.hit[row * rows->hits.room + used] =
            (struct ny_sieve_hit){value, (uint32_t)point};
    else
        within->below[row] = -1; /* it has too many */
    rows->hits.used[row]++;
}

int ny_sieve_within(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_sieve_rows *rows)
{
    struct within within = {.sieve = sieve, .worker = worker, .rows = rows};

    for (size_t i = 0; i < rows->count; i++) {
        within.last[i] = rows->hits.hit[i * rows->hits.room + rows->hits.used[i] - 1];
        within.below[i] = above(rows->bound[i]);
    }
    return scan(sieve, worker, rows,
                (struct ny_columns_watch){.bound = within.below, .take = keep, .arg = &within});
}

/* ---- ranks ---------------------------------------------------------------------------------- */

struct ranks {
    const uint32_t *points;
    uint32_t *rank;
    size_t t;
    float *code; /* count × t: squared distances of the points by code */
    float below[NY_SIEVE_STRIP];
};

static void count_nearer(void *arg, size_t row, size_t point, float value)
{
    struct ranks *ranks = arg;

    for (size_t k = row * ranks->t; k < (row + 1) * ranks->t; k++)
        ranks->rank[k] +=
            value < ranks->code[k] || (value == ranks->code[k] && point < ranks->points[k]);
}

static float code_square(const uint8_t *x, const uint8_t *y, size_t columns)
{
    int32_t sum = 0;

    for (size_t k = 0; k < columns; k++)
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    return (float)sum;
}

int ny_sieve_ranks(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                   const struct ny_sieve_rows *rows, const uint32_t *points, uint32_t *rank)
{
    struct ny_context *ctx = sieve->spec->ctx;
    const uint8_t *codes = ny_columns_rows(sieve->codes).at;
    size_t t = sieve->knn->neighbors, q = sieve->columns;
    struct ranks ranks = {.points = points, .rank = rank, .t = t};
    int err = NY_EBUDGET;

    ranks.code = ny_calloc(ctx, NY_MEM_TILES, rows->count, t * sizeof(float));
    if (!ranks.code) return err;
    memset(rank, 0, rows->count * t * sizeof(*rank));
    for (size_t i = 0; i < rows->count * t; i++) {
        float *below = &ranks.below[i / t], square = INFINITY;

        if (points[i] != NY_NO_ROW)
            square = code_square(rows->code + i / t * q, codes + (size_t)points[i] * q, q);
        ranks.code[i] = square;
        *below = fmaxf(i % t ? *below : 0, above((double)square));
    }
    err =
        scan(sieve, worker, rows,
             (struct ny_columns_watch){.bound = ranks.below, .take = count_nearer, .arg = &ranks});
    ny_free(ctx, ranks.code);
    return err;
}
