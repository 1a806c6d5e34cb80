/*
 * Sums that grow in columns: landmarks that joined after rows were summed. Such a row lacks only
 * s_joined and its entries of G in joined rows and columns: its c_joined times all of its columns.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "spectral/accumulator.h"
#include "stream/source.h"

enum { STRIP = NY_STRIP_ROWS };

struct ny_joined_partial *ny_joined_partial_lay(struct ny_layout *l, size_t m, size_t joined,
                                                enum ny_gram_precision precision)
{
    struct ny_joined_partial spare, *part = ny_lay_struct(l, NY_MEM_GRAM, sizeof(spare), &spare);

    *part = (struct ny_joined_partial){.precision = precision, .m = m, .joined = joined};
    part->s = ny_lay(l, NY_MEM_GRAM, joined, sizeof(double));
    if (precision == NY_GRAM_F32) {
        part->G32 = ny_lay(l, NY_MEM_GRAM, m, joined * sizeof(float));
        part->C32 = ny_lay(l, NY_MEM_GRAM, NY_UNIT_ROWS, joined * sizeof(float));
    } else {
        part->G64 = ny_lay(l, NY_MEM_GRAM, m, joined * sizeof(double));
        part->C64 = ny_lay(l, NY_MEM_GRAM, NY_UNIT_ROWS, joined * sizeof(double));
        part->strip = ny_lay(l, NY_MEM_GRAM, STRIP, m * sizeof(double));
    }
    return ny_laid(l, part);
}

/* s of the joined columns of C; those columns side by side into C32, zero beyond `rows`. */
static void gather32(struct ny_joined_partial *part, struct ny_matrix32 C, size_t rows)
{
    memset(part->s, 0, part->joined * sizeof(double));
    for (size_t i = 0; i < C.rows; i++)
        for (size_t k = 0; k < part->joined; k++) {
            float c = i < rows ? C.at[i * C.stride + part->columns[k]] : 0;

            part->s[k] += (double)c;
            if (part->C32)
                part->C32[i * part->joined + k] = c;
            else
                part->C64[i * part->joined + k] = (double)c;
        }
}

void ny_joined_partial_set(struct ny_joined_partial *part, struct ny_matrix32 C, size_t rows)
{
    struct ny_matrix G = ny_matrix(part->G64, part->m, part->joined);

    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && rows <= C.rows && !C.transposed);
    gather32(part, C, rows);
    if (part->precision == NY_GRAM_F32) {
        ny_gemm32(1, ny_t32(C), ny_matrix32(part->C32, C.rows, part->joined), 0,
                  ny_matrix32(part->G32, part->m, part->joined));
        return;
    }
    for (size_t first = 0; first < C.rows; first += STRIP) {
        ny_matrix_widen(ny_rows32(C, first, STRIP), part->strip);
        ny_gemm(1, ny_t(ny_matrix(part->strip, STRIP, part->m)),
                ny_matrix(part->C64 + first * part->joined, STRIP, part->joined), first > 0, G);
    }
}

void ny_joined_partial_set64(struct ny_joined_partial *part, struct ny_matrix C, size_t rows)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && rows <= C.rows && !C.transposed);
    assert(part->precision == NY_GRAM_F64);
    memset(part->s, 0, part->joined * sizeof(double));
    for (size_t i = 0; i < C.rows; i++)
        for (size_t k = 0; k < part->joined; k++) {
            double c = i < rows ? C.at[i * C.stride + part->columns[k]] : 0;

            part->s[k] += c;
            part->C64[i * part->joined + k] = c;
        }
    ny_gemm(1, ny_t(C), ny_matrix(part->C64, C.rows, part->joined), 0,
            ny_matrix(part->G64, part->m, part->joined));
}

/* The lower triangle of G: an entry between two joined columns is taken once. */
void ny_accumulator_fold_joined(struct ny_accumulator *acc, const struct ny_joined_partial *part)
{
    size_t next = 0; /* the joined columns before row i */

    for (size_t i = 0; i < acc->m; i++) {
        bool joined = next < part->joined && part->columns[next] == i;

        for (size_t k = 0; k < part->joined; k++) {
            size_t j = part->columns[k], from = i * part->joined + k;
            double g = part->G32 ? (double)part->G32[from] : part->G64[from];

            if (j <= i)
                acc->G.at[i * acc->G.stride + j] += g;
            else if (!joined)
                acc->G.at[j * acc->G.stride + i] += g;
        }
        next += joined;
    }
    for (size_t k = 0; k < part->joined; k++)
        acc->s[part->columns[k]] += part->s[k];
}

void ny_accumulator_shift(struct ny_accumulator *acc, const double *delta)
{
    const double *s = acc->s;

    for (size_t i = 0; i < acc->m; i++)
        for (size_t j = 0; j <= i; j++)
            acc->G.at[i * acc->G.stride + j] +=
                acc->omega * delta[i] * delta[j] - s[i] * delta[j] - delta[i] * s[j];
    for (size_t j = 0; j < acc->m; j++)
        acc->s[j] -= acc->omega * delta[j];
}

void ny_accumulator_move(struct ny_accumulator *acc, const double *delta)
{
    acc->t += acc->omega * ny_dot(delta, delta, acc->m) - 2 * ny_dot(delta, acc->s, acc->m);
    ny_accumulator_shift(acc, delta);
}
