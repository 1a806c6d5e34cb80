/*
 * Moves rows of a file to the store, in batches. With --shuffle, rows go into the shuffle as
 * records first and come out in random order once all files are read.
 */
#include "api/import_private.h"

#include <string.h>

#include "base/memory.h"

/* Hands the rows of `batch` on, with how many rows of all files are consumed by then. */
static int store_batch(struct ny_import *import, const struct ny_row_batch *batch)
{
    struct ny_ingest_rows rows = {.values = batch->values,
                                  .sparse = batch->sparse,
                                  .labels = import->spec.labels ? batch->labels : NULL,
                                  .source = import->spec.source ? batch->source : NULL,
                                  .names = batch->names ? batch->names->text : NULL,
                                  .count = batch->count,
                                  .consumed =
                                      import->consumed + batch->consumed - import->batch.others,
                                  .dropped = import->dropped + batch->dropped};

    return import->kept ? ny_import_keep_rows(import, batch)
                        : ny_ingest_rows(import->ingest, &rows);
}

/* A shuffled row: this, then its values, or its column numbers (padded to 8 bytes) and values, and
 * its name at the end. */
struct shuffled {
    double label;
    uint64_t source;
    uint64_t nnz, sparse;
    uint64_t name_bytes; /* its end included; 0: it has none */
};

/* Makes room for the record of a shuffled row, twice as much as is needed now, so that sparse
 * rows of different lengths seldom ask for more. */
static int record_room(struct ny_import *import, size_t bytes)
{
    int err;

    if (bytes <= import->batch.record_bytes) return NY_OK;
    err = ny_resize_array(import->ctx, NY_MEM_IO, &import->batch.record, bytes, 2);
    if (!err) import->batch.record_bytes = 2 * bytes;
    return err;
}

/* Packs row i with its label, its number in the files and its name into a record, and adds it to
 * the shuffle. */
static int shuffle_row(struct ny_import *import, const struct ny_row_batch *batch, size_t i,
                       const char *name)
{
    struct shuffled head = {.label = batch->labels[i],
                            .source = batch->source[i],
                            .name_bytes = name ? strlen(name) + 1 : 0};
    size_t element = ny_dtype_size(import->spec.dtype),
           bytes = sizeof(head) + import->batch.row_bytes;
    struct ny_sparse row = {0, NULL, NULL};
    int err;

    if (batch->sparse) {
        row = ny_csr_row(batch->sparse, i);
        head.sparse = 1;
        head.nnz = row.count;
        bytes = sizeof(head) + ny_padded(row.count * sizeof(uint32_t)) + row.count * element;
    }
    bytes += head.name_bytes;
    err = record_room(import, bytes);
    if (err) return err;
    if (name) memcpy(import->batch.record + bytes - head.name_bytes, name, head.name_bytes);
    memcpy(import->batch.record, &head, sizeof(head));
    if (!batch->sparse) {
        memcpy(import->batch.record + sizeof(head),
               import->batch.values + i * import->batch.row_bytes, import->batch.row_bytes);
    } else if (row.count) {
        memcpy(import->batch.record + sizeof(head), row.index, row.count * sizeof(uint32_t));
        memcpy(import->batch.record + sizeof(head) + ny_padded(row.count * sizeof(uint32_t)),
               row.value, row.count * element);
    }
    return ny_shuffle_add(import->order, head.source, import->batch.record, bytes);
}

static int shuffle_batch(struct ny_import *import, const struct ny_row_batch *batch)
{
    const char *name = batch->names ? batch->names->text : NULL;
    int err = NY_OK;

    for (size_t i = 0; i < batch->count && err == NY_OK; i++) {
        err = shuffle_row(import, batch, i, name);
        if (name) name += strlen(name) + 1;
    }
    return err;
}

/* Reads at most so many rows, none from batch->until on, and no more than there is room for. */
static int read_batch(struct ny_import *import, struct ny_reader *reader, uint64_t rows,
                      struct ny_row_batch *batch)
{
    size_t most = rows < import->batch.rows ? (size_t)rows : import->batch.rows;
    int err;

    *batch = (struct ny_row_batch){.values = import->batch.values,
                                   .labels = import->batch.labels,
                                   .source = import->batch.source,
                                   .until = batch->until};
    if (ny_reader_table(reader)->layout == NY_CSR) batch->sparse = &import->batch.sparse;
    if (ny_import_names(import) && ny_reader_table(reader)->names)
        batch->names = &import->batch.names;
    ny_names_clear(&import->batch.names);
    import->batch.sparse.rows = 0;
    err = ny_reader_next(reader, most, batch);
    for (size_t i = 0; err == NY_OK && i < batch->count; i++)
        import->batch.source[i] += import->consumed - import->batch.others;
    if (err == NY_OK) ny_import_drop_few(import, batch);
    batch->dropped += import->batch.few;
    return err;
}

/* Passes over rows that an earlier run committed. A text file does not say how many it has: they
 * are parsed again, up to its end. Shuffled rows are all read again, and skipped when they come
 * out.
 */
static int skip_rows(struct ny_import *import, struct ny_reader *reader, struct ny_row_range range,
                     struct ny_row_batch *last)
{
    uint64_t rows = range.end ? range.end : ny_reader_table(reader)->rows;
    uint64_t before = import->skip > import->consumed ? import->skip - import->consumed : 0;
    uint64_t here = before + import->batch.others;
    bool counted = rows != NY_ROWS_UNKNOWN;
    int err = NY_OK;

    if (import->order) return NY_OK;
    counted = counted && !import->asked.reading.nan_drop && !import->asked.min_values;
    if (here && counted) {
        if (here > rows) here = rows;
        last->consumed = here;
        return ny_reader_skip(reader, here, 0);
    }
    last->until = here; /* where all of the rest is left out, no row is read in its place */
    while (err == NY_OK && last->consumed < here)
        err = read_batch(import, reader, here - last->consumed, last);
    return err;
}

/* Returns the bytes of the rows, for the progress. */
static double batch_size(const struct ny_import *import, const struct ny_row_batch *batch)
{
    size_t value_bytes = sizeof(uint32_t) + ny_dtype_size(import->spec.dtype);

    return batch->sparse ? (double)(ny_csr_nnz(batch->sparse) * value_bytes)
                         : (double)(batch->count * import->batch.row_bytes);
}

/* Imports so many rows of the file; NY_END after its last. */
static int import_rows(struct ny_import *import, struct ny_reader *reader, uint64_t rows,
                       struct ny_row_batch *last)
{
    struct ny_row_batch batch = {0};
    int err = NY_OK;

    while (err == NY_OK && rows > 0) {
        err = ny_check_interrupt(import->ctx);
        if (err) break;
        err = read_batch(import, reader, rows, &batch);
        /* The end may have passed over dropped rows. */
        if (batch.consumed > last->consumed) last->consumed = batch.consumed;
        if (batch.dropped > last->dropped) last->dropped = batch.dropped;
        if (err) break;
        ny_import_note_names(import, &batch);
        err = import->order ? shuffle_batch(import, &batch) : store_batch(import, &batch);
        rows -= batch.count;
        ny_meter_add(&import->meter, batch.count, batch_size(import, &batch), 0);
    }
    return err;
}

/* Adds the rows that a file left out, whose rows begin at import->consumed. */
static void note_dropped(struct ny_import *import, const struct ny_reader *reader)
{
    struct ny_import_dropped *all = &import->left_out;
    size_t count;
    const uint64_t *first = ny_reader_dropped(reader, &count);

    for (size_t i = 0; i < count && all->told < NY_DROPPED_TOLD; i++)
        all->first[all->told++] = import->consumed + first[i];
    all->rows += ny_reader_dropped_count(reader);
    import->values_left_out += ny_reader_left_out(reader);
}

int ny_import_file(struct ny_import *import, struct ny_reader *reader, const char *name,
                   struct ny_row_range rows)
{
    bool to_end = !rows.end || rows.end == ny_reader_table(reader)->rows;
    struct ny_row_batch last = {0};
    int err;

    import->batch.others = rows.first;
    err = skip_rows(import, reader, rows, &last);
    if (err == NY_OK)
        err = import_rows(import, reader, to_end ? UINT64_MAX : rows.end - last.consumed, &last);
    note_dropped(import, reader);
    if (err == NY_END) {
        err = ny_import_end_few(import, name, &last);
        if (err) return err;
    }
    import->batch.few = 0;
    import->consumed += last.consumed - import->batch.others;
    import->batch.others = 0;
    import->dropped += last.dropped;
    return err == NY_END ? NY_OK : err;
}

int ny_import_shuffled(void *arg, const void *record, size_t bytes)
{
    struct ny_import *import = arg;
    const struct shuffled *head = record;
    char *at = (char *)(uintptr_t)(head + 1);
    const char *name = head->name_bytes ? (const char *)record + bytes - head->name_bytes : NULL;
    uint32_t start[2] = {0, (uint32_t)head->nnz};
    struct ny_csr sparse = {.dtype = import->spec.dtype,
                            .rows = 1,
                            .start = start,
                            .index = (uint32_t *)(void *)at,
                            .value = at + ny_padded(head->nnz * sizeof(uint32_t))};
    struct ny_ingest_rows rows = {.values = at,
                                  .sparse = head->sparse ? &sparse : NULL,
                                  .labels = import->spec.labels ? &head->label : NULL,
                                  .source = &head->source,
                                  .names = name,
                                  .count = 1,
                                  .consumed = ++import->drained,
                                  .dropped = import->dropped};

    return import->drained <= import->skip ? NY_OK : ny_ingest_rows(import->ingest, &rows);
}
