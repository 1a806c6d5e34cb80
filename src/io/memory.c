/*
 * Reads a table in the caller's memory (struct ny_table of the public header) as a file is read,
 * so that rows from memory go the whole way of an import: types and layouts that differ, NaN,
 * labels, shuffling, resuming.
 *
 * A dense row is copied, or converted by 4,096 values; sparse ones are read by io/memory_sparse.c.
 * Everything that the description of the table says is checked before a row is read
 * (io/memory_table.c).
 */
#include <math.h>

#include "base/memory.h"
#include "io/convert.h"
#include "io/memory_private.h"

enum { DENSE_SHARE = 8 };

#define ULL(x) ((unsigned long long)(x))

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

/* Sparse rows stay so where fewer than one value in eight is not 0, unless the reading says. */
static void choose_layout(struct ny_reader *reader, const struct ny_table *table, uint64_t most)
{
    struct ny_file_table *file = &reader->table;
    uint64_t entries = ny_memory_start(table, table->rows) - ny_memory_start(table, 0);
    bool few = (double)entries * DENSE_SHARE < (double)table->rows * (double)table->columns;

    if (reader->options.reading == NY_READ_DENSE) return;
    if (reader->options.reading == NY_READ_AUTO && !few) return;
    file->layout = NY_CSR;
    file->nnz = (entries + table->rows - 1) / table->rows;
    file->slots = most < table->columns ? most : table->columns;
    if (!file->slots) file->slots = 1;
}

static int open_memory(struct ny_reader *reader)
{
    const struct ny_table *table = ((struct ny_memory_state *)reader->state)->table;
    struct ny_file_table *file = &reader->table;
    uint64_t most;
    int err = ny_memory_check(reader->ctx, table);

    if (err) return err;
    file->d = table->columns;
    file->rows = table->rows;
    file->dtype = reader->options.dtype ? reader->options.dtype : (enum ny_dtype)table->dtype;
    file->labels = table->labels != NULL;
    if (!ny_memory_is_sparse(table)) return NY_OK;
    most = most_entries(table);
    choose_layout(reader, table, most);
    return ny_memory_entries_new(reader, most);
}

static void close_memory(struct ny_reader *reader)
{
    ny_memory_entries_free(reader);
    ny_free(reader->ctx, reader->state);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Reads the dense row that comes to the end of the batch; *dropped: it is left out. */
static int read_dense(struct ny_reader *reader, struct ny_row_batch *batch, bool *dropped)
{
    const struct ny_table *table = ((struct ny_memory_state *)reader->state)->table;
    enum ny_dtype dtype = reader->table.dtype;
    size_t d = (size_t)reader->table.d, bad;
    const char *from = (const char *)table->values + reader->consumed * ny_memory_stride(table);
    char *to = (char *)batch->values + batch->count * d * ny_dtype_size(dtype);
    double value;

    *dropped = false;
    bad = ny_memory_convert(reader, (enum ny_dtype)table->dtype, from, to, d, &value);
    if (bad < d) return ny_memory_unfit(reader, bad, value);
    if (reader->nan == NY_NAN_KEEP) return NY_OK;
    bad = ny_first_nonfinite(dtype, to, d);
    if (bad == d) return NY_OK;
    *dropped = true;
    ny_dtype_to_f64(dtype, to + bad * ny_dtype_size(dtype), &value, 1);
    return ny_reader_fail_row(reader, reader->consumed, bad, value);
}

/* Tells of sparse rows that were put in order. */
static int tell(struct ny_reader *reader)
{
    const struct ny_memory_state *memory = reader->state;

    if (reader->options.notes && (memory->unsorted || memory->doubled))
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: %llu rows had columns out of order, and were sorted; %llu named a column "
               "twice, and its values were added",
               reader->path, ULL(memory->unsorted), ULL(memory->doubled));
    return NY_END;
}

static int next_memory(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    const struct ny_table *table = ((struct ny_memory_state *)reader->state)->table;

    if (reader->consumed == table->rows) return tell(reader);
    for (size_t r = 0; r < max_rows && reader->consumed < table->rows; r++) {
        bool dropped;
        int err = ny_memory_is_sparse(table) ? ny_memory_read_sparse(reader, batch, &dropped)
                                             : read_dense(reader, batch, &dropped);

        if (err) return err;
        if (!dropped) {
            if (batch->labels)
                batch->labels[batch->count] =
                    table->labels ? table->labels[reader->consumed] : (double)NAN;
            if (batch->source) batch->source[batch->count] = reader->consumed;
            batch->count++;
        }
        reader->consumed++;
    }
    return NY_OK;
}

static int skip_memory(struct ny_reader *reader, uint64_t rows)
{
    uint64_t left = reader->table.rows - reader->consumed;

    reader->consumed += rows < left ? rows : left;
    return NY_OK;
}

static const struct ny_format format = {
    .open = open_memory, .next = next_memory, .skip = skip_memory, .close = close_memory};
static const struct ny_format_entry entry = {.info = {"memory", "rows in the caller's memory"},
                                             .format = &format};

int ny_reader_open_memory(struct ny_reader **out, struct ny_context *ctx,
                          const struct ny_table *table, const struct ny_reader_options *options)
{
    struct ny_memory_state *memory = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*memory));

    *out = NULL;
    if (!memory) return NY_EBUDGET;
    memory->table = table;
    return ny_table_open_as(out, ctx, ny_memory_name(table), &entry, memory, options);
}
