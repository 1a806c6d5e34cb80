/*
 * Statistics of rows as they come: of an import (store/ingest_count.c), and of rows that stay where
 * their caller has them (stream/rows_memory.c). Both so have the same bits, for they depend on how
 * rows are cut into blocks alone.
 *
 * Each thread takes a share of the columns, so that the sums do not depend on the number of
 * threads. Statistics are of what readers see: where rows are prepared (base/prepare.h), each block
 * is prepared first, each thread a share of the rows, into room for one block; here a value that
 * has no logarithm or root is found. Values may be a mapped file's (base/borrowed.h).
 */
#ifndef NY_STREAM_COUNTING_H
#define NY_STREAM_COUNTING_H

#include "base/layout.h"
#include "base/prepare.h"
#include "stream/statistics.h"

/* Sums of the rows so far. The caller sets all up to `moments`, whose 4 d cells stay his;
 * ny_counting_release() frees what is added to it. */
struct ny_counting {
    struct ny_context *ctx;
    struct ny_layout own;
    enum ny_dtype dtype;       /* of the rows that come */
    struct ny_prepared how;    /* statistics are of rows that are prepared so */
    size_t block_rows;         /* a block ends at each multiple of these */
    struct ny_moments moments; /* whose n counts the rows */
    bool norms_known;          /* false: rows were counted before norms were */
    double norms;              /* Σ‖x‖ */
    struct ny_sparse_sums sums;
    char *prepared; /* a block of prepared values; NULL: nothing is prepared */
    size_t prepared_bytes;
};

/* The rows that come next: dense, one after another, or sparse. */
struct ny_next_rows {
    const void *values;      /* dense: in the type that is counted; or: */
    struct ny_csr_part part; /* sparse: from its row `at` on; csr is NULL where rows are dense */
    size_t count;
    uint64_t first;         /* the number of the first in its source, for messages */
    const uint64_t *number; /* those of all, where they are not one after another; or NULL */
    const char *from;       /* the file that they came from; NULL: memory */
    /* Done by one of the threads, while others count; or NULL. */
    void (*beside)(void *arg);
    void *arg;
};

/* Makes the room that sparse rows need: 20 bytes a column, under NY_MEM_STORE. */
int ny_counting_sparse(struct ny_counting *counting);
/* Frees all but the cells of the moments. */
void ny_counting_release(struct ny_counting *counting);

/* Adds rows to moments and norms. NY_EDATA, told with the number of the row, where a value is not
 * finite, or cannot be prepared; the log warns once of values that are no counts where these are
 * prepared as such. NY_EIO where a mapped file was cut short. Bytes: prepared values of one block
 * (of sparse rows those of all that are in `part.csr` up to its end), which are kept for the next,
 * under NY_MEM_STORE. */
int ny_count_rows(struct ny_counting *counting, const struct ny_next_rows *rows);

#endif
