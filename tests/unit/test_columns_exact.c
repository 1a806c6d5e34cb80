/* k in f64 is exact. Other promises of every kernel are tested in test_contract_kernels.c. */
#include "unit/columns_case.h"

OWNS_POINTER(ny_columns, ny_columns_free)

static double relative(double got, double want)
{
    return fabs(got - want) / (fabs(want) + 1e-300);
}

static void check_exact(const char *kernel, const struct data *data, const struct geometry *g)
{
    enum { M = 300, COUNT = 41, FIRST = 17, COLS = 270 };
    struct ny_columns_spec spec = spec_of(kernel, plain_gamma(kernel, data, g), data, g);
    OWNED(ny_columns) *columns = columns_of(&spec, data, M);
    double *K = room(COUNT * (COLS + 5), sizeof(double));

    for (size_t i = 0; i < COUNT * (COLS + 5); i++)
        K[i] = NAN;
    CHECK(ny_columns_exact(columns, ny_raw_rows(data_row(data, 290)), COUNT, FIRST,
                           (struct ny_matrix){K, COUNT, COLS, COLS + 5, false}));
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COLS + 5; j++) {
            double want, tolerance;
            struct pair p;

            if (j >= COLS) {
                assert_true(isnan(K[i * (COLS + 5) + j]));
                continue;
            }
            p = pair_of(data, g, 290 + i, FIRST + j);
            want = plain_kernel(kernel, &spec.params, p);
            tolerance = 1e-12 * (fabs(want) +
                                 (strcmp(kernel, "linear") == 0 ? sqrt(p.x_norm * p.y_norm) : 1));
            assert_entry(K[i * (COLS + 5) + j], want, tolerance, kernel);
        }
}

TEST(exact_equals_plain_loops)
{
    static const size_t sizes[] = {1, 3, 17, 100};

    for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
        for (size_t s = 0; s < 4; s++) {
            struct data data = data_random((enum ny_dtype)dtype, 340, sizes[s], 3 + s);

            for (size_t k = 0; k < data.d; k++)
                data_set(&data, 300 * data.d + k, 0);
            for (int form = 0; form < 4; form++) {
                struct geometry g = geometry_of(&data, form & 1, form & 2 ? 0.02 : 1);

                for (size_t k = 0; k < PLAIN_KERNELS; k++)
                    if (strcmp(plain_kernels[k], "polynomial") != 0 || form == 2)
                        check_exact(plain_kernels[k], &data, &g);
            }
        }
}

/* Many rows among themselves take minutes, and stop when they are asked to. */
TEST(a_square_is_interrupted)
{
    enum { ROWS = 600, D = 60 };
    struct data data = data_random(NY_F32, ROWS, D, 5);
    struct geometry g = geometry_of(&data, true, 1);
    struct ny_columns_spec spec = spec_of("rbf", plain_gamma("rbf", &data, &g), &data, &g);
    OWNED(ny_columns) *columns = columns_of(&spec, &data, ROWS);
    double *K = room((size_t)ROWS * ROWS, sizeof(double));

    ny_context_interrupt(spec.ctx, 2);
    assert_int_equal(ny_columns_square(columns, ny_matrix(K, ROWS, ROWS)), NY_EINTERRUPTED);
    ny_context_interrupt(spec.ctx, 0);
    assert_int_equal(ny_columns_square(columns, ny_matrix(K, ROWS, ROWS)), NY_OK);
}

/* Rows that agree in all but the last digits: γ is chosen so that k = e⁻¹ at their distance. */
TEST(near_duplicates_keep_their_distance)
{
    enum { ROWS = 90 };

    for (size_t d = 5; d <= 205; d += 100)
        for (int e = -7; e <= -3; e++) {
            struct data data = data_empty(NY_F64, ROWS, d);
            double step = pow(10, e), K[ROWS * ROWS];
            struct geometry g;
            struct ny_columns_spec spec;
            OWNED(ny_columns) *columns = NULL;

            for (size_t i = 0; i < ROWS * d; i++) /* in thirds of rows: a base, and steps from it */
                data_set(&data, i,
                         1e3 * ny_hash01(1, NY_STREAM_DATA, i % (ROWS / 3 * d)) +
                             step * ny_hash01(2, NY_STREAM_DATA, i));
            g = geometry_of(&data, true, 1);
            spec = spec_of("rbf", 6 / (step * step * (double)d), &data, &g);
            columns = columns_of(&spec, &data, ROWS);
            assert_int_equal(ny_columns_square(columns, ny_matrix(K, ROWS, ROWS)), NY_OK);
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < i; j++) {
                    double *x = data.values + i * d, *y = data.values + j * d;
                    double want = exp(-spec.params.gamma * plain_pair(x, y, d).square);

                    /* centring rounds coordinates of 1e3 to 1e-13 */
                    if ((i - j) % (ROWS / 3) == 0)
                        assert_true(want > 1e-3 && want < 0.999 &&
                                    relative(K[i * ROWS + j], want) < 1e-12 / step);
                    else
                        assert_true(K[i * ROWS + j] < 1e-100);
                    assert_true(K[i * ROWS + j] == K[j * ROWS + i]);
                }
        }
}

TEST(exact_square_is_among_the_rows_given)
{
    enum { COUNT = 23 };
    struct data data = data_random(NY_I16, 60, 20, 17);
    struct geometry g = geometry_of(&data, true, 0.001);
    struct ny_columns_spec spec = spec_of("rbf", plain_gamma("rbf", &data, &g), &data, &g);
    OWNED(ny_columns) *columns = columns_of(&spec, &data, 5);
    double K[COUNT * COUNT];

    CHECK(ny_columns_exact_square(columns, ny_raw_rows(data_row(&data, 30)), COUNT,
                                  ny_matrix(K, COUNT, COUNT)));
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++)
            assert_entry(K[i * COUNT + j],
                         plain_kernel("rbf", &spec.params, pair_of(&data, &g, 30 + i, 30 + j)),
                         1e-13, "exact square");
    CHECK(ny_columns_exact_square(columns, ny_raw_rows(NULL), 0, ny_matrix(K, 0, 0)));
    CHECK(ny_columns_exact(columns, ny_raw_rows(data.raw), 0, 0, ny_matrix(K, 0, 5)));
}

/* A lack of memory is a clean error, and nothing is left (checked when the context goes). */
TEST(a_small_budget_is_an_error)
{
    struct data data = data_random(NY_F64, 400, 300, 19);
    struct geometry g = geometry_of(&data, true, 1);
    struct ny_columns_spec spec = spec_of("rbf", 1, &data, &g);
    OWNED(ny_columns) *columns = columns_of(&spec, &data, 100);
    struct ny_layout l = {.ctx = ctx};
    struct ny_columns_workspace *workspace;
    double *W = room(100 * 100, sizeof(double));

    ny_context_set_memory(ctx, ny_memory_used(ctx) + 100000);
    assert_int_equal(ny_columns_append(columns, ny_raw_rows(data_row(&data, 100)), 300),
                     NY_EBUDGET);
    assert_int_equal(ny_columns_size(columns), 100);
    assert_int_equal(ny_columns_square(columns, ny_matrix(W, 100, 100)), NY_EBUDGET);
    workspace = ny_columns_workspace_lay(&l, &spec, NY_STRIP_ROWS);
    assert_int_equal(ny_layout_end(&l), NY_EBUDGET);
    assert_null(workspace);
    ny_context_set_memory(ctx, 0);
    assert_int_equal(ny_columns_append(columns, ny_raw_rows(data_row(&data, 100)), 300), NY_OK);
    assert_memory_equal(ny_columns_rows(columns).at, data.raw, 400 * 300 * sizeof(double));
}

AROUND_ALL(start, stop)
