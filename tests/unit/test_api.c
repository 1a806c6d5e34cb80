/* The public API as a program uses it: rows from memory, fit, read back, place points. */
#include "nystream.h"
#include "support/api_case.h"
#include "support/test.h"
#include "support/results.h"

enum { ROWS = 500, COLUMNS = 4 };

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

AROUND_EACH(setup, teardown)
