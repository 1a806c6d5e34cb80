/*
 * Sums through the public interface: what is summed up in parts and merged is what one fit of all
 * rows finds, for every map, method and layout that has sums; sums are their image; and parts that
 * cannot be added are refused, with nothing changed.
 */
#include "support/options.h"
#include "unit/sums_case.h"

/* Sums of the table in parts of 1, 600, 2,100 and the rows that are left. */
static struct ny_sums *sum_up(const struct ny_options *o, const struct ny_table *table)
{
    static const uint64_t ends[] = {1, 601, 2701, ROWS};
    struct ny_sums *sums;
    uint64_t first = 0;

    ok(ny_sums_new(&sums, in.ctx, o));
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); first = ends[i++]) {
        struct ny_table part = part_of(table, first, ends[i]);

        ok(ny_sums_add(sums, &part));
    }
    return sums;
}

/* ---- one fit of all rows -------------------------------------------------------------------- */

/* Compares models by the places of rows; signs are the same rule's. */
static void compare_places(struct ny_model *model, struct ny_model *whole,
                           const struct ny_table *table, double most)
{
    struct ny_table few = part_of(table, 100, 400);
    double a[300 * 3], b[300 * 3], largest = 0;

    ok(ny_model_place(model, &few, NY_F64, a, 0));
    ok(ny_model_place(whole, &few, NY_F64, b, 0));
    for (int i = 0; i < 300 * 3; i++)
        largest = fmax(largest, fabs(b[i]));
    assert_true(largest > 0);
    for (int i = 0; i < 300 * 3; i++)
        if (!(fabs(a[i] - b[i]) <= most * largest))
            fail_msg("value %d: %.9g, not %.9g", i, a[i], b[i]);
}

/* The model and the certificate of sums agree with those of a fit of all rows. */
static void check(const char *name, choices more, int dtype, double most)
{
    struct ny_table table = dense(dtype, 0);
    OWNED(ny_options) *o = options_of(more);
    OWNED(ny_sums) *sums = sum_up(o, &table);
    OWNED(ny_model) *model = NULL, *whole = NULL;
    OWNED(ny_report) *report = NULL, *wanted = NULL;

    ok(ny_sums_solve(sums, &model, &report));
    ok(ny_embed(in.ctx, &table, o, NULL, &whole, &wanted));
    assert_true(number_of(report, "n") == ROWS && number_of(report, "parts") == 4);
    assert_true(number_of(report, "landmarks") == LANDMARKS);
    for (int k = 0; k < 2; k++) {
        static const char *const keys[] = {"trace", "trace_error"};
        double is = NAN, was = NAN;

        assert_int_equal(ny_report_number(report, keys[k], &is),
                         ny_report_number(wanted, keys[k], &was));
        if (!isnan(was) && !(fabs(is - was) <= most * fabs(number_of(wanted, "trace"))))
            fail_msg("%s: %s is %.12g, not %.12g", name, keys[k], is, was);
    }
    compare_places(model, whole, &table, 1e-6);
}

TEST(sums_of_parts_are_those_of_all_rows)
{
    static const char *const maps[] = {"svd", "kpca"};
    static const char *const methods[] = {"projected", "orthonystrom", "column"};
    static const char *const kernels[] = {"rbf", "laplacian"};

    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 0; j < 2; j++)
                check(methods[k],
                      (choices){{"map", maps[i]},
                                {"approx", methods[k]},
                                {"kernel", kernels[j]},
                                {"averages", i && !k ? "implicit"
                                             : i     ? "landmarks"
                                                     : NULL},
                                {NULL, NULL}},
                      NY_F32, 1e-9);
}

TEST(rows_of_each_type_are_summed_up)
{
    static const int types[] = {NY_U8, NY_I16, NY_F64};

    for (size_t i = 0; i < 3; i++)
        check("types", NULL, types[i], 1e-9);
    check("f64", (choices){{"precision", "f64"}, {NULL, NULL}}, NY_F64, 1e-9);
}

/* Degrees over the landmarks grow with the rows: the weights of parts are those of all in the end,
 * but rows were rounded to f32 with other weights. */
TEST(divided_kernels_are_weighed_anew)
{
    static const char *const maps[] = {"laplacian", "diffusion"};

    for (size_t i = 0; i < 2; i++)
        check(maps[i], (choices){{"map", maps[i]}, {"averages", "landmarks"}, {NULL, NULL}}, NY_F32,
              1e-7);
}

/* Sparse rows, whose landmarks are sparse, too. */
TEST(sparse_rows_are_summed_up)
{
    enum { ENTRIES = 4 };
    uint32_t *column = lend_zeros(ROWS * ENTRIES * sizeof(*column));
    uint32_t *start = lend_zeros((ROWS + 1) * sizeof(*start));
    float *values = lend_zeros(ROWS * ENTRIES * sizeof(*values));
    struct ny_table table = {.struct_bytes = sizeof(table),
                             .dtype = NY_F32,
                             .index_bytes = 4,
                             .rows = ROWS,
                             .columns = WIDE,
                             .values = values,
                             .row_start = start,
                             .column = column,
                             .entries = (uint64_t)ROWS * ENTRIES};
    struct ny_table landmarks = table, half = table;
    OWNED(ny_model) *model = NULL, *whole = NULL;
    OWNED(ny_report) *report = NULL;
    OWNED(ny_options) *o = NULL;
    OWNED(ny_sums) *sums = NULL, *copy = NULL;
    float a[64 * 2], b[64 * 2];
    const void *image;
    size_t bytes;

    for (uint32_t i = 0; i < ROWS * ENTRIES; i++) {
        column[i] = i % ENTRIES * 15 + (i / ENTRIES * 7 + i % ENTRIES * 3) % 15;
        values[i] = (float)(1 + (i * 13 + i / 97) % 29);
        start[i / ENTRIES + 1] = i + 1;
    }
    landmarks.rows = half.rows = LANDMARKS;
    half.rows = ROWS / 2;
    ok(ny_options_new(&o, in.ctx));
    ok(ny_options_set_table(o, "landmarks-points", &landmarks));
    ok(ny_options_set(o, "kernel", "cosine"));
    ok(ny_sums_new(&sums, in.ctx, o));
    ok(ny_sums_add(sums, &half));
    ok(ny_sums_image(sums, &image, &bytes));
    ok(ny_sums_load(&copy, in.ctx, image, bytes)); /* which makes its options from the image */
    half.rows = ROWS - ROWS / 2;
    half.row_start = start + ROWS / 2;
    ok(ny_sums_add(copy, &half));
    ok(ny_sums_solve(copy, &model, &report));
    assert_true(number_of(report, "n") == ROWS);
    ok(ny_embed(in.ctx, &table, o, NULL, &whole, NULL));
    half.rows = 64;
    ok(ny_model_place(model, &half, NY_F32, a, 0));
    ok(ny_model_place(whole, &half, NY_F32, b, 0));
    for (int i = 0; i < 64 * 2; i++)
        assert_true(fabsf(a[i] - b[i]) <= 1e-5f);
}

/* The scatter matrix of parts that lie far from one another: centres are moved, with the trace. */
TEST(principal_components_share_no_landmarks)
{
    struct ny_table table = dense(NY_F64, 0), half = part_of(&table, 0, ROWS / 2);
    double *values = (double *)(uintptr_t)table.values, trace = 0, kept;
    OWNED(ny_sums) *sums = NULL, *copy = NULL;
    OWNED(ny_model) *model = NULL;
    OWNED(ny_report) *report = NULL;
    OWNED(ny_options) *o = NULL;
    const void *image;
    size_t bytes;

    for (int i = ROWS / 2 * COLUMNS; i < ROWS * COLUMNS; i++)
        values[i] += 1e4 * (i % COLUMNS);
    for (int k = 0; k < COLUMNS; k++) {
        double mean = 0;

        for (int i = 0; i < ROWS; i++)
            mean += values[i * COLUMNS + k] / ROWS;
        for (int i = 0; i < ROWS; i++)
            trace += pow(values[i * COLUMNS + k] - mean, 2);
    }
    o = options_with(in.ctx, "map=pca approx=exact components=7 precision=f64");
    ok(ny_sums_new(&sums, in.ctx, o));
    ok(ny_sums_add(sums, &half));
    ok(ny_sums_image(sums, &image, &bytes));
    ok(ny_sums_load(&copy, in.ctx, image, bytes));
    half = part_of(&table, ROWS / 2, ROWS);
    ok(ny_sums_add(copy, &half));
    ok(ny_sums_solve(copy, &model, &report));
    if (!(fabs(number_of(report, "trace") - trace) <= 1e-12 * trace))
        fail_msg("trace %.17g, not %.17g", number_of(report, "trace"), trace);
    kept = number_of(report, "variance_kept");
    assert_true(fabs(kept - 1) < 1e-9);
}

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
        OWNED(ny_options) *o = options_with(in.ctx, fits[turn / 2]);
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

/* Appends rows to a store and leaves their sums under `name`. */
static void fit_until(const char *path, const char *name, const struct ny_table *rows, choices more)
{
    OWNED(ny_options) *o = options_of(more);

    if (rows) ok(ny_append(in.ctx, path, rows, NULL, NULL));
    ok(ny_fit(in.ctx, path, name, o, NULL));
}

TEST(stores_are_merged_to_a_model_file)
{
    struct ny_table table = dense(NY_F32, 0), halves[2];
    char a[200], b[200], file[200];
    const char *paths[] = {a, b};
    struct ny_model *model, *whole;
    struct ny_report *report;
    struct ny_options *o = options_of(NULL);

    snprintf(a, sizeof(a), "%s/a.nys", in.folder);
    snprintf(b, sizeof(b), "%s/b.nys", in.folder);
    snprintf(file, sizeof(file), "%s/whole.nym", in.folder);
    halves[0] = part_of(&table, 0, 1700);
    halves[1] = part_of(&table, 1700, ROWS);
    fit_until(a, "map", &halves[0], (choices){{"until", "sums"}, {NULL, NULL}});
    fit_until(b, "map", &halves[1], NULL); /* one that is done keeps its sums */
    ok(ny_merge(in.ctx, paths, 2, "map", file, &report));
    assert_true(number_of(report, "n") == ROWS);
    ok(ny_model_load_file(&model, in.ctx, file));
    ok(ny_embed(in.ctx, &table, o, NULL, &whole, NULL));
    compare_places(model, whole, &table, 1e-6);
    ny_report_free(report);
    ny_model_free(model);
    ny_model_free(whole);
    ny_options_free(o);

    /* The rows of a part are placed by it, and take the place of nothing. */
    o = options_with(in.ctx, "model=%s", file);
    ok(ny_fit(in.ctx, a, "placed", o, &report));
    assert_string_equal(ny_report_text(report, "map"), "kpca");
    assert_null(ny_report_text(report, "approx"));
    ny_report_free(report);
    ok(ny_options_set(o, "kernel", "rbf"));
    fails(NY_EUSAGE, ny_fit(in.ctx, a, "x", o, NULL));
    ny_options_free(o);

    paths[1] = a;
    fails(NY_EUSAGE, ny_merge(in.ctx, paths, 2, "map", file, NULL));
    fails(NY_EUSAGE, ny_merge(in.ctx, paths, 0, "map", file, NULL));
    fails(NY_EUSAGE, ny_merge(in.ctx, paths, 1, "map", "x.npy", NULL));
    fails(NY_EUSAGE, ny_merge(in.ctx, paths, 1, "placed", file, NULL));
}

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

/* Batches may be equal; the parts that they make are not. Names tell apart what was made apart. */
TEST(equal_batches_are_added)
{
    struct ny_table table = dense(NY_F32, 0), batch = part_of(&table, 0, 50);
    OWNED(ny_options) *o = options_of(NULL);
    struct ny_sums *sums, *other;
    OWNED(ny_report) *report = NULL;

    ok(ny_sums_new(&sums, in.ctx, o));
    ok(ny_sums_new(&other, in.ctx, o));
    ok(ny_sums_add(other, &batch));
    for (int i = 0; i < 3; i++)
        ok(ny_sums_add(sums, &batch));
    ok(ny_sums_report(sums, &report));
    assert_true(number_of(report, "rows") == 150 && number_of(report, "parts") == 3);
    fails(NY_EUSAGE, ny_sums_merge(sums, other));
    fails(NY_EUSAGE, ny_sums_merge(sums, sums));
    ny_sums_free(other);
    ok(ny_sums_new(&other, in.ctx, o));
    batch.name = "part 2";
    ok(ny_sums_add(other, &batch));
    ok(ny_sums_merge(sums, other));
    fails(NY_EUSAGE, ny_sums_merge(sums, other));
    ny_sums_free(sums);
    ny_sums_free(other);
}

/* Batches are summed up dense or sparse as the first one comes, whether many of its values are 0 or
 * none is; what comes otherwise after it is converted. */
TEST(batches_have_the_layout_of_the_first)
{
    struct ny_table table = dense(NY_F32, 0), rows = part_of(&table, 0, 60), full = rows;
    uint64_t start[61], column[60 * COLUMNS];
    OWNED(ny_options) *o = options_of(NULL);
    OWNED(ny_sums) *sums = NULL, *other = NULL;
    struct ny_report *report;

    for (uint64_t i = 0; i < 60 * COLUMNS; i++)
        column[i] = i % COLUMNS;
    for (uint64_t i = 0; i <= 60; i++)
        start[i] = i * COLUMNS;
    full.index_bytes = 8;
    full.row_start = start;
    full.column = column;
    full.entries = 60 * COLUMNS;
    for (int first = 0; first < 2; first++) {
        ok(ny_sums_new(&sums, in.ctx, o));
        ok(ny_sums_add(sums, first ? &rows : &full));
        ok(ny_sums_add(sums, first ? &full : &rows));
        ok(ny_sums_report(sums, &report));
        assert_true(number_of(report, "rows") == 120);
        ny_report_free(report);
        if (!first) other = sums;
    }
    fails(NY_EDATA, ny_sums_merge(sums, other));
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

TEST(other_landmarks_are_refused)
{
    struct ny_table table = dense(NY_F32, 0), part = part_of(&table, 0, 200);
    struct ny_table landmarks = part_of(&table, 3, 3 + LANDMARKS);
    OWNED(ny_sums) *sums = small("map", "kpca"), *other = NULL;
    OWNED(ny_options) *o = options_of(NULL);

    ok(ny_options_set_table(o, "landmarks-points", &landmarks));
    ok(ny_sums_new(&other, in.ctx, o));
    ok(ny_sums_add(other, &part));
    fails(NY_EUSAGE, ny_sums_merge(sums, other));
}

/* Sums of so many rows. */
static struct ny_sums *few_rows(uint64_t rows)
{
    struct ny_table table = dense(NY_F32, 0), part = part_of(&table, 0, rows);
    OWNED(ny_options) *o = options_of(NULL);
    struct ny_sums *sums;

    ok(ny_sums_new(&sums, in.ctx, o));
    ok(ny_sums_add(sums, &part));
    return sums;
}

/* Fits whose sums nobody could add say so before they run. */
TEST(what_has_no_sums_is_refused)
{
    static const char *const cases[][2] = {
        {"gamma", "auto"},     {"scale", "standard"}, {"map", "laplacian"},
        {"approx", "nystrom"}, {"probe", "5"},
    };
    struct ny_table table = dense(NY_F32, 0);
    struct ny_sums *sums = NULL;
    struct ny_model *model;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(ny_options) *o = options_of((choices){{cases[i][0], cases[i][1]}, {NULL, NULL}});

        ok(ny_sums_new(&sums, in.ctx, o));
        fails(NY_EUSAGE, ny_sums_add(sums, &table));
        fails(NY_EUSAGE, ny_sums_solve(sums, &model, NULL));
        ny_sums_free(sums);
    }
    ok(ny_sums_new(&sums, in.ctx, NULL));
    fails(NY_EUSAGE, ny_sums_add(sums, &table));
    fails(NY_EIO, ny_sums_add_result(sums, in.store, "map"));
    ny_sums_free(sums);
    sums = few_rows(2);
    fails(NY_EUSAGE, ny_sums_solve(sums, &model, NULL));
    ny_sums_free(sums);
}

AROUND_EACH(setup, teardown)
