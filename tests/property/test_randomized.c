/* spectral/randomized.c from its definition by plain loops; and whole fits whose random range is
 * all of space, so that every map has its exact eigenpairs. */
#include "base/random.h"
#include "spectral/methods.h"
#include "spectral/whole.h"
#include "support/brute.h"
#include "support/files.h"
#include "support/small.h"
#include "support/store_folder.h"
#include "support/results.h"

enum { N = 70, R = 12, D = 4, ROWS = 64, P = 3 };

/* ---- the method on a dense matrix ---------------------------------------------------------- */

/* Eigenvalues of QᵀKQ, Q an orthonormal basis of K^q Ω. */
static void wanted_values(const double *K, unsigned power, uint64_t seed, double *values)
{
    double Q[N * R], Y[N * R], B[R * R], V[R * R];

    ny_gaussian(seed, NY_STREAM_RANGE, 0, Q, N * R);
    brute_orthonormalise(Q, N, R);
    for (unsigned q = 0; q < power; q++) {
        brute_multiply(K, Q, Y, N, N, R);
        memcpy(Q, Y, sizeof(Q));
        brute_orthonormalise(Q, N, R);
    }
    brute_multiply(K, Q, Y, N, N, R);
    brute_multiply_t(Q, Y, B, N, R, R);
    brute_eigen(B, R, values, V);
}

/* Runs the method with products by plain loops; V and Y have columns of their own beside. */
static void found_values(const double *K, unsigned power, uint64_t seed, double *values)
{
    enum { STRIDE = R + 2 };
    const struct ny_whole *whole = ny_method_randomized.whole;
    double V[N * STRIDE] = {0}, Y[N * STRIDE] = {0}, B[R * R], vectors[R * R];
    struct ny_sketch sketch = {.ctx = ctx,
                               .randomized = {.power = power, .seed = seed},
                               .V = {V, N, R, STRIDE, false},
                               .Y = {Y, N, R, STRIDE, false}};

    assert_int_equal(whole->products(&sketch.randomized), power + 1);
    assert_int_equal(whole->start(&sketch), NY_OK);
    for (unsigned step = 0; step <= power; step++) {
        brute_multiply(K, V, Y, N, N, STRIDE);
        assert_int_equal(whole->next(&sketch, step), NY_OK);
    }
    assert_int_equal(whole->reduce(&sketch, ny_matrix(B, R, R)), NY_OK);
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(B[i * R + j] == B[j * R + i]);
    brute_eigen(B, R, values, vectors);
}

TEST(it_is_the_range_of_powers)
{
    static const enum small_kernel kernels[] = {SMALL_RBF, SMALL_WIDE, SMALL_LINEAR};

    for (size_t k = 0; k < 3; k++) {
        struct small set = small_of(kernels[k], N, D, R);
        double wanted[R], found[R], exact[N], *V = lend(N * N * sizeof(*V));

        brute_eigen(set.K, N, exact, V);
        for (unsigned power = 0; power < 4; power++) {
            wanted_values(set.K, power, 5, wanted);
            found_values(set.K, power, 5, found);
            for (size_t j = 0; j < R; j++) {
                assert_near(found[j], wanted[j], 1e-7 * exact[0]);
                assert_true(found[j] <= exact[j] + 1e-12 * exact[0]); /* Ritz values */
            }
        }
        for (size_t j = 0; j < 4; j++)
            assert_near(found[j], exact[j], 1e-3 * exact[j]);
    }
}

/* ---- whole fits ---------------------------------------------------------------------------- */

static float points[ROWS * D];
static double weight[D]; /* of the columns in products and distances */

static void fill_points(void)
{
    for (size_t i = 0; i < ROWS * D; i++)
        points[i] = (float)(ny_hash01(11, NY_STREAM_DATA, i) + (i / D < ROWS / 3 ? 0.7 : 0));
}

/* Weights of 1, or where columns are scaled one by their variance. */
static void set_weights(bool scaled)
{
    for (size_t l = 0; l < D; l++) {
        double mean = 0, square = 0;

        for (size_t i = 0; i < ROWS; i++)
            mean += (double)points[i * D + l] / ROWS;
        for (size_t i = 0; i < ROWS; i++)
            square += pow((double)points[i * D + l] - mean, 2);
        weight[l] = scaled ? ROWS / square : 1;
    }
}

/* The matrix of a map, dense. */
static void matrix_of(const char *map, double gamma, double *K)
{
    double degree[ROWS] = {0};

    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            double dot = 0, square = 0;

            for (size_t l = 0; l < D; l++) {
                double x = (double)points[i * D + l], y = (double)points[j * D + l];

                dot += weight[l] * x * y;
                square += weight[l] * (x - y) * (x - y);
            }
            K[i * ROWS + j] = strcmp(map, "pca") == 0 ? dot : exp(-gamma * square);
            degree[i] += K[i * ROWS + j];
        }
    if (strcmp(map, "kpca") == 0 || strcmp(map, "pca") == 0) brute_centre(K, ROWS);
    if (strcmp(map, "laplacian") == 0 || strcmp(map, "diffusion") == 0)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++)
                K[i * ROWS + j] /= sqrt(degree[i] * degree[j]);
}

/* Coordinate k of all rows, its sign by the rule that the largest entry is positive. */
static void coordinate_of(const char *map, const double *values, const double *V, size_t k,
                          double *y)
{
    bool divided = strcmp(map, "laplacian") == 0 || strcmp(map, "diffusion") == 0;
    size_t pair = k + divided, largest = 0;
    double factor = strcmp(map, "laplacian") == 0   ? 1
                    : strcmp(map, "diffusion") == 0 ? values[pair]
                                                    : sqrt(values[pair]);

    for (size_t i = 0; i < ROWS; i++)
        if (fabs(V[pair * ROWS + i]) > fabs(V[pair * ROWS + largest])) largest = i;
    for (size_t i = 0; i < ROWS; i++)
        y[i] = V[pair * ROWS + i] * factor * (V[pair * ROWS + largest] < 0 ? -1 : 1);
}

static void read_matrix(const char *name, double *Y)
{
    FILE *file = fopen(name, "r");

    assert_non_null(file);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < P; k++)
            assert_int_equal(fscanf(file, k + 1 < P ? "%lf," : "%lf\n", &Y[i * P + k]), 1);
    fclose(file);
}

static void check_fit(const char *approx, const char *map, const char *precision, const char *scale)
{
    double K[ROWS * ROWS], V[ROWS * ROWS], values[ROWS], y[ROWS], Y[ROWS * P], T[ROWS * P];
    double tolerance = strcmp(precision, "f64") == 0 ? 1e-8 : 3e-5, gamma = 0;
    double trace, told, kept = 0;
    bool divided = strcmp(map, "laplacian") == 0 || strcmp(map, "diffusion") == 0;
    OWNED(ny_report) *report = NULL;
    char *in = lend_text("%s/in.csv", directory);
    char *out = lend_text("%s/out.csv", directory);
    char *again = lend_text("%s/again.csv", directory);

    must_fit(ctx, path, "x", &report,
             "approx=%s map=%s components=3 precision=%s %s=64 scale=%s restart=yes", approx, map,
             precision, strcmp(approx, "gaussian") == 0 ? "landmarks" : "oversample", scale);
    set_weights(strcmp(scale, "standard") == 0);
    if (strcmp(map, "pca") != 0) gamma = number_of(report, "gamma");
    assert_int_equal(ny_export(ctx, path, "x", "embedding", out), NY_OK);
    CHECK(ny_transform(ctx, path, "x", in, again, NULL));
    read_matrix(out, Y);
    read_matrix(again, T);
    matrix_of(map, gamma, K);
    trace = brute_trace(K, ROWS);
    brute_eigen(K, ROWS, values, V);
    told = number_of(report, "trace");
    assert_near(told / trace, 1, tolerance);
    for (size_t k = 0; k < P; k++)
        kept += values[k + divided] / trace;
    told = number_of(report, "variance_kept");
    assert_near(told, kept, tolerance);
    for (size_t k = 0; k < P; k++) {
        coordinate_of(map, values, V, k, y);
        for (size_t i = 0; i < ROWS; i++) {
            assert_near(Y[i * P + k], y[i], tolerance);
            assert_near(T[i * P + k], y[i], tolerance);
        }
    }
}

TEST(a_range_of_all_space_gives_exact_maps)
{
    static const char *const maps[] = {"svd", "pca", "kpca", "laplacian", "diffusion"};
    char *in = lend_text("%s/in.csv", directory);

    fill_points();
    assert_int_equal(ny_append_rows(ctx, path, points, ROWS, D, NULL), NY_OK);
    write_csv32(in, points, ROWS, D);
    for (size_t m = 0; m < sizeof(maps) / sizeof(maps[0]); m++) {
        check_fit("randomized", maps[m], "f64", "none");
        check_fit("randomized", maps[m], "f32", "none");
        check_fit("gaussian", maps[m], "f64", "none");
    }
    check_fit("randomized", "pca", "f64", "standard");
    check_fit("gaussian", "kpca", "f64", "standard");
}

AROUND_EACH(make_folder, remove_folder)
