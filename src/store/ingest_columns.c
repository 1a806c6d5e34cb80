/*
 * Names of columns in an import. They are those of a store that holds no points yet, and are
 * compared with those of any other, and of the files before. They are written just before the
 * import becomes visible; what a kill leaves of them is dropped by the next import, as nothing
 * speaks of them.
 */
#include <string.h>

#include "store/ingest_private.h"

#define ULL(x) ((unsigned long long)(x))

/* Names that came, and the file they came from. */
struct coming {
    const struct ny_names *names;
    const char *from;
};

/* Fails because a column is called otherwise than that of the store. */
static int differs(struct ny_ingest *ingest, const struct coming *coming, uint64_t column,
                   const char *has, const char *comes)
{
    return ny_fail_at(ingest->ctx, NY_EDATA, coming->from, NY_NO_LINE,
                      "%s: column %llu (from 0) is called '%.80s', but that of %s '%.80s': give "
                      "rows of the same columns, in the same order",
                      coming->from, ULL(column), comes, ingest->store->path, has);
}

/* Compares names with those of the store, entry by entry. */
static int compare(struct ny_ingest *ingest, const struct coming *coming)
{
    const char *comes = coming->names->text, *wrong = NULL;
    struct ny_names entry = {0};
    struct ny_snapshot *view;
    uint64_t d = ingest->base.d;
    int end, err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);

    if (err) return err;
    for (uint64_t number = 0; !err && number < ny_column_entries(d); number++) {
        const struct ny_names_entry next = ny_column_entry(d, number);
        const char *has;

        ny_names_clear(&entry);
        err = ny_names_read(view, &next, &entry, &wrong);
        has = entry.text;
        for (size_t i = 0; !err && i < next.count; i++) {
            if (strcmp(has, comes) != 0)
                err = differs(ingest, coming, number * NY_COLUMN_NAMES + i, has, comes);
            has += strlen(has) + 1;
            comes += strlen(comes) + 1;
        }
    }
    end = ny_snapshot_end(view);
    ny_names_release(&entry, ingest->ctx);
    if (wrong) return ny_columns_damaged(ingest->store, wrong);
    return err ? err : end;
}

/* Compares names with those that came before them in this import. */
static int compare_files(struct ny_ingest *ingest, const struct coming *coming)
{
    const char *has = ingest->columns.text, *comes = coming->names->text;

    for (size_t i = 0; i < coming->names->count; i++) {
        if (strcmp(has, comes) != 0)
            return ny_fail_at(
                ingest->ctx, NY_EDATA, coming->from, NY_NO_LINE,
                "%s: column %llu (from 0) is called '%.80s', but '%.80s' in what came before it: "
                "import it in a call of its own with --append, which finds columns by their names",
                coming->from, ULL(i), comes, has);
        has += strlen(has) + 1;
        comes += strlen(comes) + 1;
    }
    return NY_OK;
}

int ny_ingest_column_names(struct ny_ingest *ingest, const struct ny_names *names, const char *from)
{
    const struct coming coming = {names, from};
    int err = NY_OK;

    if (names->count != ingest->base.d)
        err = ny_fail(ingest->ctx, NY_EINTERNAL, "%zu names came for %llu columns", names->count,
                      ULL(ingest->base.d));
    else if (ingest->base.flags & NY_FLAG_COLUMNS)
        err = compare(ingest, &coming);
    else if (ingest->columns.count)
        err = compare_files(ingest, &coming);
    else if (ingest->base.n == 0)
        err = ny_names_append(&ingest->columns, ingest->ctx, names->text, names->count);
    if (err) ingest->failed = err;
    return err;
}

/* Puts one entry. */
static int put_columns(struct ny_ingest *ingest, const struct ny_names_entry *entry,
                       const char *text, size_t bytes)
{
    struct ny_key key = ny_points_key(entry->kind, entry->number);
    struct ny_frame frame = {.store = ingest->store->id,
                             .number = entry->number,
                             .raw_bytes = (uint32_t)bytes,
                             .rows = (uint32_t)entry->count,
                             .kind = NY_KIND_COLUMNS};
    struct ny_packed packed;
    void *room;
    int err = ny_ingest_names_reserve(ingest, bytes);

    if (err) return err;
    packed = ny_frame_pack(&frame, text, ingest->names_room);
    bytes = sizeof(packed.header) + packed.bytes;
    if (ingest->write.txn && ingest->write.dirty_bytes + bytes > ingest->dirty_max)
        err = ny_write_commit(&ingest->write);
    if (!err) err = ny_ingest_write_begin(ingest);
    if (!err) err = ny_write_room(&ingest->write, &key, bytes, packed.header.checksum, &room);
    if (err) return err;
    memcpy(room, &packed.header, sizeof(packed.header));
    memcpy((char *)room + sizeof(packed.header), packed.stored, packed.bytes);
    return NY_OK;
}

int ny_ingest_columns_put(struct ny_ingest *ingest)
{
    const char *text = ingest->columns.text;
    int err = NY_OK;

    if (!ingest->columns.count) return NY_OK;
    for (uint64_t number = 0; !err && number < ny_column_entries(ingest->base.d); number++) {
        const struct ny_names_entry entry = ny_column_entry(ingest->base.d, number);
        const char *end = ny_names_skip(text, entry.count);

        err = put_columns(ingest, &entry, text, (size_t)(end - text));
        text = end;
    }
    return err;
}
