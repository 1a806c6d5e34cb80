/*
 * Searches some rows of a lot together (nearest/sieve.h): all of a batch are compared with the
 * codes, then all of it are measured, so that the points that it needs can be gathered where they
 * are not all held.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "nearest/sieve_private.h"

/* Rows that a thread measures before it takes others, of dozens that a batch has for it, and points
 * of a row that are measured before others are looked at. */
enum { TAKEN_ROWS = 16, PIECE_ROWS = 8 };

/* ---- memory --------------------------------------------------------------------------------- */

/* Lays out a batch for codes of so many columns, and fine ones. */
static void lay(struct ny_layout *l, struct ny_sieve_batch *batch, const struct ny_knn *knn,
                size_t rows, size_t columns, size_t fine)
{
    batch->code = ny_lay(l, NY_MEM_TILES, rows, columns);
    batch->fine = ny_lay(l, NY_MEM_TILES, rows, fine * sizeof(int16_t));
    batch->bound = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    batch->fine_bound = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    batch->from = ny_lay(l, NY_MEM_TILES, rows, sizeof(uint32_t));
    batch->near = ny_lay(l, NY_MEM_TILES, rows, knn->neighbors * sizeof(struct ny_near));
    batch->hits.hit = ny_lay(l, NY_MEM_TILES, rows, batch->hits.room * sizeof(struct ny_sieve_hit));
    batch->hits.used = ny_lay(l, NY_MEM_TILES, rows, sizeof(uint32_t));
}

void ny_sieve_batch_count(struct ny_layout *l, const struct ny_knn *knn, size_t rows, size_t room)
{
    struct ny_sieve_batch batch = {.hits.room = room};

    lay(l, &batch, knn, rows, NY_SIEVE_COLUMNS, NY_SIEVE_FINE);
}

int ny_sieve_batch_new(struct ny_sieve_batch *batch, struct ny_sieve *sieve, size_t rows,
                       size_t room)
{
    *batch =
        (struct ny_sieve_batch){.own.ctx = sieve->spec->ctx, .sieve = sieve, .hits.room = room};
    lay(&batch->own, batch, sieve->knn, rows, sieve->columns, sieve->fine);
    return batch->own.err;
}

/* Copies the code and the fine code of a row of the lot. */
static void copy_code(const struct ny_sieve_batch *batch, size_t row, uint8_t *code, int16_t *fine)
{
    const struct ny_sieve *sieve = batch->sieve;
    const uint8_t *codes = ny_columns_rows(sieve->codes).at;
    const int16_t *fine_codes = sieve->fine_code;
    size_t at = row;

    if (batch->codes) {
        codes = batch->codes->code;
        fine_codes = batch->codes->fine;
    } else {
        at = sieve->cells.place[batch->before + row];
    }
    memcpy(code, codes + at * sieve->columns, sieve->columns);
    memcpy(fine, fine_codes + at * sieve->fine, sieve->fine * sizeof(int16_t));
}

void ny_sieve_batch_begin(struct ny_sieve_batch *batch, const uint32_t *index, size_t count)
{
    size_t q = batch->sieve->columns, fine = batch->sieve->fine, t = batch->sieve->knn->neighbors;

    batch->index = index;
    batch->count = count;
    for (size_t i = 0; i < count; i++)
        copy_code(batch, index[i], batch->code + i * q, batch->fine + i * fine);
    memset(batch->from, 0, count * sizeof(*batch->from));
    ny_near_clear(batch->near, count * t);
}

/* ---- codes ---------------------------------------------------------------------------------- */

/* Returns the rows of a batch that are to be looked up next; none behind its end. */
static struct ny_sieve_rows next_rows(struct ny_sieve_batch *batch)
{
    const struct ny_sieve *sieve = batch->sieve;
    size_t first = atomic_fetch_add(&batch->next, 1) * batch->strip, room = batch->hits.room;
    size_t left = first < batch->count ? batch->count - first : 0;

    if (!left) return (struct ny_sieve_rows){0};
    return (struct ny_sieve_rows){
        .count = left < batch->strip ? left : batch->strip,
        .code = batch->code + first * sieve->columns,
        .fine = batch->fine + first * sieve->fine,
        .bound = batch->bound + first,
        .fine_bound = batch->fine_bound + first,
        .hits = {room, batch->hits.hit + first * room, batch->hits.used + first}};
}

static int look_up(void *arg, unsigned worker)
{
    struct ny_sieve_batch *batch = arg;
    const struct ny_sieve *sieve = batch->sieve;
    struct ny_sieve_worker *own = &sieve->worker[worker];
    struct ny_sieve_rows rows;
    int err = NY_OK;

    while (!err && (rows = next_rows(batch)).count) {
        err = batch->within  ? ny_sieve_within(sieve, own, &rows)
              : batch->reach ? ny_sieve_look(sieve, own, &rows, batch->reach)
                             : ny_sieve_nearest(sieve, own, &rows, batch->width);
        if (!err) err = ny_check_interrupt(sieve->spec->ctx);
    }
    return err;
}

int ny_sieve_batch_look_up(struct ny_sieve_batch *batch, bool within)
{
    const struct ny_sieve *sieve = batch->sieve;

    batch->within = within;
    atomic_store(&batch->next, 0);
    return ny_parallel(sieve->spec->ctx, sieve->knn->workers, look_up, batch);
}

/* ---- measures ------------------------------------------------------------------------------- */

/* Returns how many hits of a row are to be measured: none any more where there are too many. */
static size_t hits_of(const struct ny_sieve_batch *batch, size_t i)
{
    size_t used = batch->hits.used[i];

    return used <= batch->hits.room ? used : batch->from[i];
}

/* Returns a point that is held as a row of the type of new rows, which is made in `room` where that
 * is not its own. */
static const void *point_at(const struct ny_sieve *sieve, uint32_t row, char *room)
{
    const void *held = ny_held_row(&sieve->held, row);

    if (sieve->spec->dtype == sieve->knn->spec->dtype) return held;
    ny_dtype_widen(sieve->knn->spec->dtype, held, sieve->spec->dtype, room,
                   sieve->spec->geometry->d);
    return room;
}

/* Returns the squared distance up to which points of a fine code, or a code, may be no farther than
 * the t-th of those that are measured of row i: in steps, where the codes have these errors. */
static double bound_of(const struct ny_sieve_batch *batch, size_t i, double step, double errors)
{
    const struct ny_sieve *sieve = batch->sieve;
    size_t t = sieve->knn->neighbors;
    double last = batch->near[i * t + t - 1].value;
    /* A cosine is a quotient of three sums of d products, each rounded d times at most. */
    double rounding = 1e-12 + 0x1p-50 * (double)sieve->spec->geometry->d;
    double far = sieve->spec->kernel->base == NY_BASE_SQUARE ? sqrt(last / batch->gamma)
                                                             : sqrt(2 * last + rounding);

    far = far * (1 + 1e-9) * sieve->length / step + errors;
    return far * far * (1 + 1e-9);
}

static double fine_bound_of(const struct ny_sieve_batch *batch, size_t i)
{
    const struct ny_sieve *sieve = batch->sieve;
    double own = batch->codes ? batch->codes->fine_error[batch->index[i]] : sieve->fine_error;

    return bound_of(batch, i, sieve->fine_scale.step, own + sieve->fine_error);
}

void ny_sieve_batch_bound(struct ny_sieve_batch *batch)
{
    const struct ny_sieve *sieve = batch->sieve;

    for (size_t i = 0; i < batch->count; i++) {
        double own = batch->codes ? batch->codes->error[batch->index[i]] : sieve->error;

        batch->bound[i] = bound_of(batch, i, sieve->scale.step, own + sieve->error);
        batch->fine_bound[i] = fine_bound_of(batch, i);
    }
}

/* Returns the squared distance of hit k of row i by fine code, no more than it is. */
static double fine_square_of(const struct ny_sieve_batch *batch, size_t i, size_t k, size_t end)
{
    enum { AHEAD = 4 };
    const struct ny_sieve *sieve = batch->sieve;
    const struct ny_sieve_hit *hit = batch->hits.hit + i * batch->hits.room;
    const int16_t *fine = batch->fine + i * sieve->fine;

    if (batch->reach) return (double)hit[k].square * (1 - 0x1p-23); /* it was looked at */
    if (k + AHEAD < end) ny_sieve_fine_ask(sieve, sieve->cells.place[hit[k + AHEAD].row]);
    return (double)ny_sieve_fine_square(sieve, fine, sieve->cells.place[hit[k].row]);
}

/* Lists hits of row i from *next on that may be among the nearest, at most `most`. */
static size_t choose_hits(const struct ny_sieve_batch *batch, size_t i, size_t *next, size_t most,
                          uint32_t *chosen)
{
    const size_t most_bytes = 4096; /* what follows in a longer row is seen to be read */
    const struct ny_held *held = &batch->sieve->held;
    const struct ny_sieve_hit *hit = batch->hits.hit + i * batch->hits.room;
    double bound = fine_bound_of(batch, i);
    size_t count = 0, end = hits_of(batch, i);
    size_t bytes = held->row_bytes < most_bytes ? held->row_bytes : most_bytes;

    for (; *next < end && count < most; ++*next) {
        if (fine_square_of(batch, i, *next, end) > bound) continue;
        ny_prefetch(ny_held_row(held, hit[*next].row), bytes);
        chosen[count++] = (uint32_t)*next;
    }
    return count;
}

/* Measures the hits of a row of the batch that are not measured yet. */
static int measure_row(struct ny_sieve_batch *batch, const struct ny_sieve_worker *worker, size_t i)
{
    const struct ny_sieve *sieve = batch->sieve;
    struct ny_sieve_hit *hit = batch->hits.hit + i * batch->hits.room;
    size_t row_bytes = ny_raw_bytes(sieve->spec), t = sieve->knn->neighbors;
    size_t next = batch->from[i], end = hits_of(batch, i), most = t;
    uint32_t chosen[NY_SIEVE_PIECE];
    const void *points[NY_SIEVE_PIECE];
    int err = ny_one_row_set(&worker->one, (const char *)batch->raw + batch->index[i] * row_bytes);

    while (next < end && !err) {
        size_t count =
            choose_hits(batch, i, &next, most < NY_SIEVE_PIECE ? most : NY_SIEVE_PIECE, chosen);

        for (size_t k = 0; k < count; k++)
            points[k] = point_at(sieve, hit[chosen[k]].row, worker->raw + k * row_bytes);
        err = ny_one_row_values(&worker->one, points, count, worker->values);
        for (size_t k = 0; k < count && !err; k++)
            ny_near_keep(batch->near + i * t, t,
                         (struct ny_near){worker->values[k], hit[chosen[k]].row});
        most = PIECE_ROWS;
    }
    batch->from[i] = (uint32_t)end;
    return err;
}

static int measure_some(void *arg, unsigned worker)
{
    struct ny_sieve_batch *batch = arg;
    const struct ny_sieve *sieve = batch->sieve;
    size_t first;
    int err = NY_OK;

    while (!err &&
           (first = batch->first + atomic_fetch_add(&batch->next, TAKEN_ROWS)) < batch->end) {
        size_t end = first + TAKEN_ROWS < batch->end ? first + TAKEN_ROWS : batch->end;

        for (size_t i = first; i < end && !err; i++)
            err = measure_row(batch, &sieve->worker[worker], i);
        if (!err) err = ny_check_interrupt(sieve->spec->ctx);
    }
    return err;
}

/* Wants the points that a row needs; false where there is no room for them beside the others. */
static bool want_hits(const struct ny_sieve_batch *batch, size_t i)
{
    const struct ny_sieve_hit *hit = batch->hits.hit + i * batch->hits.room;

    for (size_t k = batch->from[i]; k < hits_of(batch, i); k++)
        if (!ny_held_want(&batch->sieve->held, hit[k].row)) return false;
    return true;
}

int ny_sieve_batch_measure(struct ny_sieve_batch *batch)
{
    struct ny_sieve *sieve = batch->sieve;
    int err = NY_OK;

    for (batch->first = 0; batch->first < batch->count && !err; batch->first = batch->end) {
        batch->end = batch->first;
        ny_held_clear(&sieve->held);
        while (batch->end < batch->count && want_hits(batch, batch->end))
            batch->end++;
        err = ny_held_load(&sieve->held);
        atomic_store(&batch->next, 0);
        if (!err) err = ny_parallel(sieve->spec->ctx, sieve->knn->workers, measure_some, batch);
    }
    return err;
}
