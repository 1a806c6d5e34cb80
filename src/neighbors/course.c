/* The course of a graph. */
#include "neighbors/job_private.h"

static const struct ny_stage *const stages[] = {&ny_stage_graph_stats, &ny_stage_graph_neighbors,
                                                &ny_stage_graph_components, NULL};
const struct ny_course ny_course_graph = {.stages = stages};
