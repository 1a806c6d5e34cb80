/*
 * Sums through the public interface: centres that move, sums that are their image, and parts that
 * cannot be added, with nothing changed. (What one fit of all rows finds, sparse rows, divided
 * kernels and results of stores: tests/python/test_sums.py and tests/cli/merge.bats.)
 */
#include "support/options.h"
#include "unit/sums_case.h"

/* Sums of parts that are merged themselves are not about their own mean any more. Columns that are
 * not chosen have no part in that. */
TEST(merged_centres_are_moved_too)
{
    static const char *const fits[] = {
        "map=pca approx=exact precision=f64",
        "map=pca approx=exact precision=f64 components=3 features=variance:3"};
    struct ny_table table = dense(NY_F64, 0);
    double *values = (double *)(uintptr_t)table.values, trace[2];
    struct ny_sums *third[3];

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (i % COLUMNS < 3 ? 9 : 1) * values[i] + 1e3 * (i / (ROWS / 3 * COLUMNS));
    for (int turn = 0; turn < 4; turn++) { /* 0 + (1 + 2), then all rows as one part */
        OWNED(ny_options) *o = options_with(in.ctx, "%s", fits[turn / 2]);
        OWNED(ny_report) *report = NULL;
        OWNED(ny_model) *model = NULL;
        bool apart = turn % 2 == 0;

        for (uint64_t k = 0; k < 3; k++) {
            struct ny_table part =
                apart ? part_of(&table, k * ROWS / 3, (k + 1) * ROWS / 3) : table;

            ok(ny_sums_new(&third[k], in.ctx, o));
            ok(ny_sums_add(third[k], &part));
        }
        if (apart) ok(ny_sums_merge(third[1], third[2]));
        if (apart) ok(ny_sums_merge(third[0], third[1]));
        ok(ny_sums_solve(third[0], &model, &report));
        trace[turn % 2] = number_of(report, "trace");
        for (int k = 0; k < 3; k++)
            ny_sums_free(third[k]);
        if (!apart) assert_true(fabs(trace[0] - trace[1]) <= 1e-12 * trace[1]);
    }
}

/* ---- results, merging, bytes ---------------------------------------------------------------- */

TEST(sums_are_their_image)
{
    struct ny_table table = dense(NY_F32, 0), part = part_of(&table, 0, 500);
    OWNED(ny_options) *o = options_of(NULL);
    struct ny_sums *sums, *copy, *more;
    const void *image, *again;
    size_t bytes, same;
    unsigned char *bad;

    ok(ny_sums_new(&sums, in.ctx, o));
    fails(NY_EUSAGE, ny_sums_image(sums, &image, &bytes));
    ok(ny_sums_add(sums, &part));
    ok(ny_sums_image(sums, &image, &bytes));
    ok(ny_sums_load(&copy, in.ctx, image, bytes));
    part = part_of(&table, 500, 900);
    ok(ny_sums_add(sums, &part)); /* with the options that were given */
    ok(ny_sums_add(copy, &part)); /* with those that the image says */
    ok(ny_sums_image(sums, &image, &bytes));
    ok(ny_sums_image(copy, &again, &same));
    assert_int_equal(bytes, same);
    assert_memory_equal(image, again, bytes);

    bad = lend(bytes);
    for (size_t at = 0; at < bytes; at += at < 400 ? 1 : 97) {
        memcpy(bad, image, bytes);
        bad[at] ^= 0x10;
        assert_int_equal(ny_sums_load(&more, in.ctx, bad, bytes), NY_ESTORE);
        assert_null(more);
    }
    for (size_t cut = 0; cut < bytes; cut += 61)
        assert_int_equal(ny_sums_load(&more, in.ctx, image, cut), NY_ESTORE);
    ny_sums_free(sums);
    ny_sums_free(copy);
}

/* Merging sums is adding their parts; into empty sums it is a copy. */
TEST(sums_are_merged)
{
    struct ny_table table = dense(NY_F32, 0), first = part_of(&table, 0, 800);
    struct ny_table second = part_of(&table, 800, 1900);
    OWNED(ny_options) *o = options_of(NULL);
    OWNED(ny_sums) *one = NULL, *a = NULL, *b = NULL, *empty = NULL;
    const void *image, *again;
    size_t bytes, same;
    OWNED(ny_report) *report = NULL;

    ok(ny_sums_new(&one, in.ctx, o));
    ok(ny_sums_new(&a, in.ctx, o));
    ok(ny_sums_new(&b, in.ctx, o));
    ok(ny_sums_new(&empty, in.ctx, NULL));
    ok(ny_sums_add(one, &first));
    ok(ny_sums_add(one, &second));
    ok(ny_sums_add(a, &first));
    ok(ny_sums_add(b, &second));
    ok(ny_sums_merge(empty, a));
    ok(ny_sums_merge(empty, b));
    ok(ny_sums_image(one, &image, &bytes));
    ok(ny_sums_image(empty, &again, &same));
    assert_int_equal(bytes, same);
    assert_memory_equal(image, again, bytes);
    ok(ny_sums_report(empty, &report));
    assert_true(number_of(report, "rows") == 1900 && number_of(report, "parts") == 2);
    assert_string_equal(ny_report_text(report, "map"), "kpca");
    assert_true(number_of(report, "components") == 3);
    fails(NY_EUSAGE, ny_sums_merge(one, b));
    ok(ny_sums_image(one, &again, &same));
    assert_int_equal(bytes, same);
}

/* ---- refusals ------------------------------------------------------------------------------- */

/* Sums of 200 rows with one option more. */
static struct ny_sums *small(const char *name, const char *value)
{
    struct ny_table table = dense(NY_F32, 0), part = part_of(&table, 0, 200);
    OWNED(ny_options) *o = options_of((choices){{name, value}, {NULL, NULL}});
    struct ny_sums *sums;

    ok(ny_sums_new(&sums, in.ctx, o));
    ok(ny_sums_add(sums, &part));
    return sums;
}

TEST(other_sums_are_refused)
{
    static const char *const cases[][2] = {
        {"gamma", "3e-5"},    {"kernel", "laplacian"}, {"components", "2"},
        {"precision", "f64"}, {"map", "svd"},          {"approx", "column"},
    };
    OWNED(ny_sums) *sums = small("map", "kpca");
    const void *image;
    size_t bytes, before;

    ok(ny_sums_image(sums, &image, &before));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(ny_sums) *other = small(cases[i][0], cases[i][1]);

        fails(NY_EUSAGE, ny_sums_merge(sums, other));
    }
    ok(ny_sums_image(sums, &image, &bytes));
    assert_int_equal(bytes, before);
}

AROUND_EACH(setup, api_case_end)
