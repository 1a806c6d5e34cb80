/* api/report.h: what a report of fields reads as. */
#include "api/report.h"

#include "results/record.h"
#include "support/context.h"

TEST(reports_are_read_as_they_were_filled)
{
    OWNED(ny_report) *report = NULL;
    json_t *object = json_object();
    double value = -1;

    ny_fields_begin();
    ny_field_set_json(object, "name", ny_json_text("caf\xc3\xa9 \xff"));
    ny_field_set_number(object, "trace", 0.1);
    ny_field_set_number(object, "sigma", NAN);
    ny_field_set_number(object, "gamma", INFINITY);
    ny_field_set_count(object, "n", 60000);
    ny_field_set_json(object, "fits", json_true());
    ny_field_set_text(object, "approx", NULL);
    assert_int_equal(ny_report_of_json(&report, ctx, object), NY_OK);
    assert_string_equal(ny_report_text(report, "name"), "caf\xc3\xa9 ?");
    assert_null(ny_report_text(report, "approx"));
    assert_null(ny_report_text(report, "n"));
    assert_null(ny_report_text(report, "not there"));
    assert_true(ny_report_number(report, "trace", &value) && value == 0.1);
    assert_true(ny_report_number(report, "n", &value) && value == 60000);
    assert_true(ny_report_number(report, "fits", &value) && value == 1);
    assert_false(ny_report_number(report, "sigma", &value));
    assert_false(ny_report_number(report, "gamma", &value));
    assert_non_null(strstr(ny_report_json(report), "\"trace\": 0.1"));
}

/* If jansson refuses a field, as it does without memory, the report is not made. */
TEST(reports_without_memory_are_refused)
{
    struct ny_report *report = NULL;
    json_t *object = json_object();

    ny_fields_begin();
    ny_field_set_json(object, "lost", NULL);
    assert_int_equal(ny_report_of_json(&report, ctx, object), NY_EBUDGET);
    assert_null(report);
    ny_error_clear(ctx);
    assert_int_equal(ny_report_of_json(&report, ctx, NULL), NY_EBUDGET);
    assert_null(report);
}

AROUND_EACH(start, stop)
