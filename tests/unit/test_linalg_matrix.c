/* linalg/matrix.h: numbers that are not finite, and the name of the CPU for OpenBLAS. Products,
 * solves and factors are calls of BLAS: what is made of them is tested wherever there are matrices.
 */
#include "unit/matrix_case.h"

static float *narrowed(const double *x, size_t count)
{
    float *y = lend((count ? count : 1) * sizeof(*y));

    for (size_t i = 0; i < count; i++)
        y[i] = (float)x[i];
    return y;
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
