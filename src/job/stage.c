#include "job/stage.h"

#include <string.h>

#include "base/progress.h"

#define NAME(id, name, rank) [id] = name,
static const char *const stage_names[] = {NY_STAGES(NAME)[NY_STAGE_DONE] = "done"};

#define RANK(id, name, rank) [id] = rank,
static const size_t stage_ranks[] = {NY_STAGES(RANK)[NY_STAGE_DONE] = NY_STAGE_DONE};

size_t ny_stage_rank(enum ny_stage_id stage)
{
    return stage_ranks[stage];
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
