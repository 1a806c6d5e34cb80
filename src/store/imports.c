/*
 * Notes of imports: which rows came in together, when, and from where. An import leaves its note in
 * the transaction that makes its rows visible, under the number of its first row, so that to add
 * one costs nothing more. They are read to be listed, and to cut rows off where an import began
 * (store/truncate.c).
 *
 * A file that follows is read by them, too: they say which columns held labels and names of rows.
 *
 * Nothing but that hangs on them. Versions before these notes leave none, and whoever reads notes
 * takes those that there are: one that is damaged is passed over.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "store/ingest_private.h"

int ny_import_note_put(struct ny_write *write, const struct ny_import_note *note)
{
    struct ny_import_record record = {.end = note->end,
                                      .time = note->time,
                                      .dropped = note->dropped,
                                      .classes = note->classes,
                                      .raw = note->raw};
    size_t bytes = sizeof(record);

    if (write->pulse.version <= NY_FORMAT_OF_1_0) return NY_OK;
    memcpy(record.from, note->from, sizeof(record.from) - 1);
    memcpy(record.label_column, note->how.label_column, sizeof(record.label_column) - 1);
    memcpy(record.id_column, note->how.id_column, sizeof(record.id_column) - 1);
    if (!record.label_column[0] && !record.id_column[0]) /* as much of it as says something */
        bytes = offsetof(struct ny_import_record, from) + strlen(record.from) + 1;
    return ny_points_put(write, NY_KIND_IMPORT, note->first, &record, bytes);
}

int ny_ingest_note(struct ny_ingest *ingest, const struct ny_manifest *now)
{
    struct ny_import_note note = {.first = ingest->base.n,
                                  .end = now->n,
                                  .time = (int64_t)time(NULL),
                                  .dropped = ingest->dropped,
                                  .classes = now->classes,
                                  .raw = ingest->spec.raw,
                                  .how = ingest->spec.how};

    if (ingest->spec.from) snprintf(note.from, sizeof(note.from), "%s", ingest->spec.from);
    return ny_import_note_put(&ingest->write, &note);
}

static bool is_note(const void *arg, const MDB_val *key)
{
    uint64_t number;
    unsigned kind;

    (void)arg;
    return ny_points_key_parse(key, &kind, &number) && kind == NY_KIND_IMPORT;
}

int ny_import_notes_drop(struct ny_write *write, uint64_t first)
{
    struct ny_key from = ny_points_key(NY_KIND_IMPORT, first);
    size_t count;

    return ny_write_delete_from(write, &from, is_note, NULL, SIZE_MAX, &count);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Reads the note of row `first`; false where it is damaged, or says what cannot be. */
static bool read_note(struct ny_snapshot *view, uint64_t first, struct ny_import_note *note,
                      const char **wrong)
{
    struct ny_import_record record = {0};
    struct ny_want want = {
        .key = ny_points_key(NY_KIND_IMPORT, first),
        .frame = {.store = view->store->id, .number = first, .kind = NY_KIND_IMPORT},
        .capacity = sizeof(record)};

    if (ny_snapshot_read(view, &want, &record, wrong)) return false;
    *wrong = "its values are impossible";
    if (record.end <= first || record.end > NY_ROWS_MAX) return false;
    *wrong = NULL;
    *note = (struct ny_import_note){.first = first,
                                    .end = record.end,
                                    .time = record.time,
                                    .dropped = record.dropped,
                                    .classes = record.classes,
                                    .raw = record.raw != 0};
    memcpy(note->from, record.from, sizeof(record.from) - 1);
    memcpy(note->how.label_column, record.label_column, sizeof(record.label_column) - 1);
    memcpy(note->how.id_column, record.id_column, sizeof(record.id_column) - 1);
    return true;
}

static int add_note(struct ny_imports *imports, struct ny_context *ctx,
                    const struct ny_import_note *note)
{
    int err = NY_OK;

    if ((imports->count & (imports->count - 1)) == 0) /* room for twice as many */
        err = ny_resize_array(ctx, NY_MEM_STORE, &imports->note,
                              imports->count ? 2 * imports->count : 1, sizeof(*note));
    if (!err) imports->note[imports->count++] = *note;
    return err;
}

int ny_imports_read(struct ny_snapshot *view, struct ny_imports *imports, const char **wrong)
{
    struct ny_store *store = view->store;
    struct ny_import_note note;
    uint64_t at = 0;
    const char *why;
    int code, err = NY_OK;

    *imports = (struct ny_imports){0};
    *wrong = NULL;
    while (!err) {
        struct ny_key key = ny_points_key(NY_KIND_IMPORT, at);
        unsigned kind;

        if (ny_snapshot_next(view, &key, &code)) {
            *wrong = "the disk cannot read it";
            return NY_OK;
        }
        if (code && code != MDB_NOTFOUND)
            return ny_env_fail(store->ctx, store->points->path, "read", code);
        if (code || !ny_points_key_parse(&(MDB_val){key.bytes, key.data}, &kind, &at) ||
            kind != NY_KIND_IMPORT)
            return NY_OK;
        if (read_note(view, at++, &note, &why))
            err = add_note(imports, store->ctx, &note);
        else
            *wrong = why;
    }
    return err;
}

int ny_points_imports(struct ny_store *store, struct ny_imports *imports)
{
    struct ny_snapshot *view;
    const char *wrong;
    int err;

    *imports = (struct ny_imports){0};
    if (store->set || store->in_memory) return NY_OK;
    err = ny_snapshot_begin(&view, store, store->points);
    return err ? err : ny_snapshot_end(view, ny_imports_read(view, imports, &wrong));
}

void ny_imports_release(struct ny_imports *imports, struct ny_context *ctx)
{
    ny_free(ctx, imports->note);
    *imports = (struct ny_imports){0};
}

int ny_points_import_how(struct ny_store *store, struct ny_import_how *how)
{
    struct ny_imports imports;
    int err = ny_points_imports(store, &imports);

    *how = (struct ny_import_how){.label_column = ""};
    for (size_t i = 0; !err && i < imports.count; i++) {
        const struct ny_import_how *said = &imports.note[i].how;

        if (said->label_column[0])
            memcpy(how->label_column, said->label_column, sizeof(how->label_column));
        if (said->id_column[0]) memcpy(how->id_column, said->id_column, sizeof(how->id_column));
    }
    ny_imports_release(&imports, store->ctx);
    return err;
}
