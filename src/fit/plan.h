/*
 * The plan of a fit: passes, flops, memory by purpose, disk and seconds, before anything runs. The
 * same function decides how many workers a pass may have.
 */
#ifndef NY_FIT_PLAN_H
#define NY_FIT_PLAN_H

#include "base/memory.h"
#include "fit/fit.h"
#include "fit/sizes.h"
#include "job/plan.h"

/* Fills in what the stages of a fit hold, each with as many workers as fit then. */
void ny_fit_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes);
/* Returns the most workers with which the pass of a stage, which holds these bytes, fits the
 * budget, and so do the stages behind it; 0: not even one does. */
unsigned ny_fit_pass_workers(const struct ny_sizes *sizes, enum ny_stage_id stage,
                             ny_stage_count_fn *count);
/* Tells whether W has room besides a pass with so many workers. */
bool ny_fit_keeps_square(const struct ny_sizes *sizes, ny_stage_count_fn *count, unsigned workers);

/* Plans a fit by its course. m: landmarks already selected; 0: not yet. Without a method, where the
 * landmarks alone are wanted, memory is all that is planned. */
int ny_plan_make(struct ny_rows *X, const struct ny_fit_settings *settings,
                 const struct ny_course *course, size_t m, struct ny_plan *plan);
/* A solver by products: the pairs that it finds and those that a restart keeps, the columns of its
 * first block, the rows of its basis and its tolerance. */
struct ny_look_solver {
    size_t pairs, keep, start, order;
    double tolerance;
};
/* Returns the products that it is likely to need for n points whose sample was looked at; 0: none
 * was. */
double ny_look_products(const struct ny_look *look, double n, const struct ny_look_solver *solver);

#endif
