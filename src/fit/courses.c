/* The courses of fits with landmarks: the stages of each kind, and which of them settings do
 * without. */
#include "fit/courses.h"

#include "fit/plan.h"

bool ny_fit_skips(const struct ny_job *job, enum ny_stage_id stage)
{
    const struct ny_fit_settings *settings = ((const struct ny_fit *)job)->settings;

    if (settings->placed) return stage != NY_STAGE_PROJECT;
    if (settings->until_sums && ny_stage_rank(stage) >= ny_stage_rank(NY_STAGE_SOLVE)) return true;
    switch (stage) {
    case NY_STAGE_SELECT:
        return !ny_settings_selects(settings);
    case NY_STAGE_DEGREES:
        return !ny_settings_needs_degrees(settings);
    case NY_STAGE_PROBE:
        return !settings->probes;
    default:
        return false;
    }
}

static const struct ny_stage *const landmarks[] = {
    &ny_stage_stats, &ny_stage_select,  &ny_stage_degrees, &ny_stage_accumulate,
    &ny_stage_solve, &ny_stage_project, &ny_stage_probe,   NULL};
static const struct ny_stage *const online[] = {&ny_stage_stats, &ny_stage_select_online,
                                                &ny_stage_solve, &ny_stage_project,
                                                &ny_stage_probe, NULL};
static const struct ny_stage *const krylov[] = {
    &ny_stage_stats,  &ny_stage_select,  &ny_stage_degrees, &ny_stage_multiply,
    &ny_stage_finish, &ny_stage_project, &ny_stage_probe,   NULL};
static const struct ny_stage *const dictionary[] = {&ny_stage_stats, &ny_stage_select, NULL};

const struct ny_course ny_course_landmarks = {
    .stages = landmarks, .skips = ny_fit_skips, .bytes = ny_fit_course_bytes};
const struct ny_course ny_course_online = {
    .stages = online, .skips = ny_fit_skips, .bytes = ny_fit_course_bytes};
const struct ny_course ny_course_krylov = {
    .stages = krylov, .skips = ny_fit_skips, .bytes = ny_fit_course_bytes};
const struct ny_course ny_course_dictionary = {.stages = dictionary};
