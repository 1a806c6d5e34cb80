/* Compiled once for each CPU family. Rows of Z are read as they are stored, one value at a time for
 * all columns of the step, whose sums stay in registers; only L is packed. */
#include "select/advance.h"

#include <string.h>

#include "base/cpu.h"
#include "base/vector.h"

typedef double lanes __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8)));

typedef double eight __attribute__((vector_size(64), aligned(8)));

enum {
    COLUMNS = NY_ADVANCE_COLUMNS,
    LANES = NY_VECTOR_BYTES / sizeof(double),
    PARTS = COLUMNS / LANES, /* registers of a row */
    ROWS = 6                 /* with 24 of 32 registers for sums */
};

static inline lanes *lanes_at(const double *x)
{
    return (lanes *)(void *)(uintptr_t)x;
}

/* OpenBLAS adds up so many terms in a register, before it takes them off C. */
static size_t terms_at_once(size_t left)
{
    const size_t most = 384, unroll = 16;

    if (left >= 2 * most) return most;
    return left > most ? (left / 2 + unroll - 1) / unroll * unroll : left;
}

/* Eight rows of eight, turned: pairs, then pairs of pairs, then halves change places. */
static inline void turn(const double *from, size_t stride, double *to, size_t to_stride)
{
    eight in[8], out[8];

#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        in[i] = *(const eight *)(const void *)(from + i * stride);
#pragma GCC unroll 4
    for (size_t i = 0; i < 8; i += 2) {
        out[i] = NY_SHUFFLE(in[i], in[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        out[i + 1] = NY_SHUFFLE(in[i], in[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        size_t at = i / 2 * 4 + i % 2;

        in[at] = NY_SHUFFLE(out[at], out[at + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        in[at + 2] = NY_SHUFFLE(out[at], out[at + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        out[i] = NY_SHUFFLE(in[i], in[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        out[i + 4] = NY_SHUFFLE(in[i], in[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        *(eight *)(void *)(to + i * to_stride) = out[i];
}

/* L by columns. */
static void pack(const struct ny_advance *step)
{
    for (size_t k = 0; k < step->from; k += 8)
        for (size_t j = 0; j < COLUMNS; j += 8)
            turn(step->L + j * step->L_stride + k, step->L_stride, step->packed + k * COLUMNS + j,
                 COLUMNS);
}

/* The number of rows is known when it is compiled. */
static inline __attribute__((always_inline)) void
multiply(const struct ny_advance *step, size_t row, size_t rows, size_t begin, size_t count)
{
    const double *z = step->Z + row * step->stride + begin;
    const double *l = step->packed + begin * COLUMNS;
    lanes sum[ROWS][PARTS] = {{{0}}};

    for (size_t k = 0; k < count; k++, l += COLUMNS) {
#pragma GCC unroll 16
        for (size_t r = 0; r < rows; r++) {
            double value = z[r * step->stride + k];

#pragma GCC unroll 16
            for (size_t part = 0; part < PARTS; part++)
                sum[r][part] += value * *lanes_at(l + part * LANES);
        }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; r++)
#pragma GCC unroll 16
        for (size_t part = 0; part < PARTS; part++)
            lanes_at(step->Z + (row + r) * step->stride + step->from)[part] -= sum[r][part];
}

/* ---- the triangle --------------------------------------------------------------------------- */

enum { PIECE = 16 }; /* OpenBLAS solves the triangle in pieces of so many columns */

struct triangle {
    double L[COLUMNS][COLUMNS], inverse[COLUMNS];
};

static void take_triangle(struct triangle *by, const struct ny_advance *step)
{
    const double *L = step->L + step->from;

    for (size_t i = 0; i < COLUMNS; i++) {
        memcpy(by->L[i], L + i * step->L_stride, (i + 1) * sizeof(*L));
        by->inverse[i] = 1 / by->L[i][i];
    }
}

/* Eight rows at a time, a column of them in a register: z is COLUMNS × 8. */
static void solve_eight(const struct triangle *by, eight z[COLUMNS])
{
    for (size_t first = 0; first < COLUMNS; first += PIECE) {
        eight at[PIECE];

#pragma GCC unroll 16
        for (size_t i = 0; i < PIECE; i++) {
            eight sum = {0};

            for (size_t k = 0; k < first; k++)
                sum += z[k] * by->L[first + i][k];
            at[i] = z[first + i] - sum;
        }
#pragma GCC unroll 16
        for (size_t j = 0; j < PIECE; j++) {
            at[j] *= by->inverse[first + j];
#pragma GCC unroll 16
            for (size_t i = j + 1; i < PIECE; i++)
                at[i] -= at[j] * by->L[first + i][first + j];
        }
        memcpy(z + first, at, sizeof(at));
    }
}

static void solve(const struct triangle *by, double *z, size_t stride)
{
    eight turned[COLUMNS];

    for (size_t j = 0; j < COLUMNS; j += 8)
        turn(z + j, stride, (double *)(turned + j), 8);
    solve_eight(by, turned);
    for (size_t j = 0; j < COLUMNS; j += 8)
        turn((double *)(turned + j), 8, z + j, stride);
}

/* Solves fewer than eight rows, in a copy with zeros for the others. */
static void solve_few(const struct triangle *by, double *z, size_t stride, size_t rows)
{
    double copy[8][COLUMNS] = {{0}};

    for (size_t i = 0; i < rows; i++)
        memcpy(copy[i], z + i * stride, sizeof(copy[i]));
    solve(by, copy[0], COLUMNS);
    for (size_t i = 0; i < rows; i++)
        memcpy(z + i * stride, copy[i], sizeof(copy[i]));
}

#define ADVANCE NY_VARIANT_NAME(ny_advance)

extern ny_advance_fn ADVANCE;

void ADVANCE(const struct ny_advance *step)
{
    struct triangle by;
    size_t row = 0;

    pack(step);
    for (size_t begin = 0, count; begin < step->from; begin += count) {
        count = terms_at_once(step->from - begin);
        for (row = 0; row + ROWS <= step->rows; row += ROWS)
            multiply(step, row, ROWS, begin, count);
        for (; row < step->rows; row++)
            multiply(step, row, 1, begin, count);
    }
    take_triangle(&by, step);
    for (row = 0; row + 8 <= step->rows; row += 8)
        solve(&by, step->Z + row * step->stride + step->from, step->stride);
    if (row < step->rows)
        solve_few(&by, step->Z + row * step->stride + step->from, step->stride, step->rows - row);
}
