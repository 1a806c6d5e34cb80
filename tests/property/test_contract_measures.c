/* Tests the promises of every measure of the table: a finite figure or a reason for each of its
 * keys, the same by any number of threads, a refusal where it was asked for by name and cannot act,
 * and no option that is ignored. */
#include "judged_case.h"

#include "base/text.h"
#include "evaluate/evaluate.h"

#define ENTRY(measure) &measure,
static const struct ny_measure *const measures[] = {NY_MEASURES(ENTRY)};
enum { MEASURES = sizeof(measures) / sizeof(measures[0]) };

/* A result of a labelled store, "f", and another to compare it with, "g". */
static struct judged labelled;

static void make_results(void)
{
    start();
    make(&labelled, 0, "gamma=0.8 landmarks=60");
    fit(&labelled, "g", "gamma=0.5 landmarks=90");
}

static void remove_results(void)
{
    forget(&labelled);
    stop();
}

/* The status of an evaluation of `name`, by options in words; *report: it, parsed. */
static int evaluate(const char *store, const char *name, const char *words, json_t **report)
{
    OWNED(ny_options) *options = options_with(ctx, "%s", words);
    OWNED(ny_report) *made = NULL;
    int err;

    *report = NULL;
    ny_error_clear(ctx);
    err = ny_evaluate(ctx, store, name, options, &made);
    if (!err) *report = json_loads(ny_report_json(made), 0, NULL);
    assert_true(err || *report);
    return err;
}

static void check_finite(const char *key, const json_t *value)
{
    if (json_is_number(value) && !isfinite(json_number_value(value)))
        fail_msg("%s is %g", key, json_number_value(value));
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        check_finite(key, json_array_get(value, i));
}

/* Each key has a figure, or null and a reason. How many of the measure's have a figure. */
static size_t check_keys(const struct ny_measure *measure, const json_t *report)
{
    const json_t *reasons = json_object_get(report, "reasons");
    size_t found = 0;

    for (size_t i = 0; measure->keys[i]; i++) {
        const char *key = measure->keys[i];
        const json_t *value = json_object_get(report, key);

        if (!value) fail_msg("%s is not in the report", key);
        check_finite(key, value);
        found += !json_is_null(value);
    }
    if (!found && !json_string_length(json_object_get(reasons, measure->keys[0])))
        fail_msg("%s says nothing, and not why", measure->name);
    return found;
}

TEST(entries_are_whole)
{
    for (size_t i = 0; i < MEASURES; i++) {
        assert_true(measures[i]->name && measures[i]->keys[0] && strlen(measures[i]->options) > 1);
        assert_true(measures[i]->run && measures[i]->count && measures[i]->order);
        for (size_t before = 0; before < i; before++) {
            assert_string_not_equal(measures[i]->name, measures[before]->name);
            for (size_t k = 0; measures[i]->keys[k]; k++)
                for (size_t l = 0; measures[before]->keys[l]; l++)
                    assert_string_not_equal(measures[i]->keys[k], measures[before]->keys[l]);
        }
    }
}

TEST(all_have_figures)
{
    OWNED(json_t) *report = NULL;

    assert_int_equal(evaluate(labelled.path, "f", "against=g", &report), NY_OK);
    for (size_t i = 0; i < MEASURES; i++)
        if (!check_keys(measures[i], report))
            fail_msg("%s has no figure of a fit of a kernel", measures[i]->name);
}

TEST(threads_change_nothing)
{
    unsigned threads = ny_context_threads(ctx);
    json_t *report[2];

    for (unsigned i = 0; i < 2; i++) {
        ny_context_set_threads(ctx, 1 + 2 * i);
        assert_int_equal(evaluate(labelled.path, "f", "against=g", &report[i]), NY_OK);
    }
    ny_context_set_threads(ctx, threads);
    for (size_t i = 0; i < MEASURES; i++)
        for (const char *const *key = measures[i]->keys; *key; key++)
            if (!json_equal(json_object_get(report[0], *key), json_object_get(report[1], *key)))
                fail_msg("%s depends on threads", *key);
    json_decref(report[0]);
    json_decref(report[1]);
}

static const char *against(const struct ny_measure *measure)
{
    return ny_one_of("against", measure->options) ? "against=g" : "";
}

/* Alone: its own keys, and of the others the reason that they were not asked for. */
TEST(one_alone_is_itself)
{
    for (size_t i = 0; i < MEASURES; i++) {
        char *words = lend_text("measures=%s %s", measures[i]->name, against(measures[i]));
        OWNED(json_t) *report = NULL;

        assert_int_equal(evaluate(labelled.path, "f", words, &report), NY_OK);
        for (size_t k = 0; k < MEASURES; k++)
            assert_true((check_keys(measures[k], report) > 0) == (k == i));
    }
}

/* `measure` with an option of another, or of its own. */
static void check_option(const struct ny_measure *measure, const char *option)
{
    bool acts = ny_one_of(option, measure->options);
    char *words = lend_text("measures=%s %s=%s %s", measure->name, option,
                            strcmp(option, "against") == 0 ? "g" : "40", against(measure));
    OWNED(json_t) *report = NULL;
    int err = evaluate(labelled.path, "f", words, &report);

    if (err != (acts ? NY_OK : NY_EUSAGE))
        fail_msg("%s with --%s: %d, %s", measure->name, option, err, ny_context_message(ctx));
}

/* An option acts with a measure that goes by it, and is refused with all others. */
TEST(options_are_those_of_the_entry)
{
    for (size_t i = 0; i < MEASURES; i++)
        for (const char *at = measures[i]->options; *at; at += strspn(at, "|")) {
            size_t length = strcspn(at, "|");
            char *option = lend_text("%.*s", (int)length, at);

            at += length;
            for (size_t k = 0; k < MEASURES; k++)
                check_option(measures[k], option);
        }
}

/* Asked for by name it is there, or refused with a reason. */
static void check_by_name(const char *store, const char *name)
{
    json_t *report;

    assert_int_equal(evaluate(store, name, "", &report), NY_OK);
    for (size_t i = 0; i < MEASURES; i++)
        check_keys(measures[i], report);
    json_decref(report);
    for (size_t i = 0; i < MEASURES; i++) {
        int err = evaluate(store, name, lend_text("measures=%s", measures[i]->name), &report);

        if (!err)
            assert_true(check_keys(measures[i], report) > 0);
        else if (err != NY_EUSAGE || !strstr(ny_context_message(ctx), "cannot be measured"))
            fail_msg("%s: %d, %s", measures[i]->name, err, ny_context_message(ctx));
        json_decref(report);
    }
}

/* A graph's result has no kernel, and not all rows; a few rows are too few for some; and where
 * there are no labels nothing can be compared with them. */
TEST(what_cannot_act_says_why)
{
    struct judged few = {.report = NULL};

    fit(&labelled, "graph", "map=isomap neighbors=8");
    check_by_name(labelled.path, "graph");
    case_directory(few.directory);
    snprintf(few.path, sizeof(few.path), "%s/store", few.directory);
    assert_int_equal(ny_append_rows(ctx, few.path, labelled.x, 5, D, NULL), NY_OK);
    fit(&few, "few", "gamma=0.8 landmarks=4");
    check_by_name(few.path, "few");
    forget(&few);
}

/* A range of numbers of clusters has the memory that each of them needs. */
TEST(a_range_of_clusters_has_room_for_each)
{
    struct ny_evaluate_settings settings = {
        .inits = 1, .sample = 60000, .clusters = 100, .clusters_to = 2000};
    struct ny_evaluation run = {.ctx = ctx, .settings = &settings, .n = 100000, .workers = 1};
    struct ny_layout all = {0};

    run.result.coordinates.pairs = 300;
    ny_measure_clusters.count(&all, &run);
    settings.clusters_to = 0;
    for (; settings.clusters <= 2000; settings.clusters += 5) {
        struct ny_layout one = {0};

        ny_measure_clusters.count(&one, &run);
        if (ny_layout_most(&one) > ny_layout_most(&all)) fail_msg("%zu: more", settings.clusters);
    }
}

AROUND_ALL(make_results, remove_results)
