/* The vector exponentials of every CPU family against libm in a wider type, densely over their
 * range; powers. */
#include "columns/vector.h"
#include "support/test.h"

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
    assert_true(isnan(x[6]) && isnan(x[7]));          /* overflow is not passed off as far away */
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

/* ---- f64 ------------------------------------------------------------------------------------ */

/* |got − want| in units of the last place of want, which is fixed below the least full exponent. */
static double ulps64(double got, long double want)
{
    int exponent;

    frexpl(want, &exponent);
    if (exponent < -1021) exponent = -1021;
    return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - 53));
}

/* Largest error of e^−y over y(0), …, y(count−1). */
static void check_range64(double (*y_of)(uint32_t), uint32_t count)
{
    double y[CHUNK], values[CHUNK], worst = 0;

    for (uint32_t first = 0; first < count; first += CHUNK) {
        for (uint32_t i = 0; i < CHUNK; i++)
            y[i] = values[i] = y_of(first + i);
        ny_vector()->pointwise->exponential64(1, values, CHUNK);
        for (uint32_t i = 0; i < CHUNK; i++) {
            double error = ulps64(values[i], expl(-(long double)y[i]));

            if (!(error <= 1.25))
                fail_msg("%s: y = %.17g gives %.17g (%.2f ulp)", ny_cpu_name(ny_cpu_family()), y[i],
                         values[i], error);
            if (error > worst) worst = error;
        }
    }
    assert_true(worst > 0.25);
}

static double uniform64(uint32_t i)
{
    return 746 * ((double)i + 0.3) / 1e6;
}

static double logarithmic64(uint32_t i)
{
    return exp(-80 + 86.6 * (double)i / 1e6); /* 1e−35 … 740 */
}

/* About the middles between multiples of ln 2, where n and r jump. */
static double middles64(uint32_t i)
{
    return (0.5 + (double)(i % 1076)) * 0.69314718055994531 * (1 + (double)(i / 1076) * 0x1p-52);
}

static void check_exp64(void)
{
    check_range64(uniform64, 1000000);
    check_range64(logarithmic64, 1000000);
    check_range64(middles64, 100000);
}

static void check_ends64(void)
{
    double y[9] = {0, -0.0, -1e-300, -5, 745.1, 745.14, 1e300, INFINITY, NAN};

    ny_vector()->pointwise->exponential64(1, y, 9);
    for (int i = 0; i < 4; i++)
        assert_true(y[i] == 1);
    assert_true(y[4] == 0x1p-1074);
    for (int i = 5; i < 8; i++)
        assert_true(y[i] == 0 && !signbit(y[i]));
    assert_true(isnan(y[8]));
}

/* γ multiplies, and a value depends on its own v alone, wherever it stands. */
static void check_places64(void)
{
    enum { MOST = 40 };
    double all[MOST], part[MOST];

    for (size_t i = 0; i < MOST; i++)
        all[i] = 0.37 * (double)(i * i);
    ny_vector()->pointwise->exponential64(0.125, all, MOST);
    for (size_t i = 0; i < MOST; i++)
        assert_true(ulps64(all[i], expl(-0.125L * (long double)(0.37 * (double)(i * i)))) < 100);
    for (size_t count = 0; count <= MOST; count++) {
        for (size_t i = 0; i < count; i++)
            part[i] = 0.37 * (double)((MOST - count + i) * (MOST - count + i));
        ny_vector()->pointwise->exponential64(0.125, part, count);
        if (count) assert_memory_equal(part, all + MOST - count, count * sizeof(*part));
    }
}

TEST(powers64_are_products)
{
    for (unsigned degree = 1; degree <= 7; degree++)
        for (int family = 0; family < NY_CPU_COUNT; family++) {
            const struct ny_kernel_params params = {.gamma = 0.3, .first = 1.7, .second = degree};
            double values[70];

            if (!ny_vector_force((enum ny_cpu)family)) continue;
            for (size_t i = 0; i < 70; i++)
                values[i] = (double)i - 20;
            ny_vector()->pointwise->power64(&params, values, 70);
            for (size_t i = 0; i < 70; i++) {
                long double base = 0.3L * ((long double)i - 20) + 1.7L, want = 1;

                for (unsigned k = 0; k < degree; k++)
                    want *= base;
                assert_true(fabsl((long double)values[i] - want) <=
                            1e-15L * degree * powl(fabsl(base) + 4, degree));
            }
        }
    assert_true(ny_vector_force(NY_CPU_COUNT));
}

TEST(exponentials_of_each_family)
{
    each_family(check_exp64); /* to an ulp and a quarter */
    each_family(check_ends64);
    each_family(check_places64);
    each_family(check_exp);   /* to two ulp */
    each_family(check_expm1); /* to four */
    each_family(check_ends);
    each_family(check_minus_one_ends);
    each_family(check_clamp_and_shift);
}

TEST(families_of_this_cpu_can_be_forced)
{
    assert_true(ny_vector_force(NY_CPU_PLAIN));
    assert_ptr_equal(ny_vector_bytes(), ny_vector()->bytes);
    assert_true(ny_vector_force(ny_cpu_family()));
    assert_true(ny_vector_force(NY_CPU_COUNT));
    assert_true((ny_vector_bytes() != ny_vector()->bytes) == ny_cpu_has_dot());
}
