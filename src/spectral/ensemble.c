/*
 * Ensemble Nyström (Kumar, Mohri & Talwalkar 2009; Li, Kwok & Lu 2010, eqs. 3 and 5):
 * K̃ = Σ_r μ_r C_r W_{r,k}⁺ C_rᵀ over experts, which are slices of the landmarks.
 *
 * K̃ = C B Cᵀ with B = blockdiag(μ_r W_{r,k}⁺) = F J Fᵀ, F = blockdiag(√|μ_r| U_rΣ_r^-½), J = ±1
 * the signs of μ. With S = FᵀGF = V_sΛ_sV_sᵀ the columns of Q = C F V_sΛ_s^-½ are orthonormal, and
 * K̃ = Q (Λ_s^½V_sᵀJV_sΛ_s^½) Qᵀ: its eigenpairs, which Li et al. call unavailable, are those of
 * the matrix in the middle, and Û = Q times its vectors. If no weight is negative, J = I, and the
 * middle is Λ_s itself.
 *
 * One pass serves all experts. Their columns lie side by side in one C, and one G = CᵀC holds
 * C_rᵀC_q of each pair: the exact eigenpairs of Σ μ_r C_r W_r⁺ C_rᵀ need all of them, and a pass
 * for each expert would read the points as many times for the diagonal blocks alone. The columns
 * that weights are fitted on are the last ones of the same C, so that their errors are exact over
 * all rows without a further pass. In the passes an ensemble costs what `projected` does; in W only
 * the experts' blocks, of order m/experts, are decomposed.
 */
#include "spectral/ensemble.h"

#include <math.h>
#include <string.h>

#include "spectral/methods.h"

static size_t rank_of(const struct ny_problem *problem)
{
    return ny_ensemble_shape(problem).rank;
}

/* ---- the experts -------------------------------------------------------------------------- */

static void lay(struct ny_layout *l, struct ny_ensemble *ensemble)
{
    ensemble->offset = ny_lay(l, NY_MEM_SOLVE, ensemble->experts + 1, sizeof(size_t));
    ensemble->weight = ny_lay(l, NY_MEM_SOLVE, ensemble->experts, sizeof(double));
    ensemble->root =
        ny_lay_matrix(l, NY_MEM_SOLVE, ensemble->experts * ensemble->rank, ensemble->width);
}

static int ensemble_new(struct ny_ensemble *ensemble, const struct ny_problem *problem)
{
    *ensemble = ny_ensemble_shape(problem);
    ensemble->own.ctx = problem->ctx;
    if (!ensemble->columns) return ny_ensemble_check(problem);
    lay(&ensemble->own, ensemble);
    return ensemble->own.err;
}

/* Σ_r^-½U_rᵀ of what is above the cut in W_r = UΣUᵀ, of each expert. */
static int whiten(struct ny_problem *problem, struct ny_basis *basis, struct ny_ensemble *ensemble,
                  struct ny_solution *solution)
{
    double *sigma = ny_calloc(problem->ctx, NY_MEM_SOLVE, ensemble->experts,
                              ensemble->rank * sizeof(double));
    size_t found = 0;
    int err = sigma ? NY_OK : NY_EBUDGET;

    for (size_t r = 0; r < ensemble->experts && !err; r++) {
        size_t first = ny_ensemble_first(ensemble, r), m_r = ny_ensemble_width(ensemble, r);
        struct ny_matrix W_r = ny_cols(ny_rows(basis->W, first, m_r), first, m_r);
        struct ny_matrix U = {ensemble->root.at + ensemble->offset[r] * ensemble->root.stride,
                              ensemble->rank < m_r ? ensemble->rank : m_r, m_r,
                              ensemble->root.stride, false};

        err = ny_eigen_top(problem->ctx, W_r, U.rows, sigma + found, U);
        if (err) break;
        ensemble->offset[r + 1] = ensemble->offset[r] + ny_basis_whiten(basis, sigma + found, U);
        found += U.rows;
    }
    if (err) goto done;
    ny_solution_count(solution, sigma, found, basis->gram_cut);
    if (!ensemble->offset[ensemble->experts]) err = ny_basis_empty(problem->ctx);
done:
    ny_free(problem->ctx, sigma);
    return err;
}

/* F: the roots times √|μ_r|. */
static void apply_weights(struct ny_ensemble *ensemble)
{
    for (size_t r = 0; r < ensemble->experts; r++) {
        struct ny_matrix root = ny_ensemble_root(ensemble, r);

        for (size_t j = 0; j < root.rows; j++)
            for (size_t i = 0; i < root.cols; i++)
                root.at[j * root.stride + i] *= sqrt(fabs(ensemble->weight[r]));
    }
}

/* ---- the eigenpairs of K̃ ------------------------------------------------------------------ */

/* S = FᵀGF into the lower triangle of W, whose strict upper triangle stays. */
static int project_gram(struct ny_context *ctx, const struct ny_basis *basis,
                        const struct ny_ensemble *ensemble, struct ny_matrix S)
{
    size_t row = ensemble->columns + S.cols;
    double *at = ny_alloc(ctx, NY_MEM_SOLVE, ensemble->rank * row * sizeof(double));

    if (!at) return NY_EBUDGET;
    for (size_t q = 0; q < ensemble->experts; q++) {
        struct ny_matrix F_q = ny_ensemble_root(ensemble, q);
        struct ny_matrix FG = ny_matrix(at, F_q.rows, ensemble->columns);
        struct ny_matrix S_q = ny_matrix(at + F_q.rows * ensemble->columns, F_q.rows, S.cols);
        struct ny_matrix G_q = ny_rows(basis->G, ny_ensemble_first(ensemble, q), F_q.cols);

        if (!F_q.rows) continue;
        ny_gemm(1, F_q, ny_cols(G_q, 0, ensemble->columns), 0, FG);
        for (size_t r = 0; r <= q; r++) {
            struct ny_matrix F_r = ny_ensemble_root(ensemble, r);

            if (!F_r.rows) continue;
            ny_gemm(1, ny_cols(FG, ny_ensemble_first(ensemble, r), F_r.cols), ny_t(F_r), 0,
                    ny_cols(S_q, ensemble->offset[r], F_r.rows));
        }
        for (size_t j = 0; j < F_q.rows; j++) {
            size_t i = ensemble->offset[q] + j;

            memcpy(S.at + i * S.stride, S_q.at + j * S_q.stride, (i + 1) * sizeof(double));
        }
    }
    ny_free(ctx, at);
    return NY_OK;
}

/* Judges the Gram's precision by S, which is positive semidefinite. Where the weights are averages,
 * K̃ is below K; with implicit averages both less their means (n‖Fᵀc‖² of the trace). */
static void judge(const struct ny_problem *problem, const struct ny_basis *basis,
                  const struct ny_ensemble *ensemble, struct ny_matrix S,
                  struct ny_solution *solution)
{
    double sum = ny_basis_trace(S, solution);

    for (size_t r = 0; r < ensemble->experts; r++) {
        struct ny_matrix F_r = ny_ensemble_root(ensemble, r);

        for (size_t j = 0; j < F_r.rows; j++) {
            double z = ny_dot(F_r.at + j * F_r.stride,
                              basis->c + ny_ensemble_first(ensemble, r), F_r.cols);

            if (problem->normalisation == NY_CENTRED_IMPLICIT) sum += (double)problem->n * z * z;
        }
    }
    if (problem->weights != NY_WEIGHTS_RIDGE && sum > basis->trace * (1 + 1e-6))
        solution->inaccurate = true;
    if (!isfinite(sum)) solution->inaccurate = true;
}

/* λ of S below it is rounding. */
static double noise_of(const struct ny_problem *problem)
{
    return problem->gram == NY_GRAM_F32 ? 1e-9 : (double)problem->m * 0x1p-53;
}

/* P_R = F·Yᵀ, rows of Y the eigenvectors in terms of CF. */
static void expand(const struct ny_ensemble *ensemble, struct ny_matrix Y,
                   struct ny_solution *solution)
{
    for (size_t r = 0; r < ensemble->experts; r++) {
        struct ny_matrix F_r = ny_ensemble_root(ensemble, r);
        struct ny_matrix P_r = ny_rows(solution->P, ny_ensemble_first(ensemble, r), F_r.cols);

        if (F_r.rows && Y.rows)
            ny_gemm(1, ny_t(F_r), ny_t(ny_cols(Y, ensemble->offset[r], F_r.rows)), 0,
                    ny_cols(P_r, 0, Y.rows));
    }
}

/* All weights positive: S V = V Λ, Y = Λ^-½Vᵀ. */
static int solve_average(struct ny_problem *problem, const struct ny_ensemble *ensemble,
                         struct ny_matrix S, struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    size_t p = solution->p < S.rows ? solution->p : S.rows, kept = 0;
    struct ny_layout l = {.ctx = ctx};
    struct ny_matrix V;
    double *lambda = ny_lay_pairs(&l, p, S.rows, &V);
    int err = l.err;

    if (!err) err = ny_eigen_top(ctx, S, p, lambda, V);
    if (err) goto done;
    for (; kept < p && lambda[kept] > noise_of(problem) * lambda[0]; kept++) {
        solution->values[kept] = lambda[kept];
        for (size_t i = 0; i < V.cols; i++)
            V.at[kept * V.stride + i] /= sqrt(lambda[kept]);
    }
    expand(ensemble, ny_rows(V, 0, kept), solution);
done:
    ny_layout_free(&l);
    return err;
}

/* T = Λ^½VJVᵀΛ^½, rows of V the eigenvectors of S. */
static void signed_gram(const struct ny_ensemble *ensemble, const double *lambda,
                        struct ny_matrix V, struct ny_matrix T)
{
    for (size_t i = 0; i < V.rows; i++)
        memset(T.at + i * T.stride, 0, V.rows * sizeof(double));
    for (size_t r = 0; r < ensemble->experts; r++) {
        size_t k_r = ensemble->offset[r + 1] - ensemble->offset[r];
        struct ny_matrix V_r = ny_cols(V, ensemble->offset[r], k_r);

        if (k_r) ny_gemm(ensemble->weight[r] < 0 ? -1 : 1, V_r, ny_t(V_r), 1, T);
    }
    for (size_t i = 0; i < V.rows; i++)
        for (size_t j = 0; j < V.rows; j++)
            T.at[i * T.stride + j] *= sqrt(lambda[i]) * sqrt(lambda[j]);
}

/* Keeps the positive ones of the eigenvalues, and counts what is negative beyond rounding. */
static size_t keep_positive(const struct ny_problem *problem, const double *values, size_t count,
                            struct ny_solution *solution)
{
    double noise = noise_of(problem) * fmax(values[0], -values[count - 1]);
    size_t kept = ny_solution_count(solution, values, count, noise);

    if (kept > solution->p) kept = solution->p;
    memcpy(solution->values, values, kept * sizeof(double));
    solution->negative_weights = solution->negative > 0;
    return kept;
}

/* Solves with negative weights: T X = X Λ̂, Y = XᵀΛ_s^-½V_sᵀ. T takes the place of G. */
static int solve_signed(struct ny_problem *problem, struct ny_basis *basis,
                        const struct ny_ensemble *ensemble, struct ny_matrix S,
                        struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    size_t M = S.rows, r = 0, kept;
    struct ny_layout l = {.ctx = ctx};
    struct ny_matrix V, X, T, Y = ny_lay_matrix(&l, NY_MEM_SOLVE, solution->p, M);
    double *lambda = ny_lay_pairs(&l, M, M, &V), *values = ny_lay_pairs(&l, M, M, &X);
    int err = l.err;

    if (!err) err = ny_eigen_top(ctx, S, M, lambda, V); /* S V_s = V_s Λ_s */
    if (err) goto done;
    while (r < M && lambda[r] > noise_of(problem) * lambda[0])
        r++;
    T = (struct ny_matrix){basis->G.at, r, r, basis->G.stride, false};
    signed_gram(ensemble, lambda, ny_rows(V, 0, r), T);
    X = ny_matrix(X.at, r, r);
    err = r ? ny_eigen_top(ctx, T, r, values, X) : ny_basis_empty(ctx);
    if (err) goto done;
    kept = keep_positive(problem, values, r, solution);
    if (!kept) {
        err = ny_fail(ctx, NY_ENUMERIC,
                      "the weights of the experts are negative, so that no eigenvalue of the "
                      "ensemble is positive; give --weights uniform, more landmarks or another "
                      "width");
        goto done;
    }
    for (size_t j = 0; j < kept; j++)
        for (size_t i = 0; i < r; i++)
            X.at[j * r + i] /= sqrt(lambda[i]);
    ny_gemm(1, ny_rows(X, 0, kept), ny_rows(V, 0, r), 0, ny_rows(Y, 0, kept));
    expand(ensemble, ny_rows(Y, 0, kept), solution);
done:
    ny_layout_free(&l);
    return err;
}

/* u = B s/n = −Σ ±F_rF_rᵀc. */
static int find_averages(const struct ny_problem *problem, const struct ny_basis *basis,
                         const struct ny_ensemble *ensemble, struct ny_solution *solution)
{
    double *z;

    if (problem->normalisation != NY_CENTRED_IMPLICIT) return NY_OK;
    z = ny_calloc(problem->ctx, NY_MEM_SOLVE, ensemble->rank, sizeof(double));
    if (!z) return NY_EBUDGET;
    for (size_t r = 0; r < ensemble->experts; r++) {
        struct ny_matrix F_r = ny_ensemble_root(ensemble, r);
        size_t first = ny_ensemble_first(ensemble, r);

        ny_gemv(1, F_r, basis->c + first, 0, z);
        ny_gemv(ensemble->weight[r] < 0 ? 1 : -1, ny_t(F_r), z, 0, solution->averages + first);
    }
    ny_free(problem->ctx, z);
    return NY_OK;
}

static int solve_in_basis(struct ny_problem *problem, struct ny_basis *basis,
                          struct ny_solution *solution)
{
    struct ny_context *ctx = problem->ctx;
    struct ny_ensemble ensemble = {0};
    bool negative = false;
    struct ny_matrix S;
    int err = ensemble_new(&ensemble, problem);

    if (!err) err = whiten(problem, basis, &ensemble, solution);        /* W_r⁺ of every expert */
    if (!err) err = ny_ensemble_weigh(problem, basis, &ensemble);       /* μ */
    if (err) goto done;
    for (size_t r = 0; r < ensemble.experts; r++)
        negative = negative || ensemble.weight[r] < 0;
    apply_weights(&ensemble);                                           /* eq. 5: B = F J Fᵀ */
    err = find_averages(problem, basis, &ensemble, solution);
    if (err) goto done;
    solution->rank_effective = ensemble.offset[ensemble.experts];
    S = (struct ny_matrix){basis->W.at, solution->rank_effective, solution->rank_effective,
                           basis->W.stride, false};
    err = project_gram(ctx, basis, &ensemble, S);                       /* S = FᵀGF */
    if (err) goto done;
    judge(problem, basis, &ensemble, S, solution);
    err = negative ? solve_signed(problem, basis, &ensemble, S, solution)
                   : solve_average(problem, &ensemble, S, solution);
    if (!err) err = ny_basis_finish(basis, problem, solution);
done:
    ny_layout_free(&ensemble.own);
    return err;
}

static int solve(struct ny_problem *problem, struct ny_solution *solution)
{
    return ny_basis_solve(problem, solution, solve_in_basis);
}

/* v = B s: then d = C v are the degrees of K̃ = C B Cᵀ. Weights must be uniform: the others are
 * fitted to a Gram, for which a pass would have to be made before this one. */
static int degrees(struct ny_problem *problem, const double *s, double *v)
{
    struct ny_problem raw = *problem;
    struct ny_basis basis = {0};
    struct ny_ensemble ensemble = {0};
    struct ny_solution unused = {0};
    double *z = NULL;
    int err;

    raw.normalisation = NY_RAW;
    raw.acc = NULL;
    err = ny_basis_new(&basis, &raw);
    if (!err) err = ensemble_new(&ensemble, &raw);
    if (!err) err = whiten(&raw, &basis, &ensemble, &unused);
    if (err) goto done;
    err = NY_EBUDGET;
    z = ny_calloc(problem->ctx, NY_MEM_SOLVE, ensemble.rank, sizeof(double));
    if (!z) goto done;
    for (size_t r = 0; r < ensemble.experts; r++) {
        struct ny_matrix root = ny_ensemble_root(&ensemble, r);
        size_t first = ny_ensemble_first(&ensemble, r);

        ny_gemv(1, root, s + first, 0, z);                              /* v_r = μ_r W_r⁺ s_r */
        ny_gemv(1 / (double)ensemble.experts, ny_t(root), z, 0, v + first);
    }
    err = NY_OK;
done:
    ny_free(problem->ctx, z);
    ny_layout_free(&ensemble.own);
    ny_basis_release(&basis);
    return err;
}

static double flops(const struct ny_problem *problem, size_t k)
{
    struct ny_ensemble ensemble = ny_ensemble_shape(problem);
    double M = (double)(ensemble.experts * k), w = (double)ensemble.width;
    double each = 4.0 / 3 * w * w * w, all = 4.0 / 3 * M * M * M;

    if (problem->weights == NY_WEIGHTS_RIDGE) all *= 4;
    each += 2 * (double)problem->m * w * (double)k;
    return (double)ensemble.experts * each + all + M * M * w +
           2 * M * w * (double)problem->components;
}

/* Assumes negative ridge weights, as they cannot be foreseen. */
static void count(struct ny_layout *l, const struct ny_problem *problem, size_t k)
{
    struct ny_ensemble ensemble = ny_ensemble_shape(problem);
    size_t m = problem->m, p = problem->components, M = ensemble.experts * k;
    struct ny_layout_mark mark;
    struct ny_matrix V;

    ny_basis_count(l, problem);
    lay(l, &ensemble);
    mark = ny_layout_mark(l);
    ny_lay(l, NY_MEM_SOLVE, M, sizeof(double)); /* eigenvalues of all experts */
    ny_eigen_top_count(l, ensemble.width, k);
    ny_layout_back(l, &mark);
    ny_ensemble_weigh_count(l, &ensemble);
    ny_lay_matrix(l, NY_MEM_SOLVE, k, ensemble.columns + M); /* rows of FᵀG and S */
    ny_layout_back(l, &mark);
    ny_basis_finish_count(l, m, p);
    if (problem->weights == NY_WEIGHTS_RIDGE) {
        ny_lay_matrix(l, NY_MEM_SOLVE, p, M);
        ny_lay_pairs(l, M, M, &V);
        p = M;
    }
    ny_lay_pairs(l, p, M, &V);
    ny_eigen_top_count(l, M, p);
}

const struct ny_method ny_method_ensemble = {
    .name = "ensemble",
    .summary = "many landmarks in slices, where m^3 operations on all are too many",
    .options = "online|rank|experts|weights",
    .rule = "rpcholesky",
    .needs_gram = true,
    .implicit = true,
    .all_ranks = true,
    .check = ny_ensemble_check,
    .rank_of = rank_of,
    .solve = solve,
    .degrees = degrees,
    .flops = flops,
    .count = count,
};
