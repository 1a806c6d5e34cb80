/* spectral/: ties in the sign rule, kernels that are not positive semidefinite, and what has no
 * answer. */
#include "fit/signs.h"
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/wanted.h"

OWNS(ny_solution, ny_solution_release(at, ctx))

enum { N = 70, D = 4, M = 12 };

static const struct ny_method *const all[] = {&ny_method_nystrom, &ny_method_column,
                                              &ny_method_projected};

/* Landmarks in pairs ±x: in the odd eigenvectors both entries of a pair are of one magnitude, and
 * the first of the landmarks decides. Landmarks in another order turn those vectors round. */
TEST(ties_go_to_the_first)
{
    static const double x[] = {2, -2, 1, -1, 0.5, -0.5, 1.5, -1.5, 0.1, -0.1};
    enum { ROWS = sizeof(x) / sizeof(x[0]), PAIRS = 3 };
    double K[ROWS * ROWS], U[2][ROWS * P];

    for (size_t i = 0; i < ROWS * ROWS; i++)
        K[i] = exp(-pow(x[i / ROWS] - x[i % ROWS], 2));
    for (size_t method = 0; method < 3; method++)
        for (int affine = 0; affine < (method == 2 ? 2 : 1); affine++) {
            double turned = 0;

            for (size_t order = 0; order < 2; order++) {
                struct small set = {.n = ROWS, .d = 1, .m = 2 * PAIRS, .K = K};
                struct ny_problem problem = wanted_problem(ctx, NY_CENTRED_LANDMARKS, 0);
                OWNED(ny_solution) solution;

                for (size_t j = 0; j < set.m; j++)
                    set.D[j] = order ? j ^ 1 : j;
                for (size_t i = 0; i < set.m * set.m; i++)
                    set.a[i % set.m] +=
                        K[set.D[i / set.m] * ROWS + set.D[i % set.m]] / (double)set.m;
                problem.components = 4;
                problem.affine = affine;
                CHECK(small_solve(&set, all[method], SMALL_F64, &problem, &solution, U[order]));
                for (size_t k = 0; k < 4; k++)
                    assert_true(sign_of(&set, U[order] + k, 4) > 0);
            }
            for (size_t k = 0; k < 4; k++) {
                bool odd = U[0][k] * U[0][4 + k] < 0;

                turned += odd;
                for (size_t i = 0; i < ROWS; i++)
                    assert_near(U[1][i * 4 + k], (odd ? -1 : 1) * U[0][i * 4 + k], 1e-9);
            }
            assert_true(turned >= 1 && turned <= 3);
        }
}

/* The first entry within 1e-6 of the largest decides the sign, with landmarks and without. */
TEST(ties_are_of_six_digits)
{
    static const struct {
        double second; /* behind 1 */
        bool tie;
    } cases[] = {{-1, true}, {-(1 + 0.9e-6), true}, {-(1 + 1.1e-6), false}, {-2, false}};
    const size_t count = sizeof(cases) / sizeof(cases[0]);

    for (size_t i = 0; i < 2 * count; i++) {
        double y = cases[i / 2].second, sign = i % 2 ? -1 : 1;
        double U[] = {0.5, sign, 0.5, sign * y, 0.5, sign * -0.9}, K[] = {1, y, y, y * y};
        struct small set = {.n = 2, .d = 1, .m = 2, .D = {0, 1}, .K = K};
        struct ny_problem problem = wanted_problem(ctx, NY_RAW, 0);
        OWNED(ny_solution) solution;
        bool tie = cases[i / 2].tie;

        assert_int_equal(ny_signs_negative(ny_matrix(U, 3, 2), 1), tie == (sign < 0));
        problem.components = 1;
        CHECK(small_solve(&set, &ny_method_nystrom, SMALL_F64, &problem, &solution, U));
        assert_int_equal(U[0] > 0, tie);
    }
}

/* x·y − 120 cos(0.7(i − j)) has two eigenvalues of each sign: the negative ones are
 * dropped and counted, with their share of Σ|σ|. */
TEST(an_indefinite_kernel)
{
    double values[M], V[M * M], W[M * M], U[N * P], positive = 0, negative = 0;
    struct small set = small_of(SMALL_LINEAR, N, 2, M);

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            set.K[i * N + j] -= 120 * cos(0.7 * ((double)i - (double)j)); /* rank 2 */
    for (size_t j = 0; j < M; j++)
        set.a[j] = 0;
    for (size_t i = 0; i < M * M; i++) {
        W[i] = set.K[set.D[i / M] * N + set.D[i % M]];
        set.a[i % M] += W[i] / M;
    }
    brute_eigen(W, M, values, V);
    for (size_t k = 0; k < M; k++) {
        positive += fmax(values[k], 0);
        negative += fmax(-values[k], 0);
    }
    for (size_t method = 0; method < 3; method += 2) {
        struct ny_problem problem = wanted_problem(ctx, NY_RAW, method == 0 ? M : 0);
        OWNED(ny_solution) solution;

        assert_int_equal(small_solve(&set, all[method], SMALL_F64, &problem, &solution, U), NY_OK);
        assert_int_equal(solution.negative, 2);
        assert_near(solution.negative_share, negative / (negative + positive), 1e-12);
        assert_int_equal(solution.rank_effective, 2);
        for (size_t k = 2; k < P; k++) {
            assert_near(solution.values[k], 0, 0);
            for (size_t i = 0; i < N; i++)
                assert_near(U[i * P + k], 0, 0);
        }
    }
}

/* W whose spectrum falls to rounding, as it does wherever points are dense: G, which holds the
 * squares, has lost all but the upper half of it, and in f64 too that must not be divided by. */
TEST(a_spectrum_that_falls_to_rounding)
{
    enum { ROWS = 400, LANDMARKS = 100 };
    static const enum ny_normalisation centrings[] = {NY_RAW, NY_CENTRED_LANDMARKS,
                                                      NY_CENTRED_IMPLICIT};
    static const enum small_kernel kernels[] = {SMALL_RBF, SMALL_WIDE, SMALL_POLYNOMIAL};
    double *U = lend(ROWS * P * sizeof(*U));

    for (size_t kernel = 0; kernel < 3; kernel++) {
        struct small set = small_of(kernels[kernel], ROWS, 2, LANDMARKS);

        for (size_t c = 0; c < 6; c++) {
            struct ny_problem problem = wanted_problem(ctx, centrings[c % 3], 0);
            OWNED(ny_solution) solution;

            problem.affine = c >= 3;
            problem.coarse = true;
            CHECK(small_solve(&set, &ny_method_projected, SMALL_F64, &problem, &solution, U));
            assert_false(solution.inaccurate);
            assert_true(solution.rank_effective < LANDMARKS - 1);
            assert_true(solution.trace_approx < solution.trace * (1 + 1e-7));
            assert_true(solution.trace_approx > solution.trace * (1 - 1e-2));
            for (size_t k = 0; k < P * P && kernel < 1; k++)
                assert_near(brute_dot(U, ROWS, P, k / P, k % P), k / P == k % P, 1e-8);
        }
    }
}

static size_t sums_size(void)
{
    struct ny_layout counted = {0};

    ny_accumulator_count(&counted, M);
    ny_partial_lay(&counted, M, NY_GRAM_F64);
    return ny_layout_most(&counted);
}

static void solve_fails(const struct small *set, const struct ny_method *method,
                        struct ny_problem problem, int status)
{
    struct ny_solution solution;
    double U[N * P];

    assert_int_equal(small_solve(set, method, SMALL_F64, &problem, &solution, U), status);
    assert_int_equal(ny_context_error(ctx)->status, status);
    ny_solution_release(&solution, ctx);
    ny_error_clear(ctx);
}

TEST(what_has_no_answer_is_an_error)
{
    struct ny_problem problem = wanted_problem(ctx, NY_RAW, 0);
    uint64_t limit = ny_context_memory(ctx);
    struct small set = small_of(SMALL_RBF, N, D, 1);

    problem.affine = true;
    solve_fails(&set, &ny_method_projected, problem, NY_ENUMERIC);
    set = small_of(SMALL_RBF, N, D, M);
    set.K[set.D[3] * N + set.D[2]] = set.K[set.D[2] * N + set.D[3]] = NAN;
    for (size_t method = 0; method < 3; method++)
        solve_fails(&set, all[method], wanted_problem(ctx, NY_RAW, 0), NY_ENUMERIC);
    memset(set.K, 0, N * N * sizeof(double));
    memset(set.a, 0, M * sizeof(double));
    for (size_t method = 0; method < 3; method++) {
        solve_fails(&set, all[method], wanted_problem(ctx, NY_RAW, 0), NY_ENUMERIC);
        solve_fails(&set, all[method], wanted_problem(ctx, NY_CENTRED_LANDMARKS, 0), NY_ENUMERIC);
        ny_context_set_memory(ctx, sums_size() + M * P * sizeof(double));
        solve_fails(&set, all[method], wanted_problem(ctx, NY_RAW, 0), NY_EBUDGET);
        ny_context_set_memory(ctx, limit);
    }
}

AROUND_ALL(start, stop)
