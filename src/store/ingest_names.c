/*
 * Names of rows in an import.
 *
 * They collect as one text for all blocks of the buffer, and the names of a block are
 * packed when the block is put, into one room that grows with the longest of them: they have any
 * size, where labels and row numbers have one. Rows that come without names, to a store whose rows
 * have some, get empty ones; a store whose rows have none keeps none.
 */
#include <string.h>

#include "base/memory.h"
#include "store/ingest_private.h"

int ny_ingest_grow(struct ny_ingest *ingest, struct ny_ingest_room *room, size_t bytes)
{
    size_t dirty, more;
    int err;

    if (bytes <= room->bytes) return NY_OK;
    err = ny_resize_array(ingest->ctx, NY_MEM_STORE, &room->at, bytes, 1);
    if (err) return err;
    room->bytes = bytes;
    dirty = 2 * (ingest->room_bytes + ingest->sparse.room.bytes + ingest->names.room.bytes);
    if (dirty <= ingest->dirty_max) return NY_OK;
    more = dirty - ingest->dirty_max;
    if (ny_reserve(ingest->ctx, NY_MEM_STORE, more)) return NY_EBUDGET;
    ingest->reserved += more;
    ingest->dirty_max = dirty;
    return NY_OK;
}

int ny_ingest_names_reserve(struct ny_ingest *ingest, size_t bytes)
{
    if (bytes > NY_NAMES_BYTES_MAX)
        return ny_fail(ingest->ctx, NY_EDATA,
                       "names of rows or columns are too long: shorten them");
    return ny_ingest_grow(ingest, &ingest->names.room,
                          sizeof(struct ny_header) + ny_lz4_room(bytes));
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Bytes of the names of block `index` of the buffer, and where they begin. The last one may be
 * short. */
static size_t block_of(const struct ny_ingest *ingest, size_t index, const char **text)
{
    size_t rows = (size_t)ingest->block_rows, first = ingest->names.start[index];
    bool full = (index + 1) * rows < ingest->filled;

    *text = ingest->names.rows.text + first;
    return (full ? ingest->names.start[index + 1] : ingest->names.rows.bytes) - first;
}

/* Adds names to those of one block. */
static int take(struct ny_ingest *ingest, size_t count)
{
    struct ny_names *names = &ingest->names.rows;
    int err;

    if (!ingest->names.next) return ny_names_add_empty(names, ingest->ctx, count);
    err = ny_names_append(names, ingest->ctx, ingest->names.next, count);
    ingest->names.next = ny_names_skip(ingest->names.next, count);
    return err;
}

int ny_ingest_names_take(struct ny_ingest *ingest, size_t count)
{
    size_t rows = (size_t)ingest->block_rows, at = ingest->filled;
    int err = NY_OK;

    if (!ingest->has[NY_KIND_NAMES]) return NY_OK;
    while (!err && count > 0) {
        size_t block = at / rows, piece = rows - at % rows;

        if (piece > count) piece = count;
        if (at % rows == 0) ingest->names.start[block] = ingest->names.rows.bytes;
        err = take(ingest, piece);
        if (!err)
            err = ny_ingest_names_reserve(ingest,
                                          ingest->names.rows.bytes - ingest->names.start[block]);
        at += piece;
        count -= piece;
    }
    return err;
}

void ny_ingest_names_pack(struct ny_ingest *ingest, size_t index)
{
    struct ny_packed *packed = &ingest->packed[index * (NY_BLOCK_KINDS + 1) + NY_KIND_NAMES];
    size_t rows = (size_t)ingest->block_rows, left = ingest->filled - index * rows;
    const char *text;
    size_t bytes = block_of(ingest, index, &text);
    struct ny_want as = ny_points_want(ingest->store, NY_KIND_NAMES, ingest->first_block + index,
                                       left < rows ? left : rows, bytes);

    *packed = ny_frame_pack(&as.frame, text, ingest->spec.raw ? NULL : ingest->names.room.at);
}

void ny_ingest_names_drop(struct ny_ingest *ingest, size_t blocks)
{
    struct ny_names *names = &ingest->names.rows;
    size_t rows = (size_t)ingest->block_rows, gone = names->bytes;

    if (!ingest->has[NY_KIND_NAMES]) return;
    if (blocks * rows < ingest->filled) gone = ingest->names.start[blocks];
    names->bytes -= gone;
    names->count -= blocks * rows;
    if (names->bytes) memmove(names->text, names->text + gone, names->bytes);
    ingest->names.start[0] = 0;
}

int ny_ingest_names_load(struct ny_ingest *ingest, struct ny_snapshot *view, unsigned flag,
                         size_t rows, const char **wrong)
{
    const struct ny_names_entry entry = {NY_KIND_NAMES | flag, ingest->first_block, rows};
    int err;

    ny_names_clear(&ingest->names.rows);
    ingest->names.start[0] = 0;
    err = ny_names_read(view, &entry, &ingest->names.rows, wrong);
    return err ? err : ny_ingest_names_reserve(ingest, ingest->names.rows.bytes);
}

int ny_ingest_names_reserve_tail(struct ny_ingest *ingest)
{
    struct ny_key key = ny_points_key(NY_KIND_NAMES | NY_STAGED, ny_ingest_tail_block(ingest));
    struct ny_snapshot *view;
    size_t bytes = 0;
    int err;

    if (!ingest->has[NY_KIND_NAMES]) return NY_OK;
    err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);
    if (err) return err;
    if (ny_snapshot_size(view, &key, &bytes)) bytes = 0; /* whoever moves it says what is wrong */
    err = ny_snapshot_end(view, NY_OK);
    return err ? err : ny_ingest_names_reserve(ingest, bytes);
}
