/* The number of rows of a store, their type and layout, and the blocks that they are in. */
#include <string.h>

#include "store/csr.h"
#include "store/store_private.h"

static int info_in_memory(const struct ny_in_memory *held, struct ny_rows_info *info)
{
    int err = held->given.X->ops->info(held->given.X, info);

    if (!err) info->names = held->given.names.text != NULL;
    return err;
}

int ny_points_info_all(struct ny_store *store, struct ny_rows_info *info)
{
    struct ny_prepared how;
    struct ny_lost lost = {0};
    struct ny_lengths lengths;
    struct ny_manifest m;
    struct ny_snapshot *view;
    const char *wrong; /* lengths that are damaged are not known */
    enum ny_dtype stored;
    bool sparse;
    int end, err;

    if (store->in_memory) return info_in_memory(store->in_memory, info);
    memset(info, 0, sizeof(*info));
    if (store->set) {
        *info = store->set->info;
        if (!store->unprepared) return NY_OK;
        info->dtype = info->stored_dtype;
        info->preparation = (struct ny_prepared){.rows = NY_ROWS_NONE};
        return NY_OK;
    }
    err = ny_snapshot_begin(&view, store, store->points);
    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (!err) err = ny_lost_read(view, &m, &lost);
    if (!err) ny_lengths_read(view, &m, &lengths, &wrong);
    ny_free(store->ctx, lost.range);
    end = ny_snapshot_end(view);
    if (err || end) return end ? end : err;
    sparse = m.n > 0 && m.layout == NY_CSR;
    stored = (enum ny_dtype)m.dtype;
    how = ny_manifest_preparation(store, &m);
    *info = (struct ny_rows_info){
        .n = m.n,
        .d = m.d,
        .dtype = ny_prepared_dtype(&how, stored),
        .stored_dtype = stored,
        .preparation = how,
        .layout = (enum ny_row_layout)m.layout,
        .block_rows = m.block_rows,
        .blocks = (m.n + m.block_rows - 1) / m.block_rows,
        .nnz = sparse ? m.nnz : m.n * m.d,
        .row_slots = sparse ? (m.row_nnz ? m.row_nnz : 1) : 0,
        .block_nnz = m.block_nnz,
        .lengths = lengths,
        .raw_bytes = sparse ? m.nnz * (sizeof(uint32_t) + ny_dtype_size(stored))
                            : m.n * m.d * ny_dtype_size(stored),
        .stored_bytes = m.full_bytes + m.tail_bytes,
        .dropped = m.dropped,
        .lost = lost.rows,
        .txn = m.txn,
        .labels = (m.flags & NY_FLAG_LABELS) != 0,
        .source = (m.flags & NY_FLAG_SOURCE) != 0,
        .names = (m.flags & NY_FLAG_NAMES) != 0,
        .column_names = (m.flags & NY_FLAG_COLUMNS) != 0,
        .indices = m.flags & NY_FLAG_FROM_0   ? NY_INDICES_FROM_0
                   : m.flags & NY_FLAG_FROM_1 ? NY_INDICES_FROM_1
                                              : NY_INDICES_UNKNOWN,
        .digest = m.digest,
        .tail_digest = m.tail_digest,
    };
    memcpy(info->id, store->points->id, sizeof(info->id));
    return NY_OK;
}
