/*
 * The bucket sort of shuffle.h, used by `import --shuffle`: rows of any number in bounded memory
 * and one temporary file that has no name, and so never outlives the process (base/spool.h).
 *
 * A record goes to bucket hash >> 56, one of 256 streams of pieces of memory / 256 bytes (at least
 * 4,096). Draining reads one bucket at a time and sorts it by hash: 10 GB of records need about 40
 * MB at a time. A bucket that takes more than half of what is left of the budget is dealt out to
 * others first, by the next eight bits of the hash, in a file of its own.
 *
 * The order follows from (seed, row) alone: neither the memory nor the sizes of records change it.
 * Two rows with equal hashes stay in the order in which they came.
 */
#include "stream/shuffle.h"

#include <stdlib.h>
#include <string.h>

#include "base/layout.h"
#include "base/random.h"
#include "base/spool.h"

enum { BUCKETS = 256, BUCKET_BITS = 8, PIECE_BYTES_MIN = 4096 };
/* Bytes of a bucket that is dealt out which are read at a time, and one record. */
enum { WINDOW_BYTES = 1 << 18 };
/* A part of what is left of the budget, for the pieces of buckets of a bucket. */
enum { FINER_SHARE = 8 };

struct ny_shuffle {
    struct ny_context *ctx;
    struct ny_spool *spool; /* the records of a bucket follow one another in its stream */
    const char *folder;
    uint64_t seed;
    unsigned shift; /* of the hash, to the number of the bucket */
    size_t longest; /* bytes of a record with what precedes it */
    uint64_t records[BUCKETS];
};

void ny_shuffle_free(struct ny_shuffle *shuffle)
{
    if (!shuffle) return;
    ny_spool_free(shuffle->spool);
    ny_free(shuffle->ctx, shuffle);
}

int ny_shuffle_new(struct ny_shuffle **out, struct ny_context *ctx, const char *folder,
                   uint64_t seed, size_t memory)
{
    struct ny_shuffle *shuffle = *out = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*shuffle));
    struct ny_spool_spec spec = {folder, "the rows to shuffle", BUCKETS, memory / BUCKETS};

    if (!shuffle) return NY_EBUDGET;
    shuffle->ctx = ctx;
    shuffle->folder = folder;
    shuffle->seed = seed;
    shuffle->shift = 64 - BUCKET_BITS;
    if (spec.piece_bytes < PIECE_BYTES_MIN) spec.piece_bytes = PIECE_BYTES_MIN;
    return ny_spool_new(&shuffle->spool, ctx, &spec);
}

/* Precedes each record, which is padded to a multiple of 8 bytes. */
struct head {
    uint64_t hash, bytes;
};

/* Adds a record to the bucket of its hash. */
static int add(struct ny_shuffle *shuffle, const struct head *head, const void *record)
{
    size_t number = (size_t)(head->hash >> shuffle->shift) % BUCKETS, bytes = (size_t)head->bytes;
    static const char zeros[8];
    int err = ny_spool_put(shuffle->spool, number, head, sizeof(*head));

    if (!err) err = ny_spool_put(shuffle->spool, number, record, bytes);
    if (!err) err = ny_spool_put(shuffle->spool, number, zeros, ny_padded(bytes) - bytes);
    shuffle->records[number]++;
    if (sizeof(*head) + ny_padded(bytes) > shuffle->longest)
        shuffle->longest = sizeof(*head) + ny_padded(bytes);
    return err;
}

int ny_shuffle_add(struct ny_shuffle *shuffle, uint64_t row, const void *record, size_t bytes)
{
    const struct head head = {ny_hash64(shuffle->seed, NY_STREAM_SHUFFLE, row), bytes};

    return add(shuffle, &head, record);
}

/* The hash and the place of a record of the bucket, for sorting. */
struct entry {
    uint64_t hash;
    size_t at, bytes;
};

/* Orders entries by hash; equal hashes keep the order in which they came, as qsort() alone would
 * not. */
static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Adds the records of a bucket to another shuffle, in the order in which they came. */
static int deal_out(struct ny_shuffle *shuffle, size_t number, struct ny_shuffle *finer)
{
    size_t bytes = ny_spool_bytes(shuffle->spool, number), used;
    size_t room = WINDOW_BYTES + shuffle->longest;
    char *window = ny_alloc(shuffle->ctx, NY_MEM_IO, room);
    int err = window ? NY_OK : NY_EBUDGET;

    for (size_t at = 0; at < bytes && err == NY_OK; at += used) {
        size_t held = bytes - at < room ? bytes - at : room, whole;

        used = 0;
        err = ny_check_interrupt(shuffle->ctx);
        if (err == NY_OK) err = ny_spool_read(shuffle->spool, number, at, window, held);
        for (; err == NY_OK && held - used >= sizeof(struct head); used += whole) {
            struct head head;

            memcpy(&head, window + used, sizeof(head));
            whole = sizeof(head) + ny_padded((size_t)head.bytes);
            if (whole > held - used) break; /* it comes with the next window */
            err = add(finer, &head, window + used + sizeof(head));
        }
    }
    ny_free(shuffle->ctx, window);
    return err;
}

/* Hands the records of a bucket that is too large on in order, by buckets of its own. */
static int drain_finely(struct ny_shuffle *shuffle, size_t number, ny_record_fn *each, void *arg)
{
    struct ny_shuffle *finer;
    int err = ny_shuffle_new(&finer, shuffle->ctx, shuffle->folder, shuffle->seed,
                             ny_memory_left(shuffle->ctx) / FINER_SHARE);

    if (err) goto done;
    finer->shift = shuffle->shift - BUCKET_BITS;
    err = deal_out(shuffle, number, finer);
    if (err == NY_OK) err = ny_shuffle_drain(finer, each, arg);
done:
    ny_shuffle_free(finer);
    return err;
}

/* Tells whether a bucket has no room in memory, which has room for the pieces of finer ones. */
static bool is_too_large(const struct ny_shuffle *shuffle, size_t number)
{
    size_t left = ny_memory_left(shuffle->ctx);
    size_t bytes = ny_spool_bytes(shuffle->spool, number) +
                   (size_t)shuffle->records[number] * sizeof(struct entry);

    return bytes > left / 2 && left / FINER_SHARE >= (size_t)BUCKETS * PIECE_BYTES_MIN &&
           shuffle->shift > 0;
}

/* Hands the records of one bucket on in order. Nothing else is needed for a global order, since
 * buckets are cut by the highest bits of the hash. */
static int drain_bucket(struct ny_shuffle *shuffle, size_t number, ny_record_fn *each, void *arg)
{
    struct ny_layout l = {.ctx = shuffle->ctx};
    size_t count = (size_t)shuffle->records[number];
    char *data = ny_lay(&l, NY_MEM_IO, ny_spool_bytes(shuffle->spool, number), 1);
    struct entry *entries = ny_lay(&l, NY_MEM_IO, count, sizeof(*entries));
    int err = l.err ? l.err : ny_spool_load(shuffle->spool, number, data);

    for (size_t i = 0, at = 0; i < count && err == NY_OK; i++) {
        struct head head;

        memcpy(&head, data + at, sizeof(head));
        entries[i] = (struct entry){head.hash, at + sizeof(head), (size_t)head.bytes};
        at += sizeof(head) + ny_padded((size_t)head.bytes);
    }
    if (err == NY_OK) qsort(entries, count, sizeof(*entries), by_hash);
    for (size_t i = 0; i < count && err == NY_OK; i++) {
        err = ny_check_interrupt(shuffle->ctx);
        if (err == NY_OK) err = each(arg, data + entries[i].at, entries[i].bytes);
    }
    ny_layout_free(&l);
    return err;
}

int ny_shuffle_drain(struct ny_shuffle *shuffle, ny_record_fn *each, void *arg)
{
    int err = NY_OK;

    for (size_t b = 0; b < BUCKETS && err == NY_OK; b++)
        err = is_too_large(shuffle, b) ? drain_finely(shuffle, b, each, arg)
                                       : drain_bucket(shuffle, b, each, arg);
    return err;
}
