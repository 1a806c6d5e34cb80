/*
 * Packing full blocks in parallel, and putting them.
 *
 * ny_ingest_flush() is called when the buffer of an import is full, and before a commit. Blocks
 * are counted (store/ingest_count.c) and then packed, each thread the next block, so that bytes do
 * not depend on the number of threads. They are put in order by the one
 * thread that owns the transaction, which commits by itself when much is dirty. The block that
 * completes the short last block of the store is put as staged, since readers still see the short
 * one.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "store/ingest_private.h"

static char *block_rows_at(const struct ny_ingest *ingest, unsigned kind, size_t index)
{
    return ingest->buffer[kind] +
           index * (size_t)ingest->block_rows * ny_ingest_row_bytes(ingest, kind);
}

void ny_ingest_pack_block(struct ny_ingest *ingest, size_t index, size_t rows)
{
    char *room = ingest->room + index * ingest->room_bytes;

    for (unsigned kind = NY_KIND_POINTS; kind; kind = ny_kind_after(kind)) {
        struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + kind];
        struct ny_frame frame = {.store = ingest->store->id,
                                 .number = ingest->first_block + index,
                                 .rows = (uint32_t)rows,
                                 .kind = (enum ny_kind)kind};

        if (!ingest->has[kind] || kind == NY_KIND_NAMES) continue; /* packed when they are put */
        if (kind == NY_KIND_POINTS && ingest->is_sparse) {
            ny_ingest_sparse_pack(ingest, packed, rows);
            continue;
        }
        frame.raw_bytes = (uint32_t)(rows * ny_ingest_row_bytes(ingest, kind));
        *packed = ny_frame_pack(&frame, block_rows_at(ingest, kind, index),
                                ingest->spec.raw ? NULL : room);
        room += ingest->kind_room_bytes[kind];
    }
}

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

/* ---- putting ------------------------------------------------------------------------------- */

int ny_ingest_write_begin(struct ny_ingest *ingest)
{
    if (ingest->write.txn) return NY_OK;
    return ny_write_begin(&ingest->write, ingest->store, ingest->store->points, ingest->reserved);
}

int ny_ingest_put(struct ny_ingest *ingest, size_t index, unsigned flag)
{
    uint64_t number = ingest->first_block + index;
    int err = NY_OK;

    for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind)) {
        const struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + kind];
        struct ny_key key = ny_points_key(kind | flag, number);
        size_t bytes;
        void *room;

        if (!ingest->has[kind]) continue;
        if (kind == NY_KIND_NAMES) err = ny_ingest_names_pack(ingest, index);
        if (err) break;
        bytes = sizeof(packed->header) + packed->bytes;
        if (ingest->write.txn && ingest->write.dirty_bytes + bytes > ingest->dirty_max)
            err = ny_write_commit(&ingest->write);
        if (!err) err = ny_ingest_write_begin(ingest);
        if (!err) err = ny_write_room(&ingest->write, &key, bytes, packed->header.checksum,
                                      &room);
        if (err) break;
        memcpy(room, &packed->header, sizeof(packed->header));
        memcpy((char *)room + sizeof(packed->header), packed->stored, packed->bytes);
    }
    return err;
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
            memmove(ingest->buffer[kind], block_rows_at(ingest, kind, blocks),
                    ingest->filled * ny_ingest_row_bytes(ingest, kind));
}

int ny_ingest_flush(struct ny_ingest *ingest)
{
    struct packing p = {.ingest = ingest, .blocks = ingest->filled / (size_t)ingest->block_rows};
    unsigned workers = ny_context_threads(ingest->ctx);
    int err;

    if (p.blocks == 0) return NY_OK;
    if (workers > p.blocks) workers = (unsigned)p.blocks;
    err = ny_ingest_count(ingest, p.blocks * (size_t)ingest->block_rows);
    if (!err) err = ny_parallel(ingest->ctx, workers, pack_some, &p);
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
