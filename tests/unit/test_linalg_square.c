/* linalg/square.h: passes by all threads are those of one, bit by bit, and touch nothing beside the
 * matrix. */
#include "linalg/square.h"

#include "unit/matrix_case.h"

/* Orders at and beside the ends of parts, and some that threads share. */
static const size_t orders[] = {1, 7, 8, 9, 31, 32, 33, 255, 256, 300, 515};

static double *random_of(size_t m)
{
    return numbers(m * (m + MARGIN), m);
}

TEST(mirrors_copy_a_triangle)
{
    for (size_t o = 0; o < 2 * sizeof(orders) / sizeof(orders[0]); o++)
        for (unsigned threads = 1; threads <= 5; threads++) {
            size_t m = orders[o / 2], stride = m + MARGIN;
            double *before = random_of(m), *A = random_of(m);
            bool lower = o % 2;

            ny_context_set_crew(ctx, threads);
            CHECK((lower ? ny_square_mirror_lower : ny_square_mirror_upper)(ctx, view_of(A, m)));
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < stride; j++) {
                    bool copied = j < m && (lower ? j > i : j < i);
                    size_t from = copied ? j * stride + i : i * stride + j;

                    assert_memory_equal(&A[i * stride + j], &before[from], sizeof(*A));
                }
        }
}

/* Rows and columns of HAH add up to nothing, and no bit depends on the threads. */
TEST(a_centred_square_has_no_means)
{
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        size_t m = orders[o], stride = m + MARGIN;
        double *first = random_of(m), *mean = lend(m * sizeof(*mean));

        for (unsigned threads = 1; threads <= 5; threads++) {
            double *before = random_of(m), *A = random_of(m);

            ny_context_set_crew(ctx, threads);
            assert_int_equal(ny_square_mirror_lower(ctx, view_of(before, m)), NY_OK);
            assert_int_equal(ny_square_mirror_lower(ctx, view_of(A, m)), NY_OK);
            assert_int_equal(ny_square_centre(ctx, view_of(A, m), mean), NY_OK);
            for (size_t i = 0; i < m; i++) {
                double sum = 0;

                for (size_t j = 0; j < m; j++) {
                    double moved = before[i * stride + j] - A[i * stride + j];
                    double corner = before[0] - A[0] + mean[i] - mean[0] + mean[j] - mean[0];

                    assert_true(fabs(moved - corner) < 1e-13 * (double)(m + 8));
                    assert_true(A[i * stride + j] == A[j * stride + i]);
                    sum += A[i * stride + j];
                }
                assert_true(fabs(sum) < 1e-13 * (double)(m + 8));
                assert_memory_equal(&A[i * stride + m], &before[i * stride + m],
                                    MARGIN * sizeof(*A));
            }
            if (threads == 1) memcpy(first, A, m * stride * sizeof(*A));
            assert_memory_equal(A, first, m * stride * sizeof(*A));
        }
    }
}

TEST(sums_are_added_from_left_to_right)
{
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
        for (unsigned threads = 1; threads <= 5; threads++) {
            size_t m = orders[o];
            double *A = random_of(m), *sums = lend(m * sizeof(*sums));

            ny_context_set_crew(ctx, threads);
            assert_int_equal(ny_square_sums(ctx, view_of(A, m), sums), NY_OK);
            for (size_t i = 0; i < m; i++) {
                double sum = 0;

                for (size_t j = 0; j < m; j++)
                    sum += A[i * (m + MARGIN) + j];
                assert_memory_equal(&sums[i], &sum, sizeof(sum));
            }
        }
}

TEST(one_value_that_is_not_finite_is_seen)
{
    for (unsigned threads = 1; threads <= 3; threads++) {
        size_t m = 300, stride = m + MARGIN;
        double *A = random_of(m);
        bool finite = false;

        ny_context_set_crew(ctx, threads);
        A[m] = A[m * stride - 1] = NAN; /* beside the matrix */
        assert_int_equal(ny_square_finite(ctx, view_of(A, m), &finite), NY_OK);
        assert_true(finite);
        for (size_t i = 0; i < m; i += 13) {
            double value = A[i * stride + m - 1 - i];

            A[i * stride + m - 1 - i] = i % 2 ? NAN : -INFINITY;
            assert_int_equal(ny_square_finite(ctx, view_of(A, m), &finite), NY_OK);
            assert_false(finite);
            A[i * stride + m - 1 - i] = value;
        }
    }
}

/* Both ways, of matrices that are not square; the same bits for any number of threads. */
TEST(products_with_vectors_are_those_of_the_sums)
{
    enum { ROWS = 700, COLS = 515 };
    double *A = random_of(ROWS), *x = random_of(30), y[ROWS], one[ROWS];

    for (int transposed = 0; transposed < 2; transposed++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            struct ny_matrix view = {A, ROWS, COLS, ROWS + MARGIN, false};
            size_t rows = transposed ? COLS : ROWS, cols = transposed ? ROWS : COLS;

            ny_context_set_crew(ctx, threads);
            if (transposed) view = ny_t(view);
            assert_int_equal(ny_gemv_lanes(ctx, -2, view, x, y), NY_OK);
            for (size_t i = 0; i < rows; i++) {
                double sum = 0, size = 0;

                for (size_t j = 0; j < cols; j++) {
                    double a = A[transposed ? j * view.stride + i : i * view.stride + j] * x[j];

                    sum -= 2 * a;
                    size += 2 * fabs(a);
                }
                assert_true(fabs(y[i] - sum) <= 1e-14 * size);
            }
            if (threads == 1) memcpy(one, y, rows * sizeof(*y));
            assert_memory_equal(one, y, rows * sizeof(*y));
        }
}

TEST(lengths_overflow_only_where_the_norm_does)
{
    enum { M = 300 };
    double *A = random_of(M), lengths[M];

    for (size_t j = 0; j < M; j++) {
        A[7 * (M + MARGIN) + j] = 3e200;
        A[8 * (M + MARGIN) + j] = 3e-200;
        A[9 * (M + MARGIN) + j] = 0;
        A[10 * (M + MARGIN) + j] = j == 200 ? NAN : 1;
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        ny_context_set_crew(ctx, threads);
        assert_int_equal(ny_lengths_lanes(ctx, view_of(A, M), lengths), NY_OK);
        for (size_t i = 0; i < M; i++) {
            double squares = 0;

            for (size_t j = 0; j < M; j++)
                squares += A[i * (M + MARGIN) + j] * A[i * (M + MARGIN) + j];
            if (i < 7 || i > 10) assert_true(fabs(lengths[i] / sqrt(squares) - 1) < 1e-14);
        }
        assert_true(fabs(lengths[7] / (3e200 * sqrt(M)) - 1) < 1e-14);
        assert_true(fabs(lengths[8] / (3e-200 * sqrt(M)) - 1) < 1e-14);
        assert_true(lengths[9] == 0 && isnan(lengths[10]));
    }
}

TEST(an_interrupt_is_heard_before_each_pass)
{
    enum { N = 8 };
    double a[N * N] = {0}, sums[N];

    ny_context_interrupt(ctx, 2);
    assert_int_equal(ny_square_sums(ctx, ny_matrix(a, N, N), sums), NY_EINTERRUPTED);
    assert_int_equal(ny_gemv_lanes(ctx, 1, ny_matrix(a, N, N), a, sums), NY_EINTERRUPTED);
    ny_context_interrupt(ctx, 0);
    assert_int_equal(ny_square_sums(ctx, ny_matrix(a, N, N), sums), NY_OK);
}

AROUND_ALL(start, stop)
