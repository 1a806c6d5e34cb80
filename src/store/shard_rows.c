/*
 * Rows of all shards by their numbers (store/shard.c): each peer reads those that it has, and all
 * get the whole list.
 *
 * Rows travel in the order in which they lie, so that those of a shard are side by side, lot by
 * lot: dense ones as they are, and sparse ones packed, so that one full row does not make all of
 * them dear. A lot of sparse rows begins with the numbers of their values, by which all peers cut
 * it into the same parcels. Records are made of such rows where they are wanted.
 */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"
#include "stream/wishes.h"

/* Returns the shard that has a row. */
static unsigned owner_of(const struct ny_store *store, uint64_t row)
{
    return (unsigned)ny_range_of(store->shard_first, ny_peers_shards(store->peers), row);
}

static int check_rows(struct ny_store *store, const uint64_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= store->shard_first[ny_peers_shards(store->peers)]) return NY_BUG(store->ctx);
    return NY_OK;
}

/* ---- a lot ------------------------------------------------------------------------------------
 */

/* Rows in the order in which they lie: those from `first` to `end` are here. */
struct lot {
    struct ny_store *store;
    enum ny_dtype dtype;
    size_t slots, row_bytes;    /* of sparse rows; of dense ones, and 0 slots */
    const struct ny_wish *wish; /* `count` of them */
    size_t count, first, end, most;
    uint64_t *local;  /* numbers of those that are here, from local[first] on */
    uint32_t *values; /* how many each row has; of sparse rows */
    size_t *sizes;    /* each shard's bytes */
    struct ny_layout own, parcel;
    struct ny_sparse_room mine; /* a parcel: the rows that are here, */
    char *all;                  /* and all */
};

/* Lays out what a lot of no more than `count` rows of these points takes. */
static void lay_lot(struct ny_layout *l, struct lot *lot, const struct ny_rows_info *info,
                    unsigned shards, size_t count)
{
    lot->dtype = info->dtype;
    lot->row_bytes = ny_row_bytes(info->dtype, (size_t)info->d, lot->slots);
    lot->most = lot->slots ? NY_LOT_ROWS : NY_PARCEL_BYTES / lot->row_bytes + 1;
    if (lot->most > count) lot->most = count;
    lot->local = ny_lay(l, NY_MEM_STORE, lot->most, sizeof(*lot->local));
    if (lot->slots) lot->values = ny_lay(l, NY_MEM_STORE, lot->most, sizeof(*lot->values));
    lot->sizes = ny_lay(l, NY_MEM_STORE, shards, sizeof(*lot->sizes));
}

/* Lays out a parcel. */
static void lay_parcel(struct ny_layout *l, struct lot *lot, size_t bytes)
{
    lot->mine.bytes = ny_lay(l, NY_MEM_STORE, bytes, 1);
    lot->all = ny_lay(l, NY_MEM_STORE, bytes, 1);
    lot->mine.size = bytes;
}

void ny_points_travel_count(struct ny_layout *l, const struct ny_rows_info *info, unsigned shards)
{
    size_t slots = (size_t)info->row_slots, row = ny_row_bytes(info->dtype, (size_t)info->d, 0);
    struct lot lot = {.slots = slots};

    if (!row) return;
    lay_lot(l, &lot, info, shards, SIZE_MAX);
    ny_lay(l, NY_MEM_STORE, lot.most, sizeof(struct ny_wish));
    lay_parcel(l, &lot, NY_PARCEL_BYTES + (slots ? ny_sparse_bytes(info->dtype, slots) : row));
}

/* Makes `wish` the rows of the lot, and finds those that are here. */
static void lot_begin(struct lot *lot, const struct ny_wish *wish, size_t count)
{
    const struct ny_store *store = lot->store;
    unsigned self = ny_peers_shard(store->peers);
    uint64_t first = store->shard_first[self], end = store->shard_first[self + 1];

    lot->wish = wish;
    lot->count = count;
    for (lot->first = 0; lot->first < count && wish[lot->first].row < first;)
        lot->first++;
    for (lot->end = lot->first; lot->end < count && wish[lot->end].row < end; lot->end++)
        lot->local[lot->end] = wish[lot->end].row - first;
}

static int take_count(void *arg, size_t position, struct ny_sparse row)
{
    const struct lot *lot = arg;

    lot->values[lot->first + position] = (uint32_t)row.count;
    return NY_OK;
}

/* Has all peers know how many values each row has. */
static int tell_counts(struct lot *lot)
{
    struct ny_store *store = lot->store;
    int err = ny_points_visit_here(store, lot->slots, lot->local + lot->first,
                                   lot->end - lot->first, take_count, lot);

    memset(lot->sizes, 0, ny_peers_shards(store->peers) * sizeof(*lot->sizes));
    for (size_t i = 0; i < lot->count; i++)
        lot->sizes[owner_of(store, lot->wish[i].row)] += sizeof(*lot->values);
    return err ? err
               : ny_peers_gather(store->peers, lot->values + lot->first, lot->sizes, lot->values);
}

static int take_row(void *arg, size_t position, struct ny_sparse row)
{
    struct lot *lot = arg;
    struct ny_sparse view;

    (void)position; /* they come in the order in which they lie */
    return ny_sparse_room_put(&lot->mine, lot->dtype, row, &view) ? NY_OK : NY_BUG(lot->store->ctx);
}

/* Returns the bytes of a row on its way. */
static size_t bytes_of(const struct lot *lot, size_t i)
{
    return lot->slots ? ny_sparse_bytes(lot->dtype, lot->values[i]) : lot->row_bytes;
}

/* Returns the end of the parcel that begins at `from`, and sets the bytes of each shard in it, and
 * of all. */
static size_t next_parcel(struct lot *lot, size_t from, size_t *bytes)
{
    size_t to = from, row;

    memset(lot->sizes, 0, ny_peers_shards(lot->store->peers) * sizeof(*lot->sizes));
    for (*bytes = 0; to < lot->count; to++) {
        row = bytes_of(lot, to);
        if (to > from && *bytes + row > NY_PARCEL_BYTES) break;
        *bytes += row;
        lot->sizes[owner_of(lot->store, lot->wish[to].row)] += row;
    }
    return to;
}

/* Makes room for a parcel. */
static int reserve(struct lot *lot, size_t bytes)
{
    lot->mine.used = 0;
    if (bytes <= lot->mine.size) return NY_OK;
    ny_layout_free(&lot->parcel);
    lay_parcel(&lot->parcel, lot, bytes);
    return lot->parcel.err;
}

/* Exchanges the rows from `from` to `to`. */
static int exchange(struct lot *lot, size_t from, size_t to)
{
    size_t first = from > lot->first ? from : lot->first, end = to < lot->end ? to : lot->end;
    int err = NY_OK;

    if (first < end && lot->slots)
        err = ny_points_visit_here(lot->store, lot->slots, lot->local + first, end - first,
                                   take_row, lot);
    else if (first < end)
        err =
            ny_points_gather_here(lot->store, 0, lot->local + first, end - first, lot->mine.bytes);
    return err ? err : ny_peers_gather(lot->store->peers, lot->mine.bytes, lot->sizes, lot->all);
}

/* Who gets the rows: a function, or, of dense rows, an array. */
struct taker {
    ny_gathered_fn *take;
    void *arg;
    char *out;
};

/* Hands over the rows of the lot. */
static int show(struct lot *lot, const struct taker *taker)
{
    int err = lot->slots ? tell_counts(lot) : NY_OK;

    for (size_t from = 0, to, bytes; !err && from < lot->count; from = to) {
        const char *at;

        to = next_parcel(lot, from, &bytes);
        err = reserve(lot, bytes);
        if (!err) err = exchange(lot, from, to);
        at = lot->all;
        for (size_t i = from; !err && i < to; at += bytes_of(lot, i++)) {
            size_t position = lot->wish[i].position;

            if (lot->slots)
                err = taker->take(taker->arg, position, ny_sparse_packed(at, lot->values[i]));
            else
                memcpy(taker->out + position * lot->row_bytes, at, lot->row_bytes);
        }
    }
    return err;
}

/* Shows rows of all shards. */
static int visit_all(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                     const struct taker *taker)
{
    struct ny_wish *wishes;
    struct ny_stored_points points;
    struct lot lot = {
        .store = store, .own.ctx = store->ctx, .parcel.ctx = store->ctx, .slots = slots};
    int err = count ? ny_points_stored_all(store, &points) : NY_OK;

    if (err || !count) return err;
    wishes = ny_lay(&lot.own, NY_MEM_STORE, count, sizeof(*wishes));
    lay_lot(&lot.own, &lot, &points.rows, ny_peers_shards(store->peers), count);
    err = lot.own.err ? lot.own.err : check_rows(store, rows, count);
    for (size_t i = 0; !err && i < count; i++)
        wishes[i] = (struct ny_wish){rows[i], i};
    if (!err) ny_wishes_sort(wishes, count);
    for (size_t first = 0; !err && first < count; first += lot.count) {
        lot_begin(&lot, wishes + first, count - first < lot.most ? count - first : lot.most);
        err = show(&lot, taker);
    }
    ny_layout_free(&lot.parcel);
    ny_layout_free(&lot.own);
    return err;
}

int ny_points_visit(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                    ny_gathered_fn *take, void *arg)
{
    struct ny_store *store = ny_store_of(X);

    return store->peers
               ? visit_all(store, slots, rows, count, &(struct taker){.take = take, .arg = arg})
               : ny_points_visit_here(store, slots, rows, count, take, arg);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Records that rows are packed into, one after another. */
struct records {
    enum ny_dtype dtype;
    size_t slots, row_bytes;
    char *out;
};

static int take_record(void *arg, size_t position, struct ny_sparse row)
{
    const struct records *records = arg;

    ny_sparse_pack(records->out + position * records->row_bytes, records->slots, records->dtype,
                   row);
    return NY_OK;
}

/* Gathers rows of all shards. */
static int gather_all(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                      void *out)
{
    struct records records = {.slots = slots, .out = out};
    struct taker taker = {take_record, &records, out};
    struct ny_stored_points points;
    int err = ny_points_stored_all(store, &points);

    if (err) return err;
    records.dtype = points.rows.dtype;
    records.row_bytes = ny_row_bytes(points.rows.dtype, (size_t)points.rows.d, slots);
    return visit_all(store, slots, rows, count, &taker);
}

int ny_points_gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    struct ny_store *store = ny_store_of(X);

    return store->peers ? gather_all(store, slots, rows, count, out)
                        : ny_points_gather_here(store, slots, rows, count, out);
}
