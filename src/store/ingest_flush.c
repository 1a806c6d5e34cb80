/*
 * Takes full blocks out of the buffer of an import: counts, packs and puts them.
 *
 * ny_ingest_flush() is called when the buffer of an import is full, and before a commit. Blocks
 * are counted (stream/counting.h), where a sparse one is packed as well, and then packed, each
 * thread the next block, so that bytes do not depend on the number of threads. They are put in
 * order by the one thread that owns the transaction, which commits by itself when much is dirty.
 * The block that completes the short last block of the store is put as staged, since readers still
 * see the short one.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/thread.h"
#include "store/ingest_private.h"

/* ---- statistics ---------------------------------------------------------------------------- */

/* Packs the one block of sparse rows on one thread, while others count. */
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
    struct ny_next_rows next = {.part = {ingest->is_sparse ? &ingest->sparse.csr : NULL, at, 0},
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

/* ---- full blocks --------------------------------------------------------------------------- */

/* Full blocks of the buffer; `next` is the one that a thread takes next. */
struct packing {
    struct ny_ingest *ingest;
    size_t blocks;
    atomic_size_t next;
};

static int pack_some(void *arg, unsigned worker)
{
    struct packing *p = arg;
    size_t index;

    (void)worker;
    while ((index = atomic_fetch_add(&p->next, 1)) < p->blocks)
        ny_ingest_pack_block(p->ingest, index, (size_t)p->ingest->block_rows);
    return NY_OK;
}

/* The rest of the rows, those of an unfinished block, to the front. */
static void move_down(struct ny_ingest *ingest, size_t blocks)
{
    size_t gone = blocks * (size_t)ingest->block_rows;

    if (ingest->is_sparse) ny_ingest_sparse_clear(ingest);
    ny_ingest_names_drop(ingest, blocks);
    ingest->filled -= gone;
    ingest->first_block += blocks;
    for (unsigned kind = NY_KIND_POINTS; kind; kind = ny_kind_after(kind))
        if (ingest->has[kind])
            memmove(ingest->buffer[kind], ny_ingest_block(ingest, kind, blocks),
                    ingest->filled * ingest->row_bytes[kind]);
}

int ny_ingest_flush(struct ny_ingest *ingest)
{
    struct packing p = {.ingest = ingest, .blocks = ingest->filled / (size_t)ingest->block_rows};
    unsigned workers = ny_context_threads(ingest->ctx);
    size_t packs = p.blocks;
    int err;

    if (p.blocks == 0) return NY_OK;
    if (workers > p.blocks) workers = (unsigned)p.blocks;
    err = ny_ingest_count(ingest, p.blocks * (size_t)ingest->block_rows, &packs);
    if (!err && packs) err = ny_parallel(ingest->ctx, workers, pack_some, &p);
    for (size_t i = 0; !err && i < p.blocks; i++) {
        const struct ny_packed *points = &ingest->packed[i * (NY_BLOCK_KINDS + 1) + NY_KIND_POINTS];
        bool tail = ingest->first_block + i == ny_ingest_tail_block(ingest);

        err = ny_ingest_put(ingest, i, tail ? NY_STAGED : 0);
        ingest->digest = ny_digest_add(ingest->digest, points->header.checksum);
        ingest->full_bytes += sizeof(points->header) + points->bytes;
    }
    if (!err) move_down(ingest, p.blocks);
    return err;
}
