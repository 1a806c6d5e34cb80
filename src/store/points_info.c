/* The number of rows of a store, their type and layout, and the blocks that they are in. */
#include <string.h>

#include "store/csr.h"
#include "store/store_private.h"

static int stored_in_memory(const struct ny_in_memory *held, struct ny_stored_points *points)
{
    const struct ny_given_rows *given = &held->given;
    struct ny_rows_info *rows = &points->rows;
    int err = given->X->ops->info(given->X, rows);

    if (err) return err;
    points->blocks = (rows->n + rows->block_rows - 1) / rows->block_rows;
    points->dropped = given->dropped;
    points->names = given->names.text != NULL;
    points->column_names = given->columns != NULL;
    return NY_OK;
}

/* Takes those of a set, as its handle hands them out. */
static void stored_in_set(const struct ny_store *store, struct ny_stored_points *points)
{
    *points = store->set->points;
    if (!store->unprepared) return;
    points->rows.dtype = points->rows.stored_dtype;
    points->rows.preparation = (struct ny_prepared){.rows = NY_ROWS_NONE};
}

/* Takes what a manifest says. */
static void stored_by(const struct ny_store *store, const struct ny_manifest *m,
                      struct ny_stored_points *points)
{
    const struct ny_prepared how = ny_manifest_preparation(store, m);
    enum ny_dtype stored = (enum ny_dtype)m->dtype;
    bool sparse = m->n > 0 && m->layout == NY_CSR;

    *points = (struct ny_stored_points){
        .rows = {.n = m->n,
                 .d = m->d,
                 .dtype = ny_prepared_dtype(&how, stored),
                 .stored_dtype = stored,
                 .preparation = how,
                 .layout = (enum ny_row_layout)m->layout,
                 .nnz = sparse ? m->nnz : m->n * m->d,
                 .row_slots = sparse ? (m->row_nnz ? m->row_nnz : 1) : 0,
                 .block_rows = m->block_rows,
                 .kept_bytes = m->full_bytes + m->tail_bytes},
        .blocks = (m->n + m->block_rows - 1) / m->block_rows,
        .block_nnz = m->block_nnz,
        .dropped = m->dropped,
        .labels = (m->flags & NY_FLAG_LABELS) != 0,
        .names = (m->flags & NY_FLAG_NAMES) != 0,
        .column_names = (m->flags & NY_FLAG_COLUMNS) != 0,
        .indices = m->flags & NY_FLAG_FROM_0   ? NY_INDICES_FROM_0
                   : m->flags & NY_FLAG_FROM_1 ? NY_INDICES_FROM_1
                                               : NY_INDICES_UNKNOWN,
    };
    memcpy(points->id, store->points->id, sizeof(points->id));
}

int ny_points_stored_all(struct ny_store *store, struct ny_stored_points *points)
{
    struct ny_lost lost = {0};
    struct ny_lengths lengths;
    struct ny_manifest m;
    struct ny_snapshot *view;
    const char *wrong; /* lengths that are damaged are not known */
    int err;

    *points = (struct ny_stored_points){.blocks = 0};
    if (store->in_memory) return stored_in_memory(store->in_memory, points);
    if (store->set) {
        stored_in_set(store, points);
        return NY_OK;
    }
    err = ny_snapshot_begin(&view, store, store->points);
    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (!err) err = ny_lost_read(view, &m, &lost);
    if (!err) ny_lengths_read(view, &m, &lengths, &wrong);
    ny_free(store->ctx, lost.range);
    err = ny_snapshot_end(view, err);
    if (err) return err;
    stored_by(store, &m, points);
    points->rows.lost = lost.rows;
    points->rows.lengths = lengths;
    return NY_OK;
}

uint64_t ny_points_raw_bytes(const struct ny_rows_info *info)
{
    return info->nnz *
           (ny_dtype_size(info->stored_dtype) + (info->row_slots ? sizeof(uint32_t) : 0));
}
