/* Reconstructions of K, and a result against another, through the public interface: from K itself
 * and dense algebra by plain loops. */
#include "judged_case.h"

#include "support/brute.h"

enum { PAIRS_MAX = P + 1 };

/* Û and λ̂ of a result. */
struct pairs {
    size_t count;
    double *U, *values;
};

static struct pairs pairs_of(const struct judged *of, const char *name, size_t count)
{
    return (struct pairs){count, part_of_result(ctx, of->path, name, "eigenvectors", N, count),
                          part_of_result(ctx, of->path, name, "eigenvalues", count, 1)};
}

/* The matrix that a map decomposes, of the rbf kernel with gamma 0.8. */
static double *matrix_of(const struct judged *of, const char *map)
{
    double *K = lend(N * N * sizeof(*K)), degree[N] = {0};

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            K[i * N + j] = exp(-0.8 * distance(of->x + i * D, of->x + j * D, D));
            degree[i] += K[i * N + j];
        }
    if (strstr(map, "kpca")) brute_centre(K, N);
    for (size_t i = 0; i < N * N && strstr(map, "laplacian"); i++)
        K[i] /= sqrt(degree[i / N] * degree[i % N]);
    return K;
}

static double norm(const double *A)
{
    double squares = 0;

    for (size_t i = 0; i < N * N; i++)
        squares += A[i] * A[i];
    return sqrt(squares);
}

/* ‖e_ii + e_jj − 2e_ij‖ */
static double distances_of(const double *E)
{
    double squares = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            squares += pow(E[i * N + i] + E[j * N + j] - 2 * E[i * N + j], 2);
    return sqrt(squares);
}

/* K − Σ_k values_k u_k u_kᵀ, u_k with entries `at` apart and `step` to the next vector. */
static double *without(const double *K, const double *U, const double *values, size_t count,
                       const size_t at[2])
{
    double *E = lend(N * N * sizeof(*E));

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            E[i * N + j] = K[i * N + j];
            for (size_t k = 0; k < count; k++)
                E[i * N + j] -= values[k] * U[i * at[0] + k * at[1]] * U[j * at[0] + k * at[1]];
        }
    return E;
}

/* K − UUᵀK */
static double *unprojected(const double *K, const struct pairs *pairs)
{
    double *E = lend(N * N * sizeof(*E)), *T = lend(pairs->count * N * sizeof(*T));

    brute_multiply_t(pairs->U, K, T, N, pairs->count, N);
    brute_multiply(pairs->U, T, E, N, pairs->count, N);
    for (size_t i = 0; i < N * N; i++)
        E[i] = K[i] - E[i];
    return E;
}

TEST(reconstructions)
{
    static const char *const fits[] = {"map=svd gamma=0.8 approx=column landmarks=40",
                                       "map=kpca gamma=0.8 approx=nystrom landmarks=40",
                                       "map=kpca gamma=0.8 approx=projected landmarks=40",
                                       "map=laplacian gamma=0.8 landmarks=40"};
    double *values = lend(N * sizeof(*values)), *V = lend(N * N * sizeof(*V));

    for (size_t f = 0; f < 4; f++) {
        struct judged of = {.report = NULL};
        struct pairs pairs;
        bool divided = f == 3;
        double *K, *E, *best, *projected;

        make(&of, 0, fits[f]);
        pairs = pairs_of(&of, "f", P + divided);
        judge(&of, "");
        K = matrix_of(&of, fits[f]);
        brute_eigen(K, N, values, V);
        E = without(K, pairs.U, pairs.values, pairs.count, (const size_t[]){pairs.count, 1});
        best = without(K, V, values, pairs.count, (const size_t[]){1, N});
        projected = unprojected(K, &pairs);
        near(&of, "relative_error", norm(E) / norm(K), 1e-6);
        near(&of, "relative_standard_error", 0, 0);
        near(&of, "relative_accuracy", norm(best) / norm(E), 1e-5);
        near(&of, "projection_error", norm(projected) / norm(K), 1e-6);
        near(&of, "projection_accuracy", norm(best) / norm(projected), 1e-5);
        if (!divided) near(&of, "distance_accuracy", distances_of(best) / distances_of(E), 1e-5);
        forget(&of);
    }
}

/* The error of a sample is as near that of all rows as the standard error says, and the mean over
 * many samples is nearer. */
TEST(samples)
{
    enum { SAMPLES = 300 };
    struct judged of = {.report = NULL};
    double all, part, error, sum = 0, away = 0, variance = 0;

    make(&of, 0, "gamma=3 landmarks=40");
    judge(&of, "");
    all = number_of(of.report, "relative_error");
    for (unsigned seed = 0; seed < SAMPLES; seed++) {
        char *text = lend_text("sample=24 seed=%u", seed);

        judge(&of, text);
        assert_int_equal(ny_report_number(of.report, "relative_accuracy", &part), 0); /* null */
        error = number_of(of.report, "relative_standard_error");
        part = number_of(of.report, "relative_error");
        sum += pow((part - all) / error, 2);
        away += part - all;
        variance += error * error;
    }
    sum /= SAMPLES;
    if (!(sum > 0.3 && sum < 4)) fail_msg("%g standard errors, squared", sum);
    if (!(fabs(away) < 3 * sqrt(variance))) fail_msg("%g too much in the mean", away / SAMPLES);
    forget(&of);
}

/* The i-th number of an array of a report. */
static double item(const struct judged *of, const char *key, size_t i)
{
    const char *at;
    char *wanted = lend_text("\"%s\": [", key);

    at = strstr(ny_report_json(of->report), wanted);
    if (!at) fail_msg("%s is not an array", key);
    for (at += strlen(wanted); i > 0; i--)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

/* Mean of the singular values of AᵀB, A and B orthonormal in N rows, from eigenvalues of its
 * square.
 */
static double cosines(const double *A, const double *B, size_t w)
{
    double C[PAIRS_MAX * PAIRS_MAX], S[PAIRS_MAX * PAIRS_MAX], values[PAIRS_MAX];
    double V[PAIRS_MAX * PAIRS_MAX], mean = 0;

    brute_multiply_t(A, B, C, N, w, w);
    brute_multiply_t(C, C, S, w, w, w);
    brute_eigen(S, w, values, V);
    for (size_t k = 0; k < w; k++)
        mean += sqrt(fmax(values[k], 0)) / (double)w;
    return mean;
}

/* Columns first … first + w − 1 of pairs, made orthonormal. */
static void orthonormal(const struct pairs *pairs, size_t first, size_t w, double *Q)
{
    for (size_t i = 0; i < N * w; i++)
        Q[i] = pairs->U[i / w * pairs->count + first + i % w];
    brute_orthonormalise(Q, N, w);
}

TEST(buckets)
{
    struct judged of = {.report = NULL};
    struct pairs own, exact;
    double Q[N * P], R[N * P], accuracy[P];

    make(&of, 0, "gamma=3 approx=nystrom landmarks=20");
    fit(&of, "exact", "gamma=3 approx=exact");
    own = pairs_of(&of, "f", P);
    exact = pairs_of(&of, "exact", P);
    judge(&of, "against=exact");
    for (size_t k = 0; k < P; k++)
        accuracy[k] = 1 - fabs(own.values[k] - exact.values[k]) / exact.values[k];
    orthonormal(&own, 0, 1, Q);
    orthonormal(&exact, 0, 1, R);
    assert_true(fabs(item(&of, "angles", 0) - cosines(Q, R, 1)) < 1e-6);
    orthonormal(&own, 1, 2, Q);
    orthonormal(&exact, 1, 2, R);
    assert_true(fabs(item(&of, "angles", 1) - cosines(Q, R, 2)) < 1e-6);
    assert_true(fabs(item(&of, "value_accuracy", 0) - accuracy[0]) < 1e-6);
    assert_true(fabs(item(&of, "value_accuracy", 1) - (accuracy[1] + accuracy[2]) / 2) < 1e-6);
    forget(&of);
}

/* Compares with the rest of y when ỹ and 1 have been taken out of it, by Gram–Schmidt. */
TEST(alignment)
{
    struct judged of = {.report = NULL};
    float reference[N * P];
    double Q[N * (P + 1)], left[N] = {0}, mean = 0, squares = 0, spread = 0, interval;
    double rows[N * (P + 1)];
    const struct pairs own = {P + 1, rows, NULL};

    make(&of, 0, "gamma=3 approx=nystrom landmarks=20");
    fit(&of, "other", "map=svd gamma=1");
    assert_int_equal(ny_embedding_read(ctx, of.path, "other", 0, N, reference), NY_OK);
    judge(&of, "against=other");
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k <= P; k++)
            rows[i * (P + 1) + k] = k < P ? (double)of.y[i * P + k] : 1;
    orthonormal(&own, 0, P + 1, Q);
    for (size_t c = 0; c < P; c++) {
        double y[N], sum = 0;

        for (size_t i = 0; i < N; i++)
            sum += y[i] = (double)reference[i * P + c];
        for (size_t i = 0; i < N; i++)
            spread += pow(y[i] - sum / N, 2) / N;
        for (size_t k = 0; k <= P; k++) {
            double dot = 0;

            for (size_t i = 0; i < N; i++)
                dot += Q[i * (P + 1) + k] * y[i];
            for (size_t i = 0; i < N; i++)
                y[i] -= dot * Q[i * (P + 1) + k];
        }
        for (size_t i = 0; i < N; i++)
            left[i] += y[i] * y[i];
    }
    for (size_t i = 0; i < N; i++)
        mean += left[i] / N;
    for (size_t i = 0; i < N; i++)
        squares += pow(left[i] - mean, 2) / (N - 1);
    interval = 1.96 * sqrt(squares / N);
    near(&of, "alignment_error", mean, 1e-6 * spread);
    near(&of, "alignment_share", mean / spread, 1e-6);
    assert_true(fabs(item(&of, "alignment_interval", 0) - (mean - interval)) < 1e-6 * spread);
    assert_true(fabs(item(&of, "alignment_interval", 1) - (mean + interval)) < 1e-6 * spread);
    forget(&of);
}

AROUND_ALL(start, stop)
