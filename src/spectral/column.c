/*
 * Column sampling: λ̂ = √(n/m) Σ_C, Û = C V_k Σ_C⁺ with C = ÛΣ_CVᵀ from G = CᵀC = V Σ_C² Vᵀ
 * (Talwalkar, Kumar, Mohri & Rowley 2013, eq. 4; Talwalkar, Kumar & Rowley 2008, eqs. 8 and 9).
 */
#include "spectral/methods.h"

#include <math.h>

#include "spectral/basis.h"

static double trace_of(struct ny_matrix A)
{
    double sum = 0;

    for (size_t i = 0; i < A.rows; i++)
        sum += A.at[i * (A.stride + 1)];
    return sum;
}

/* Bounds the rounding noise in the eigenvalues of G, the largest of which is `top`. `before` is its
 * trace before it was moved and centred, but divided by degrees where they are. */
static double noise_of(const struct ny_problem *problem, double top, double before)
{
    double share = (double)problem->m * 0x1p-53;

    if (problem->f32_tiles) share = fmax(share, 0x1p-44);
    return share * fmax(top, before);
}

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis, double before,
                          struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    double n = (double)problem->n, m = (double)problem->m, noise;
    size_t p = solution->p, k = p < basis->r ? p : basis->r;
    struct ny_layout l = {.ctx = ctx};
    struct ny_matrix V;
    double *squares = ny_lay_pairs(&l, k, basis->r, &V);
    int err = l.err;

    if (!err) err = ny_eigen_top(ctx, basis->G, k, squares, V); /* G = V Σ_C² Vᵀ */
    if (err) goto done;
    noise = k > 0 ? noise_of(problem, squares[0], before) : 0;
    for (size_t j = 0; j < k && squares[j] > noise; j++) {
        double sigma = sqrt(squares[j]);

        solution->rank_effective = j + 1;
        solution->values[j] = sqrt(n / m) * sigma;                      /* eq. 4: λ̂ = √(n/m) σ */
        for (size_t i = 0; i < basis->r; i++)                           /* eq. 4: P = V Σ_C⁺ */
            solution->P.at[i * p + j] = V.at[j * basis->r + i] / sigma;
    }
    if (k > 0 && !solution->rank_effective) err = ny_basis_empty(ctx);
    if (!err) err = ny_basis_finish(basis, problem, solution);
done:
    ny_layout_free(&l);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    struct ny_basis basis = {0};
    double before = 0;
    int err = ny_solution_new(solution, problem);

    if (err == NY_OK) before = trace_of(problem->acc->G);
    if (err == NY_OK) err = ny_basis_new(&basis, problem);
    if (err == NY_OK && ny_divided(problem->normalisation)) before = trace_of(basis.G);
    if (err == NY_OK) ny_basis_move_gram(&basis);
    if (err == NY_OK) err = solve_in_basis(problem, &basis, before, solution);
    ny_basis_release(&basis);
    return err;
}

static double flops(const struct ny_problem *problem, size_t k)
{
    double M = (double)problem->m, P = (double)problem->components;

    (void)k;
    return 4.0 / 3 * M * M * M + 4 * M * M * P;
}

static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m, p = problem->components;
    struct ny_matrix V;

    (void)k;
    ny_basis_count(l, problem);
    ny_lay_pairs(l, p, m, &V);
    ny_eigen_top_count(l, m, p);
    ny_basis_finish_count(l, m, p);
}

const struct ny_method ny_method_column = {
    .name = "column",
    .summary = "singular vectors of the landmarks' columns of K",
    .options = "online",
    .rule = "uniform",
    .needs_gram = true,
    .gram_f64 = true, /* √ of what f32 leaves of G's small eigenvalues would be 1e-4 of the top */
    .uniform_only = true,
    .solve = solve,
    .flops = flops,
    .count = count,
};
