/* The stages and courses of fits with landmarks. */
#ifndef NY_FIT_COURSES_H
#define NY_FIT_COURSES_H

#include "fit/fit.h"

extern const struct ny_stage ny_stage_stats, ny_stage_select, ny_stage_select_online,
    ny_stage_degrees, ny_stage_accumulate, ny_stage_multiply, ny_stage_solve,
    ny_stage_solve_scatter, ny_stage_finish, ny_stage_project, ny_stage_probe;

/* The courses of fits with landmarks; with the columns of the points in their place; of online
 * fits, where one pass selects and sums up; with the randomized inner solver; of a dictionary
 * alone. */
extern const struct ny_course ny_course_landmarks, ny_course_scatter, ny_course_online,
    ny_course_krylov, ny_course_dictionary;

/* Returns d, the order of courses whose landmarks are the columns of the points. */
size_t ny_fit_order_of_columns(const struct ny_fit_settings *settings, uint64_t n);
/* Tells whether the settings do without a stage: a selection, degrees or the probe. */
bool ny_fit_skips(const struct ny_job *job, enum ny_stage_id stage);

#endif
