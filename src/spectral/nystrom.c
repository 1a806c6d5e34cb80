/*
 * Nyström: λ̂ = (n/m) Σ_k, Û = √(m/n) C U_k Σ_k⁺ (Talwalkar, Kumar, Mohri & Rowley 2013, eq. 3;
 * Talwalkar, Kumar & Rowley 2008, eqs. 6 and 7), with the eigenproblem of W solved exactly or by
 * Li, Kwok & Lu 2010, Algorithm 2.
 */
#include "spectral/nystrom.h"

#include "linalg/eigen_few.h"

#include <math.h>

/* The randomized solver pays for a small part of the spectrum or a large W. For m/10 pairs of 4,000
 * the exact one takes at most twice its time, and gives three to five digits more (measured). */
bool ny_nystrom_randomized(const struct ny_problem *problem, size_t m, size_t k)
{
    if (problem->inner != NY_INNER_AUTO) return problem->inner == NY_INNER_RANDOMIZED;
    return k <= m / 40 || m >= 8000;
}

/* Returns k: --rank, or the components, but no more than the r directions of the basis. */
static size_t rank_of(const struct ny_problem *problem, size_t r)
{
    size_t k = problem->rank ? problem->rank : problem->components;

    return k < r ? k : r;
}

/* Computes tr K̃ = tr(W_k⁺G) = Σ u_jᵀ G u_j / σ_j, in k products with G. With implicit centring
 * tr K loses n cᵀW_k⁺c. */
static int certify(struct ny_problem *problem, const struct ny_basis *basis, const double *sigma,
                   struct ny_matrix U, struct ny_solution *solution)
{
    struct ny_layout l = {.ctx = problem->ctx};
    struct ny_matrix UG = ny_lay_matrix(&l, NY_MEM_SOLVE, U.rows, U.cols);
    double approx = 0, trace = basis->trace;

    if (l.err) return ny_layout_end(&l);
    ny_gemm(1, U, basis->G, 0, UG);
    for (size_t j = 0; j < U.rows; j++) {
        double centre = ny_dot(basis->c, U.at + j * U.stride, U.cols);

        approx += ny_dot(UG.at + j * U.cols, U.at + j * U.stride, U.cols) / sigma[j];
        if (problem->normalisation == NY_CENTRED_IMPLICIT)
            trace -= (double)problem->n * centre * centre / sigma[j];
    }
    solution->trace_approx = approx;
    solution->trace = trace;
    solution->inaccurate = approx > trace * (1 + 1e-6) || !isfinite(approx);
    return ny_layout_end(&l);
}

int ny_nystrom_extend(struct ny_problem *problem, struct ny_basis *basis,
                      struct ny_solution *solution, double *sigma, struct ny_matrix U)
{
    double n = (double)problem->n, m = (double)problem->m;
    size_t k = U.rows, p = solution->p;
    int err;

    if (ny_nystrom_randomized(problem, basis->r, k))                    /* W ≈ U Σ Uᵀ */
        err = ny_eigen_randomized(problem->ctx, basis->W, k, &problem->randomized, sigma, U);
    else
        err = ny_eigen_top(problem->ctx, basis->W, k, sigma, U);
    if (err) return err;
    solution->rank_effective = ny_solution_count(solution, sigma, k, basis->cut);
    for (size_t j = 0; j < p && j < solution->rank_effective; j++) {
        solution->values[j] = n / m * sigma[j];                         /* eq. 3: λ̂ = (n/m) σ */
        for (size_t i = 0; i < basis->r; i++)                           /* eq. 3: P = √(m/n) U Σ⁺ */
            solution->P.at[i * p + j] = sqrt(m / n) * U.at[j * basis->r + i] / sigma[j];
    }
    return solution->rank_effective ? NY_OK : ny_basis_empty(problem->ctx);
}

/* Tells whether U has the signs of Û over D: exact pairs have W P = √(m/n) U, and beside that
 * product Û over D has nothing but for averages over all rows and for degrees. */
static bool tells_signs(const struct ny_problem *problem, const struct ny_basis *basis, size_t k)
{
    return !basis->roots && problem->normalisation != NY_CENTRED_IMPLICIT &&
           !ny_nystrom_randomized(problem, basis->r, k);
}

/* Finds U and σ of W, then λ̂ and P of eq. 3, and the certificate where pass 1 has summed G. */
static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    size_t k = rank_of(problem, basis->r);
    struct ny_layout l = {.ctx = problem->ctx};
    struct ny_matrix U;
    double *sigma = ny_lay_pairs(&l, k, basis->r, &U);
    int err = l.err;

    if (!err) err = ny_nystrom_extend(problem, basis, solution, sigma, U); /* λ̂, P */
    if (err) goto done;
    if (problem->acc)
        err = certify(problem, basis, sigma, ny_rows(U, 0, solution->rank_effective), solution);
    if (err) goto done;
    if (tells_signs(problem, basis, k)) basis->vectors = ny_rows(U, 0, solution->rank_effective);
    err = ny_basis_finish(basis, problem, solution);
    basis->vectors.at = NULL;
done:
    ny_layout_free(&l);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    return ny_basis_solve(problem, solution, solve_in_basis);
}

double ny_nystrom_flops(const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m;
    double M = (double)m, K = (double)k, P = (double)problem->components;
    double r = K + (double)problem->randomized.oversample;

    if (!ny_nystrom_randomized(problem, m, k))
        return (ny_eigen_is_few(m, k) ? ny_eigen_few_flops(m, k) : 4.0 / 3 * M * M * M) +
               2 * M * M * (K + P);
    return 2 * M * M * r * ((double)problem->randomized.power + 1) + 6 * M * r * r + 2 * M * M * P;
}

void ny_nystrom_extend_count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    if (ny_nystrom_randomized(problem, problem->m, k))
        ny_eigen_randomized_count(l, problem->m, k, &problem->randomized);
    else
        ny_eigen_top_count(l, problem->m, k);
}

void ny_nystrom_count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m, p = problem->components;
    struct ny_matrix U;

    ny_basis_count(l, problem);
    ny_lay_pairs(l, k, m, &U);
    ny_nystrom_extend_count(l, problem, k);
    ny_basis_finish_count(l, m, p > k ? p : k); /* the certificate takes as much for k */
}

const struct ny_method ny_method_nystrom = {
    .name = "nystrom",
    .summary = "eigenvectors between the landmarks, extended, in one pass",
    .options = "certify|rank|inner|oversample|power",
    .rule = "uniform",
    .uniform_only = true,
    .trace_below = true,
    .solve = solve,
    .flops = ny_nystrom_flops,
    .count = ny_nystrom_count,
};
