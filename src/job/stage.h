/*
 * The stages of all jobs, by the names that records, reports and plans have of them.
 */
#ifndef NY_JOB_STAGE_H
#define NY_JOB_STAGE_H

#include "base/context.h"

enum ny_stage {
    NY_STAGE_STATS,
    NY_STAGE_SELECT,
    NY_STAGE_DEGREES,
    NY_STAGE_ACCUMULATE,
    NY_STAGE_SOLVE,
    NY_STAGE_PROJECT,
    NY_STAGE_PROBE,
    NY_STAGE_NEIGHBORS, /* of a graph (neighbors/job.h) */
    NY_STAGE_GRAPH,
    NY_STAGE_DONE
};

const char *ny_stage_name(enum ny_stage stage);
/* Finds a stage by its name; NY_STAGE_DONE for any other word. */
enum ny_stage ny_stage_parse(const char *name);

/* Begins the course of a job (base/progress.h) by the seconds that its plan has for each stage;
 * ny_course_end() when it is over. */
void ny_stages_begin(struct ny_context *ctx, const double stage_s[NY_STAGE_DONE]);
/* Tells the course that a stage begins. */
void ny_stages_enter(struct ny_context *ctx, enum ny_stage stage);

#endif
