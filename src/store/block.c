/* One block of points, labels or source row numbers: its sizes, its value as a view sees it, and
 * the error where that is damaged. */
#include <stdio.h>
#include <string.h>

#include "store/store_private.h"

size_t ny_block_row_bytes(const struct ny_manifest *m, enum ny_kind kind, enum ny_dtype dtype)
{
    return kind == NY_KIND_POINTS ? (size_t)m->d * ny_dtype_size(dtype) : sizeof(uint64_t);
}

int ny_block_read(struct ny_snapshot *view, const struct ny_manifest *m, enum ny_kind kind,
                  uint64_t block, void *rows, const char **wrong)
{
    uint64_t count = ny_rows_in_block(m, block);
    size_t bytes = (size_t)count * ny_block_row_bytes(m, kind, (enum ny_dtype)m->dtype);
    struct ny_want want = ny_points_want(view->store, kind, block, count, bytes);

    *wrong = NULL;
    return ny_snapshot_read(view, &want, rows, wrong) ? NY_ESTORE : NY_OK;
}

int ny_block_damaged(struct ny_store *store, const struct ny_manifest *m, enum ny_kind kind,
                     uint64_t block, const char *wrong)
{
    uint64_t first = block * m->block_rows;
    struct ny_lost lost = {0};
    char what[64];

    if (!wrong ||
        (m->flags & NY_FLAG_LOST && kind == NY_KIND_POINTS && !ny_points_lost(store, &lost) &&
         ny_lost_covers(&lost, first, first + ny_rows_in_block(m, block))))
        wrong = "rows of it are lost";
    ny_lost_release(&lost, store->ctx);
    snprintf(what, sizeof(what), "what there is of rows %llu to %llu is", (unsigned long long)first,
             (unsigned long long)(first + ny_rows_in_block(m, block) - 1));
    return ny_damaged(store->ctx, store->points->path, what, wrong);
}
