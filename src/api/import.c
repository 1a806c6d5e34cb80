/* ny_import: files into the points of a store; and one file in steps. */
#include "api/import.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/inspect.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/progress.h"
#include "embed/record.h"
#include "stream/shuffle.h"

static const size_t import_memory = (size_t)256 << 20, batch_bytes = 4 << 20;

struct ny_import {
    struct ny_context *ctx;
    struct ny_store *store;
    struct ny_reader_options reading;
    bool append, shuffle, raw;
    enum ny_reading layout; /* --layout */
    uint64_t seed, fingerprint;
    struct ny_ingest_spec spec;
    struct ny_ingest *ingest;
    struct ny_shuffle *order; /* with --shuffle */
    size_t row_bytes, batch_rows; /* of dense rows; of the file that is being read */
    char *values;
    struct ny_csr sparse; /* the batch, of a file with sparse rows */
    double *labels;
    uint64_t *source;
    char *record; /* one shuffled row, see shuffle_batch() */
    size_t record_bytes;
    uint64_t skip;              /* rows that an earlier run of the same import committed */
    uint64_t drained;           /* shuffled rows that came out again */
    uint64_t consumed, dropped; /* rows of all files so far; of the files before the present one */
    struct ny_reader *reader;   /* in steps: the file, */
    struct ny_row_batch last;   /* … how far it is read, */
    struct ny_row_batch before; /* … and was when the step began */
    struct ny_meter meter;
};

/* ---- rows on their way -------------------------------------------------------------------- */

/* Rows of `batch`, of a file whose rows begin at import->consumed, to the store. */
static int store_batch(struct ny_import *import, const struct ny_row_batch *batch)
{
    struct ny_rows rows = {.values = batch->values,
                           .sparse = batch->sparse,
                           .labels = import->spec.labels ? batch->labels : NULL,
                           .source = import->spec.source ? batch->source : NULL,
                           .count = batch->count,
                           .consumed = import->consumed + batch->consumed,
                           .dropped = import->dropped + batch->dropped};

    rows.consumed -= import->before.consumed;
    rows.dropped -= import->before.dropped;
    return ny_ingest_rows(import->ingest, &rows);
}

/* A shuffled row: this, then its values, or its column numbers (padded to 8 bytes) and values. */
struct shuffled {
    double label;
    uint64_t source;
    uint64_t nnz, sparse;
};

static size_t padded(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static int record_room(struct ny_import *import, size_t bytes)
{
    char *larger;

    if (bytes <= import->record_bytes) return NY_OK;
    larger = ny_resize(import->ctx, NY_MEM_IO, import->record, 2 * bytes);
    if (!larger) return NY_EBUDGET;
    import->record = larger;
    import->record_bytes = 2 * bytes;
    return NY_OK;
}

static int shuffle_row(struct ny_import *import, const struct ny_row_batch *batch, size_t i)
{
    struct shuffled head = {.label = batch->labels[i], .source = batch->source[i]};
    size_t element = ny_dtype_size(import->spec.dtype), bytes = sizeof(head) + import->row_bytes;
    struct ny_sparse row = {0, NULL, NULL};
    int err;

    if (batch->sparse) {
        row = ny_csr_row(batch->sparse, i);
        head.sparse = 1;
        head.nnz = row.count;
        bytes = sizeof(head) + padded(row.count * sizeof(uint32_t)) + row.count * element;
    }
    err = record_room(import, bytes);
    if (err) return err;
    memcpy(import->record, &head, sizeof(head));
    if (!batch->sparse) {
        memcpy(import->record + sizeof(head), import->values + i * import->row_bytes,
               import->row_bytes);
    } else if (row.count) {
        memcpy(import->record + sizeof(head), row.index, row.count * sizeof(uint32_t));
        memcpy(import->record + sizeof(head) + padded(row.count * sizeof(uint32_t)), row.value,
               row.count * element);
    }
    return ny_shuffle_add(import->order, head.source, import->record, bytes);
}

static int shuffle_batch(struct ny_import *import, const struct ny_row_batch *batch)
{
    int err = NY_OK;

    for (size_t i = 0; i < batch->count && err == NY_OK; i++)
        err = shuffle_row(import, batch, i);
    return err;
}

static int read_batch(struct ny_import *import, struct ny_reader *reader,
                      struct ny_row_batch *batch)
{
    int err;

    *batch = (struct ny_row_batch){
        .values = import->values, .labels = import->labels, .source = import->source};
    if (ny_reader_table(reader)->layout == NY_CSR) batch->sparse = &import->sparse;
    import->sparse.rows = 0;
    err = ny_reader_next(reader, import->batch_rows, batch);
    for (size_t i = 0; err == NY_OK && i < batch->count; i++)
        import->source[i] += import->consumed;
    return err;
}

/* Passes over rows that an earlier run committed. A text file does not say how many it has: they
 * are parsed again, up to its end. Shuffled rows are all read again, and skipped when they come
 * out. */
static int skip_rows(struct ny_import *import, struct ny_reader *reader, struct ny_row_batch *last)
{
    uint64_t rows = ny_reader_table(reader)->rows;
    uint64_t here = import->skip > import->consumed ? import->skip - import->consumed : 0;
    int err = NY_OK;

    if (import->order) return NY_OK;
    if (here && rows != NY_ROWS_UNKNOWN && !import->reading.nan_drop) {
        if (here > rows) here = rows;
        last->consumed = here;
        return ny_reader_skip(reader, here, 0);
    }
    while (err == NY_OK && last->consumed < here) {
        size_t most = import->batch_rows;

        if (here - last->consumed < most) import->batch_rows = (size_t)(here - last->consumed);
        err = read_batch(import, reader, last);
        import->batch_rows = most;
    }
    return err;
}

/* Bytes, for the progress. */
static double batch_size(const struct ny_import *import, const struct ny_row_batch *batch)
{
    size_t value_bytes = sizeof(uint32_t) + ny_dtype_size(import->spec.dtype);

    return batch->sparse ? (double)(ny_csr_nnz(batch->sparse) * value_bytes)
                         : (double)(batch->count * import->row_bytes);
}

/* So many rows of the file; NY_END after its last. */
static int read_rows(struct ny_import *import, struct ny_reader *reader, uint64_t rows,
                     struct ny_row_batch *last)
{
    size_t most = import->batch_rows;
    struct ny_row_batch batch;
    int err = NY_OK;

    while (err == NY_OK && rows > 0) {
        err = ny_check_interrupt(import->ctx);
        if (err) break;
        if (rows < most) import->batch_rows = (size_t)rows;
        err = read_batch(import, reader, &batch);
        /* The end may have passed over dropped rows. */
        if (batch.consumed > last->consumed) last->consumed = batch.consumed;
        if (batch.dropped > last->dropped) last->dropped = batch.dropped;
        if (err) break;
        err = import->order ? shuffle_batch(import, &batch) : store_batch(import, &batch);
        rows -= batch.count;
        ny_meter_add(&import->meter, batch.count, batch_size(import, &batch), 0);
    }
    import->batch_rows = most;
    return err;
}

static int read_file(struct ny_import *import, struct ny_reader *reader)
{
    struct ny_row_batch last = {0};
    int err = skip_rows(import, reader, &last);

    if (err == NY_OK) err = read_rows(import, reader, UINT64_MAX, &last);
    import->consumed += last.consumed;
    import->dropped += last.dropped;
    return err == NY_END ? NY_OK : err;
}

static int store_shuffled(void *arg, const void *record, size_t bytes)
{
    struct ny_import *import = arg;
    const struct shuffled *head = record;
    char *at = (char *)(uintptr_t)(head + 1);
    uint32_t start[2] = {0, (uint32_t)head->nnz};
    struct ny_csr sparse = {.dtype = import->spec.dtype,
                            .rows = 1,
                            .start = start,
                            .index = (uint32_t *)(void *)at,
                            .value = at + padded(head->nnz * sizeof(uint32_t))};
    struct ny_rows rows = {.values = at,
                           .sparse = head->sparse ? &sparse : NULL,
                           .labels = import->spec.labels ? &head->label : NULL,
                           .source = &head->source,
                           .count = 1,
                           .consumed = ++import->drained,
                           .dropped = import->dropped};

    (void)bytes;
    return import->drained <= import->skip ? NY_OK : ny_ingest_rows(import->ingest, &rows);
}

/* ---- beginning and end -------------------------------------------------------------------- */

/* Buffers for a batch of the file, about as large as a share of the budget. */
static int allocate(struct ny_import *import, const struct ny_table *table)
{
    struct ny_context *ctx = import->ctx;
    size_t budget = ny_memory_limit(ctx) / 16, element = ny_dtype_size(table->dtype), rows, bytes;
    bool sparse = table->layout == NY_CSR;

    import->row_bytes = sparse ? 0 : (size_t)table->d * element;
    bytes = sparse ? (size_t)table->slots * (sizeof(uint32_t) + element) + sizeof(uint32_t)
                   : import->row_bytes + 1;
    rows = (budget < batch_bytes ? budget : batch_bytes) / bytes;
    import->batch_rows = rows ? rows : 1;
    import->sparse.dtype = table->dtype;
    ny_free(ctx, import->values);
    ny_free(ctx, import->labels);
    ny_free(ctx, import->source);
    import->values = ny_calloc(ctx, NY_MEM_IO, import->batch_rows, import->row_bytes);
    import->labels = ny_calloc(ctx, NY_MEM_IO, import->batch_rows, sizeof(double));
    import->source = ny_calloc(ctx, NY_MEM_IO, import->batch_rows, sizeof(uint64_t));
    return import->values && import->labels && import->source ? NY_OK : NY_EBUDGET;
}

/* The layout of a store that holds no points yet. Of rows that came dense, nobody knows how few are
 * not 0. */
static void choose_layout(struct ny_import *import, const struct ny_table *table)
{
    const uint64_t expected_share = 16;

    if (table->layout == NY_DENSE && import->layout != NY_READ_SPARSE) return;
    import->spec.layout = NY_CSR;
    import->spec.row_nnz = table->layout == NY_CSR ? table->nnz : table->d / expected_share + 1;
}

/* The first file decides d and dtype; the later ones must agree. */
static int begin(struct ny_import *import, const struct ny_reader *reader)
{
    const struct ny_table *table = ny_reader_table(reader);
    int err;

    import->spec = (struct ny_ingest_spec){.d = table->d,
                                           .dtype = table->dtype,
                                           .labels = table->labels,
                                           .source = import->shuffle || import->reading.nan_drop,
                                           .raw = import->raw,
                                           .append = import->append,
                                           .fingerprint = import->fingerprint};
    choose_layout(import, table);
    import->reading.dtype = table->dtype;
    import->reading.dims = table->d;
    import->reading.dims_of = "the file before it has";
    if (import->reading.reading == NY_READ_AUTO)
        import->reading.reading = table->layout == NY_CSR ? NY_READ_SPARSE : NY_READ_DENSE;
    err = ny_ingest_begin(&import->ingest, import->store, &import->spec, &import->skip);
    if (err || !import->shuffle) return err;
    return ny_shuffle_new(&import->order, import->ctx, ny_store_path(import->store), import->seed,
                          ny_memory_limit(import->ctx) / 8);
}

static int check_same_shape(const struct ny_import *import, const struct ny_reader *reader,
                            const char *file)
{
    const struct ny_table *table = ny_reader_table(reader);

    if (table->labels == import->spec.labels) return NY_OK;
    return ny_fail_at(import->ctx, NY_EDATA, file, NY_NO_LINE,
                      "%s has %slabels, unlike the file "
                      "before it; import it by itself with --append",
                      file, table->labels ? "" : "no ");
}

/* An append: the store would refuse it too, but cannot name the file. */
static int check_width(const struct ny_import *import, const struct ny_reader *reader,
                       const char *file)
{
    struct ny_points_info points;
    int err = ny_points_info(import->store, &points);

    if (err || !import->append || points.n == 0 || ny_reader_table(reader)->d == points.d)
        return err;
    return ny_fail_at(import->ctx, NY_EDATA, file, NY_NO_LINE,
                      "%s has %llu columns, the points of %s have %llu; append rows of the same "
                      "width",
                      file, (unsigned long long)ny_reader_table(reader)->d,
                      ny_store_path(import->store), (unsigned long long)points.d);
}

static int keep_class_names(struct ny_import *import, const struct ny_reader *reader)
{
    const char *const *names;
    size_t count;

    ny_reader_class_names(reader, &names, &count);
    return count ? ny_ingest_class_names(import->ingest, names, count) : NY_OK;
}

/* A store keeps the layout that it has. */
static int check_layout(struct ny_import *import, const struct ny_points_info *info)
{
    bool sparse = info->row_slots > 0;

    if (info->n == 0) return NY_OK;
    if (import->layout != NY_READ_AUTO && sparse != (import->layout == NY_READ_SPARSE))
        return ny_fail(import->ctx, NY_EUSAGE,
                       "--layout: the rows of %s are %s; leave the option out, and rows to append "
                       "are converted",
                       ny_store_path(import->store), sparse ? "sparse" : "dense");
    import->reading.reading = sparse ? NY_READ_SPARSE : NY_READ_DENSE;
    return NY_OK;
}

/* A LIBSVM file is as wide as its largest index: one that is appended is as wide as the points. */
static int open_file(struct ny_import *import, const char *file, struct ny_reader **reader)
{
    const struct ny_table *table;
    struct ny_points_info info;
    int err = ny_points_info(import->store, &info);

    *reader = NULL;
    if (!err) err = check_layout(import, &info);
    if (err) return err;
    if (import->reading.format && strcmp(import->reading.format, "libsvm") == 0 &&
        !import->reading.dims) {
        import->reading.dims = info.d;
        import->reading.dims_of = "the store has";
    }
    err = ny_reader_open(reader, import->ctx, file, &import->reading);
    if (err) return err;
    table = ny_reader_table(*reader);
    if (strcmp(table->format, "libsvm") != 0 || table->d >= info.d) return NY_OK;
    ny_reader_close(*reader);
    import->reading.dims = info.d;
    import->reading.dims_of = "the store has";
    return ny_reader_open(reader, import->ctx, file, &import->reading);
}

static int import_files(struct ny_import *import, const char *const *files, size_t count)
{
    int err = NY_OK;

    for (size_t i = 0; i < count && err == NY_OK; i++) {
        struct ny_reader *reader;

        err = open_file(import, files[i], &reader);
        if (err) return err;
        if (i == 0) {
            uint64_t rows = ny_reader_table(reader)->rows;

            ny_meter_start(&import->meter, import->ctx, "import", 0,
                           rows == NY_ROWS_UNKNOWN || count > 1 ? 0 : rows);
            err = check_width(import, reader, files[i]);
            if (err == NY_OK) err = begin(import, reader);
        } else {
            err = check_same_shape(import, reader, files[i]);
        }
        if (err == NY_OK) err = allocate(import, ny_reader_table(reader));
        if (err == NY_OK) err = read_file(import, reader);
        if (err == NY_OK) err = keep_class_names(import, reader);
        ny_reader_close(reader);
    }
    if (err == NY_OK && import->order)
        err = ny_shuffle_drain(import->order, store_shuffled, import);
    if (err == NY_OK) err = ny_ingest_commit(import->ingest);
    if (err == NY_END) { /* of ny_ingest_begin() */
        ny_log(import->ctx, NY_LOG_NOTE,
               "an earlier run of this import, which was cut short, had added all of its %llu rows",
               (unsigned long long)import->skip);
        import->consumed = import->skip;
        import->dropped = 0;
        err = NY_OK;
    }
    ny_meter_finish(&import->meter);
    return err;
}

static void release(struct ny_import *import)
{
    ny_shuffle_free(import->order);
    ny_ingest_free(import->ingest);
    ny_reader_close(import->reader);
    ny_free(import->ctx, import->values);
    ny_free(import->ctx, import->labels);
    ny_free(import->ctx, import->source);
    ny_free(import->ctx, import->record);
    ny_csr_release(&import->sparse, import->ctx);
    ny_store_close(import->store);
}

/* What makes it the same import: the options, and each file's name, size and time. */
static uint64_t fingerprint_of(const struct ny_options *options, const char *const *files,
                               size_t count)
{
    uint64_t parts[5] = {options ? ny_options_fingerprint(options, NY_GROUP_IMPORT) : 0};

    for (size_t i = 0; i < count; i++) {
        struct stat status = {0};

        parts[1] = ny_checksum(files[i], strlen(files[i]));
        if (stat(files[i], &status) == 0) {
            parts[2] = (uint64_t)status.st_size;
            parts[3] = (uint64_t)status.st_mtim.tv_sec;
            parts[4] = (uint64_t)status.st_mtim.tv_nsec;
        }
        parts[0] = ny_checksum(parts, sizeof(parts));
    }
    return parts[0];
}

static int describe(struct ny_import *import, double seconds, struct ny_report **report)
{
    struct ny_points_info info;
    json_t *object;
    int err = ny_points_info(import->store, &info);

    if (err || !report) return err;
    object = json_object();
    ny_field_set_json(object, "n", json_integer((json_int_t)info.n));
    ny_field_set_json(object, "d", json_integer((json_int_t)info.d));
    ny_field_set_json(object, "dtype", json_string(ny_dtype_name(info.dtype)));
    ny_field_set_json(object, "format", json_string(info.row_slots ? "sparse" : "dense"));
    ny_field_set_json(object, "nnz",
                      info.row_slots ? json_integer((json_int_t)info.nnz) : json_null());
    ny_field_set_json(object, "rows",
                        json_integer((json_int_t)(import->consumed - import->dropped)));
    ny_field_set_json(object, "dropped", json_integer((json_int_t)import->dropped));
    ny_field_set_json(object, "bytes", json_integer((json_int_t)info.raw_bytes));
    ny_field_set_json(object, "compressed_bytes", json_integer((json_int_t)info.stored_bytes));
    ny_field_set_json(object, "seconds", json_real(seconds));
    ny_field_set_json(object, "peak_rss_bytes", json_integer((json_int_t)ny_rss_peak_bytes()));
    ny_field_set_json(object, "memory_budget_bytes",
                        json_integer((json_int_t)ny_memory_limit(import->ctx)));
    return ny_report_of_json(report, import->ctx, object);
}

/* An import that would fail again in the same way leaves nothing behind; one that may go on when
 * there is space, memory or time is resumed by the same call. */
static int finish(struct ny_import *import, int err)
{
    bool hopeless = err == NY_EDATA || err == NY_EUSAGE || err == NY_ENUMERIC;

    if (hopeless && import->ingest) ny_ingest_discard(import->ingest);
    return err;
}

static enum ny_reading layout_of(const char *word)
{
    if (strcmp(word, "auto") == 0) return NY_READ_AUTO;
    return strcmp(word, "sparse") == 0 ? NY_READ_SPARSE : NY_READ_DENSE;
}

static int prepare(struct ny_import *import, const struct ny_options *options,
                   const char *const *files, size_t count)
{
    int err;

    if (options) {
        err = ny_options_check(options, NY_GROUP_IMPORT);
        if (err) return err;
        import->append = ny_options_flag(options, "append");
        import->shuffle = ny_options_flag(options, "shuffle");
        import->layout = layout_of(ny_options_text(options, "layout"));
        import->raw = strcmp(ny_options_text(options, "codec"), "raw") == 0;
        ny_options_size(options, "seed", &import->seed);
    }
    import->reading.reading = import->layout;
    import->fingerprint = fingerprint_of(options, files, count);
    if (count == 1 || !import->reading.labels_file) return NY_OK;
    return ny_fail(import->ctx, NY_EUSAGE,
                   "--labels goes with one FILE; import the files one after "
                   "another with --append");
}

int ny_import(struct ny_context *context, const char *path, const char *const *files, size_t count,
              const struct ny_options *options, struct ny_report **report)
{
    struct ny_import import = {
        .ctx = context, .reading = ny_settings_reader(options), .layout = NY_READ_AUTO};
    uint64_t memory = ny_context_memory(context);
    double started_s = ny_now();
    size_t reserved = 0;
    int err;

    if (report) *report = NULL;
    ny_error_clear(context);
    ny_fields_begin();
    if (memory > import_memory && !(options && ny_options_is_set(options, "memory")))
        ny_context_set_memory(context, import_memory);
    err = prepare(&import, options, files, count);
    if (err) goto done;
    err = ny_reserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) goto done;
    reserved = NY_PROCESS_BYTES;
    err = ny_store_create(&import.store, context, path);
    if (err) goto done;
    err = finish(&import, import_files(&import, files, count));
    if (err == NY_OK) err = describe(&import, ny_now() - started_s, report);
done:
    release(&import);
    ny_unreserve(context, NY_MEM_PROCESS, reserved);
    ny_context_set_memory(context, memory);
    return err;
}

/* ---- in steps ------------------------------------------------------------------------------ */

int ny_import_begin(struct ny_import **out, struct ny_context *context, const char *path,
                    const char *file, const struct ny_options *options)
{
    struct ny_import *import = ny_calloc(context, NY_MEM_IO, 1, sizeof(*import));
    int err;

    *out = import;
    if (!import) return NY_EBUDGET;
    import->ctx = context;
    import->reading = ny_settings_reader(options);
    err = prepare(import, options, &file, 1);
    if (!err) err = ny_store_create(&import->store, context, path);
    return err ? err : open_file(import, file, &import->reader);
}

/* One append of so many rows, or of those up to the file's end: then the reader is closed. */
static int step(struct ny_import *import, uint64_t rows)
{
    const struct ny_table *table = ny_reader_table(import->reader);
    int err = begin(import, import->reader), end;

    if (err == NY_OK && !import->values) err = allocate(import, table);
    if (err) return err;
    end = read_rows(import, import->reader, rows, &import->last);
    if (end && end != NY_END) return end;
    err = keep_class_names(import, import->reader);
    if (err == NY_OK) err = ny_ingest_commit(import->ingest);
    ny_ingest_free(import->ingest);
    import->ingest = NULL;
    import->before = import->last;
    if (end != NY_END) return err;
    ny_reader_close(import->reader);
    import->reader = NULL;
    return err;
}

int ny_import_next(struct ny_import *import, uint64_t rows, uint64_t *n)
{
    struct ny_points_info info;
    int err = ny_points_info(import->store, &info);

    if (err == NY_OK && import->reader && info.n < rows) {
        const struct ny_table *table = ny_reader_table(import->reader);
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

void ny_import_end(struct ny_import *import)
{
    if (!import) return;
    release(import);
    ny_free(import->ctx, import);
}
