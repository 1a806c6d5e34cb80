/* linalg/tridiagonal.h: QTQᵀ is A again, whatever the order is, and no bit of it depends on the
 * threads; linalg/strip.h against plain loops, in every family that this CPU can run. */
#include "linalg/tridiagonal.h"

#include "base/cpu.h"
#include "linalg/strip.h"
#include "unit/matrix_case.h"

/* A reduction, and Q: row i of it is Q's column i. */
struct reduced {
    double *A, *d, *e, *tau, *Q;
};

static struct reduced reduce(const double *A, size_t m)
{
    size_t stride = m + MARGIN;
    struct reduced r = {numbers(m * stride, 1), numbers(m, 1), numbers(m, 1), numbers(m, 1),
                        numbers(m * m, 1)};
    struct ny_matrix view = view_of(r.A, m);

    memcpy(r.A, A, m * stride * sizeof(*A));
    assert_int_equal(ny_tridiagonal_reduce(ctx, view, r.d, r.e, r.tau), NY_OK);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < stride; j++)
            if (j > i) assert_true(isnan(r.A[i * stride + j]));
    for (size_t i = 0; i < m * m; i++)
        r.Q[i] = i / m == i % m;
    assert_int_equal(ny_tridiagonal_apply(ctx, view, r.tau, ny_matrix(r.Q, m, m)), NY_OK);
    return r;
}

/* Element (i, j) of QTQᵀ. */
static double rebuilt(const struct reduced *r, size_t m, size_t i, size_t j)
{
    double sum = 0;

    for (size_t k = 0; k < m; k++) {
        const double *q = r->Q + k * m;

        sum += r->d[k] * q[i] * q[j];
        if (k + 1 < m) sum += r->e[k] * (q[i] * q[m + j] + q[m + i] * q[j]);
    }
    return sum;
}

/* Q is orthogonal, and QTQᵀ is A again, a triangle as above. */
static void check_matrix(const double *A, size_t m)
{
    double limit = 1e-14 * (10 + (double)m);
    struct reduced r = reduce(A, m);
    size_t step = m < 70 ? 1 : 17;

    for (size_t i = 0; i < m; i += step)
        for (size_t j = 0; j <= i; j += step) {
            double inner = 0, wanted = A[i * (m + MARGIN) + j], found = rebuilt(&r, m, i, j);

            for (size_t k = 0; k < m; k++)
                inner += r.Q[i * m + k] * r.Q[j * m + k];
            if (!(fabs(inner - (i == j)) <= limit) || !(fabs(found - wanted) <= 3 * limit))
                fail_msg("order %zu: rows %zu, %zu: %g of Q, %g of A", m, i, j, inner - (i == j),
                         found - wanted);
        }
}

/* Orders at and beside the ends of panels, strips, pieces and blocks. */
TEST(reductions_rebuild_any_matrix)
{
    static const size_t orders[] = {1,  2,  3,  7,  8,   9,   31,  32,  33,  34,  63,
                                    64, 65, 66, 97, 127, 128, 129, 130, 193, 257, 300};

    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
        check_matrix(triangle(orders[i], orders[i], 0), orders[i]);
}

/* A narrow kernel leaves a diagonal of ones, and values beside it whose squares have few digits. */
TEST(squares_that_underflow_leave_q_orthogonal)
{
    static const size_t orders[] = {3, 34, 130};

    for (size_t k = 0; k < sizeof(orders) / sizeof(orders[0]); k++)
        for (int exponent = -545; exponent < -470; exponent += 3) {
            size_t m = orders[k], stride = m + MARGIN;
            double *A = triangle(m, m, 0);

            for (size_t i = 0; i < m; i++) {
                for (size_t j = 0; j < i; j++)
                    A[i * stride + j] = ldexp(A[i * stride + j], exponent);
                A[i * stride + i] = 1;
            }
            check_matrix(A, m);
        }
}

TEST(no_bit_depends_on_threads)
{
    enum { M = 421 };
    double *A = triangle(M, M, 0);
    struct reduced one, other;

    ny_context_set_threads(ctx, 1);
    one = reduce(A, M);
    for (unsigned threads = 2; threads <= 9; threads += threads < 4 ? 1 : 5) {
        ny_context_set_threads(ctx, threads);
        other = reduce(A, M);
        assert_memory_equal(one.d, other.d, M * sizeof(double));
        assert_memory_equal(one.e, other.e, (M - 1) * sizeof(double));
        assert_memory_equal(one.Q, other.Q, M * M * sizeof(double));
    }
    ny_context_set_threads(ctx, 0);
}

/* A diagonal has nothing to reflect; a matrix of zeros and a row that is already reduced, too. */
TEST(reduced_matrices_stay)
{
    enum { M = 40 };
    double *A = triangle(M, M, 0);
    struct reduced r;

    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < i; j++)
            A[i * (M + MARGIN) + j] = j + 1 == i && i % 3 ? 0.5 : 0;
    r = reduce(A, M);
    for (size_t i = 0; i < M; i++) {
        assert_true(r.d[i] == A[i * (M + MARGIN) + i] && (!i || r.tau[i] == 0));
        assert_true(i + 1 == M || r.e[i] == A[(i + 1) * (M + MARGIN) + i]);
    }
}

TEST(too_small_a_budget_is_said)
{
    enum { M = 200 };
    double *A = triangle(M, M, 0), d[M], e[M], tau[M];
    struct ny_matrix view = view_of(A, M);
    struct ny_layout counted = {0};
    OWNED(ny_context) *small = NULL;

    ny_tridiagonal_count(&counted, M, M);
    assert_int_equal(ny_context_new(&small), NY_OK);
    for (int few = 2; few-- > 0;) {
        ny_context_set_memory(small, (ny_layout_most(&counted) + 1024) / (few ? 4 : 1));
        assert_int_equal(ny_tridiagonal_reduce(small, view, d, e, tau), few ? NY_EBUDGET : NY_OK);
    }
    assert_true(ny_memory_used(small) == 0);
}

static void try_strip(ny_strip_fn *strip, size_t m, size_t first)
{
    double *A = triangle(m, m, 0), *x = numbers(m, 1), *y = numbers(m, 2);

    strip(A, m + MARGIN, first, m - first, x, y);
    for (size_t i = 0; i < m; i++) {
        double before[1], want;

        ny_gaussian(2, NY_STREAM_DATA, i, before, 1);
        want = before[0];
        for (size_t j = 0; j < m; j++) {
            size_t row = i > j ? i : j, col = i > j ? j : i;

            if (row >= first) want += A[row * (m + MARGIN) + col] * x[j];
        }
        if (!(fabs(y[i] - want) <= 1e-13 * (1 + (double)m)))
            fail_msg("rows from %zu of %zu: entry %zu is %.17g, not %.17g", first, m, i, y[i],
                     want);
    }
}

#define DECLARE(variant, family) extern ny_strip_fn ny_strip_##variant;
NY_CPU_VARIANTS(DECLARE)

TEST(strips_are_those_of_plain_loops)
{
    static const size_t orders[] = {1, 2, 7, 8, 9, 17, 64, 65, 71, 136};

#define TRY(variant, family)                                                                       \
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]) && (family) <= ny_cpu_family(); i++) \
        for (size_t first = 0; first < orders[i]; first += 8)                                      \
            try_strip(ny_strip_##variant, orders[i], first);
    NY_CPU_VARIANTS(TRY)
}

AROUND_ALL(start, stop)
