/* Blocks of rows: statistics are summed up block by block, and a store keeps, packs and reads rows
 * so. Part of the store format. */
#ifndef NY_STREAM_BLOCKS_H
#define NY_STREAM_BLOCKS_H

#include <stdint.h>

#include "base/dtype.h"

#define NY_BLOCK_BYTES ((uint64_t)1 << 20) /* raw, but at least one row */
#define NY_BLOCK_ROWS_MAX ((uint64_t)1 << 20)
#define NY_SPARSE_BLOCK_ROWS_MAX ((uint64_t)1 << 16)

/* Returns the rows of a block of dense rows: a power of two, at most NY_BLOCK_ROWS_MAX rows and
 * NY_BLOCK_BYTES bytes, but at least 1. */
uint64_t ny_block_rows_for(uint64_t d, enum ny_dtype dtype);
/* Rows of a block of sparse rows that have so many values on average. */
uint64_t ny_sparse_block_rows_for(uint64_t row_nnz, enum ny_dtype dtype);

#endif
