/*
 * Orthonormal Nyström (Talwalkar, Kumar, Mohri & Rowley 2013, section 3.1): the eigenvalues of
 * Nyström's method, and Q of Û_nys = QR for its eigenvectors, which alone are not orthonormal.
 *
 * Û_nys = ΦP is n × p and never stored: R comes from Cholesky of (ΦP)ᵀ(ΦP) = PᵀGP, and Q = ΦPR⁻¹.
 * If the columns are nearly dependent, this is done once more (CholeskyQR2). The rounding noise of
 * a column must not become one of unit length: such columns are dropped.
 */
#include <math.h>
#include <string.h>

#include "spectral/nystrom.h"

/* The least pivot of PᵀGP, relative to the column: G has a relative error of 2⁻⁵³, and below this
 * less than seven bits of the column are left. */
static const double noise = 0x1p-46;
/* A pivot this small beside its ‖ΦP_j‖² costs three digits of orthogonality. */
static const double ill_conditioned = 1e-3;

struct workspace {
    double *products, *gram, *limit; /* r × k, k × k, k */
    size_t *column;                  /* k */
};

static void lay(struct ny_layout *l, struct workspace *space, size_t r, size_t k)
{
    space->products = ny_lay(l, NY_MEM_SOLVE, r, k * sizeof(double));
    space->gram = ny_lay(l, NY_MEM_SOLVE, k, k * sizeof(double));
    space->limit = ny_lay(l, NY_MEM_SOLVE, k, sizeof(double));
    space->column = ny_lay(l, NY_MEM_SOLVE, k, sizeof(size_t));
}

/* GP and A = PᵀGP; limit_j = noise·tr G·‖P_j‖², what rounding makes of a_jj. */
static struct ny_matrix project_gram(const struct ny_basis *basis, struct ny_matrix P,
                                     struct workspace *space)
{
    struct ny_matrix GP = ny_matrix(space->products, P.rows, P.cols);
    struct ny_matrix A = ny_matrix(space->gram, P.cols, P.cols);
    double trace = 0;

    for (size_t i = 0; i < basis->r; i++)
        trace += basis->G.at[i * basis->G.stride + i];
    for (size_t j = 0; j < P.cols; j++) {
        space->limit[j] = 0;
        for (size_t i = 0; i < P.rows; i++)
            space->limit[j] += noise * trace * P.at[i * P.stride + j] * P.at[i * P.stride + j];
    }
    ny_gemm(1, basis->G, P, 0, GP);
    ny_gemm(1, ny_t(P), GP, 0, A);
    return A;
}

/* A = LLᵀ over the columns whose pivot is above its limit: L takes the place of A's first rows,
 * column[t] is the column of its row t. Returns how many; *smallest: the least of pivot/a_jj. */
static size_t factorise(struct ny_matrix A, const double *limit, size_t *column, double *smallest)
{
    size_t kept = 0;

    *smallest = 1;
    for (size_t j = 0; j < A.rows; j++) {
        double *row = A.at + j * A.stride, diagonal = row[j], pivot;

        for (size_t t = 0; t < kept; t++) { /* l_jt takes a_jt's place: column[t] ≥ t */
            const double *L = A.at + t * A.stride;

            row[t] = (row[column[t]] - ny_dot(L, row, t)) / L[t];
        }
        pivot = diagonal - ny_dot(row, row, kept);
        if (!(pivot > limit[j])) continue;
        row[kept] = sqrt(pivot);
        memmove(A.at + kept * A.stride, row, (kept + 1) * sizeof(*row));
        column[kept++] = j;
        *smallest = fmin(*smallest, pivot / diagonal);
    }
    return kept;
}

/* P ← PR⁻¹ over the columns that are not dropped, which move to the front; A = RᵀR. */
static void orthonormalise(const struct ny_basis *basis, struct ny_solution *solution,
                           struct workspace *space, double *smallest)
{
    struct ny_matrix P = ny_cols(ny_rows(solution->P, 0, basis->r), 0, solution->rank_effective);
    struct ny_matrix A = project_gram(basis, P, space);
    size_t kept = factorise(A, space->limit, space->column, smallest);

    for (size_t t = 0; t < kept; t++) {
        solution->values[t] = solution->values[space->column[t]];
        for (size_t i = 0; i < P.rows; i++)
            P.at[i * P.stride + t] = P.at[i * P.stride + space->column[t]];
    }
    for (size_t t = kept; t < P.cols; t++) {
        solution->values[t] = 0;
        for (size_t i = 0; i < P.rows; i++)
            P.at[i * P.stride + t] = 0;
    }
    solution->rank_effective = kept;
    if (kept) /* R = Lᵀ */
        ny_solve_rows((struct ny_matrix){A.at, kept, kept, A.stride, false}, ny_cols(P, 0, kept));
}

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    struct ny_layout l = {.ctx = problem->ctx};
    size_t k = solution->p < basis->r ? solution->p : basis->r;
    struct workspace space;
    double smallest;
    int err;

    lay(&l, &space, basis->r, k);
    err = l.err;
    if (err) goto done;
    err = ny_nystrom_extend(problem, basis, solution, space.limit,      /* Û_nys = ΦP */
                            ny_matrix(space.products, k, basis->r));
    if (err) goto done;
    orthonormalise(basis, solution, &space, &smallest);                 /* Q = ΦPR⁻¹ */
    if (smallest < ill_conditioned) orthonormalise(basis, solution, &space, &smallest);
    err = solution->rank_effective ? ny_basis_finish(basis, problem, solution)
                                   : ny_basis_empty(problem->ctx);
done:
    ny_layout_free(&l);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    return ny_basis_solve(problem, solution, solve_in_basis);
}

static double flops(const struct ny_problem *problem, size_t k)
{
    double M = (double)problem->m, P = (double)problem->components;

    return ny_nystrom_flops(problem, k) + 2 * M * M * P + 4 * M * P * P;
}

static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m, p = problem->components;

    (void)k;
    ny_basis_count(l, problem);
    lay(l, &(struct workspace){0}, m, p);
    ny_nystrom_extend_count(l, problem, p);
    ny_basis_finish_count(l, m, p);
}

const struct ny_method ny_method_orthonystrom = {
    .name = "orthonystrom",
    .summary = "nystrom, made orthonormal in a second pass",
    .options = "online|inner|oversample|power",
    .rule = "uniform",
    .needs_gram = true,
    .gram_f64 = true, /* PᵀGP magnifies what f32 loses of G by (σ₁/σ_k)² */
    .uniform_only = true,
    .solve = solve,
    .flops = flops,
    .count = count,
};
