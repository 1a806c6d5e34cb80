/* spectral/gaussian.c: B from its definition, by Gaussian elimination. */
#include "base/random.h"
#include "spectral/methods.h"
#include "spectral/whole.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/small.h"

enum { N = 300, R = 12, D = 4 };

/* Solves B S = T for B (all r × r) by elimination with row exchanges, on the transposes. */
static void solve_right(const double *S, const double *T, double *B)
{
    double A[R][2 * R];

    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < R; j++) {
            A[i][j] = S[j * R + i];
            A[i][R + j] = T[j * R + i];
        }
    for (size_t k = 0; k < R; k++) {
        size_t pivot = k;

        for (size_t i = k; i < R; i++)
            if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
        for (size_t j = 0; j < 2 * R; j++) {
            double swapped = A[k][j];

            A[k][j] = A[pivot][j];
            A[pivot][j] = swapped;
        }
        for (size_t i = 0; i < R; i++) {
            double factor = A[i][k] / A[k][k];

            for (size_t j = k; j < 2 * R && i != k; j++)
                A[i][j] -= factor * A[k][j];
        }
    }
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < R; j++)
            B[j * R + i] = A[i][R + j] / A[i][i];
}

static void run(const double *K, double *V, double *Y, double *B)
{
    const struct ny_whole *whole = ny_method_gaussian.whole;
    struct ny_sketch sketch = {
        .ctx = ctx, .randomized = {.seed = 3}, .V = ny_matrix(V, N, R), .Y = ny_matrix(Y, N, R)};

    assert_int_equal(whole->products(&sketch.randomized), 1);
    assert_int_equal(whole->start(&sketch), NY_OK);
    brute_multiply(K, V, Y, N, N, R);
    assert_int_equal(whole->next(&sketch, 0), NY_OK);
    assert_int_equal(whole->reduce(&sketch, ny_matrix(B, R, R)), NY_OK);
}

TEST(B_is_the_least_squares_solution)
{
    static const enum small_kernel kernels[] = {SMALL_RBF, SMALL_WIDE, SMALL_NARROW};
    double V[N * R], Y[N * R], omega[N * R], B[R * R], S[R * R], T[R * R], X[R * R], gram[R * R];

    ny_gaussian(3, NY_STREAM_RANGE, 0, omega, N * R);
    for (size_t k = 0; k < 3; k++) {
        struct small set = small_of(kernels[k], N, D, R);
        double largest = 0;

        run(set.K, V, Y, B);
        brute_multiply_t(V, V, gram, N, R, R);
        for (size_t i = 0; i < R * R; i++)
            assert_true(fabs(gram[i] - (i % (R + 1) == 0)) < 1e-12);
        brute_multiply_t(V, omega, S, N, R, R);
        brute_multiply_t(V, Y, T, N, R, R);
        solve_right(S, T, X);
        for (size_t i = 0; i < R * R; i++)
            largest = fmax(largest, fabs(X[i]));
        for (size_t i = 0; i < R; i++)
            for (size_t j = 0; j < R; j++)
                assert_true(fabs(B[i * R + j] - (X[i * R + j] + X[j * R + i]) / 2) <
                            1e-10 * largest);
    }
}

/* A matrix of rank D < R is found whole from one product. */
TEST(a_matrix_of_low_rank_is_exact)
{
    double V[N * R], Y[N * R], B[R * R], vectors[R * R], values[R];
    double *exact = lend(N * sizeof(double)), *all = lend(N * N * sizeof(double));
    struct small set = small_of(SMALL_LINEAR, N, D, R);

    run(set.K, V, Y, B);
    brute_eigen(B, R, values, vectors);
    brute_eigen(set.K, N, exact, all);
    for (size_t k = 0; k < D; k++)
        assert_true(fabs(values[k] - exact[k]) < 1e-9 * exact[0]);
}

AROUND_EACH(start, stop)
