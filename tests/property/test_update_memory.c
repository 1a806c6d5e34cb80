/* Updates within the least budget that their plan allows: no stage charges more than was planned. */
#include "property/update_case.h"

static json_t *plan; /* of the last update */

static void keep_plan(void *user, const struct ny_report *report)
{
    (void)user;
    json_decref(plan);
    plan = json_loads(ny_report_json(report), 0, NULL);
}

static void check_stages(const struct update_case *test, const struct ny_report *report,
                         const char *mode)
{
    OWNED(json_t) *done = json_loads(ny_report_json(report), 0, NULL);
    const json_t *planned = json_object_get(plan, "stage_memory_bytes"), *value;
    const char *stage;

    json_object_foreach(json_object_get(done, "stage_memory_bytes"), stage, value)
    {
        double most = json_number_value(value);
        double bill = json_number_value(json_object_get(planned, stage));

        /* a frozen update measures instead of solving, with the memory that the budget leaves */
        if (strcmp(stage, "solve") == 0 && strcmp(mode, "frozen") == 0) continue;
        if (most > bill)
            fail_msg("%s, %s, %s: %.0f bytes planned, %.0f charged", test->name, mode, stage, bill,
                     most);
    }
}

static void check_budget(const struct update_case *test, const char *mode)
{
    const char *store = path_of("fresh.nys"), *grown = path_of("grown.nys");
    struct ny_report *report;
    uint64_t least;

    add_rows(test, store, 0, FIRST);
    ny_report_free(fit_well(test, store, NULL));
    add_rows(test, store, FIRST, SECOND);
    case_copy(store, grown);
    ny_context_set_memory(ctx, (uint64_t)1 << 30);
    report = fit_well(test, grown, mode);
    check_stages(test, report, mode);
    ny_report_free(report);
    case_remove(grown);
    least = (uint64_t)json_number_value(json_object_get(plan, "memory_min_bytes"));
    case_copy(store, grown);
    ny_context_set_memory(ctx, least - 1);
    assert_int_equal(fit(test, grown, mode, &report), NY_EBUDGET);
    ny_context_set_memory(ctx, least);
    report = fit_well(test, grown, mode);
    check_stages(test, report, mode);
    assert_true(number_of(report, "n") == SECOND);
    ny_report_free(report);
    ny_context_set_memory(ctx, 0);
    case_remove(grown);
    case_remove(store);
}

TEST(updates_keep_their_budget)
{
    /* The tolerance takes all landmarks that greedy may have: else their number, and the budget, is
     * an estimate. */
    static const struct update_case cases[] = {
        {"uniform", "select=uniform landmarks=700", 0, 0, false, true},
        {"uniform, f64", "select=uniform landmarks=300 precision=f64", 0, 0, false, true},
        {"uniform, wide", "select=uniform landmarks=100 gamma=1e-4", 0, 0, false, true},
        {"greedy", "select=greedy tolerance=0.01 landmarks=400", 0, 0.5, false, true},
        {"laplacian", "map=laplacian landmarks=150", 0, 0, false, true},
        {"nystrom", "approx=nystrom landmarks=500", 0, 0, false, true},
        {"probe", "approx=column landmarks=200 probe=100", 0, 0, false, true},
        {"sparse", "landmarks=100 select=uniform", 0, 0, true, true},
    };

    ny_context_set_plan(ctx, keep_plan, NULL);
    ny_context_set_threads(ctx, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_budget(&cases[i], "full");
        check_budget(&cases[i], "frozen");
    }
    json_decref(plan);
}

AROUND_EACH(new_folder, remove_folder)
