/*
 * The plan's memory, stage by stage, against what the stages charge: never less, and not absurdly
 * more. Budgets: ample, and the smallest that the plan allows.
 */
#include <inttypes.h>

#include "base/memory.h"
#include "base/random.h"
#include "support/options.h"
#include "support/store_case.h"
#include "support/test.h"

enum { ROWS = 4500 };

struct fit {
    size_t d;
    const char *words; /* of options */
};

/* Landmarks in memory, which the options of each fit hold; NULL: none. */
static const struct ny_table *given_points;

static const struct fit fits[] = {
    {3, "approx=nystrom landmarks=20"},
    {3, "approx=projected landmarks=60 components=40"},
    {3, "approx=column landmarks=60 precision=f64"},
    {40, "approx=nystrom landmarks=500 inner=exact"},
    {40, "approx=randomized components=30"},
    {40, "approx=randomized map=laplacian precision=f64 threads=3"},
    {40, "approx=gaussian landmarks=300 map=svd components=20"},
    {40, "approx=nystrom landmarks=500 certify=yes threads=1"},
    {40, "approx=projected landmarks=500 components=20 threads=3"},
    {40, "approx=projected landmarks=500 map=pca"},
    {40, "approx=projected landmarks=500 map=svd precision=f64"},
    {40, "inner=randomized landmarks=500 components=20 select=uniform"},
    {40, "inner=randomized landmarks=300 map=diffusion precision=f64"},
    {40, "inner=randomized landmarks=400 kernel=linear threads=1"},
    {40, "approx=column landmarks=700 kernel=laplacian"},
    {40, "approx=orthonystrom landmarks=500 components=300"},
    {40, "approx=ensemble landmarks=500 components=300"},
    {40, "approx=nystrom landmarks=100 probe=400 components=30"},
    {40, "approx=gaussian landmarks=50 probe=1000 precision=f64"},
    {40, "approx=ensemble landmarks=700 rank=50 weights=exponential"},
    {40, "approx=ensemble landmarks=700 experts=3 weights=ridge"},
    {40, "approx=exact map=pca components=9"},
    {40, "select=greedy tolerance=0.3 landmarks=300"},
    {40, "select=greedy tolerance=1e-5 landmarks=200 map=svd"},
    {40, "select=greedy tolerance=0.3 landmarks=300 threads=1"},
    {40, "select=greedy landmarks=300 map=svd"},
    {40, "online=yes tolerance=0.3 landmarks=300"},
    {40, "online=yes tolerance=1e-5 landmarks=500 threads=1"},
    {700, "online=yes tolerance=0.1 landmarks=200 precision=f64"},
    {40, "select=rpcholesky landmarks=300 gamma=0.001"},
    {40, "select=rpcholesky landmarks=300 certify=yes threads=1"},
    {700, "select=rpcholesky landmarks=200 map=svd"},
    {40, "select=weighted landmarks=300"},
    {40, "select=weighted landmarks=300 map=pca certify=yes"},
    {3, "select=uniform landmarks=700 certify=yes"},
    {40, "select=weighted landmarks=300 map=laplacian threads=1"},
    {700, "select=weighted landmarks=200 map=svd kernel=linear"},
    {700, "approx=nystrom landmarks=100"},
    {700, "approx=column landmarks=50 probe=50 map=laplacian"},
    {700, "select=greedy landmarks=200"},
    {700, "approx=projected landmarks=300 scale=standard"},
    {700, "approx=nystrom landmarks=30 features=variable:200"},
    {700, "map=pca landmarks=30 features=min-rows:9 scale=idf-smooth"},
    {700, "approx=column landmarks=200 precision=f64 threads=3"},
    /* if every row is a landmark, rows have to be few */
    {30, "approx=exact components=100"},
    {30, "approx=exact map=laplacian precision=f64"},
    {30, "select=all map=svd"},
    /* graphs that fits make themselves */
    {4, "map=isomap landmarks=200"},
    {4, "map=isomap landmarks=150 select=maxmin precision=f64"},
    {4, "map=isomap landmarks=200 approx=column"},
    {4, "map=isomap landmarks=60 knn=sieve connect=yes"},
    {4, "map=eigenmaps components=5 max-distance=0.1 connect=yes"},
    {4, "map=eigenmaps neighbors=9 distance-quantile=0.9"},
    {4, "map=eigenmaps neighbors=9 knn=tree"},
    {4, "map=isomap landmarks=60 knn=sieve"},
};

static size_t rows_of(size_t d)
{
    return d == 30 ? 1500 : d == 4 ? 3000 : ROWS;
}

static char directory[128];

static void start(void)
{
    case_directory(directory);
}

static void stop(void)
{
    case_remove(directory);
}

static void import(const char *path, size_t rows, size_t d)
{
    float *values = lend(rows * d * sizeof(float));
    OWNED(ny_context) *ctx = NULL;

    for (size_t i = 0; i < rows * d; i++)
        values[i] = (float)ny_hash01(3, NY_STREAM_DATA, i);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_append_rows(ctx, path, values, rows, d, NULL), NY_OK);
}

static json_t *json_of(struct ny_report *report)
{
    json_t *json = json_loads(ny_report_json(report), 0, NULL);

    ny_report_free(report);
    assert_non_null(json);
    return json;
}

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    assert_true(json_is_number(value));
    return json_number_value(value);
}

static struct ny_options *options_of(const struct fit *fit, struct ny_context *ctx)
{
    struct ny_options *options = options_with(ctx, "%s", fit->words);

    if (given_points)
        assert_int_equal(ny_options_set_table(options, "landmarks-points", given_points), NY_OK);
    return options;
}

static double most_planned = 2.5; /* times what is charged */

/* Plans, fits, compares. Returns the smallest budget that the plan allows. */
static uint64_t check(const struct fit *fit, const char *path, uint64_t budget)
{
    struct ny_options *options;
    OWNED(ny_context) *ctx = NULL;
    struct ny_report *report;
    json_t *plan, *done;
    const json_t *planned, *value;
    const char *stage;
    double least, all = 0;
    size_t held;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_threads(ctx, 2);
    ny_context_set_memory(ctx, budget);
    options = options_of(fit, ctx);
    assert_int_equal(ny_options_set(options, "restart", "yes"), NY_OK);
    held = ny_memory_used(ctx); /* the options' own */
    if (ny_plan(ctx, path, options, &report)) fail_msg("%s", ny_context_message(ctx));
    plan = json_of(report);
    least = number_in(plan, "memory_min_bytes");
    if (!json_is_true(json_object_get(plan, "fits")))
        fail_msg("%s, d %zu: %.0f bytes needed of %" PRIu64, fit->words, fit->d, least, budget);
    json_object_foreach(json_object_get(plan, "memory_bytes"), stage, value)
        all += json_number_value(value);
    assert_true(all <= (double)budget);
    assert_int_equal(ny_memory_used(ctx), held);
    ny_memory_peak_reset(ctx);
    if (ny_fit(ctx, path, "x", options, &report))
        fail_msg("%s, d %zu: %s", fit->words, fit->d, ny_context_message(ctx));
    done = json_of(report);
    planned = json_object_get(plan, "stage_memory_bytes");
    json_object_foreach(json_object_get(done, "stage_memory_bytes"), stage, value)
    {
        double most = json_number_value(value), bill = number_in(planned, stage);

        if (most > bill || bill > most_planned * most)
            fail_msg("%s, d %zu, %s: %.0f bytes planned, %.0f charged", fit->words, fit->d, stage,
                     bill, most);
        assert_true(bill <= all);
    }
    assert_true((double)ny_memory_peak(ctx) <= all);
    json_decref(plan);
    json_decref(done);
    ny_options_free(options);
    assert_int_equal(ny_memory_used(ctx), 0);
    return (uint64_t)least;
}

TEST(the_plan_covers_what_is_charged)
{
    char path[200];
    size_t d = 0;

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        uint64_t least;

        snprintf(path, sizeof(path), "%s/%zu.nys", directory, fits[i].d);
        if (fits[i].d != d) import(path, rows_of(fits[i].d), fits[i].d);
        d = fits[i].d;
        least = check(&fits[i], path, (uint64_t)1 << 30);
        check(&fits[i], path, least);
    }
}

/* Rows of so many values in 3,000 columns, and every thousandth of `most`. */
static void import_sparse(const char *path, size_t usual, size_t most)
{
    const char *files[1];
    OWNED(ny_options) *options = NULL;
    OWNED(ny_context) *ctx = NULL;
    FILE *file;
    char *name = lend_text("%s/sparse.libsvm", directory);

    files[0] = name;
    file = fopen(name, "w");
    assert_non_null(file);
    for (size_t i = 0; i < ROWS; i++) {
        size_t values = i % 1000 == 7 ? most : usual, step = 3000 / values;

        fprintf(file, "1");
        for (size_t k = 0; k < values; k++)
            fprintf(file, " %zu:%.4f",
                    k * step + 1 + (size_t)(ny_hash01(3, 1, i * 25 + k) * (double)(step - 1)),
                    0.1 + ny_hash01(3, 2, i * 25 + k));
        fprintf(file, "\n");
    }
    fclose(file);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    if (ny_import(ctx, path, files, 1, options, NULL)) fail_msg("%s", ny_context_message(ctx));
}

TEST(the_plan_of_sparse_points)
{
    static const struct fit sparse[] = {
        {3000, "landmarks=300"},
        {3000, "map=pca landmarks=200 precision=f64"},
        {3000, "select=greedy tolerance=0.9 landmarks=150"},
        {3000, "select=rpcholesky landmarks=150"},
        {3000, "approx=gaussian landmarks=20"},
    };
    char *path = lend_text("%s/sparse.nys", directory);

    import_sparse(path, 25, 25);
    for (size_t i = 0; i < sizeof(sparse) / sizeof(sparse[0]); i++)
        check(&sparse[i], path, check(&sparse[i], path, (uint64_t)1 << 30));
}

/* A few full rows do not make the plan of all others dear. */
TEST(the_plan_of_rows_of_two_kinds)
{
    static const struct fit uneven[] = {
        {3000, "select=uniform landmarks=500 approx=column"},
        {3000, "select=uniform landmarks=800 approx=nystrom"},
    };
    char *path = lend_text("%s/uneven.nys", directory);

    import_sparse(path, 100, 1500);
    most_planned = 1.5;
    for (size_t i = 0; i < sizeof(uneven) / sizeof(uneven[0]); i++)
        check(&uneven[i], path, check(&uneven[i], path, (uint64_t)1 << 30));
    most_planned = 2.5;
}

/* One byte less is refused before anything is written, and the message says what would do. */
static void refuse(const struct fit *fit, const char *path, uint64_t least)
{
    struct ny_options *options;
    OWNED(ny_context) *ctx = NULL;
    struct ny_report *report;
    char *words = lend_text("needs %llu bytes", (unsigned long long)least);

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_threads(ctx, 3);
    ny_context_set_memory(ctx, least - 1);
    options = options_of(fit, ctx);
    assert_int_equal(ny_fit(ctx, path, "refused", options, NULL), NY_EBUDGET);
    if (!strstr(ny_context_message(ctx), words))
        fail_msg("no '%s': %s", words, ny_context_message(ctx));
    assert_int_equal(ny_result_report(ctx, path, "refused", &report), NY_EUSAGE);
    ny_options_free(options);
    assert_int_equal(ny_memory_used(ctx), 0);
}

TEST(a_smaller_budget_is_refused)
{
    const struct fit *fit = &fits[8];
    char *path = lend_text("%s/%zu.nys", directory, fit->d);

    refuse(fit, path, check(fit, path, (uint64_t)1 << 30));
}

/* Options hold a copy of landmarks that come from memory, as long as the fit runs. Before it they
 * are kept in the store, which takes no more than the fit. */
TEST(the_plan_of_landmarks_from_memory)
{
    static const struct {
        size_t rows, d, m;
    } shapes[] = {{ROWS, 700, 500}, {150, 20000, 100}};
    static const struct fit wide[] = {
        {0, "approx=nystrom"},
        {0, "approx=column components=5"},
        {0, "inner=randomized certify=yes threads=1"},
    };

    for (size_t s = 0; s < 4; s++) {
        size_t rows = shapes[s / 2].rows, d = shapes[s / 2].d, m = shapes[s / 2].m;
        double *values = lend(m * d * sizeof(*values));
        const struct ny_table points = dense_table(NY_F64, m, d, values);
        char path[200];

        snprintf(path, sizeof(path), "%s/given-%zu.nys", directory, d);
        if (s % 2 == 0) import(path, rows, d);
        for (size_t i = 0; i < m * d; i++) { /* values of f32, then of f64 alone */
            values[i] = ny_hash01(4, NY_STREAM_DATA, i);
            if (s % 2 == 0) values[i] = (double)(float)values[i];
        }
        given_points = &points;
        for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
            uint64_t least = check(&wide[i], path, (uint64_t)1 << 30);

            check(&wide[i], path, least);
            refuse(&wide[i], path, least);
        }
        given_points = NULL;
    }
}

AROUND_ALL(start, stop)
