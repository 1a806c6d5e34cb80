/* Results that are done, or all but, whose checksums are right and whose parts and records no job
 * has written: they are refused, and nothing is read or written that is not there. */
#include "base/sparse.h"
#include "support/files.h"
#include "support/hostile_parts.h"
#include "support/options.h"

#define FIT "landmarks=20 components=2 "
#define PCA "map=pca kernel=linear "
#define GRAPH "neighbors=8 knn=exact connect=yes "
#define ISOMAP GRAPH "map=isomap landmarks=20 components=2 approx=nystrom"

/* Places one new row by the result. */
static int place(const char *row)
{
    char *input = lend_text("%s/new.csv", in.folder);
    char *output = lend_text("%s/out.npy", in.folder);
    char *rows = lend_text("0.5,0.5,0.5\n%s\n", row);

    write_text(input, rows);
    return ny_transform(in.ctx, in.store, "r", input, output, NULL);
}

/* ---- records -------------------------------------------------------------------------------- */

TEST(coordinates_that_cannot_be_are_refused)
{
    static const char *const cases[] = {"{\"pairs\": 1, \"skip\": 1}",
                                        "{\"pairs\": 2, \"skip\": 2}",
                                        "{\"pairs\": 16777217}", /* more than a store holds */
                                        "{\"pairs\": 9223372036854775807}"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(json_t) *record = make(FIT "map=laplacian");

        ny_field_set_json(record, "coordinates", json_loads(cases[i], 0, NULL));
        save(record);
        is(ny_evaluate(in.ctx, in.store, "r", NULL, NULL), NY_ESTORE);
    }
}

TEST(new_rows_of_no_eigenvectors_are_refused)
{
    OWNED(json_t) *record = make(GRAPH "map=eigenmaps components=2");

    ny_field_set_json(record, "coordinates", json_loads("{\"pairs\": 0}", 0, NULL));
    ny_field_set_json(json_object_get(record, "report"), "eigenvalues", json_array());
    save(record);
    is(place("0,0,0"), NY_ESTORE);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* Parts that are missing, or that have fewer rows than the record says. */
TEST(a_verification_misses_parts_that_the_record_has)
{
    static const float few[2];
    static const char *const parts[] = {"residuals", "embedding", "landmarks"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct ny_report *report = NULL;
        int err;

        json_decref(make(FIT "select=greedy"));
        is(ny_verify(in.ctx, in.store, NULL), NY_OK);
        put(parts[i], few, i ? sizeof(few) : 0);
        err = ny_verify(in.ctx, in.store, &report);
        assert_non_null(strstr(ny_report_json(report), parts[i]));
        ny_report_free(report);
        is(err, NY_ESTORE);
    }
}

/* ---- scales --------------------------------------------------------------------------------- */

TEST(scales_that_are_no_numbers_are_refused)
{
    double geometry[2 * COLUMNS + 1] = {0, 0, 0, 1, 1, 1, 1};
    static const double values[] = {NAN, INFINITY};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        for (size_t at = 0; at <= 2 * COLUMNS; at += COLUMNS) {
            json_decref(make(ISOMAP));
            geometry[at] = values[i];
            put("geometry", geometry, sizeof(geometry));
            geometry[at] = at >= COLUMNS;
            is(place("0,0,0"), NY_ESTORE);
            is(ny_evaluate(in.ctx, in.store, "r", NULL, NULL), NY_ESTORE);
        }
}

/* Products with them are infinite, and distances are not numbers. */
TEST(scales_that_are_too_large_are_told)
{
    static const double geometry[2 * COLUMNS + 1] = {-9, -9, -9, 1e308, 1e308, 1e308, 1};
    static const char connected[] = "graph neighbors=3 knn=exact connect=yes";
    OWNED(json_t) *record = NULL;

    json_decref(make(ISOMAP));
    put("geometry", geometry, sizeof(geometry));
    is(place("9,9,9"), NY_ENUMERIC);
    ny_evaluate(in.ctx, in.store, "r", NULL, NULL); /* to whatever end */
    assert_int_equal(ny_memory_used(in.ctx), 0);

    record = make(connected);
    put("geometry", geometry, sizeof(geometry));
    ny_field_set_text(record, "stage", "graph");
    save(record);
    is(run(connected), NY_ENUMERIC); /* and not never */
}

/* A new point so far away that its coordinates are infinite, as of other maps. */
TEST(new_rows_beyond_all_numbers_are_told)
{
    json_decref(make(ISOMAP));
    is(place("0.5,0.5,0.6"), NY_OK);
    is(place("1e30,-1e30,1e30"), NY_ENUMERIC);
}

/* ---- models --------------------------------------------------------------------------------- */

/* Puts the model of points with other columns, which is whole, in the place of that of "r". */
static void put_model_of_others(json_t *record, size_t columns, const char *options)
{
    static float rows[50 * (COLUMNS + 2)];
    char whole[sizeof(in.store)];
    struct ny_store *store;
    json_t *other;
    size_t bytes;
    void *image;

    strcpy(whole, in.store);
    snprintf(in.store, sizeof(in.store), "%s/other.nys", in.folder);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows[i] = (float)cos((double)i);
    assert_int_equal(ny_append_rows(in.ctx, in.store, rows, 50, columns, NULL), NY_OK);
    other = make(options);
    bytes = (size_t)ny_field_count(other, "model_bytes", 0);
    json_decref(other);
    image = lend(bytes);
    assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
    assert_int_equal(ny_blob_get(store, "r", "model", image, bytes), NY_OK);
    ny_store_close(store);
    case_remove(in.store);
    strcpy(in.store, whole);
    put("model", image, bytes);
    ny_field_set_count(record, "model_bytes", bytes);
}

/* A model that is whole, but of points with other columns. */
TEST(a_model_of_other_columns_is_refused)
{
    OWNED(json_t) *record = make(FIT);

    put_model_of_others(record, COLUMNS + 2, FIT);
    ny_field_set_text(record, "stage", "project");
    json_object_clear(json_object_get(record, "checkpoint"));
    save(record);
    is(run(FIT), NY_ESTORE);
}

static int export(const char *part)
{
    char *output = lend_text("%s/out.npy", in.folder);

    return ny_export(in.ctx, in.store, "r", part, output);
}

/* Axes are of as many components and columns as the record and the points have. */
TEST(axes_of_another_shape_are_refused)
{
    json_t *record = make(PCA "components=2");

    is(export("axes"), NY_OK);
    is(export("mean"), NY_OK);
    ny_field_set_json(record, "coordinates", json_loads("{\"pairs\": 500}", 0, NULL));
    save(record);
    is(export("axes"), NY_ESTORE);
    json_decref(record);
    record = make(PCA "components=1");
    put_model_of_others(record, 1, PCA "components=1");
    save(record);
    json_decref(record);
    is(export("axes"), NY_ESTORE);
    is(export("mean"), NY_ESTORE);
}

/* ---- landmarks that are points --------------------------------------------------------------- */

enum { GIVEN = 5, SLOTS = 2 };

/* Makes a store of sparse rows and the result "r" of it by GIVEN points of SLOTS values. */
static json_t *fit_points(void)
{
    double rows[50 * COLUMNS] = {0}, points[GIVEN * COLUMNS] = {0};
    struct ny_table table = dense_table(NY_F64, 50, COLUMNS, rows);
    struct ny_options *options;
    OWNED(ny_store) *store = NULL;
    json_t *record;

    for (int i = 0; i < 50; i++)
        rows[i * COLUMNS + i % COLUMNS] = 1 + i / 5;
    options = options_with(in.ctx, "layout=sparse");
    assert_int_equal(ny_append(in.ctx, in.store, &table, options, NULL), NY_OK);
    ny_options_free(options);
    for (int i = 0; i < GIVEN; i++)
        points[i * COLUMNS] = points[i * COLUMNS + 2] = i + 0.5;
    table.rows = GIVEN;
    table.values = points;
    assert_int_equal(ny_options_new(&options, in.ctx), NY_OK);
    assert_int_equal(ny_options_set_table(options, "landmarks-points", &table), NY_OK);
    if (ny_fit(in.ctx, in.store, "r", options, NULL)) fail_msg("%s", ny_context_message(in.ctx));
    ny_options_free(options);
    assert_int_equal(ny_store_open(&store, in.ctx, in.store), NY_OK);
    assert_int_equal(ny_record_load(store, "r", &record), NY_OK);
    return record;
}

TEST(points_of_other_columns_are_refused)
{
    static const uint32_t forged[][SLOTS] = {{0, COLUMNS}, {1, 1}, {2, 0}, {UINT32_MAX, 0}};
    static const double values[SLOTS] = {1, 2};
    const uint32_t good[SLOTS] = {0, 2};
    size_t bytes = ny_row_bytes(NY_F64, COLUMNS, SLOTS);
    char *rows = lend_zeros(GIVEN * bytes), whole[sizeof(in.store)];

    strcpy(whole, in.store);
    snprintf(in.store, sizeof(in.store), "%s/sparse.nys", in.folder);
    json_decref(fit_points());
    is(export("landmark-points"), NY_OK);
    for (size_t i = 0; i < GIVEN; i++)
        ny_sparse_pack(rows + i * bytes, SLOTS, NY_F64, (struct ny_sparse){SLOTS, good, values});
    put("landmark-points", rows, GIVEN * bytes);
    is(export("landmark-points"), NY_OK);
    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        ny_sparse_pack(rows + (GIVEN - 1) * bytes, SLOTS, NY_F64,
                       (struct ny_sparse){SLOTS, forged[i], values});
        put("landmark-points", rows, GIVEN * bytes);
        is(export("landmark-points"), NY_ESTORE);
    }
    case_remove(in.store);
    strcpy(in.store, whole);
}

TEST(points_that_the_record_does_not_count_are_refused)
{
    static const char *const given[] = {
        "{\"landmarks\": 4, \"dtype\": \"f64\", \"slots\": 2}",
        "{\"landmarks\": 6, \"dtype\": \"f64\", \"slots\": 2}",
        "{\"landmarks\": 5, \"dtype\": \"f64\", \"slots\": 3}",
        "{\"landmarks\": 5, \"dtype\": \"f64\", \"slots\": 4}",
        "{\"landmarks\": 5, \"dtype\": \"f64\", \"slots\": 4611686018427387906}", /* 2 + 2^62 */
    };
    char whole[sizeof(in.store)];
    json_t *record;

    strcpy(whole, in.store);
    snprintf(in.store, sizeof(in.store), "%s/sparse.nys", in.folder);
    record = fit_points();
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        ny_field_set_json(record, "given", json_loads(given[i], 0, NULL));
        ny_field_set_count(json_object_get(record, "report"), "landmarks", i == 1 ? 6 : 5);
        save(record);
        is(export("landmark-points"), NY_ESTORE);
    }
    json_decref(record);
    case_remove(in.store);
    strcpy(in.store, whole);
}

/* ---- updates -------------------------------------------------------------------------------- */

enum { BEFORE = 5000, MORE = 100 };

/* Makes a store of `BEFORE` rows, fits "r", and appends `MORE`. */
static json_t *grown(const char *store)
{
    static float rows[BEFORE * COLUMNS];
    OWNED(ny_options) *options = NULL;
    OWNED(ny_store) *opened = NULL;
    json_t *record;

    for (size_t i = 0; i < BEFORE * COLUMNS; i++)
        rows[i] = (float)sin(0.1 * (double)i);
    assert_int_equal(ny_append_rows(in.ctx, store, rows, BEFORE, COLUMNS, NULL), NY_OK);
    options = options_with(in.ctx, "landmarks=20");
    assert_int_equal(ny_fit(in.ctx, store, "r", options, NULL), NY_OK);
    assert_int_equal(ny_append_rows(in.ctx, store, rows, MORE, COLUMNS, NULL), NY_OK);
    assert_int_equal(ny_store_create(&opened, in.ctx, store), NY_OK);
    assert_int_equal(ny_record_load(opened, "r", &record), NY_OK);
    return record;
}

/* The result's record becomes that of an update under way: mode, stage, checkpoint, and what else
 * field "update" says. */
static void interrupt(const char *store, const json_t *result, const char *const forged[4])
{
    OWNED(json_t) *record = json_deep_copy(result), *more = json_loads(forged[3], 0, NULL);
    json_t *update;
    OWNED(ny_store) *opened = NULL;

    update = json_pack("{s:s, s:i, s:i, s:i, s:I, s:{s:s, s:s, s:s}, s:O, s:O}", "mode", forged[0],
                       "rows", BEFORE, "selected", BEFORE, "landmarks", 20, "model_bytes",
                       json_integer_value(json_object_get(result, "model_bytes")), "parts",
                       "landmarks", "landmarks", "model", "model", "sums",
                       ny_field_text(json_object_get(result, "sums"), "part"), "sums",
                       json_object_get(result, "sums"), "checkpoint",
                       json_object_get(result, "checkpoint"));
    assert_non_null(update);
    ny_field_set_json(record, "update", update);
    ny_field_set_count(record, "generation", 1);
    ny_field_set_json(record, "generations", json_object());
    ny_field_set_count(json_object_get(record, "report"), "n", BEFORE + MORE);
    ny_field_set_text(record, "stage", forged[1]);
    ny_field_set_json(record, "checkpoint", json_loads(forged[2], 0, NULL));
    json_object_update(update, more);
    assert_int_equal(ny_store_create(&opened, in.ctx, store), NY_OK);
    assert_int_equal(ny_record_save(opened, "r", record), NY_OK);
}

TEST(updates_that_no_job_has_begun_are_refused)
{
    static const char *const forged[][4] = {
        /* rows of before would be added again, or none at all */
        {"frozen", "project", "{\"part\": \"embedding\", \"units\": 0}", "{}"},
        {"frozen", "project", "{\"part\": \"embedding\", \"units\": 4}", "{}"},
        {"frozen", "project", "{\"part\": \"embedding\", \"units\": 1099511627776}", "{}"},
        {"full", "project", "{\"part\": \"embedding\", \"units\": 4}", "{}"},
        /* parts without a name */
        {"frozen", "accumulate", "{}", "{\"parts\": {}}"},
        {"full", "accumulate", "{}", "{\"parts\": {}}"},
        {"full", "accumulate", "{}", "{\"parts\": {\"landmarks\": \"landmarks\"}}"},
        /* fewer landmarks than the model has */
        {"full", "accumulate", "{}", "{\"landmarks\": 3}"},
    };
    char store[160];

    for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
        OWNED(ny_options) *options = NULL;
        OWNED(json_t) *result = NULL;
        int err;

        snprintf(store, sizeof(store), "%s/grown%zu.nys", in.folder, i);
        result = grown(store);
        interrupt(store, result, forged[i]);
        options = options_with(in.ctx, "update=%s", forged[i][0]);
        err = ny_fit(in.ctx, store, "r", options, NULL);
        if (err != NY_ESTORE) fail_msg("%zu: %d %s", i, err, ny_context_message(in.ctx));
    }
}

/* Names of figures and stages are never elements of a page, whatever the record calls them. */
TEST(figures_of_any_name_are_text_in_a_page)
{
    json_t *record = make(FIT), *report = json_object_get(record, "report");
    char *text;
    const char *name = "r";
    size_t bytes;
    char *page = lend_text("%s/page.html", in.folder);

    ny_field_set_count(report, "<img src=x onerror=alert(1)>", 1);
    ny_field_set_count(json_object_get(report, "stages"), "<svg onload=alert(2)>", 1);
    save(record);
    json_decref(record);
    is(ny_write_report(in.ctx, in.store, &name, 1, page, NULL), NY_OK);
    text = file_content(page, &bytes);
    assert_null(strstr(text, "<img src=x"));
    assert_null(strstr(text, "<svg onload"));
    assert_non_null(strstr(text, "&#60;img src=x onerror=alert(1)&#62;"));
    free(text);
}

AROUND_ALL(start, api_case_end)
