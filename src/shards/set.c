/*
 * Opens the shards of a store as a set (shards/open.h). Their stores are opened when they are asked
 * for, and a few are kept open: a process can have so many environments and no more, and pictures
 * and samples go through the rows in order.
 */
#include "shards/open.h"

#include "base/checksum.h"
#include "base/memory.h"

enum { OPEN_MAX = 8, STEADY_MAX = 1000 }; /* a process can have 1,024 stores */

/* A store that is open. */
struct kept {
    struct ny_store *store; /* NULL: none */
    size_t k;
    uint64_t used; /* when it was asked for last */
};

struct opened {
    struct ny_set set;
    struct ny_shards *shards;
    unsigned *number;  /* that of the shard, for each store of the set */
    struct kept *kept; /* OPEN_MAX of them, or one for each store: */
    bool all;          /* then they stay open, and are only read, by any threads */
    uint64_t clock;
};

/* Opens the k-th store, in place of the one that was not used for the longest time. */
static int open_store(void *arg, size_t k, struct ny_store **store)
{
    struct opened *opened = arg;
    const struct ny_shards *shards = opened->shards;
    struct kept *oldest = opened->kept;
    int err;

    if (opened->all) {
        oldest = &opened->kept[k];
        *store = oldest->store;
        if (*store) return NY_OK;
    }
    for (size_t i = 0; !opened->all && i < OPEN_MAX; i++) {
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

    for (size_t i = 0; i < (opened->all ? opened->set.count : OPEN_MAX); i++)
        ny_store_close(opened->kept[i].store);
    ny_shards_free(opened->shards);
    ny_free(ctx, opened);
}

/* Adds the points of one store to those of the set. */
static void add_points(struct ny_stored_points *all, const struct ny_stored_points *one)
{
    struct ny_rows_info *rows = &all->rows;
    const struct ny_rows_info *more = &one->rows;

    all->blocks += one->blocks;
    all->dropped += one->dropped;
    if (one->block_nnz > all->block_nnz) all->block_nnz = one->block_nnz;
    rows->n += more->n;
    rows->nnz += more->nnz;
    rows->kept_bytes += more->kept_bytes;
    rows->lost += more->lost;
    ny_lengths_add(&rows->lengths, &more->lengths);
    if (more->row_slots > rows->row_slots) rows->row_slots = more->row_slots;
    if (more->block_rows < rows->block_rows) rows->block_rows = more->block_rows;
}

/* Counts the rows of all shards that are there as they are now; they stay the set's. `room`: of
 * each of the arrays. */
static int count_rows(struct opened *opened, uint64_t *first, size_t room)
{
    const struct ny_shards *shards = opened->shards;
    struct ny_set *set = &opened->set;
    uint64_t *source = first + room, *block_first = source + room, *block_rows = block_first + room;
    int err = NY_OK;

    for (unsigned number = 0; !err && number < shards->count; number++) {
        struct ny_stored_points points;
        const struct ny_rows_info *rows = &points.rows;
        struct ny_store *store;
        uint64_t ids[2];

        if (!shards->shard[number].there) continue;
        opened->number[set->count] = number;
        err = open_store(opened, set->count, &store);
        if (!err) err = ny_points_stored(store, &points);
        if (err) return err;
        if (set->count == 0)
            set->points = points;
        else
            add_points(&set->points, &points);
        block_rows[set->count++] = rows->block_rows;
        block_first[set->count] = block_first[set->count - 1] + points.blocks;
        if (rows->block_bytes > set->block_bytes) set->block_bytes = rows->block_bytes;
        first[set->count] = first[set->count - 1] + rows->n;
        source[set->count] = source[set->count - 1] + rows->n + points.dropped;
        ids[0] = set->digest;
        ids[1] = ny_checksum(points.id, sizeof(points.id));
        set->digest = ny_checksum(ids, sizeof(ids));
    }
    return err;
}

/* Opens those that are there; takes `shards` over, also after a failure. `all`: they stay open. */
static int open_there(struct opened **out, struct ny_shards *shards, bool all)
{
    size_t room = (size_t)shards->there + 1, kept = all ? room : OPEN_MAX;
    struct ny_context *ctx = shards->ctx;
    struct opened *opened = ny_calloc(ctx, NY_MEM_STORE, 1,
                                      sizeof(*opened) + kept * sizeof(struct kept) +
                                          room * (4 * sizeof(uint64_t) + sizeof(unsigned)));
    uint64_t *first;
    int err = opened ? NY_OK : NY_EBUDGET;

    *out = NULL;
    if (opened && all && shards->there > STEADY_MAX)
        err = ny_fail(ctx, NY_EUSAGE, "graphs and their maps take at most %d shards; %s has %u",
                      STEADY_MAX, shards->path, shards->there);
    if (err) {
        ny_free(ctx, opened);
        ny_shards_free(shards);
        return err;
    }
    opened->shards = shards;
    opened->all = all;
    opened->kept = (struct kept *)(void *)(opened + 1);
    first = (uint64_t *)(void *)(opened->kept + kept);
    opened->number = (unsigned *)(void *)(first + 4 * room);
    opened->set = (struct ny_set){.first = first,
                                  .source = first + room,
                                  .block_first = first + 2 * room,
                                  .block_rows = first + 3 * room,
                                  .open = open_store,
                                  .close = close_all,
                                  .arg = opened};
    err = count_rows(opened, first, room);
    if (err)
        close_all(opened);
    else
        *out = opened;
    return err;
}

int ny_shards_set(struct ny_store **out, struct ny_shards *shards, bool steady)
{
    struct opened *opened;
    int err = open_there(&opened, shards, steady);

    if (err) return err;
    err = ny_store_open_set(out, opened->shards->ctx, opened->shards->path, &opened->set);
    if (err) close_all(opened);
    return err;
}

int ny_shards_lend(struct ny_store *store, struct ny_shards *shards)
{
    struct opened *opened;
    int err = open_there(&opened, shards, true);

    if (err) return err;
    err = ny_store_lend_set(store, opened->shards->path, &opened->set);
    if (err) close_all(opened);
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
