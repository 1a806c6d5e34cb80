/* One block of points, labels or source row numbers: its sizes, its value as a view sees it, and
 * the error where that is damaged. */
#include <stdio.h>
#include <string.h>

#include "store/store_private.h"

size_t ny_element_bytes(enum ny_kind kind, enum ny_dtype dtype)
{
    return kind == NY_KIND_POINTS ? ny_dtype_size(dtype) : sizeof(uint64_t);
}

uint64_t ny_elements(enum ny_kind kind, uint64_t d)
{
    return kind == NY_KIND_POINTS ? d : 1;
}

size_t ny_block_row_bytes(const struct ny_manifest *m, enum ny_kind kind)
{
    return (size_t)ny_elements(kind, m->d) * ny_element_bytes(kind, (enum ny_dtype)m->dtype);
}

int ny_block_read(struct ny_snapshot *view, const struct ny_manifest *m, enum ny_kind kind,
                  uint64_t block, void *rows, const char **wrong)
{
    uint64_t count = ny_rows_in_block(m, block);
    size_t bytes = (size_t)count * ny_block_row_bytes(m, kind);
    struct ny_want want = {.key = ny_points_key(kind, block),
                           .frame = {.store = view->store->id,
                                     .number = block,
                                     .rows = (uint32_t)count,
                                     .raw_bytes = (uint32_t)bytes,
                                     .kind = kind},
                           .exact = true,
                           .capacity = bytes};

    *wrong = NULL;
    return ny_snapshot_read(view, &want, rows, wrong) ? NY_ESTORE : NY_OK;
}

static const char *kind_name(enum ny_kind kind)
{
    if (kind == NY_KIND_LABELS) return "labels of block";
    if (kind == NY_KIND_NAMES) return "names of block";
    return kind == NY_KIND_SOURCE ? "source row numbers of block" : "block";
}

int ny_block_damaged(struct ny_store *store, const struct ny_manifest *m, enum ny_kind kind,
                     uint64_t block, const char *wrong)
{
    uint64_t first = block * m->block_rows, rows = ny_rows_in_block(m, block);
    const char *cure = ", 'nystream repair' sets it aside";
    char again[400];
    struct ny_lost lost = {0};

    if (store->peers && kind == NY_KIND_POINTS) {
        snprintf(again, sizeof(again),
                 "; a fit of all shards needs these rows: remove the folder %.200s and import this "
                 "shard again",
                 store->path);
        cure = again;
    }
    if (m->flags & NY_FLAG_LOST && kind == NY_KIND_POINTS && !ny_points_lost(store, &lost) &&
        ny_lost_covers(&lost, first, first + rows)) {
        wrong = "its rows are lost, 'nystream repair' has set them aside";
        cure = "";
    } else if (!wrong) {
        wrong = "rows of it are lost, 'nystream repair' has set them aside";
        cure = "";
    }
    ny_lost_release(&lost, store->ctx);
    return ny_fail_at(store->ctx, NY_ESTORE, store->points->path, first,
                      "%s %llu of %s (rows %llu to %llu) is damaged: %s; 'nystream verify' lists "
                      "all damage%s",
                      kind_name(kind), (unsigned long long)block, store->path,
                      (unsigned long long)first, (unsigned long long)(first + rows - 1), wrong,
                      cure);
}
