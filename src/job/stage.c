#include "job/stage.h"

#include <string.h>

#include "base/progress.h"

/* Names of stages in the order of the enum. Records keep them, so that a name never changes. */
static const char *const stage_names[] = {"stats",   "select", "degrees",   "accumulate", "solve",
                                          "project", "probe",  "neighbors", "graph",      "done"};

size_t ny_stage_rank(enum ny_stage_id stage)
{
    /* Neighbours and graph come before the selection, because a map of a graph selects its
     * landmarks on it. The enum has them last. */
    static const size_t ranks[NY_STAGE_DONE] = {
        [NY_STAGE_STATS] = 0,  [NY_STAGE_NEIGHBORS] = 1, [NY_STAGE_GRAPH] = 2,
        [NY_STAGE_SELECT] = 3, [NY_STAGE_DEGREES] = 4,   [NY_STAGE_ACCUMULATE] = 5,
        [NY_STAGE_SOLVE] = 6,  [NY_STAGE_PROJECT] = 7,   [NY_STAGE_PROBE] = 8};

    return ranks[stage];
}

void ny_stages_begin(struct ny_context *ctx, const double stage_s[NY_STAGE_DONE])
{
    double planned_s[NY_STAGE_DONE];

    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        planned_s[ny_stage_rank((enum ny_stage_id)stage)] = stage_s[stage];
    ny_progress_begin(ctx, planned_s, NY_STAGE_DONE);
}

const char *ny_stage_name(enum ny_stage_id stage)
{
    return stage_names[stage];
}

enum ny_stage_id ny_stage_parse(const char *name)
{
    for (int stage = NY_STAGE_STATS; name && stage < NY_STAGE_DONE; stage++)
        if (strcmp(name, stage_names[stage]) == 0) return (enum ny_stage_id)stage;
    return NY_STAGE_DONE;
}
