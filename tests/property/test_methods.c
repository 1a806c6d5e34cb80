/* spectral/: every method, normalisation and precision of tiles against the formulas of the papers
 * by brute force. */
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/wanted.h"

OWNS(ny_solution, ny_solution_release(at, ctx))

enum { N = 70, D = 4, M = 12 };

static const double tolerances[SMALL_TILES] = {1e-5, 1e-6, 1e-9};

static enum ny_gram_precision chosen(const struct small *set)
{
    double W[M * M], mean = 0;
    struct ny_gram_choice choice;

    for (size_t i = 0; i < set->n; i++)
        mean += set->K[i * (set->n + 1)] / (double)set->n;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++)
            W[i * M + j] = set->K[set->D[i] * set->n + set->D[j]];
    assert_int_equal(ny_gram_choose(ctx, ny_matrix(W, M, M), set->a, mean, &choice), NY_OK);
    /* Up to 2e-5 a job takes f32 and looks at its certificate afterwards; the tolerances here are
     * those of small η. */
    return choice.eta <= 3e-6 ? choice.precision : NY_GRAM_F64;
}

/* ---- projected ------------------------------------------------------------------------------ */

static void check_projected(const struct small *set, enum small_tiles tiles,
                            enum ny_normalisation centring, bool affine, size_t rank)
{
    struct ny_problem problem = wanted_problem(ctx, centring, rank);
    double tolerance = tolerances[tiles], U[N * P];
    OWNED(ny_solution) solution;
    struct wanted w = wanted_of(set, centring, affine, rank ? rank : M, tiles != SMALL_F64);
    size_t count = 0;

    /* A row that hardly any landmark reaches has a small degree, which divides its rounding too. */
    if (ny_divided(centring) && tiles != SMALL_F64) tolerance *= 10;
    problem.affine = affine;
    assert_int_equal(small_solve(set, &ny_method_projected, tiles, &problem, &solution, U), NY_OK);
    while (count < P && w.values[count] > 1e-9 * w.values[0])
        count++;
    assert_int_equal(solution.rank_effective, w.rank);
    assert_int_equal(solution.negative, 0);
    check_pairs(set, &w, solution.values, U, count, tolerance);
    check_orthonormal(&w, U, N, count, tolerance);
    check_trace(&w, &solution, centring, tolerance);
    /* K̃ = K where the rank is d, and rounding in f32 may take it above: that must be noticed. */
    assert_int_equal(solution.inaccurate, solution.trace_approx > solution.trace * (1 + 1e-6));
    if (tiles != SMALL_F32) assert_false(solution.inaccurate);
}

static void projected_everywhere(enum ny_normalisation centring, bool affine)
{
    size_t in_f32 = 0;

    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = small_of((enum small_kernel)kernel, N, D, M);

        if (chosen(&set) == NY_GRAM_F32) {
            check_projected(&set, SMALL_F32, centring, affine, 0);
            in_f32++;
        }
        check_projected(&set, SMALL_F32_GRAM64, centring, affine, 0);
        check_projected(&set, SMALL_F64, centring, affine, 0);
    }
    assert_in_range(in_f32, 3, SMALL_KERNELS - 1);
}

/* Proposition 2: what the centred Gram gives are the eigenpairs of HK̃H; those of K̃ divided by its
 * own degrees, dividing. The span of differences is the same from any origin. */
TEST(projected)
{
    static const enum ny_normalisation all[] = {NY_RAW, NY_CENTRED_IMPLICIT, NY_CENTRED_LANDMARKS,
                                                NY_DIVIDED_IMPLICIT, NY_DIVIDED_LANDMARKS};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        projected_everywhere(all[i], false);
        if (!ny_divided(all[i])) projected_everywhere(all[i], true);
    }
}

/* K̃_k = C W_k⁺ Cᵀ; with a rank below p the rest is zero. */
TEST(projected_of_a_rank)
{
    static const size_t ranks[] = {3, 8};
    struct small set = small_of(SMALL_RBF, N, D, M);

    for (size_t i = 0; i < 2; i++) {
        check_projected(&set, SMALL_F64, NY_RAW, false, ranks[i]);
        check_projected(&set, SMALL_F64, NY_CENTRED_IMPLICIT, false, ranks[i]);
        check_projected(&set, SMALL_F64, NY_CENTRED_LANDMARKS, false, ranks[i]);
        check_projected(&set, SMALL_F64, NY_CENTRED_IMPLICIT, true, ranks[i]);
    }
}

/* ---- nystrom -------------------------------------------------------------------------------- */

/* Talwalkar et al. 2013, eq. 3: λ̂ = (n/m) σ, û = √(m/n) C u/σ; C less its mean row with implicit
 * averages, so that ÛΛ̂Ûᵀ is K̃_k in all. */
static void check_nystrom(const struct small *set, enum small_tiles tiles,
                          enum ny_normalisation centring, size_t rank)
{
    struct ny_problem problem = wanted_problem(ctx, centring, rank);
    double values[M], V[M * M], U[N * P], u[N];
    OWNED(ny_solution) solution;
    struct wanted w = wanted_of(set, centring, false, rank ? rank : P, tiles != SMALL_F64);

    assert_int_equal(small_solve(set, &ny_method_nystrom, tiles, &problem, &solution, U), NY_OK);
    assert_int_equal(solution.rank_effective, w.rank);
    brute_eigen(w.W, M, values, V);
    for (size_t k = 0; k < P; k++) {
        double mean = 0, gap = values[k] - values[k + 1], tolerance = 0;

        if (k > 0) gap = fmin(gap, values[k - 1] - values[k]);
        assert_near(solution.values[k], k < w.rank ? (double)N / M * values[k] : 0,
                    1e-12 * values[0]);
        for (size_t i = 0; i < N; i++) {
            u[i] = 0;
            for (size_t j = 0; j < M && k < w.rank; j++)
                u[i] += sqrt((double)M / N) * w.C[i * M + j] * V[k * M + j] / values[k];
            mean += u[i] / N;
        }
        for (size_t i = 0; i < N && centring == NY_CENTRED_IMPLICIT; i++)
            u[i] -= mean;
        if (k < w.rank) tolerance = 1e-14 * values[0] / gap * values[0] / values[k];
        if (k < w.rank && centring == NY_CENTRED_IMPLICIT) /* q is of s, that is of the tiles */
            tolerance += 1e-2 * tolerances[tiles] * values[0] / values[k];
        check_column(set, U, k, u, tolerance);
        assert_true(sign_of(set, U + k, P) > 0);
    }
    for (size_t i = 0; i < N && w.rank <= P; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = 0;

            for (size_t k = 0; k < P; k++)
                sum += U[i * P + k] * solution.values[k] * U[j * P + k];
            assert_near(sum, w.K[i * N + j], tolerances[tiles] * w.values[0]);
        }
    check_trace(&w, &solution, centring, tolerances[tiles]);
    assert_false(solution.inaccurate && tiles != SMALL_F32);
}

TEST(nystrom)
{
    static const enum ny_normalisation centrings[] = {NY_RAW, NY_CENTRED_LANDMARKS,
                                                      NY_CENTRED_IMPLICIT, NY_DIVIDED_LANDMARKS};
    static const size_t ranks[] = {0, 4, 9};

    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = small_of((enum small_kernel)kernel, N, D, M);

        for (size_t c = 0; c < 4; c++)
            for (size_t r = 0; r < 3; r++) {
                check_nystrom(&set, SMALL_F64, centrings[c], ranks[r]);
                check_nystrom(&set, SMALL_F32_GRAM64, centrings[c], ranks[r]);
            }
    }
}

static void solve_nystrom(const struct small *set, enum ny_inner inner, size_t p, size_t oversample,
                          double *values, double *U)
{
    struct ny_problem problem = wanted_problem(ctx, NY_CENTRED_LANDMARKS, 0);
    OWNED(ny_solution) solution;

    problem.inner = inner;
    problem.components = p;
    problem.randomized.oversample = oversample;
    CHECK(small_solve(set, &ny_method_nystrom, SMALL_F64, &problem, &solution, U));
    memcpy(values, solution.values, p * sizeof(*values));
}

/* Exact where the range has all of W's columns; good with 5 more than wanted; and taken by itself
 * for at most a 40th of the spectrum. */
TEST(nystrom_randomized)
{
    enum { LARGE = 80, ROWS = 120 };
    double exact[3], inner[3], U[3 * ROWS], V[3 * ROWS];
    struct small set = small_of(SMALL_RBF, ROWS, D, LARGE);

    solve_nystrom(&set, NY_INNER_EXACT, 3, 0, exact, U);
    for (size_t range = 0; range < 2; range++) {
        double tolerance = range == 0 ? 1e-12 : 5e-3;

        solve_nystrom(&set, NY_INNER_RANDOMIZED, 3, range == 0 ? LARGE : 5, inner, V);
        for (size_t k = 0; k < 3; k++)
            assert_near(inner[k] / exact[k], 1, tolerance);
        for (size_t i = 0; i < 3 * ROWS; i++)
            assert_near(U[i], V[i], 10 * tolerance);
    }
    assert_true(memcmp(inner, exact, sizeof(exact)) != 0);
    solve_nystrom(&set, NY_INNER_AUTO, 3, 5, inner, V);
    assert_memory_equal(inner, exact, sizeof(exact));
    assert_memory_equal(U, V, sizeof(U));
    solve_nystrom(&set, NY_INNER_RANDOMIZED, 2, 5, exact, U);
    solve_nystrom(&set, NY_INNER_AUTO, 2, 5, inner, V);
    assert_memory_equal(inner, exact, 2 * sizeof(*exact));
}

/* ---- column --------------------------------------------------------------------------------- */

/* Talwalkar et al. 2013, eq. 4: λ̂ = √(n/m) σ, û = C v/σ of the singular values and right vectors
 * of C. */
static void check_columns(const struct small *set, enum small_tiles tiles,
                          enum ny_normalisation centring)
{
    struct ny_problem problem = wanted_problem(ctx, centring, 0);
    double G[M * M], squares[M], V[M * M], U[N * P], u[N];
    struct ny_solution solution;
    struct wanted w = wanted_of(set, centring, false, M, tiles != SMALL_F64);

    assert_int_equal(small_solve(set, &ny_method_column, tiles, &problem, &solution, U), NY_OK);
    brute_multiply_t(w.C, w.C, G, N, M, M);
    brute_eigen(G, M, squares, V);
    for (size_t k = 0; k < P; k++) {
        double sigma = sqrt(fmax(squares[k], 0)), gap, tolerance = tolerances[tiles] * squares[0];

        if (k >= solution.rank_effective) {
            assert_true(squares[k] <= 1e-9 * squares[0]);
            assert_near(solution.values[k], 0, 0);
            continue;
        }
        assert_near(solution.values[k], sqrt((double)N / M) * sigma, tolerance / sigma);
        gap = squares[k] - squares[k + 1];
        if (k > 0) gap = fmin(gap, squares[k - 1] - squares[k]);
        for (size_t i = 0; i < N; i++) {
            u[i] = 0;
            for (size_t j = 0; j < M; j++)
                u[i] += w.C[i * M + j] * V[k * M + j] / sigma;
        }
        check_column(set, U, k, u, 4 * tolerance * sqrt(squares[0] / squares[k]) / gap);
    }
    assert_true(isnan(solution.trace) && isnan(solution.trace_approx)); /* K̃ is not below K */
    ny_solution_release(&solution, ctx);
}

TEST(column)
{
    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = small_of((enum small_kernel)kernel, N, D, M);

        for (int tiles = SMALL_F32_GRAM64; tiles < SMALL_TILES; tiles++) {
            check_columns(&set, (enum small_tiles)tiles, NY_RAW);
            check_columns(&set, (enum small_tiles)tiles, NY_CENTRED_LANDMARKS);
            check_columns(&set, (enum small_tiles)tiles, NY_DIVIDED_LANDMARKS);
        }
    }
}

AROUND_ALL(start, stop)
