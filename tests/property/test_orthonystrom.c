/* spectral/orthonystrom.c: eigenvalues of Nyström's method, and Gram-Schmidt on its eigenvectors by
 * plain loops. */
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/wanted.h"

enum { N = 70, D = 4, M = 12 };

/* u ← u less its parts along the `count` columns of Q, twice, and its length 1. */
static void gram_schmidt(const double *Q, size_t count, double *u)
{
    double length = 0;

    for (size_t k = 0; k < 2 * count; k++) {
        const double *q = Q + k % count * N;
        double dot = 0;

        for (size_t i = 0; i < N; i++)
            dot += q[i] * u[i];
        for (size_t i = 0; i < N; i++)
            u[i] -= dot * q[i];
    }
    for (size_t i = 0; i < N; i++)
        length += u[i] * u[i];
    for (size_t i = 0; i < N; i++)
        u[i] /= sqrt(length);
}

/* Column k of Û_nys = √(m/n) C v/σ, less its mean with implicit averages. */
static void extend(const struct wanted *w, const double *v, double sigma, bool centre, double *u)
{
    double mean = 0;

    for (size_t i = 0; i < N; i++) {
        u[i] = 0;
        for (size_t j = 0; j < M; j++)
            u[i] += sqrt((double)M / N) * w->C[i * M + j] * v[j] / sigma;
        mean += u[i] / N;
    }
    for (size_t i = 0; i < N && centre; i++)
        u[i] -= mean;
}

/* Columns are compared while what tiles and Gram round, magnified by (σ₁/σ_k)² and the gaps before,
 * leaves digits; how many those are is returned. */
static size_t check(const struct small *set, enum small_tiles tiles,
                    enum ny_normalisation normalisation)
{
    struct ny_problem problem = {
        .ctx = ctx, .normalisation = normalisation, .components = P, .inner = NY_INNER_EXACT};
    double values[M], V[M * M], U[N * P], Q[P * N], rounding = tiles == SMALL_F64 ? 1e-14 : 1e-7;
    double allowed[P] = {0};
    struct ny_solution solution;
    struct wanted w = wanted_of(set, normalisation, false, P, tiles != SMALL_F64);
    size_t sound = 0;

    CHECK(small_solve(set, &ny_method_orthonystrom, tiles, &problem, &solution, U));
    brute_eigen(w.W, M, values, V);
    for (size_t k = 0; k < w.rank && sound == k; k++) {
        double gap = values[k] - values[k + 1];

        if (k > 0) gap = fmin(gap, values[k - 1] - values[k]);
        allowed[k] = 100 * rounding * (values[0] / values[k] * values[0] / gap);
        if (k > 0) allowed[k] += allowed[k - 1];
        if (allowed[k] > 0.01) break;
        extend(&w, V + k * M, values[k], normalisation == NY_CENTRED_IMPLICIT, Q + k * N);
        gram_schmidt(Q, k, Q + k * N);
        assert_near(solution.values[k], (double)N / M * values[k], 1e-12 * N / M * values[0]);
        check_column(set, U, k, Q + k * N, allowed[k]);
        assert_true(sign_of(set, U + k, P) > 0);
        sound++;
    }
    for (size_t a = 0; a < solution.rank_effective; a++)
        for (size_t b = 0; b <= a; b++)
            assert_near(brute_dot(U, N, P, a, b), a == b, a < sound ? allowed[a] : 0.02);
    for (size_t k = solution.rank_effective; k < P; k++) {
        assert_near(solution.values[k], 0, 0);
        for (size_t i = 0; i < N; i++)
            assert_near(U[i * P + k], 0, 0);
    }
    assert_in_range(solution.rank_effective, sound, w.rank);
    assert_false(solution.inaccurate);
    assert_true(isnan(solution.trace) && isnan(solution.trace_approx)); /* K̃ is not below K */
    ny_solution_release(&solution, ctx);
    return sound;
}

TEST(every_kernel_and_normalisation)
{
    static const enum ny_normalisation normalisations[] = {
        NY_RAW, NY_CENTRED_LANDMARKS, NY_CENTRED_IMPLICIT, NY_DIVIDED_LANDMARKS};
    size_t sound[SMALL_KERNELS][2] = {{0}};

    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = small_of((enum small_kernel)kernel, N, D, M);

        for (size_t c = 0; c < 4; c++) {
            if (ny_divided(normalisations[c]) && kernel == SMALL_LINEAR) continue;
            sound[kernel][0] += check(&set, SMALL_F32_GRAM64, normalisations[c]);
            sound[kernel][1] += check(&set, SMALL_F64, normalisations[c]);
        }
    }
    assert_in_range(sound[SMALL_RBF][0], 3 * P, 4 * P);
    assert_int_equal(sound[SMALL_RBF][1], 4 * P);
    assert_int_equal(sound[SMALL_NARROW][1], 4 * P);
    assert_int_equal(sound[SMALL_DUPLICATES][1], 4 * P);
    assert_int_equal(sound[SMALL_LINEAR][1], 3 * D); /* W has rank D: the rest is dropped */
}

/* Far apart scales: columns that rounding has eaten are dropped, the others stay orthonormal. */
TEST(columns_of_rounding_are_dropped)
{
    struct ny_problem problem = {
        .ctx = ctx, .normalisation = NY_RAW, .components = P, .inner = NY_INNER_EXACT};
    struct ny_solution solution;
    struct small set = small_of(SMALL_RBF, N, D, M);
    double U[N * P];

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            set.K[i * N + j] = i == j ? 1 : 0;
    for (size_t j = 0; j < 2; j++) /* two directions of 1e12 beside I */
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < N; k++)
                set.K[i * N + k] +=
                    1e12 * sin(1.0 + (double)((j + 1) * i)) * sin(1.0 + (double)((j + 1) * k));
    memset(set.a, 0, sizeof(set.a));
    CHECK(small_solve(&set, &ny_method_orthonystrom, SMALL_F64, &problem, &solution, U));
    assert_int_equal(solution.rank_effective, 2);
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b <= a; b++)
            assert_near(brute_dot(U, N, P, a, b), a == b, 1e-10);
    ny_solution_release(&solution, ctx);
}

AROUND_ALL(start, stop)
