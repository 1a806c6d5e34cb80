/*
 * The projection on the span of the dictionary: the exact eigenpairs of K̃ = C W⁺ Cᵀ (Ouimet &
 * Bengio 2005, Algorithm 1, steps 17–23: A = C W⁺, AᵀA u = λ W⁻¹ u). With W = LLᵀ that is the
 * symmetric problem L⁻¹ G L⁻ᵀ V = V Λ, and Û = C L⁻ᵀ V Λ^-½ is orthonormal. Where W is rank
 * deficient, B = U_r Σ_r^-½ takes the place of L⁻ᵀ; or, with many landmarks, the part below the cut
 * is deflated (deflate.c).
 */
#include "spectral/projected.h"

#include <math.h>
#include <string.h>

#include "linalg/factor.h"
#include "spectral/methods.h"
#include "spectral/smallest.h"

enum { BLOCK = 256 };

int ny_projected_factorise(const struct ny_problem *problem, struct ny_basis *basis,
                           bool *full_rank)
{
    double smallest;
    int err;

    *full_rank = false;
    if (problem->rank && problem->rank < basis->r) return NY_OK;
    err = ny_factor(problem->ctx, basis->W, full_rank);
    if (err || !*full_rank) return err;
    err = ny_smallest_eigenvalue(problem->ctx, basis->W, &smallest);
    *full_rank = err == NY_OK && smallest > NY_CUT_MARGIN * basis->gram_cut;
    return err;
}

/* Computes tr K̃ and tr K, and judges the Gram's precision, from A = BᵀGB (lower triangle in `A`)
 * and λ₁ ≥ max a_ii. With implicit centring tr K loses n cᵀW⁺c = n‖z‖², z = Bᵀc. */
static void certify(const struct ny_problem *problem, const struct ny_basis *basis,
                    struct ny_matrix A, const double *z, struct ny_solution *solution)
{
    solution->trace_approx = ny_basis_trace(A, solution);
    solution->trace = basis->trace;
    if (problem->normalisation == NY_CENTRED_IMPLICIT)
        solution->trace -= (double)problem->n * ny_dot(z, z, A.rows);
    if (solution->trace_approx > solution->trace * (1 + 1e-6)) solution->inaccurate = true;
}

size_t ny_projected_scale(const struct ny_problem *problem, struct ny_solution *solution,
                          const double *lambda, struct ny_matrix V)
{
    /* With f32 tiles, columns of C′P are not orthonormal to 5e-3 below m·2⁻⁴⁵λ₁. */
    double noise = problem->gram == NY_GRAM_F32 ? 1e-9
                                                : (double)problem->m *
                                                      (problem->f32_tiles ? 0x1p-45 : 0x1p-53);
    size_t kept = 0;

    while (kept < V.rows && lambda[kept] > noise * lambda[0]) {
        solution->values[kept] = lambda[kept];
        for (size_t i = 0; i < V.cols; i++)
            V.at[kept * V.stride + i] /= sqrt(lambda[kept]);
        kept++;
    }
    if (V.rows && lambda[V.rows - 1] < -1e-6 * lambda[0]) solution->inaccurate = true;
    /* The rest of the rank of W cannot be told from rounding. */
    if (kept < V.rows) solution->rank_effective = kept;
    return kept;
}

/* The arrays of a solution: k eigenpairs of A, and two vectors. */
struct room {
    struct ny_matrix V;     /* k × r */
    double *lambda, *z, *s; /* k, r, r */
};

static void lay(struct ny_layout *l, struct room *room, size_t r, size_t k)
{
    room->lambda = ny_lay_pairs(l, k, r, &room->V);
    room->z = ny_lay(l, NY_MEM_SOLVE, r, sizeof(double));
    room->s = ny_lay(l, NY_MEM_SOLVE, r, sizeof(double));
}

/* L: of W_R, `rank` of whose eigenvectors are left in the problem. */
static int solve_full_rank(struct ny_problem *problem, struct ny_basis *basis, size_t rank,
                           struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    struct ny_matrix L = basis->W, A = basis->G, P_R = ny_rows(solution->P, 0, basis->r);
    size_t p = solution->p, k = p < basis->r ? p : basis->r, kept;
    struct ny_layout l = {.ctx = ctx};
    struct room room;
    double *z;
    int err;

    lay(&l, &room, basis->r, k);
    z = room.z;
    err = l.err;
    if (err) goto done;
    memcpy(z, basis->c, basis->r * sizeof(double));
    ny_solve_lower(L, ny_matrix(z, basis->r, 1));
    err = ny_factor_reduce(ctx, L, A);                                  /* A = L⁻¹ G L⁻ᵀ */
    if (err) goto done;
    ny_solve_lower(L, ny_matrix(basis->s_R, basis->r, 1));
    ny_solve_lower(L, ny_matrix(basis->b_R, basis->r, 1));
    ny_basis_move(basis, A, basis->s_R, basis->b_R);
    certify(problem, basis, A, z, solution);
    ny_solve_lower_t(L, ny_matrix(z, basis->r, 1));
    for (size_t i = 0; i < basis->r && problem->normalisation == NY_CENTRED_IMPLICIT; i++)
        solution->averages[i] = -z[i];                  /* u = W⁺s/n */
    err = ny_eigen_top(ctx, A, k, room.lambda, room.V); /* A V = V Λ */
    if (err) goto done;
    solution->rank_effective = rank;
    kept = ny_projected_scale(problem, solution, room.lambda, room.V);
    for (size_t j = 0; j < kept; j++)
        for (size_t i = 0; i < basis->r; i++)
            P_R.at[i * P_R.stride + j] = room.V.at[j * basis->r + i];
    ny_solve_lower_t(L, P_R); /* P = L⁻ᵀ V Λ^-½ */
    err = ny_basis_finish(basis, problem, solution);
done:
    ny_layout_free(&l);
    return err;
}

/* A = B G Bᵀ, B's rows whitened eigenvectors, into the lower triangle of W, whose strict upper
 * triangle stays; block rows of B at a time. */
static int project_gram(struct ny_context *ctx, struct ny_basis *basis, struct ny_matrix B,
                        struct ny_matrix A)
{
    struct ny_layout l = {.ctx = ctx};
    double *at = ny_lay_matrix(&l, NY_MEM_SOLVE, BLOCK, B.cols + B.rows).at;

    if (l.err) return ny_layout_end(&l);
    for (size_t first = 0; first < B.rows; first += BLOCK) {
        size_t count = B.rows - first < BLOCK ? B.rows - first : BLOCK;
        struct ny_matrix BG = ny_matrix(at, count, B.cols);
        struct ny_matrix rows = ny_matrix(at + BLOCK * B.cols, count, first + count);

        ny_gemm(1, ny_rows(B, first, count), basis->G, 0, BG);
        ny_gemm(1, BG, ny_t(ny_rows(B, 0, first + count)), 0, rows);
        for (size_t i = 0; i < count; i++)
            memcpy(A.at + (first + i) * A.stride, rows.at + i * rows.stride,
                   (first + i + 1) * sizeof(double));
    }
    return ny_layout_end(&l);
}

int ny_projected_whiten(struct ny_problem *problem, struct ny_basis *basis,
                        struct ny_solution *solution, struct ny_matrix *B)
{
    struct ny_context *ctx = problem->ctx;
    double *sigma = ny_calloc(ctx, NY_MEM_SOLVE, B->rows, sizeof(double));
    int err = NY_EBUDGET;

    if (!sigma) goto done;
    err = ny_eigen_top(ctx, basis->W, B->rows, sigma, *B);              /* W = U Σ Uᵀ */
    if (err) goto done;
    ny_solution_count(solution, sigma, B->rows, basis->gram_cut);
    B->rows = solution->rank_effective = ny_basis_whiten(basis, sigma, *B);
    if (!B->rows) err = ny_basis_empty(ctx);
done:
    ny_free(ctx, sigma);
    return err;
}

static int solve_rank_cut(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    size_t r = basis->r, p = solution->p, k, kept;
    size_t rank = problem->rank && problem->rank < r ? problem->rank : r;
    struct ny_layout l = {.ctx = ctx};
    struct ny_matrix B = ny_lay_matrix(&l, NY_MEM_SOLVE, rank, r), A, V;
    struct room room;
    double *z;
    int err;

    lay(&l, &room, r, p);
    z = room.z;
    err = l.err;
    if (!err) err = ny_projected_whiten(problem, basis, solution, &B);
    if (err) goto done;
    A = (struct ny_matrix){basis->W.at, B.rows, B.rows, basis->W.stride, false};
    err = project_gram(ctx, basis, B, A);                               /* A = BᵀGB */
    if (err) goto done;
    ny_gemv(1, B, basis->s_R, 0, room.s);
    ny_gemv(1, B, basis->b_R, 0, z);
    ny_basis_move(basis, A, room.s, z);
    ny_gemv(1, B, basis->c, 0, z);
    certify(problem, basis, A, z, solution);
    if (problem->normalisation == NY_CENTRED_IMPLICIT)
        ny_gemv(-1, ny_t(B), z, 0, solution->averages);                 /* u = W⁺s/n */
    k = p < B.rows ? p : B.rows;
    V = ny_matrix(room.V.at, k, B.rows);
    err = ny_eigen_top(ctx, A, k, room.lambda, V); /* A V = V Λ */
    if (err) goto done;
    kept = ny_projected_scale(problem, solution, room.lambda, V);
    if (kept > 0)
        ny_gemm(1, ny_t(B), ny_t(ny_rows(V, 0, kept)), 0,               /* P = B V Λ^-½ */
                ny_cols(ny_rows(solution->P, 0, r), 0, kept));
    err = ny_basis_finish(basis, problem, solution);
done:
    ny_layout_free(&l);
    return err;
}

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    size_t deflated = 0;
    bool full_rank;
    int err = ny_projected_factorise(problem, basis, &full_rank);

    if (err) return err;
    if (full_rank) return solve_full_rank(problem, basis, basis->r, solution);
    err = ny_deflate(problem, basis, &deflated);
    if (err) return err;
    if (deflated) return solve_full_rank(problem, basis, basis->r - deflated, solution);
    err = ny_basis_restore(basis, problem->ctx);
    return err ? err : solve_rank_cut(problem, basis, solution);
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    struct ny_basis basis = {0};
    int err = ny_solution_new(solution, problem);

    if (err == NY_OK) err = ny_basis_new(&basis, problem);
    if (err == NY_OK) err = solve_in_basis(problem, &basis, solution);
    ny_basis_release(&basis);
    return err;
}

int ny_projected_degrees(struct ny_problem *problem, const double *s, double *v)
{
    struct ny_context *ctx = problem->ctx;
    struct ny_problem raw = *problem;
    struct ny_basis basis = {0};
    struct ny_solution unused = {0};
    double *z = ny_calloc(ctx, NY_MEM_SOLVE, problem->m, sizeof(double)), *at = NULL;
    struct ny_matrix B;
    bool full_rank;
    int err = NY_EBUDGET;

    if (!z) goto done;
    raw.normalisation = NY_RAW;
    raw.acc = NULL;
    err = ny_basis_new(&basis, &raw);
    if (!err) err = ny_projected_factorise(&raw, &basis, &full_rank);
    if (err) goto done;
    memcpy(v, s, problem->m * sizeof(double));
    if (full_rank) {
        ny_solve_lower(basis.W, ny_matrix(v, problem->m, 1));
        ny_solve_lower_t(basis.W, ny_matrix(v, problem->m, 1));
        goto done;
    }
    err = ny_basis_restore(&basis, ctx);
    if (err) goto done;
    B.rows = problem->rank && problem->rank < problem->m ? problem->rank : problem->m;
    at = ny_calloc(ctx, NY_MEM_SOLVE, B.rows, problem->m * sizeof(double));
    err = NY_EBUDGET;
    if (!at) goto done;
    B = ny_matrix(at, B.rows, problem->m);
    err = ny_projected_whiten(&raw, &basis, &unused, &B);
    if (err) goto done;
    ny_gemv(1, B, s, 0, z);                                             /* v = B Bᵀs */
    ny_gemv(1, ny_t(B), z, 0, v);
done:
    ny_basis_release(&basis);
    ny_free(ctx, at);
    ny_free(ctx, z);
    return err;
}

static double flops(const struct ny_problem *problem, size_t k)
{
    double M = (double)problem->m, P = (double)problem->components;

    (void)k;
    return (1.0 / 3 + 1 + 4.0 / 3) * M * M * M + 6 * M * M * P;
}

void ny_projected_whiten_count(struct ny_layout *l, size_t m, size_t rank)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    ny_lay(l, NY_MEM_SOLVE, rank, sizeof(double));
    ny_eigen_top_count(l, m, rank);
    ny_layout_back(l, &mark);
}

/* It cannot be foreseen whether the rank is full. */
static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    size_t m = problem->m, p = problem->components, rank = k ? k : m;

    ny_basis_count(l, problem);
    ny_deflate_count(l, m);
    lay(l, &(struct room){.z = NULL}, m, p);
    ny_factor_reduce_count(l, m);
    ny_eigen_top_count(l, m, p);
    ny_lay_matrix(l, NY_MEM_SOLVE, rank, m); /* whitened vectors */
    ny_projected_whiten_count(l, m, rank);
    ny_basis_finish_count(l, m, p);
    ny_lay_matrix(l, NY_MEM_SOLVE, BLOCK, m + rank);
}

const struct ny_method ny_method_projected = {
    .name = "projected",
    .summary = "the best from its landmarks, in two passes",
    .options = "certify|online|rank|inner|oversample|power",
    .rule = "rpcholesky",
    .affine = true,
    .needs_gram = true,
    .implicit = true,
    .trace_below = true,
    .all_ranks = true,
    .solve = solve,
    .degrees = ny_projected_degrees,
    .flops = flops,
    .count = count,
};
