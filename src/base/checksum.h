/* The checksum of all that is stored, and of what is told apart by its content. */
#ifndef NY_BASE_CHECKSUM_H
#define NY_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* XXH3-64 of `bytes` bytes: detects damage, not malice. Part of the file formats. */
uint64_t ny_checksum(const void *data, size_t bytes);

/* Is told of bytes that have been read. */
typedef void ny_checked_fn(const void *arg, const void *at, size_t bytes);
/* Returns the same number, and calls done() for one piece of the data after another. */
uint64_t ny_checksum_by_pieces(const void *data, size_t bytes, ny_checked_fn *done,
                               const void *arg);

#endif
