/* Reads new rows, and writes their coordinates, for a transform (api/new_rows.h). */
#include "api/new_rows.h"

#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "io/memory.h"
#include "io/output.h"
#include "io/reader_source.h"
#include "results/keep.h"
#include "results/record.h"

static struct ny_read_rows *read_of(struct ny_new_rows *rows)
{
    return (struct ny_read_rows *)rows;
}

int ny_fitted_open(struct ny_fitted *fitted, struct ny_store *store, const char *name)
{
    json_t *record;
    int err;

    *fitted = (struct ny_fitted){.X = ny_store_rows(store), .keep = ny_store_keep(store, name)};
    err = ny_record_need_done(store, name, &record);
    fitted->record = ny_record_of(record);
    if (!err) err = ny_store_skip_lost(store);
    return err ? err : ny_record_check_lost(store, name, record);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Finds the columns of names and of labels as rows to append have them, if these are wanted. */
static int find_columns(struct ny_read_rows *rows, struct ny_columns_like *like)
{
    int err = ny_points_import_how(rows->like, &rows->how);

    if (rows->with.ids && rows->how.id_column[0]) like->id_column = rows->how.id_column;
    if (rows->with.labels && rows->how.label_column[0]) like->label_column = rows->how.label_column;
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
static int check_columns(const struct ny_read_rows *rows, const struct ny_placer *placer)
{
    const struct ny_names *names = ny_reader_column_names(rows->reader);
    const struct ny_party party = {.whose = rows->input ? rows->input : ny_memory_name(rows->table),
                                   .traits = {.d = ny_reader_table(rows->reader)->d,
                                              .dtype = ny_reader_table(rows->reader)->dtype,
                                              .columns = ny_names_digest(names)},
                                   .columns = names};
    bool noted = rows->input && !placer->party.traits.columns; /* the model may be of 1.1 */

    if (rows->like) return ny_points_check_columns(rows->like, &party);
    return ny_traits_compare(rows->ctx, &party, &placer->party,
                             NY_SAME_COLUMNS | (noted ? NY_SAME_NOTED : 0), NULL);
}

/* Opens a file of new rows, once more where it was opened `again`. The options that are given may
 * say how to read it; what the rows of the result decide is decided here: text is parsed to f64
 * if these are f64, and every row has its place in the output. */
static int open_input(struct ny_read_rows *rows, const struct ny_placer *placer, bool again,
                      struct ny_reader **out)
{
    const struct ny_columns_spec *spec = &placer->spec;
    struct ny_reader_options options =
        rows->options ? *rows->options : (struct ny_reader_options){0};
    struct ny_stored_points points = {.column_names = false};
    struct ny_columns_like like = {.load = ny_points_all_columns, .arg = rows->like};
    int err = rows->like ? ny_points_stored(rows->like, &points) : NY_OK;

    if (!err && rows->like) err = find_columns(rows, &like);
    if (err) return err;
    like.count = points.rows.d;
    if (points.column_names) {
        like.whose = ny_store_path(rows->like);
        options.like = &like;
    } else if (placer->party.columns && placer->party.columns->count) {
        like = (struct ny_columns_like){.whose = placer->party.whose,
                                        .count = placer->party.traits.d,
                                        .load = load_names,
                                        .arg = (void *)placer};
        options.like = &like;
    }
    options.dims = spec->geometry->d;
    options.dims_of = placer->whose;
    options.indices = points.indices;
    options.again = again;
    options.nan_drop = options.nan_kept;
    options.nan_may_stay = rows->input && rows->base.ops == &ny_read_rows_ops;
    options.notes = options.nan_kept && !again;
    options.labels_file = NULL;
    /* Messages tell names of rows in memory. */
    options.names = rows->like || placer->party.columns || rows->with.ids || !rows->input;
    options.reading = spec->slots ? NY_READ_SPARSE : NY_READ_DENSE;
    if (options.dtype == NY_DTYPE_NONE && spec->dtype == NY_F64) options.dtype = NY_F64;
    if (!rows->input && spec->dtype == NY_GENOTYPE) options.dtype = NY_GENOTYPE;
    return rows->input ? ny_reader_open(out, rows->ctx, rows->input, &options)
                       : ny_reader_open_memory(out, rows->ctx, rows->table, &options);
}

/* Bytes of the rows that are read at a time to count them. */
enum { COUNTED_BYTES = 4 << 20 };

/* Counts the rows of a text file by reading it once. A pipe, which can be read only once, is left
 * as unknown. */
static int count_rows(struct ny_read_rows *rows, const struct ny_placer *placer, uint64_t *count)
{
    struct ny_context *ctx = rows->ctx;
    struct ny_reader *reader = NULL;
    struct ny_csr sparse = {0};
    struct ny_row_batch batch = {.sparse = &sparse};
    const struct ny_file_table *table;
    struct stat status;
    size_t row_bytes, most = NY_UNIT_ROWS;
    int err;

    if (stat(rows->input, &status) != 0 || !S_ISREG(status.st_mode)) return NY_OK;
    err = open_input(rows, placer, true, &reader);
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
static int find_rows(struct ny_read_rows *rows, const struct ny_placer *placer, uint64_t *count)
{
    const char *clusters = rows->finder ? rows->finder->output : NULL;

    if (*count != NY_ROWS_UNKNOWN || !((rows->output && ny_writer_needs_rows(rows->output)) ||
                                       (clusters && ny_writer_needs_rows(clusters))))
        return NY_OK;
    return count_rows(rows, placer, count);
}

/* Has the names of the rows, and their labels, written before their coordinates. */
static int begin_ids(struct ny_read_rows *rows)
{
    const struct ny_file_table *table = ny_reader_table(rows->reader);

    if (rows->with.ids && !table->names)
        return ny_fail_idle(rows->ctx, "with", "rows without ids; give --id-column");
    if (rows->with.labels && !table->labels)
        return ny_fail_idle(rows->ctx, "with", "rows without labels; give --label-column");
    if (!rows->with.ids && !rows->with.labels) return NY_OK;
    rows->delimiter = ny_output_text(rows->output).delimiter;
    rows->base.beside_bytes = 128; /* names on average, twice: in the source, and on its way out */
    ny_row_ids_begin(&rows->ids, rows->ctx, rows->with.ids, rows->with.labels);
    return NY_OK;
}

int ny_read_rows_open(struct ny_new_rows *new, const struct ny_placer *placer,
                      struct ny_raw_shape *shape)
{
    struct ny_read_rows *rows = read_of(new);
    const struct ny_file_table *table;
    int err;

    rows->ctx = placer->spec.ctx;
    err = open_input(rows, placer, false, &rows->reader);
    if (!err) err = check_columns(rows, placer);
    if (!err) err = begin_ids(rows);
    if (err) return err;
    table = ny_reader_table(rows->reader);
    *shape =
        (struct ny_raw_shape){.dtype = table->dtype,
                              .n = table->rows,
                              .d = table->d,
                              .slots = (size_t)(table->layout == NY_CSR ? table->slots : table->d)};
    new->output_bytes = rows->output ? NY_WRITER_BYTES : 0;
    return find_rows(rows, placer, &shape->n);
}

int ny_read_rows_source(struct ny_new_rows *new, struct ny_placer *placer, unsigned units,
                        struct ny_source **out)
{
    struct ny_read_rows *rows = read_of(new);
    const struct ny_columns_spec *spec = &placer->spec;
    const struct ny_raw_shape shape = {
        .dtype = spec->dtype, .n = ny_placer_most_rows(placer), .slots = spec->slots};
    int err = ny_source_of_reader(out, rows->ctx, rows->reader, &shape, units);

    if (err) return err;
    ny_source_prepare(*out, &spec->preparation);
    if (rows->delimiter) ny_source_note_ids(*out, &rows->ids);
    if (new->keeps) ny_source_note_left_out(*out, &placer->left_out);
    return NY_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int no_room(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EUSAGE, "the room is not of the shape of the result, or its type");
}

/* Checks that the caller's room can be one of these rows. */
static int check_room(struct ny_read_rows *rows, const struct ny_placer *placer)
{
    struct ny_context *ctx = rows->ctx;
    struct ny_room *room = &rows->room;
    uint64_t row_bytes, all, components = ny_coordinates_count(&placer->coordinates);

    if (room->components != components && room->components != NY_ANY_COMPONENTS)
        return no_room(ctx);
    if (room->type != NY_F32 && room->type != NY_F64) return no_room(ctx);
    row_bytes = components * ny_dtype_size(room->type);
    if (!room->row_bytes) room->row_bytes = row_bytes;
    if (room->row_bytes >= row_bytes &&
        !__builtin_mul_overflow(placer->rows, room->row_bytes, &all) && all <= PTRDIFF_MAX)
        return NY_OK;
    return no_room(ctx);
}

/* Writes the line with the names of the columns. */
static int put_header(const struct ny_read_rows *rows, const struct ny_placer *placer)
{
    size_t p = ny_coordinates_count(&placer->coordinates);
    char delimiter = ny_output_text(rows->output).delimiter;
    int err = rows->with.ids ? ny_writer_name(rows->writer, NULL, delimiter) : NY_OK;

    if (!err && rows->with.labels)
        err = ny_writer_field(rows->writer, "label", delimiter, delimiter);
    for (size_t k = 1; !err && k <= p; k++)
        err =
            ny_writer_component(rows->writer, "embedding", k, delimiter, k < p ? delimiter : '\n');
    return err;
}

/* Opens the file of the coordinates, or takes the caller's room. */
static int begin(struct ny_new_rows *new, struct ny_placer *placer, unsigned units,
                 struct ny_source **out)
{
    struct ny_read_rows *rows = read_of(new);
    uint64_t count = placer->rows == NY_ROWS_UNKNOWN ? NY_ROWS_COUNTED : placer->rows;
    int err = ny_read_rows_source(new, placer, units, out);

    if (!err && rows->finder) err = ny_cluster_finder_begin(rows->finder, count);
    if (err) return err;
    if (!rows->output) return rows->room.at ? check_room(rows, placer) : NY_OK;
    err = ny_writer_open(&rows->writer, rows->ctx, rows->output,
                         placer->precision == NY_PRECISION_F64 ? NY_OUT_F64 : NY_OUT_F32, count,
                         ny_coordinates_count(&placer->coordinates));
    if (!err) err = ny_writer_fits(rows->writer);
    return err || !rows->with.header ? err : put_header(rows, placer);
}

/* Copies coordinates into the caller's room, in its type. */
static int fill_room(const struct ny_room *room, const struct ny_placer *placer, const void *places,
                     uint64_t first, size_t count)
{
    bool f64 = ny_placer_puts_f64(placer);
    size_t p = ny_coordinates_count(&placer->coordinates);
    size_t element = f64 ? sizeof(double) : sizeof(float);
    bool narrows = f64 && room->type == NY_F32;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++) {
        const char *from = (const char *)places + i * p * element;
        char *to = (char *)room->at + (first + i) * room->row_bytes;

        ny_dtype_widen(f64 ? NY_F64 : NY_F32, from, (enum ny_dtype)room->type, to, p);
        if (narrows) err = ny_placer_check(placer, false, to, first + i, 1);
    }
    return err;
}

/* Writes rows behind their names and labels. */
static int write_named(struct ny_read_rows *rows, const char *places, size_t row_bytes,
                       size_t count)
{
    int err = ny_row_ids_take(&rows->ids, count, &rows->names);
    const char *name = rows->names.text;

    for (size_t i = 0; !err && i < count; i++) {
        for (size_t k = 0; !err && k < ny_row_ids_width(&rows->ids); k++) {
            err = k == 0 && rows->with.ids
                      ? ny_writer_name(rows->writer, name, rows->delimiter)
                      : ny_writer_field(rows->writer, name, rows->delimiter, rows->delimiter);
            name += strlen(name) + 1;
        }
        if (!err) err = ny_writer_rows(rows->writer, places + i * row_bytes, 1);
    }
    return err;
}

static int put(struct ny_new_rows *new, const struct ny_placer *placer, const void *places,
               uint64_t first, size_t count)
{
    struct ny_read_rows *rows = read_of(new);
    bool f64 = ny_placer_puts_f64(placer);
    size_t p = ny_coordinates_count(&placer->coordinates);
    int err = NY_OK;

    if (rows->finder) err = ny_cluster_finder_put(rows->finder, f64, places, count);
    if (err) return err;
    if (rows->delimiter)
        return write_named(rows, places, p * (f64 ? sizeof(double) : sizeof(float)), count);
    if (rows->writer) return ny_writer_rows(rows->writer, places, count);
    return rows->room.at ? fill_room(&rows->room, placer, places, first, count) : NY_OK;
}

static int end(struct ny_new_rows *new, const struct ny_placer *placer)
{
    struct ny_read_rows *rows = read_of(new);
    struct ny_writer *writer = rows->writer;
    int err = ny_writer_finish(writer);

    if (!err && rows->finder) err = ny_cluster_finder_end(rows->finder);
    rows->placed = placer->placed + placer->blanks;
    rows->left_out = ny_reader_left_out(rows->reader);
    if (err) return err;
    rows->writer = NULL;
    return ny_writer_commit(writer, NY_OK);
}

void ny_read_rows_close(struct ny_new_rows *new)
{
    struct ny_read_rows *rows = read_of(new);

    ny_writer_abort(rows->writer);
    ny_row_ids_release(&rows->ids);
    ny_names_release(&rows->names, rows->ctx);
    ny_reader_close(rows->reader);
}

const struct ny_new_rows_ops ny_read_rows_ops = {ny_read_rows_open, begin, put, end,
                                                 ny_read_rows_close};
