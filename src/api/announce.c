/*
 * Tells a plan to the caller, and refuses one that cannot work. Fit, graph and update call this
 * once their settings are known and before anything stored is changed, so that a budget or a disk
 * that is too small leaves the old result as it is.
 */
#include "api/announce.h"

#include <stdio.h>

#include "api/report.h"
#include "base/budget.h"

/* Refuses here only a plan that cannot fit, whatever else is given up for it. */
int ny_plan_check_disk(struct ny_store *store, const char *replaced, const struct ny_plan *plan)
{
    uint64_t room = ny_results_room(store, replaced);

    if (plan->result_bytes <= room) return NY_OK;
    return ny_fail(ny_store_context(store), NY_EIO,
                   "the result takes %.1f MiB, and the disk of the store has room for %.1f MiB: "
                   "make space, or ask for fewer components, landmarks or neighbours",
                   (double)plan->result_bytes / 1048576.0, (double)room / 1048576.0);
}

/* Names a choice that takes less memory with the same data. */
static const char *instead_of(const struct ny_fit_settings *settings)
{
    if (!settings->rule->all) return ", or fewer landmarks";
    return settings->map->graph ? ", or choose landmarks (--approx nystrom)"
                                : ", or choose landmarks (--approx projected --select rpcholesky)";
}

int ny_plan_tell(struct ny_context *ctx, const struct ny_plan *plan)
{
    struct ny_report *told;
    int err = ny_report_of_json(&told, ctx, ny_plan_json(plan));

    if (err) return err;
    ny_announce_plan(ctx, told);
    ny_report_free(told);
    return NY_OK;
}

int ny_plan_announce(struct ny_store *store, const char *replaced, const struct ny_plan *plan,
                     const struct ny_fit_settings *settings)
{
    struct ny_context *ctx = ny_store_context(store);
    char landmarks[64];
    int err = ny_plan_tell(ctx, plan);

    if (err) return err;
    if (plan->fits) return ny_plan_check_disk(store, replaced, plan);
    if (plan->whole)
        return ny_budget_refuse(ctx, "fit", plan->memory_min_bytes, "", ", or fewer components");
    snprintf(landmarks, sizeof(landmarks), " with %zu%s landmarks", plan->m,
             plan->m_estimated ? " (estimated)" : "");
    return ny_budget_refuse(ctx, "fit", plan->memory_min_bytes, landmarks, instead_of(settings));
}
