/*
 * Opens the shards of a store as a set (shards/set.h). Their stores are opened when they are asked
 * for, and a few are kept open: a process can have so many environments and no more, and pictures
 * and samples go through the rows in order.
 */
#include "shards/set.h"

#include <string.h>

#include "base/memory.h"

enum { OPEN_MAX = 8 };

/* A store that is open. */
struct kept {
    struct ny_store *store; /* NULL: none */
    size_t k;
    uint64_t used; /* when it was asked for last */
};

struct opened {
    struct ny_set set;
    struct ny_shards *shards;
    unsigned *number; /* that of the shard, for each store of the set */
    struct kept kept[OPEN_MAX];
    uint64_t clock;
};

/* Opens the k-th store, in place of the one that was not used for the longest time. */
static int open_store(void *arg, size_t k, struct ny_store **store)
{
    struct opened *opened = arg;
    const struct ny_shards *shards = opened->shards;
    struct kept *oldest = opened->kept;
    int err;

    for (size_t i = 0; i < OPEN_MAX; i++) {
        struct kept *kept = &opened->kept[i];

        if (kept->store && kept->k == k) {
            kept->used = ++opened->clock;
            *store = kept->store;
            return NY_OK;
        }
        if (oldest->store && (!kept->store || kept->used < oldest->used)) oldest = kept;
    }
    ny_store_close(oldest->store);
    *oldest = (struct kept){.k = k, .used = ++opened->clock};
    err = ny_store_open(&oldest->store, shards->ctx, shards->shard[opened->number[k]].path);
    *store = oldest->store;
    return err;
}

static void close_all(void *arg)
{
    struct opened *opened = arg;
    struct ny_context *ctx = opened->shards->ctx;

    for (size_t i = 0; i < OPEN_MAX; i++)
        ny_store_close(opened->kept[i].store);
    ny_shards_free(opened->shards);
    ny_free(ctx, opened);
}

/* Adds the points of one store to those of the set. */
static void add_points(struct ny_rows_info *all, const struct ny_rows_info *one)
{
    all->n += one->n;
    all->blocks += one->blocks;
    all->nnz += one->nnz;
    all->raw_bytes += one->raw_bytes;
    all->stored_bytes += one->stored_bytes;
    all->dropped += one->dropped;
    all->lost += one->lost;
    ny_lengths_add(&all->lengths, &one->lengths);
    if (one->row_slots > all->row_slots) all->row_slots = one->row_slots;
    if (one->block_nnz > all->block_nnz) all->block_nnz = one->block_nnz;
    if (one->block_rows < all->block_rows) all->block_rows = one->block_rows;
}

/* Counts the rows of all shards that are there as they are now; they stay the set's. */
static int count_rows(struct opened *opened, uint64_t *first, uint64_t *source)
{
    const struct ny_shards *shards = opened->shards;
    struct ny_set *set = &opened->set;
    int err = NY_OK;

    for (unsigned number = 0; !err && number < shards->count; number++) {
        struct ny_rows_info info;
        struct ny_store *store;

        if (!shards->shard[number].there) continue;
        opened->number[set->count] = number;
        err = open_store(opened, set->count, &store);
        if (!err) err = ny_points_info(store, &info);
        if (err) return err;
        if (set->count == 0)
            set->info = info;
        else
            add_points(&set->info, &info);
        set->count++;
        first[set->count] = first[set->count - 1] + info.n;
        source[set->count] = source[set->count - 1] + info.n + info.dropped;
    }
    return err;
}

/* Opens those that are there; takes `shards` over, also after a failure. */
static int open_there(struct ny_store **out, struct ny_shards *shards)
{
    size_t room = (size_t)shards->there + 1;
    struct ny_context *ctx = shards->ctx;
    struct opened *opened = ny_calloc(
        ctx, NY_MEM_STORE, 1, sizeof(*opened) + room * (2 * sizeof(uint64_t) + sizeof(unsigned)));
    uint64_t *first = (uint64_t *)(void *)(opened + 1);
    int err;

    *out = NULL;
    if (!opened) {
        ny_shards_free(shards);
        return NY_EBUDGET;
    }
    opened->shards = shards;
    opened->number = (unsigned *)(void *)(first + 2 * room);
    opened->set = (struct ny_set){.first = first,
                                  .source = first + room,
                                  .open = open_store,
                                  .close = close_all,
                                  .arg = opened};
    err = count_rows(opened, first, first + room);
    if (!err) err = ny_store_open_set(out, ctx, shards->path, &opened->set);
    if (err) close_all(opened);
    return err;
}

int ny_shards_open(struct ny_store **out, struct ny_context *ctx, const char *path)
{
    struct ny_shards *shards;
    int err;

    *out = NULL;
    if (!ny_shards_at(path)) return ny_store_open(out, ctx, path);
    err = ny_shards_read(&shards, ctx, path);
    if (err) return err;
    err = ny_shards_complete(shards);
    if (!err) return open_there(out, shards);
    ny_shards_free(shards);
    return err;
}

int ny_shards_open_some(struct ny_store **out, struct ny_context *ctx, const char *path)
{
    struct ny_shards *shards;
    int err;

    *out = NULL;
    if (!ny_shards_at(path)) return ny_store_open(out, ctx, path);
    err = ny_shards_read(&shards, ctx, path);
    return err ? err : open_there(out, shards);
}

int ny_shards_each(struct ny_context *ctx, const char *path, enum ny_shards_way way,
                   ny_shard_fn *each, void *arg)
{
    char missing[NY_SHARD_LIST_BYTES];
    struct ny_shards *shards;
    int err;

    if (!ny_shards_at(path)) return each(arg, path, NULL, -1);
    err = way == NY_SHARDS_CHANGE ? ny_shards_read(&shards, ctx, path)
                                  : ny_shards_load(&shards, ctx, path);
    if (err) return err;
    shards->accepts = way == NY_SHARDS_MEND;
    shards->there = 0;
    for (unsigned k = 0; !err && k < shards->count; k++) {
        bool made = ny_shards_made(shards, k);

        if (made) err = each(arg, shards->shard[k].path, shards, (int)k);
        shards->shard[k].there = made;
        shards->there += made;
    }
    if (!err && way != NY_SHARDS_VERIFY)
        ny_shards_note(ctx, path, (struct ny_shards_noted){.accepts = shards->accepts});
    if (!err && shards->there < shards->count)
        ny_log(ctx, NY_LOG_WARNING, "shards of %s that are not here are left out: %s", path,
               ny_shards_missing(shards, missing));
    ny_shards_free(shards);
    return err;
}

const struct ny_shards *ny_shards_of(const struct ny_store *store)
{
    const struct ny_set *set = ny_store_set(store);

    return set ? ((const struct opened *)set->arg)->shards : NULL;
}

unsigned ny_shards_number(const struct ny_store *store, size_t k)
{
    const struct opened *opened = ny_store_set(store)->arg;

    return opened->number[k];
}
