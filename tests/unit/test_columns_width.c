/* Geometry and --gamma auto from a store, against plain loops over the same rows. */
#include <unistd.h>

#include "unit/folder_case.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* γ by its definition: 1/median of the non-zero distances of 20,000 hashed pairs. */
static double plain_auto(const char *kernel, const struct data *data, const struct ny_geometry *g,
                         uint64_t n, uint64_t seed)
{
    enum { PAIRS = 20000 };
    double *all = room(PAIRS, sizeof(double)), gamma;
    size_t count = 0, d = data->d;

    for (uint64_t i = 0; i < PAIRS; i++) {
        uint64_t a = (uint64_t)floor(ny_hash01(seed, NY_STREAM_PAIRS, 2 * i) * (double)n);
        uint64_t b = (uint64_t)floor(ny_hash01(seed, NY_STREAM_PAIRS, 2 * i + 1) * (double)n);
        double sum = 0;

        for (size_t k = 0; k < d; k++) {
            double x = (data->values[a * d + k] - data->values[b * d + k]) * g->factor[k];

            sum += strcmp(kernel, "rbf") == 0 ? x * x : fabs(x);
        }
        if (sum != 0) all[count++] = sum;
    }
    assert_true(count > 0);
    qsort(all, count, sizeof(double), compare);
    gamma = count % 2 ? 1 / all[count / 2] : 2 / (all[count / 2 - 1] + all[count / 2]);
    return gamma;
}

static void check_gamma(const struct data *data, enum ny_scale scale, uint64_t n)
{
    static const char *const kernels[] = {"rbf", "laplacian"};
    OWNED(ny_store) *store = store_of(data, (struct ny_prepared){0});
    struct ny_geometry *g;

    CHECK(ny_geometry_new(&g, ny_store_rows(store),
                          &(struct ny_geometry_wish){.scale = scale, .centred = true}));
    for (size_t k = 0; k < 2; k++)
        for (uint64_t seed = 0; seed < 2; seed++) {
            struct ny_columns_spec spec = {.ctx = ctx,
                                           .kernel = ny_kernel_find(kernels[k]),
                                           .geometry = g,
                                           .dtype = data->dtype};
            double gamma, want = plain_auto(kernels[k], data, g, n, seed);

            CHECK(ny_columns_auto_gamma(&spec, ny_store_rows(store), n, seed, &gamma));
            assert_entry(gamma, want, 1e-10 * want, kernels[k]);
        }
    ny_geometry_free(g, ctx);
}

TEST(auto_gamma_is_the_inverse_median)
{
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++) {
        struct data data = data_random((enum ny_dtype)dtype, 700, 5, 3);

        for (size_t i = 350 * 5; i < 700 * 5; i++) /* half of the rows are equal */
            data_set(&data, i, 7);
        check_gamma(&data, NY_SCALE_NONE, 700);
        check_gamma(&data, NY_SCALE_STANDARD, 700);
        check_gamma(&data, NY_SCALE_UNIT, 300); /* of the first rows alone */
        check_gamma(&data, NY_SCALE_STANDARD, 3);
        check_gamma(&data, NY_SCALE_NONE, 150);
    }
}

TEST(auto_gamma_in_a_small_budget_is_the_same)
{
    struct data data = data_random(NY_F32, 500, 300, 5);
    OWNED(ny_store) *store = store_of(&data, (struct ny_prepared){0});
    struct ny_geometry *g;
    double gamma = 0;

    CHECK(ny_geometry_new(&g, ny_store_rows(store), &(struct ny_geometry_wish){.centred = true}));
    struct ny_columns_spec spec = {
        .ctx = ctx, .kernel = ny_kernel_find("rbf"), .geometry = g, .dtype = NY_F32};
    ny_context_set_memory(ctx, ny_memory_used(ctx) + (8u << 20)); /* all pairs take 48 MB */
    assert_int_equal(ny_columns_auto_gamma(&spec, ny_store_rows(store), 500, 1, &gamma), NY_OK);
    ny_context_set_memory(ctx, 0);
    assert_entry(gamma, plain_auto("rbf", &data, g, 500, 1), 1e-12, "small budget");
    ny_geometry_free(g, ctx);
}

/* Few rows are read once where they fit, and else piece by piece. */
TEST(few_rows_take_little_and_give_the_same)
{
    struct data data = data_random(NY_F32, 150, 3000, 5);
    OWNED(ny_store) *store = store_of(&data, (struct ny_prepared){0});
    struct ny_geometry *g;
    const struct ny_rows_info wide = {.n = 3, .d = 1000000};
    struct ny_layout few = {0};
    double gamma[2] = {0};

    CHECK(ny_geometry_new(&g, ny_store_rows(store), &(struct ny_geometry_wish){.centred = true}));
    struct ny_columns_spec spec = {
        .ctx = ctx, .kernel = ny_kernel_find("rbf"), .geometry = g, .dtype = NY_F32};
    assert_int_equal(ny_columns_auto_gamma(&spec, ny_store_rows(store), 150, 1, &gamma[0]), NY_OK);
    ny_context_set_memory(ctx, ny_memory_used(ctx) + (8u << 20)); /* rows take 1.8 of them */
    assert_int_equal(ny_columns_auto_gamma(&spec, ny_store_rows(store), 150, 1, &gamma[1]), NY_OK);
    ny_context_set_memory(ctx, 0);
    assert_true(gamma[0] == gamma[1]);
    assert_entry(gamma[0], plain_auto("rbf", &data, g, 150, 1), 1e-12, "few rows");
    ny_columns_auto_gamma_count(&few, &wide, 4000000, (size_t)16 << 30);
    assert_true(ny_layout_most(&few) < 64u << 20);
    ny_geometry_free(g, ctx);
}

TEST(equal_rows_have_no_width)
{
    struct data data = data_empty(NY_U8, 50, 4);
    OWNED(ny_store) *store = NULL;
    struct ny_geometry *g;
    double gamma;

    for (size_t i = 0; i < 50 * 4; i++)
        data_set(&data, i, 9);
    store = store_of(&data, (struct ny_prepared){0});
    CHECK(ny_geometry_new(&g, ny_store_rows(store), &(struct ny_geometry_wish){.centred = true}));
    struct ny_columns_spec spec = {
        .ctx = ctx, .kernel = ny_kernel_find("rbf"), .geometry = g, .dtype = NY_U8};
    assert_int_equal(ny_columns_auto_gamma(&spec, ny_store_rows(store), 50, 0, &gamma), NY_EDATA);
    assert_non_null(strstr(ny_context_message(ctx), "all rows are equal"));
    spec.kernel = ny_kernel_find("polynomial");
    assert_int_equal(ny_columns_auto_gamma(&spec, ny_store_rows(store), 50, 0, &gamma), NY_OK);
    assert_true(gamma == 0.25);
    spec.kernel = ny_kernel_find("linear");
    assert_int_equal(ny_columns_auto_gamma(&spec, ny_store_rows(store), 50, 0, &gamma), NY_OK);
    ny_geometry_free(g, ctx);
}

TEST(geometry_is_the_statistics)
{
    enum { ROWS = 400, D = 3 };
    struct data data = data_random(NY_F64, ROWS, D, 6);
    OWNED(ny_store) *store = NULL;

    for (size_t i = 0; i < ROWS; i++)
        data_set(&data, i * D + 2, 0.1); /* a constant column */
    store = store_of(&data, (struct ny_prepared){0});
    for (int scale = NY_SCALE_NONE; scale <= NY_SCALE_UNIT; scale++)
        for (int centred = 0; centred < 2; centred++) {
            const struct ny_geometry_wish wish = {.scale = (enum ny_scale)scale,
                                                  .centred = centred};
            struct ny_geometry *g, *copy;

            assert_int_equal(ny_geometry_new(&g, ny_store_rows(store), &wish), NY_OK);
            assert_int_equal(g->d, D);
            for (size_t k = 0; k < D; k++) {
                double sum = 0, square = 0, low = INFINITY, high = -INFINITY, factor;

                for (size_t i = 0; i < ROWS; i++) {
                    double x = data.values[i * D + k];

                    sum += x / ROWS;
                    low = fmin(low, x);
                    high = fmax(high, x);
                }
                for (size_t i = 0; i < ROWS; i++)
                    square += pow(data.values[i * D + k] - sum, 2) / ROWS;
                factor = scale == NY_SCALE_NONE   ? 1
                         : k == 2                 ? 0
                         : scale == NY_SCALE_UNIT ? 1 / (high - low)
                                                  : 1 / sqrt(square);
                assert_entry(g->centre[k], centred || scale != NY_SCALE_NONE ? sum : 0, 1e-12,
                             "centre");
                assert_entry(g->factor[k], factor, 1e-10 * factor, "factor");
            }
            assert_int_equal(ny_geometry_copy(&copy, ctx, g->centre, g->factor, D), NY_OK);
            assert_memory_equal(copy->centre, g->centre, D * sizeof(double));
            assert_memory_equal(copy->factor, g->factor, D * sizeof(double));
            ny_geometry_free(copy, ctx);
            ny_geometry_free(g, ctx);
        }
}

AROUND_ALL(start_folder, stop_folder)
