/* Matérn and rational quadratic kernels against their formulas in a wider type: in f64, in f32, and
 * less one where they are near one; and tiles of rows that nearly agree. */
#include "columns/kernels.h"
#include "unit/columns_case.h"

typedef long double real;

struct shape {
    const char *name;
    double first;
};

static const struct shape shapes[] = {{"matern", 0.5},
                                      {"matern", 1.5},
                                      {"matern", 2.5},
                                      {"rational-quadratic", 0.02},
                                      {"rational-quadratic", 1},
                                      {"rational-quadratic", 30},
                                      {"rational-quadratic", 1e9}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), COUNT = 1000 };

/* k, or k − 1, of d² with γ = 1. ℓ² is ½. */
static real formula(const struct shape *shape, real square, bool less_one)
{
    real d = sqrtl(2 * square), y;

    if (strcmp(shape->name, "matern") != 0) {
        y = -(real)shape->first * log1pl(square / (real)shape->first);
        return less_one ? expm1l(y) : expl(y);
    }
    y = sqrtl(2 * (real)shape->first) * d;
    if (!less_one)
        return expl(-y) * (shape->first < 1 ? 1 : shape->first < 2 ? 1 + y : 1 + y + y * y / 3);
    if (shape->first < 1) return expm1l(-y);
    if (y > 1e-3L) return formula(shape, square, false) - 1;
    return shape->first < 2 ? y * y * (-0.5L + y * (1 / 3.0L + y * (-0.125L + y / 30)))
                            : y * y * (-1 / 6.0L + y * y * (1 / 24.0L - y / 45));
}

/* From 1e-12 to 1e5 in even steps of the exponent. */
static double square_at(size_t i)
{
    return pow(10, -12 + 17 * (double)i / COUNT);
}

TEST(values_in_f64)
{
    for (size_t s = 0; s < SHAPES; s++) {
        const struct ny_kernel_params params = {1, shapes[s].first, 1};
        double values[COUNT];

        for (size_t i = 0; i < COUNT; i++)
            values[i] = square_at(i);
        ny_kernel_find(shapes[s].name)->apply(&params, 0, NULL, values, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            real want = formula(&shapes[s], square_at(i), false);

            /* the exponent is rounded, and its error is multiplied by itself */
            if (!(fabsl((real)values[i] - want) <=
                  1e-15L * want * (4 - logl(want + 1e-4000L)) + 1e-317L))
                fail_msg("%s %g: d² %g gives %.17g, not %.17Lg", shapes[s].name, shapes[s].first,
                         square_at(i), values[i], want);
        }
    }
}

static void check_f32(const struct shape *shape, bool less_one)
{
    static const float zeros[COUNT];
    const struct ny_kernel_params params = {1, shape->first, 1};
    const struct ny_pointwise how = {&params, less_one, zeros, zeros, zeros};
    float values[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        values[i] = (float)square_at(i);
    ny_kernel_find(shape->name)->apply32(&how, 0, values, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        real want = formula(shape, (real)(float)square_at(i), less_one);

        if (!(fabsl((real)values[i] - want) <= (0x1p-24L + 2e-9L) * fabsl(want) + 1e-45L))
            fail_msg("%s %g%s: d² %g gives %g, not %Lg", shape->name, shape->first,
                     less_one ? " less one" : "", square_at(i), (double)values[i], want);
    }
}

/* Rounded once, whatever is subtracted. */
TEST(values_in_f32)
{
    for (size_t s = 0; s < SHAPES; s++) {
        check_f32(&shapes[s], false);
        check_f32(&shapes[s], true);
    }
}

/* Norms are added, a d² below 0 is 0, both parts of the shift come off, NaN and infinity stay. */
TEST(ends_in_f32)
{
    const float norms[5] = {1, 1, 1, 1, 1}, shift[5] = {0.5f, 0, 0, 0, 0};
    const float low[5] = {1e-9f, 0, 0, 0, 0};

    for (size_t s = 0; s < SHAPES; s++) {
        const struct ny_kernel_params params = {1, shapes[s].first, 1};
        const struct ny_pointwise how = {&params, false, norms, shift, low};
        float values[5] = {-3, -1, NAN, INFINITY, 1e30f};
        double wide[2] = {NAN, 0};

        ny_kernel_find(shapes[s].name)->apply32(&how, 1, values, 5);
        assert_true(values[0] == (float)(0.5 - 1e-9));
        assert_entry((double)values[1], (double)formula(&shapes[s], 1, false), 1e-7, "norms");
        assert_true(isnan(values[2]) && isnan(values[3]));
        assert_true(values[4] >= 0 && values[4] < 0.5f);
        ny_kernel_find(shapes[s].name)->apply(&params, 0, NULL, wide, 2);
        assert_true(isnan(wide[0]) && wide[1] == 1);
    }
}

/* Pairs of rows that differ by little beside their norms have the kernel of that difference. */
TEST(near_rows_keep_their_distance)
{
    enum { ROWS = 64, D = 40 };

    for (size_t s = 0; s < SHAPES; s++) {
        struct data data = data_random(NY_F32, ROWS, D, 3);
        struct geometry g;
        struct ny_columns_spec spec;
        struct ny_columns *columns;
        struct tile_result r;
        double x[D], y[D];

        for (size_t i = 0; i < ROWS * D; i++)
            data_set(&data, i, data.values[i % D + (i / D % 2) * D] + 1e-4 * (double)(i / D));
        g = geometry_of(&data, true, 1);
        spec = spec_of(shapes[s].name, 0.05, &data, &g);
        spec.params.first = shapes[s].first;
        columns = columns_of(&spec, &data, ROWS);
        r = tile_of(columns, &data, 0, ROWS);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++) {
                plain_row(&data, &g, i, x);
                plain_row(&data, &g, j, y);
                assert_entry(
                    (double)r.C[i * r.stride + j],
                    (double)formula(&shapes[s], (real)(0.05 * plain_pair(x, y, D).square), false),
                    2e-6, shapes[s].name);
            }
        ny_columns_free(columns);
    }
}

AROUND_ALL(start, stop)
