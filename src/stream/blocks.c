#include "stream/blocks.h"

uint64_t ny_block_rows_for(uint64_t d, enum ny_dtype dtype)
{
    uint64_t rows = 1;

    while (2 * rows <= NY_BLOCK_ROWS_MAX && 2 * rows * d * ny_dtype_size(dtype) <= NY_BLOCK_BYTES)
        rows *= 2;
    return rows;
}

uint64_t ny_sparse_block_rows_for(uint64_t row_nnz, enum ny_dtype dtype)
{
    uint64_t row_bytes = sizeof(uint32_t) + row_nnz * (sizeof(uint32_t) + ny_dtype_size(dtype));
    uint64_t rows = 1;

    while (2 * rows <= NY_SPARSE_BLOCK_ROWS_MAX && 2 * rows * row_bytes <= NY_BLOCK_BYTES)
        rows *= 2;
    return rows;
}
