/* The Gram trap: where all entries of C are near 1, or W decays fast, an f32 CᵀC loses exactly what
 * matters, silently. What ny_gram_choose() says must do; what it avoids must be seen to fail. */
#include "base/random.h"
#include "spectral/methods.h"
#include "stream/source.h"
#include "support/brute.h"
#include "support/certified.h"
#include "support/context.h"

OWNS(ny_layout, ny_layout_free(at))
OWNS(ny_solution, ny_solution_release(at, ctx))

enum { N = 2 * NY_UNIT_ROWS + 900, M = 60, TOP = 10 };

/* Gaussian kernel between N points and M of them; everything in double. */
struct data {
    double *C; /* N × M */
    double W[M * M], a[M];
    struct ny_gram_choice choice;
    double values[TOP], trace_error; /* the truth */
    size_t rank;
};

/* F = C·B of W⁺ = BᵀB, its columns centred with implicit averages: K̃ = FFᵀ has the eigenvalues of
 * FᵀF, and tr K loses what tr K̃ does. */
static void find_truth(struct data *data, bool implicit)
{
    double B[M * M], S[M * M], HW[M * M], *F = lend_zeros(N * M * sizeof(*F)), A[M * M], V[M * M];
    double values[M], lost = 0, kept = 0, cut;

    for (size_t i = 0; i < M * M; i++)
        HW[i] = data->W[i] - data->a[i % M];
    brute_multiply_t(HW, HW, S, M, M, M);
    brute_eigen(S, M, values, V);
    cut = 0x1p-22 * sqrt(values[0]);
    data->rank = brute_inverse_root(data->W, M, cut, M, B);
    for (size_t k = 0; k < data->rank; k++) {
        double mean = 0;

        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < M; j++)
                F[i * M + k] += data->C[i * M + j] * B[k * M + j];
            mean += F[i * M + k] / N;
        }
        for (size_t i = 0; i < N && implicit; i++)
            F[i * M + k] -= mean;
        lost += implicit ? N * mean * mean : 0;
    }
    brute_multiply_t(F, F, A, N, M, M);
    brute_eigen(A, M, values, V);
    for (size_t k = 0; k < M; k++)
        kept += values[k];
    memcpy(data->values, values, sizeof(data->values));
    data->trace_error = 1 - kept / (N - lost);
}

/* γ = 1 / (width · mean squared distance). The last `twice` landmarks repeat the first. */
static struct data *data_new(size_t d, double width, size_t twice)
{
    struct data *data = lend_zeros(sizeof(*data));
    double *x = lend(N * d * sizeof(*x));

    data->C = lend(N * M * sizeof(*data->C));
    ny_gaussian(5, NY_STREAM_DATA, 0, x, N * d);
    memcpy(x + (M - twice) * d, x, twice * d * sizeof(*x));
    for (size_t i = 0; i < N * M; i++) {
        const double *p = x + i / M * d, *q = x + i % M * d;
        double square = 0;

        for (size_t k = 0; k < d; k++)
            square += (p[k] - q[k]) * (p[k] - q[k]);
        data->C[i] = exp(-square / (width * 2 * (double)d));
    }
    memcpy(data->W, data->C, sizeof(data->W)); /* the landmarks are the first rows */
    for (size_t i = 0; i < M * M; i++)
        data->a[i % M] += data->W[i] / M;
    CHECK(ny_gram_choose(ctx, ny_matrix(data->W, M, M), data->a, 1, &data->choice));
    return data;
}

/* Tiles of C − 1aᵀ (n × m), in f64 or in f32. */
static struct ny_accumulator *accumulate(struct ny_matrix C, const double *a, bool f64,
                                         enum ny_gram_precision gram)
{
    size_t n = C.rows, m = C.cols;
    float *tile = lend(NY_UNIT_ROWS * m * sizeof(*tile));
    double *tile64 = lend(NY_UNIT_ROWS * m * sizeof(*tile64)), diagonal[NY_UNIT_ROWS];
    struct ny_accumulator *acc;
    OWNED(ny_layout) l = {.ctx = ctx};
    struct ny_partial *part;

    assert_int_equal(ny_accumulator_new(&acc, ctx, m), NY_OK);
    part = ny_partial_lay(&l, m, gram);
    assert_non_null(part);
    for (size_t i = 0; i < NY_UNIT_ROWS; i++)
        diagonal[i] = 1;
    for (size_t first = 0; first < n; first += NY_UNIT_ROWS) {
        size_t rows = n - first < NY_UNIT_ROWS ? n - first : NY_UNIT_ROWS;
        struct ny_tile_rows brought = {.count = rows, .diagonal = diagonal};

        for (size_t i = 0; i < NY_UNIT_ROWS * m; i++) {
            tile64[i] = i < rows * m ? C.at[first * m + i] - a[i % m] : 0;
            tile[i] = (float)tile64[i];
        }
        if (f64)
            ny_partial_set64(part, ny_matrix(tile64, NY_UNIT_ROWS, m), &brought);
        else
            ny_partial_set(part, ny_matrix32(tile, NY_UNIT_ROWS, m), &brought);
        ny_accumulator_fold(acc, part);
    }
    return acc;
}

struct outcome {
    double top, trace; /* largest relative error of the top eigenvalues, and of trace_error */
    bool noticed;
    size_t rank;
};

static struct outcome solve(const struct data *data, const double *a, enum ny_gram_precision gram,
                            enum ny_normalisation centring)
{
    double W[M * M], trace_error;
    struct ny_accumulator *acc = accumulate(ny_matrix(data->C, N, M), a, false, gram);
    struct ny_problem problem = {.ctx = ctx,
                                 .m = M,
                                 .n = N,
                                 .W = ny_matrix(W, M, M),
                                 .a = a,
                                 .acc = acc,
                                 .gram = gram,
                                 .normalisation = centring,
                                 .f32_tiles = true,
                                 .components = M};
    struct outcome outcome = {0};
    OWNED(ny_solution) solution;

    memcpy(W, data->W, sizeof(W));
    assert_int_equal(ny_method_projected.solve(&problem, &solution), NY_OK);
    for (size_t k = 0; k < TOP; k++)
        outcome.top = fmax(outcome.top, fabs(solution.values[k] / data->values[k] - 1));
    for (size_t k = 0; k < M && gram == NY_GRAM_F32; k++) /* what is left is not noise */
        assert_true(solution.values[k] == 0 || solution.values[k] > 1e-9 * solution.values[0]);
    trace_error = 1 - solution.trace_approx / solution.trace;
    outcome.trace = fabs(trace_error - data->trace_error) / (data->trace_error + 1e-6);
    outcome.noticed = solution.inaccurate;
    outcome.rank = solution.rank_effective;
    ny_accumulator_free(acc);
    return outcome;
}

static void check_choice(struct data *data, enum ny_gram_precision wanted)
{
    assert_int_equal(data->choice.precision, wanted);
    for (int implicit = 0; implicit < 2; implicit++) {
        struct outcome outcome;

        find_truth(data, implicit);
        outcome = solve(data, data->a, wanted, implicit ? NY_CENTRED_IMPLICIT : NY_RAW);
        assert_true(outcome.top <= 1e-4);
        assert_true(outcome.trace <= 0.01);
        assert_false(outcome.noticed);
        /* Both cuts come from norms that power iterations find a little low. */
        assert_in_range(outcome.rank, data->rank, data->rank + 1);
        assert_in_range(data->choice.rank, data->rank, data->rank + 1);
    }
}

TEST(a_wide_kernel_needs_the_shift)
{
    static const double none[M];
    struct data *data = data_new(40, 100, 0);
    struct outcome outcome;

    check_choice(data, NY_GRAM_F32);
    find_truth(data, false);
    outcome = solve(data, none, NY_GRAM_F32, NY_RAW);
    assert_true(outcome.top > 0.01);
    assert_true(outcome.trace > 0.1);
}

TEST(duplicates_in_three_dimensions_need_f64)
{
    struct data *data = data_new(3, 4, 12);
    struct outcome outcome;

    check_choice(data, NY_GRAM_F64);
    assert_true(data->rank < M - 14); /* not only the duplicates are cut */
    find_truth(data, false);
    outcome = solve(data, data->a, NY_GRAM_F32, NY_RAW);
    assert_true(outcome.top > 1e-4);
    assert_true(outcome.trace > 0.1);
    assert_true(outcome.noticed);
}

/* ---- f64 ------------------------------------------------------------------------------------ */

enum { WIDE_N = 700, WIDE_M = 20, WIDE_TOP = 6 };

/* The largest eigenvalues of C W_r⁺ Cᵀ, r the rank, in long double. */
static void wide_truth(const double *C, size_t rank, double values[WIDE_TOP])
{
    enum { M2 = WIDE_M * WIDE_M };
    long double A[M2], V[M2], *F = lend_zeros(WIDE_N * WIDE_M * sizeof(*F)), S[M2] = {0};
    long double sigma[WIDE_M];

    for (size_t i = 0; i < M2; i++)
        A[i] = (long double)C[i];
    certified_eigen(A, WIDE_M, sigma, V);
    for (size_t r = 0; r < rank; r++)
        for (size_t i = 0; i < WIDE_N; i++)
            for (size_t j = 0; j < WIDE_M; j++)
                F[i * WIDE_M + r] +=
                    (long double)C[i * WIDE_M + j] * V[r * WIDE_M + j] / sqrtl(sigma[r]);
    for (size_t i = 0; i < WIDE_N; i++)
        for (size_t j = 0; j < M2; j++)
            S[j] += F[i * WIDE_M + j / WIDE_M] * F[i * WIDE_M + j % WIDE_M];
    certified_eigen(S, WIDE_M, sigma, V);
    for (size_t k = 0; k < WIDE_TOP; k++)
        values[k] = (double)sigma[k];
}

/* A kernel so wide that eigenvalues fall by 10⁴ with each degree of a polynomial: those of degree
 * two are 10⁻⁸ of the first, and all that an unshifted G rounds at. */
TEST(small_eigenvalues_of_a_very_wide_kernel)
{
    double *C = lend(WIDE_N * WIDE_M * sizeof(*C)), x[2 * WIDE_N], W[WIDE_M * WIDE_M];
    double a[WIDE_M] = {0}, truth[WIDE_TOP];
    struct ny_problem problem = {.ctx = ctx,
                                 .m = WIDE_M,
                                 .n = WIDE_N,
                                 .W = ny_matrix(W, WIDE_M, WIDE_M),
                                 .a = a,
                                 .gram = NY_GRAM_F64,
                                 .normalisation = NY_RAW,
                                 .components = WIDE_M};
    OWNED(ny_solution) solution;

    ny_gaussian(6, NY_STREAM_DATA, 0, x, 2 * WIDE_N);
    for (size_t i = 0; i < WIDE_N * WIDE_M; i++) {
        const double *p = x + i / WIDE_M * 2, *q = x + i % WIDE_M * 2;

        C[i] = exp(-1e-4 * ((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])));
    }
    memcpy(W, C, sizeof(W));
    for (size_t i = 0; i < WIDE_M * WIDE_M; i++)
        a[i % WIDE_M] += W[i] / WIDE_M;
    problem.acc = accumulate(ny_matrix(C, WIDE_N, WIDE_M), a, true, NY_GRAM_F64);
    assert_int_equal(ny_method_projected.solve(&problem, &solution), NY_OK);
    wide_truth(C, solution.rank_effective, truth);
    assert_true(truth[WIDE_TOP - 1] < 1e-7 * truth[0]);
    for (size_t k = 0; k < WIDE_TOP; k++)
        if (!(fabs(solution.values[k] / truth[k] - 1) < 1e-3))
            fail_msg("eigenvalue %zu is %g instead of %g", k, solution.values[k], truth[k]);
    ny_accumulator_free(problem.acc);
}

AROUND_ALL(start, stop)
