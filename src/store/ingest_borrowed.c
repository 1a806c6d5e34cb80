/*
 * Rows that a scratch store does not copy. They stay in the memory of the caller, and blocks
 * of points are read from there (base/borrowed.h, store/block.c); the store has their statistics,
 * the names of their columns and the manifest.
 *
 * A copy would take as much memory as the rows, and a small fit about as long as its passes. Rows
 * of a mapped file are read from it in each pass, and need no room on a disk once more; nor do they
 * stay in memory, as whoever has read some of them gives their pages back (ny_borrowed_done()).
 */
#include "base/borrowed.h"
#include "store/ingest_private.h"
#include "stream/kept_count.h"

bool ny_ingest_may_borrow(const struct ny_ingest *ingest)
{
    const struct ny_ingest_spec *spec = &ingest->spec;

    return ny_context_scratch(ingest->ctx) && ingest->base.n == 0 && !ingest->consumed &&
           !ingest->is_sparse && !spec->labels && !spec->source && !spec->names &&
           !ny_prepares(&spec->preparation);
}

int ny_ingest_borrow(struct ny_ingest *ingest, const void *rows, uint64_t n)
{
    size_t row_bytes = ny_ingest_row_bytes(ingest, NY_KIND_POINTS);
    const struct ny_kept_rows kept = {.dtype = ingest->dtype,
                                      .n = n,
                                      .d = ingest->counting.moments.d,
                                      .values = ny_borrowed_of(rows, (size_t)n * row_bytes),
                                      .row_bytes = row_bytes,
                                      .how = {.rows = NY_ROWS_NONE}};
    struct ny_counting *counting = &ingest->counting;
    struct ny_rows_info info;
    int err = ny_kept_info(ingest->ctx, &kept, 0, &info);

    if (!err) err = ny_kept_count(ingest->ctx, &kept, &info, &counting->moments, &counting->norms);
    ingest->has[NY_KIND_POINTS] = false; /* in no block of the store */
    ingest->first_block = n / ingest->block_rows;
    ingest->filled = (size_t)(n % ingest->block_rows);
    ingest->consumed = n;
    if (!err) ny_borrow_rows(ingest->ctx, ingest->store->id, &kept.values);
    return ny_ingest_keep_failure(ingest, err);
}
