/*
 * Reads a table in the caller's memory (struct ny_table of the public header) as a file is read,
 * so that rows from memory go the whole way of an import: types and layouts that differ, NaN,
 * labels, shuffling, resuming.
 *
 * A dense row is copied, or converted by 1,024 values; sparse ones are read by io/sparse_rows.c.
 * Pages of a mapped file are given back behind the rows that were read. Everything that the
 * description of the table says is checked before a row is read (io/memory_table.c).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/memory_private.h"
#include "io/refuse.h"

/* Returns the entries of the fullest sparse row. */
static uint64_t most_entries(const struct ny_table *table)
{
    uint64_t most = 0;

    for (uint64_t r = 0; r < table->rows; r++) {
        uint64_t count = ny_memory_start(table, r + 1) - ny_memory_start(table, r);

        if (count > most) most = count;
    }
    return most;
}

/* Adds a name of the caller's, which may be NULL, behind the others. */
static int add_name(const struct ny_reader *reader, uint64_t number, const char *name,
                    struct ny_names *to)
{
    size_t length = name ? strnlen(name, NY_NAME_BYTES_MAX + 1) : 0;
    const char *wrong = ny_name_wrong(name, length);

    if (!wrong) return ny_names_add(to, reader->ctx, name ? name : "", length);
    return ny_refuse_name(reader->ctx, reader->path, number, wrong);
}

/* Takes the names of columns, and says whether rows have some. */
static int take_names(struct ny_reader *reader)
{
    const struct ny_table *table = ((struct ny_memory_state *)reader->state)->table;
    int err = NY_OK;

    if (!reader->options.names) return NY_OK;
    reader->table.names = table->row_names != NULL;
    for (uint64_t j = 0; !err && table->column_names && j < reader->table.d; j++)
        err = add_name(reader, j, table->column_names[j], &reader->columns);
    return err;
}

/* Numbers the classes of the table as the store does, new ones behind its own. */
static int take_classes(struct ny_reader *reader)
{
    struct ny_memory_state *memory = reader->state;
    const struct ny_table *table = memory->table;
    int err = NY_OK;

    if (!table->labels || !table->classes) return NY_OK;
    memory->label_of =
        ny_lay(&reader->own, NY_MEM_IO, (size_t)table->classes, sizeof(*memory->label_of));
    if (!memory->label_of) return NY_EBUDGET;
    for (uint64_t k = 0; !err && k < table->classes; k++)
        err = ny_classes_word(reader->classes, reader->path, table->class_names[k],
                              &memory->label_of[k]);
    return err;
}

static int open_memory(struct ny_reader *reader)
{
    const struct ny_table *table = reader->memory;
    struct ny_memory_state *memory = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*memory));
    struct ny_file_table *file = &reader->table;
    int err = memory ? ny_memory_check(reader->ctx, table) : NY_EBUDGET;

    if (err) return err;
    reader->state = memory;
    memory->table = table;
    file->d = table->columns;
    file->rows = table->rows;
    file->dtype = reader->options.dtype ? reader->options.dtype : (enum ny_dtype)table->dtype;
    file->labels = table->labels != NULL;
    file->label_column = table->labels ? table->label_column : NULL;
    memory->rows.type = table->dtype == NY_GENOTYPE ? NY_U8 : (enum ny_dtype)table->dtype;
    memory->rows.index_bytes = table->index_bytes;
    memory->rows.rounding = table->dtype == NY_F32 || table->dtype == NY_F64;
    if (ny_memory_is_sparse(table))
        ny_sparse_rows_layout(reader,
                              ny_memory_start(table, table->rows) - ny_memory_start(table, 0),
                              most_entries(table));
    else
        memory->values = ny_memory_values(table);
    err = take_names(reader);
    return err ? err : take_classes(reader);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Leaves out the row, whose value `bad` is none, or fails. */
static int leave_out(struct ny_reader *reader, size_t bad, bool *dropped)
{
    *dropped = true;
    return ny_reader_fail_row(reader, reader->consumed, bad);
}

/* Refuses the row, whose value `unfit` is not one of the store; whole numbers have no NaN, either,
 * which is told as that, or left out. It may be among genotypes. */
static int refuse_dense(struct ny_reader *reader, const char *row, size_t unfit, bool *dropped)
{
    const struct ny_sparse_rows *rows = &((struct ny_memory_state *)reader->state)->rows;
    size_t d = (size_t)reader->table.d, bad = ny_first_nonfinite(rows->type, row, d);

    if (bad < d && reader->nan != NY_NAN_KEEP && reader->table.dtype != NY_GENOTYPE)
        return leave_out(reader, bad, dropped);
    return ny_reader_fail_value(reader, unfit, reader->table.dtype);
}

/* Reads the dense row that comes to the end of the batch; *dropped: it is left out. */
static int read_dense(struct ny_reader *reader, struct ny_row_batch *batch, bool *dropped)
{
    struct ny_memory_state *memory = reader->state;
    const struct ny_table *table = memory->table;
    enum ny_dtype dtype = reader->table.dtype;
    size_t d = (size_t)reader->table.d, bad;
    const char *from = (const char *)table->values + reader->consumed * ny_memory_stride(table);
    char *to = (char *)batch->values + batch->count * d * ny_dtype_size(dtype);

    *dropped = false;
    bad = ny_dtype_convert(memory->rows.type, from, dtype, memory->rows.rounding, to, d);
    if (bad < d) return refuse_dense(reader, from, bad, dropped);
    if (reader->nan == NY_NAN_KEEP) return NY_OK;
    bad = ny_first_nonfinite(dtype, to, d);
    return bad < d ? leave_out(reader, bad, dropped) : NY_OK;
}

/* Reads the sparse row that comes to the end of the batch; *dropped: it is left out. */
static int read_sparse(struct ny_reader *reader, struct ny_row_batch *batch, bool *dropped)
{
    struct ny_memory_state *memory = reader->state;
    const struct ny_table *table = memory->table;
    uint64_t first = ny_memory_start(table, reader->consumed);
    uint64_t end = ny_memory_start(table, reader->consumed + 1);
    struct ny_row_entries row = {0};

    if (first < end)
        row = (struct ny_row_entries){
            (const char *)table->column + first * table->index_bytes,
            (const char *)table->values + first * ny_memory_element(table), (size_t)(end - first)};
    return ny_sparse_rows_read(reader, &memory->rows, &row, batch, dropped);
}

/* Gives the label of the row that comes: NaN where it has none, the number of a class for a word.
 */
static int read_label(const struct ny_reader *reader, double *label)
{
    const struct ny_memory_state *memory = reader->state;
    const struct ny_table *table = memory->table;

    *label = table->labels ? table->labels[reader->consumed] : (double)NAN;
    if (!memory->label_of || isnan(*label)) return NY_OK;
    if (!(*label >= 0 && *label < (double)table->classes && *label == floor(*label)))
        return ny_fail_at(
            reader->ctx, NY_EDATA, reader->path, reader->consumed,
            "%s: the label of row %llu (from 0) is %g, but the classes are numbered 0 to %llu",
            reader->path, (unsigned long long)reader->consumed, *label,
            (unsigned long long)table->classes - 1);
    *label = memory->label_of[(size_t)*label];
    return NY_OK;
}

/* Gives back the pages of dense rows that were read, where they are many, or the last. */
static void look_behind(struct ny_reader *reader)
{
    const uint64_t many_bytes = 1 << 20;
    struct ny_memory_state *memory = reader->state;
    uint64_t stride = ny_memory_stride(memory->table), first = memory->done * stride;
    uint64_t end = reader->consumed * stride;

    if (!memory->values.shared) return;
    if (end - first < many_bytes && reader->consumed < memory->table->rows) return;
    if (end > memory->values.bytes) end = memory->values.bytes; /* the last row ends before */
    ny_borrowed_done(&memory->values, memory->values.at + first, (size_t)(end - first));
    memory->done = reader->consumed;
}

/* The arguments of next_memory(). */
struct wish {
    struct ny_reader *reader;
    size_t max_rows;
    struct ny_row_batch *batch;
};

/* Reads the rows of a batch. The reader and the batch own all that is allocated on the way. */
static int read_batch(void *arg)
{
    struct ny_reader *reader = ((struct wish *)arg)->reader;
    struct ny_row_batch *batch = ((struct wish *)arg)->batch;
    const struct ny_table *table = ((struct ny_memory_state *)reader->state)->table;

    for (size_t r = 0; r < ((struct wish *)arg)->max_rows && reader->consumed < table->rows; r++) {
        bool dropped;
        int err = ny_memory_is_sparse(table) ? read_sparse(reader, batch, &dropped)
                                             : read_dense(reader, batch, &dropped);

        if (err) return err;
        if (!dropped) {
            if (batch->labels) err = read_label(reader, &batch->labels[batch->count]);
            if (batch->source) batch->source[batch->count] = reader->consumed;
            if (!err && batch->names)
                err = add_name(reader, reader->consumed, table->row_names[reader->consumed],
                               batch->names);
            if (err) return err;
            batch->count++;
        }
        reader->consumed++;
    }
    look_behind(reader);
    return NY_OK;
}

static int next_memory(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    struct ny_memory_state *memory = reader->state;
    struct wish wish = {reader, max_rows, batch};

    if (reader->consumed < memory->table->rows)
        return ny_borrowed_guard(reader->ctx, read_batch, &wish);
    return NY_END;
}

static int skip_memory(struct ny_reader *reader, uint64_t rows)
{
    uint64_t left = reader->table.rows - reader->consumed;

    reader->consumed += rows < left ? rows : left;
    return NY_OK;
}

static const struct ny_format format = {
    .open = open_memory,
    .next = next_memory,
    .skip = skip_memory,
    .takes_new_columns = true,
};
static const struct ny_format_entry entry = {.info = {"memory", "rows in the caller's memory"},
                                             .format = &format};

int ny_reader_open_memory(struct ny_reader **out, struct ny_context *ctx,
                          const struct ny_table *table, const struct ny_reader_options *options)
{
    return ny_table_open_as(out, ctx, table, &entry, options);
}
