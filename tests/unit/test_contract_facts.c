/* job/facts.h: each key has one line and each place one key, without gaps; a label fits the
 * lines of the command; a new job has all that have a place. */
#include "job/facts.h"
#include "records/begin.h"
#include "support/test.h"

enum { LABEL_COLUMNS = 20 };

TEST(test_each_key_has_one_line)
{
    const struct ny_fact *fact;

    for (size_t i = 0; (fact = ny_fact_at(i)); i++) {
        assert_ptr_equal(ny_fact_find(fact->key), fact);
        assert_true(!fact->label || (fact->label[0] && strlen(fact->label) <= LABEL_COLUMNS));
    }
    assert_null(ny_fact_find("no such key"));
}

TEST(test_places_have_no_gaps)
{
    const struct ny_fact *fact;
    unsigned placed = 0, last = 0;

    for (size_t i = 0; (fact = ny_fact_at(i)); i++) {
        if (!fact->place) continue;
        assert_ptr_equal(ny_fact_placed(fact->place), fact);
        placed++;
        if (fact->place > last) last = fact->place;
    }
    assert_int_equal(placed, last);
    assert_null(ny_fact_placed(last + 1));
}

TEST(test_an_update_forgets_only_what_a_job_has)
{
    const struct ny_fact *fact;

    for (size_t i = 0; (fact = ny_fact_at(i)); i++)
        if (fact->update != NY_FACT_KEPT) assert_int_not_equal(fact->place, 0);
}

TEST(test_a_new_job_has_them_all)
{
    const struct ny_rows_info points = {.n = 7, .d = 2};
    OWNED(json_t) *record = ny_record_new(&points, json_object(), "fit");
    const json_t *report = json_object_get(record, "report");

    for (unsigned place = 1; ny_fact_placed(place); place++)
        assert_non_null(json_object_get(report, ny_fact_placed(place)->key));
    assert_int_equal(json_integer_value(json_object_get(report, "n")), 7);
    assert_true(json_is_null(json_object_get(report, "trace_error")));
}
