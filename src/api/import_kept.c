/*
 * The end of an import into a store that is in memory: its rows are kept in temporary files without
 * names (io/kept_file.h), and are the rows of the store from the commit on. Labels are
 * not kept.
 */
#include "api/import_private.h"

#include "base/memory.h"
#include "base/traits.h"
#include "io/kept_file.h"
#include "stream/rows_memory.h"

struct ny_import_kept {
    struct ny_context *ctx;
    char *name; /* by which messages call the rows */
    struct ny_kept_file file;
    struct ny_names columns;
    struct ny_rows *X;
};

static void release(void *arg)
{
    struct ny_import_kept *kept = arg;

    ny_memory_rows_free(kept->X);
    ny_names_release(&kept->columns, kept->ctx);
    ny_file_release(&kept->file);
    ny_free(kept->ctx, kept->name);
    ny_free(kept->ctx, kept);
}

int ny_import_keep_begin(struct ny_import *import, const struct ny_file_table *table)
{
    struct ny_import_kept *kept = ny_calloc(import->ctx, NY_MEM_STORE, 1, sizeof(*kept));

    import->kept = kept;
    if (!kept) return NY_EBUDGET;
    kept->ctx = import->ctx;
    kept->name = ny_strdup(import->ctx, ny_store_path(import->store));
    if (!kept->name) return NY_EBUDGET;
    kept->file = (struct ny_kept_file){.folder = ny_store_folder(import->store),
                                       .sparse = import->spec.layout == NY_CSR,
                                       .numbers = import->spec.source,
                                       .names = import->spec.names};
    ny_file_begin(&kept->file, import->ctx, table);
    kept->file.rows.how = import->spec.preparation;
    return NY_OK;
}

int ny_import_keep_rows(struct ny_import *import, const struct ny_row_batch *batch)
{
    return ny_file_add(&import->kept->file, batch);
}

int ny_import_keep_columns(struct ny_import *import, const struct ny_names *names, const char *from)
{
    struct ny_names *columns = &import->kept->columns;
    const uint64_t d = import->spec.d;
    const struct ny_party coming = {.whose = from,
                                    .file = from,
                                    .traits = {.d = d, .columns = ny_names_digest(names)},
                                    .columns = names};
    const struct ny_party there = {.whose = "the files before it",
                                   .traits = {.d = d, .columns = ny_names_digest(columns)},
                                   .columns = columns};

    return columns->count ? ny_traits_compare(import->ctx, &coming, &there, NY_SAME_COLUMNS, NULL)
                          : ny_names_append(columns, import->ctx, names->text, names->count);
}

/* Makes the rows of those that are mapped. */
static int make_rows(struct ny_import *import)
{
    struct ny_import_kept *kept = import->kept;
    const struct ny_memory_rows rows = {.name = kept->name,
                                        .kept = kept->file.rows,
                                        .entries = kept->file.rows.n * import->spec.row_nnz,
                                        .columns = kept->columns.count ? &kept->columns : NULL,
                                        .from = import->from[0] ? import->from : NULL,
                                        .number = kept->file.number};

    return ny_rows_of_memory(&kept->X, import->ctx, &rows);
}

/* The reader tells what is wrong with a value of the file itself. */
int ny_import_keep_in_place(struct ny_import *import, struct ny_reader *reader)
{
    struct ny_import_kept *kept = import->kept;
    int err;

    if (!ny_file_map(&kept->file, reader)) return NY_END;
    import->consumed = kept->file.rows.n;
    err = make_rows(import);
    if (err != NY_EDATA) return err;
    ny_error_clear(import->ctx);
    err = ny_reader_judge(reader);
    return err ? err : make_rows(import);
}

int ny_import_keep_commit(struct ny_import *import)
{
    struct ny_import_kept *kept = import->kept;
    int err = NY_OK;

    if (!kept->file.rows.n) return NY_OK;
    if (!kept->X) err = ny_file_end(&kept->file);
    if (!err && !kept->X) err = make_rows(import);
    if (err) return err;
    ny_store_fill(import->store,
                  &(struct ny_given_rows){.X = kept->X,
                                          .columns = kept->columns.count ? &kept->columns : NULL,
                                          .source = kept->file.number,
                                          .dropped = import->dropped,
                                          .names = kept->file.row_names,
                                          .free = release,
                                          .arg = kept});
    import->kept = NULL;
    return NY_OK;
}

void ny_import_keep_free(struct ny_import *import)
{
    if (import->kept) release(import->kept);
    import->kept = NULL;
}
