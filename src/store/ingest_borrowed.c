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
#include "base/memory.h"
#include "store/ingest_private.h"

/* Bytes that are counted at a time: they are still in a cache when their norms are. */
enum { STEP_BYTES = 8 << 20 };

bool ny_ingest_may_borrow(const struct ny_ingest *ingest)
{
    const struct ny_ingest_spec *spec = &ingest->spec;

    return ny_context_scratch(ingest->ctx) && ingest->base.n == 0 && !ingest->consumed &&
           !ingest->is_sparse && !spec->labels && !spec->source && !spec->names &&
           !ny_prepares(&spec->preparation);
}

int ny_ingest_borrow(struct ny_ingest *ingest, const void *rows, uint64_t n)
{
    char *buffer = ingest->buffer[NY_KIND_POINTS];
    size_t row_bytes = ny_ingest_row_bytes(ingest, NY_KIND_POINTS), packs = 0;
    const struct ny_borrowed_rows all = ny_borrowed_of(rows, (size_t)n * row_bytes);
    uint64_t step = STEP_BYTES / row_bytes + 1;
    int err = NY_OK;

    ingest->buffer[NY_KIND_POINTS] = (char *)(uintptr_t)rows; /* read only */
    for (uint64_t first = 0, end; !err && first < n; first = end) {
        end = n - first < step ? n : first + step;
        ny_memory_advise(all.at + end * row_bytes,
                         (size_t)(n - end < step ? n - end : step) * row_bytes, MADV_WILLNEED);
        err = ny_check_interrupt(ingest->ctx);
        if (!err) err = ny_ingest_count(ingest, (size_t)end, &packs);
        ny_borrowed_done(&all, all.at + first * row_bytes, (size_t)(end - first) * row_bytes);
    }
    ingest->buffer[NY_KIND_POINTS] = buffer;
    ingest->has[NY_KIND_POINTS] = false; /* in no block of the store */
    ingest->first_block = n / ingest->block_rows;
    ingest->filled = (size_t)(n % ingest->block_rows);
    ingest->consumed = n;
    if (!err) ny_borrow_rows(ingest->ctx, ingest->store->id, &all);
    return ny_ingest_keep_failure(ingest, err);
}
