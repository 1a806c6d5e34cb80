/* The courses of updates, and which course makes a result. */
#include "update/courses.h"

#include "base/clock.h"
#include "base/peers.h"
#include "factored/factored.h"
#include "fit/courses.h"
#include "fit/plan.h"
#include "fit/shards.h"
#include "maps/graph_map.h"
#include "update/update.h"
#include "whole/products.h"

/* ---- updates -------------------------------------------------------------------------------- */

/* Skips pass 1 of a frozen update where the result has no sums that new rows could be added to. */
static bool frozen_skips(const struct ny_job *job, enum ny_stage_id stage)
{
    return stage == NY_STAGE_ACCUMULATE && !ny_earlier_has_sums((const struct ny_fit *)job);
}

static const struct ny_stage *const frozen_stages[] = {&ny_stage_add_frozen, &ny_stage_drift,
                                                       &ny_stage_project, NULL};
static const struct ny_stage *const full_stages[] = {&ny_stage_select,
                                                     &ny_stage_degrees,
                                                     &ny_stage_add_full,
                                                     &ny_stage_solve,
                                                     &ny_stage_project,
                                                     &ny_stage_probe,
                                                     NULL};
static const struct ny_stage *const full_scatter_stages[] = {&ny_stage_select,
                                                             &ny_stage_degrees,
                                                             &ny_stage_add_full,
                                                             &ny_stage_solve_scatter,
                                                             &ny_stage_project,
                                                             &ny_stage_probe,
                                                             NULL};
static const struct ny_course frozen = {.stages = frozen_stages, .skips = frozen_skips};
static const struct ny_course full = {.stages = full_stages, .skips = ny_fit_skips};
static const struct ny_course full_scatter = {.stages = full_scatter_stages, .skips = ny_fit_skips};

int ny_update_allowed(struct ny_context *ctx, const struct ny_fit_settings *settings,
                      enum ny_update_mode mode, const char *name, struct ny_record result)
{
    if (ny_settings_features(settings) && !ny_is(ny_state_of(result).facts.way, "krylov"))
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' was computed from all of K when there were fewer rows, and would now "
                       "be computed by products; fit it again with --restart",
                       name);
    if (settings->columns)
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' has a precomputed kernel, whose columns do not grow with the store; "
                       "fit it again with --restart and the new columns",
                       name);
    if (settings->map->graph)
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' is a map of a graph, in which new rows may change every path; fit it "
                       "again with --restart",
                       name);
    if (mode == NY_UPDATE_FROZEN && settings->method->whole)
        return ny_fail(
            ctx, NY_EUSAGE,
            "'%s' was made with --approx %s, which has no landmarks to place new rows by; give "
            "--update full, or place them from a file with 'nystream transform'",
            name, settings->method->name);
    return NY_OK;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Chooses the course by the mode of the update, then by the method; NONE is a new fit. */
static const struct ny_course *course_of(const struct ny_fit_settings *settings,
                                         enum ny_update_mode mode)
{
    const struct ny_method *method = settings->method;

    if (mode == NY_UPDATE_FROZEN) return &frozen;
    if (method->whole) return &ny_course_whole;
    if (method->krylov) return &ny_course_krylov;
    if (settings->online) return &ny_course_online;
    if (ny_settings_features(settings)) return &ny_course_factored;
    if (ny_settings_unit_landmarks(settings))
        return mode == NY_UPDATE_FULL ? &full_scatter : &ny_course_scatter;
    return mode == NY_UPDATE_FULL ? &full : &ny_course_landmarks;
}

int ny_fit_plan(struct ny_rows *X, const struct ny_fit_settings *settings, size_t m,
                struct ny_plan *plan)
{
    return settings->map->graph
               ? ny_graph_fit_plan(X, settings, plan)
               : ny_plan_make(X, settings, course_of(settings, NY_UPDATE_NONE), m, plan);
}

int ny_select_plan(struct ny_rows *X, const struct ny_fit_settings *settings, size_t m,
                   struct ny_plan *plan)
{
    int err = ny_plan_make(X, settings, &ny_course_dictionary, m, plan);

    plan->selects = true;
    return err;
}

/* Tells whether stage accumulate is over, where the sums are all that is wanted: in all shards. */
static int find_summed(const struct ny_fit *fit, bool *summed)
{
    enum ny_stage_id stage = ny_stage_parse(ny_state_of(fit->job.record).record.stage);
    uint64_t over =
        fit->settings->until_sums &&
        (stage == NY_STAGE_DONE || ny_stage_rank(stage) >= ny_stage_rank(NY_STAGE_SOLVE));
    int err = ny_peers_least(ny_context_peers(fit->job.ctx), &over);

    *summed = over;
    return err;
}

int ny_fit_start(struct ny_rows *X, const struct ny_keep *keep,
                 const struct ny_fit_settings *settings, struct ny_record record,
                 const struct ny_plan *plan,
                 int (*end_update)(struct ny_job *job, struct ny_batch *batch))
{
    struct ny_fit fit = {.job = {.ctx = X->ctx,
                                 .X = X,
                                 .keep = *keep,
                                 .record = record,
                                 .after = settings->until_sums ? NY_STAGE_SOLVE : NY_STAGE_DONE,
                                 .workers = plan->workers,
                                 .marked_s = ny_now()},
                         .settings = settings,
                         .plan = plan,
                         .mode = ny_update_mode_of(record),
                         .params = settings->params};

    bool summed;
    int err;

    if (settings->map->graph) return ny_graph_fit_run(&fit);
    fit.planned = plan->selects ? &ny_course_dictionary : course_of(settings, NY_UPDATE_NONE);
    fit.job.course = plan->selects ? &ny_course_dictionary : course_of(settings, fit.mode);
    if (ny_context_peers(fit.job.ctx)) {
        fit.job.at_end = ny_shards_at_end; /* an update waits until all shards are there */
    } else if (fit.mode) {
        fit.job.at_end = end_update;
    }
    err = find_summed(&fit, &summed);
    return err || summed ? err : ny_fit_run(&fit);
}
