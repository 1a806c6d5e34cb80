/* linalg/square.h: passes by all threads are those of one, bit by bit, and touch nothing beside the
 * matrix. */
#include "linalg/square.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/thread.h"
#include "support/context.h"

enum { MARGIN = 3 };

/* Orders at and beside the ends of parts, and some that threads share. */
static const size_t orders[] = {1, 7, 8, 9, 31, 32, 33, 255, 256, 300, 515};

static double *random_of(size_t m)
{
    double *A = malloc(m * (m + MARGIN) * sizeof(*A));

    assert_non_null(A);
    ny_gaussian(m, NY_STREAM_DATA, 0, A, m * (m + MARGIN));
    return A;
}

static struct ny_matrix view_of(double *A, size_t m)
{
    return (struct ny_matrix){A, m, m, m + MARGIN, false};
}

static void mirrors_copy_the_lower_triangle(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
        for (unsigned threads = 1; threads <= 5; threads++) {
            size_t m = orders[o], stride = m + MARGIN;
            double *before = random_of(m), *A = random_of(m);

            ny_context_set_crew(ctx, threads);
            assert_int_equal(ny_square_mirror_lower(ctx, view_of(A, m)), NY_OK);
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < stride; j++) {
                    size_t from = j < m && j > i ? j * stride + i : i * stride + j;

                    assert_memory_equal(&A[i * stride + j], &before[from], sizeof(*A));
                }
            free(A), free(before);
        }
}

static void sums_are_added_from_left_to_right(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++)
        for (unsigned threads = 1; threads <= 5; threads++) {
            size_t m = orders[o];
            double *A = random_of(m), *sums = malloc(m * sizeof(*sums));

            ny_context_set_crew(ctx, threads);
            assert_int_equal(ny_square_sums(ctx, view_of(A, m), sums), NY_OK);
            for (size_t i = 0; i < m; i++) {
                double sum = 0;

                for (size_t j = 0; j < m; j++)
                    sum += A[i * (m + MARGIN) + j];
                assert_memory_equal(&sums[i], &sum, sizeof(sum));
            }
            free(sums), free(A);
        }
}

static void one_value_that_is_not_finite_is_seen(void **state)
{
    (void)state;
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
        free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrors_copy_the_lower_triangle),
        cmocka_unit_test(sums_are_added_from_left_to_right),
        cmocka_unit_test(one_value_that_is_not_finite_is_seen),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
