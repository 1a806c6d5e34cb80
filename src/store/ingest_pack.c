/* Packing one block of an import, and putting blocks that are packed. */
#include <string.h>

#include "store/ingest_private.h"

char *ny_ingest_block(const struct ny_ingest *ingest, unsigned kind, size_t index)
{
    return ingest->buffer[kind] + index * (size_t)ingest->block_rows * ingest->row_bytes[kind];
}

void ny_ingest_pack_block(struct ny_ingest *ingest, size_t index, size_t rows)
{
    char *room = ingest->room + index * ingest->room_bytes;

    for (unsigned kind = NY_KIND_POINTS; kind; kind = ny_kind_after(kind)) {
        struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + kind];
        struct ny_want as = ny_points_want(ingest->store, kind, ingest->first_block + index, rows,
                                           rows * ingest->row_bytes[kind]);

        if (!ingest->has[kind] || kind == NY_KIND_NAMES) continue; /* packed when they are put */
        if (kind == NY_KIND_POINTS && ingest->is_sparse) {
            ny_ingest_sparse_pack(ingest, packed, rows);
            continue;
        }
        if (kind == NY_KIND_POINTS && ingest->dtype == NY_GENOTYPE)
            *packed = ny_frame_pack_crumbs(&as.frame, ny_ingest_block(ingest, kind, index), room);
        else
            *packed = ny_frame_pack(&as.frame, ny_ingest_block(ingest, kind, index),
                                    ingest->spec.raw ? NULL : room);
        room += ingest->kind_room_bytes[kind];
    }
}

/* ---- putting ------------------------------------------------------------------------------- */

int ny_ingest_write_begin(struct ny_ingest *ingest)
{
    if (ingest->write.txn) return NY_OK;
    return ny_write_begin(&ingest->write, ingest->store, ingest->store->points, ingest->reserved);
}

int ny_ingest_put_packed(struct ny_ingest *ingest, const struct ny_key *key,
                         const struct ny_packed *packed)
{
    size_t bytes = sizeof(packed->header) + packed->bytes;
    void *room;
    int err = NY_OK;

    if (ingest->write.txn && ingest->write.dirty_bytes + bytes > ingest->dirty_max)
        err = ny_write_commit(&ingest->write, NY_OK);
    if (!err) err = ny_ingest_write_begin(ingest);
    if (!err) err = ny_write_room(&ingest->write, key, bytes, packed->header.checksum, &room);
    if (err) return err;
    memcpy(room, &packed->header, sizeof(packed->header));
    memcpy((char *)room + sizeof(packed->header), packed->stored, packed->bytes);
    return NY_OK;
}

int ny_ingest_put(struct ny_ingest *ingest, size_t index, unsigned flag)
{
    uint64_t number = ingest->first_block + index;
    int err = NY_OK;

    for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind)) {
        const struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + kind];
        struct ny_key key = ny_points_key(kind | flag, number);

        if (!ingest->has[kind]) continue;
        if (kind == NY_KIND_NAMES) ny_ingest_names_pack(ingest, index);
        err = ny_ingest_put_packed(ingest, &key, packed);
    }
    return err;
}
