/* Finds what records say of the parts and rows of a result. */
#include "job/record.h"

#include <stdio.h>

#include "stream/source.h"

struct ny_part ny_part_of(const char *part, uint64_t generation)
{
    struct ny_part stored;

    if (generation)
        snprintf(stored.name, sizeof(stored.name), "%s@%llu", part, (unsigned long long)generation);
    else
        snprintf(stored.name, sizeof(stored.name), "%s", part);
    return stored;
}

struct ny_part ny_record_part(struct ny_record record, const char *part)
{
    return ny_part_of(part, record.ops->generation(record, part));
}

void ny_record_renew(struct ny_record record, const char *part)
{
    uint64_t generation = ny_state_of(record).record.generation;

    if (generation) record.ops->set_generation(record, part, generation);
}

/* Tells whether both are of one fit. Records of earlier versions, which have no id, are. */
static bool is_one_fit(const struct ny_state *one, const struct ny_state *other)
{
    const char *id = one->record.id, *others = other->record.id;

    return id ? ny_is(others, id) : !others;
}

bool ny_record_same(struct ny_record one, struct ny_record other)
{
    const struct ny_state a = ny_state_of(one), b = ny_state_of(other);

    return one.of && other.of && is_one_fit(&a, &b) && a.record.generation == b.record.generation &&
           one.ops->same(one, other);
}

bool ny_record_continues(struct ny_record now, struct ny_record earlier)
{
    const struct ny_state a = ny_state_of(now), b = ny_state_of(earlier);

    return now.of && earlier.of && is_one_fit(&a, &b) && a.record.generation > b.record.generation;
}

int ny_keep_current(const struct ny_keep *keep, struct ny_record record, int err)
{
    struct ny_context *ctx = keep->ctx;
    struct ny_record now;
    bool current;

    if (err && err != NY_ESTORE && err != NY_EINTERNAL) return err; /* others are not torn */
    if (keep->records->load(keep, &now)) return err ? err : ny_context_error(ctx)->status;
    current = ny_record_same(now, record) || (!err && ny_record_continues(now, record));
    ny_record_free(now);
    if (current) return err;
    ny_error_clear(ctx);
    return ny_fail(ctx, NY_EBUSY,
                   "'%s' in %s was fitted anew, updated or removed while it was read; run the same "
                   "command again",
                   keep->name, keep->place);
}

uint64_t ny_record_fitted(struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    const struct ny_state_sharded *sharded = &state.sharded;
    uint64_t n = sharded->rows ? sharded->rows : state.report.n;

    if (sharded->shards != NY_NONE && sharded->shard + 1 < sharded->shards) return n;
    /* 1.1 counted placed rows among those of all */
    return state.record.selected == NY_NONE ? n : state.record.selected;
}

uint64_t ny_record_selected(struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    uint64_t n = state.report.n + (state.sharded.first == NY_NONE ? 0 : state.sharded.first);

    /* a fit has looked at the rows of all shards */
    return state.record.selected < n ? state.record.selected : n;
}

bool ny_record_rows_done(struct ny_record record, uint64_t *rows)
{
    const struct ny_state state = ny_state_of(record);
    uint64_t n = state.report.n, done = state.at.rows;

    *rows = done < n ? done : n;
    return !state.own_graph.there && done <= ny_units_of(n) * NY_UNIT_ROWS;
}
