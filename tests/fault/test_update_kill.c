/*
 * Updates killed with SIGKILL, at random moments and at random writes, over every stage: readers see
 * the old result, whole, until the same call has made the new one, with the bytes of an unbroken
 * run.
 */
#include "fault/job_kill.h"

#include "results/record.h"

enum { MORE = 9000 };

static uint64_t rows_of_result(const char *path)
{
    OWNED(ny_context) *ctx = NULL;
    uint64_t rows, p;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (ny_embedding_shape(ctx, path, "fit", &rows, &p)) fail_msg("%s", ny_context_message(ctx));
    return rows;
}

/* The stage of the update under way, for the count of kills. */
static void count_update_kill(const char *path)
{
    OWNED(ny_store) *opened = NULL;
    OWNED(ny_context) *ctx = NULL;
    OWNED(json_t) *record = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_store_open(&opened, ctx, path), NY_OK);
    assert_int_equal(ny_record_load_update(opened, "fit", &record), NY_OK);
    print_message("update killed in stage %s\n", record ? ny_field_text(record, "stage") : "-");
}

/* Killed updates leave the result as it was, until they leave that of an unbroken update. */
static void kill_updates(const struct run *first, const char *mode)
{
    char options[40];
    const struct run update = {mode, options, .call = call_fit, .stage = mode};
    char old[200], whole[200], broken[200];
    double seconds;
    int kills = 0;

    snprintf(options, sizeof(options), "update=%s", mode);
    snprintf(old, sizeof(old), "%s/old.nys", directory);
    snprintf(whole, sizeof(whole), "%s/whole.nys", directory);
    snprintf(broken, sizeof(broken), "%s/broken.nys", directory);
    run_whole(first, store, "fit");
    append_points(ROWS, MORE);
    case_copy(store, old);
    case_copy(store, whole);
    seconds = run_whole(&update, whole, "fit");
    assert_int_equal(rows_of_result(whole), ROWS + MORE);
    for (int attempt = 0; kills < kills_wanted; attempt++) {
        int tries = 0;

        assert_true(attempt < 4 * kills_wanted);
        case_copy(store, broken);
        while (kill_once(&update, broken, "fit", seconds, tries++)) {
            kills++;
            assert_true(tries < TRIES_MAX);
            count_update_kill(broken);
            if (rows_of_result(broken) == ROWS) same_results_in(old, "fit", broken, "fit");
        }
        same_results_in(whole, "fit", broken, "fit");
        check_sound(broken);
        case_remove(broken);
    }
    case_remove(old);
    case_remove(whole);
    print_message("%s, --update %s: %d kills\n", first->name, mode, kills);
}

TEST(updates_go_on_as_if_unbroken)
{
    const struct {
        struct run first;
        const char *mode;
    } updates[] = {
        {{"greedy", "select=greedy tolerance=0.05 landmarks=150 gamma=1e-3", .call = call_fit},
         "full"},
        {{"uniform", "select=uniform landmarks=150", .call = call_fit}, "full"}, /* new columns */
        {{"rpcholesky", "landmarks=120", .call = call_fit}, "frozen"},
    };

    for (size_t i = 0; i < 3; i++) {
        kill_updates(&updates[i].first, updates[i].mode);
        new_store_of(ROWS);
    }
}

AROUND_ALL(start, stop)
AROUND_EACH(new_store, remove_store)
