#include "support/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stream/source.h"

/* Rows per tile: small, so that several are folded. */
enum { TILE = 32 };

static double kernel_value(enum small_kernel kernel, const double *x, const double *y, size_t d)
{
    double dot = 0, square = 0, dims = (double)d;

    for (size_t k = 0; k < d; k++) {
        dot += x[k] * y[k];
        square += (x[k] - y[k]) * (x[k] - y[k]);
    }
    switch (kernel) {
    case SMALL_WIDE: return exp(-square / (200 * dims));
    case SMALL_NARROW: return exp(-square / (0.2 * dims));
    case SMALL_LINEAR: return dot;
    case SMALL_POLYNOMIAL: return pow(dot / dims + 1, 2);
    default: return exp(-square / (2 * dims));
    }
}

void small_new(struct small *set, enum small_kernel kernel, size_t n, size_t d, size_t m)
{
    double *x = malloc(n * d * sizeof(*x));

    *set = (struct small){.n = n, .d = d, .m = m, .K = malloc(n * n * sizeof(double))};
    ny_gaussian(11, NY_STREAM_DATA, 0, x, n * d);
    for (size_t i = 0; i < n * d && kernel == SMALL_LINEAR; i++)
        x[i] += 10;
    for (size_t j = 0; j < m; j++)
        set->D[j] = (j * 17 + 5) % n;
    for (size_t j = 0; j < m / 4 && kernel == SMALL_DUPLICATES; j++)
        memcpy(x + set->D[m - 1 - j] * d, x + set->D[j] * d, d * sizeof(*x));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            set->K[i * n + j] = kernel_value(kernel, x + i * d, x + j * d, d);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            set->a[j] += set->K[set->D[i] * n + set->D[j]] / (double)m;
    free(x);
}

void small_free(struct small *set)
{
    free(set->K);
}

static double shifted(const struct small *set, size_t row, size_t j)
{
    return set->K[row * set->n + set->D[j]] - set->a[j];
}

static void fill_tile(const struct small *set, size_t first, size_t rows, float *c32, double *c64)
{
    memset(c32, 0, NY_UNIT_ROWS * set->m * sizeof(*c32));
    memset(c64, 0, NY_UNIT_ROWS * set->m * sizeof(*c64));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < set->m; j++) {
            c64[i * set->m + j] = shifted(set, first + i, j);
            c32[i * set->m + j] = (float)c64[i * set->m + j];
        }
}

static void accumulate(const struct small *set, enum small_tiles tiles, struct ny_partial *part,
                       struct ny_accumulator *acc)
{
    float *c32 = malloc(NY_UNIT_ROWS * set->m * sizeof(*c32));
    double *c64 = malloc(NY_UNIT_ROWS * set->m * sizeof(*c64)), diagonal[TILE];

    for (size_t first = 0; first < set->n; first += TILE) {
        size_t rows = set->n - first < TILE ? set->n - first : TILE;

        fill_tile(set, first, rows, c32, c64);
        for (size_t i = 0; i < rows; i++)
            diagonal[i] = set->K[(first + i) * (set->n + 1)];
        if (tiles == SMALL_F64)
            ny_partial_set64(part, ny_matrix(c64, NY_UNIT_ROWS, set->m), rows, diagonal);
        else
            ny_partial_set(part, ny_matrix32(c32, NY_UNIT_ROWS, set->m), rows, diagonal);
        ny_accumulator_fold(acc, part);
    }
    free(c32);
    free(c64);
}

int small_solve(const struct small *set, const struct ny_method *method, enum small_tiles tiles,
                struct ny_problem *problem, struct ny_solution *solution, double *U)
{
    enum ny_gram_precision gram = tiles == SMALL_F32 ? NY_GRAM_F32 : NY_GRAM_F64;
    size_t m = set->m, p = problem->components;
    double *W = malloc(m * m * sizeof(*W));
    struct ny_accumulator *acc = NULL;
    struct ny_partial *part = NULL;
    int err;

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            W[i * m + j] = set->K[set->D[i] * set->n + set->D[j]];
    err = ny_accumulator_new(&acc, problem->ctx, m);
    if (!err) err = ny_partial_new(&part, problem->ctx, m, gram);
    if (err) goto done;
    accumulate(set, tiles, part, acc);
    problem->m = m;
    problem->n = set->n;
    problem->W = ny_matrix(W, m, m);
    problem->a = set->a;
    problem->acc = acc;
    problem->gram = gram;
    problem->f32_tiles = tiles != SMALL_F64;
    err = method->solve(problem, solution);
    for (size_t i = 0; i < set->n && !err; i++)
        for (size_t k = 0; k < p; k++) {
            U[i * p + k] = solution->q[k];
            for (size_t j = 0; j < m; j++)
                U[i * p + k] += shifted(set, i, j) * solution->P.at[j * solution->P.stride + k];
        }
done:
    ny_partial_free(part);
    ny_accumulator_free(acc);
    free(W);
    return err;
}
