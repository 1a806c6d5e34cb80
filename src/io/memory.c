/*
 * Reads a table in the caller's memory (struct ny_table of the public header) as a file is read,
 * so that rows from memory go the whole way of an import: types and layouts that differ, NaN,
 * labels, shuffling, resuming.
 *
 * A dense row is copied, or converted through a scratch of 4,096 values. The entries of a sparse
 * row may stand in any order and name a column twice, as products and transposes of other
 * libraries leave them: they are sorted, and values of one column are added in f64, on a copy.
 * Entries that are 0 are left out. A row that needs none of that is copied as it is. Everything
 * that the description of the table says is checked before a row is read, and each column number
 * when its row is, so that a wrong one is an error with its row and not an address.
 */
#include "io/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "io/convert.h"
#include "io/format.h"

enum { SCRATCH = 4096, DENSE_SHARE = 8 };

#define ULL(x) ((unsigned long long)(x))

/* An entry of the sparse row that is read. */
struct entry {
    uint32_t column;
    uint64_t at; /* its place in the row */
    double value;
};

struct memory {
    const struct ny_table *table;
    struct entry *entry; /* room for the fullest row */
    uint64_t unsorted;   /* rows so far whose entries were put in order */
    uint64_t doubled;    /* rows so far with a column twice */
    double wide[SCRATCH];
};

const char *ny_memory_name(const struct ny_table *table)
{
    return table->name ? table->name : "the table";
}

static bool is_sparse(const struct ny_table *table)
{
    return table->row_start != NULL;
}

/* Number i of an array of 4- or 8-byte integers. A negative one becomes larger than any size. */
static uint64_t index_at(const void *array, unsigned bytes, uint64_t i)
{
    return bytes == 4 ? (uint64_t)(int64_t)((const int32_t *)array)[i]
                      : (uint64_t)((const int64_t *)array)[i];
}

static uint64_t start_of(const struct ny_table *table, uint64_t row)
{
    return index_at(table->row_start, table->index_bytes, row);
}

static size_t element_of(const struct ny_table *table)
{
    return ny_dtype_size((enum ny_dtype)table->dtype);
}

/* Returns the bytes from a dense row to the next. */
static uint64_t stride_of(const struct ny_table *table)
{
    return table->row_bytes ? table->row_bytes : table->columns * element_of(table);
}

uint64_t ny_memory_digest(const struct ny_table *table)
{
    size_t element = element_of(table), row = (size_t)table->columns * element;
    uint64_t stride = stride_of(table),
             parts[5] = {table->rows, table->columns, (uint64_t)table->dtype};

    if (is_sparse(table)) {
        size_t entries = (size_t)table->entries, width = table->index_bytes;

        const uint64_t arrays[3] = {
            ny_checksum(table->row_start, (size_t)(table->rows + 1) * width),
            ny_checksum(table->column, entries * width),
            ny_checksum(table->values, entries * element)};

        parts[3] = ny_checksum(arrays, sizeof(arrays));
    } else if (stride == row) {
        parts[3] = ny_checksum(table->values, (size_t)table->rows * row);
    } else {
        for (uint64_t r = 0; r < table->rows; r++) {
            const uint64_t both[2] = {parts[3],
                                      ny_checksum((const char *)table->values + r * stride, row)};

            parts[3] = ny_checksum(both, sizeof(both));
        }
    }
    if (table->labels) parts[4] = ny_checksum(table->labels, (size_t)table->rows * sizeof(double));
    return ny_checksum(parts, sizeof(parts));
}

/* ---- what the description says ------------------------------------------------------------ */

static int refuse(struct ny_context *ctx, const struct ny_table *table, const char *what)
{
    return ny_fail(ctx, NY_EUSAGE, "%s: %s", ny_memory_name(table), what);
}

/* Checks that rows of this many bytes, so many bytes apart, can be in memory. */
static int check_dense(struct ny_context *ctx, const struct ny_table *table)
{
    uint64_t row = table->columns * element_of(table), all;

    if (table->row_bytes && table->row_bytes < row)
        return refuse(ctx, table, "row_bytes is less than the bytes of a row; rows would overlap");
    if (__builtin_mul_overflow(table->rows, stride_of(table), &all) || all > PTRDIFF_MAX)
        return refuse(ctx, table, "its rows are more than an array in memory can hold");
    return table->values ? NY_OK : refuse(ctx, table, "values is NULL");
}

/* Fails because row_start is none: the row where it goes wrong. */
static int bad_start(struct ny_context *ctx, const struct ny_table *table, uint64_t row,
                     const char *how)
{
    return ny_fail_at(ctx, NY_EUSAGE, ny_memory_name(table), row,
                      "%s: row_start[%llu] %s; it holds rows + 1 numbers that rise from 0 to at "
                      "most the entries",
                      ny_memory_name(table), ULL(row), how);
}

/* Walks over row_start once. */
static int check_sparse(struct ny_context *ctx, const struct ny_table *table)
{
    uint64_t before, all;

    if (table->index_bytes != 4 && table->index_bytes != 8)
        return refuse(ctx, table, "index_bytes is the size of its integers, 4 or 8");
    if (table->entries && (!table->column || !table->values))
        return refuse(ctx, table, "it has entries, and column or values is NULL");
    if (__builtin_mul_overflow(table->entries, sizeof(uint64_t), &all) || all > PTRDIFF_MAX)
        return refuse(ctx, table, "its entries are more than an array in memory can hold");
    before = start_of(table, 0);
    if (before > table->entries) return bad_start(ctx, table, 0, "is beyond the entries");
    for (uint64_t r = 1; r <= table->rows; r++) {
        uint64_t here = start_of(table, r);

        if (here > table->entries) return bad_start(ctx, table, r, "is beyond the entries");
        if (here < before) return bad_start(ctx, table, r, "is less than the one before it");
        before = here;
    }
    return NY_OK;
}

int ny_memory_check(struct ny_context *ctx, const struct ny_table *table)
{
    if (table->dtype < NY_U8 || table->dtype > NY_F64)
        return refuse(ctx, table,
                      "the type of its values is none of NY_U8, NY_I16, NY_F32 and NY_F64");
    if (!table->rows || !table->columns)
        return ny_fail(ctx, NY_EDATA,
                       "%s has %llu rows and %llu columns; there are no points in it",
                       ny_memory_name(table), ULL(table->rows), ULL(table->columns));
    if (table->columns > NY_FILE_COLUMNS_MAX || table->rows > PTRDIFF_MAX / sizeof(double) - 1)
        return refuse(ctx, table, "its rows are more than an array in memory can hold");
    return is_sparse(table) ? check_sparse(ctx, table) : check_dense(ctx, table);
}

/* Returns the entries of the fullest sparse row. */
static uint64_t most_entries(const struct ny_table *table)
{
    uint64_t most = 0;

    for (uint64_t r = 0; r < table->rows; r++) {
        uint64_t count = start_of(table, r + 1) - start_of(table, r);

        if (count > most) most = count;
    }
    return most;
}

/* Sparse rows stay so where fewer than one value in eight is not 0, unless the reading says. */
static void choose_layout(struct ny_reader *reader, const struct ny_table *table, uint64_t most)
{
    struct ny_file_table *file = &reader->table;
    uint64_t entries = start_of(table, table->rows) - start_of(table, 0);
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
    struct memory *memory = reader->state;
    const struct ny_table *table = memory->table;
    struct ny_file_table *file = &reader->table;
    uint64_t most;
    int err = ny_memory_check(reader->ctx, table);

    if (err) return err;
    file->d = table->columns;
    file->rows = table->rows;
    file->dtype = reader->options.dtype ? reader->options.dtype : (enum ny_dtype)table->dtype;
    file->labels = table->labels != NULL;
    if (!is_sparse(table)) return NY_OK;
    most = most_entries(table);
    choose_layout(reader, table, most);
    memory->entry = ny_calloc(reader->ctx, NY_MEM_IO, (size_t)most + 1, sizeof(struct entry));
    return memory->entry ? NY_OK : NY_EBUDGET;
}

static void close_memory(struct ny_reader *reader)
{
    struct memory *memory = reader->state;

    ny_free(reader->ctx, memory->entry);
    ny_free(reader->ctx, memory);
}

/* ---- rows --------------------------------------------------------------------------------- */

/* Fails because a value cannot be kept in the type of the store. */
static int unfit(struct ny_reader *reader, uint64_t column, double value)
{
    const struct memory *memory = reader->state;

    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, reader->consumed,
                      "%s: row %llu (from 0), column %llu (from 1): the %s %.17g is not exactly a "
                      "value of %s; give a wider --dtype",
                      reader->path, ULL(reader->consumed), ULL(column + 1),
                      ny_dtype_name((enum ny_dtype)memory->table->dtype), value,
                      ny_dtype_name(reader->table.dtype));
}

/* Floats may be rounded to a shorter float, as those of a file are. */
static bool may_round(const struct memory *memory)
{
    return memory->table->dtype == NY_F32 || memory->table->dtype == NY_F64;
}

/* Copies the dense row that comes to `to`, in the type of the reader's table. */
static int copy_dense(struct ny_reader *reader, char *to)
{
    struct memory *memory = reader->state;
    const struct ny_table *table = memory->table;
    enum ny_dtype type = (enum ny_dtype)table->dtype, wanted = reader->table.dtype;
    const char *from = (const char *)table->values + reader->consumed * stride_of(table);
    size_t d = (size_t)table->columns, wrong;

    if (type == wanted) {
        memcpy(to, from, d * ny_dtype_size(type));
        return NY_OK;
    }
    for (size_t first = 0; first < d; first += SCRATCH) {
        size_t count = d - first < SCRATCH ? d - first : SCRATCH;

        ny_dtype_to_f64(type, from + first * ny_dtype_size(type), memory->wide, count);
        wrong = ny_narrow(wanted, may_round(memory), memory->wide,
                          to + first * ny_dtype_size(wanted), count);
        if (wrong < count) return unfit(reader, first + wrong, memory->wide[wrong]);
    }
    return NY_OK;
}

static int by_column(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Adds the values of one column, and leaves out those that are 0. Returns how many are left. */
static size_t merge(struct memory *memory, size_t count)
{
    struct entry *entry = memory->entry;
    size_t kept = 0;
    bool twice = false;

    for (size_t k = 0; k < count;) {
        struct entry sum = entry[k++];

        for (; k < count && entry[k].column == sum.column; k++) {
            sum.value += entry[k].value;
            twice = true;
        }
        if (sum.value != 0) entry[kept++] = sum;
    }
    memory->doubled += twice;
    return kept;
}

/* Reads the entries of the sparse row that comes, in order of their columns. */
static int gather(struct ny_reader *reader, size_t *count)
{
    struct memory *memory = reader->state;
    const struct ny_table *table = memory->table;
    uint64_t first = start_of(table, reader->consumed), end = start_of(table, reader->consumed + 1);
    bool sorted = true;

    for (uint64_t at = first; at < end; at++) {
        uint64_t column = index_at(table->column, table->index_bytes, at);
        struct entry *entry = &memory->entry[at - first];

        if (column >= table->columns)
            return ny_fail_at(reader->ctx, NY_EDATA, reader->path, reader->consumed,
                              "%s: row %llu (from 0) names column %lld (from 0), and the table has "
                              "%llu columns",
                              reader->path, ULL(reader->consumed), (long long)column,
                              ULL(table->columns));
        *entry = (struct entry){(uint32_t)column, at,
                                ny_dtype_at((enum ny_dtype)table->dtype, table->values, at)};
        sorted = sorted && (at == first || entry[-1].column <= entry->column);
    }
    *count = (size_t)(end - first);
    if (!sorted) qsort(memory->entry, *count, sizeof(*memory->entry), by_column);
    memory->unsorted += !sorted;
    *count = merge(memory, *count);
    return NY_OK;
}

/* Tells whether an entry of the row is not a number; a row that has one is dropped or an error. */
static int check_entries(struct ny_reader *reader, size_t count, bool *dropped)
{
    const struct entry *entry = ((struct memory *)reader->state)->entry;

    *dropped = false;
    for (size_t k = 0; k < count && reader->nan != NY_NAN_KEEP; k++) {
        if (isfinite(entry[k].value)) continue;
        *dropped = true;
        return ny_reader_fail_row(reader, reader->consumed, entry[k].column, entry[k].value);
    }
    return NY_OK;
}

/* Writes the entries into a dense row. */
static int spread(struct ny_reader *reader, size_t count, char *to)
{
    const struct memory *memory = reader->state;
    enum ny_dtype dtype = reader->table.dtype;
    size_t size = ny_dtype_size(dtype);

    memset(to, 0, (size_t)reader->table.d * size);
    for (size_t k = 0; k < count; k++) {
        const struct entry *entry = &memory->entry[k];

        if (!ny_narrow(dtype, may_round(memory), &entry->value, to + entry->column * size, 1))
            return unfit(reader, entry->column, entry->value);
    }
    return NY_OK;
}

/* Adds the entries to the sparse rows of the batch. */
static int add_sparse(struct ny_reader *reader, size_t count, struct ny_csr *csr)
{
    const struct memory *memory = reader->state;
    size_t at = ny_csr_nnz(csr), size = ny_dtype_size(csr->dtype);
    int err = ny_csr_reserve(csr, reader->ctx, NY_MEM_IO, csr->rows + 1, at + count);

    if (err) return err;
    for (size_t k = 0; k < count; k++) {
        const struct entry *entry = &memory->entry[k];

        csr->index[at + k] = entry->column;
        if (!ny_narrow(csr->dtype, may_round(memory), &entry->value,
                       (char *)csr->value + (at + k) * size, 1))
            return unfit(reader, entry->column, entry->value);
    }
    csr->start[++csr->rows] = (uint32_t)(at + count);
    return NY_OK;
}

/* Reads the row that comes to the end of the batch; *dropped: it is left out. */
static int read_row(struct ny_reader *reader, struct ny_row_batch *batch, bool *dropped)
{
    const struct memory *memory = reader->state;
    enum ny_dtype dtype = reader->table.dtype;
    size_t d = (size_t)reader->table.d, count = 0, bad;
    char *to = (char *)batch->values + batch->count * d * ny_dtype_size(dtype);
    double value;
    int err;

    *dropped = false;
    if (is_sparse(memory->table)) {
        err = gather(reader, &count);
        if (!err) err = check_entries(reader, count, dropped);
        if (err || *dropped) return err;
        return reader->table.layout == NY_CSR ? add_sparse(reader, count, batch->sparse)
                                              : spread(reader, count, to);
    }
    err = copy_dense(reader, to);
    if (err || reader->nan == NY_NAN_KEEP) return err;
    bad = ny_first_nonfinite(dtype, to, d);
    if (bad == d) return NY_OK;
    *dropped = true;
    ny_dtype_to_f64(dtype, to + bad * ny_dtype_size(dtype), &value, 1);
    return ny_reader_fail_row(reader, reader->consumed, bad, value);
}

/* Tells of sparse rows that were put in order. */
static int tell(struct ny_reader *reader)
{
    const struct memory *memory = reader->state;

    if (reader->options.notes && (memory->unsorted || memory->doubled))
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: %llu rows had columns out of order, and were sorted; %llu named a column "
               "twice, and its values were added",
               reader->path, ULL(memory->unsorted), ULL(memory->doubled));
    return NY_END;
}

static int next_memory(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    const struct ny_table *table = ((struct memory *)reader->state)->table;

    if (reader->consumed == table->rows) return tell(reader);
    for (size_t r = 0; r < max_rows && reader->consumed < table->rows; r++) {
        bool dropped;
        int err = read_row(reader, batch, &dropped);

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
    struct memory *memory = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*memory));

    *out = NULL;
    if (!memory) return NY_EBUDGET;
    memory->table = table;
    return ny_table_open_as(out, ctx, ny_memory_name(table), &entry, memory, options);
}
