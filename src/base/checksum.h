/* The checksum of all that is stored, and of what is told apart by its content. */
#ifndef NY_BASE_CHECKSUM_H
#define NY_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* XXH3-64 of `bytes` bytes: detects damage, not malice. Part of the file formats. */
uint64_t ny_checksum(const void *data, size_t bytes);

#endif
