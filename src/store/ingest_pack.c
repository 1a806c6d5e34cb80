/*
 * Packing full blocks in parallel, counting them in the statistics, and putting them.
 *
 * ny_ingest_flush() is called when the buffer of an import is full, and before a commit. Blocks
 * are counted by columns, each thread its own, and then packed, each thread the next block, so
 * that neither sums nor bytes depend on the number of threads. They are put in order by the one
 * thread that owns the transaction, which commits by itself when much is dirty. The block that
 * completes the short last block of the store is put as staged, since readers still see the short
 * one.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "store/convert.h"
#include "store/ingest_private.h"

/* Returns the bytes of one row of this kind in the buffer. */
static size_t row_bytes(const struct ny_ingest *ingest, unsigned kind)
{
    return ingest->elements[kind] * ingest->element_bytes[kind];
}

static char *block_rows_at(const struct ny_ingest *ingest, unsigned kind, size_t index)
{
    return ingest->buffer[kind] + index * (size_t)ingest->block_rows * row_bytes(ingest, kind);
}

void ny_ingest_pack_block(struct ny_ingest *ingest, size_t index, size_t rows)
{
    char *room = ingest->room + index * ingest->room_bytes;

    for (unsigned kind = 1; kind <= NY_BLOCK_KINDS; kind++) {
        struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + kind];
        struct ny_frame frame = {.store = ingest->store->id,
                                 .number = ingest->first_block + index,
                                 .rows = (uint32_t)rows,
                                 .kind = (enum ny_kind)kind};

        if (!ingest->has[kind]) continue;
        if (kind == NY_KIND_POINTS && ingest->is_sparse) {
            ny_ingest_sparse_pack(ingest, packed, rows);
            continue;
        }
        frame.raw_bytes = (uint32_t)(rows * row_bytes(ingest, kind));
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

/* ---- statistics ---------------------------------------------------------------------------- */

/* Rows to be counted; `infinite` is set by any thread that meets a sum that is not finite. */
struct counting {
    struct ny_ingest *ingest;
    size_t rows; /* of the buffer, from its first */
    atomic_bool infinite;
};

static bool count_block(const struct ny_ingest *ingest, struct ny_moments *moments, size_t at,
                        size_t rows, size_t first, size_t count)
{
    const char *values = ingest->buffer[NY_KIND_POINTS] + at * row_bytes(ingest, NY_KIND_POINTS);
    const struct ny_csr_part part = {&ingest->sparse, at, rows};

    if (ingest->is_sparse)
        return ny_moments_add_sparse(moments, &part, first, count, &ingest->sparse_sums);
    return ny_moments_add(moments, ingest->dtype, values, rows, first, count);
}

/* One share of the columns, block after block. Rows of the first block that the store already had
 * are in the moments. */
static int count_columns(void *arg, size_t first, size_t count)
{
    struct counting *c = arg;
    const struct ny_ingest *ingest = c->ingest;
    struct ny_moments moments = ingest->moments;
    size_t block_rows = (size_t)ingest->block_rows;
    size_t known = (size_t)(moments.n - ingest->first_block * ingest->block_rows);

    for (size_t at = known; at < c->rows;) {
        size_t end = (at / block_rows + 1) * block_rows;
        size_t rows = (end < c->rows ? end : c->rows) - at;

        if (!count_block(ingest, &moments, at, rows, first, count))
            atomic_store(&c->infinite, true);
        moments.n += rows;
        at += rows;
    }
    return NY_OK;
}

/* Readers refuse NaN and infinity with file and line; this is for rows that come from memory. */
static int find_infinite(struct ny_ingest *ingest, size_t rows)
{
    size_t d = ingest->elements[NY_KIND_POINTS];
    uint64_t before = ingest->first_block * ingest->block_rows;
    size_t known = ingest->base.n > before ? (size_t)(ingest->base.n - before) : 0;

    if (ingest->is_sparse) return ny_ingest_sparse_infinite(ingest, known, rows);
    for (size_t i = known * d; i < rows * d; i++) {
        double value = ny_value_at(ingest->dtype, ingest->buffer[NY_KIND_POINTS], i);
        uint64_t row = before + i / d - ingest->base.n;

        if (!isfinite(value))
            return ny_fail_at(ingest->ctx, NY_EDATA, NULL, row,
                              "row %llu, column %zu of the import is %s; every value must be a "
                              "finite number",
                              (unsigned long long)row, i % d, isnan(value) ? "NaN" : "infinite");
    }
    return NY_OK; /* only a sum has overflowed */
}

/* Rows at … end − 1 of the buffer. */
static void count_norms(struct ny_ingest *ingest, size_t at, size_t end)
{
    const char *values = ingest->buffer[NY_KIND_POINTS] + at * row_bytes(ingest, NY_KIND_POINTS);
    const struct ny_csr_part part = {&ingest->sparse, at, end - at};

    if (ingest->is_sparse)
        ny_norms_add_sparse(&ingest->norms, &part);
    else
        ny_norms_add(&ingest->norms, ingest->dtype, values, end - at, ingest->moments.d);
}

/* Counts rows of the buffer in the statistics, each thread a share of the columns. Rows that are
 * in them already, those of the base, are passed over. */
static int count_rows(struct ny_ingest *ingest, size_t rows)
{
    struct counting c = {.ingest = ingest, .rows = rows};
    size_t known = (size_t)(ingest->moments.n - ingest->first_block * ingest->block_rows);
    int err = ny_parallel_ranges(ingest->ctx, ingest->moments.d, count_columns, &c);

    if (ingest->norms_known && known < rows) count_norms(ingest, known, rows);

    if (!err && atomic_load(&c.infinite)) err = find_infinite(ingest, rows);
    if (!err) ingest->moments.n = ingest->first_block * ingest->block_rows + rows;
    return err;
}

int ny_ingest_count_open(struct ny_ingest *ingest)
{
    return count_rows(ingest, ingest->filled);
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

    for (unsigned kind = 1; !err && kind <= NY_BLOCK_KINDS; kind++) {
        const struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + kind];
        struct ny_key key = ny_points_key(kind | flag, number);
        size_t bytes = sizeof(packed->header) + packed->bytes;
        void *room;

        if (!ingest->has[kind]) continue;
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
    ingest->filled -= gone;
    ingest->first_block += blocks;
    for (unsigned kind = 1; kind <= NY_BLOCK_KINDS; kind++)
        if (ingest->has[kind])
            memmove(ingest->buffer[kind], block_rows_at(ingest, kind, blocks),
                    ingest->filled * row_bytes(ingest, kind));
}

int ny_ingest_flush(struct ny_ingest *ingest)
{
    struct packing p = {.ingest = ingest, .blocks = ingest->filled / (size_t)ingest->block_rows};
    unsigned workers = ny_context_threads(ingest->ctx);
    int err;

    if (p.blocks == 0) return NY_OK;
    if (workers > p.blocks) workers = (unsigned)p.blocks;
    err = count_rows(ingest, p.blocks * (size_t)ingest->block_rows);
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
