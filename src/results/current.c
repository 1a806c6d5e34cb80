/*
 * Readers take no locks, and read a result in many views of the store (store/view.c). So a result
 * is looked at again after each piece, if there was a commit: what was read is of the result that
 * was opened, or is refused.
 */
#include "results/current.h"

#include <string.h>

/* Tells whether a failure may come of reading what somebody replaces. */
static bool may_be_torn(int err)
{
    return err == NY_ESTORE || err == NY_EINTERNAL;
}

int ny_points_current(struct ny_store *store, struct ny_points_state *state, int err)
{
    struct ny_context *ctx = ny_store_context(store);
    bool same;

    if (err && !may_be_torn(err)) return err;
    if (ny_points_same(store, state, &same)) return err ? err : ny_context_error(ctx)->status;
    if (same) return err;
    ny_error_clear(ctx);
    return ny_fail_changed(ctx, ny_store_path(store));
}

int ny_record_untouched(struct ny_store *store, const char *name, const json_t *record, int err)
{
    struct ny_context *ctx = ny_store_context(store);
    json_t *now;
    bool same;

    if (err && !may_be_torn(err)) return err;
    if (ny_record_load(store, name, &now)) return err ? err : ny_context_error(ctx)->status;
    same = json_equal(now, record);
    json_decref(now);
    if (same) return err;
    ny_error_clear(ctx);
    return ny_fail_changed(ctx, name);
}

int ny_result_current(struct ny_result *result, const struct ny_result_part *part, int err)
{
    bool clusters = part && strcmp(part->name, "clusters") == 0;
    uint64_t *commits = clusters ? &result->clusters_commits : &result->commits;

    if (!result->record) return ny_points_current(result->store, &result->points, err);
    if (!ny_results_moved(result->store, commits)) return err;
    err = ny_keep_current(&result->keep, ny_record_of(result->record), err);
    return clusters ? ny_record_untouched(result->store, result->name, result->record, err) : err;
}
