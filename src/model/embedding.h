/*
 * The embedding part of a result: chunks of whole rows, as many as fit in one. Rows come in order;
 * the short last chunk is written at every commit, and again, longer, at the next.
 */
#ifndef NY_MODEL_EMBEDDING_H
#define NY_MODEL_EMBEDDING_H

#include "base/layout.h"
#include "job/keep.h"
#include "job/record.h"

struct ny_embedding_layout {
    struct ny_part part; /* "embedding", or another part with one item a row */
    uint64_t rows;
    size_t row_bytes;
    size_t chunk_rows;
};

/* Returns the layout of the part "embedding" of a fit. */
struct ny_embedding_layout ny_embedding_layout(uint64_t rows, size_t components, size_t element);

/* Collects rows in memory until a batch takes them; ny_embedding_full() says when one is due. */
struct ny_embedding_writer {
    struct ny_keep keep;
    struct ny_embedding_layout layout;
    uint64_t first_row; /* first row of the buffer, a multiple of chunk_rows */
    size_t count;       /* rows in the buffer */
    size_t capacity;
    char *rows;
};

/* Opens a writer, which takes at most NY_UNIT_ROWS rows at a time. A resumed write goes on at
 * `first_row`; the rows of its chunk before that are read back. */
int ny_embedding_writer_new(struct ny_embedding_writer *writer, const struct ny_keep *keep,
                            struct ny_embedding_layout layout, uint64_t first_row);
/* Frees the buffer, also of a writer that has not been opened. */
void ny_embedding_writer_release(struct ny_embedding_writer *writer);
/* Returns the bytes of the buffer where a batch may have `batch_bytes`. */
void ny_embedding_writer_count(struct ny_layout *l, const struct ny_embedding_layout *layout,
                               size_t limit);
/* Copies `count` rows into the buffer, which must have room for them. */
void ny_embedding_add(struct ny_embedding_writer *writer, const void *rows, size_t count);
/* Tells whether one more unit might not fit, so that a batch is due. */
bool ny_embedding_full(const struct ny_embedding_writer *writer);
/* Begins a batch with all rows so far of two writers, and forgets their whole chunks. `beside` may
 * be NULL, or a writer that has not been opened. */
int ny_embedding_batch(struct ny_embedding_writer *writer, struct ny_embedding_writer *beside,
                       struct ny_batch **batch);

/* Reads rows first … first+count−1 of a part that is stored in this layout; many of them by the
 * threads of the context. */
int ny_embedding_rows(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                      uint64_t first, size_t count, void *rows);
/* Reads `count` rows of any numbers, in any order and perhaps more than once, into `out`, in the
 * order of `rows`. Each chunk is read once. */
int ny_embedding_gather(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                        const uint64_t *rows, size_t count, void *out);

#endif
