/* Tiles of C against plain loops in double, for all kernels, types, geometries and widths. */
#include "unit/columns_case.h"

OWNS_POINTER(ny_columns, ny_columns_free)

enum { LANDMARKS = 37, ROWS = 701 };

/* The error allowed to f32: a sum of d terms is good to about √d·2⁻²⁴ of the norms (or magnitudes)
 * it is made of, and the kernel passes that on with its slope. */
static double tolerance_of(const char *name, const struct ny_kernel_params *params, struct pair p,
                           size_t d)
{
    double norms = p.x_norm + p.y_norm, unit = 0x1p-24 * (8 + sqrt((double)d)), slope, value;

    if (strcmp(name, "linear") == 0) return unit * sqrt(p.x_norm * p.y_norm) + 1e-30;
    if (strcmp(name, "cosine") == 0) return unit;
    if (strcmp(name, "laplacian") == 0) return unit * (1 + 2 * params->gamma * p.absolute);
    if (strcmp(name, "matern") == 0) return unit; /* from differences */
    if (strcmp(name, "rbf") == 0 || strcmp(name, "rational-quadratic") == 0)
        return unit * (1 + params->gamma * norms);
    value = fabs(params->gamma * p.dot + params->first);
    slope = params->second * pow(value, params->second - 1);
    return unit * (slope * params->gamma * sqrt(p.x_norm * p.y_norm) +
                   4 * pow(value, params->second) + slope * value) +
           1e-30;
}

static void check_tile(const char *kernel, const struct data *data, const struct geometry *g)
{
    double gamma = plain_gamma(kernel, data, g);
    struct ny_columns_spec spec = spec_of(kernel, gamma, data, g);
    OWNED(ny_columns) *columns = columns_of(&spec, data, LANDMARKS);
    struct tile_result r = tile_of(columns, data, 0, data->rows);
    char what[200];

    for (size_t i = 0; i < data->rows; i += i < 8 || i > data->rows - 4 ? 1 : 61) {
        for (size_t j = 0; j < LANDMARKS; j++) {
            struct pair p = pair_of(data, g, i, j);

            snprintf(what, sizeof(what), "%s %s d=%zu centre %g factor %g, C(%zu,%zu)", kernel,
                     ny_dtype_name(data->dtype), data->d, g->centre[0], g->factor[0], i, j);
            assert_entry((double)r.C[i * r.stride + j], plain_kernel(kernel, &spec.params, p),
                         tolerance_of(kernel, &spec.params, p, data->d), what);
        }
        for (size_t j = LANDMARKS; j < r.stride; j++)
            assert_true(isnan(r.C[i * r.stride + j])); /* not C's */
        assert_entry(r.diagonal[i], plain_kernel(kernel, &spec.params, pair_of(data, g, i, i)),
                     1e-12 * fabs(r.diagonal[i]), "diagonal");
    }
    for (size_t i = data->rows; i < NY_UNIT_ROWS; i++) {
        for (size_t j = 0; j < LANDMARKS; j++)
            assert_true(r.C[i * r.stride + j] == 0);
        assert_true(r.diagonal[i] == 0);
    }
}

static void check_all(const size_t *sizes, size_t count)
{
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
        for (size_t s = 0; s < count; s++) {
            size_t rows = sizes[s] == 784 ? 530 : ROWS;
            struct data data = data_random((enum ny_dtype)dtype, rows, sizes[s], 11 + s);

            for (size_t k = 0; k < data.d; k++)
                data_set(&data, 5 * data.d + k, 0); /* a zero row */
            for (int form = 0; form < 4; form++) {
                struct geometry g = geometry_of(&data, form & 1, form & 2 ? 0.01 : 1);

                for (size_t k = 0; k < PLAIN_KERNELS; k++)
                    check_tile(plain_kernels[k], &data, &g);
            }
        }
}

TEST(tiles_equal_plain_loops)
{
    static const size_t sizes[] = {1, 3, 7, 64, 784};

    check_all(sizes, 5);
}

TEST(tiles_equal_plain_loops_in_every_family)
{
    static const size_t sizes[] = {3, 9, 130};

    for (int family = 0; family < NY_CPU_COUNT; family++)
        if (ny_vector_force((enum ny_cpu)family)) check_all(sizes, 3);
    ny_vector_force(NY_CPU_COUNT);
}

/* Rows far from the origin and close to one another (UTM coordinates). */
TEST(an_offset_costs_no_accuracy_when_centred)
{
    for (size_t d = 3; d <= 12; d += 9)
        for (size_t k = 1; k < 3; k++) {
            const char *kernel = plain_kernels[k];
            struct data data = data_empty(NY_F64, 300, d);
            struct geometry g;
            struct ny_columns_spec spec;
            OWNED(ny_columns) *columns = NULL;
            struct tile_result r;

            for (size_t i = 0; i < 300 * d; i++)
                data_set(&data, i, 5.4e6 + 100 * ny_hash01(3, NY_STREAM_DATA, i));
            g = geometry_of(&data, true, 1);
            spec = spec_of(kernel, plain_gamma(kernel, &data, &g), &data, &g);
            columns = columns_of(&spec, &data, 20);
            r = tile_of(columns, &data, 0, 300);
            for (size_t i = 0; i < 300; i++)
                for (size_t j = 0; j < 20; j++) {
                    struct pair p = plain_pair(data.values + i * d, data.values + j * d, d);

                    assert_entry((double)r.C[i * r.stride + j],
                                 plain_kernel(kernel, &spec.params, p), 1e-6, kernel);
                }
        }
}

/* Data of any scale: γ makes the unit. */
TEST(extreme_scales)
{
    static const char *const scalable[] = {"rbf", "laplacian", "cosine"};

    for (int e = -60; e <= 60; e += 30)
        for (size_t k = 0; k < 3; k++)
            for (size_t d = 4; d <= 20; d += 16) {
                struct data data = data_random(NY_F64, 100, d, 4);
                struct geometry g;
                struct ny_columns_spec spec;
                OWNED(ny_columns) *columns = NULL;
                struct tile_result r;

                for (size_t i = 0; i < 100 * d; i++)
                    data_set(&data, i, data.values[i] * pow(10, e));
                g = geometry_of(&data, k < 2, 1);
                spec = spec_of(scalable[k], plain_gamma(scalable[k], &data, &g), &data, &g);
                columns = columns_of(&spec, &data, 10);
                r = tile_of(columns, &data, 0, 100);
                for (size_t i = 0; i < 100; i++)
                    for (size_t j = 0; j < 10; j++)
                        assert_entry(
                            (double)r.C[i * r.stride + j],
                            plain_kernel(scalable[k], &spec.params, pair_of(&data, &g, i, j)),
                            2e-6, scalable[k]);
            }
}

/* A shift leaves what differs from it with the accuracy of the small difference. */
static void check_shift(const char *kernel, const struct data *data, double width, bool wide)
{
    struct geometry g = geometry_of(data, true, 1);
    struct ny_columns_spec spec = spec_of(kernel, width * plain_gamma(kernel, data, &g), data, &g);
    OWNED(ny_columns) *columns = columns_of(&spec, data, LANDMARKS);
    double a[LANDMARKS] = {0}, bias = 0, error = 0, size = 0;
    struct tile_result r;

    for (size_t j = 0; j < LANDMARKS; j++)
        for (size_t i = 0; i < LANDMARKS; i++)
            a[j] += plain_kernel(kernel, &spec.params, pair_of(data, &g, i, j)) / LANDMARKS;
    assert_int_equal(ny_columns_set_shift(columns, a), NY_OK);
    assert_true(ny_columns_minus_one(columns) == wide);
    r = tile_of(columns, data, 0, data->rows);
    for (size_t i = 0; i < data->rows; i++)
        for (size_t j = 0; j < LANDMARKS; j++) {
            double want = plain_kernel(kernel, &spec.params, pair_of(data, &g, i, j)) - a[j];
            double difference = (double)r.C[i * r.stride + j] - want;

            bias += difference;
            error += difference * difference;
            size += want * want;
        }
    bias /= (double)(data->rows * LANDMARKS);
    error = sqrt(error / size);
    if (!(error < 1e-6))
        fail_msg("%s %s width %g: relative error %g", kernel, ny_dtype_name(data->dtype), width,
                 error);
    /* errors average out over rows: they are not one rounding error of a, repeated */
    assert_entry(bias, 0, 1e-7 * sqrt(size / (double)(data->rows * LANDMARKS)) + 1e-12, "bias");
}

TEST(shifts_keep_small_differences)
{
    struct data images = data_random(NY_U8, 600, 100, 5), points = data_random(NY_F64, 600, 3, 6);

    for (size_t k = 1; k < 3; k++) {
        check_shift(plain_kernels[k], &images, 1, false);
        check_shift(plain_kernels[k], &images, 1e-4, true);
        check_shift(plain_kernels[k], &points, 3, false);
        check_shift(plain_kernels[k], &points, 1e-4, true);
    }
    check_shift("linear", &points, 1, false);
}

/* Both parts of the shift count: at x = y the tile holds 1 − a to its own last place, which is
 * far below that of a. */
TEST(the_shift_is_not_rounded_to_f32)
{
    enum { M = 30, NEAR_ONE = 10 };
    struct data data = data_random(NY_F32, M, 3, 8);
    struct geometry g = geometry_of(&data, true, 1);
    struct ny_columns_spec spec = spec_of("rbf", 1, &data, &g);
    OWNED(ny_columns) *columns = columns_of(&spec, &data, M);
    double a[M];

    for (int wide = 0; wide < 2; wide++) {
        struct tile_result r;

        for (size_t j = 0; j < M; j++)
            a[j] = j < NEAR_ONE ? 0.999 + 1e-5 / (double)(j + 3) : wide ? 0.7 : 0.1;
        ny_columns_set_shift(columns, a);
        assert_true(ny_columns_minus_one(columns) == (wide == 1));
        r = tile_of(columns, &data, 0, M);
        for (size_t j = 0; j < NEAR_ONE; j++)
            assert_entry((double)r.C[j * r.stride + j], 1 - a[j], 0x1p-23 * (1 - a[j]), "1 - a");
    }
}

TEST(landmarks_may_come_in_pieces)
{
    for (size_t d = 3; d <= 40; d += 37)
        for (int dtype = NY_U8; dtype <= NY_F32; dtype += 2) {
            struct data data = data_random((enum ny_dtype)dtype, 300, d, 41);
            struct geometry g = geometry_of(&data, true, 1);
            struct ny_columns_spec spec = spec_of("rbf", plain_gamma("rbf", &data, &g), &data, &g);
            struct ny_columns *columns = columns_of(&spec, &data, 1), *whole;
            struct tile_result a, b;

            while (ny_columns_size(columns) < 201) {
                size_t have = ny_columns_size(columns);

                CHECK(ny_columns_append(columns, ny_raw_rows(data_row(&data, have)),
                                        have + 9 < 201 ? 9 : 201 - have));
            }
            assert_memory_equal(ny_columns_rows(columns).at, data.raw,
                                201 * d * ny_dtype_size(data.dtype));
            whole = columns_of(&spec, &data, 201);
            a = tile_of(columns, &data, 0, 300);
            b = tile_of(whole, &data, 0, 300);
            for (size_t i = 0; i < 300; i++)
                assert_memory_equal(a.C + i * a.stride, b.C + i * b.stride, 201 * sizeof(float));
            ny_columns_free(columns);
            ny_columns_free(whole);
        }
}

/* A NaN in the data is not smoothed over by a clamp: it reaches the finite checks. */
TEST(a_nan_stays_a_nan)
{
    for (size_t d = 4; d <= 20; d += 16)
        for (size_t k = 0; k < PLAIN_KERNELS; k++) {
            struct data data = data_random(NY_F32, 30, d, 71);
            struct geometry g = geometry_of(&data, false, 1);
            struct ny_columns_spec spec = spec_of(plain_kernels[k], 1, &data, &g);
            OWNED(ny_columns) *columns = columns_of(&spec, &data, 10);
            struct tile_result r;

            data_set(&data, 20 * d + 1, NAN);
            r = tile_of(columns, &data, 0, 30);
            for (size_t j = 0; j < 10; j++) {
                assert_true(isnan(r.C[20 * r.stride + j]));
                assert_true(isfinite(r.C[19 * r.stride + j]));
            }
        }
}

AROUND_ALL(start, stop)
