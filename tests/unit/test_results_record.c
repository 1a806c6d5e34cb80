/* results/record.h: records come back as they were put, and those that cannot be read say why. */
#include "records/begin.h"
#include "results/record.h"
#include "nystream.h"
#include "support/store_folder.h"

static struct ny_store *open_store(void)
{
    struct ny_store *store;

    if (ny_store_create(&store, ctx, path) && ny_store_open(&store, ctx, path))
        fail_msg("%s", ny_context_message(ctx));
    return store;
}

/* A record with one field set to something else; NULL: removed. */
static void put(const char *name, const char *key, json_t *value)
{
    const struct ny_rows_info points = {.n = 10, .d = 2};
    OWNED(ny_store) *store = open_store();
    OWNED(json_t) *record = ny_record_new(&points, json_object(), "fit");

    if (value)
        json_object_set_new(record, key, value);
    else
        json_object_del(record, key);
    assert_int_equal(ny_record_save(store, name, record), NY_OK);
}

static void check_refused(const char *name)
{
    OWNED(ny_store) *store = open_store();
    json_t *record;

    assert_int_equal(ny_record_load(store, name, &record), NY_ESTORE);
    assert_null(record);
    ny_error_clear(ctx);
}

TEST(a_record_comes_back)
{
    OWNED(ny_store) *store = NULL;
    json_t *record;

    put("good", "stage", json_string("solve"));
    store = open_store();
    assert_int_equal(ny_record_load(store, "good", &record), NY_OK);
    assert_string_equal(ny_field_text(record, "stage"), "solve");
    assert_int_equal(ny_field_count(json_object_get(record, "report"), "n", 0), 10);
    json_decref(record);
    assert_int_equal(ny_record_load(store, "none", &record), NY_OK);
    assert_null(record);
}

TEST(a_later_format_says_which_version_reads_it)
{
    put("later", "format", json_integer(NY_RECORD_FORMAT + 1));
    check_refused("later");
    check_refused("later");
    put("listed", "stage", NULL);
    check_refused("listed");
    put("text", "report", json_string("?"));
    check_refused("text");
    put("bare", "format", NULL);
    check_refused("bare");
}

TEST(the_others_can_be_listed_and_it_can_be_removed)
{
    struct ny_report *report;

    put("good", "stage", json_string("done"));
    put("later", "format", json_integer(NY_RECORD_FORMAT + 1));
    assert_int_equal(ny_store_report(ctx, path, &report), NY_OK);
    assert_non_null(strstr(ny_report_json(report), "\"unreadable\""));
    assert_non_null(strstr(ny_report_json(report), "\"good\""));
    ny_report_free(report);
    assert_int_equal(ny_result_report(ctx, path, "later", &report), NY_ESTORE);
    assert_int_equal(ny_remove(ctx, path, "later"), NY_OK);
    assert_int_equal(ny_result_report(ctx, path, "later", &report), NY_EUSAGE);
}

/* A record that could not take a value is not put, whatever is read in between. */
TEST(a_value_that_was_lost_stays_lost)
{
    OWNED(ny_store) *store = NULL;
    OWNED(json_t) *record = NULL, *other = NULL;

    put("good", "stage", json_string("solve"));
    store = open_store();
    assert_int_equal(ny_record_load(store, "good", &record), NY_OK);
    ny_field_set_json(record, "stage", NULL);
    assert_int_equal(ny_record_load(store, "good", &other), NY_OK);
    assert_int_equal(ny_record_save(store, "good", record), NY_EBUDGET);
    assert_int_equal(ny_record_save(store, "good", other), NY_OK);
}

/* A record of 1.0 has no command: the one without options goes on with it. One of the library has
 * none either, and says so. */
TEST(an_old_record_is_resumed_by_its_name)
{
    static const struct {
        const char *kind, *verb;
    } cases[] = {{"fit", "fit"}, {"dictionary", "select"}, {"graph", "graph"}};
    char wanted[256];
    struct ny_report *report;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put("old", "kind", json_string(cases[i].kind));
        snprintf(wanted, sizeof(wanted), "nystream %s %s old", cases[i].verb, path);
        assert_int_equal(ny_result_report(ctx, path, "old", &report), NY_OK);
        assert_string_equal(ny_report_text(report, "resume"), wanted);
        assert_null(ny_report_text(report, "command"));
        ny_report_free(report);
    }
    put("library", "command", json_null());
    assert_int_equal(ny_result_report(ctx, path, "library", &report), NY_OK);
    assert_null(ny_report_text(report, "resume"));
    assert_non_null(strstr(ny_report_json(report), "\"resume\": null"));
    ny_report_free(report);
}

AROUND_ALL(make_folder, remove_folder)
