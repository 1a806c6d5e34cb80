/*
 * Turns W and the sums of pass 1 into the basis that a method solves in (the table in basis.h), and
 * its solution back into the map (P, q) of the tiles. All methods with landmarks call
 * ny_basis_solve() or ny_basis_new() first and ny_basis_finish() last.
 *
 * The way in makes b and c of the table, tr K, the rank cut, then RᵀWR and RᵀG′R in place of W and
 * G;
 * R is a centring, a translation by the first landmark or a scaling, and never a matrix in memory.
 * ny_basis_move_gram() adds the terms in b, which leaves ΦᵀΦ. On the way out: the signs of the
 * columns of Û are fixed, so that a result does not depend on LAPACK's, then P = R·P_R and q =
 * −Pᵀb.
 *
 * W_R survives: its strict upper triangle and a copy of its diagonal are enough to put it back
 * after a Cholesky or eigenvalue routine has used the lower one.
 */
#include "spectral/basis.h"

#include <math.h>
#include <string.h>

#include "linalg/square.h"

/* The lower right (m−1)×(m−1) corner becomes TᵀAT: a_ij − a_1j − a_i1 + a_11. */
static struct ny_matrix translate_square(struct ny_matrix A)
{
    struct ny_matrix corner = {A.at + A.stride + 1, A.rows - 1, A.cols - 1, A.stride, false};

    for (size_t i = 1; i < A.rows; i++)
        for (size_t j = 1; j <= i; j++)
            A.at[i * A.stride + j] += A.at[0] - A.at[j] - A.at[i * A.stride];
    ny_mirror_lower(corner);
    return corner;
}

/* Sets b of the table in the header, and c; row 1 of W is still unchanged, where it counts. */
static void choose_b(struct ny_basis *basis, const struct ny_problem *problem)
{
    const double *a = problem->a, *w1 = problem->W.at;
    bool affine = problem->affine;
    double *b = basis->b, *c = basis->c, c1 = 0;

    for (size_t j = 0; j < problem->m; j++) {
        c[j] = 0;
        switch (problem->normalisation) {
        case NY_RAW:
        case NY_DIVIDED_LANDMARKS:
        case NY_DIVIDED_IMPLICIT:
            b[j] = (affine ? w1[j] : 0) - a[j];
            break;
        case NY_CENTRED_LANDMARKS:
            b[j] = 0;
            c[j] = affine ? w1[j] - a[j] : 0;
            break;
        case NY_CENTRED_IMPLICIT:
            b[j] = problem->acc->s[j] / (double)problem->n;
            c[j] = (affine ? w1[j] : 0) - a[j] - b[j];
            break;
        }
    }
    if (!affine) return;
    c1 = c[0];
    for (size_t j = 1; j < problem->m; j++)
        c[j - 1] = c[j] - c1;
}

void ny_basis_move(const struct ny_basis *basis, struct ny_matrix A, const double *s,
                   const double *b)
{
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j <= i; j++)
            A.at[i * A.stride + j] += basis->omega * b[i] * b[j] - s[i] * b[j] - b[i] * s[j];
}

void ny_basis_move_gram(struct ny_basis *basis)
{
    if (!basis->G.at) return;
    ny_basis_move(basis, basis->G, basis->s_R, basis->b_R);
    ny_mirror_lower(basis->G);
}

/* Rᵀx of m values; where R = H there is no b, and so nothing to move by. */
static void reduce_vector(const struct ny_basis *basis, const struct ny_problem *problem,
                          const double *x, double *out)
{
    for (size_t j = 0; j < basis->r; j++) {
        if (problem->affine)
            out[j] = x[j + 1] - x[0];
        else
            out[j] = x[j] * (problem->normalisation == NY_DIVIDED_LANDMARKS ? basis->roots[j] : 1);
    }
}

/* Σ k(x,x) of the kernel that is decomposed, before implicit centring: with averages over D
 * t − 2·1ᵀs/m + n·w̄, else t, or translated t − 2s₁ + n·w₁₁. w₁₁ is still unchanged. */
static double trace_of(const struct ny_problem *problem)
{
    const struct ny_accumulator *acc = problem->acc;
    double n = (double)problem->n, m = (double)problem->m, sums = 0, means = 0;

    if (problem->normalisation != NY_CENTRED_LANDMARKS) {
        if (!problem->affine) return acc->t;
        return acc->t - 2 * (acc->s[0] + n * problem->a[0]) + n * problem->W.at[0];
    }
    for (size_t j = 0; j < problem->m; j++) {
        sums += acc->s[j] + n * problem->a[j];
        means += problem->a[j];
    }
    return acc->t - 2 * sums / m + n * means / m;
}

/* y ← SHS⁻¹y, H = I − 11ᵀ/m; S = I where there are no roots. */
static void centre_vector(double *y, size_t count, const double *roots)
{
    double mean = 0;

    for (size_t i = 0; i < count; i++)
        mean += (roots ? y[i] / roots[i] : y[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        y[i] -= roots ? mean * roots[i] : mean;
}

/* ‖S H S⁻¹A‖₂ of a symmetric A = SWS, by power iteration from a fixed start: S(W − 1aᵀ)S. */
static int centred_norm(struct ny_context *ctx, struct ny_matrix A, const double *roots,
                        double *norm)
{
    enum { STEPS = 20 };
    double *x = ny_alloc(ctx, NY_MEM_SOLVE, 2 * A.rows * sizeof(double));
    double *y = x ? x + A.rows : NULL;
    int err = NY_OK;

    *norm = 0;
    if (!x) return NY_EBUDGET;
    for (size_t i = 0; i < A.rows; i++)
        x[i] = i % 2 ? 1 : -0.5 - (double)(i % 7);
    for (int step = 0; step < STEPS && !err; step++) {
        double length = sqrt(ny_dot(x, x, A.rows)), before = *norm;

        if (!(length > 0)) break;
        for (size_t i = 0; i < A.rows; i++)
            x[i] /= length;
        err = ny_gemv_lanes(ctx, 1, A, x, y);
        if (err) break;
        centre_vector(y, A.rows, roots);
        *norm = sqrt(ny_dot(y, y, A.rows));
        if (fabs(*norm - before) <= 1e-2 * *norm) break;
        err = ny_gemv_lanes(ctx, 1, A, y, x);
    }
    ny_free(ctx, x);
    return err;
}

/* Bounds σ so that the errors of tiles count little. Over rows like those of D, uᵀc of an
 * eigenvector u of W has mean square σ²/m, and tiles add tile_noise² to it: above this σ that is
 * one part in a hundred. For SWS the errors are scaled. */
static double tile_cut(const struct ny_problem *problem, const double *roots)
{
    double m = (double)problem->m, scale = 1;

    if (problem->normalisation == NY_DIVIDED_LANDMARKS)
        scale = ny_dot(roots, roots, problem->m) / m;
    return 10 * sqrt(m) * problem->tile_noise * scale;
}

/* Raises the cut to the rounding of ‖W‖₂, of which an estimate takes many products: none is made
 * where ‖W‖_F, which is no smaller, is below the cut already. */
static int raise_by_rounding(const struct ny_problem *problem, struct ny_basis *basis, double *top)
{
    double unit = (double)problem->m * 0x1p-53, most;
    bool wanted = problem->coarse && !ny_centred(problem->normalisation);
    int err = ny_frobenius_norm(problem->ctx, problem->W, &most);

    *top = 0;
    if (err || (!wanted && unit * most <= basis->cut)) return err;
    err = ny_spectral_norm(problem->ctx, problem->W, top);
    basis->cut = fmax(basis->cut, unit * *top);
    return err;
}

/* The rank cut; W is still unchanged, but for S. Averages and translation take differences of its
 * entries: what they leave of a small σ is noise of the size of W, not of W_R. */
static int choose_cut(const struct ny_problem *problem, struct ny_basis *basis)
{
    bool divided = problem->normalisation == NY_DIVIDED_LANDMARKS;
    bool centred = problem->coarse && ny_centred(problem->normalisation);
    double top, shifted = 0;
    int err = NY_OK;

    if (problem->f32_tiles || centred)
        err = centred_norm(problem->ctx, problem->W, divided ? basis->roots : NULL, &shifted);
    if (err) return err;
    basis->cut = tile_cut(problem, basis->roots);
    if (problem->f32_tiles) basis->cut = fmax(basis->cut, 0x1p-22 * shifted);
    err = raise_by_rounding(problem, basis, &top);
    basis->gram_cut = basis->cut;
    if (problem->coarse) basis->gram_cut = fmax(basis->cut, 0x1p-30 * (centred ? shifted : top));
    return err;
}

/* Fails because of landmarks without a degree; `empty` are rows whose kernel values are all 0. */
static int refuse_degrees(const struct ny_problem *problem, size_t count, size_t empty)
{
    if (count == empty)
        return ny_fail(problem->ctx, NY_ENUMERIC,
                       "%zu of %zu rows have only kernel values of 0 and therefore no degree, "
                       "which is more than 1 %%; leave rows without values out of the store",
                       count, problem->m);
    return ny_fail(problem->ctx, NY_ENUMERIC,
                   "%zu of %zu %s have a degree that is not positive: divisive normalisation "
                   "needs a kernel of positive values, such as --kernel rbf",
                   count, problem->m, problem->m == problem->n ? "rows" : "landmarks");
}

/* d_j = w_j·v over D, and their roots. A landmark that the others hardly reach is like such a row:
 * with degrees over all rows it may be one of few, and its root is 0. So is that of a row without
 * values, whose kernel values are all 0, where D has all rows. */
static int divide_landmarks(struct ny_problem *problem, struct ny_basis *basis)
{
    size_t m = problem->m, count = 0, empty = 0;
    bool all = m == problem->n;
    double mean = 0;

    ny_gemv(1, problem->W, problem->v, 0, basis->roots);
    for (size_t j = 0; j < m; j++)
        mean += basis->roots[j] / (double)m;
    for (size_t j = m; j-- > 0;) {
        if (basis->roots[j] > 0 && basis->roots[j] > 0x1p-20 * mean) {
            basis->roots[j] = 1 / sqrt(basis->roots[j]);
            continue;
        }
        empty += all && basis->roots[j] == 0 && problem->W.at[j * problem->W.stride + j] == 0;
        basis->roots[j] = 0;
        count++;
    }
    if (count == m ||
        (problem->normalisation == NY_DIVIDED_LANDMARKS && (count > empty || 100 * empty > m)))
        return refuse_degrees(problem, count, empty);
    return NY_OK;
}

/* A ← SAS on the full square. */
static void scale_square(struct ny_matrix A, const double *roots)
{
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.cols; j++)
            A.at[i * A.stride + j] *= roots[i] * roots[j];
}

void ny_basis_use_sums(struct ny_basis *basis, const struct ny_problem *problem)
{
    choose_b(basis, problem);
    if (problem->acc) basis->trace = trace_of(problem);
}

static void lay(struct ny_layout *l, struct ny_basis *basis, const struct ny_problem *problem)
{
    size_t m = problem->m;

    basis->b = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    basis->diagonal = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    basis->c = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    basis->s_R = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    basis->b_R = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    if (ny_divided(problem->normalisation))
        basis->roots = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
}

void ny_basis_count(struct ny_layout *l, const struct ny_problem *problem)
{
    lay(l, &(struct ny_basis){0}, problem);
}

int ny_basis_new(struct ny_basis *basis, struct ny_problem *problem)
{
    struct ny_context *ctx = problem->ctx;
    size_t m = problem->m;
    int err;

    *basis = (struct ny_basis){.m = m, .r = m, .W = problem->W, .trace = NAN, .own = {.ctx = ctx}};
    if (problem->affine && m < 2)
        return ny_fail(ctx, NY_ENUMERIC,
                       "an affine dictionary of one row spans nothing; give a smaller --tolerance "
                       "or --no-affine");
    lay(&basis->own, basis, problem);
    if (basis->own.err) return basis->own.err;
    if (ny_divided(problem->normalisation)) {
        err = divide_landmarks(problem, basis);
        if (err) return err;
    }
    ny_basis_use_sums(basis, problem);
    if (problem->acc && problem->acc->G.at) {
        basis->omega = problem->acc->omega;
        basis->G = problem->acc->G;
        ny_mirror_lower(basis->G);
    }
    if (problem->normalisation == NY_DIVIDED_LANDMARKS) {
        scale_square(basis->W, basis->roots);
        if (basis->G.at) scale_square(basis->G, basis->roots);
    }
    err = choose_cut(problem, basis);
    if (err) return err;
    if (problem->affine) {
        basis->r = m - 1;
        basis->W = translate_square(problem->W);
        if (basis->G.at) basis->G = translate_square(problem->acc->G);
    } else if (problem->normalisation == NY_CENTRED_LANDMARKS) {
        err = ny_square_centre(ctx, basis->W, basis->diagonal);
        if (!err && basis->G.at) err = ny_square_centre(ctx, basis->G, basis->diagonal);
        if (err) return err;
    }
    for (size_t i = 0; i < basis->r; i++)
        basis->diagonal[i] = basis->W.at[i * basis->W.stride + i];
    reduce_vector(basis, problem, basis->b, basis->b_R);
    if (problem->acc) reduce_vector(basis, problem, problem->acc->s, basis->s_R);
    return NY_OK;
}

void ny_basis_release(struct ny_basis *basis)
{
    ny_layout_free(&basis->own);
    *basis = (struct ny_basis){0};
}

int ny_basis_restore(struct ny_basis *basis, struct ny_context *ctx)
{
    for (size_t i = 0; i < basis->r; i++)
        basis->W.at[i * basis->W.stride + i] = basis->diagonal[i];
    return ny_square_mirror_upper(ctx, basis->W);
}

/* The entry of a column of Û over D, whose entries are `step` apart, that decides its sign. */
static double sign_entry(const struct ny_basis *basis, const double *column, size_t step,
                         double constant)
{
    const double tie = 1 - 1e-6;
    double largest = basis->r < basis->m ? fabs(constant) : 0;

    for (size_t i = 0; i < basis->r; i++)
        largest = fmax(largest, fabs(column[i * step] + constant));
    if (basis->r < basis->m && fabs(constant) >= tie * largest) return constant;
    for (size_t i = 0; i < basis->r; i++)
        if (fabs(column[i * step] + constant) >= tie * largest) return column[i * step] + constant;
    return 0;
}

/* Changes the sign of a column. */
static void negate(struct ny_matrix A, size_t k)
{
    for (size_t i = 0; i < A.rows; i++)
        A.at[i * A.stride + k] = -A.at[i * A.stride + k];
}

/* Fixes the signs of P_R by vectors that the method has. */
static void fix_known_signs(const struct ny_basis *basis, struct ny_matrix P_R)
{
    for (size_t k = 0; k < P_R.cols && k < basis->vectors.rows; k++)
        if (sign_entry(basis, basis->vectors.at + k * basis->vectors.stride, 1, 0) < 0)
            negate(P_R, k);
}

/* The mean of 𝒟^-½Û₁ over the landmarks that have degrees. */
static double mean_trivial(const struct ny_basis *basis, struct ny_matrix U)
{
    size_t reached = 0;
    double mean = 0;

    for (size_t i = 0; i < U.rows; i++)
        reached += basis->roots[i] > 0;
    for (size_t i = 0; i < U.rows; i++)
        mean += basis->roots[i] * U.at[i * U.stride] / (double)reached;
    return mean;
}

void ny_basis_finish_count(struct ny_layout *l, size_t m, size_t p)
{
    ny_lay_peak(l, NY_MEM_SOLVE, m, p * sizeof(double));
}

/* Fixes the signs of P_R, for which it needs Û over D; notes the mean of 𝒟^-½Û₁ over it. */
static int fix_signs(struct ny_basis *basis, struct ny_problem *problem,
                     struct ny_solution *solution)
{
    struct ny_layout l = {.ctx = problem->ctx};
    struct ny_matrix P_R = ny_rows(solution->P, 0, basis->r), U;
    int err = ny_basis_restore(basis, problem->ctx);

    solution->trivial_mean = NAN;
    if (err) return err;
    if (basis->vectors.at) {
        fix_known_signs(basis, P_R);
        return NY_OK;
    }
    U = ny_lay_matrix(&l, NY_MEM_SOLVE, P_R.rows, P_R.cols);
    if (l.err) return ny_layout_end(&l);
    ny_gemm(1, basis->W, P_R, 0, U);
    for (size_t i = 0; i < P_R.rows && problem->normalisation == NY_DIVIDED_IMPLICIT; i++)
        for (size_t k = 0; k < P_R.cols; k++)
            U.at[i * U.stride + k] *= basis->roots[i];
    for (size_t k = 0; k < P_R.cols; k++) {
        double constant = 0;

        for (size_t i = 0; i < P_R.rows; i++)
            constant += basis->c[i] * P_R.at[i * P_R.stride + k];
        if (sign_entry(basis, U.at + k, U.stride, constant) >= 0) continue;
        negate(P_R, k);
        negate(U, k);
    }
    if (basis->roots) solution->trivial_mean = mean_trivial(basis, U);
    return ny_layout_end(&l);
}

/* Takes u from the basis to the averages. Over D they are 1/m, and w̄ of a = w̄; if implicit, u,
 * and (s/n)·u of s/n = a + b; on the affine hull, whose kernel is k_ij − c_i1 − c_j1 + w₁₁, e₁ +
 * Tu, and w₁₁ + (s/n + w₁)·Tu. Row 1 of W is as it was. */
static void finish_averages(const struct ny_basis *basis, const struct ny_problem *problem,
                            struct ny_solution *solution)
{
    const double *w1 = problem->W.at;
    double *u = solution->averages, sum = 0;

    bool over_landmarks = problem->normalisation == NY_CENTRED_LANDMARKS;
    bool affine = !over_landmarks && basis->r < basis->m;

    for (size_t j = 0; j < basis->m && over_landmarks; j++)
        u[j] = 1 / (double)basis->m;
    if (affine) {
        for (size_t j = basis->m - 1; j > 0; j--) {
            u[j] = u[j - 1];
            sum += u[j];
        }
        u[0] = -sum;
    }
    solution->averages_mean = 0;
    for (size_t j = 0; j < basis->m; j++)
        solution->averages_mean += u[j] * (problem->a[j] + basis->b[j] + (affine ? w1[j] : 0));
    if (!affine) return;
    u[0] += 1;
    solution->averages_mean += w1[0];
}

void ny_basis_expand(const struct ny_basis *basis, const struct ny_problem *problem,
                     struct ny_matrix X)
{
    size_t m = basis->m, stride = X.stride;

    for (size_t k = 0; k < X.cols; k++) {
        double sum = 0, *x = X.at + k;

        for (size_t i = 0; i < basis->r; i++)
            sum += x[i * stride];
        if (basis->r < m) { /* T·X_R: first row −1ᵀX_R, the others move down by one */
            for (size_t i = m - 1; i > 0; i--)
                x[i * stride] = x[(i - 1) * stride];
            x[0] = -sum;
        } else if (problem->normalisation == NY_CENTRED_LANDMARKS) { /* H·X_R */
            for (size_t i = 0; i < m; i++)
                x[i * stride] -= sum / (double)m;
        } else if (problem->normalisation == NY_DIVIDED_LANDMARKS) { /* S·X_R */
            for (size_t i = 0; i < m; i++)
                x[i * stride] *= basis->roots[i];
        }
    }
}

void ny_basis_contract(const struct ny_basis *basis, const struct ny_problem *problem,
                       struct ny_matrix X)
{
    size_t m = basis->m, stride = X.stride;

    for (size_t k = 0; k < X.cols; k++) {
        double sum = 0, first = X.at[k], *x = X.at + k;

        for (size_t i = 0; i < m; i++)
            sum += x[i * stride];
        if (basis->r < m) { /* TᵀX: the first row off all others, which move up by one */
            for (size_t i = 1; i < m; i++)
                x[(i - 1) * stride] = x[i * stride] - first;
        } else if (problem->normalisation == NY_CENTRED_LANDMARKS) {
            for (size_t i = 0; i < m; i++)
                x[i * stride] -= sum / (double)m;
        } else if (problem->normalisation == NY_DIVIDED_LANDMARKS) {
            for (size_t i = 0; i < m; i++)
                x[i * stride] *= basis->roots[i];
        }
    }
}

int ny_basis_finish(struct ny_basis *basis, struct ny_problem *problem,
                    struct ny_solution *solution)
{
    struct ny_matrix P = solution->P;
    size_t m = basis->m, p = solution->p;
    int err = fix_signs(basis, problem, solution);

    if (err) return err;
    ny_basis_expand(basis, problem, P);
    for (size_t k = 0; k < p; k++) {
        double offset = 0;

        for (size_t i = 0; i < m; i++)
            offset += P.at[i * p + k] * basis->b[i];
        solution->q[k] = -offset;
    }
    finish_averages(basis, problem, solution);
    solution->trace_of = basis->roots                         ? "normalised"
                         : ny_centred(problem->normalisation) ? "centred"
                                                              : "raw";
    return NY_OK;
}

size_t ny_basis_whiten(const struct ny_basis *basis, const double *sigma, struct ny_matrix U)
{
    size_t kept = 0;

    for (; kept < U.rows && sigma[kept] > basis->gram_cut; kept++)
        for (size_t i = 0; i < U.cols; i++)
            U.at[kept * U.stride + i] /= sqrt(sigma[kept]);
    return kept;
}

double ny_basis_trace(struct ny_matrix A, struct ny_solution *solution)
{
    double largest = 0, smallest = 0, sum = 0;

    for (size_t i = 0; i < A.rows; i++) {
        double a = A.at[i * A.stride + i];

        sum += a;
        largest = fmax(largest, a);
        smallest = fmin(smallest, a);
    }
    if (smallest < -1e-6 * largest || !isfinite(sum)) solution->inaccurate = true;
    return sum;
}

int ny_basis_empty(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_ENUMERIC,
                   "the kernel matrix of the landmarks is zero to rounding; choose another width "
                   "or other landmarks");
}

int ny_basis_solve(struct ny_problem *problem, struct ny_solution *solution,
                   ny_basis_solve_fn *solve)
{
    struct ny_basis basis = {0};
    int err = ny_solution_new(solution, problem);

    if (err == NY_OK) err = ny_basis_new(&basis, problem);
    if (err == NY_OK) ny_basis_move_gram(&basis);
    if (err == NY_OK) err = solve(problem, &basis, solution);
    ny_basis_release(&basis);
    return err;
}
