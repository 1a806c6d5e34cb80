/* AᵀDY of tall A and Y, the strips of Y one by one; compiled once for each CPU family. A product of
 * so few columns is a matter of registers: sums of 8 or 16 columns stay there, and rows are read as
 * they are stored, while a library's GEMM of these shapes takes nearly twice as long. */
#include "graph/lobpcg_private.h"

#include "base/cpu.h"

typedef double lanes __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8)));

enum { LANES = NY_VECTOR_BYTES / sizeof(double), TILE = NY_VECTOR_REGISTERS / 2 };

static inline lanes *lanes_at(const double *x)
{
    return (lanes *)(void *)(uintptr_t)x;
}

/* Adds AᵀY for at most TILE columns of A from `column` on and some lanes of Y from `lane` on. */
static inline __attribute__((always_inline)) void
add_tile(const struct ny_strip_gram *gram, size_t count, size_t column, size_t columns, size_t lane)
{
    double *to = gram->sum + column * gram->sum_stride + lane;
    const double *a = gram->a + column, *y = gram->y + lane;
    lanes sum[TILE];

#pragma GCC unroll 16
    for (size_t k = 0; k < columns; k++)
        sum[k] = *lanes_at(to + k * gram->sum_stride);
    for (size_t i = 0; i < count; i++) {
        lanes dy = gram->weight[i] * *lanes_at(y + i * gram->y_stride);

#pragma GCC unroll 16
        for (size_t k = 0; k < columns; k++)
            sum[k] += a[i * gram->a_stride + k] * dy;
    }
#pragma GCC unroll 16
    for (size_t k = 0; k < columns; k++)
        *lanes_at(to + k * gram->sum_stride) = sum[k];
}

#define ADD NY_VARIANT_NAME(ny_strip_gram_add)

extern ny_strip_gram_fn ADD;

void ADD(const struct ny_strip_gram *gram, size_t count)
{
    for (size_t lane = 0; lane < NY_STRIP_COLUMNS; lane += LANES) {
        size_t column = 0;

        for (; column + TILE <= gram->columns; column += TILE)
            add_tile(gram, count, column, TILE, lane);
        for (; column + NY_STRIP_COLUMNS <= gram->columns; column += NY_STRIP_COLUMNS)
            add_tile(gram, count, column, NY_STRIP_COLUMNS, lane);
        for (; column < gram->columns; column++)
            add_tile(gram, count, column, 1, lane);
    }
}
