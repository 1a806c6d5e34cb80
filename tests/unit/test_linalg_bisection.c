/* linalg/bisection.h: eigenvalues of tridiagonal matrices beside those that are known and those of
 * LAPACK, and the same bits for any number of threads. */
#include "linalg/bisection.h"

#include <float.h>

#include "base/random.h"
#include "linalg/blas.h"
#include "support/context.h"

enum { MOST = 700 };

struct matrix {
    double d[MOST], e[MOST];
    size_t m;
};

/* Some matrices: random; graded over 200 powers of ten; equal pairs to rounding (Wilkinson's); all
 * far from 0; tiny. */
enum { RANDOM, GRADED, PAIRS, FAR, TINY, KINDS };

static void make(struct matrix *T, int kind, size_t m)
{
    T->m = m;
    ny_gaussian((uint64_t)kind, NY_STREAM_DATA, 0, T->d, m);
    ny_gaussian((uint64_t)kind, NY_STREAM_DATA, MOST, T->e, m);
    for (size_t i = 0; i < m; i++) {
        double power = pow(10, -200 * (double)i / (double)MOST);

        if (kind == GRADED) T->d[i] *= power, T->e[i] *= power * pow(10, -100.0 / MOST);
        if (kind == PAIRS) T->d[i] = fabs((double)i - (double)(m / 2)), T->e[i] = 1;
        if (kind == FAR) T->d[i] += 1e8;
        if (kind == TINY) T->d[i] *= 1e-150, T->e[i] *= 1e-150;
    }
}

static double norm_of(const double *values, size_t m)
{
    return fmax(fabs(values[0]), fabs(values[m - 1]));
}

TEST(values_are_those_of_lapack)
{
    static const size_t orders[] = {1, 2, 3, 15, 16, 17, 33, 100, MOST};
    static struct matrix T;
    static double d[MOST], squares[MOST], values[MOST], work[4 * MOST];
    static lapack_int block[MOST], split[MOST], iwork[3 * MOST], found, blocks;

    ny_context_set_crew(ctx, 2);
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
            size_t m = orders[o];
            struct ny_tridiagonal view = {T.d, T.e, m};

            make(&T, kind, m);
            assert_int_equal(LAPACKE_dstebz_work('A', 'E', ny_blas_int(m), 0, 0, 0, 0, 0, T.d, T.e,
                                                 &found, &blocks, d, block, split, work, iwork),
                             0);
            for (size_t first = 0; first < m; first += 1 + m / 3) {
                size_t count = m - first;

                ny_bisection(ctx, &view, first, count, squares, values);
                for (size_t i = 0; i < count; i++) {
                    double bound = 2 * DBL_EPSILON * norm_of(d, m) + 4 * DBL_MIN;

                    if (i) assert_true(values[i] >= values[i - 1]);
                    assert_true(fabs(values[i] - d[first + i]) <= bound);
                }
            }
        }
}

/* 2, −1: the eigenvalues are 2 − 2 cos(kπ/(m + 1)). */
TEST(second_differences_have_known_values)
{
    static double d[MOST], e[MOST], squares[MOST], values[MOST];
    struct ny_tridiagonal T = {d, e, MOST};

    for (size_t i = 0; i < MOST; i++)
        d[i] = 2, e[i] = -1;
    ny_bisection(ctx, &T, 0, MOST, squares, values);
    for (size_t i = 0; i < MOST; i++)
        assert_true(fabs(values[i] - 2 + 2 * cos(acos(-1) * (double)(i + 1) / (MOST + 1))) < 4e-15);
}

TEST(threads_change_no_bit)
{
    static struct matrix T;
    static double squares[MOST], one[MOST], values[MOST];
    struct ny_tridiagonal view = {T.d, T.e, MOST};

    make(&T, RANDOM, MOST);
    for (unsigned threads = 1; threads <= 5; threads++) {
        ny_context_set_crew(ctx, threads);
        ny_bisection(ctx, &view, 100, 300, squares, values);
        if (threads == 1) memcpy(one, values, sizeof(one));
        assert_memory_equal(values, one, 300 * sizeof(*one));
    }
}

TEST(a_matrix_splits_where_its_neighbours_are_nothing)
{
    double d[] = {1, 2, 3, 4}, e[] = {1, 1e-9, 1};
    struct ny_tridiagonal T = {d, e, 4};

    assert_false(ny_tridiagonal_splits(&T));
    e[1] = 1e-17;
    assert_true(ny_tridiagonal_splits(&T));
    e[1] = 0;
    assert_true(ny_tridiagonal_splits(&T));
    T.m = 2;
    assert_false(ny_tridiagonal_splits(&T));
    T.m = 1;
    assert_false(ny_tridiagonal_splits(&T));
}

AROUND_ALL(start, stop)
