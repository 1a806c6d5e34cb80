/*
 * Rows whose values are gone. Repair lists them in a record of their own: their blocks are empty,
 * their numbers stay theirs, and nothing that reads a row takes another one for it (the reasons
 * are in store/repair.c).
 *
 * A handle that skips them, as the handle of every job does (ny_store_skip_lost()), numbers the
 * rows that are left: 0 … n − lost − 1. So no stage of a job knows of gaps. With rows 100 to 199
 * lost, its row 100 is row 200 of the store. The job's record keeps the list (results/record.h),
 * and exports map numbers back (`--part rows`). A result that was begun before rows were lost is
 * not resumed: its numbers are not those of a handle that skips the rows now
 * (ny_record_check_lost()).
 */
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

static int list_damaged(struct ny_store *store, const char *wrong)
{
    return ny_damaged(store->ctx, store->points->path, "the list of lost rows is", wrong);
}

bool ny_lost_plausible(const struct ny_lost *lost, uint64_t n)
{
    uint64_t end = 0;

    for (size_t i = 0; i < lost->count; i++) {
        if (lost->range[i].first < end + (i > 0) || lost->range[i].end <= lost->range[i].first)
            return false;
        end = lost->range[i].end;
    }
    return end <= n;
}

int ny_lost_read(struct ny_snapshot *view, const struct ny_manifest *m, struct ny_lost *lost)
{
    struct ny_store *store = view->store;
    struct ny_want want = {.key = ny_points_key(NY_KIND_LOST, 0),
                           .frame = {.store = store->id, .kind = NY_KIND_LOST}};
    const char *wrong;

    *lost = (struct ny_lost){0};
    if (!(m->flags & NY_FLAG_LOST)) return NY_OK;
    if (ny_snapshot_size(view, &want.key, &want.capacity))
        return list_damaged(store, "it is missing");
    if (want.capacity / sizeof(*lost->range) > m->n / m->block_rows + 1) /* whole blocks are lost */
        return list_damaged(store, "its values are impossible");
    lost->range = ny_alloc(store->ctx, NY_MEM_STORE, want.capacity);
    if (!lost->range) return NY_EBUDGET;
    if (ny_snapshot_read(view, &want, lost->range, &wrong)) {
        ny_lost_release(lost, store->ctx);
        return list_damaged(store, wrong);
    }
    lost->count = want.frame.raw_bytes / sizeof(*lost->range);
    if (want.frame.raw_bytes % sizeof(*lost->range) || !ny_lost_plausible(lost, m->n)) {
        ny_lost_release(lost, store->ctx);
        return list_damaged(store, "its values are impossible");
    }
    for (size_t i = 0; i < lost->count; i++)
        lost->rows += lost->range[i].end - lost->range[i].first;
    return NY_OK;
}

void ny_lost_release(struct ny_lost *lost, struct ny_context *ctx)
{
    ny_free(ctx, lost->range);
    *lost = (struct ny_lost){0};
}

int ny_manifest_now(struct ny_store *store, struct ny_manifest *manifest, struct ny_lost *lost)
{
    struct ny_snapshot *view;
    int err = ny_snapshot_begin(&view, store, store->points);

    if (err) return err;
    err = ny_manifest_read(view, manifest);
    if (!err && lost) err = ny_lost_read(view, manifest, lost);
    return ny_snapshot_end(view, err);
}

int ny_points_lost(struct ny_store *store, struct ny_lost *lost)
{
    struct ny_manifest m;
    int err;

    *lost = (struct ny_lost){0};
    if (store->in_memory || store->set) return NY_OK;
    err = ny_manifest_now(store, &m, lost);
    if (err) ny_lost_release(lost, store->ctx);
    return err;
}

int ny_store_skip_lost(struct ny_store *store)
{
    ny_lost_release(&store->skipped, store->ctx);
    return ny_points_lost(store, &store->skipped);
}

const struct ny_lost *ny_store_skipped(const struct ny_store *store)
{
    return &store->skipped;
}

/* The number in the store of row `row` of those that are left; *run of them lie there in a row. */
uint64_t ny_lost_place(const struct ny_lost *lost, uint64_t row, uint64_t *run)
{
    uint64_t gone = 0;

    for (size_t i = 0; i < lost->count; i++) {
        const struct ny_row_range *range = &lost->range[i];

        if (row + gone < range->first) {
            *run = range->first - row - gone;
            return row + gone;
        }
        gone += range->end - range->first;
    }
    *run = UINT64_MAX;
    return row + gone;
}

bool ny_lost_covers(const struct ny_lost *lost, uint64_t first, uint64_t end)
{
    for (size_t i = 0; i < lost->count; i++)
        if (lost->range[i].first <= first && lost->range[i].end >= end) return true;
    return false;
}

bool ny_lost_meets(const struct ny_lost *lost, uint64_t first, uint64_t end)
{
    for (size_t i = 0; i < lost->count; i++)
        if (lost->range[i].first < end && lost->range[i].end > first) return true;
    return false;
}

/* Ranges in order, none touching another. */
int ny_lost_add(struct ny_lost *lost, struct ny_context *ctx, uint64_t first, uint64_t end)
{
    struct ny_row_range *larger;
    size_t at = 0, kept = 0;
    int err = ny_resize_array(ctx, NY_MEM_STORE, &lost->range, lost->count + 1, sizeof(*larger));

    if (err) return err;
    larger = lost->range;
    while (at < lost->count && larger[at].first < first)
        at++;
    memmove(larger + at + 1, larger + at, (lost->count - at) * sizeof(*larger));
    larger[at] = (struct ny_row_range){first, end};
    lost->count++;
    for (size_t i = 1; i < lost->count; i++) {
        if (larger[i].first > larger[kept].end)
            larger[++kept] = larger[i];
        else if (larger[i].end > larger[kept].end)
            larger[kept].end = larger[i].end;
    }
    lost->count = kept + 1;
    lost->rows = 0;
    for (size_t i = 0; i < lost->count; i++)
        lost->rows += larger[i].end - larger[i].first;
    return NY_OK;
}
