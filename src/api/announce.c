/*
 * Tells a plan to the caller, and refuses one that cannot work. Fit, graph and update call this
 * once their settings are known and before anything stored is changed, so that a budget or a disk
 * that is too small leaves the old result as it is.
 */
#include "api/announce.h"

#include <stdio.h>

#include "api/report.h"
#include "api/settings.h"
#include "base/budget.h"
#include "base/decimal.h"
#include "update/courses.h"
#include "records/plan.h"
#include "records/fields.h"

/* Refuses here only a plan that cannot fit, whatever else is given up for it. */
int ny_plan_check_disk(struct ny_store *store, const char *replaced, const struct ny_plan *plan)
{
    uint64_t room = ny_results_room(store, replaced);

    if (plan->result_bytes <= room && plan->scratch_bytes <= room - plan->result_bytes)
        return NY_OK;
    return ny_fail_full(ny_store_context(store), ny_store_path(store),
                        plan->result_bytes + plan->scratch_bytes, room);
}

/* Returns the planned seconds of the stages that are left of a job, by its record (NULL: all). A
 * process may have several shards. */
static double seconds_left(const struct ny_context *ctx, const struct ny_plan *plan,
                           const json_t *record)
{
    enum ny_stage_id at = record ? ny_stage_parse(ny_field_text(record, "stage")) : NY_STAGE_DONE;
    unsigned shards = ny_context_parts(ctx), threads = ny_context_threads(ny_context_whole(ctx));
    double left = 0;

    for (enum ny_stage_id stage = 0; stage < NY_STAGE_DONE; stage++)
        if (at == NY_STAGE_DONE || ny_stage_rank(stage) >= ny_stage_rank(at))
            left += plan->stage_s[stage] *
                    ny_plan_shards_factor(stage, (double)plan->m, shards, threads);
    return left;
}

/* A time in words, such as "45 s", "12 min", "3.5 h". */
struct time_text {
    char text[32];
};

static struct time_text time_text(double seconds)
{
    struct time_text out;

    if (seconds < 10)
        ny_decimal_print(out.text, sizeof(out.text), "%.2g s", seconds);
    else if (seconds < 120)
        snprintf(out.text, sizeof(out.text), "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(out.text, sizeof(out.text), "%.0f min", seconds / 60);
    else
        ny_decimal_print(out.text, sizeof(out.text), "%.1f h", seconds / 3600);
    return out;
}

int ny_plan_check_time(const struct ny_options *options, const struct ny_plan *plan,
                       const json_t *record, const char *what)
{
    double limit, left = seconds_left(options->ctx, plan, record);

    if (!ny_options_seconds(options, "time-limit", &limit) || left <= limit) return NY_OK;
    return ny_fail(options->ctx, NY_EBUDGET, "%s would take about %s, longer than --time-limit %s",
                   what, time_text(left).text, ny_options_get(options, "time-limit"));
}

void ny_plan_lend(struct ny_context *ctx)
{
    size_t limit = ny_memory_limit(ctx);

    if (limit >= NY_LOAN_BYTES_MIN && limit < NY_PROCESS_BYTES)
        ny_memory_lend(ctx, NY_PROCESS_BYTES);
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

int ny_plan_refuse(struct ny_context *ctx, const char *what, const struct ny_plan *plan,
                   const char *instead)
{
    char landmarks[64];

    snprintf(landmarks, sizeof(landmarks), " with %zu%s landmarks", plan->m,
             plan->m_estimated ? " (estimated)" : "");
    return ny_budget_refuse(ctx, what, plan->memory_min_bytes, landmarks, instead);
}

/* Refuses the plan of a fit that does not fit; says what else takes less by its settings. */
static int refuse_fit(struct ny_context *ctx, const struct ny_plan *plan,
                      const struct ny_fit_settings *settings)
{
    bool scatter = settings->kernel && ny_settings_unit_landmarks(settings);
    bool features = settings->kernel && ny_settings_features(settings);
    const char *instead = ", or choose landmarks (--approx projected --select rpcholesky)";

    if (plan->whole || scatter || features) /* which have no landmarks */
        return ny_budget_refuse(ctx, "fit", plan->memory_min_bytes, "",
                                scatter ? "" : ", or fewer components");
    if (settings->map->graph) instead = ", or choose landmarks (--approx nystrom)";
    if (!settings->rule->all) instead = ", or fewer landmarks";
    return ny_plan_refuse(ctx, "fit", plan, instead);
}

int ny_plan_announce(struct ny_store *store, const char *replaced, const struct ny_plan *plan,
                     const struct ny_fit_settings *settings)
{
    struct ny_context *ctx = ny_store_context(store);
    int err = ny_plan_tell(ctx, plan);

    if (err) return err;
    if (plan->fits) return ny_plan_check_disk(store, replaced, plan);
    return refuse_fit(ctx, plan, settings);
}

void ny_plan_exact(struct ny_store *store, const struct ny_options *options, const char *but,
                   struct ny_plan *plan)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_owned_settings settings = {0};
    struct ny_options *exact = NULL;
    int err = ny_options_copy(&exact, options, but);

    ny_context_set_silent(ctx, true);
    if (!err) err = ny_options_set(exact, "approx", "exact");
    if (!err) err = ny_settings_new(&settings, store, exact, NY_GROUP_FIT, NULL);
    if (!err) err = ny_fit_plan(ny_store_rows(store), &settings.fit, 0, plan);
    ny_context_set_silent(ctx, false);
    if (err) {
        ny_error_clear(ctx);
        *plan = (struct ny_plan){.fits = false};
    }
    ny_settings_release(&settings, ctx);
    ny_options_free(exact);
}
