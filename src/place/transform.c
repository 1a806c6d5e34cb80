/*
 * Drives a transform (place/transform.h): rows of a file, or of memory, become coordinates in a
 * file, or in memory. place/landmarks.c, place/points.c and maps/graph_place.c call it, each with
 * its own way of placing rows.
 *
 * The rows are read like those that the result was made of, in a type and with slots that hold
 * both. A text file whose number of rows the output format needs in advance is read once more to
 * count them. Rows with NaN that are kept come to no placer: they are written as NaN between those
 * that were placed. A file that fails leaves no output.
 */
#include "place/transform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/memory.h"
#include "io/output.h"
#include "io/reader_source.h"
#include "linalg/matrix.h"
#include "results/current.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* Finds the columns of names and of labels as rows to append have them, if these are wanted. */
static int find_columns(struct ny_placer *placer, const struct ny_new_rows *rows,
                        struct ny_columns_like *like)
{
    int err = ny_points_import_how(rows->like, &placer->how);

    if (rows->with.ids && placer->how.id_column[0]) like->id_column = placer->how.id_column;
    if (rows->with.labels && placer->how.label_column[0])
        like->label_column = placer->how.label_column;
    return err;
}

/* Adds the names of the columns of a model. */
static int load_names(void *arg, struct ny_names *names)
{
    const struct ny_placer *placer = arg;
    const struct ny_names *columns = placer->party.columns;

    return ny_names_append(names, placer->spec.ctx, columns->text, columns->count);
}

/* NY_EDATA where columns of new rows are called otherwise than those that they are compared with.
 */
static int check_columns(const struct ny_placer *placer, const struct ny_new_rows *rows,
                         const struct ny_reader *reader)
{
    const struct ny_names *names = ny_reader_column_names(reader);
    const struct ny_party party = {
        .whose = rows->input ? rows->input : ny_memory_name(rows->table),
        .traits = {.d = ny_reader_table(reader)->d, .columns = ny_names_digest(names)},
        .columns = names};
    bool noted = rows->input && !placer->party.traits.columns; /* the model may be of 1.1 */

    if (rows->like) return ny_points_check_columns(rows->like, &party);
    return ny_traits_compare(placer->spec.ctx, &party, &placer->party,
                             NY_SAME_COLUMNS | (noted ? NY_SAME_NOTED : 0), NULL);
}

/* Opens a file of new rows, once more where it was opened `again`. The options that are given may
 * say how to read it; what the rows of the result decide is decided here: text is parsed to f64
 * if these are f64, and every row has its place in the output. */
static int open_input(struct ny_placer *placer, const struct ny_new_rows *rows, bool again,
                      struct ny_reader **out)
{
    const struct ny_columns_spec *spec = &placer->spec;
    struct ny_reader_options options =
        rows->options ? *rows->options : (struct ny_reader_options){0};
    struct ny_rows_info info = {.column_names = false};
    struct ny_columns_like like = {.load = ny_points_all_columns, .arg = rows->like};
    int err = rows->like ? ny_points_info(rows->like, &info) : NY_OK;

    if (!err && rows->like) err = find_columns(placer, rows, &like);
    if (err) return err;
    like.count = info.d;
    if (info.column_names) {
        like.whose = ny_store_path(rows->like);
        options.like = &like;
    } else if (placer->party.columns && placer->party.columns->count) {
        like = (struct ny_columns_like){.whose = placer->party.whose,
                                        .count = placer->party.traits.d,
                                        .load = load_names,
                                        .arg = placer};
        options.like = &like;
    }
    options.dims = spec->geometry->d;
    options.dims_of = placer->whose;
    options.indices = info.indices;
    options.again = again;
    options.nan_drop = options.nan_kept;
    options.nan_may_stay = rows->input && !placer->ops->open;
    options.notes = options.nan_kept && !again;
    options.labels_file = NULL;
    /* Messages tell names of rows in memory. */
    options.names = rows->like || placer->party.columns || rows->with.ids || !rows->input;
    options.reading = spec->slots ? NY_READ_SPARSE : NY_READ_DENSE;
    if (options.dtype == NY_DTYPE_NONE && spec->dtype == NY_F64) options.dtype = NY_F64;
    return rows->input ? ny_reader_open(out, spec->ctx, rows->input, &options)
                       : ny_reader_open_memory(out, spec->ctx, rows->table, &options);
}

/* Bytes of the rows that are read at a time to count them. */
enum { COUNTED_BYTES = 4 << 20 };

/* Counts the rows of a text file by reading it once. A pipe, which can be read only once, is left
 * as unknown. */
static int count_rows(struct ny_placer *placer, const struct ny_new_rows *rows, uint64_t *count)
{
    struct ny_context *ctx = placer->spec.ctx;
    struct ny_reader *reader = NULL;
    struct ny_csr sparse = {0};
    struct ny_row_batch batch = {.sparse = &sparse};
    const struct ny_file_table *table;
    struct stat status;
    size_t row_bytes, most = NY_UNIT_ROWS;
    int err;

    if (stat(rows->input, &status) != 0 || !S_ISREG(status.st_mode)) return NY_OK;
    err = open_input(placer, rows, true, &reader);
    if (err) return err;
    table = ny_reader_table(reader);
    sparse.dtype = table->dtype;
    row_bytes =
        table->layout == NY_CSR ? 0 : placer->spec.geometry->d * ny_dtype_size(table->dtype);
    if (row_bytes > COUNTED_BYTES / most) most = COUNTED_BYTES / row_bytes + 1;
    batch.values = ny_alloc(ctx, NY_MEM_IO, most * row_bytes);
    if (!batch.values) err = NY_EBUDGET;
    while (err == NY_OK) {
        sparse.rows = 0;
        err = ny_reader_next(reader, most, &batch);
    }
    if (err == NY_END) {
        *count = batch.consumed;
        err = NY_OK;
    }
    ny_free(ctx, batch.values);
    ny_csr_release(&sparse, ctx);
    ny_reader_close(reader);
    return err;
}

/* Finds the number of rows, if the output's format has to begin with it. */
static int find_rows(struct ny_placer *placer, const struct ny_new_rows *rows,
                     const struct ny_reader *reader)
{
    const struct ny_cluster_finder *finder = rows->finder;
    const char *clusters = finder ? finder->output : NULL;

    placer->rows = ny_reader_table(reader)->rows;
    if (placer->rows != NY_ROWS_UNKNOWN || !((rows->output && ny_writer_needs_rows(rows->output)) ||
                                             (clusters && ny_writer_needs_rows(clusters))))
        return NY_OK;
    return count_rows(placer, rows, &placer->rows);
}

/* Takes a type and slots that hold both the rows of the result and those of the file, which may be
 * full where they are dense. */
static void widen(struct ny_columns_spec *spec, const struct ny_file_table *table)
{
    size_t slots = (size_t)(table->layout == NY_CSR ? table->slots : table->d);

    spec->dtype = ny_dtype_common(spec->dtype, ny_prepared_dtype(&spec->preparation, table->dtype));
    if (spec->slots && slots > spec->slots) spec->slots = slots;
}

/* ---- putting -------------------------------------------------------------------------------- */

/* Tells whether the coordinates that are put are f64: they are as computed, or narrowed. */
static bool puts_f64(const struct ny_placer *placer)
{
    return placer->computed == NY_PRECISION_F64 && !placer->narrow;
}

/* Tells whether a row of coordinates is one that no landmark reaches. */
static bool is_unreached(const struct ny_placer *placer, bool f64, const void *row)
{
    return placer->divided && ny_coordinates_unreached(f64, row);
}

/* Checks that the coordinates of rows first … first+count−1 are finite where they are reached. */
static int check_rows(const struct ny_placer *placer, bool f64, const void *rows, uint64_t first,
                      size_t count)
{
    const struct ny_coordinates *how = &placer->coordinates;
    struct ny_context *ctx = placer->spec.ctx;

    return placer->divided ? ny_coordinates_check_reached(how, ctx, f64, rows, first, count)
                           : ny_coordinates_check(how, ctx, f64, rows, first, count);
}

/* Copies coordinates into the caller's room, in its type. */
static int fill_room(struct ny_placer *placer, bool f64, const void *rows, uint64_t first,
                     size_t count)
{
    const struct ny_room *room = &placer->room;
    const struct ny_coordinates *how = &placer->coordinates;
    size_t p = ny_coordinates_count(how), element = f64 ? sizeof(double) : sizeof(float);
    bool narrows = f64 && room->type == NY_F32;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++) {
        const char *from = (const char *)rows + i * p * element;
        char *to = (char *)room->at + (first + i) * room->row_bytes;

        if (room->type == NY_F64)
            ny_dtype_to_f64(f64 ? NY_F64 : NY_F32, from, (double *)(void *)to, p);
        else
            ny_dtype_to_f32(f64 ? NY_F64 : NY_F32, from, (float *)(void *)to, p);
        if (narrows) err = check_rows(placer, false, to, first + i, 1);
    }
    return err;
}

/* Writes rows behind their names and labels. */
static int write_named(struct ny_placer *placer, const void *rows, size_t count)
{
    size_t p = ny_coordinates_count(&placer->coordinates);
    size_t row_bytes = p * (puts_f64(placer) ? sizeof(double) : sizeof(float));
    int err = ny_row_ids_take(&placer->ids, count, &placer->names);
    const char *name = placer->names.text;

    for (size_t i = 0; !err && i < count; i++) {
        for (size_t k = 0; !err && k < ny_row_ids_width(&placer->ids); k++) {
            err = ny_writer_field(placer->writer, name, placer->delimiter, placer->delimiter);
            name += strlen(name) + 1;
        }
        if (!err) err = ny_writer_rows(placer->writer, (const char *)rows + i * row_bytes, 1);
    }
    return err;
}

/* Puts the coordinates of rows first … first+count−1 of the input. */
static int deliver(struct ny_placer *placer, const void *rows, uint64_t first, size_t count)
{
    bool f64 = puts_f64(placer);
    int err = NY_OK;

    if (placer->finder) err = ny_cluster_finder_put(placer->finder, f64, rows, count);
    if (err) return err;
    if (placer->delimiter) return write_named(placer, rows, count);
    if (placer->writer) return ny_writer_rows(placer->writer, rows, count);
    return placer->room.at ? fill_room(placer, f64, rows, first, count) : NY_OK;
}

/* Puts the rows without a place that follow those that were put. */
static int put_blanks(struct ny_placer *placer)
{
    int err = NY_OK;

    while (!err && placer->blank) {
        uint64_t next = placer->placed + placer->blanks;

        if (ny_left_out_at(&placer->left_out, placer->blanks) != next) break;
        err = deliver(placer, placer->blank, next, 1);
        placer->blanks++;
    }
    return err;
}

/* Puts rows in the order of the input, and blanks between them. */
static int put_between(struct ny_placer *placer, const void *rows, size_t count)
{
    size_t p = ny_coordinates_count(&placer->coordinates);
    size_t row_bytes = p * (puts_f64(placer) ? sizeof(double) : sizeof(float)), run;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i += run) {
        uint64_t next, lost = UINT64_MAX;

        err = put_blanks(placer);
        next = placer->placed + placer->blanks;
        if (placer->blank) lost = ny_left_out_at(&placer->left_out, placer->blanks);
        run = lost - next < count - i ? (size_t)(lost - next) : count - i;
        for (size_t k = 0; k < run; k++)
            if (is_unreached(placer, puts_f64(placer), (const char *)rows + (i + k) * row_bytes))
                ny_unreached_rows_note(&placer->unreached, next + k);
        if (!err) err = deliver(placer, (const char *)rows + i * row_bytes, next, run);
        placer->placed += run;
    }
    return err;
}

/* ---- placing -------------------------------------------------------------------------------- */

/* Returns how many units of new rows are in memory at a time. */
static unsigned units_read(const struct ny_placer *placer, unsigned workers)
{
    return placer->ops->by_units ? workers : 1;
}

/* Returns the most rows that may come; 0: that is not known. */
static uint64_t most_rows(const struct ny_placer *placer)
{
    return placer->rows == NY_ROWS_UNKNOWN ? 0 : placer->rows;
}

static size_t bytes_with_rows(const void *placer, unsigned workers, size_t limit)
{
    const struct ny_placer *of = placer;
    const size_t name_bytes = 128; /* on average, twice: in the source, and on its way out */
    size_t row_bytes = ny_raw_bytes(&of->spec) + (of->delimiter ? name_bytes : 0);
    size_t unit_bytes = ny_source_unit_rows(most_rows(of)) * row_bytes;

    return of->ops->bytes(of, workers, limit) + units_read(of, workers) * unit_bytes;
}

/* Takes as many workers as threads are allowed and the rest of the budget holds; one, where it has
 * the only unit. */
static void decide_workers(struct ny_placer *placer)
{
    const struct ny_context *ctx = placer->spec.ctx;
    unsigned most = ny_context_threads(ctx);
    bool few = placer->ops->by_units && placer->rows <= NY_UNIT_ROWS;

    placer->workers = ny_budget_workers_left(ctx, bytes_with_rows, placer, few ? 1 : most);
}

/* Places all rows of a source. Refuses what was placed by two results of one name. */
static int place_all(struct ny_placer *placer, struct ny_source *rows)
{
    const struct ny_placer_ops *ops = placer->ops;
    int err = ops->begin(placer);

    if (!err) err = ops->place(placer, rows);
    if (placer->record) err = ny_record_current(placer->store, placer->name, placer->record, err);
    if (!err && ops->end) err = ops->end(placer);
    return err;
}

/* Checks that the caller's room can be one of these rows. */
static int check_room(struct ny_placer *placer)
{
    struct ny_context *ctx = placer->spec.ctx;
    struct ny_room *room = &placer->room;
    uint64_t row_bytes, all, components = ny_coordinates_count(&placer->coordinates);

    if (room->components != components && room->components != NY_ANY_COMPONENTS)
        return ny_fail(ctx, NY_EUSAGE,
                       "a place has %llu components, but there is room for %llu; if the result was "
                       "fitted again, ask for its shape again",
                       (unsigned long long)components, (unsigned long long)room->components);
    if (room->type != NY_F32 && room->type != NY_F64)
        return ny_fail(ctx, NY_EUSAGE, "coordinates must be of type NY_F32 or NY_F64");
    row_bytes = components * ny_dtype_size(room->type);
    if (!room->row_bytes) room->row_bytes = row_bytes;
    if (room->row_bytes >= row_bytes &&
        !__builtin_mul_overflow(placer->rows, room->row_bytes, &all) && all <= PTRDIFF_MAX)
        return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "there is no room for rows of %llu bytes each in rows of %llu bytes",
                   (unsigned long long)row_bytes, (unsigned long long)room->row_bytes);
}

/* Writes the line with the names of the columns. */
static int put_header(struct ny_placer *placer, const struct ny_new_rows *rows)
{
    size_t p = ny_coordinates_count(&placer->coordinates);
    char delimiter = ny_output_text(rows->output).delimiter, word[48];
    int err = rows->with.ids ? ny_writer_field(placer->writer, "id", delimiter, delimiter) : NY_OK;

    if (!err && rows->with.labels)
        err = ny_writer_field(placer->writer, "label", delimiter, delimiter);
    for (size_t k = 1; !err && k <= p; k++) {
        snprintf(word, sizeof(word), "embedding_%zu", k);
        err = ny_writer_field(placer->writer, word, delimiter, k < p ? delimiter : '\n');
    }
    return err;
}

/* Has the names of the rows, and their labels, written before their coordinates. */
static int begin_ids(struct ny_placer *placer, const struct ny_new_rows *rows,
                     const struct ny_reader *reader)
{
    const struct ny_file_table *table = ny_reader_table(reader);

    if (rows->with.ids && !table->names)
        return ny_fail(placer->spec.ctx, NY_EUSAGE,
                       "--with ids: the rows of %s have no names; --id-column says which column "
                       "of a text table has them",
                       rows->input);
    if (rows->with.labels && !table->labels)
        return ny_fail(placer->spec.ctx, NY_EUSAGE,
                       "--with labels: the rows of %s have no labels; --label-column says which "
                       "column of a text table, or of obs, has them",
                       rows->input);
    if (!rows->with.ids && !rows->with.labels) return NY_OK;
    placer->delimiter = ny_output_text(rows->output).delimiter;
    ny_row_ids_begin(&placer->ids, placer->spec.ctx, rows->with.ids, rows->with.labels);
    return NY_OK;
}

/* Opens the file of the coordinates, or takes the caller's room. */
static int open_output(struct ny_placer *placer, const struct ny_new_rows *rows)
{
    uint64_t count = placer->rows == NY_ROWS_UNKNOWN ? NY_ROWS_COUNTED : placer->rows;
    int err = NY_OK;

    placer->room = rows->room;
    placer->finder = rows->finder;
    if (placer->finder) err = ny_cluster_finder_begin(placer->finder, count);
    if (err) return err;
    if (!rows->output) return rows->room.at ? check_room(placer) : NY_OK;
    err = ny_writer_open(&placer->writer, placer->spec.ctx, rows->output,
                         placer->precision == NY_PRECISION_F64 ? NY_OUT_F64 : NY_OUT_F32, count,
                         ny_coordinates_count(&placer->coordinates));
    if (!err) err = ny_writer_fits(placer->writer);
    return err || !rows->with.header ? err : put_header(placer, rows);
}

/* Makes the row that stands for those without a place. */
static int make_blank(struct ny_placer *placer, struct ny_source *rows)
{
    bool f64 = puts_f64(placer);
    size_t p = ny_coordinates_count(&placer->coordinates);
    void *blank = ny_alloc(placer->spec.ctx, NY_MEM_IO, p * sizeof(double));

    if (!blank) return NY_EBUDGET;
    for (size_t k = 0; k < p; k++)
        if (f64)
            ((double *)blank)[k] = NAN;
        else
            ((float *)blank)[k] = NAN;
    placer->blank = blank;
    ny_left_out_begin(&placer->left_out, placer->spec.ctx);
    ny_source_note_left_out(rows, &placer->left_out);
    return NY_OK;
}

int ny_place_all(struct ny_placer *placer, const struct ny_new_rows *rows)
{
    struct ny_columns_spec *spec = &placer->spec;
    struct ny_reader *reader = NULL;
    struct ny_source *source = NULL;
    bool keeps = rows->options && rows->options->nan_kept;
    int err = open_input(placer, rows, false, &reader);

    if (!err) err = check_columns(placer, rows, reader);
    if (!err) err = begin_ids(placer, rows, reader);
    if (!err) err = find_rows(placer, rows, reader);
    if (err) goto done;
    widen(spec, ny_reader_table(reader));
    decide_workers(placer);
    err = ny_blas_make_room(spec->ctx, placer->workers);
    if (err) goto done;
    err = ny_source_of_reader(
        &source, spec->ctx, reader,
        &(struct ny_raw_shape){.dtype = spec->dtype, .n = most_rows(placer), .slots = spec->slots},
        units_read(placer, placer->workers));
    if (err) goto done;
    ny_source_prepare(source, &spec->preparation);
    if (placer->delimiter) ny_source_note_ids(source, &placer->ids);
    err = placer->ops->open ? placer->ops->open(placer) : open_output(placer, rows);
    if (!err && keeps) err = make_blank(placer, source);
    if (!err) err = place_all(placer, source);
    if (!err) err = put_blanks(placer);
    if (!err) err = ny_unreached_rows_check(&placer->unreached, spec->ctx, placer->placed);
    if (!err) err = ny_writer_finish(placer->writer);
    if (!err && placer->finder) err = ny_cluster_finder_end(placer->finder);
    if (!err && rows->placed) *rows->placed = placer->placed + placer->blanks;
    if (!err && rows->left_out) *rows->left_out = ny_reader_left_out(reader);
    if (err || !placer->writer) goto done;
    err = ny_writer_commit(placer->writer);
    placer->writer = NULL;
done:
    ny_writer_abort(placer->writer);
    ny_left_out_release(&placer->left_out);
    ny_row_ids_release(&placer->ids);
    ny_names_release(&placer->names, spec->ctx);
    ny_free(spec->ctx, placer->blank);
    ny_source_free(source);
    ny_reader_close(reader);
    return err;
}

int ny_placer_put(struct ny_placer *placer, void *rows, size_t count)
{
    const struct ny_coordinates *how = &placer->coordinates;
    bool f64 = placer->computed == NY_PRECISION_F64;
    uint64_t first = placer->placed + placer->blanks;
    const void *out = rows;
    int err;

    ny_coordinates_apply(how, f64, rows, count, rows);
    err = check_rows(placer, f64, rows, first, count);
    if (!err && placer->narrow) {
        ny_dtype_to_f32(NY_F64, rows, placer->narrow, count * ny_coordinates_count(how));
        err = check_rows(placer, false, placer->narrow, first, count);
        out = placer->narrow;
    }
    return err ? err : put_between(placer, out, count);
}
