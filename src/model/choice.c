#include "model/choice.h"

#include "base/memory.h"

static const char part[] = "features";

int ny_stored_choice_put(const struct ny_keep *keep, const unsigned char *chosen, size_t d,
                         struct ny_state *state)
{
    struct ny_context *ctx = keep->ctx;
    size_t count = 0, at = 0;
    uint64_t *columns;
    int err;

    for (size_t k = 0; k < d; k++)
        count += chosen[k];
    columns = ny_calloc(ctx, NY_MEM_OTHER, count, sizeof(*columns));
    if (!columns) return NY_EBUDGET;
    for (size_t k = 0; k < d; k++)
        if (chosen[k]) columns[at++] = k;
    err = ny_keep_put(keep, part, columns, count * sizeof(*columns));
    ny_free(ctx, columns);
    state->record.features = state->report.features_kept = count;
    return err;
}

size_t ny_stored_choice_count(struct ny_record record)
{
    return (size_t)ny_state_of(record).record.features;
}

/* Tells whether they ascend and are below d. */
static bool plausible(const uint64_t *columns, size_t count, uint64_t d)
{
    for (size_t i = 0; i < count; i++)
        if (columns[i] >= d || (i && columns[i] <= columns[i - 1])) return false;
    return true;
}

int ny_stored_choice(const struct ny_keep *keep, struct ny_record record, uint64_t d,
                     uint64_t **columns)
{
    struct ny_context *ctx = keep->ctx;
    size_t count = ny_stored_choice_count(record);
    bool good = count <= d;
    int err = NY_OK;

    *columns = NULL;
    if (good) {
        *columns = ny_calloc(ctx, NY_MEM_OTHER, count, sizeof(**columns));
        if (!*columns) return NY_EBUDGET;
        err = keep->ops->get(keep, part, *columns, count * sizeof(**columns));
        good = !err && plausible(*columns, count, d);
    }
    if (err || good) return err;
    return ny_fail_damaged(ctx, keep->name, keep->place);
}
