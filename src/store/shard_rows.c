/*
 * Rows of all shards by their numbers (store/shard.c): each peer reads those that it has, and all
 * get the whole list.
 *
 * Dense rows travel in parcels, in the order of the list. Sparse rows travel packed, so that one
 * full row does not make all of them dear, and in the order in which they lie: then those of a
 * shard are side by side. A lot of them begins with the numbers of their values, by which all peers
 * cut it into the same parcels. Records are made of such rows where they are wanted.
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
        if (rows[i] >= store->shard_first[ny_peers_shards(store->peers)])
            return NY_BUG(store->ctx);
    return NY_OK;
}

/* ---- dense rows ------------------------------------------------------------------------------ */

/* The room for rows that travel together. */
struct parcel {
    struct ny_store *store;
    size_t row_bytes, most; /* rows at a time */
    uint64_t *local;        /* numbers of those that are here */
    char *mine, *all;
    size_t *sizes, *at; /* each shard's bytes, and where its next row is */
};

static int parcel_new(struct parcel *parcel, struct ny_store *store, size_t row_bytes, size_t count)
{
    unsigned shards = ny_peers_shards(store->peers);

    *parcel = (struct parcel){.store = store, .row_bytes = row_bytes};
    parcel->most = NY_PARCEL_BYTES / row_bytes + 1;
    if (parcel->most > count) parcel->most = count;
    parcel->local = ny_calloc(store->ctx, NY_MEM_STORE, parcel->most, sizeof(uint64_t));
    parcel->mine = ny_calloc(store->ctx, NY_MEM_STORE, parcel->most, row_bytes);
    parcel->all = ny_calloc(store->ctx, NY_MEM_STORE, parcel->most, row_bytes);
    parcel->sizes = ny_calloc(store->ctx, NY_MEM_STORE, shards, sizeof(size_t));
    parcel->at = ny_calloc(store->ctx, NY_MEM_STORE, shards, sizeof(size_t));
    return parcel->local && parcel->mine && parcel->all && parcel->sizes && parcel->at ? NY_OK
                                                                                       : NY_EBUDGET;
}

static void parcel_release(struct parcel *parcel)
{
    struct ny_context *ctx = parcel->store->ctx;

    ny_free(ctx, parcel->local);
    ny_free(ctx, parcel->mine);
    ny_free(ctx, parcel->all);
    ny_free(ctx, parcel->sizes);
    ny_free(ctx, parcel->at);
}

/* Gathers rows that fit into the parcel: those that are here are read, and all of them exchanged.
 */
static int send(struct parcel *parcel, const uint64_t *rows, size_t count, char *out)
{
    struct ny_store *store = parcel->store;
    unsigned shards = ny_peers_shards(store->peers), self = ny_peers_shard(store->peers);
    size_t here = 0, row_bytes = parcel->row_bytes;
    int err;

    memset(parcel->sizes, 0, shards * sizeof(*parcel->sizes));
    for (size_t i = 0; i < count; i++) {
        unsigned owner = owner_of(store, rows[i]);

        parcel->sizes[owner] += row_bytes;
        if (owner == self) parcel->local[here++] = rows[i] - store->shard_first[self];
    }
    err = ny_points_gather_here(store, 0, parcel->local, here, parcel->mine);
    if (!err) err = ny_peers_gather(store->peers, parcel->mine, parcel->sizes, parcel->all);
    if (err) return err;
    parcel->at[0] = 0;
    for (unsigned k = 1; k < shards; k++)
        parcel->at[k] = parcel->at[k - 1] + parcel->sizes[k - 1];
    for (size_t i = 0; i < count; i++) {
        size_t *at = &parcel->at[owner_of(store, rows[i])];

        memcpy(out + i * row_bytes, parcel->all + *at, row_bytes);
        *at += row_bytes;
    }
    return NY_OK;
}

/* Gathers dense rows of all shards. */
static int gather_dense(struct ny_store *store, size_t row_bytes, const uint64_t *rows,
                        size_t count, char *out)
{
    struct parcel parcel;
    int err = parcel_new(&parcel, store, row_bytes, count);

    for (size_t first = 0; first < count && !err; first += parcel.most) {
        size_t piece = count - first < parcel.most ? count - first : parcel.most;

        err = send(&parcel, rows + first, piece, out + first * row_bytes);
    }
    parcel_release(&parcel);
    return err;
}

/* ---- sparse rows ----------------------------------------------------------------------------- */

/* A lot of sparse rows, in the order in which they lie: those from `first` to `end` are here. */
struct lot {
    struct ny_store *store;
    enum ny_dtype dtype;
    size_t slots;
    const struct ny_wish *wish; /* `count` of them */
    size_t count, first, end;
    uint64_t *local;            /* numbers of those that are here, from local[first] on */
    uint32_t *values;           /* how many each row has */
    size_t *sizes;              /* each shard's bytes */
    struct ny_sparse_room mine; /* a parcel: the rows that are here, */
    char *all;                  /* and all */
};

static int lot_new(struct lot *lot, struct ny_store *store, const struct ny_rows_info *info,
                   size_t slots, size_t count)
{
    unsigned shards = ny_peers_shards(store->peers);
    size_t most = count < NY_LOT_ROWS ? count : NY_LOT_ROWS;

    *lot = (struct lot){.store = store, .dtype = info->dtype, .slots = slots};
    lot->local = ny_calloc(store->ctx, NY_MEM_STORE, most, sizeof(*lot->local));
    lot->values = ny_calloc(store->ctx, NY_MEM_STORE, most, sizeof(*lot->values));
    lot->sizes = ny_calloc(store->ctx, NY_MEM_STORE, shards, sizeof(*lot->sizes));
    return lot->local && lot->values && lot->sizes ? NY_OK : NY_EBUDGET;
}

static void lot_release(struct lot *lot)
{
    struct ny_context *ctx = lot->store->ctx;

    ny_free(ctx, lot->local);
    ny_free(ctx, lot->values);
    ny_free(ctx, lot->sizes);
    ny_free(ctx, lot->mine.bytes);
    ny_free(ctx, lot->all);
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
    return ny_sparse_room_put(&lot->mine, lot->dtype, row, &view) ? NY_OK
                                                                  : NY_BUG(lot->store->ctx);
}

/* Returns the end of the parcel that begins at `from`, and sets the bytes of each shard in it, and
 * of all. */
static size_t next_parcel(struct lot *lot, size_t from, size_t *bytes)
{
    size_t to = from, row;

    memset(lot->sizes, 0, ny_peers_shards(lot->store->peers) * sizeof(*lot->sizes));
    for (*bytes = 0; to < lot->count; to++) {
        row = ny_sparse_bytes(lot->dtype, lot->values[to]);
        if (to > from && *bytes + row > NY_PARCEL_BYTES) break;
        *bytes += row;
        lot->sizes[owner_of(lot->store, lot->wish[to].row)] += row;
    }
    return to;
}

/* Makes room for a parcel. */
static int reserve(struct lot *lot, size_t bytes)
{
    struct ny_context *ctx = lot->store->ctx;

    lot->mine.used = 0;
    if (bytes <= lot->mine.size) return NY_OK;
    ny_free(ctx, lot->mine.bytes);
    ny_free(ctx, lot->all);
    lot->mine.bytes = ny_alloc(ctx, NY_MEM_STORE, bytes);
    lot->all = ny_alloc(ctx, NY_MEM_STORE, bytes);
    lot->mine.size = bytes;
    return lot->mine.bytes && lot->all ? NY_OK : NY_EBUDGET;
}

/* Exchanges the rows from `from` to `to`. */
static int exchange(struct lot *lot, size_t from, size_t to)
{
    size_t first = from > lot->first ? from : lot->first, end = to < lot->end ? to : lot->end;
    int err = NY_OK;

    if (first < end)
        err = ny_points_visit_here(lot->store, lot->slots, lot->local + first, end - first,
                                   take_row, lot);
    return err ? err : ny_peers_gather(lot->store->peers, lot->mine.bytes, lot->sizes, lot->all);
}

/* Shows the rows of the lot. */
static int show(struct lot *lot, ny_gathered_fn *take, void *arg)
{
    int err = tell_counts(lot);

    for (size_t from = 0, to, bytes; !err && from < lot->count; from = to) {
        const char *at;

        to = next_parcel(lot, from, &bytes);
        err = reserve(lot, bytes);
        if (!err) err = exchange(lot, from, to);
        at = lot->all;
        for (size_t i = from; !err && i < to; i++) {
            err = take(arg, lot->wish[i].position, ny_sparse_packed(at, lot->values[i]));
            at += ny_sparse_bytes(lot->dtype, lot->values[i]);
        }
    }
    return err;
}

/* Shows sparse rows of all shards. */
static int visit_all(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                     ny_gathered_fn *take, void *arg)
{
    struct ny_wish *wishes;
    struct ny_rows_info info;
    struct lot lot = {.store = store};
    int err;

    if (!count) return NY_OK;
    wishes = ny_calloc(store->ctx, NY_MEM_STORE, count, sizeof(*wishes));
    err = wishes ? ny_points_info(store, &info) : NY_EBUDGET;
    if (!err) err = check_rows(store, rows, count);
    if (!err) err = lot_new(&lot, store, &info, slots, count);
    for (size_t i = 0; !err && i < count; i++)
        wishes[i] = (struct ny_wish){rows[i], i};
    if (!err) ny_wishes_sort(wishes, count);
    for (size_t first = 0; !err && first < count; first += lot.count) {
        lot_begin(&lot, wishes + first, count - first < NY_LOT_ROWS ? count - first : NY_LOT_ROWS);
        err = show(&lot, take, arg);
    }
    lot_release(&lot);
    ny_free(store->ctx, wishes);
    return err;
}

int ny_points_visit(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                    ny_gathered_fn *take, void *arg)
{
    return store->peers ? visit_all(store, slots, rows, count, take, arg)
                        : ny_points_visit_here(store, slots, rows, count, take, arg);
}

/* ---- either ---------------------------------------------------------------------------------- */

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
    struct ny_rows_info info;
    int err = ny_points_info(store, &info);

    if (!err) err = check_rows(store, rows, count);
    if (err || !count) return err;
    records.dtype = info.dtype;
    records.row_bytes = ny_row_bytes(info.dtype, (size_t)info.d, slots);
    return slots ? visit_all(store, slots, rows, count, take_record, &records)
                 : gather_dense(store, records.row_bytes, rows, count, out);
}

int ny_points_gather(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                     void *out)
{
    return store->peers ? gather_all(store, slots, rows, count, out)
                        : ny_points_gather_here(store, slots, rows, count, out);
}
