#include "spectral/smallest.h"

#include <math.h>

#include "base/memory.h"

int ny_smallest_eigenvalue(struct ny_context *ctx, struct ny_matrix L, double *value)
{
    enum { STEPS = 8 };
    double *x = ny_alloc(ctx, NY_MEM_SOLVE, L.rows * sizeof(double));

    *value = 0;
    if (!x) return NY_EBUDGET;
    for (size_t i = 0; i < L.rows; i++)
        x[i] = 1 + 0.5 * (double)(i % 3) - 2 * (double)(i % 2);
    for (int step = 0; step < STEPS; step++) {
        double length = sqrt(ny_dot(x, x, L.rows));

        for (size_t i = 0; i < L.rows; i++)
            x[i] /= length;
        ny_solve_lower(L, ny_matrix(x, L.rows, 1));
        ny_solve_lower_t(L, ny_matrix(x, L.rows, 1));
        *value = 1 / sqrt(ny_dot(x, x, L.rows));
    }
    ny_free(ctx, x);
    return NY_OK;
}
