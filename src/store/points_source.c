/*
 * The points of a store as a source. Blocks are decoded once, by whichever worker needs them first,
 * into a small ring that all workers copy their strips from.
 */
#include <string.h>

#include "base/mutex.h"
#include "store/store_private.h"
#include "stream/source.h"

enum { AHEAD_BYTES = 8 << 20, AHEAD_BLOCKS_MIN = 2 };

/* A slot of the ring. A slot is `users` workers' to read from when `ready`; the worker that decodes
 * it counts as one. */
struct slot {
    uint64_t block; /* NO_BLOCK: empty */
    unsigned users;
    bool ready;
    uint64_t used_at; /* the slot used longest ago is reused first */
    char *rows;       /* or the room of a sparse block */
};

_Static_assert(sizeof(struct slot) <= NY_RING_SLOT_BYTES, "ny_rows_source_count() counts them");

static const uint64_t no_block = UINT64_MAX;

struct points_source {
    struct ny_source base;
    struct ny_store *store;
    struct ny_layout own;
    struct ny_stored_points points; /* with the n of the pass, lost rows between them included */
    const struct ny_lost *lost;     /* rows that are skipped */
    size_t row_bytes;
    uint64_t ahead_blocks, asked;    /* blocks < asked were asked for, */
    const struct ny_store *ahead_of; /* of this store */
    struct ny_mutex lock;
    struct ny_cond changed;
    uint64_t clock;
    unsigned slots;
    struct slot *slot;
    size_t mapped_bytes; /* reserved for the blocks that are being decoded */
};

/* Says where a row lies: `run` rows follow one another in its block, itself included. */
struct spot {
    struct ny_store *store;
    uint64_t block, in_block, run;
    uint64_t number; /* of the block, among those of all stores */
};

/* Finds a row. Those that were lost are no part of the numbering (ny_lost_place()); a set has none,
 * and blocks of its own size in each store. */
static int locate(const struct points_source *source, uint64_t row, struct spot *spot)
{
    const struct ny_set *set = source->store->set;
    uint64_t place, block_rows = source->points.rows.block_rows;
    int err = NY_OK;

    spot->store = source->store;
    spot->number = 0;
    if (set) {
        size_t k = ny_range_of(set->first, set->count, row);

        err = ny_set_store(source->store, k, &spot->store);
        place = row - set->first[k];
        spot->run = set->first[k + 1] - row;
        block_rows = set->block_rows[k];
        spot->number = set->block_first[k];
    } else {
        place = ny_lost_place(source->lost, row, &spot->run);
    }
    spot->block = place / block_rows;
    spot->number += spot->block;
    spot->in_block = place % block_rows;
    if (spot->run > block_rows - spot->in_block) spot->run = block_rows - spot->in_block;
    return err;
}

/* Sets the rows of a unit and asks the store to read its blocks, and some beyond, from disk. */
static int take(struct ny_source *base, struct ny_tile *tile)
{
    struct points_source *source = (struct points_source *)base;
    struct spot first, last;
    uint64_t left, next;
    int err;

    if (tile->first_row >= base->n) return NY_END;
    left = base->n - tile->first_row;
    tile->rows = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
    if (tile->skipped) return NY_OK;
    err = locate(source, tile->first_row, &first);
    if (!err) err = locate(source, tile->first_row + tile->rows - 1, &last);
    if (err) return err;
    next = last.block + 1 + source->ahead_blocks; /* those behind the last are no harm */
    if (source->ahead_of != last.store) source->asked = 0;
    source->ahead_of = last.store;
    if (first.store == last.store && source->asked < first.block) source->asked = first.block;
    if (next > source->asked) {
        ny_points_will_need(last.store, source->asked, next - source->asked);
        source->asked = next;
    }
    return NY_OK;
}

/* The slot that holds `block`, or an unused one to decode it into, or NULL: all are in use. */
static struct slot *find_slot(struct points_source *source, uint64_t block)
{
    struct slot *oldest = NULL;

    for (unsigned i = 0; i < source->slots; i++) {
        struct slot *slot = &source->slot[i];

        if (slot->block == block) return slot;
        if (!slot->users && (!oldest || slot->used_at < oldest->used_at)) oldest = slot;
    }
    return oldest;
}

/* Decodes the block into the slot, without the lock; the pages behind it are given back. */
static int decode(struct points_source *source, struct slot *slot, const struct spot *spot)
{
    struct ny_stored_points points = source->points;
    size_t count;
    int err = spot->store == source->store ? NY_OK : ny_points_stored(spot->store, &points);

    if (!err)
        err = points.rows.row_slots
                  ? ny_points_read_sparse(spot->store, &points, spot->block, slot->rows, &count)
                  : ny_points_read_block(spot->store, spot->block, slot->rows, &count);
    ny_points_done_with(spot->store, spot->block, 1);
    ny_mutex_lock(&source->lock);
    if (err) slot->block = no_block;
    slot->ready = err == NY_OK;
    ny_cond_broadcast(&source->changed);
    return err;
}

/* Enters and leaves with the lock held. There are more slots than workers and a worker holds at
 * most one, so a free one always comes. */
static int pin(struct points_source *source, const struct spot *spot, struct slot **out)
{
    for (;;) {
        struct slot *slot = find_slot(source, spot->number);
        int err;

        if (slot && slot->block != spot->number) {
            *slot = (struct slot){.block = spot->number, .users = 1, .rows = slot->rows};
            ny_mutex_unlock(&source->lock);
            *out = slot;
            err = decode(source, slot, spot);
            if (err) slot->users--;
            return err;
        }
        if (slot && slot->ready) {
            slot->users++;
            *out = slot;
            return NY_OK;
        }
        ny_cond_wait(&source->changed, &source->lock);
    }
}

/* Gives a slot back; workers that wait for a slot look again. */
static void unpin(struct points_source *source, struct slot *slot)
{
    slot->users--;
    slot->used_at = ++source->clock;
    ny_cond_broadcast(&source->changed);
}

/* Takes rows first … first+count−1 of a decoded block. */
typedef int take_rows_fn(const struct points_source *source, const struct slot *slot,
                         uint64_t first, size_t count, void *arg);

/* Refuses a row that has more values than the slots of the source. */
static int check_row(const struct ny_source *base, struct ny_sparse row)
{
    if (row.count <= base->slots) return NY_OK;
    return NY_BUG(base->ctx);
}

/* Copies them to *arg, which is a char *, and moves it on. */
static int copy_rows(const struct points_source *source, const struct slot *slot, uint64_t first,
                     size_t count, void *arg)
{
    const struct ny_source *base = &source->base;
    char *out = *(char **)arg;

    *(char **)arg += count * source->row_bytes;
    if (!base->slots) {
        memcpy(out, slot->rows + first * source->row_bytes, count * source->row_bytes);
        return NY_OK;
    }
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = ny_sparse_block_row(slot->rows, first + i);
        int err = check_row(base, row);

        if (err) return err;
        ny_sparse_pack(out + i * source->row_bytes, base->slots, base->dtype, row);
    }
    return NY_OK;
}

/* Whoever looks at the rows where they are. */
struct visitor {
    ny_sparse_row_fn *row;
    void *arg;
};

static int show_rows(const struct points_source *source, const struct slot *slot, uint64_t first,
                     size_t count, void *arg)
{
    const struct visitor *visitor = arg;
    int err = NY_OK;

    for (size_t i = 0; i < count && !err; i++) {
        struct ny_sparse row = ny_sparse_block_row(slot->rows, first + i);

        err = check_row(&source->base, row);
        if (!err) err = visitor->row(visitor->arg, row);
    }
    return err;
}

/* Takes rows of one or several blocks, each pinned while its rows are taken, outside of the lock.
 */
static int take_rows(struct points_source *source, uint64_t row, size_t count, take_rows_fn *each,
                     void *arg)
{
    while (count > 0) {
        struct spot spot;
        struct slot *slot;
        int err = locate(source, row, &spot);
        size_t piece = count < spot.run ? count : (size_t)spot.run;

        if (err) return err;
        ny_mutex_lock(&source->lock);
        err = pin(source, &spot, &slot);
        ny_mutex_unlock(&source->lock);
        if (err) return err;
        err = each(source, slot, spot.in_block, piece, arg);
        ny_mutex_lock(&source->lock);
        unpin(source, slot);
        ny_mutex_unlock(&source->lock);
        if (err) return err;
        row += piece;
        count -= piece;
    }
    return NY_OK;
}

static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    char *out = rows;

    return take_rows((struct points_source *)base, tile->first_row + first, count, copy_rows, &out);
}

static int visit(struct ny_source *base, const struct ny_tile *tile, size_t first,
                 ny_sparse_row_fn *row, void *arg)
{
    struct visitor visitor = {row, arg};
    int err = take_rows((struct points_source *)base, tile->first_row + first, tile->rows - first,
                        show_rows, &visitor);

    return err == NY_END ? NY_OK : err;
}

static void release(struct ny_source *base)
{
    struct points_source *source = (struct points_source *)base;

    ny_cond_release(&source->changed);
    ny_mutex_release(&source->lock);
    ny_layout_free(&source->own);
    ny_unreserve(base->ctx, NY_MEM_STORE, source->mapped_bytes);
    ny_free(base->ctx, source);
}

/* Allocates one slot a worker and one more, and reserves the mapped pages of the blocks that are
 * decoded. */
static int allocate_slots(struct points_source *source, size_t block_bytes)
{
    size_t mapped = block_bytes * (source->slots - 1);
    char *memory;

    if (ny_reserve(source->base.ctx, NY_MEM_STORE, mapped)) return NY_EBUDGET;
    source->mapped_bytes = mapped;
    source->slot = ny_lay(&source->own, NY_MEM_STORE, source->slots, sizeof(*source->slot));
    memory = ny_lay(&source->own, NY_MEM_STORE, source->slots, block_bytes);
    for (unsigned i = 0; memory && i < source->slots; i++)
        source->slot[i] = (struct slot){.block = no_block, .rows = memory + i * block_bytes};
    return source->own.err;
}

int ny_points_pass(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                   struct ny_source **out)
{
    struct ny_store *store = ny_store_of(X);
    static const struct ny_source_ops ops = {take, strip, release, visit};
    struct ny_context *ctx = store->ctx;
    struct ny_stored_points points;
    struct ny_rows_info *info = &points.rows;
    struct points_source *source;
    uint64_t run;
    double stored;
    int err;

    *out = NULL;
    err = ny_points_stored(store, &points);
    if (err) return err;
    if ((info->row_slots > 0) != (slots > 0)) return NY_BUG(ctx);
    if (n > info->here.end) n = info->here.end; /* the others are in other shards */
    n = n > info->here.first ? n - info->here.first : 0;
    info->n = ny_rows_here(info);
    source = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*source));
    if (!source) return NY_EBUDGET;
    stored = (double)info->kept_bytes / (double)(info->n ? info->n : 1);
    source->base = (struct ny_source){.ops = &ops,
                                      .ctx = ctx,
                                      .dtype = info->dtype,
                                      .d = (size_t)info->d,
                                      .slots = slots,
                                      .n = n,
                                      .stored_bytes_per_row = stored};
    source->store = store;
    source->own.ctx = ctx;
    source->points = points;
    source->lost = &store->skipped;
    source->points.rows.n = n ? ny_lost_place(source->lost, n - 1, &run) + 1 : 0;
    source->row_bytes = ny_row_bytes(info->dtype, (size_t)info->d, slots);
    source->ahead_blocks = (uint64_t)(AHEAD_BYTES / (stored * (double)info->block_rows + 1));
    if (source->ahead_blocks < AHEAD_BLOCKS_MIN) source->ahead_blocks = AHEAD_BLOCKS_MIN;
    source->slots = workers + 1;
    ny_mutex_init(&source->lock);
    ny_cond_init(&source->changed);
    err = allocate_slots(source, info->block_bytes);
    if (err)
        release(&source->base);
    else
        *out = &source->base;
    return err;
}
