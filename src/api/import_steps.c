/*
 * An import of one file in steps (api/import.h), by which `embed` fits the first rows online while
 * the file is still being read. Each step is an append of its own, begun, filled and committed, so
 * that the fit sees its rows.
 */
#include "api/import_private.h"

#include "api/settings.h"
#include "base/memory.h"

int ny_import_begin(struct ny_import **out, struct ny_context *context, const char *path,
                    const char *file, const struct ny_options *options)
{
    struct ny_import *import = ny_calloc(context, NY_MEM_IO, 1, sizeof(*import));
    int err;

    *out = import;
    if (!import) return NY_EBUDGET;
    import->ctx = context;
    import->reading = ny_settings_reader(options);
    err = ny_import_prepare(import, options);
    if (!err)
        err = ny_import_identify(import, &(struct ny_import_files){.names = &file, .count = 1});
    if (!err) err = ny_store_create(&import->store, context, path);
    return err ? err
               : ny_import_open(import, (struct ny_import_source){.file = file}, &import->reader);
}

/* One append of so many rows, or of those up to the file's end: then the reader is closed. */
static int step(struct ny_import *import, uint64_t rows)
{
    const struct ny_file_table *table = ny_reader_table(import->reader);
    int err = ny_import_begin_file(import, import->reader), end;

    if (err == NY_OK && !import->values) err = ny_import_allocate(import, table);
    if (err) return err;
    end = ny_import_rows(import, import->reader, rows, &import->last);
    if (end && end != NY_END) return end;
    err = ny_import_class_names(import, import->reader);
    if (err == NY_OK) err = ny_ingest_commit(import->ingest);
    ny_ingest_free(import->ingest);
    import->ingest = NULL;
    import->before = import->last;
    if (end != NY_END) return err;
    ny_import_note_dropped(import, import->reader);
    ny_reader_close(import->reader);
    import->reader = NULL;
    return err;
}

int ny_import_next(struct ny_import *import, uint64_t rows, uint64_t *n)
{
    struct ny_rows_info info;
    int err = ny_points_info(import->store, &info);

    if (err == NY_OK && import->reader && info.n < rows) {
        const struct ny_file_table *table = ny_reader_table(import->reader);
        uint64_t tail = info.n ? (info.block_rows - rows % info.block_rows) % info.block_rows : 0;
        bool sparse = table->layout == NY_CSR || import->layout == NY_READ_SPARSE;

        ny_meter_start(&import->meter, import->ctx, "import", info.n,
                       table->rows == NY_ROWS_UNKNOWN ? 0 : table->rows);
        import->append = info.n > 0;
        err = step(import, sparse ? UINT64_MAX : rows - info.n + tail);
        ny_meter_finish(&import->meter);
        if (err == NY_OK) err = ny_points_info(import->store, &info);
    }
    *n = info.n;
    return err;
}

const struct ny_import_dropped *ny_import_left_out(const struct ny_import *import)
{
    return &import->left_out;
}

void ny_import_end(struct ny_import *import)
{
    if (!import) return;
    ny_import_release(import);
    ny_free(import->ctx, import);
}
