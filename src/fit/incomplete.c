/* Least squares over the genotypes that are there (fit/incomplete.h). */
#include "fit/incomplete.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "linalg/matrix.h"

void ny_incomplete_lay(struct ny_layout *l, struct ny_incomplete *incomplete, size_t p,
                       unsigned workers)
{
    *incomplete = (struct ny_incomplete){.p = p};
    incomplete->roots = ny_lay(l, NY_MEM_MODEL, p, sizeof(double));
    incomplete->matrices = ny_lay(l, NY_MEM_TILES, workers * p, (p + 1) * sizeof(double));
}

void ny_incomplete_use(struct ny_incomplete *incomplete, const struct ny_model *model)
{
    incomplete->d = model->d;
    incomplete->P = model->P;
    for (size_t k = 0; k < incomplete->p; k++) {
        double square = 0;

        for (size_t j = 0; j < model->d; j++)
            square += model->P[j * model->p + k] * model->P[j * model->p + k];
        incomplete->roots[k] = square > 0 ? 1 / sqrt(square) : 0;
    }
}

/* A = I − V_MᵀV_M, its lower triangle; returns how many columns are missing. */
static size_t make_matrix(const struct ny_incomplete *in, const uint8_t *genotypes, double *A)
{
    const uint8_t *end = genotypes + in->d, *at = genotypes;
    size_t p = in->p, missing = 0;

    memset(A, 0, p * p * sizeof(*A));
    for (; (at = memchr(at, NY_GENOTYPE_MISSING, (size_t)(end - at))); at++, missing++) {
        const double *row = in->P + (size_t)(at - genotypes) * p;

        for (size_t i = 0; i < p; i++)
            for (size_t k = 0; k <= i; k++)
                A[i * p + k] -= row[i] * row[k];
    }
    for (size_t i = 0; i < p; i++) {
        for (size_t k = 0; k < i; k++)
            A[i * p + k] *= in->roots[i] * in->roots[k];
        A[i * p + i] = 1 + A[i * p + i] * in->roots[i] * in->roots[i];
    }
    return missing;
}

/* Solves for t, which has Vᵀz; false: it stays, since A is not positive beside rounding. */
static bool solve(double *A, size_t p, double *t)
{
    const double least = 0x1p-20;
    struct ny_matrix L = ny_matrix(A, p, p), x = ny_matrix(t, p, 1);

    if (ny_cholesky(L)) return false;
    for (size_t i = 0; i < p; i++)
        if (A[i * p + i] * A[i * p + i] < least) return false;
    ny_solve_lower(L, x);
    ny_solve_lower_t(L, x);
    return true;
}

#define ROW(name, type)                                                                            \
    void name(const struct ny_incomplete *in, unsigned worker, const uint8_t *genotypes, type *y)  \
    {                                                                                              \
        size_t p = in->p;                                                                          \
        double *A = in->matrices + worker * p * (p + 1), *t = A + p * p;                           \
                                                                                                   \
        if (!make_matrix(in, genotypes, A)) return;                                                \
        for (size_t k = 0; k < p; k++)                                                             \
            t[k] = (double)y[k] * in->roots[k];                                                    \
        if (!solve(A, p, t)) return;                                                               \
        for (size_t k = 0; k < p; k++)                                                             \
            y[k] = in->roots[k] > 0 ? (type)(t[k] / in->roots[k]) : 0;                             \
    }

ROW(ny_incomplete_row32, float)
ROW(ny_incomplete_row64, double)
