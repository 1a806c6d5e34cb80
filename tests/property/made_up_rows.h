/* Numbers of made-up rows, by their row and column alone. */
#ifndef TESTS_PROPERTY_MADE_UP_ROWS_H
#define TESTS_PROPERTY_MADE_UP_ROWS_H

#include "base/random.h"

static inline double uniform(size_t row, size_t column, uint64_t purpose)
{
    return ny_hash01(purpose, NY_STREAM_DATA, row * 64 + column);
}

/* Nearly normal: twelve uniform numbers. */
static inline double normal(size_t row, size_t column)
{
    double sum = -6;

    for (uint64_t k = 0; k < 12; k++)
        sum += uniform(row, column, 100 + k);
    return sum;
}

/* Five clusters. */
static inline double blobs(size_t row, size_t column)
{
    return 4 * uniform((size_t)(5 * uniform(row, 0, 1)), column, 2) + 0.3 * normal(row, column);
}

#endif
