/* Products with a block of 16 columns; compiled once for each CPU family. */
#include "linalg/narrow.h"

#include <string.h>

#include "base/vector.h"

/* Rows of a group, and those of them whose sums the registers hold. */
enum { GROUP = 8, ROWS = NY_VECTOR_BYTES < 64 ? 2 : 8 };
enum { LANES = NY_VECTOR_BYTES / sizeof(double), VECTORS = NY_NARROW / LANES };

typedef double lanes __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8), may_alias));

/* Element (i, k) of a part of A is at[i·row + k·col]. */
struct part {
    const double *at;
    size_t row, col, count; /* columns */
};

/* Y ± the part times X, of `rows` rows, which the compiler knows. */
static inline __attribute__((always_inline)) void
add_rows(const struct part *A, const double *X, double *Y, const size_t rows, const double sign)
{
    lanes sum[ROWS][VECTORS];

#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (size_t v = 0; v < VECTORS; v++)
            sum[i][v] = *(const lanes *)(Y + i * NY_NARROW + v * LANES);
    for (size_t k = 0; k < A->count; k++) {
        const double *a = A->at + k * A->col, *x = X + k * NY_NARROW;

#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
            for (size_t v = 0; v < VECTORS; v++)
                sum[i][v] += sign * a[i * A->row] * *(const lanes *)(x + v * LANES);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (size_t v = 0; v < VECTORS; v++)
            *(lanes *)(Y + i * NY_NARROW + v * LANES) = sum[i][v];
}

/* Y ± the part times X, of up to GROUP rows. */
static inline __attribute__((always_inline)) void
add_part(struct part A, const double *X, double *Y, size_t rows, const double sign)
{
    size_t i = 0;

    for (; i + ROWS <= rows; i += ROWS, A.at += ROWS * A.row)
        add_rows(&A, X, Y + i * NY_NARROW, ROWS, sign);
    for (; i < rows; i++, A.at += A.row)
        add_rows(&A, X, Y + i * NY_NARROW, 1, sign);
}

/* Returns the rows of the group that begins at row `at`. */
static size_t group_rows(size_t at, size_t end)
{
    return end - at < GROUP ? end - at : GROUP;
}

/* The rows of a group: what is left of the diagonal, the square on it, and what is below, which
 * stands in for the right. */
static void symmetric(const struct ny_narrow_product *p, size_t first, size_t count)
{
    size_t stride = p->stride, rows;

    for (size_t at = first; at < first + count; at += rows) {
        double square[GROUP * GROUP], *y = p->Y + at * NY_NARROW;
        size_t below;

        rows = group_rows(at, first + count);
        below = at + rows;
        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k <= i; k++)
                square[i * GROUP + k] = square[k * GROUP + i] = p->A[(at + i) * stride + at + k];
        memset(y, 0, rows * NY_NARROW * sizeof(double));
        add_part((struct part){p->A + at * stride, stride, 1, at}, p->X, y, rows, 1);
        add_part((struct part){square, GROUP, 1, rows}, p->X + at * NY_NARROW, y, rows, 1);
        add_part((struct part){p->A + below * stride + at, 1, stride, p->inner - below},
                 p->X + below * NY_NARROW, y, rows, 1);
    }
}

static void multiply(const struct ny_narrow_product *p, size_t first, size_t count)
{
    size_t rows;

    memset(p->Y + first * NY_NARROW, 0, count * NY_NARROW * sizeof(double));
    for (size_t at = first; at < first + count; at += rows) {
        rows = group_rows(at, first + count);
        add_part((struct part){p->A + at * p->stride, p->stride, 1, p->inner}, p->X,
                 p->Y + at * NY_NARROW, rows, 1);
    }
}

static void subtract(const struct ny_narrow_product *p, size_t first, size_t count)
{
    size_t rows;

    for (size_t at = first; at < first + count; at += rows) {
        rows = group_rows(at, first + count);
        add_part((struct part){p->A + at, 1, p->stride, p->inner}, p->X, p->Y + at * NY_NARROW,
                 rows, -1);
    }
}

extern const struct ny_narrow_ops NY_VARIANT_NAME(ny_narrow_ops);
const struct ny_narrow_ops NY_VARIANT_NAME(ny_narrow_ops) = {symmetric, multiply, subtract};
