/* The vector exponential of every CPU family against libm in double, densely over its range. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "columns/vector.h"

enum { CHUNK = 1000 };

static const float zeros[CHUNK];

/* e^x, or e^x − 1, of `count` x ≤ 0 in place, by the family in force. */
static void vector_exp(float *x, size_t count, bool minus_one)
{
    const struct ny_kernel_params params = {.gamma = 1};
    const struct ny_pointwise how = {&params, minus_one, zeros, zeros, zeros};

    for (size_t i = 0; i < count; i++)
        x[i] = -x[i];
    ny_vector()->pointwise->exponential(&how, 0, x, count);
}

/* |got − want| in units of the last place of want. */
static double ulps(float got, double want)
{
    int exponent;

    frexp(want, &exponent);
    return fabs((double)got - want) / ldexp(1, exponent - 24);
}

/* Largest error in ulp over x(0), …, x(count−1); fails the test where it is above `bound`. */
static void check_range(float (*x_of)(uint32_t), uint32_t count, bool minus_one, double bound)
{
    float x[CHUNK], y[CHUNK];
    double worst = 0;

    for (uint32_t first = 0; first < count; first += CHUNK) {
        for (uint32_t i = 0; i < CHUNK; i++)
            x[i] = y[i] = x_of(first + i);
        vector_exp(y, CHUNK, minus_one);
        for (uint32_t i = 0; i < CHUNK; i++) {
            double want = minus_one ? expm1((double)x[i]) : exp((double)x[i]);
            double error = ulps(y[i], want);

            if (!(error <= bound))
                fail_msg("%s: x = %.9g gives %.9g instead of %.9g (%.2f ulp)",
                         ny_cpu_name(ny_cpu_family()), (double)x[i], (double)y[i], want, error);
            if (error > worst) worst = error;
        }
    }
    assert_true(worst > 0.25); /* the points were not trivial */
}

static float uniform(uint32_t i)
{
    return -87.0f * (float)((double)i / 1.5e6);
}

/* Down to 1e-30 in even steps of the exponent. */
static float logarithmic(uint32_t i)
{
    return -(float)exp(-69.0 + 72.4 * (double)i / 1.5e6); /* −1e−30 … −30 */
}

static void check_ends(void)
{
    float x[8] = {0, -0.0f, -87.0f, -103.98f, -104.0f, -1e30f, NAN, -INFINITY};

    vector_exp(x, 8, false);
    assert_true(x[0] == 1 && x[1] == 1);
    assert_true(ulps(x[2], exp(-87)) <= 2);
    for (int i = 3; i < 6; i++)
        assert_true(x[i] == 0);
    assert_true(isnan(x[6]) && isnan(x[7])); /* overflow is not passed off as far away */
    for (float y = -87.0f; y > -110.0f; y -= 0.01f) { /* falls to 0 and stays there */
        float value = y;

        vector_exp(&value, 1, false);
        assert_true(value >= 0 && fabs((double)value - exp((double)y)) <= 0x1p-126);
    }
}

static void check_minus_one_ends(void)
{
    float x[5] = {0, -200.0f, -1e30f, NAN, -2e-38f};

    vector_exp(x, 5, true);
    assert_true(x[0] == 0 && x[1] == -1 && x[2] == -1 && isnan(x[3]));
    assert_true(x[4] == -2e-38f);
}

/* A negative d² is a rounding error and counts as 0; the shift comes off, in both parts. */
static void check_clamp_and_shift(void)
{
    const struct ny_kernel_params params = {.gamma = 0.5};
    const float y_norm[3] = {1, 2, 3}, shift[3] = {0.5f, 0.25f, 0.75f};
    const float low[3] = {1e-9f, 0, -1e-9f};
    const struct ny_pointwise how = {&params, false, y_norm, shift, low};
    float values[3] = {-4, -1, 0};

    ny_vector()->pointwise->exponential(&how, 2, values, 3);
    assert_true(values[0] == (float)(1 - 0.5 - 1e-9)); /* d² = −1 → 0 */
    assert_true(fabs((double)values[1] - (exp(-1.5) - 0.25)) < 1e-7);
    assert_true(fabs((double)values[2] - (exp(-2.5) - 0.75 + 1e-9)) < 1e-7);
}

static void each_family(void (*check)(void))
{
    for (int family = 0; family < NY_CPU_COUNT; family++)
        if (ny_vector_force((enum ny_cpu)family)) check();
    assert_true(ny_vector_force(NY_CPU_COUNT));
}

static void check_exp(void)
{
    check_range(uniform, 1500000, false, 2);
    check_range(logarithmic, 1500000, false, 2);
}

static void check_expm1(void)
{
    check_range(uniform, 500000, true, 4);
    check_range(logarithmic, 1500000, true, 4);
}

static void exp_is_within_two_ulp(void **state)
{
    (void)state;
    each_family(check_exp);
}

static void exp_minus_one_is_within_four_ulp(void **state)
{
    (void)state;
    each_family(check_expm1);
}

static void ends_of_the_range(void **state)
{
    (void)state;
    each_family(check_ends);
    each_family(check_minus_one_ends);
}

static void clamp_and_shift(void **state)
{
    (void)state;
    each_family(check_clamp_and_shift);
}

static void families_of_this_cpu_can_be_forced(void **state)
{
    (void)state;
    assert_true(ny_vector_force(NY_CPU_PLAIN));
    assert_null(ny_vector_byte_square());
    assert_true(ny_vector_force(ny_cpu_family()));
    assert_true(ny_vector_force(NY_CPU_COUNT));
    assert_true(!ny_vector_byte_square() == !ny_cpu_has_vnni());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_within_two_ulp),
        cmocka_unit_test(exp_minus_one_is_within_four_ulp),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(clamp_and_shift),
        cmocka_unit_test(families_of_this_cpu_can_be_forced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
