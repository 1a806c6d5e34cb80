/*
 * Walks over all rows, each with some others: a round of refinement, and the last measurement. Rows
 * are walked in the order of tree 0, where those of a bucket have most of their others in common.
 * Values are exact.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/thread.h"
#include "nearest/forest_private.h"
#include "nearest/knn_private.h"
#include "nearest/one_row.h"
#include "stream/rows.h"

/* Rows of a group, where all are held, and that a worker takes at a time; others of a row that are
 * measured at a time. */
enum { GROUP_ROWS = 1 << 16, TAKEN_ROWS = 256, PIECE_ROWS = 32 };

struct walker;

/* The kind of a walk: `others` lists the points to compare a row with, `take` uses their values. */
struct walk_kind {
    const char *stage;
    size_t (*others)(const struct ny_forest *forest, uint64_t row, struct walker *walker);
    void (*take)(struct ny_forest *forest, uint64_t row, const struct walker *walker, size_t count);
};

struct walker {
    uint32_t *other; /* room for all that a row may have */
    double *value;   /* theirs */
    uint32_t *seen;  /* a table of them, by hash */
    size_t seen_mask;
    struct ny_near *near; /* width */
    char *raw;            /* PIECE_ROWS */
    struct ny_one_row one;
};

struct walk {
    struct ny_forest *forest;
    const struct walk_kind *kind;
    struct walker *walker; /* one a worker */
    struct ny_queue queue;
    struct ny_meter meter; /* under the queue's lock */
};

/* ---- walkers -------------------------------------------------------------------------------- */

static size_t others_max(size_t links, size_t width)
{
    return links * links > width ? links * links : width;
}

static size_t seen_size(size_t links)
{
    size_t size = 64;

    while (size < 2 * (links * links + links + 1))
        size *= 2;
    return size;
}

size_t ny_walk_bytes(const struct ny_knn *knn)
{
    size_t width = ny_knn_width(knn), links = width < 32 ? width : 32;

    return knn->workers *
           (others_max(links, width) * (sizeof(uint32_t) + sizeof(double)) +
            seen_size(links) * sizeof(uint32_t) + width * sizeof(struct ny_near) +
            PIECE_ROWS * ny_raw_bytes(knn->spec) + ny_one_row_bytes(knn->spec) + 1024);
}

static int walker_new(struct walker *walker, const struct ny_forest *forest)
{
    const struct ny_columns_spec *spec = forest->knn->spec;
    struct ny_context *ctx = spec->ctx;
    size_t most = others_max(forest->links, forest->lists.width), seen = seen_size(forest->links);

    walker->other = ny_calloc(ctx, NY_MEM_TILES, most, sizeof(uint32_t));
    walker->value = ny_calloc(ctx, NY_MEM_TILES, most, sizeof(double));
    walker->seen = ny_calloc(ctx, NY_MEM_TILES, seen, sizeof(uint32_t));
    walker->seen_mask = seen - 1;
    walker->near = ny_calloc(ctx, NY_MEM_TILES, forest->lists.width, sizeof(struct ny_near));
    walker->raw = ny_calloc(ctx, NY_MEM_TILES, PIECE_ROWS, ny_raw_bytes(spec));
    if (!walker->other || !walker->value || !walker->seen || !walker->near || !walker->raw)
        return NY_EBUDGET;
    return ny_one_row_init(&walker->one, spec);
}

static void walker_release(struct walker *walker, struct ny_context *ctx)
{
    ny_free(ctx, walker->other);
    ny_free(ctx, walker->value);
    ny_free(ctx, walker->seen);
    ny_free(ctx, walker->near);
    ny_free(ctx, walker->raw);
    ny_one_row_release(&walker->one, ctx);
}

/* Computes the exact values of held rows to the walker's others. */
static int measure(struct walker *walker, const struct ny_held *held, uint64_t row, size_t count)
{
    int err = ny_one_row_set(&walker->one, ny_held_row(held, row));

    for (size_t first = 0; first < count && err == NY_OK; first += PIECE_ROWS) {
        size_t rows = count - first < PIECE_ROWS ? count - first : PIECE_ROWS;

        for (size_t i = 0; i < rows; i++)
            memcpy(walker->raw + i * held->row_bytes, ny_held_row(held, walker->other[first + i]),
                   held->row_bytes);
        err = ny_one_row_values(&walker->one, walker->raw, rows, walker->value + first);
    }
    return err;
}

/* ---- rounds --------------------------------------------------------------------------------- */

/* Returns true if it was not there yet. */
static bool see(struct walker *walker, uint32_t row)
{
    size_t at = (row * 2654435761U) & walker->seen_mask;

    while (walker->seen[at] != NY_NO_ROW && walker->seen[at] != row)
        at = (at + 1) & walker->seen_mask;
    if (walker->seen[at] == row) return false;
    walker->seen[at] = row;
    return true;
}

/* Lists the ends of two steps from the row, one of them new, but not the row nor its links. */
static size_t two_steps(const struct ny_forest *forest, uint64_t row, struct walker *walker)
{
    size_t links = forest->links, count = 0;
    const uint32_t *near = forest->link + row * links;

    memset(walker->seen, 0xff, (walker->seen_mask + 1) * sizeof(uint32_t));
    see(walker, (uint32_t)row);
    for (size_t k = 0; k < links && near[k] != NY_NO_ROW; k++)
        see(walker, near[k]);
    for (size_t k = 0; k < links && near[k] != NY_NO_ROW; k++) {
        const uint32_t *next = forest->link + (uint64_t)near[k] * links;
        uint32_t fresh = forest->fresh[row] >> k & 1 ? UINT32_MAX : forest->fresh[near[k]];

        for (size_t l = 0; l < links && next[l] != NY_NO_ROW; l++)
            if ((fresh >> l & 1) && see(walker, next[l])) walker->other[count++] = next[l];
    }
    return count;
}

/* Offers the pairs to the lists of both points. */
static void offer(struct ny_forest *forest, uint64_t row, const struct walker *walker, size_t count)
{
    struct ny_mutex *lock = ny_forest_lock(forest, row);

    ny_mutex_lock(lock);
    for (size_t k = 0; k < count; k++)
        ny_neighbors_add(&forest->lists, row, (float)walker->value[k], walker->other[k]);
    ny_mutex_unlock(lock);
    for (size_t k = 0; k < count; k++) {
        lock = ny_forest_lock(forest, walker->other[k]);
        ny_mutex_lock(lock);
        ny_neighbors_add(&forest->lists, walker->other[k], (float)walker->value[k], (uint32_t)row);
        ny_mutex_unlock(lock);
    }
    ny_forest_count(forest, (double)count);
}

void ny_forest_link(struct ny_forest *forest)
{
    size_t links = forest->links, width = forest->lists.width;

    for (uint64_t i = 0; i < forest->knn->n; i++) {
        uint32_t *link = forest->link + i * links, fresh = 0;
        const uint32_t *now = forest->lists.row + i * width;

        for (size_t k = 0; k < links; k++) {
            size_t l = 0;

            while (l < links && link[l] != now[k])
                l++;
            if (l == links) fresh |= (uint32_t)1 << k;
        }
        forest->fresh[i] = fresh;
        memcpy(link, now, links * sizeof(uint32_t));
    }
}

/* ---- the last measurement ------------------------------------------------------------------- */

static size_t candidates(const struct ny_forest *forest, uint64_t row, struct walker *walker)
{
    size_t width = forest->lists.width, count = 0;
    const uint32_t *rows = forest->lists.row + row * width;

    while (count < width && rows[count] != NY_NO_ROW) {
        walker->other[count] = rows[count];
        count++;
    }
    return count;
}

static void put(struct ny_forest *forest, uint64_t row, const struct ny_near *near, size_t count)
{
    size_t width = forest->lists.width;

    for (size_t k = 0; k < count; k++) {
        forest->lists.row[row * width + k] = near[k].row;
        forest->lists.value[row * width + k] =
            (float)ny_near_distance(forest->knn->spec, near[k].value);
    }
}

static void arrange(struct ny_forest *forest, uint64_t row, const struct walker *walker,
                    size_t count)
{
    ny_near_clear(walker->near, count);
    for (size_t k = 0; k < count; k++)
        ny_near_keep(walker->near, count, (struct ny_near){walker->value[k], walker->other[k]});
    put(forest, row, walker->near, count);
}

/* Rows of which too few candidates are known. */
static int fill_short(struct ny_forest *forest)
{
    const struct ny_knn *knn = forest->knn;
    struct ny_context *ctx = knn->spec->ctx;
    size_t t = knn->neighbors, width = forest->lists.width, count = 0;
    struct ny_near *near = ny_calloc(ctx, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, t * sizeof(*near));
    char *raw = ny_calloc(ctx, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, ny_raw_bytes(knn->spec));
    uint32_t rows[NY_COMPARE_ROWS];
    int err = near && raw ? NY_OK : NY_EBUDGET;

    for (uint64_t i = 0; i <= knn->n && err == NY_OK; i++) {
        if (i < knn->n && forest->lists.row[i * width + t - 1] == NY_NO_ROW) {
            err = knn->X->ops->read(knn->X, knn->spec->slots, i, 1,
                                    raw + count * ny_raw_bytes(knn->spec));
            rows[count++] = (uint32_t)i;
        }
        if (err || !count || (count < NY_COMPARE_ROWS && i < knn->n)) continue;
        err = ny_knn_compare(knn, &(struct ny_knn_again){raw, rows, count, NULL}, near);
        for (size_t k = 0; k < count && err == NY_OK; k++)
            put(forest, rows[k], near + k * t, t);
        count = 0;
    }
    ny_free(ctx, raw);
    ny_free(ctx, near);
    return err;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static int work(void *arg, unsigned worker)
{
    struct walk *walk = arg;
    struct ny_forest *forest = walk->forest;
    struct walker *walker = &walk->walker[worker];
    uint64_t first;
    int err = NY_OK;

    while (err == NY_OK && ny_queue_take(&walk->queue, TAKEN_ROWS, &first)) {
        uint64_t end = first + TAKEN_ROWS < walk->queue.end ? first + TAKEN_ROWS : walk->queue.end;

        err = ny_check_interrupt(forest->knn->spec->ctx);
        for (uint64_t i = first; i < end && err == NY_OK; i++) {
            uint64_t row = forest->row[i];
            size_t count = walk->kind->others(forest, row, walker);

            err = measure(walker, &forest->held, row, count);
            if (err == NY_OK) walk->kind->take(forest, row, walker, count);
        }
        ny_mutex_lock(&walk->queue.lock);
        ny_meter_add(&walk->meter, end - first, 0, 0);
        ny_mutex_unlock(&walk->queue.lock);
    }
    return err;
}

/* Wants as many rows, with their others, as there is room for. */
static uint64_t want_group(struct walk *walk, uint64_t first)
{
    struct ny_forest *forest = walk->forest;
    struct walker *walker = &walk->walker[0];
    uint64_t left = forest->knn->n - first, at = first;

    if (ny_held_all(&forest->held)) return first + (left < GROUP_ROWS ? left : GROUP_ROWS);
    ny_held_clear(&forest->held);
    for (; at < forest->knn->n; at++) {
        size_t count = walk->kind->others(forest, forest->row[at], walker);

        if (!ny_held_want(&forest->held, forest->row[at])) break;
        for (size_t k = 0; k < count; k++)
            if (!ny_held_want(&forest->held, walker->other[k])) return at;
    }
    return at;
}

static int run_groups(struct walk *walk, struct ny_forest_progress progress)
{
    struct ny_forest *forest = walk->forest;
    const struct ny_knn *knn = forest->knn;
    int err = NY_OK;

    for (uint64_t first = progress.first; first < knn->n && err == NY_OK;) {
        double pairs = forest->pairs;

        walk->queue.next = first;
        walk->queue.end = want_group(walk, first);
        err = ny_held_load(&forest->held);
        if (err == NY_OK) err = ny_parallel(knn->spec->ctx, knn->workers, work, walk);
        if (err) forest->pairs = pairs;
        err = ny_forest_pace(forest, &progress, first, walk->queue.end, err);
        first = walk->queue.end;
    }
    return err;
}

static int walk_all(struct ny_forest *forest, const struct walk_kind *kind,
                    struct ny_forest_progress progress)
{
    const struct ny_knn *knn = forest->knn;
    struct ny_context *ctx = knn->spec->ctx;
    struct walk walk = {.forest = forest, .kind = kind};
    int err = ny_forest_route(forest, 0);

    if (err) return ny_forest_keep(forest, &progress, progress.first, err);
    ny_mutex_init(&walk.queue.lock);
    ny_meter_start(&walk.meter, ctx, kind->stage, progress.first, knn->n);
    walk.walker = ny_calloc(ctx, NY_MEM_TILES, knn->workers, sizeof(*walk.walker));
    if (!walk.walker) err = NY_EBUDGET;
    for (unsigned w = 0; w < knn->workers && err == NY_OK; w++)
        err = walker_new(&walk.walker[w], forest);
    if (err == NY_OK) err = run_groups(&walk, progress);
    ny_meter_finish(&walk.meter);
    for (unsigned w = 0; w < knn->workers && walk.walker; w++)
        walker_release(&walk.walker[w], ctx);
    ny_free(ctx, walk.walker);
    ny_mutex_release(&walk.queue.lock);
    return err;
}

int ny_forest_round(struct ny_forest *forest, struct ny_forest_progress progress)
{
    static const struct walk_kind kind = {"refinement", two_steps, offer};

    return walk_all(forest, &kind, progress);
}

int ny_forest_measure(struct ny_forest *forest, struct ny_forest_progress progress)
{
    static const struct walk_kind kind = {"neighbors, in f64", candidates, arrange};
    int err = walk_all(forest, &kind, progress);

    if (err) return err;
    return ny_forest_keep(forest, &progress, forest->knn->n, fill_short(forest));
}
