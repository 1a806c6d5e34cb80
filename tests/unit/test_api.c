/* The public API as a program uses it: rows from memory, fit, read back, place points. */
#include <unistd.h>

#include "nystream.h"
#include "support/api_case.h"
#include "support/test.h"
#include "support/results.h"

enum { ROWS = 500, COLUMNS = 4, LATER = 30 };

static struct api_case in;
static float values[ROWS * COLUMNS];
static double labels[ROWS];

static void setup(void)
{
    api_case_begin(&in, "points.nys");
    for (int i = 0; i < ROWS; i++) {
        labels[i] = i % 3;
        for (int j = 0; j < COLUMNS; j++)
            values[i * COLUMNS + j] = (float)sin(0.37 * i * (j + 1)) + (float)(i % 3);
    }
}

static void teardown(void)
{
    api_case_end(&in);
}

static void fit(const char *name, struct ny_report **report)
{
    must_fit(in.ctx, in.store, name, report,
             "landmarks=40 components=3 approx=projected gamma=0.3");
}

TEST(a_model_in_memory_places_the_training_rows_where_they_are)
{
    OWNED(ny_report) *report = NULL;
    OWNED(ny_model) *model = NULL;
    uint64_t rows, components;
    float *stored = lend_zeros(ROWS * 3 * sizeof(float)),
          *placed = lend_zeros(ROWS * 3 * sizeof(float));
    double error, largest = 0;

    assert_int_equal(ny_append_rows(in.ctx, in.store, values, ROWS, COLUMNS, labels), NY_OK);
    fit("a", &report);
    error = number_of(report, "trace_error");
    assert_true(error >= 0 && error < 0.5);
    assert_true(number_of(report, "n") == ROWS);
    assert_string_equal(ny_report_text(report, "status"), "done");
    assert_non_null(strstr(ny_report_json(report), "\"eigenvalues\""));

    assert_int_equal(ny_embedding_shape(in.ctx, in.store, "a", &rows, &components), NY_OK);
    assert_int_equal(rows, ROWS);
    assert_int_equal(components, 3);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 0, ROWS, stored), NY_OK);
    assert_int_equal(ny_model_open(&model, in.ctx, in.store, "a"), NY_OK);
    assert_int_equal(ny_model_dimensions(model), COLUMNS);
    assert_int_equal(ny_model_components(model), 3);
    assert_int_equal(ny_model_transform(model, values, ROWS, placed), NY_OK);
    for (int i = 0; i < ROWS * 3; i++)
        largest = fmax(largest, fabs((double)stored[i]));
    assert_true(largest > 0.1);
    assert_memory_equal(stored, placed, ROWS * 3 * sizeof(float));
}

TEST(a_part_of_an_embedding_can_be_read)
{
    float all[ROWS * 3], part[10 * 3];

    assert_int_equal(ny_append_rows(in.ctx, in.store, values, ROWS, COLUMNS, NULL), NY_OK);
    fit("a", NULL);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 0, ROWS, all), NY_OK);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 123, 10, part), NY_OK);
    assert_memory_equal(part, all + 123 * 3, sizeof(part));
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", ROWS - 5, 10, part), NY_EUSAGE);
    /* The end wraps around 2⁶⁴. */
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", UINT64_MAX - 4, 10, part), NY_EUSAGE);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 1, UINT64_MAX, part), NY_EUSAGE);
}

TEST(appended_rows_are_there_and_a_mismatch_changes_nothing)
{
    OWNED(ny_report) *report = NULL;
    double n;

    assert_int_equal(ny_append_rows(in.ctx, in.store, values, ROWS, COLUMNS, NULL), NY_OK);
    assert_int_equal(ny_append_rows(in.ctx, in.store, values, LATER, COLUMNS, NULL), NY_OK);
    assert_int_equal(ny_append_rows(in.ctx, in.store, values, LATER, COLUMNS - 1, NULL), NY_EDATA);
    assert_int_equal(ny_store_report(in.ctx, in.store, &report), NY_OK);
    n = number_of(report, "n");
    assert_int_equal((int)n, ROWS + LATER);
}

TEST(rows_that_are_not_finite_are_refused_by_transform)
{
    float placed[3], row[COLUMNS] = {1, NAN, 0, 0};
    struct ny_model *model;

    assert_int_equal(ny_append_rows(in.ctx, in.store, values, ROWS, COLUMNS, NULL), NY_OK);
    fit("a", NULL);
    assert_int_equal(ny_model_open(&model, in.ctx, in.store, "a"), NY_OK);
    assert_int_equal(ny_model_transform(model, row, 1, placed), NY_EDATA);
    ny_model_free(model);
    assert_int_equal(ny_model_open(&model, in.ctx, in.store, "b"), NY_EUSAGE);
}

TEST(errors_name_the_option_that_they_are_about)
{
    struct ny_model *model;
    OWNED(ny_options) *o = NULL;

    assert_int_equal(ny_options_new(&o, in.ctx), NY_OK);
    assert_int_equal(ny_options_set(o, "landmarks", "many"), NY_EUSAGE);
    assert_string_equal(ny_context_error(in.ctx)->option, "landmarks");
    assert_int_equal(ny_options_set(o, "edge-weights", "many"), NY_EUSAGE);
    assert_string_equal(ny_context_error(in.ctx)->option, "edge-weights");
    assert_int_equal(ny_options_set(o, "coef0", "many"), NY_EUSAGE);
    assert_string_equal(ny_context_error(in.ctx)->option, "coef0");
    assert_int_equal(ny_model_open(&model, in.ctx, "my--store.nys", "a"), NY_EIO);
    assert_null(ny_context_error(in.ctx)->option);
    assert_int_equal(ny_fit(in.ctx, NULL, "a", o, NULL), NY_EUSAGE);
    assert_null(ny_context_error(in.ctx)->option);
}

AROUND_EACH(setup, teardown)
