/*
 * Tests projected with more landmarks than all eigenvectors of W are worth: the part below the rank
 * cut is deflated. Every point is a landmark, so that K̃ is K: its eigenpairs are K's own.
 */
#include "support/brute.h"
#include "support/context.h"

#include "base/random.h"
#include "linalg/eigen.h"
#include "spectral/methods.h"

enum { N = 1300, COPIES = 60, NEAR = 60, P = 8 };

static double *K;

/* Makes the points, some of them twice and others nearly so. */
static void point(size_t i, double x[4])
{
    size_t of = i < COPIES ? N - 1 - i : i;

    for (size_t k = 0; k < 4; k++)
        x[k] = 3 * ny_hash01(1, NY_STREAM_DATA, of * 4 + k);
    if (i >= COPIES && i < COPIES + NEAR) {
        point(N - 1 - i, x);
        x[0] += 1e-8;
    }
}

static void fill(void)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double x[4], y[4], square = 0;

            point(i, x);
            point(j, y);
            for (size_t k = 0; k < 4; k++)
                square += (x[k] - y[k]) * (x[k] - y[k]);
            K[i * N + j] = K[j * N + i] = exp(-8 * square);
        }
}

/* The matrix that the map decomposes. */
static void centre(double *A)
{
    double *mean = lend_zeros(N * sizeof(double)), grand = 0;

    for (size_t i = 0; i < N * N; i++)
        mean[i / N] += A[i] / N;
    for (size_t i = 0; i < N; i++)
        grand += mean[i] / N;
    for (size_t i = 0; i < N * N; i++)
        A[i] += grand - mean[i / N] - mean[i % N];
}

static void check(const double *A, const struct ny_solution *solution, double trace)
{
    double *copy = lend(N * N * sizeof(double)), values[P], *V = lend(P * N * sizeof(double));
    double *U = lend(N * P * sizeof(double)), *AU = lend(N * P * sizeof(double));

    memcpy(copy, A, N * N * sizeof(double));
    assert_int_equal(ny_eigen_top(ctx, ny_matrix(copy, N, N), P, values, ny_matrix(V, P, N)), NY_OK);
    for (size_t k = 0; k < P; k++)
        assert_true(fabs(solution->values[k] - values[k]) < 1e-9 * values[0]);
    ny_gemm(1, ny_matrix(K, N, N), solution->P, 0, ny_matrix(U, N, P)); /* Û = KP + 1qᵀ */
    for (size_t i = 0; i < N * P; i++)
        U[i] += solution->q[i % P];
    ny_gemm(1, ny_matrix((double *)A, N, N), ny_matrix(U, N, P), 0, ny_matrix(AU, N, P));
    for (size_t k = 0; k < P; k++)
        for (size_t l = 0; l < P; l++) {
            double product = 0;

            for (size_t i = 0; i < N; i++)
                product += U[i * P + k] * AU[i * P + l];
            assert_true(fabs(brute_dot(U, N, P, k, l) - (k == l)) < 1e-7);
            assert_true(fabs(product - (k == l ? values[k] : 0)) < 1e-7 * values[0]);
        }
    assert_true(fabs(solution->trace - trace) < 1e-6 * trace);
    assert_true(fabs(solution->trace_approx - trace) < 1e-6 * trace);
    assert_false(solution->inaccurate);
    assert_true(solution->rank_effective <= N - COPIES);
    assert_true(solution->rank_effective > N - 2 * (COPIES + NEAR));
}

static void solve(enum ny_normalisation normalisation)
{
    struct ny_solution solution = {0};
    struct ny_accumulator *acc;
    struct ny_problem problem = {.ctx = ctx,
                                 .m = N,
                                 .n = N,
                                 .gram = NY_GRAM_F64,
                                 .normalisation = normalisation,
                                 .components = P};
    double *a = lend_zeros(N * sizeof(double)), *A = lend(N * N * sizeof(double)), trace = 0;

    assert_int_equal(ny_accumulator_new(&acc, ctx, N), NY_OK);
    problem.W = ny_matrix(lend(N * N * sizeof(double)), N, N);
    problem.a = a;
    problem.acc = acc;
    memcpy(problem.W.at, K, N * N * sizeof(double));
    for (size_t j = 0; j < N; j++) {
        acc->s[j] = 0;
        for (size_t i = 0; i < N; i++)
            acc->s[j] += K[i * N + j];
    }
    ny_gram(ny_matrix(K, N, N), 0, acc->G);
    acc->t = acc->omega = N;
    acc->rows = N;
    memcpy(A, K, N * N * sizeof(double));
    if (normalisation == NY_CENTRED_IMPLICIT) centre(A);
    for (size_t i = 0; i < N; i++)
        trace += A[i * N + i];
    CHECK(ny_method_projected.solve(&problem, &solution));
    check(A, &solution, trace);
    ny_solution_release(&solution, ctx);
    ny_accumulator_free(acc);
}

TEST(what_is_below_the_cut_is_deflated)
{
    K = lend(N * N * sizeof(double));
    fill();
    solve(NY_RAW);
    solve(NY_CENTRED_IMPLICIT);
}

AROUND_ALL(start, stop)
