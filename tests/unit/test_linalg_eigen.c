/* linalg/eigen.h: residuals and orthogonality by plain loops, on matrices whose spectrum is known
 * because they are built from it. */
#include "linalg/eigen_few.h"

#include "unit/matrix_case.h"
#include "support/brute.h"

/* A = H·diag(values)·Hᵀ with H a product of two Householder reflections: its eigenvalues are
 * `values`, to rounding. Both triangles. */
static double *with_spectrum(const double *values, size_t m, uint64_t seed)
{
    double *a = lend_zeros(m * m * sizeof(*a)), *w = lend(m * sizeof(*w));

    for (size_t i = 0; i < m; i++)
        a[i * m + i] = values[i];
    for (uint64_t reflection = 0; reflection < 2; reflection++) {
        double *v = numbers(m, seed + reflection);
        double size = dot(v, v, m), vw;

        for (size_t i = 0; i < m; i++)
            w[i] = dot(a + i * m, v, m);
        vw = dot(v, w, m);
        for (size_t i = 0; i < m; i++) /* A − 2/‖v‖² (vwᵀ + wvᵀ) + 4 vᵀw/‖v‖⁴ vvᵀ */
            for (size_t j = 0; j < m; j++)
                a[i * m + j] +=
                    -2 / size * (v[i] * w[j] + w[i] * v[j]) + 4 * vw / size / size * v[i] * v[j];
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < i; j++)
            a[j * m + i] = a[i * m + j];
    return a;
}

/* Rows of V: unit length, orthogonal, and ‖Av − λv‖ ≤ tolerance. */
static void assert_eigenpairs(const double *a, size_t m, const double *values, struct ny_matrix V,
                              double tolerance)
{
    for (size_t p = 0; p < V.rows; p++) {
        const double *v = V.at + p * V.stride;
        double residual = 0;

        for (size_t i = 0; i < m; i++) {
            double r = dot(a + i * m, v, m) - values[p] * v[i];
            residual += r * r;
        }
        assert_near(sqrt(residual), 0, tolerance);
        for (size_t q = 0; q <= p; q++)
            assert_near(dot(v, V.at + q * V.stride, m), p == q, 1e-11);
        if (p) assert_true(values[p] <= values[p - 1]);
    }
}

/* Checks that only the lower triangle is read, with V in a wider buffer, whose rest stays. */
static void check_top(const double *spectrum, size_t m, size_t count)
{
    size_t stride = m + 2;
    double *a = with_spectrum(spectrum, m, 5), *work = lend(m * m * sizeof(*work));
    double *v = lend(count * stride * sizeof(*v)), values[400];
    struct ny_matrix V = {v, count, m, stride, false};

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            work[i * m + j] = j > i ? NAN : a[i * m + j];
    for (size_t i = 0; i < count * stride; i++)
        v[i] = -77;
    assert_int_equal(ny_eigen_top(ctx, ny_matrix(work, m, m), count, values, V), NY_OK);
    for (size_t p = 0; p < count; p++) {
        assert_near(values[p], spectrum[p], 1e-12 * (1 + fabs(spectrum[0])));
        assert_near(v[p * stride + m], -77, 0);
    }
    assert_eigenpairs(a, m, values, V, 1e-11 * (1 + fabs(spectrum[0])));
}

TEST(top_eigenpairs_of_any_order_and_count)
{
    static const size_t sizes[][2] = {{1, 1},   {2, 1},    {2, 2},     {3, 2},    {17, 17},
                                      {150, 1}, {150, 60}, {150, 149}, {150, 150}};
    double spectrum[150];

    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        size_t m = sizes[s][0];
        for (size_t i = 0; i < m; i++)
            spectrum[i] = 40.0 - 0.5 * (double)i; /* negative ones too */
        check_top(spectrum, m, sizes[s][1]);
    }
}

/* Duplicates among the landmarks make clusters; all-equal and zero spectra are their limits. */
TEST(top_eigenpairs_of_clustered_spectra)
{
    enum { M = 200 };
    double spectrum[M];

    for (size_t i = 0; i < M; i++)
        spectrum[i] = i < 5 ? pow(10, 3.0 - (double)i) : 0;
    check_top(spectrum, M, 120);
    for (size_t i = 0; i < M; i++)
        spectrum[i] = exp(-0.3 * (double)i);
    check_top(spectrum, M, 150);
    for (size_t i = 0; i < M; i++)
        spectrum[i] = 1;
    check_top(spectrum, M, 130);
    for (size_t i = 0; i < M; i++)
        spectrum[i] = 0;
    check_top(spectrum, M, 130);
}

/* With so many pairs, the first are found from a basis of them, unless the spectrum forbids it. */
TEST(a_few_of_many_eigenpairs)
{
    enum { M = 2100, FEW = 20 };
    static double spectrum[M], values[FEW];
    double *v = lend(FEW * M * sizeof(*v)), *a;
    bool settled;

    assert_true(ny_eigen_is_few(M, FEW) && !ny_eigen_is_few(M, 200) && !ny_eigen_is_few(150, 1));
    for (size_t i = 0; i < M; i++)
        spectrum[i] = 100 / pow(1 + (double)i, 1.5) - (i > M - 5 ? 90 : 0);
    check_top(spectrum, M, FEW);
    a = with_spectrum(spectrum, M, 5);
    CHECK(ny_eigen_few(ctx, ny_matrix(a, M, M), values, ny_matrix(v, FEW, M), &settled));
    assert_true(settled);
    for (size_t i = 0; i < M; i++)
        spectrum[i] = 1 - 1e-4 * (double)i;
    check_top(spectrum, M, FEW);
    for (size_t i = 0; i < M; i++)
        spectrum[i] = i < 7;
    check_top(spectrum, M, FEW);
    for (size_t i = 0; i < M; i++)
        spectrum[i] = 0;
    check_top(spectrum, M, FEW);
}

/* Residuals whose squares underflow must not say that pairs have settled. */
TEST(few_pairs_of_tiny_elements)
{
    enum { M = 1500, FEW = 20, EXPONENT = -700 };
    static double spectrum[M], values[FEW];
    double *v = lend(FEW * M * sizeof(*v)), *tiny = lend(M * M * sizeof(*tiny)), *a;

    for (size_t i = 0; i < M; i++)
        spectrum[i] = 100 * exp(-0.06 * (double)i);
    a = with_spectrum(spectrum, M, 5);
    for (size_t i = 0; i < M * M; i++)
        tiny[i] = ldexp(a[i], EXPONENT);
    assert_true(ny_eigen_is_few(M, FEW));
    CHECK(ny_eigen_top(ctx, ny_matrix(tiny, M, M), FEW, values, ny_matrix(v, FEW, M)));
    for (size_t p = 0; p < FEW; p++)
        assert_near(values[p] = ldexp(values[p], -EXPONENT), spectrum[p], 1e-10);
    assert_eigenpairs(a, M, values, ny_matrix(v, FEW, M), 1e-9);
}

/* There are more copies than a block has columns, so that rounding may hide one at first. */
TEST(copies_of_an_eigenvalue_are_all_found)
{
    enum { M = 2049, FEW = 18, COPIES = 17 };
    double *a = lend_zeros(M * M * sizeof(*a)), *v = lend(FEW * M * sizeof(*v)), values[FEW];

    for (int slope = 0; slope < 4; slope++) {
        for (size_t i = 0; i < M; i++)
            a[i * M + i] =
                i < COPIES ? 1
                           : 0.498 + 0.5 * exp(-(0.02 + 0.002 * slope) * ((double)i + 1 - COPIES));
        CHECK(ny_eigen_top(ctx, ny_matrix(a, M, M), FEW, values, ny_matrix(v, FEW, M)));
        for (size_t p = 0; p < COPIES; p++)
            assert_near(values[p], 1, 1e-13);
        memset(a, 0, M * M * sizeof(*a));
    }
}

/* I − (J − I)/(n − 1) has the eigenvalue n/(n − 1) n − 1 times, then 0. LAPACK's bisection does not
 * find some parts of them. Or each element of T is a block of its own, with the value 0 or 1. */
TEST(parts_of_equal_eigenvalues)
{
    enum { MOST = 64 };
    double a[MOST * MOST], work[MOST * MOST], v[MOST * MOST], values[MOST];

    for (size_t blocks = 0; blocks < 2; blocks++)
        for (size_t n = 2; n <= MOST; n += n < 12 ? 1 : 2)
            for (size_t count = 1; count <= n; count += n < 12 ? 1 : 5) {
                const double side = blocks ? 0 : 1 / (double)(n - 1);

                for (size_t i = 0; i < n * n; i++)
                    work[i] = a[i] = i / n != i % n ? -side : blocks ? (double)(i % n % 2) : 1;
                CHECK(ny_eigen_top(ctx, ny_matrix(work, n, n), count, values,
                                   ny_matrix(v, count, n)));
                for (size_t p = 0; p < count; p++)
                    assert_near(values[p], blocks ? p < n / 2 : p + 1 < n ? 1 + side : 0, 1e-13);
                assert_eigenpairs(a, n, values, ny_matrix(v, count, n), 1e-12);
            }
}

TEST(all_eigenvalues_from_the_lower_triangle)
{
    enum { M = 120 };
    double spectrum[M], values[M], *a;

    for (size_t i = 0; i < M; i++)
        spectrum[i] = 3 - 0.05 * (double)i;
    a = with_spectrum(spectrum, M, 9);
    for (size_t i = 0; i < M; i++)
        for (size_t j = i + 1; j < M; j++)
            a[i * M + j] = NAN;
    assert_int_equal(ny_eigenvalues(ctx, ny_matrix(a, M, M), values), NY_OK);
    for (size_t i = 0; i < M; i++)
        assert_near(values[i], spectrum[i], 1e-12);
}

/* The count is that of the values put in, next to the bound too; a pivot of order 2 has 1 and 1. */
TEST(eigenvalues_below_a_bound_are_counted)
{
    enum { M = 150 };
    double values[M], bounds[] = {-4, -1e-9, 0, 0.2, 2.5, 9};

    for (size_t i = 0; i < M; i++)
        values[i] = i % 5 == 0 ? -2e-9 : i % 2 ? -1 / (double)i : 3 * (double)i / M;
    for (size_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++) {
        double *a = with_spectrum(values, M, 60);
        size_t below = 0, count;

        for (size_t i = 0; i < M; i++) {
            below += values[i] < bounds[b];
            for (size_t j = i + 1; j < M; j++)
                a[i * M + j] = NAN;
        }
        assert_int_equal(ny_eigen_count_below(ctx, ny_matrix(a, M, M), bounds[b], &count), NY_OK);
        assert_int_equal(count, below);
    }
    for (size_t m = 1; m < 40; m++) { /* no diagonal: pivots of order 2 */
        double *a = lend_zeros(m * m * sizeof(*a));
        size_t count;

        for (size_t i = 1; i < m; i += 2)
            a[i * m + i - 1] = i % 4 == 1 ? 1 : -1;
        assert_int_equal(ny_eigen_count_below(ctx, ny_matrix(a, m, m), 0, &count), NY_OK);
        assert_int_equal(count, m / 2);
    }
}

TEST(bad_numbers_are_an_error)
{
    enum { M = 30 };
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    double values[M], *v = lend(M * M * sizeof(*v));
    struct ny_randomized how = {5, 2, 1};

    for (size_t b = 0; b < 3; b++) {
        double *a = numbers(M * M, 1);
        a[20 * M + 7] = a[7 * M + 20] = bad[b];
        REFUSED(ny_eigen_randomized(ctx, ny_matrix(a, M, M), 3, &how, values, ny_matrix(v, 3, M)),
                NY_ENUMERIC);
        REFUSED(ny_eigen_top(ctx, ny_matrix(a, M, M), 3, values, ny_matrix(v, 3, M)), NY_ENUMERIC);
        REFUSED(ny_eigenvalues(ctx, ny_matrix(a, M, M), values), NY_ENUMERIC);
    }
}

/* The bytes announced are those that a call takes: it fits a budget of that size, and not half of
 * it. */
TEST(workspace_is_what_was_announced)
{
    enum { M = 300, COUNT = 20 };
    double *a = numbers(M * M, 2), *v = lend(COUNT * M * sizeof(*v)), values[COUNT];
    struct ny_randomized how = {5, 2, 1};
    struct ny_matrix V = ny_matrix(v, COUNT, M);
    struct ny_layout sketch = {0}, dense = {0};
    OWNED(ny_context) *small = NULL;

    ny_eigen_randomized_count(&sketch, M, COUNT, &how);
    ny_eigen_top_count(&dense, M, COUNT);
    assert_int_equal(ny_context_new(&small), NY_OK);
    ny_context_set_threads(small, 1);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < i; j++)
            a[j * M + i] = a[i * M + j];
    for (int half = 0; half < 2; half++) {
        ny_context_set_memory(small, (ny_layout_most(&sketch) + 1024) / (half ? 2 : 1));
        assert_int_equal(ny_eigen_randomized(small, ny_matrix(a, M, M), COUNT, &how, values, V),
                         half ? NY_EBUDGET : NY_OK);
    }
    ny_error_clear(small);
    for (int half = 2; half-- > 0;) {
        ny_context_set_memory(small, (ny_layout_most(&dense) + 1024) / (half ? 2 : 1));
        assert_int_equal(ny_eigen_top(small, ny_matrix(a, M, M), COUNT, values, V),
                         half ? NY_EBUDGET : NY_OK);
    }
    assert_true(ny_memory_used(small) == 0);
}

/* A kernel of points on a line, of which a basis of few columns holds the first vectors. */
static double *smooth(size_t m)
{
    double *a = lend(m * m * sizeof(*a));

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            a[i * m + j] = j > i ? (double)NAN : exp(-pow(((double)i - (double)j) / 99, 2));
    return a;
}

/* Few of many pairs: the same bits by any number of threads, in the bytes announced, and A, of
 * which the lower triangle is read, as it was. */
TEST(few_pairs_do_not_depend_on_threads)
{
    enum { M = 1600, COUNT = 7 };
    double *a = smooth(M), *before = smooth(M), *v[2], values[2][COUNT];

    assert_true(ny_eigen_is_few(M, COUNT));
    for (unsigned t = 0; t < 2; t++) {
        struct ny_layout counted = {0};
        OWNED(ny_context) *own = NULL;
        bool settled;

        ny_eigen_few_count(&counted, M, COUNT);
        v[t] = lend(COUNT * M * sizeof(*v[t]));
        assert_int_equal(ny_context_new(&own), NY_OK);
        ny_context_set_threads(own, 1 + 2 * t);
        ny_context_set_memory(own, ny_layout_most(&counted) + 1024);
        CHECK(
            ny_eigen_few(own, ny_matrix(a, M, M), values[t], ny_matrix(v[t], COUNT, M), &settled));
        assert_true(settled && ny_memory_used(own) == 0);
    }
    assert_memory_equal(values[0], values[1], sizeof(values[0]));
    assert_memory_equal(v[0], v[1], COUNT * M * sizeof(*v[0]));
    for (size_t i = 0; i < M; i++)
        assert_memory_equal(a + i * M, before + i * M, (i + 1) * sizeof(*a));
}

/* Against the known spectrum; one power more is closer, and count + p ≥ m is exact. */
TEST(randomized_finds_decaying_spectra)
{
    enum { M = 250, COUNT = 30 };
    double spectrum[M], values[M], *a, *v = lend(M * M * sizeof(*v)), before = INFINITY;

    for (size_t i = 0; i < M; i++)
        spectrum[i] = 100 / pow((double)(i + 1), 2);
    a = with_spectrum(spectrum, M, 21);
    for (unsigned q = 0; q <= 4; q++) {
        struct ny_randomized how = {5, q, 3};
        struct ny_matrix V = ny_matrix(v, COUNT, M);
        double worst = 0;

        CHECK(ny_eigen_randomized(ctx, ny_matrix(a, M, M), COUNT, &how, values, V));
        for (size_t p = 0; p < COUNT; p++) {
            assert_true(isfinite(values[p])); /* fmax() leaves NaN out */
            worst = fmax(worst, fabs(values[p] / spectrum[p] - 1));
            for (size_t r = 0; r <= p; r++)
                assert_near(dot(v + p * M, v + r * M, M), p == r, 1e-12);
        }
        assert_true(worst < before);
        if (q == 2) assert_near(values[0], spectrum[0], 1e-9 * spectrum[0]);
        before = worst;
    }
    assert_near(before, 0, 0.02);
    assert_near(values[9], spectrum[9], 1e-6 * spectrum[9]);
    for (size_t count = M - 5; count <= M; count += 5) {
        struct ny_randomized how = {5, 1, 3};
        struct ny_matrix V = ny_matrix(v, count, M);

        CHECK(ny_eigen_randomized(ctx, ny_matrix(a, M, M), count, &how, values, V));
        assert_eigenpairs(a, M, values, V, 1e-10);
    }
}

/* Rank 8 with a negative eigenvalue: everything is found, and its sign is kept. The basis is
 * rank-deficient here, so Householder is what orthonormalises it. */
TEST(randomized_on_a_singular_indefinite_matrix)
{
    enum { M = 90, COUNT = 9 };
    double spectrum[M] = {9, 8, 7, 6, 5, 4, 3}, values[M], *a, *v = lend(M * M * sizeof(*v));
    struct ny_randomized how = {5, 2, 4};

    spectrum[M - 1] = -2;
    a = with_spectrum(spectrum, M, 30);
    CHECK(
        ny_eigen_randomized(ctx, ny_matrix(a, M, M), COUNT, &how, values, ny_matrix(v, COUNT, M)));
    for (size_t p = 0; p < COUNT; p++)
        assert_near(values[p], p < 7 ? spectrum[p] : 0, 1e-12);
    assert_eigenpairs(a, M, values, ny_matrix(v, COUNT, M), 1e-11);
    CHECK(ny_eigen_randomized(ctx, ny_matrix(a, M, M), M, &how, values, ny_matrix(v, M, M)));
    assert_near(values[M - 1], -2, 1e-12);
}

/* Numbers are the same for any number of threads that fill Ω, and others for another seed. */
TEST(randomized_depends_on_the_seed_alone)
{
    enum { M = 120, COUNT = 6 };
    double *a = numbers(M * M, 8), values[4][COUNT], *v = lend(COUNT * M * sizeof(*v));

    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < i; j++)
            a[j * M + i] = a[i * M + j];
    ny_blas_serial();
    for (unsigned run = 0; run < 4; run++) {
        struct ny_randomized how = {3, 1, run < 3 ? 7 : 8};

        ny_context_set_threads(ctx, run + 1);
        CHECK(ny_eigen_randomized(ctx, ny_matrix(a, M, M), COUNT, &how, values[run],
                                  ny_matrix(v, COUNT, M)));
    }
    ny_context_set_threads(ctx, 0);
    ny_blas_parallel(ctx, SIZE_MAX);
    assert_memory_equal(values[0], values[1], sizeof(values[0]));
    assert_memory_equal(values[0], values[2], sizeof(values[0]));
    assert_true(memcmp(values[0], values[3], sizeof(values[0])) != 0);
}

/* QᵀQ = I and Y = Q(QᵀY): the columns of the old Y lie in the new range. */
static void check_orthonormalised(double *y, size_t m, size_t r, size_t stride)
{
    double *before = lend(m * stride * sizeof(*before)), *x = lend(r * sizeof(*x)), size = 0;

    memcpy(before, y, m * stride * sizeof(*y));
    assert_int_equal(ny_orthonormalise(ctx, (struct ny_matrix){y, m, r, stride, false}), NY_OK);
    for (size_t a = 0; a < r; a++)
        for (size_t b = 0; b <= a; b++)
            assert_near(brute_dot(y, m, stride, a, b), a == b, 1e-13);
    for (size_t c = 0; c < r; c++) {
        size = 0;
        for (size_t a = 0; a < r; a++)
            x[a] = 0;
        for (size_t i = 0; i < m; i++) {
            size = hypot(size, before[i * stride + c]);
            for (size_t a = 0; a < r; a++)
                x[a] += y[i * stride + a] * before[i * stride + c];
        }
        for (size_t i = 0; i < m; i++)
            assert_near(dot(y + i * stride, x, r), before[i * stride + c], 1e-12 * size);
    }
    for (size_t i = 0; i < m; i++) /* beside the view */
        for (size_t c = r; c < stride; c++)
            assert_near(y[i * stride + c], before[i * stride + c], 0);
}

TEST(orthonormalise_any_columns)
{
    enum { M = 130, R = 24, STRIDE = 27 };

    for (int kind = 0; kind < 6; kind++) {
        double *y = numbers(M * STRIDE, 40);

        for (size_t i = 0; i < M; i++) {
            double *row = y + i * STRIDE;
            if (kind == 1) row[9] = row[4];                 /* a duplicate */
            if (kind == 2) row[3] = 0;                      /* nothing */
            if (kind == 3) row[7] = row[6] + 1e-7 * row[7]; /* nearly dependent */
            if (kind == 4) row[7] = row[6] + 1e-4 * row[7];
            for (size_t c = 0; c < R && kind == 5; c++) /* Gram over- and underflows */
                row[c] *= c % 2 ? 1e170 : 1e-170;
        }
        check_orthonormalised(y, M, R, STRIDE);
    }
    double *square = numbers(R * R, 41);
    check_orthonormalised(square, R, R, R);
}

TEST(spectral_norm_is_a_close_lower_bound)
{
    enum { M = 80, N = 50 };
    double spectrum[M], *a, norm, frobenius;

    for (size_t i = 0; i < M; i++)
        spectrum[i] = i == 0 ? -5 : 3.0 / (double)i;
    a = with_spectrum(spectrum, M, 50);
    assert_int_equal(ny_spectral_norm(ctx, ny_matrix(a, M, M), &norm), NY_OK);
    assert_near(norm, 5, 0.01);
    assert_true(norm <= 5 * (1 + 1e-14));

    a = lend(M * N * sizeof(*a)); /* rank 1: uvᵀ, both norms ‖u‖‖v‖ */
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++)
            a[i * N + j] = (1.0 + (double)i) * cos((double)j);
    frobenius = sqrt(dot(a, a, M * N));
    for (int transposed = 0; transposed < 2; transposed++) {
        struct ny_matrix A = ny_matrix(a, M, N);

        assert_int_equal(ny_spectral_norm(ctx, transposed ? ny_t(A) : A, &norm), NY_OK);
        assert_near(norm, frobenius, 1e-12 * frobenius);
    }
    for (size_t i = 0; i < M * N; i++)
        a[i] *= 1e300 / frobenius;
    assert_int_equal(ny_spectral_norm(ctx, ny_matrix(a, M, N), &norm), NY_OK);
    assert_near(norm, 1e300, 1e288);
    memset(a, 0, M * N * sizeof(*a));
    assert_int_equal(ny_spectral_norm(ctx, ny_matrix(a, M, N), &norm), NY_OK);
    assert_near(norm, 0, 0);
    a[N + 1] = NAN;
    REFUSED(ny_spectral_norm(ctx, ny_matrix(a, M, N), &norm), NY_ENUMERIC);
}

AROUND_ALL(start, stop)
