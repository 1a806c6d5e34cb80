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
#include "api/given.h"
#include "api/import_private.h"

#include <string.h>
#include <sys/stat.h>

#include "api/inspect.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/clock.h"
#include "base/memory.h"
#include "io/memory.h"
#include "peers/open.h"
#include "model/graph.h"
#include "results/record.h"

/* Budget of an import where option memory is not set, the most bytes of a batch, and those that a
 * name in it is taken to have. */
static const size_t import_memory = (size_t)256 << 20, batch_bytes = 4 << 20;
static const size_t usual_name_bytes = 64;

/* Buffers for a batch of the file, about as large as a share of the budget. */
static int allocate(struct ny_import *import, const struct ny_file_table *table)
{
    struct ny_context *ctx = import->ctx;
    size_t budget = ny_memory_limit(ctx) / 16, element = ny_dtype_size(table->dtype), rows, bytes;
    bool sparse = table->layout == NY_CSR;

    import->row_bytes = sparse ? 0 : (size_t)table->d * element;
    bytes = sparse ? (size_t)table->slots * (sizeof(uint32_t) + element) + sizeof(uint32_t)
                   : import->row_bytes + 1;
    if (import->names && table->names) bytes += usual_name_bytes;
    rows = (budget < batch_bytes ? budget : batch_bytes) / bytes;
    import->batch_rows = rows ? rows : 1;
    import->sparse.dtype = table->dtype;
    ny_layout_free(&import->batch);
    import->batch.ctx = ctx;
    import->values = ny_lay(&import->batch, NY_MEM_IO, import->batch_rows, import->row_bytes);
    import->labels = ny_lay(&import->batch, NY_MEM_IO, import->batch_rows, sizeof(double));
    import->source = ny_lay(&import->batch, NY_MEM_IO, import->batch_rows, sizeof(uint64_t));
    return import->batch.err;
}

/* The layout of a store that holds no points yet. For rows that came dense, the number of values
 * that are not 0 is not known. */
static void choose_layout(struct ny_import *import, const struct ny_file_table *table)
{
    const uint64_t expected_share = 16;

    if (table->layout == NY_DENSE && import->layout != NY_READ_SPARSE) return;
    import->spec.layout = NY_CSR;
    import->spec.row_nnz = table->layout == NY_CSR ? table->nnz : table->d / expected_share + 1;
}

/* Keeps the name of a column, unless it is too long. */
static void keep_column(char kept[NY_HOW_COLUMN_BYTES], const char *column)
{
    if (column && strlen(column) < NY_HOW_COLUMN_BYTES) strcpy(kept, column);
}

/* Tells that the rows of the first file have no labels, unlike those of the store. */
static void tell_unlabelled(const struct ny_import *import, const struct ny_rows_info *info)
{
    const char *path = ny_store_path(import->store);

    if (!info->n || !info->labels || import->spec.labels) return;
    ny_log(import->ctx, NY_LOG_NOTE, "these rows have no labels, unlike those of %s", path);
}

/* The first file decides d and dtype; the later ones must agree. */
static int begin_ingest(struct ny_import *import, const struct ny_reader *reader)
{
    const struct ny_file_table *table = ny_reader_table(reader);
    struct ny_rows_info info;
    bool waits;
    int err = ny_points_info(import->store, &info);

    if (err) return err;
    import->names = info.n ? info.names : table->names;
    import->spec = (struct ny_ingest_spec){.d = table->d,
                                           .dtype = table->dtype,
                                           .labels = table->labels,
                                           .names = table->names,
                                           .indices = import->reading.indices,
                                           .source = import->shuffle || import->reading.nan_drop ||
                                                     import->min_values,
                                           .raw = import->raw,
                                           .append = import->append,
                                           .expects = import->expects,
                                           .expected = import->expected,
                                           .whole = import->whole,
                                           .rows_before = import->rows_before,
                                           .preparation = import->preparation,
                                           .from = import->from,
                                           .fingerprint = import->fingerprint};
    choose_layout(import, table);
    keep_column(import->spec.how.label_column, table->label_column);
    keep_column(import->spec.how.id_column, table->id_column);
    err = ny_import_tell_facts(import, &info, reader);
    if (err) return err;
    import->reading.dtype_follows = !import->reading.dtype;
    if (table->dtype != NY_GENOTYPE) import->reading.dtype = table->dtype;
    import->reading.dims = table->d;
    import->reading.dims_of = "the file before it has";
    if (import->reading.reading == NY_READ_AUTO)
        import->reading.reading = table->layout == NY_CSR ? NY_READ_SPARSE : NY_READ_DENSE;
    err = ny_ingest_waits(import->store, &waits);
    if (!err && ny_store_takes_rows(import->store))
        err = ny_import_keep_begin(import, table);
    else if (!err)
        err = ny_ingest_begin(&import->ingest, import->store, &import->spec, &import->skip);
    if (!err) tell_unlabelled(import, &info);
    if (!err && waits && !import->skip)
        ny_log(import->ctx, NY_LOG_WARNING,
               "another import into %s was interrupted: it starts over when it is run again",
               ny_store_path(import->store));
    if (!err && import->skip)
        ny_log(import->ctx, NY_LOG_NOTE, "the import resumes after %llu rows",
               (unsigned long long)import->skip);
    if (err || !import->shuffle) return err;
    return ny_shuffle_new(&import->order, import->ctx, ny_store_folder(import->store), import->seed,
                          ny_memory_limit(import->ctx) / 8);
}

static const char *name_of(struct ny_import_source source)
{
    return source.file ? source.file : ny_memory_name(source.table);
}

/* Refuses a file with labels behind one without, or the reverse, because either all rows of an
 * import have labels or none. */
static int check_same_shape(const struct ny_import *import, const struct ny_reader *reader,
                            struct ny_import_source source)
{
    const struct ny_file_table *table = ny_reader_table(reader);
    const char *name = name_of(source);

    if (table->labels == import->spec.labels) return NY_OK;
    return ny_fail_at(import->ctx, NY_EDATA, name, NY_NO_LINE,
                      "%s has labels and others have none, or the other way round; import it by "
                      "itself",
                      name);
}

/* Hands the names of columns over, and tells where names of rows are missing or not kept. */
static int begin_names(struct ny_import *import, const struct ny_reader *reader,
                       struct ny_import_source source)
{
    const struct ny_names *columns = ny_reader_column_names(reader);
    bool has = ny_reader_table(reader)->names;
    struct ny_rows_info info;
    int err = ny_points_info(import->store, &info);

    if (err) return err;
    if (has != import->names || (columns->count && info.n && !info.column_names))
        ny_log(import->ctx, NY_LOG_NOTE, "%s: its names are left out where %s has none",
               name_of(source), ny_store_path(import->store));
    if (!columns->count) return NY_OK;
    return import->kept ? ny_import_keep_columns(import, columns, name_of(source))
                        : ny_ingest_column_names(import->ingest, columns, name_of(source));
}

static int hand_classes(struct ny_import *import, const struct ny_reader *reader)
{
    const char *const *names;
    size_t count;

    ny_reader_class_names(reader, &names, &count);
    return count && import->ingest ? ny_ingest_class_names(import->ingest, names, count) : NY_OK;
}

/* A store keeps the layout that it has. */
static int check_layout(struct ny_import *import, const struct ny_rows_info *info)
{
    bool sparse = info->row_slots > 0;

    if (info->n == 0) return NY_OK;
    if (import->layout != NY_READ_AUTO && sparse != (import->layout == NY_READ_SPARSE))
        return ny_fail_idle(import->ctx, "layout", ny_store_path(import->store));
    import->reading.reading = sparse ? NY_READ_SPARSE : NY_READ_DENSE;
    return NY_OK;
}

/* Rows to append are prepared as those of the store are; words that say otherwise are refused. */
static int check_preparation(struct ny_import *import, const struct ny_rows_info *info)
{
    const struct ny_prepared *asked = &import->preparation, *has = &info->preparation;
    char rows[NY_PREPARED_WORD_BYTES];

    if (info->n == 0) return NY_OK;
    if ((!import->rows_typed || (asked->rows == has->rows && asked->total == has->total)) &&
        (!import->values_typed || asked->values == has->values))
        return NY_OK;
    return ny_fail(
        import->ctx, NY_EUSAGE,
        "the rows of %s have --rows %s --values %s; leave both out, or import into another store",
        ny_store_path(import->store), ny_prepared_rows(has, rows), ny_prepared_values(has));
}

/* Words of labels have the numbers of the store's class names, in the first file and all others. */
static int begin_classes(struct ny_import *import)
{
    char **names;
    size_t count;
    int err = ny_points_class_names(import->store, &names, &count);

    if (!err) err = ny_classes_new(&import->classes, import->ctx);
    if (!err) err = ny_classes_know(import->classes, names, count);
    if (!err && import->claim) err = ny_claim_classes(import->claim, import->classes);
    ny_free(import->ctx, names);
    import->reading.classes = import->classes;
    return err;
}

/* Refuses genotypes beside other rows, and what cannot be done to them. */
static int check_kind(const struct ny_import *import, struct ny_import_source source,
                      const struct ny_file_table *table)
{
    const struct ny_party there = {.whose = "the file before it",
                                   .traits = {.d = table->d, .dtype = import->spec.dtype}},
                          coming = {.whose = name_of(source),
                                    .traits = {.d = table->d, .dtype = table->dtype}};
    int err = ny_points_check_columns(import->store, &coming);

    if (!err) err = ny_traits_compare(import->ctx, &coming, &there, 0, NULL);
    if (err || table->dtype != NY_GENOTYPE) return err;
    if (import->layout == NY_READ_SPARSE) return ny_fail_idle(import->ctx, "layout", "genotypes");
    if (!ny_prepares(&import->preparation)) return NY_OK;
    return ny_fail_idle(import->ctx, import->rows_typed ? "rows" : "values", "genotypes");
}

static const char *known(const char *column)
{
    return column[0] ? column : NULL;
}

/* Rows to append are as wide as the points, which a LIBSVM file does not say by itself, and their
 * indices begin as those of the points do. Text is parsed to f64 where the points are f64. */
static int open_source(struct ny_import *import, struct ny_import_source source,
                       struct ny_reader **reader)
{
    struct ny_rows_info info;
    int err = ny_points_info(import->store, &info);

    *reader = NULL;
    import->reading.scratch = ny_store_folder(import->store);
    if (!err) err = check_layout(import, &info);
    if (!err) err = check_preparation(import, &info);
    if (!err && info.n && import->claim) err = ny_claim_keep(import->claim, import->store);
    if (!err && !import->classes) err = begin_classes(import);
    if (err) return err;
    if (import->append && info.n > 0) {
        import->reading.dims = info.d;
        import->reading.dims_of = "the store has";
        if (info.indices) import->reading.indices = info.indices;
        if (!import->reading.dtype && info.stored_dtype == NY_F64) import->reading.dtype = NY_F64;
    }
    import->reading.no_labels =
        ny_import_began(import) ? !import->spec.labels : info.n && !info.labels;
    if (!ny_import_began(import)) err = ny_points_import_how(import->store, &import->how);
    if (err) return err;
    import->has = (struct ny_columns_like){.whose = ny_store_path(import->store),
                                           .count = info.d,
                                           .load = ny_points_all_columns,
                                           .arg = import->store,
                                           .label_column = known(import->how.label_column),
                                           .id_column = known(import->how.id_column)};
    import->reading.like = info.n > 0 && info.column_names ? &import->has : NULL;
    if (info.n == 0 && !ny_import_began(import)) ny_import_follow(import);
    err = source.file ? ny_reader_open(reader, import->ctx, source.file, &import->reading)
                      : ny_reader_open_memory(reader, import->ctx, source.table, &import->reading);
    if (err) return err;
    if (!import->reading.indices) import->reading.indices = ny_reader_table(*reader)->indices;
    err = check_kind(import, source, ny_reader_table(*reader));
    if (err) ny_reader_close(*reader);
    return err;
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
    return err ? err : ny_import_file(import, reader, name_of(source), source.rows);
}

int ny_import_source(struct ny_import *import, struct ny_import_source source)
{
    struct ny_reader *reader;
    int err = open_source(import, source, &reader);

    if (err) return err;
    if (source.file) note_file(import, source.file);
    if (!ny_import_began(import)) {
        uint64_t rows =
            source.rows.end ? source.rows.end - source.rows.first : ny_reader_table(reader)->rows;

        ny_meter_start(&import->meter, import->ctx, "import", 0,
                       rows == NY_ROWS_UNKNOWN || !source.alone ? 0 : rows);
        err = begin_ingest(import, reader);
        if (source.table) import->reading.dims_of = "the table before it has";
    } else {
        err = check_same_shape(import, reader, source);
    }
    if (err == NY_OK) err = begin_names(import, reader, source);
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
    if (!err) err = ny_import_settle(import);
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
    if (!err) ny_import_arrive(import);
    return leave_behind(import, err);
}

static void release(struct ny_import *import)
{
    ny_shuffle_free(import->order);
    ny_ingest_free(import->ingest);
    ny_import_keep_free(import);
    ny_classes_free(import->classes);
    ny_layout_free(&import->batch);
    ny_free(import->ctx, import->record);
    ny_names_release(&import->row_names, import->ctx);
    ny_free(import->ctx, import->repeats.hash);
    ny_csr_release(&import->sparse, import->ctx);
    ny_import_unclaim(import);
    ny_store_close(import->store);
}

/* Returns the bytes of the budget that the import may take. */
static uint64_t budget_of(const struct ny_import *import)
{
    uint64_t budget = ny_context_memory(import->ctx);

    return import->memory < budget ? import->memory : budget;
}

int ny_import_describe(struct ny_import *import, double seconds, struct ny_report **report)
{
    struct ny_import_told told = {.rows = import->consumed - import->dropped,
                                  .dropped = &import->left_out,
                                  .values_left_out = import->values_left_out,
                                  .bytes_added = (uint64_t)import->meter.bytes_done,
                                  .seconds = seconds,
                                  .budget = budget_of(import)};
    struct ny_rows_info info;
    json_t *object;
    int err = ny_points_info(import->store, &info);

    if (err || !report) return err;
    told.stored_bytes = info.stored_bytes;
    object = ny_import_report(&info, &told);
    if (import->claim) ny_field_set_count(object, "shard", ny_claim_shard(import->claim));
    return ny_report_of_json(report, import->ctx, object);
}

/* Reads how rows are to be prepared. */
static int read_preparation(struct ny_import *import, const struct ny_options *options)
{
    import->rows_typed = ny_options_is_set(options, "rows");
    import->values_typed = ny_options_is_set(options, "values");
    return ny_settings_preparation(import->ctx, options, &import->preparation);
}

/* Refuses processes that would all import the same rows into one store. */
static int check_peers(struct ny_context *ctx, const struct ny_options *options)
{
    const char *peers = ny_options_text(options, "peers");
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
    int err;

    import->reading.nan_option = import->reading.notes = import->reading.names = true;
    import->reading.reading = import->layout;
    if (!options) return NY_OK;
    err = ny_options_check(options, NY_GROUP_IMPORT);
    if (!err) err = check_peers(import->ctx, options);
    if (!err) err = read_preparation(import, options);
    if (err) return err;
    import->append = ny_options_flag(options, "append");
    import->shard = ny_options_text(options, "shard");
    import->like = ny_options_text(options, "like");
    import->shuffle = ny_options_flag(options, "shuffle");
    import->layout = ny_settings_layout(options);
    import->raw = strcmp(ny_options_text(options, "codec"), "raw") == 0;
    import->expects = ny_options_size(options, "expect-rows", &import->expected);
    ny_options_size(options, "seed", &import->seed);
    ny_options_size(options, "min-values", &import->min_values);
    import->reading.reading = import->layout;
    import->fingerprint = ny_options_fingerprint(options, NY_GROUP_IMPORT);
    return NY_OK;
}

/* Refuses a store that has graphs of nodes, which are not the rows that come in. */
static int check_nodes(struct ny_import *import)
{
    struct ny_rows_info info;
    int err = ny_points_info(import->store, &info);

    return err || info.n ? err : ny_refuse_nodes(import->store);
}

int ny_import_work(struct ny_import *import)
{
    size_t others;
    int err;

    import->used = ny_memory_used(import->ctx);
    others = import->used - import->held;
    if (import->memory < SIZE_MAX - others)
        ny_context_limit_memory(import->ctx, others + import->memory);
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

int ny_import_enter(struct ny_import *import, const char *path, const struct ny_options *options)
{
    struct stat status;
    bool there;
    int err;

    import->memory = options && ny_options_is_set(options, "memory") ? SIZE_MAX : import_memory;
    err = ny_import_work(import);
    if (err) return err;
    err = ny_import_claim(import, path, &path);
    if (err) return err;
    there = stat(path, &status) == 0;
    err = ny_store_create(&import->store, import->ctx, path);
    return err || !there ? err : check_nodes(import);
}

void ny_import_leave(struct ny_import *import)
{
    release(import);
    ny_import_rest(import);
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
    struct ny_import import = {
        .ctx = context, .reading = ny_settings_reader(options), .layout = NY_READ_AUTO};
    double started_s = ny_now();
    int err = NY_GIVEN(context, path, files->names);

    if (report) *report = NULL;
    if (!err && !files->count)
        err = ny_given(context, __func__, "files", (const void *const[]){NULL}, 1);
    if (!err) err = ny_import_prepare(&import, options);
    if (!err) err = ny_import_identify(&import, files);
    if (err) return err;
    if (files->shard) import.shard = files->shard;
    import.deal = files->deal;
    err = ny_import_enter(&import, path, options);
    if (!err) err = import_files(&import, files);
    if (err == NY_OK) err = ny_import_describe(&import, ny_now() - started_s, report);
    ny_import_leave(&import);
    return err;
}
