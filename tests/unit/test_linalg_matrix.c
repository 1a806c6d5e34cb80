/* linalg/matrix.h against plain loops. Triangles that a call must not read hold NaN, and what it
 * must not write is compared afterwards. */
#include "linalg/matrix.h"

#include "base/random.h"
#include "base/thread.h"
#include "support/context.h"
#include "support/test.h"

static double *numbers(size_t count, uint64_t seed)
{
    double *x = lend_zeros((count ? count : 1) * sizeof(*x));

    ny_gaussian(seed, NY_STREAM_DATA, 0, x, count);
    return x;
}

static float *narrowed(const double *x, size_t count)
{
    float *y = lend((count ? count : 1) * sizeof(*y));

    for (size_t i = 0; i < count; i++)
        y[i] = (float)x[i];
    return y;
}

static double element(struct ny_matrix a, size_t i, size_t j)
{
    return a.transposed ? a.at[j * a.stride + i] : a.at[i * a.stride + j];
}

/* Largest |a−b|; NaN counts as infinite. */
/* S = XXᵀ + I, m × m inside rows of `stride`, its upper triangle NaN. */
static double *positive_lower(size_t m, size_t stride, uint64_t seed)
{
    double *x = numbers(m * m, seed), *s = lend(m * stride * sizeof(*s));

    for (size_t i = 0; i < m * stride; i++)
        s[i] = NAN;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = i == j ? 1 : 0;
            for (size_t k = 0; k < m; k++)
                sum += x[i * m + k] * x[j * m + k];
            s[i * stride + j] = sum;
        }
    return s;
}

TEST(products_follow_the_views)
{
    enum { R = 7, K = 5, C = 6, STRIDE = 11 };
    double *a = numbers(STRIDE * STRIDE, 1), *b = numbers(STRIDE * STRIDE, 2);
    double *before = numbers(STRIDE * STRIDE, 3), *c = numbers(STRIDE * STRIDE, 3);

    for (int way = 0; way < 4; way++) {
        struct ny_matrix A = {a, R, K, STRIDE, false}, B = {b, K, C, STRIDE, false};
        struct ny_matrix out = {c, R, C, STRIDE, false};

        if (way & 1) A = ny_t((struct ny_matrix){a, K, R, STRIDE, false});
        if (way & 2) B = ny_t((struct ny_matrix){b, C, K, STRIDE, false});
        memcpy(c, before, STRIDE * STRIDE * sizeof(*c));
        ny_gemm(1.5, A, B, -0.5, out);
        for (size_t i = 0; i < STRIDE; i++)
            for (size_t j = 0; j < STRIDE; j++) {
                double want = before[i * STRIDE + j];
                if (i < R && j < C) {
                    want *= -0.5;
                    for (size_t k = 0; k < K; k++)
                        want += 1.5 * element(A, i, k) * element(B, k, j);
                }
                assert_near(c[i * STRIDE + j], want, i < R && j < C ? 1e-13 : 0);
            }
    }
}

TEST(single_precision_products)
{
    enum { R = 40, K = 33, C = 21 };
    double *x = numbers(R * K, 1), *y = numbers(K * C, 2);
    float *a = narrowed(x, R * K), *b = narrowed(y, K * C), *c = lend(R * C * sizeof(*c));

    for (size_t i = 0; i < R * C; i++)
        c[i] = NAN; /* beta = 0 does not read C */
    ny_gemm32(2, ny_matrix32(a, R, K), ny_matrix32(b, K, C), 0, ny_matrix32(c, R, C));
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < C; j++) {
            double want = 0;
            for (size_t k = 0; k < K; k++)
                want += 2.0 * (double)a[i * K + k] * (double)b[k * C + j];
            assert_near((double)c[i * C + j], want, 1e-4);
        }
}

/* Tests both precisions, both storages, new and added; the upper triangle keeps its NaN. */
TEST(gram_fills_the_lower_triangle_only)
{
    enum { N = 300, M = 70 };
    double *x = numbers(N * M, 4), *g = lend(M * M * sizeof(*g));
    float *x32 = narrowed(x, N * M), *g32 = lend(M * M * sizeof(*g32));

    for (int transposed = 0; transposed < 2; transposed++) {
        struct ny_matrix A = transposed ? ny_t(ny_matrix(x, M, N)) : ny_matrix(x, N, M);
        struct ny_matrix32 A32 = transposed ? ny_t32(ny_matrix32(x32, M, N))
                                            : ny_matrix32(x32, N, M);

        for (size_t i = 0; i < M * M; i++) {
            g[i] = NAN;
            g32[i] = NAN;
        }
        for (int times = 1; times <= 2; times++) {
            ny_gram(A, times == 1 ? 0 : 1, ny_matrix(g, M, M));
            ny_gram32(A32, times == 1 ? 0 : 1, ny_matrix32(g32, M, M));
            for (size_t i = 0; i < M; i++)
                for (size_t j = 0; j < M; j++) {
                    double want = 0;
                    if (j > i) {
                        assert_true(isnan(g[i * M + j]) && isnan(g32[i * M + j]));
                        continue;
                    }
                    for (size_t k = 0; k < N; k++)
                        want += element(A, k, i) * element(A, k, j);
                    assert_near(g[i * M + j], times * want, 1e-11);
                    assert_near((double)g32[i * M + j], times * want, 1e-3);
                }
        }
    }
}

TEST(gemv_follows_the_view)
{
    enum { R = 9, C = 13 };
    double *a = numbers(R * C, 5), *x = numbers(C, 6), *y = numbers(R, 7), *y0 = numbers(R, 7);

    for (int transposed = 0; transposed < 2; transposed++) {
        struct ny_matrix A = transposed ? ny_t(ny_matrix(a, C, R)) : ny_matrix(a, R, C);

        memcpy(y, y0, R * sizeof(*y));
        ny_gemv(2, A, x, -1, y);
        for (size_t i = 0; i < R; i++) {
            double want = -y0[i];
            for (size_t j = 0; j < C; j++)
                want += 2 * element(A, i, j) * x[j];
            assert_near(y[i], want, 1e-13);
        }
    }
    ny_gemv(1, ny_matrix(a, R, 0), x, 0, y); /* an empty sum */
    for (size_t i = 0; i < R; i++)
        assert_near(y[i], 0, 0);
}

TEST(a_mirror_copies_the_lower_triangle)
{
    enum { M = 75, STRIDE = 80 };
    double *a = numbers(M * STRIDE, 8), *before = numbers(M * STRIDE, 8);

    ny_mirror_lower((struct ny_matrix){a, M, M, STRIDE, false});
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < STRIDE; j++)
            assert_near(a[i * STRIDE + j], before[j < M && j > i ? j * STRIDE + i : i * STRIDE + j],
                        0);
}

/* LLᵀ = A from a triangle whose other half is NaN, and stays so. */
TEST(cholesky_reads_and_writes_its_triangle_only)
{
    static const size_t orders[] = {1, 2, 65, 200};

    for (size_t o = 0; o < 4; o++) {
        size_t m = orders[o], stride = m + 3;
        double *a = positive_lower(m, stride, o), *l = lend(m * stride * sizeof(*l));

        memcpy(l, a, m * stride * sizeof(*l));
        assert_int_equal(ny_cholesky((struct ny_matrix){l, m, m, stride, false}), 0);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < stride; j++) {
                double sum = 0;
                if (j > i) {
                    assert_true(isnan(l[i * stride + j]));
                    continue;
                }
                for (size_t k = 0; k <= j; k++)
                    sum += l[i * stride + k] * l[j * stride + k];
                assert_near(sum, a[i * stride + j], 1e-10);
            }
    }
}

/* The leading minors are positive up to row `bad`, where the row repeats row 3. */
TEST(cholesky_names_the_failing_pivot)
{
    enum { M = 150 };
    static const size_t bads[] = {4, 63, 64, 149};

    for (size_t b = 0; b < 4; b++) {
        size_t bad = bads[b];
        double *a = positive_lower(M, M, 11);

        for (size_t j = 0; j < bad; j++)
            a[bad * M + j] = j < 3 ? a[3 * M + j] : a[j * M + 3];
        a[bad * M + bad] = a[3 * M + 3] - 1e-6;
        assert_int_equal(ny_cholesky(ny_matrix(a, M, M)), bad + 1);
    }
    double *a = positive_lower(M, M, 11);
    a[70 * M + 70] = NAN;
    assert_int_equal(ny_cholesky(ny_matrix(a, M, M)), 71);
}

/* L·X = B, Lᵀ·X = B and X·Lᵀ = B; L's other triangle is NaN. */
static void try_solves(size_t n)
{
    enum { M = 40 };
    double *l = positive_lower(M, M, 12), *x = numbers(M * n, 13), *b = lend(sizeof(*b) * M * n);
    float *l32 = lend(M * M * sizeof(*l32)), *b32 = lend(M * n * sizeof(*b32));
    struct ny_matrix L = ny_matrix(l, M, M);

    assert_int_equal(ny_cholesky(L), 0);
    for (size_t i = 0; i < M * M; i++)
        l32[i] = (float)l[i];
    for (int way = 0; way < 3; way++) {
        size_t rows = way == 2 ? n : M, cols = way == 2 ? M : n;

        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++) {
                double sum = 0;
                for (size_t k = 0; k < M; k++) {
                    if (way == 0 && k <= i) sum += l[i * M + k] * x[k * n + j];
                    if (way == 1 && k >= i) sum += l[k * M + i] * x[k * n + j];
                    if (way == 2 && k <= j) sum += x[i * M + k] * l[j * M + k];
                }
                b[i * cols + j] = sum;
                b32[i * cols + j] = (float)sum;
            }
        if (way == 0) ny_solve_lower(L, ny_matrix(b, M, n));
        if (way == 1) ny_solve_lower_t(L, ny_matrix(b, M, n));
        if (way == 2) ny_solve_rows(L, ny_matrix(b, n, M));
        if (way == 2) ny_solve_rows32(ny_matrix32(l32, M, M), ny_matrix32(b32, n, M));
        for (size_t i = 0; i < M * n; i++) {
            assert_near(b[i], x[i], 1e-11);
            if (way == 2) assert_near((double)b32[i], x[i], 2e-3);
        }
    }
}

TEST(triangular_solves_undo_the_product)
{
    try_solves(23);
    try_solves(1);
}

TEST(inverse_from_cholesky)
{
    enum { M = 80 };
    double *a = positive_lower(M, M, 16), *v = lend(M * M * sizeof(*v));

    memcpy(v, a, M * M * sizeof(*v));
    assert_int_equal(ny_cholesky(ny_matrix(v, M, M)), 0);
    assert_int_equal(ny_cholesky_inverse(ctx, ny_matrix(v, M, M)), NY_OK);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < M; j++) {
            double sum = 0;
            if (j > i) assert_true(isnan(v[i * M + j]));
            for (size_t k = 0; k < M; k++)
                sum += (k <= i ? a[i * M + k] : a[k * M + i]) *
                       (j <= k ? v[k * M + j] : v[j * M + k]);
            assert_near(sum, i == j, 1e-9);
        }
}

/* Puts it at several places of a long array, past whole lanes and scan blocks too. */
TEST(the_first_bad_number_is_found)
{
    enum { COUNT = 2500 };
    static const size_t places[] = {0, 1, 15, 16, 1023, 1024, 1500, 2499};
    double *x = numbers(COUNT, 17);
    float *y = narrowed(x, COUNT);

    x[7] = 1e308, x[8] = -1e308, x[9] = 5e-324;
    y[7] = 3e38f, y[8] = -3e38f, y[9] = 1e-45f;
    assert_int_equal(ny_first_not_finite(x, COUNT), 0);
    assert_int_equal(ny_first_not_finite32(y, COUNT), 0);
    assert_int_equal(ny_first_not_finite(x, 0), 0);
    for (size_t p = 0; p < 8; p++) {
        double old = x[places[p]];
        float old32 = y[places[p]];

        x[2499] = NAN, y[2499] = NAN;
        x[places[p]] = p % 2 ? NAN : -INFINITY;
        y[places[p]] = p % 2 ? INFINITY : NAN;
        assert_int_equal(ny_first_not_finite(x, COUNT), places[p] + 1);
        assert_int_equal(ny_first_not_finite32(y, COUNT), places[p] + 1);
        x[places[p]] = old, x[2499] = 0;
        y[places[p]] = old32, y[2499] = 0;
    }
}

TEST(dot_sums_every_length)
{
    double *x = numbers(100, 18), *y = numbers(100, 19), want = 0;

    for (size_t n = 0; n < 100; n++) {
        assert_near(ny_dot(x, y, n), want, 1e-12);
        want += x[n] * y[n];
    }
}

enum { WORKERS = 4, GRAM_ROWS = 600, GRAM_COLS = 150 };

struct grams {
    float *in, *out; /* one Gram a worker */
};

static int gram_of_worker(void *arg, unsigned worker)
{
    const struct grams *g = arg;

    for (int times = 0; times < 10; times++)
        ny_gram32(ny_matrix32(g->in, GRAM_ROWS, GRAM_COLS), 0,
                  ny_matrix32(g->out + worker * GRAM_COLS * GRAM_COLS, GRAM_COLS, GRAM_COLS));
    return NY_OK;
}

/* Runs several threads, each with a BLAS of one thread, as a pass does. The bits are those of one
 * alone. */
TEST(workers_do_not_disturb_each_other)
{
    double *x = numbers(GRAM_ROWS * GRAM_COLS, 20);
    struct grams g = {narrowed(x, GRAM_ROWS * GRAM_COLS),
                      lend_zeros((WORKERS + 1) * GRAM_COLS * GRAM_COLS * sizeof(float))};
    size_t cells = GRAM_COLS * GRAM_COLS;

    ny_blas_serial();
    gram_of_worker(&g, WORKERS);
    assert_int_equal(ny_parallel(ctx, WORKERS, gram_of_worker, &g), NY_OK);
    for (size_t w = 0; w < WORKERS; w++)
        assert_memory_equal(g.out + w * cells, g.out + WORKERS * cells, cells * sizeof(float));
    assert_true(g.out[0] > 0);
    ny_blas_parallel(ctx, SIZE_MAX);
}

TEST(blas_names_itself)
{
    assert_true(strlen(ny_blas_name()) > 0);
}

TEST(blocks_of_a_gram_make_up_its_lower_triangle)
{
    enum { ROWS = 40, SIZES = 4 };
    static const size_t sizes[SIZES] = {1, NY_GRAM_BLOCK, NY_GRAM_BLOCK + 1, 2 * NY_GRAM_BLOCK + 7};

    for (int k = 0; k < SIZES; k++) {
        size_t m = sizes[k];
        double *a = lend(ROWS * m * sizeof(*a)), *g = lend(m * m * sizeof(*g));
        struct ny_matrix A = ny_matrix(a, ROWS, m), G = ny_matrix(g, m, m);

        for (size_t i = 0; i < ROWS * m; i++)
            a[i] = ny_hash01(3, 0, i) - 0.5;
        for (size_t i = 0; i < m * m; i++)
            g[i] = NAN;
        for (size_t index = ny_gram_blocks(m); index-- > 0;)
            ny_gram_block(A, 0, G, index);
        for (size_t index = 0; index < ny_gram_blocks(m); index++)
            ny_gram_block(A, 1, G, index);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++) {
                double want = 0;

                if (j > i) {
                    assert_true(isnan(g[i * m + j])); /* is not touched */
                    continue;
                }
                for (size_t r = 0; r < ROWS; r++)
                    want += 2 * a[r * m + i] * a[r * m + j];
                assert_near(g[i * m + j], want, 1e-11);
            }
    }
}

TEST(empty_matrices_are_fine)
{
    double c[2] = {3, 4};
    struct ny_matrix none = ny_matrix(NULL, 0, 0);

    assert_int_equal(ny_cholesky(none), 0);
    ny_gram(none, 0, none);
    ny_mirror_lower(none);
    ny_gemm(1, ny_matrix(c, 1, 0), ny_matrix(c, 0, 2), 0, ny_matrix(c, 1, 2));
    assert_near(c[0], 0, 0);
    assert_near(c[1], 0, 0);
}

TEST(views_of_rows_and_columns)
{
    double a[12];

    for (size_t i = 0; i < 12; i++)
        a[i] = (double)i;
    struct ny_matrix part = ny_cols(ny_rows(ny_matrix(a, 3, 4), 1, 2), 2, 2);
    assert_int_equal(part.rows, 2);
    assert_int_equal(part.cols, 2);
    assert_near(element(part, 1, 0), 10, 0);
    assert_near(element(ny_t(part), 1, 0), 7, 0);
}

TEST(blas_has_the_vectors_of_the_cpu)
{
    assert_string_equal(ny_blas_better_core("Prescott", NY_CPU_AVX512), "SkylakeX");
    assert_string_equal(ny_blas_better_core("Sandybridge", NY_CPU_AVX2), "Haswell");
    assert_null(ny_blas_better_core("Prescott", NY_CPU_PLAIN));
    assert_null(ny_blas_better_core("Haswell", NY_CPU_AVX512));
    assert_null(ny_blas_better_core("Zen", NY_CPU_AVX2));
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    assert_null(ny_blas_coretype());
}

AROUND_ALL(start, stop)
