/*
 * MatrixMarket files (.mtx, and .mtx.gz as 10x writes them): coordinate or array; real, integer or
 * pattern; general or symmetric.
 *
 * A regular file is looked at before its rows are read. Where its entries are in the order of the
 * rows, it is read a second time and streams; 10x's genes × cells are in the order of the cells,
 * and so stream with --transpose. At the first entry that is out of order the look ends, and the
 * file is read once, into the external sort (io/row_sort.h). A pipe cannot be looked at and is
 * always sorted, as is a symmetric matrix, which has half of its entries. An array is stored by
 * columns: with --transpose it streams.
 *
 * Counts are kept in the smallest type: the range of the integers is known before the first row is.
 * Real values are kept as f32 unless --dtype says, as those of the other text formats are.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "io/column_names.h"
#include "io/like.h"
#include "io/mtx_tables.h"
#include "io/mtx_text.h"
#include "io/refuse.h"
#include "io/row_sort.h"
#include "io/sparse_rows.h"

static const char magic[] = "%%MatrixMarket";

/* The state of the reader. Entries are those of the points: transposed where that is asked for. */
struct mtx {
    struct ny_sparse_rows rows;
    struct ny_mtx_text text;
    double least, largest;    /* value so far; of integers */
    uint64_t entries;         /* with those that symmetry adds */
    uint64_t most;            /* entries of the fullest row; 0: unknown */
    struct ny_mtx_entry next; /* streaming: the first entry of a row to come */
    bool has_next, ended;
    struct ny_row_pairs row; /* streaming: entries of a row */
};

static enum ny_guess probe(const char *head, size_t length)
{
    return length >= sizeof(magic) - 1 && strncasecmp(head, magic, sizeof(magic) - 1) == 0
               ? NY_GUESS_SURE
               : NY_GUESS_NO;
}

/* Reads the next entry as one of the points. */
static int next_entry(struct ny_reader *reader, struct ny_mtx_entry *entry)
{
    struct mtx *mtx = reader->state;
    int err = ny_mtx_next(reader, &mtx->text, entry);

    if (err) return err;
    if (entry->value < mtx->least) mtx->least = entry->value;
    if (entry->value > mtx->largest) mtx->largest = entry->value;
    if (reader->options.transpose) {
        uint64_t row = entry->column;

        entry->column = entry->row;
        entry->row = row;
    }
    return NY_OK;
}

/* ---- before the first row ---------------------------------------------------------------------
 */

/* Reads the entries of a file as long as they are in the order of the rows, and goes back to the
 * first. *ordered: all of them are. */
static int look(struct ny_reader *reader, bool *ordered)
{
    struct mtx *mtx = reader->state;
    uint64_t row = 0, count = 0;
    struct ny_mtx_entry entry;
    int err;

    while ((err = next_entry(reader, &entry)) == NY_OK && entry.row >= row) {
        if (entry.row > row) count = 0;
        row = entry.row;
        count++;
        if (count > mtx->most) mtx->most = count;
    }
    *ordered = err == NY_END;
    if (err && err != NY_END) return err;
    err = ny_bytes_rewind(reader->bytes);
    return err ? err : ny_mtx_begin(reader, &mtx->text);
}

/* Adds an entry to the sort. */
static int sort_entry(struct ny_reader *reader, const struct ny_mtx_entry *entry)
{
    ((struct mtx *)reader->state)->entries++;
    return ny_row_sort_add(reader->sort, entry->row, (uint32_t)entry->column, &entry->value);
}

/* Reads all entries and sorts them by row. */
static int sort_all(struct ny_reader *reader)
{
    struct mtx *mtx = reader->state;
    uint64_t expected = mtx->text.entries * (mtx->text.symmetric ? 2 : 1);
    struct ny_row_sort_spec spec = {reader->table.rows, expected, NY_F64};
    struct ny_mtx_entry entry;
    int err = ny_row_sort_new(&reader->sort, reader, &spec);

    mtx->most = 0;
    while (!err && (err = next_entry(reader, &entry)) == NY_OK) {
        err = sort_entry(reader, &entry);
        if (err || !mtx->text.symmetric || entry.row == entry.column) continue;
        err = sort_entry(reader, &(struct ny_mtx_entry){entry.column, entry.row, entry.value});
    }
    return err == NY_END ? NY_OK : err;
}

/* Returns the smallest type that holds the values; floats are f32. */
static enum ny_dtype natural_type(const struct mtx *mtx)
{
    static const struct {
        enum ny_dtype dtype;
        double least, largest;
    } types[] = {{NY_U8, 0, UINT8_MAX}, {NY_I16, INT16_MIN, INT16_MAX}, {NY_F32, -0x1p24, 0x1p24}};

    if (mtx->text.field == NY_MTX_REAL) return NY_F32;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        if (mtx->least >= types[i].least && mtx->largest <= types[i].largest) return types[i].dtype;
    return NY_F64;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Gives the entries of a row of a file that is in order. */
static int next_streamed(struct ny_reader *reader, struct ny_row_entries *row)
{
    struct mtx *mtx = reader->state;
    size_t count = 0;
    int err = NY_OK;

    while (!err && !mtx->ended) {
        if (!mtx->has_next) {
            err = next_entry(reader, &mtx->next);
            mtx->ended = err == NY_END;
            if (err) break;
            mtx->has_next = true;
        }
        if (mtx->next.row > reader->consumed) break;
        if (mtx->next.row < reader->consumed)
            return ny_refuse_damaged(reader->ctx, reader->path, reader->consumed);
        err = ny_row_pairs_room(reader->ctx, &mtx->row, count);
        if (err) break;
        mtx->row.column[count] = (uint32_t)mtx->next.column;
        mtx->row.value[count++] = mtx->next.value;
        mtx->has_next = false;
    }
    *row = (struct ny_row_entries){mtx->row.column, mtx->row.value, count};
    return err == NY_END ? NY_OK : err;
}

/* ---- the format -------------------------------------------------------------------------------
 */

/* Checks the number of entries against the bytes of a regular file: the shortest line is "1 1", or
 * "1" of an array, and gzip packs at most 1032 bytes into one. */
static int check_entries(const struct ny_reader *reader)
{
    const struct ny_bytes *bytes = reader->bytes;
    const struct mtx *mtx = reader->state;
    const uint64_t line_bytes = mtx->text.array ? 2 : 4, gzip_most = 1032;
    uint64_t size = bytes->size - bytes->start, most = size / line_bytes + 1;

    if (bytes->unpacker) most = size / line_bytes * gzip_most + gzip_most;
    if (!bytes->regular || mtx->text.entries <= most) return NY_OK;
    return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
}

/* Reads the header, and decides how rows come. */
static int begin(struct ny_reader *reader)
{
    struct mtx *mtx = reader->state;
    struct ny_file_table *table = &reader->table;
    bool ordered = false;
    int err = ny_mtx_begin(reader, &mtx->text);

    if (err) return err;
    table->rows = reader->options.transpose ? mtx->text.columns : mtx->text.rows;
    table->d = reader->options.transpose ? mtx->text.rows : mtx->text.columns;
    err = check_entries(reader);
    if (!err) err = ny_sparse_rows_check(reader, mtx->text.entries);
    if (err) return err;
    mtx->entries = mtx->text.entries;
    if (reader->bytes->regular && !mtx->text.symmetric) err = look(reader, &ordered);
    if (err || ordered) return err;
    mtx->entries = 0;
    return sort_all(reader);
}

static int open_mtx(struct ny_reader *reader)
{
    struct mtx *mtx = ny_lay(&reader->own, NY_MEM_IO, 1, sizeof(*mtx));
    struct ny_file_table *table = &reader->table;
    int err;

    if (!mtx) return NY_EBUDGET;
    reader->state = mtx;
    err = begin(reader);
    if (err) return err;
    table->dtype = reader->options.dtype ? reader->options.dtype : natural_type(mtx);
    mtx->rows.index_bytes = sizeof(uint32_t);
    mtx->rows.type = NY_F64;
    mtx->rows.rounding = mtx->text.field == NY_MTX_REAL;
    mtx->rows.fetch = next_streamed;
    if (reader->sort) ny_row_sort_serves(&mtx->rows);
    reader->is_sparse = !mtx->text.array;
    if (reader->options.names) err = ny_mtx_tables_open(reader);
    if (!err && reader->options.column_names)
        err = ny_column_names_read(reader, table->d);
    else if (!err)
        err = ny_like_place(reader);
    if (!err) ny_sparse_rows_layout(reader, mtx->entries, mtx->most);
    return err;
}

static int next_mtx(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch)
{
    return ny_sparse_rows_next(reader, &((struct mtx *)reader->state)->rows, max_rows, batch);
}

static void close_mtx(struct ny_reader *reader)
{
    struct mtx *mtx = reader->state;

    ny_row_pairs_free(reader->ctx, &mtx->row);
}

const struct ny_format ny_format_mtx = {
    .probe = probe,
    .open = open_mtx,
    .next = next_mtx,
    .close = close_mtx,
    .takes_transpose = true,
    .takes_column_names = true,
    .takes_new_columns = true,
};
