/* Products with a block of 16 columns; compiled once for each CPU family. */
#include "linalg/narrow.h"

#include <stdbool.h>
#include <string.h>

#include "base/vector.h"
#include "linalg/matrix.h"

enum { AVX2 = NY_VECTOR_BYTES == 32 };
/* Rows of a group, and those of them whose sums the registers hold. */
enum { GROUP = AVX2 ? 12 : 8, ROWS = AVX2 ? 3 : NY_VECTOR_BYTES < 32 ? 2 : 8 };
/* Columns of A for which X stays in cache; AVX2's CPUs, whose caches fetch long runs ahead, take a
 * quarter longer for 512. */
enum { COLUMNS = AVX2 ? 2048 : 512 };
/* Rows of A that are read along at a time, and elements that are fetched ahead in each, where that
 * was seen to help. */
enum { STREAMS = 16, AHEAD = AVX2 ? 32 : 0 };
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

        if (AHEAD > 0 && A->row == 1) __builtin_prefetch(a + AHEAD);
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

/* Adds AX to rows first … end−1 of Y, of A its first `inner` columns, or those left of the group's
 * diagonal square. X is taken by pieces that stay in cache. */
static void add_rows_of(const struct ny_narrow_product *p, size_t first, size_t end, bool left)
{
    for (size_t from = 0; from < p->inner; from += COLUMNS)
        for (size_t at = first; at < end; at += GROUP) {
            size_t until = ny_smaller(from + COLUMNS, left ? at : p->inner);

            if (until <= from) continue;
            add_part((struct part){p->A + at * p->stride + from, p->stride, 1, until - from},
                     p->X + from * NY_NARROW, p->Y + at * NY_NARROW, ny_smaller(end - at, GROUP),
                     1);
        }
}

/* Adds sign·AᵀX to rows first … end−1 of Y, of A all rows, or those below the group's diagonal
 * square. A few rows of A are read along at a time: columns would be read at the pace of single
 * cache lines. */
static inline __attribute__((always_inline)) void add_columns_of(const struct ny_narrow_product *p,
                                                                 size_t first, size_t end,
                                                                 bool below, const double sign)
{
    for (size_t from = below ? first : 0; from < p->inner; from += STREAMS)
        for (size_t at = first; at < end; at += GROUP) {
            size_t rows = ny_smaller(end - at, GROUP);
            size_t begin = below && at + rows > from ? at + rows : from;
            size_t until = ny_smaller(from + STREAMS, p->inner);

            if (until <= begin) continue;
            add_part((struct part){p->A + begin * p->stride + at, 1, p->stride, until - begin},
                     p->X + begin * NY_NARROW, p->Y + at * NY_NARROW, rows, sign);
        }
}

/* Adds the product with the diagonal square of each group. */
static void add_squares(const struct ny_narrow_product *p, size_t first, size_t end)
{
    for (size_t at = first; at < end; at += GROUP) {
        size_t rows = ny_smaller(end - at, GROUP);
        double square[GROUP * GROUP];

        for (size_t i = 0; i < rows; i++)
            for (size_t k = 0; k <= i; k++)
                square[i * GROUP + k] = square[k * GROUP + i] = p->A[(at + i) * p->stride + at + k];
        add_part((struct part){square, GROUP, 1, rows}, p->X + at * NY_NARROW,
                 p->Y + at * NY_NARROW, rows, 1);
    }
}

/* Sums of a row go from left to right, whichever group it is in. */
static void symmetric(const struct ny_narrow_product *p, size_t first, size_t count)
{
    memset(p->Y + first * NY_NARROW, 0, count * NY_NARROW * sizeof(double));
    add_rows_of(p, first, first + count, true);
    add_squares(p, first, first + count);
    add_columns_of(p, first, first + count, true, 1);
}

static void multiply(const struct ny_narrow_product *p, size_t first, size_t count)
{
    memset(p->Y + first * NY_NARROW, 0, count * NY_NARROW * sizeof(double));
    add_rows_of(p, first, first + count, false);
}

static void subtract(const struct ny_narrow_product *p, size_t first, size_t count)
{
    add_columns_of(p, first, first + count, false, -1);
}

extern const struct ny_narrow_ops NY_VARIANT_NAME(ny_narrow_ops);
const struct ny_narrow_ops NY_VARIANT_NAME(ny_narrow_ops) = {symmetric, multiply, subtract};
