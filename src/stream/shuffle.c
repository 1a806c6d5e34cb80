/*
 * The bucket sort of shuffle.h, used by `import --shuffle`: rows of any number in bounded memory
 * and one temporary file that has no name, and so never outlives the process.
 *
 * A record goes to bucket hash >> 56, one of 256. Each bucket fills a piece of memory / 256 bytes
 * (at least 4,096); a full piece is written wherever the file ends, and the bucket remembers its
 * number. Draining reads one bucket at a time and sorts it by hash: 10 GB of records need about 40
 * MB at a time.
 *
 * The order follows from (seed, row) alone: neither the memory nor the sizes of records change it.
 * Two rows with equal hashes stay in the order in which they came.
 */
#include "stream/shuffle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/random.h"

enum { BUCKETS = 256, PIECE_BYTES_MIN = 4096 };

/* A bucket's records follow one another; they fill a piece in memory, full pieces go to the file,
 * chained by their number. */
struct bucket {
    size_t fill; /* bytes in the piece */
    uint64_t records;
    uint64_t *piece; /* numbers of its pieces in the file */
    size_t pieces, pieces_max;
};

struct ny_shuffle {
    struct ny_context *ctx;
    const char *folder;
    int fd;
    uint64_t seed;
    size_t piece_bytes;
    uint64_t pieces;    /* in the file */
    char *buffer;       /* BUCKETS pieces */
    struct bucket bucket[BUCKETS];
};

void ny_shuffle_free(struct ny_shuffle *shuffle)
{
    if (!shuffle) return;
    if (shuffle->fd >= 0) close(shuffle->fd);
    for (int b = 0; b < BUCKETS; b++)
        ny_free(shuffle->ctx, shuffle->bucket[b].piece);
    ny_free(shuffle->ctx, shuffle->buffer);
    ny_free(shuffle->ctx, shuffle);
}

int ny_shuffle_new(struct ny_shuffle **out, struct ny_context *ctx, const char *folder,
                   uint64_t seed, size_t memory)
{
    struct ny_shuffle *shuffle = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*shuffle));
    size_t piece = memory / BUCKETS, bytes;
    int err = NY_EBUDGET;

    *out = NULL;
    if (!shuffle) return NY_EBUDGET;
    shuffle->ctx = ctx;
    shuffle->folder = folder;
    shuffle->seed = seed;
    shuffle->fd = -1;
    if (piece < PIECE_BYTES_MIN) piece = PIECE_BYTES_MIN;
    shuffle->piece_bytes = piece;
    if (ny_product(ctx, &bytes, shuffle->piece_bytes, BUCKETS, 1)) goto done;
    shuffle->buffer = ny_alloc(ctx, NY_MEM_IO, bytes);
    if (!shuffle->buffer) goto done;
    shuffle->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    err = shuffle->fd < 0 ? ny_fail_errno(ctx, "make a temporary file in", folder) : NY_OK;
done:
    if (err)
        ny_shuffle_free(shuffle);
    else
        *out = shuffle;
    return err;
}

/* Writes or reads one whole piece at its place in the file, with as many calls as that takes. */
static int move_piece(struct ny_shuffle *shuffle, bool writing, char *data, uint64_t number)
{
    size_t done = 0;

    while (done < shuffle->piece_bytes) {
        off_t at = (off_t)(number * shuffle->piece_bytes + done);
        size_t left = shuffle->piece_bytes - done;
        ssize_t moved = writing ? pwrite(shuffle->fd, data + done, left, at)
                                : pread(shuffle->fd, data + done, left, at);

        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0)
            return ny_fail_errno(shuffle->ctx,
                                 writing ? "write the rows to shuffle in"
                                         : "read back the rows to shuffle in",
                                 shuffle->folder);
        done += (size_t)moved;
    }
    return NY_OK;
}

/* Appends a full piece to the file and its number to the bucket, whose piece in memory is empty
 * again. */
static int spill(struct ny_shuffle *shuffle, struct bucket *bucket, char *piece)
{
    int err;

    if (bucket->pieces == bucket->pieces_max) {
        size_t grown = bucket->pieces_max ? 2 * bucket->pieces_max : 8;
        uint64_t *list =
            ny_resize(shuffle->ctx, NY_MEM_IO, bucket->piece, grown * sizeof(uint64_t));

        if (!list) return NY_EBUDGET;
        bucket->piece = list;
        bucket->pieces_max = grown;
    }
    err = move_piece(shuffle, true, piece, shuffle->pieces);
    if (err) return err;
    bucket->piece[bucket->pieces++] = shuffle->pieces++;
    bucket->fill = 0;
    return NY_OK;
}

/* Precedes each record, which is padded to a multiple of 8 bytes. */
struct head {
    uint64_t hash, bytes;
};

/* Appends bytes of a record, which may go on in the next piece. */
static int put(struct ny_shuffle *shuffle, size_t number, const void *data, size_t bytes)
{
    struct bucket *bucket = &shuffle->bucket[number];
    char *piece = shuffle->buffer + number * shuffle->piece_bytes;
    int err = NY_OK;

    for (size_t done = 0; err == NY_OK && done < bytes;) {
        size_t room = shuffle->piece_bytes - bucket->fill;
        size_t some = bytes - done < room ? bytes - done : room;

        memcpy(piece + bucket->fill, (const char *)data + done, some);
        bucket->fill += some;
        done += some;
        if (bucket->fill == shuffle->piece_bytes) err = spill(shuffle, bucket, piece);
    }
    return err;
}

int ny_shuffle_add(struct ny_shuffle *shuffle, uint64_t row, const void *record, size_t bytes)
{
    struct head head = {ny_hash64(shuffle->seed, NY_STREAM_SHUFFLE, row), bytes};
    size_t number = (size_t)(head.hash >> 56);
    static const char zeros[8];
    int err = put(shuffle, number, &head, sizeof(head));

    if (!err) err = put(shuffle, number, record, bytes);
    if (!err) err = put(shuffle, number, zeros, ny_padded(bytes) - bytes);
    shuffle->bucket[number].records++;
    return err;
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

/* All of the bucket in memory, in the order in which it came. */
static int load_bucket(struct ny_shuffle *shuffle, size_t number, char *data)
{
    struct bucket *bucket = &shuffle->bucket[number];
    int err = NY_OK;

    for (size_t i = 0; i < bucket->pieces && err == NY_OK; i++)
        err = move_piece(shuffle, false, data + i * shuffle->piece_bytes, bucket->piece[i]);
    memcpy(data + bucket->pieces * shuffle->piece_bytes,
           shuffle->buffer + number * shuffle->piece_bytes, bucket->fill);
    return err;
}

/* Hands the records of one bucket on in order. Nothing else is needed for a global order, since
 * buckets are cut by the highest bits of the hash. */
static int drain_bucket(struct ny_shuffle *shuffle, size_t number, ny_record_fn *each, void *arg)
{
    struct bucket *bucket = &shuffle->bucket[number];
    size_t count = (size_t)bucket->records;
    char *data = ny_calloc(shuffle->ctx, NY_MEM_IO, bucket->pieces + 1, shuffle->piece_bytes);
    struct entry *entries = ny_calloc(shuffle->ctx, NY_MEM_IO, count, sizeof(*entries));
    int err = NY_EBUDGET;

    if (!data || !entries) goto done;
    err = load_bucket(shuffle, number, data);
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
done:
    ny_free(shuffle->ctx, entries);
    ny_free(shuffle->ctx, data);
    return err;
}

int ny_shuffle_drain(struct ny_shuffle *shuffle, ny_record_fn *each, void *arg)
{
    int err = NY_OK;

    for (size_t b = 0; b < BUCKETS && err == NY_OK; b++)
        err = drain_bucket(shuffle, b, each, arg);
    return err;
}
