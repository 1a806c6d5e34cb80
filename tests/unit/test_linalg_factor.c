/* linalg/factor.h: LLᵀ is A again and L·G′·Lᵀ is G, whatever the order is, and no bit of either
 * depends on the threads. Triangles that must not be read hold NaN. */
#include "linalg/factor.h"

#include "unit/matrix_case.h"

/* Orders at and beside the ends of blocks. */
static const size_t orders[] = {1, 2, 40, 95, 96, 97, 191, 192, 193, 289, 300};

static double *copy_of(const double *A, size_t m)
{
    double *copy = lend(m * (m + MARGIN) * sizeof(*copy));

    memcpy(copy, A, m * (m + MARGIN) * sizeof(*copy));
    return copy;
}

static void assert_untouched(const double *A, size_t m)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = i + 1; j < m + MARGIN; j++)
            assert_true(isnan(A[i * (m + MARGIN) + j]));
}

/* L of the matrix, with its margin. */
static double *factor_of(const double *A, size_t m)
{
    double *L = copy_of(A, m);
    bool positive = false;

    assert_int_equal(ny_factor(ctx, view_of(L, m), &positive), NY_OK);
    assert_true(positive);
    assert_untouched(L, m);
    return L;
}

static double *reduced(const double *L, const double *G, size_t m)
{
    double *l = copy_of(L, m), *g = copy_of(G, m);

    assert_int_equal(ny_factor_reduce(ctx, view_of(l, m), view_of(g, m)), NY_OK);
    assert_untouched(g, m);
    for (size_t i = 0; i < m; i++)
        assert_memory_equal(l + i * (m + MARGIN), L + i * (m + MARGIN), (i + 1) * sizeof(*l));
    return g;
}

TEST(factors_rebuild_any_matrix)
{
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        size_t m = orders[o], stride = m + MARGIN;
        double *A = triangle(m, o, 3 * (double)m), *L = factor_of(A, m);

        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j <= i; j++)
                if (!(fabs(dot(L + i * stride, L + j * stride, j + 1) - A[i * stride + j]) <=
                      1e-14 * (10 + 3 * (double)m)))
                    fail_msg("order %zu: element %zu, %zu", m, i, j);
    }
}

/* Element (i, j) of L times the symmetric matrix of the lower triangle g. */
static double half_product(const double *L, const double *g, size_t stride, size_t i, size_t j)
{
    double sum = 0;

    for (size_t k = 0; k <= i; k++)
        sum += L[i * stride + k] * (k >= j ? g[k * stride + j] : g[j * stride + k]);
    return sum;
}

TEST(reductions_are_undone_by_products)
{
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        size_t m = orders[o], stride = m + MARGIN, step = m < 100 ? 1 : 7;
        double *A = triangle(m, o, 3 * (double)m), *G = triangle(m, 50 + o, 1);
        double *L = factor_of(A, m), *g = reduced(L, G, m), *half = lend(m * sizeof(*half));

        for (size_t i = 0; i < m; i += step) {
            for (size_t j = 0; j <= i; j++)
                half[j] = half_product(L, g, stride, i, j);
            for (size_t j = 0; j <= i; j += step)
                if (!(fabs(dot(half, L + j * stride, j + 1) - G[i * stride + j]) <=
                      1e-13 * (10 + (double)m)))
                    fail_msg("order %zu: element %zu, %zu", m, i, j);
        }
    }
}

TEST(no_bit_depends_on_threads)
{
    enum { M = 421 };
    double *A = triangle(M, 1, 3 * M), *G = triangle(M, 2, 1), *L[2], *g[2];

    ny_context_set_threads(ctx, 1);
    L[0] = factor_of(A, M);
    g[0] = reduced(L[0], G, M);
    for (unsigned threads = 2; threads <= 9; threads += threads < 4 ? 1 : 5) {
        ny_context_set_threads(ctx, threads);
        L[1] = factor_of(A, M);
        g[1] = reduced(L[1], G, M);
        for (size_t i = 0; i < M; i++) {
            size_t at = i * (M + MARGIN), bytes = (i + 1) * sizeof(double);

            assert_memory_equal(L[0] + at, L[1] + at, bytes);
            assert_memory_equal(g[0] + at, g[1] + at, bytes);
        }
    }
    ny_context_set_threads(ctx, 0);
}

/* A pivot that is not positive, in the first block, at the ends of others, and a NaN. */
TEST(matrices_without_a_factor_are_told)
{
    enum { M = 300 };
    static const size_t bads[] = {0, 95, 96, 191, 192, 299};

    for (size_t b = 0; b < sizeof(bads) / sizeof(bads[0]); b++)
        for (int not_a_number = 0; not_a_number < 2; not_a_number++) {
            double *A = triangle(M, 3, 3 * M);
            bool positive = true;

            A[bads[b] * (M + MARGIN + 1)] = not_a_number ? NAN : -1;
            assert_int_equal(ny_factor(ctx, view_of(A, M), &positive), NY_OK);
            assert_false(positive);
            assert_untouched(A, M);
        }
}

TEST(reductions_to_infinity_are_refused)
{
    enum { M = 200 };
    double *A = triangle(M, 4, 3 * M), *G = triangle(M, 5, 1), *L = factor_of(A, M);

    G[150 * (M + MARGIN) + 2] = INFINITY;
    REFUSED(ny_factor_reduce(ctx, view_of(L, M), view_of(G, M)), NY_ENUMERIC);
}

TEST(too_small_a_budget_is_said)
{
    enum { M = 200 };
    double *A = triangle(M, 6, 3 * M), *G = triangle(M, 7, 1), *L = factor_of(A, M);
    struct ny_layout counted = {0};
    OWNED(ny_context) *small = NULL;

    ny_factor_reduce_count(&counted, M);
    assert_int_equal(ny_context_new(&small), NY_OK);
    for (int few = 2; few-- > 0;) {
        ny_context_set_memory(small, (ny_layout_most(&counted) + 1024) / (few ? 4 : 1));
        assert_int_equal(ny_factor_reduce(small, view_of(L, M), view_of(G, M)),
                         few ? NY_EBUDGET : NY_OK);
    }
    assert_true(ny_memory_used(small) == 0);
}

TEST(empty_matrices_are_fine)
{
    struct ny_matrix none = ny_matrix(NULL, 0, 0);
    bool positive = false;

    assert_int_equal(ny_factor(ctx, none, &positive), NY_OK);
    assert_true(positive);
    assert_int_equal(ny_factor_reduce(ctx, none, none), NY_OK);
}

AROUND_ALL(start, stop)
