/*
 * A keep has what a job leaves: the parts of one result, its record (job/record.h) among them. This
 * is the only way from the engine to what it leaves; nothing of it knows of a store or a file.
 *
 * A part is a sequence of chunks, numbered from 0. What a batch puts and drops is there as a
 * whole once it is committed, and not at all before: a job that ends at any moment finds the record
 * and the parts of one commit. A batch is short, as others may wait for their turn. After a failure
 * it takes no more, and its commit fails in the same way.
 *
 * Errors are told in keep->ctx. `chunk` and `get` may come from several threads.
 *
 * Implementations: results/keep.c (a NAME in a store), job/keep_memory.c (memory).
 */
#ifndef NY_JOB_KEEP_H
#define NY_JOB_KEEP_H

#include "base/context.h"
#include "base/layout.h"

/* The part that says what a result is: without it the others are of no result. */
#define NY_RECORD_PART "job"

/* The most bytes of a chunk: with its header it fills its pages in a store. */
#define NY_CHUNK_BYTES ((size_t)256 * 4096 - 16 - 32)

/* Room for a chunk: `capacity` bytes of the caller; `bytes` is set to the chunk's size. */
struct ny_chunk {
    void *data;
    size_t capacity, bytes;
};

/* The source of an array that is nowhere in memory as a whole. */
struct ny_pieces {
    /* Bytes at … at + count − 1, count ≤ NY_CHUNK_BYTES; they stay until the next call. */
    const void *(*piece)(const void *arg, size_t at, size_t count);
    const void *arg;
    size_t bytes; /* of the whole */
};
/* Returns the source of an array that is in memory, which it borrows. */
struct ny_pieces ny_pieces_of(const void *data, size_t bytes);

struct ny_batch;
struct ny_keep;
struct ny_record_ops; /* job/record.h */

struct ny_keep_ops {
    /* Begins a batch; waits for its turn. Commit and cancel free it. */
    int (*begin)(const struct ny_keep *keep, struct ny_batch **out);
    /* Puts a chunk in place of what is there. */
    int (*put)(const struct ny_keep *keep, struct ny_batch *batch, const char *part, uint64_t index,
               const void *data, size_t bytes);
    /* Drops a part, which need not be there; NULL: all of them, the record included. */
    int (*drop)(const struct ny_keep *keep, struct ny_batch *batch, const char *part);
    int (*commit)(struct ny_batch *batch);
    /* Ends a batch, which may be NULL, without a change. */
    void (*cancel)(struct ny_batch *batch);
    /* Reads a chunk; NY_END, without an error, where there is none; NY_ESTORE where it is
     * damaged. */
    int (*chunk)(const struct ny_keep *keep, const char *part, uint64_t index,
                 struct ny_chunk *chunk);
    /* Puts an array as a part, in batches of its own. */
    int (*put_pieces)(const struct ny_keep *keep, const char *part, const struct ny_pieces *pieces);
    /* Reads an array of exactly `bytes` bytes; NY_ESTORE where it is damaged or has another
     * size. */
    int (*get)(const struct ny_keep *keep, const char *part, void *data, size_t bytes);
    /* Bytes on the disk that the whole place takes, and that are left there. */
    uint64_t (*bytes)(const struct ny_keep *keep);
    uint64_t (*room)(const struct ny_keep *keep);
};

struct ny_keep {
    const struct ny_keep_ops *ops;
    const struct ny_record_ops *records; /* how its records are read and put */
    struct ny_context *ctx;
    const char *name;   /* of the result */
    const char *place;  /* of where it is, for messages */
    const char *folder; /* for temporary files; all three are borrowed */
    void *at;           /* of the implementation */
};

/* Puts an array as a part, in batches of its own. */
int ny_keep_put(const struct ny_keep *keep, const char *part, const void *data, size_t bytes);

/* Adds the bytes of a part to a digest: those of a part that is not there leave it as it is. */
int ny_part_digest(const struct ny_keep *keep, const char *part, uint64_t *digest);

/* Returns the bytes that may be dirty at once under a budget of `limit`: min(64 MiB, limit / 8). */
size_t ny_dirty_bytes_max(size_t limit);
/* Returns the most bytes of a batch under a budget of `limit`; at least a chunk. */
size_t ny_batch_bytes_max(size_t limit);
/* Counts what is dirty at most while an array of `bytes` is put. */
void ny_batch_count(struct ny_layout *l, enum ny_purpose purpose, size_t limit, size_t bytes);

#endif
