/* The course of fits by features, which select nothing. */
#include "factored/factored.h"
#include "fit/courses.h"
#include "fit/plan.h"

static bool skips(const struct ny_job *job, enum ny_stage_id stage)
{
    const struct ny_fit_settings *settings = ((const struct ny_fit *)job)->settings;

    const struct ny_rows_info one = {.n = 1, .d = 1, .here = {0, 1}, .row_slots = 1};

    if (stage == NY_STAGE_DEGREES) return !ny_factored_of(settings, &one).sums;
    return ny_fit_skips(job, stage);
}

static const struct ny_stage *const stages[] = {
    &ny_stage_stats,         &ny_stage_select,  &ny_stage_feature_sums, &ny_stage_feature_products,
    &ny_stage_feature_solve, &ny_stage_project, &ny_stage_probe,        NULL};

const struct ny_course ny_course_factored = {.stages = stages,
                                             .skips = skips,
                                             .order = ny_fit_order_of_columns,
                                             .bytes = ny_fit_course_bytes};
