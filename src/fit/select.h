/* Selects landmarks: the pass that stage select makes, and that a selection which sums up as it
 * goes (fit/online.c) makes with it. */
#ifndef NY_FIT_SELECT_H
#define NY_FIT_SELECT_H

#include "fit/fit.h"

/* Who takes part in the pass of a selection. */
struct ny_select_pass {
    const struct ny_follower *follower; /* looks at each batch of rows; NULL: nobody does */
    /* Commits the image of the selection; called with arg. */
    int (*checkpoint)(void *arg, const void *image, size_t bytes);
    void *arg;
};

/* Selects by the rule of the settings, from the last checkpoint on, and puts the landmarks and
 * their residuals into the parts that the job commits next, and into the report. */
int ny_fit_select(struct ny_fit *fit, const struct ny_select_pass *pass);

/* Counts what a selection holds. */
ny_stage_count_fn ny_select_count;
/* Adds what a selection takes to a plan. */
void ny_select_work(const struct ny_job_sizes *sizes, struct ny_plan *plan);

#endif
