/*
 * A permutation of rows that do not fit in memory: each goes to the bucket of its hash, in a file
 * without a name; then bucket by bucket is read and put in order of the hash. The result is the
 * rows sorted by ny_hash64(seed, NY_STREAM_SHUFFLE, row): it depends on nothing else.
 */
#ifndef NY_STREAM_SHUFFLE_H
#define NY_STREAM_SHUFFLE_H

#include "base/context.h"

struct ny_shuffle;

/* `folder` holds the file (all records, and 16 to 23 bytes each). Memory under NY_MEM_IO: about
 * `memory` bytes. Free it after a failure, too. */
int ny_shuffle_new(struct ny_shuffle **out, struct ny_context *ctx, const char *folder,
                   uint64_t seed, size_t memory);
/* Frees the buffers and the file; NULL is allowed. */
void ny_shuffle_free(struct ny_shuffle *shuffle);
/* `row`: what is hashed. A record is one row with all that goes along. */
int ny_shuffle_add(struct ny_shuffle *shuffle, uint64_t row, const void *record, size_t bytes);
/* All records in order, to `each`; once, after the last _add. Buckets that do not fit in what is
 * left of the budget take another file; NY_EBUDGET when there is no room for one record. */
typedef int ny_record_fn(void *arg, const void *record, size_t bytes); /* aligned to 8 */
int ny_shuffle_drain(struct ny_shuffle *shuffle, ny_record_fn *each, void *arg);

#endif
