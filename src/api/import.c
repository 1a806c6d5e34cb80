/*
 * An import of files into the points of a store, in one call. The first file decides the number of
 * columns, the element type and the layout; files after it must agree.
 *
 * Rows are staged in batches (api/import_rows.c) and become visible in one commit behind the last
 * file. An import is known by a fingerprint of its options and files, so that the same call after a
 * kill goes on behind the rows that were staged; one of a pipe starts over. One that would fail
 * again in the same way leaves nothing behind. An import runs in 256 MiB, even if the budget
 * of the context is larger, unless option memory is set.
 */
#include "api/call.h"
#include "api/import_private.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "api/inspect.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/checksum.h"
#include "base/clock.h"
#include "base/memory.h"
#include "io/memory.h"
#include "io/mtx_tables.h"
#include "peers/open.h"
#include "model/graph.h"
#include "results/record.h"

/* Budget of an import where option memory is not set, the most bytes of a batch, and those that a
 * name in it is taken to have. */
static const size_t import_memory = (size_t)256 << 20, batch_bytes = 4 << 20;
static const size_t usual_name_bytes = 64;

/* Buffers for a batch of the source, about as large as a share of the budget. */
static int allocate(struct ny_import *import, const struct ny_file_table *table)
{
    struct ny_import_batch *batch = &import->batch;
    size_t budget = ny_memory_limit(import->ctx) / 16, element = ny_dtype_size(table->dtype);
    bool sparse = table->layout == NY_CSR;
    size_t rows, bytes;

    batch->row_bytes = sparse ? 0 : (size_t)table->d * element;
    bytes = sparse ? (size_t)table->slots * (sizeof(uint32_t) + element) + sizeof(uint32_t)
                   : batch->row_bytes + 1;
    if (ny_import_names(import) && table->names) bytes += usual_name_bytes;
    rows = (budget < batch_bytes ? budget : batch_bytes) / bytes;
    batch->rows = rows ? rows : 1;
    batch->sparse.dtype = table->dtype;
    ny_layout_free(&batch->own);
    batch->own.ctx = import->ctx;
    batch->values = ny_lay(&batch->own, NY_MEM_IO, batch->rows, batch->row_bytes);
    batch->labels = ny_lay(&batch->own, NY_MEM_IO, batch->rows, sizeof(double));
    batch->source = ny_lay(&batch->own, NY_MEM_IO, batch->rows, sizeof(uint64_t));
    return batch->own.err;
}

/* Keeps the name of a column, unless it is too long. */
static void keep_column(char kept[NY_HOW_COLUMN_BYTES], const char *column)
{
    if (column && strlen(column) < NY_HOW_COLUMN_BYTES) strcpy(kept, column);
}

/* Completes what the store is told by what the first source is. */
static void complete_spec(struct ny_import *import, const struct ny_reader *reader)
{
    const struct ny_import_asked *asked = &import->asked;
    const struct ny_file_table *table = ny_reader_table(reader);
    const uint64_t expected_share = 16; /* of the values of dense rows that are not 0 */
    struct ny_ingest_spec *spec = &import->spec;

    *spec = asked->spec;
    spec->d = table->d;
    spec->dtype = table->dtype;
    spec->labels = table->labels;
    spec->names = table->names;
    spec->indices = ny_import_indices(import, reader);
    spec->source = asked->shuffle || asked->reading.nan_drop || asked->min_values;
    spec->preparation = import->there.preparation;
    spec->from = import->from;
    if (table->layout == NY_CSR || import->there.layout == NY_READ_SPARSE) {
        spec->layout = NY_CSR;
        spec->row_nnz = table->layout == NY_CSR ? table->nnz : table->d / expected_share + 1;
    }
    keep_column(spec->how.label_column, table->label_column);
    keep_column(spec->how.id_column, table->id_column);
}

/* The first source decides d and dtype; the later ones must agree. */
static int begin_ingest(struct ny_import *import, const struct ny_reader *reader)
{
    const struct ny_stored_points *points = &import->there.points;
    bool waits;
    int err;

    complete_spec(import, reader);
    err = ny_import_tell_facts(import, reader);
    if (!err) err = ny_ingest_waits(import->store, &waits);
    if (!err && ny_store_takes_rows(import->store))
        err = ny_import_keep_begin(import, ny_reader_table(reader));
    else if (!err)
        err = ny_ingest_begin(&import->ingest, import->store, &import->spec, &import->skip);
    if (err) return err;
    if (points->rows.n && points->labels && !import->spec.labels)
        ny_log(import->ctx, NY_LOG_NOTE, "these rows have no labels, unlike those of %s",
               ny_store_path(import->store));
    if (waits && !import->skip)
        ny_log(import->ctx, NY_LOG_WARNING,
               "another import into %s was interrupted: it starts over when it is run again",
               ny_store_path(import->store));
    if (import->skip)
        ny_log(import->ctx, NY_LOG_NOTE, "the import resumes after %llu rows",
               (unsigned long long)import->skip);
    if (!import->asked.shuffle) return NY_OK;
    return ny_shuffle_new(&import->order, import->ctx, ny_store_folder(import->store),
                          import->asked.seed, ny_memory_limit(import->ctx) / 8);
}

/* Refuses a file with labels behind one without, or the reverse, because either all rows of an
 * import have labels or none. */
static int check_same_shape(const struct ny_import *import, const struct ny_reader *reader,
                            const char *name)
{
    if (ny_reader_table(reader)->labels == import->spec.labels) return NY_OK;
    return ny_fail_at(import->ctx, NY_EDATA, name, NY_NO_LINE,
                      "%s has labels and others have none, or the other way round; import it by "
                      "itself",
                      name);
}

/* Hands the names of columns over, and tells where names of rows are missing or not kept. */
static int begin_names(struct ny_import *import, const struct ny_reader *reader, const char *name)
{
    const struct ny_names *columns = ny_reader_column_names(reader);
    const struct ny_stored_points *points = &import->there.points;

    if (ny_reader_table(reader)->names != ny_import_names(import) ||
        (columns->count && points->rows.n && !points->column_names))
        ny_log(import->ctx, NY_LOG_NOTE, "%s: its names are left out where %s has none", name,
               ny_store_path(import->store));
    if (!columns->count) return NY_OK;
    return import->kept ? ny_import_keep_columns(import, columns, name)
                        : ny_ingest_column_names(import->ingest, columns, name);
}

static int hand_classes(struct ny_import *import, const struct ny_reader *reader)
{
    const char *const *names;
    size_t count;

    ny_reader_class_names(reader, &names, &count);
    return count && import->ingest ? ny_ingest_class_names(import->ingest, names, count) : NY_OK;
}

/* Notes a file that is imported, as in "a.npy" or "a.npy and 2 more". */
static void note_file(struct ny_import *import, const char *file)
{
    if (import->files++ == 0) {
        snprintf(import->from, sizeof(import->from), "%.180s", file);
        import->from_end = strlen(import->from);
    } else {
        snprintf(import->from + import->from_end, sizeof(import->from) - import->from_end,
                 " and %zu more", import->files - 1);
    }
}

static int read_source(struct ny_import *import, struct ny_reader *reader,
                       struct ny_import_source source)
{
    int err = NY_END;

    if (import->kept && source.file && source.alone) err = ny_import_keep_in_place(import, reader);
    if (err != NY_END) return err;
    err = allocate(import, ny_reader_table(reader));
    return err ? err : ny_import_file(import, reader, ny_import_name(source), source.rows);
}

int ny_import_source(struct ny_import *import, struct ny_import_source source)
{
    const char *name = ny_import_name(source);
    struct ny_reader *reader;
    int err = ny_import_open(import, source, &reader);

    if (err) return err;
    if (source.file) note_file(import, source.file);
    if (!ny_import_began(import)) {
        uint64_t rows =
            source.rows.end ? source.rows.end - source.rows.first : ny_reader_table(reader)->rows;

        ny_meter_start(&import->meter, import->ctx, "import", 0,
                       rows == NY_ROWS_UNKNOWN || !source.alone ? 0 : rows);
        err = begin_ingest(import, reader);
    } else {
        err = check_same_shape(import, reader, name);
        import->spec.indices = ny_import_indices(import, reader);
    }
    if (err == NY_OK) err = begin_names(import, reader, name);
    if (err == NY_OK) err = read_source(import, reader, source);
    if (err == NY_OK) err = hand_classes(import, reader);
    ny_reader_close(reader);
    return err;
}

/* Commits the rows of all sources, those that were shuffled in their order. */
static int commit(struct ny_import *import)
{
    int err = NY_OK;

    if (import->order) err = ny_shuffle_drain(import->order, ny_import_shuffled, import);
    if (!err && import->claim && import->spec.labels)
        err = ny_claim_labels(import->claim, import->classes);
    if (!err) err = ny_import_tell_repeats(import);
    if (err) return err;
    return import->kept ? ny_import_keep_commit(import) : ny_ingest_commit(import->ingest);
}

/* An import that would fail again in the same way leaves nothing behind; one that may go on when
 * there is space, memory or time is resumed by the same call, and leaves nothing where it had not
 * come to any rows. */
static int leave_behind(struct ny_import *import, int err)
{
    if (!err) return err;
    import->discarded = import->ingest && ny_is_final(err);
    if (import->discarded) ny_ingest_discard(import->ingest);
    ny_ingest_free(import->ingest);
    import->ingest = NULL;
    ny_store_withdraw(import->store);
    return err;
}

/* The ingest begins with NY_END if an earlier run of the same import had committed: then all is
 * done, and a note says so. */
int ny_import_finish(struct ny_import *import, int err)
{
    if (err == NY_OK) err = commit(import);
    if (err == NY_END) { /* of ny_ingest_begin() */
        ny_log(import->ctx, NY_LOG_NOTE, "all %llu rows had been added before",
               (unsigned long long)import->skip);
        import->consumed = import->skip;
        import->dropped = 0;
        err = NY_OK;
    }
    if (import->meter.ctx) ny_meter_finish(&import->meter);
    import->arrived = !err;
    if (!err && import->claim) ny_claim_arrive(import->claim);
    return leave_behind(import, err);
}

void ny_import_tell_dropped(json_t *object, const struct ny_import_dropped *dropped)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < dropped->told; i++)
        ny_field_append(rows, json_integer((json_int_t)dropped->first[i]));
    ny_field_set_count(object, "dropped", dropped->rows);
    ny_field_set_json(object, "dropped_rows", rows);
}

json_t *ny_import_report(const struct ny_rows_info *info, const struct ny_import_told *told)
{
    json_t *object = json_object();

    ny_field_set_count(object, "n", info->n);
    ny_field_set_count(object, "d", info->d);
    ny_field_set_text(object, "dtype", ny_dtype_name(info->dtype));
    ny_describe_preparation(object, info);
    ny_field_set_text(object, "format", info->row_slots ? "sparse" : "dense");
    ny_field_set_json(object, "nnz",
                      info->row_slots ? json_integer((json_int_t)info->nnz) : json_null());
    ny_field_set_count(object, "rows", told->rows);
    ny_import_tell_dropped(object, told->dropped);
    ny_field_set_count(object, "values_left_out", told->values_left_out);
    ny_field_set_json(object, "shard", json_null());
    ny_field_set_count(object, "bytes", ny_points_raw_bytes(info));
    ny_field_set_count(object, "compressed_bytes", told->stored_bytes);
    ny_field_set_count(object, "bytes_added", told->bytes_added);
    ny_field_set_number(object, "seconds", told->seconds);
    ny_field_set_peak(object);
    ny_field_set_count(object, "memory_budget_bytes", told->budget);
    return object;
}

int ny_import_describe(struct ny_import *import, double seconds, struct ny_report **report)
{
    struct ny_import_told told = {.rows = import->consumed - import->dropped,
                                  .dropped = &import->left_out,
                                  .values_left_out = import->values_left_out,
                                  .bytes_added = (uint64_t)import->meter.bytes_done,
                                  .seconds = seconds,
                                  .budget = ny_context_memory(import->ctx)};
    struct ny_rows_info info;
    json_t *object;
    int err = ny_points_info(import->store, &info);

    if (err || !report) return err;
    told.stored_bytes = info.kept_bytes;
    if (import->asked.memory < told.budget) told.budget = import->asked.memory;
    object = ny_import_report(&info, &told);
    if (import->claim) ny_field_set_count(object, "shard", import->claim->shard);
    return ny_report_of_json(report, import->ctx, object);
}

/* Refuses processes that would all import the same rows into one store. */
static int check_peers(struct ny_context *ctx, const struct ny_options *options)
{
    const char *peers = ny_options_get(options, "peers");
    bool alone = peers && strcmp(peers, "alone") == 0, dealt = ny_options_is_set(options, "shards");
    unsigned ranks = alone ? 0 : ny_transport_launched();

    if (dealt) return NY_OK;
    if ((peers && !alone) || ny_options_is_set(options, "peers-wait"))
        return ny_fail_only(ctx, "peers", "--shards");
    if (ranks < 2 || ny_options_is_set(options, "shard") || !ny_context_command(ctx)) return NY_OK;
    return ny_fail(
        ctx, NY_EUSAGE,
        "%u processes were started to import the same rows; give --shards %u, or --peers "
        "alone",
        ranks, ranks);
}

int ny_import_prepare(struct ny_import *import, const struct ny_options *options)
{
    struct ny_import_asked *asked = &import->asked;
    struct ny_ingest_spec *spec = &asked->spec;
    int err;

    asked->reading = ny_settings_reader(options);
    asked->reading.nan_option = asked->reading.notes = asked->reading.names = true;
    asked->reading.reading = NY_READ_AUTO;
    asked->memory = import_memory;
    if (!options) return NY_OK;
    err = ny_options_check(options, NY_GROUP_IMPORT);
    if (!err) err = check_peers(import->ctx, options);
    if (!err) err = ny_settings_preparation(import->ctx, options, &spec->preparation);
    if (err) return err;
    asked->reading.reading = ny_settings_layout(options);
    asked->rows_typed = ny_options_is_set(options, "rows");
    asked->values_typed = ny_options_is_set(options, "values");
    asked->shard = ny_options_get(options, "shard");
    asked->like = ny_options_get(options, "like");
    asked->shuffle = ny_options_flag(options, "shuffle");
    ny_options_size(options, "seed", &asked->seed);
    ny_options_size(options, "min-values", &asked->min_values);
    if (ny_options_is_set(options, "memory")) asked->memory = SIZE_MAX;
    spec->append = ny_options_flag(options, "append");
    spec->raw = strcmp(ny_options_get(options, "codec"), "raw") == 0;
    spec->expects = ny_options_size(options, "expect-rows", &spec->expected);
    spec->fingerprint = ny_options_fingerprint(options, NY_GROUP_IMPORT);
    return NY_OK;
}

int ny_import_work(struct ny_import *import)
{
    size_t others;
    int err;

    import->used = ny_memory_used(import->ctx);
    others = import->used - import->held;
    if (import->asked.memory < SIZE_MAX - others)
        ny_context_limit_memory(import->ctx, others + import->asked.memory);
    err = ny_call_begin(import->ctx);
    import->working = !err;
    if (err) ny_context_limit_memory(import->ctx, SIZE_MAX);
    return err;
}

void ny_import_rest(struct ny_import *import)
{
    if (!import->working) return;
    ny_call_end(import->ctx);
    ny_context_limit_memory(import->ctx, SIZE_MAX);
    import->held += ny_memory_used(import->ctx) - import->used;
    import->working = false;
}

int ny_import_enter(struct ny_import *import, const char *path)
{
    struct ny_rows_info info;
    struct stat status;
    bool there;
    int err = ny_import_work(import);

    if (!err) err = ny_import_claim(import, path, &path);
    if (err) return err;
    there = stat(path, &status) == 0;
    err = ny_store_create(&import->store, import->ctx, path);
    if (err || !there) return err;
    err = ny_points_info(import->store, &info);
    return err || info.n ? err : ny_refuse_nodes(import->store); /* which are not rows that come */
}

void ny_import_leave(struct ny_import *import)
{
    ny_shuffle_free(import->order);
    ny_ingest_free(import->ingest);
    ny_import_keep_free(import);
    ny_classes_free(import->classes);
    ny_layout_free(&import->batch.own);
    ny_free(import->ctx, import->batch.record);
    ny_names_release(&import->batch.names, import->ctx);
    ny_free(import->ctx, import->repeats.hash);
    ny_csr_release(&import->batch.sparse, import->ctx);
    ny_import_unclaim(import);
    ny_store_close(import->store);
    ny_import_rest(import);
}

/* Adds name, size and time of a file to the fingerprint; of a pipe, the time of now. */
static void identify_file(struct ny_import *import, const char *file)
{
    uint64_t parts[5] = {import->asked.spec.fingerprint, ny_checksum(file, strlen(file))};
    double now = ny_now();
    struct stat status;

    if (strcmp(file, "-") == 0) {
        parts[2] = ny_checksum(&now, sizeof(now));
    } else if (stat(file, &status) == 0) {
        parts[2] = (uint64_t)status.st_size;
        parts[3] = (uint64_t)status.st_mtim.tv_sec;
        parts[4] = (uint64_t)status.st_mtim.tv_nsec;
    }
    import->asked.spec.fingerprint = ny_checksum(parts, sizeof(parts));
}

/* Adds the names, sizes and times of files, and of those that their labels and names are in, to the
 * fingerprint, by which the same call is known after a kill: it goes on behind the rows that were
 * staged. */
static int identify(struct ny_import *import, const struct ny_import_files *all)
{
    size_t count = all->count;

    if (all->rows)
        import->asked.spec.fingerprint ^= ny_checksum(all->rows, count * sizeof(*all->rows));
    for (size_t i = 0; i < count; i++) {
        char beside[NY_MTX_TABLES][PATH_MAX];

        identify_file(import, all->names[i]);
        ny_mtx_tables_find(all->names[i], beside);
        for (size_t k = 0; k < NY_MTX_TABLES; k++)
            if (beside[k][0]) identify_file(import, beside[k]);
    }
    if (import->asked.reading.labels_file) identify_file(import, import->asked.reading.labels_file);
    if (import->asked.reading.column_names)
        identify_file(import, import->asked.reading.column_names);
    if (count == 1 || !import->asked.reading.labels_file) return NY_OK;
    return ny_fail_idle(import->ctx, "labels", "several files");
}

/* Imports all files as one ingest and commits it. */
static int import_files(struct ny_import *import, const struct ny_import_files *files)
{
    int err = NY_OK;

    for (size_t i = 0; i < files->count && err == NY_OK; i++)
        err = ny_import_source(
            import, (struct ny_import_source){.file = files->names[i],
                                              .alone = files->count == 1,
                                              .rows = files->rows ? files->rows[i]
                                                                  : (struct ny_row_range){0}});
    return ny_import_finish(import, err);
}

int ny_import_all(struct ny_context *context, const char *path, const struct ny_import_files *files,
                  const struct ny_options *options, struct ny_report **report)
{
    struct ny_import import = {.ctx = context};
    double started_s = ny_now();
    int err = NY_GIVEN(context, path, files->names);

    if (report) *report = NULL;
    if (!err && !files->count)
        err = ny_given(context, __func__, "files", (const void *const[]){NULL}, 1);
    if (!err) err = ny_import_prepare(&import, options);
    if (!err) err = identify(&import, files);
    if (err) return err;
    if (files->shard) import.asked.shard = files->shard;
    import.asked.deal = files->deal;
    err = ny_import_enter(&import, path);
    if (!err) err = import_files(&import, files);
    if (err == NY_OK) err = ny_import_describe(&import, ny_now() - started_s, report);
    ny_import_leave(&import);
    return err;
}
