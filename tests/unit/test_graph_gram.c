/* graph/gram_variant.c, as compiled for each family that this CPU runs, against plain loops; and
 * the test of convergence of the solver that they serve. */
#include "support/context.h"

#include "base/cpu.h"
#include "base/random.h"
#include "graph/lobpcg_private.h"
#include "nystream.h"

#define DECLARE(variant, family) extern ny_strip_gram_fn ny_strip_gram_add_##variant;
NY_CPU_VARIANTS(DECLARE)
#undef DECLARE

enum { ROWS = 37, STRIDE = 48, SUM_STRIDE = 3 * NY_STRIP_COLUMNS };

/* Values that must not be read are NaN: columns of A that do not take part, and other strips.
 * Values that must not be written are 7: rows and strips of the sum beyond. */
static void check(ny_strip_gram_fn *add, size_t columns)
{
    static double a[ROWS * STRIDE], y[ROWS * STRIDE], weight[ROWS], sum[(STRIDE + 1) * SUM_STRIDE];
    const struct ny_strip_gram gram = {a, y + NY_STRIP_COLUMNS, weight, sum + NY_STRIP_COLUMNS,
                                       columns, STRIDE, STRIDE, SUM_STRIDE};

    for (size_t i = 0; i < ROWS; i++) {
        weight[i] = ny_hash01(1, NY_STREAM_DATA, i);
        for (size_t j = 0; j < STRIDE; j++) {
            a[i * STRIDE + j] = j < columns ? ny_hash01(2, NY_STREAM_DATA, i * STRIDE + j) : NAN;
            y[i * STRIDE + j] = j / NY_STRIP_COLUMNS == 1
                                    ? ny_hash01(3, NY_STREAM_DATA, i * STRIDE + j) - 0.5
                                    : NAN;
        }
    }
    for (size_t i = 0; i < (STRIDE + 1) * SUM_STRIDE; i++)
        sum[i] = 7;
    add(&gram, ROWS);
    for (size_t k = 0; k <= STRIDE; k++)
        for (size_t j = 0; j < SUM_STRIDE; j++) {
            double wanted = 7;

            for (size_t i = 0; i < ROWS && k < columns && j / NY_STRIP_COLUMNS == 1; i++)
                wanted += a[i * STRIDE + k] * weight[i] * y[i * STRIDE + j];
            assert_true(fabs(sum[k * SUM_STRIDE + j] - wanted) < 1e-13);
        }
}

TEST(grams_are_those_of_plain_loops)
{
    for (size_t columns = 0; columns <= STRIDE; columns++) {
#define CHECK_GRAM(variant, family)                                                                \
    if ((family) <= ny_cpu_family()) check(ny_strip_gram_add_##variant, columns);
        NY_CPU_VARIANTS(CHECK_GRAM)
#undef CHECK_GRAM
    }
}

/* A state that was stored may hold anything, in any column. */
TEST(a_residual_that_is_no_number_is_too_large)
{
    enum { WANTED = 3 };
    double value[WANTED] = {0, 0.5, 1}, residual[WANTED];
    const struct ny_lobpcg solver = {.wanted = WANTED, .value = value, .residual = residual};

    for (size_t bad = 0; bad <= WANTED; bad++) {
        for (size_t j = 0; j < WANTED; j++)
            residual[j] = j == bad ? NAN : 1e-3;
        assert_int_equal(ny_lobpcg_converged(&solver), bad == WANTED);
        assert_int_equal(ny_lobpcg_excess(&solver) > 1, bad < WANTED);
    }
}

AROUND_ALL(start, stop)
