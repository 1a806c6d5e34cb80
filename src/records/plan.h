/* Plans and what they are made with, as new JSON objects, which reports take over. */
#ifndef NY_RECORDS_PLAN_H
#define NY_RECORDS_PLAN_H

#include <jansson.h>

#include "fit/gamma_grid.h"
#include "job/plan.h"

/* Returns the plan, which `nystream plan` reports. */
json_t *ny_plan_json(const struct ny_plan *plan);
/* Returns the rates of this machine. */
json_t *ny_calibration_json(const struct ny_calibration *calibration);
/* Returns the grid of `plan --gamma-grid`. */
json_t *ny_gamma_grid_json(const struct ny_gamma_grid *grid, const struct ny_fit_settings *settings,
                           const struct ny_rows_info *points);

#endif
