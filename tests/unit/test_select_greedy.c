/*
 * select/greedy*.c on a store: rows of each type; earlier selections; estimates.
 * tests/property/test_greedy.c has the rest.
 */
#include "base/random.h"
#include "select/greedy.h"
#include "support/images.h"
#include "support/store_folder.h"

OWNS(ny_selection, ny_selection_release(at, ctx))

enum { N = 10500, D = 24, CLUSTERS = 40 };

static struct ny_store *store;

static void start(void)
{
    make_folder();
    assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
}

static void stop(void)
{
    ny_store_close(store);
    remove_folder();
}

/* Whole numbers in 0…255, in clusters that are ellipsoids; some rows repeat earlier ones. */
static double *numbers(void)
{
    double *x = lend(sizeof(double) * N * D), centre[CLUSTERS * D], noise[D];

    ny_gaussian(1, NY_STREAM_DATA, 0, centre, CLUSTERS * D);
    for (size_t i = 0; i < N; i++) {
        size_t c = ny_hash64(2, NY_STREAM_DATA, i) % CLUSTERS;

        ny_gaussian(3, NY_STREAM_DATA, i * D, noise, D);
        for (size_t k = 0; k < D; k++)
            x[i * D + k] =
                fmin(fmax(round(128 + 35 * centre[c * D + k] + 30 * noise[k] / (double)(k + 1)), 0),
                     255);
        if (i % 11 == 10) memcpy(x + i * D, x + i / 3 * D, sizeof(double) * D);
    }
    return x;
}

static void import(const double *x, enum ny_dtype dtype)
{
    struct ny_ingest_spec spec = {.d = D, .dtype = dtype};
    struct ny_ingest_rows rows = {.count = N, .consumed = N};
    void *raw = lend(sizeof(double) * N * D);

    for (size_t i = 0; i < (size_t)N * D; i++)
        case_put(raw, dtype, i, x[i]);
    rows.values = raw;
    assert_int_equal(case_ingest(store, &spec, &rows), NY_OK);
}

struct asked {
    size_t n;
    double gamma, tolerance;
    unsigned workers;
    struct ny_columns_spec spec;
    struct ny_geometry *geometry;
};

static struct ny_selection_request request_of(struct asked *asked)
{
    struct ny_rows_info info;

    assert_int_equal(ny_points_info(store, &info), NY_OK);
    CHECK(ny_geometry_new(&asked->geometry, ny_store_rows(store),
                          &(struct ny_geometry_wish){.centred = true}));
    asked->spec = (struct ny_columns_spec){.ctx = ctx,
                                           .kernel = ny_kernel_find("rbf"),
                                           .params = {.gamma = asked->gamma},
                                           .geometry = asked->geometry,
                                           .dtype = info.dtype};
    return (struct ny_selection_request){.ctx = ctx,
                                         .X = ny_store_rows(store),
                                         .n = asked->n,
                                         .spec = &asked->spec,
                                         .landmarks = SIZE_MAX,
                                         .greedy.dictionary.tolerance = asked->tolerance,
                                         .workers = asked->workers};
}

/* Whole numbers are the same in each type; the last tolerance is one for f64. */
TEST(types_of_rows_have_one_dictionary)
{
    static const struct asked cases[] = {
        {.n = N, .gamma = 1e-4, .tolerance = 0.22, .workers = 1},
        {.n = N - 777, .gamma = 4e-5, .tolerance = 0.05, .workers = 2},
        {.n = N, .gamma = 2e-6, .tolerance = 2e-5, .workers = 3}};
    static const enum ny_dtype types[] = {NY_F32, NY_U8, NY_I16, NY_F64};
    double *x = numbers();
    struct ny_selection first[3], selection;

    for (size_t t = 0; t < 4; t++) {
        import(x, types[t]);
        for (size_t c = 0; c < 3; c++) {
            struct asked asked = cases[c];
            const struct ny_selection_request request = request_of(&asked);

            CHECK(ny_rule_find("greedy")->select(&request, t ? &selection : &first[c]));
            ny_geometry_free(asked.geometry, ctx);
            assert_in_range(first[c].m, 260, 1400);
            if (!t) continue;
            assert_int_equal(selection.m, first[c].m);
            assert_memory_equal(selection.rows, first[c].rows, selection.m * sizeof(uint64_t));
            ny_selection_release(&selection, ctx);
        }
        ny_store_close(store);
        path[strlen(path) - 1]++;
        assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
    }
    for (size_t c = 0; c < 3; c++)
        ny_selection_release(&first[c], ctx);
}

/* ---- earlier selections ---------------------------------------------------------------------- */

static int no_residuals(void *arg, float *residuals)
{
    (void)arg;
    (void)residuals;
    return ny_fail(ctx, NY_EINTERNAL, "the bounds of a dictionary that is not taken up");
}

static void expect_selection(const struct ny_selection_request *request,
                             const struct ny_selection *expected)
{
    OWNED(ny_selection) selection;

    assert_int_equal(ny_rule_find("greedy")->select(request, &selection), NY_OK);
    assert_int_equal(selection.m, expected->m);
    assert_memory_equal(selection.rows, expected->rows, expected->m * sizeof(uint64_t));
    assert_memory_equal(selection.residuals, expected->residuals, N * sizeof(float));
}

/* Rounding may leave a landmark of an earlier selection without a place in the factor, as the
 * second of two equal rows is: then every row is looked at. */
TEST(an_earlier_dictionary_that_cannot_be_remade_is_left)
{
    double *x = numbers();
    struct asked asked = {.n = N, .gamma = 1e-4, .tolerance = 0.3, .workers = 2};
    uint64_t twice[] = {7, 7};
    const struct ny_selected earlier = {
        .n = 3 * NY_UNIT_ROWS, .rows = twice, .m = 2, .residuals = no_residuals};
    struct ny_selection_request request;
    OWNED(ny_selection) whole;
    struct images images = {0};

    import(x, NY_U8);
    request = request_of(&asked);
    assert_int_equal(ny_rule_find("greedy")->select(&request, &whole), NY_OK);
    ny_context_set_checkpoint(ctx, 0);
    request.greedy.earlier = &earlier;
    request.checkpoint.save = keep_image;
    request.checkpoint.arg = &images;
    expect_selection(&request, &whole);
    assert_true(images.count > 2);
    request.checkpoint.save = NULL; /* and after a kill */
    request.checkpoint.image = images.image[1].at;
    request.checkpoint.image_bytes = images.image[1].bytes;
    expect_selection(&request, &whole);
    free_images(&images);
    ny_geometry_free(asked.geometry, ctx);
}

/* ---- estimates ------------------------------------------------------------------------------ */

TEST(growth_is_carried_on)
{
    uint64_t rows[4096];
    size_t m = 0;

    /* as many rows join at each doubling: growth is logarithmic */
    for (uint64_t i = 1; i < 1024; i *= 2)
        for (size_t j = 0; j < 16 && j < i; j++)
            rows[m++] = i + i * j / 16;
    assert_in_range(ny_greedy_extrapolate(rows, m, 1024, 1024), m, m);
    assert_in_range(ny_greedy_extrapolate(rows, m, 1024, 1024 * 16), m + 60, m + 68);
    /* every second row joins: growth is linear, and never more than there are rows */
    for (m = 0; m < 2048; m++)
        rows[m] = 2 * m;
    assert_in_range(ny_greedy_extrapolate(rows, m, 4096, 65536), 32000, 33500);
    for (m = 0; m < 4096; m++)
        rows[m] = m;
    assert_int_equal(ny_greedy_extrapolate(rows, m, 4096, 5000), 5000);
    /* √i */
    for (m = 0; m < 2000; m++)
        rows[m] = m * m;
    assert_in_range(ny_greedy_extrapolate(rows, m, 4000000, 64000000), 7800, 8200);
    /* Complete long ago. */
    assert_int_equal(ny_greedy_extrapolate(rows, 20, 4096, 1 << 30), 20);
}

TEST(estimates_the_size_of_the_dictionary)
{
    double *x = numbers();
    struct asked asked = {.n = N, .gamma = 1e-4, .tolerance = 0.3, .workers = 2};
    struct ny_selection_request request;
    OWNED(ny_selection) selection;
    size_t m, used;

    import(x, NY_U8);
    request = request_of(&asked);
    assert_int_equal(ny_rule_find("greedy")->select(&request, &selection), NY_OK);
    used = ny_memory_used(ctx);
    assert_int_equal(ny_greedy_estimate(&request, N, &m), NY_OK);
    assert_int_equal(m, selection.m); /* all rows are the sample */
    assert_int_equal(ny_greedy_estimate(&request, 4000, &m), NY_OK);
    assert_in_range(m, selection.m / 2, 2 * selection.m);
    assert_int_equal(ny_memory_used(ctx), used);
    request.landmarks = 50;
    assert_int_equal(ny_greedy_estimate(&request, 4000, &m), NY_OK);
    assert_int_equal(m, 50);
    request.landmarks = SIZE_MAX;
    request.greedy.dictionary.tolerance = 0;
    assert_int_equal(ny_greedy_estimate(&request, 4000, &m), NY_EUSAGE);
    assert_int_equal(ny_memory_used(ctx), used);
    ny_error_clear(ctx);
    ny_geometry_free(asked.geometry, ctx);
}

/* A few rows a landmark; of many points one in 256, as far as 16 MiB of them go. */
TEST(pilot_grows_with_the_points)
{
    const struct ny_geometry flat = {.d = 16};
    const struct ny_columns_spec spec = {.geometry = &flat, .dtype = NY_F32};
    struct ny_selection_request request = {.spec = &spec};

    request.n = 2000;
    assert_int_equal(ny_greedy_pilot_rows(&request, 500), 0); /* too few to tell */
    request.n = 100000;
    assert_int_equal(ny_greedy_pilot_rows(&request, 500), 2000);
    request.n = 1000000;
    assert_int_equal(ny_greedy_pilot_rows(&request, 500), 3906);
    request.n = 1000000000;
    assert_int_equal(ny_greedy_pilot_rows(&request, 500), (16 << 20) / 64);
}

/* The memory that was announced suffices, and a fifth of it does not. */
TEST(needs_the_memory_that_it_says)
{
    double *x = numbers();
    struct asked asked = {.n = N, .gamma = 1e-4, .tolerance = 0.3, .workers = 2};
    struct ny_selection_request request;
    struct ny_selection selection;
    struct ny_layout counted = {0};
    size_t m, used, store_bytes;

    import(x, NY_U8);
    request = request_of(&asked);
    assert_int_equal(ny_rule_find("greedy")->select(&request, &selection), NY_OK);
    m = selection.m;
    ny_selection_release(&selection, ctx);
    used = ny_memory_used(ctx);
    store_bytes = (size_t)4 << 20;
    ny_greedy_count(&counted, &request, m);
    ny_context_set_memory(ctx, used + ny_layout_most(&counted) + store_bytes);
    assert_int_equal(ny_rule_find("greedy")->select(&request, &selection), NY_OK);
    assert_int_equal(selection.m, m);
    ny_selection_release(&selection, ctx);
    ny_context_set_memory(ctx, used + ny_layout_most(&counted) / 5);
    assert_int_equal(ny_rule_find("greedy")->select(&request, &selection), NY_EBUDGET);
    assert_int_equal(ny_memory_used(ctx), used);
    ny_context_set_memory(ctx, 0);
    ny_error_clear(ctx);
    ny_geometry_free(asked.geometry, ctx);
}

/* Residuals of sparse rows on the first ten of them, where a unit is said to have so many values.
 */
static void measure_sparse(const char *records, size_t unit_values, float *residuals)
{
    double factors[2 * D];
    const struct ny_geometry geometry = {D, factors, factors + D};
    const struct ny_columns_spec spec = {.ctx = ctx,
                                         .kernel = ny_kernel_find("rbf"),
                                         .params = {.gamma = 0.02},
                                         .geometry = &geometry,
                                         .dtype = NY_F32,
                                         .slots = D,
                                         .row_nnz = D,
                                         .unit_values = unit_values};
    const struct ny_selection_request request = {.ctx = ctx, .n = 700, .spec = &spec};
    struct ny_source *source;

    for (size_t k = 0; k < D; k++) {
        factors[k] = 0;
        factors[D + k] = 1;
    }
    CHECK(ny_source_of_raw(&source, ctx, ny_raw_rows(records),
                           &(struct ny_raw_shape){NY_F32, 700, D, D}));
    CHECK(ny_greedy_measure(&request, ny_raw_rows(records), 10, source, 700, residuals));
    ny_source_free(source);
}

/* Rows that are no neighbours may have more values than any unit: their front grows. */
TEST(a_front_has_room_for_fuller_rows_than_was_said)
{
    size_t bytes = ny_row_bytes(NY_F32, D, D);
    float few[700], many[700], row[D] = {0};
    char *records = lend_zeros(700 * bytes);

    for (size_t i = 0; i < 700; i++) {
        for (size_t k = 0; k < D; k++)
            row[k] = (float)(1 + 10 * ny_hash01(5, NY_STREAM_DATA, i * D + k));
        assert_true(ny_sparse_from_dense(row, D, NY_F32, records + i * bytes, D));
    }
    measure_sparse(records, 1, few);
    measure_sparse(records, 0, many);
    assert_memory_equal(few, many, sizeof(few));
    assert_true(few[3] < 1e-6f && few[600] > 0.1f);
}

AROUND_EACH(start, stop)
