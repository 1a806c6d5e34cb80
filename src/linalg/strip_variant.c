/* A strip of a symmetric matrix times a vector; compiled once for each CPU family. */
#include "linalg/strip.h"

#include "base/vector.h"

/* Rows that are read along together: as many sums and factors as registers hold. A multiple of the
 * elements of a register, so that what is left of their diagonal square is in whole registers. */
enum { LANES = NY_VECTOR_BYTES / sizeof(double), ROWS = NY_VECTOR_BYTES < 64 ? 4 : 8 };

typedef double lanes __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8), may_alias));

static inline double sum_of(const lanes *v)
{
    double sum = 0;

    for (size_t i = 0; i < LANES; i++)
        sum += (*v)[i];
    return sum;
}

/* y += A x under way. */
struct product {
    const double *A;
    size_t stride;
    const double *x;
    double *y;
};

/* The columns 0 … cols−1, whole registers of them, of `rows` rows, which the compiler knows:
 * yᵣ += aᵣ·x, and y += Σ aᵣ xᵣ. */
static inline __attribute__((always_inline)) void
left_of_square(const struct product *p, size_t first, size_t cols, const size_t rows)
{
    const double *A = p->A + first * p->stride, *x_rows = p->x + first;
    lanes sum[ROWS] = {{0}};

    for (size_t j = 0; j < cols; j += LANES) {
        lanes v = *(const lanes *)(p->x + j), w = *(lanes *)(p->y + j);

#pragma GCC unroll 8
        for (size_t r = 0; r < rows; r++) {
            lanes a = *(const lanes *)(A + r * p->stride + j);

            sum[r] += a * v;
            w += a * x_rows[r];
        }
        *(lanes *)(p->y + j) = w;
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; r++)
        p->y[first + r] += sum_of(&sum[r]);
}

/* The square of `rows` rows on the diagonal: its lower triangle. */
static void square(const struct product *p, size_t first, size_t rows)
{
    const double *x = p->x + first;
    double *y = p->y + first;

    for (size_t i = 0; i < rows; i++) {
        const double *a = p->A + (first + i) * p->stride + first;

        y[i] += a[i] * x[i];
        for (size_t j = 0; j < i; j++) {
            y[i] += a[j] * x[j];
            y[j] += a[j] * x[i];
        }
    }
}

ny_strip_fn NY_VARIANT_NAME(ny_strip);
void NY_VARIANT_NAME(ny_strip)(const double *A, size_t stride, size_t first, size_t rows,
                               const double *x, double *y)
{
    const struct product p = {A, stride, x, y};

    for (size_t at = first; at < first + rows; at += ROWS) {
        size_t group = first + rows - at < ROWS ? first + rows - at : ROWS;

        if (group == ROWS)
            left_of_square(&p, at, at, ROWS);
        else
            for (size_t r = 0; r < group; r++)
                left_of_square(&p, at + r, at, 1);
        square(&p, at, group);
    }
}
