/* Matrices for the tests of linalg: random numbers, and triangles whose other half is NaN. */
#ifndef TESTS_UNIT_MATRIX_CASE_H
#define TESTS_UNIT_MATRIX_CASE_H

#include "base/random.h"
#include "linalg/matrix.h"
#include "support/context.h"

/* Columns behind those of a matrix, which nothing may touch. */
enum { MARGIN = 3 };

static inline double *numbers(size_t count, uint64_t seed)
{
    double *x = lend_zeros((count ? count : 1) * sizeof(*x));

    ny_gaussian(seed, NY_STREAM_DATA, 0, x, count);
    return x;
}

static inline double dot(const double *x, const double *y, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline struct ny_matrix view_of(double *A, size_t m)
{
    return (struct ny_matrix){A, m, m, m + MARGIN, false};
}

/* A random lower triangle with `weight` more on the diagonal; NaN elsewhere. */
static inline double *triangle(size_t m, uint64_t seed, double weight)
{
    size_t stride = m + MARGIN;
    double *A = numbers(m * stride, seed);

    for (size_t i = 0; i < m; i++) {
        A[i * stride + i] += weight;
        for (size_t j = i + 1; j < stride; j++)
            A[i * stride + j] = NAN;
    }
    return A;
}

#endif
