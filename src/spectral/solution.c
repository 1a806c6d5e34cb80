/* The solution of a method's small problem: its arrays, and what is counted of its eigenvalues. */
#include <math.h>

#include "spectral/method.h"

int ny_solution_new(struct ny_solution *solution, struct ny_problem *problem)
{
    struct ny_context *ctx = problem->ctx;
    size_t p = problem->components, m = problem->m;

    *solution = (struct ny_solution){.m = m, .p = p, .trace = NAN, .trace_approx = NAN};
    solution->P = ny_matrix(ny_calloc(ctx, NY_MEM_MODEL, m, p * sizeof(double)), m, p);
    solution->q = ny_calloc(ctx, NY_MEM_MODEL, p, sizeof(double));
    solution->values = ny_calloc(ctx, NY_MEM_MODEL, p, sizeof(double));
    solution->averages = ny_calloc(ctx, NY_MEM_MODEL, m, sizeof(double));
    return solution->P.at && solution->q && solution->values && solution->averages ? NY_OK
                                                                                   : NY_EBUDGET;
}

void ny_solution_lose(struct ny_solution *solution, const struct ny_problem *problem, size_t k)
{
    solution->values[k] = k < problem->ranks ? (double)NAN : 0;
    solution->q[k] = 0;
    for (size_t i = 0; i < solution->P.rows; i++)
        solution->P.at[i * solution->P.stride + k] = 0;
}

void ny_solution_release(struct ny_solution *solution, struct ny_context *ctx)
{
    ny_free(ctx, solution->P.at);
    ny_free(ctx, solution->q);
    ny_free(ctx, solution->values);
    ny_free(ctx, solution->averages);
    *solution = (struct ny_solution){0};
}

size_t ny_solution_count(struct ny_solution *solution, const double *values, size_t count,
                         double cut)
{
    double total = 0, negative = 0;
    size_t above = 0;

    solution->negative = 0;
    for (size_t j = 0; j < count; j++) {
        total += fabs(values[j]);
        if (values[j] > cut) above++;
        if (values[j] >= -cut) continue;
        solution->negative++;
        negative -= values[j];
    }
    solution->negative_share = total > 0 ? negative / total : 0;
    return above;
}
