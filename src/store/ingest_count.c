/* Counts rows of an import in its statistics (stream/counting.h). Sparse rows fill one block at a
 * time, which one thread packs while others count. */
#include "store/ingest_private.h"

static void pack(void *arg)
{
    struct ny_ingest *ingest = arg;

    ny_ingest_pack_block(ingest, 0, (size_t)ingest->block_rows);
}

int ny_ingest_count(struct ny_ingest *ingest, size_t rows, size_t *packs)
{
    struct ny_counting *counting = &ingest->counting;
    uint64_t before = ingest->first_block * ingest->block_rows;
    size_t at = (size_t)(counting->moments.n - before);
    struct ny_next_rows next = {.part = {ingest->is_sparse ? &ingest->sparse : NULL, at, 0},
                                .first = before + at - ingest->base.n,
                                .from = ingest->spec.from,
                                .beside = ingest->is_sparse && *packs ? pack : NULL,
                                .arg = ingest};
    int err;

    if (at >= rows) return NY_OK;
    next.count = rows - at;
    if (!ingest->is_sparse)
        next.values = ingest->buffer[NY_KIND_POINTS] + at * ingest->row_bytes[NY_KIND_POINTS];
    if (ingest->spec.source)
        next.number = (const uint64_t *)(void *)ingest->buffer[NY_KIND_SOURCE] + at;
    err = ny_count_rows(counting, &next);
    if (ingest->is_sparse) *packs = 0;
    return err;
}
