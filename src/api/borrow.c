/*
 * ny_borrow: rows in the memory of the caller as a store that is in memory, too (ny_store_hold()).
 *
 * Rows are read where they are. Only sparse ones may have to be copied: those whose entries are not
 * in order, and those of which more than one value in eight is there, which are quicker as dense
 * rows. A reader makes that copy, as it makes the rows of an import, so that both are the same.
 */
#include <string.h>

#include "api/given.h"
#include "api/options.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/memory.h"
#include "io/memory.h"
#include "store/store.h"
#include "stream/rows_memory.h"

/* Rows that a store in memory reads, with what is made for it. */
struct borrowed {
    struct ny_context *ctx;
    char *path; /* by which messages call the rows */
    struct ny_table table;
    enum ny_reading layout; /* that was asked for */
    struct ny_memory_rows rows;
    struct ny_rows *X;
    struct ny_names columns;
    struct ny_csr sparse; /* a copy in order */
    void *dense;          /* or a dense one */
};

static void borrowed_free(void *arg)
{
    struct borrowed *borrowed = arg;

    if (!borrowed) return;
    ny_memory_rows_free(borrowed->X);
    ny_names_release(&borrowed->columns, borrowed->ctx);
    ny_csr_release(&borrowed->sparse, borrowed->ctx);
    ny_free(borrowed->ctx, borrowed->dense);
    ny_free(borrowed->ctx, borrowed->path);
    ny_free(borrowed->ctx, borrowed);
}

/* Describes the rows of the table as they are. */
static struct ny_kept_rows kept_of(const struct ny_table *table)
{
    size_t element = ny_dtype_size((enum ny_dtype)table->dtype);
    uint64_t row_bytes = table->row_bytes ? table->row_bytes : table->columns * element;
    uint64_t bytes = table->row_start ? table->entries * element
                                      : (table->rows - 1) * row_bytes + table->columns * element;

    return (struct ny_kept_rows){.dtype = (enum ny_dtype)table->dtype,
                                 .n = table->rows,
                                 .d = (size_t)table->columns,
                                 .values = ny_borrowed_of(table->values, (size_t)bytes),
                                 .row_bytes = (size_t)row_bytes,
                                 .row_start = table->row_start,
                                 .column = table->column,
                                 .index_bytes = table->index_bytes};
}

/* ---- a copy --------------------------------------------------------------------------------- */

/* Reads the rows of the table to its end: into the copy, where that is made. */
static int read_all(struct borrowed *borrowed, struct ny_reader *reader)
{
    enum { MOST = 256 };
    const struct ny_file_table *table = ny_reader_table(reader);
    size_t row_bytes = (size_t)table->d * ny_dtype_size(table->dtype);
    bool dense = table->layout == NY_DENSE, copies = borrowed->dense || borrowed->sparse.dtype;
    char *rows = borrowed->dense;
    struct ny_csr piece = {.dtype = table->dtype};
    struct ny_row_batch batch = {0};
    int err = NY_OK;

    if (dense && !copies) rows = ny_calloc(borrowed->ctx, NY_MEM_STORE, MOST, row_bytes);
    if (dense && !rows) return NY_EBUDGET;
    while (!err) {
        piece.rows = 0;
        batch = (struct ny_row_batch){.values = rows};
        if (!dense) batch.sparse = copies ? &borrowed->sparse : &piece;
        err = ny_reader_next(reader, MOST, &batch);
        if (dense && copies) rows += batch.count * row_bytes;
    }
    if (dense && !copies) ny_free(borrowed->ctx, rows);
    ny_csr_release(&piece, borrowed->ctx);
    return err == NY_END ? NY_OK : err;
}

static int open_reader(struct borrowed *borrowed, struct ny_reader **reader)
{
    const struct ny_reader_options reading = {
        .reading = borrowed->layout, .any_order = true, .nan_option = true};

    return ny_reader_open_memory(reader, borrowed->ctx, &borrowed->table, &reading);
}

/* Copies the values of dense rows that are not 0. */
static int make_sparse(void *arg)
{
    struct borrowed *borrowed = arg;
    const struct ny_kept_rows *kept = &borrowed->rows.kept;
    struct ny_csr *sparse = &borrowed->sparse;
    size_t element = ny_dtype_size(kept->dtype), nnz = 0;
    int err = NY_OK;

    sparse->dtype = kept->dtype;
    for (uint64_t i = 0; !err && i < kept->n; i++) {
        const char *row = kept->values.at + i * kept->row_bytes;

        err = ny_csr_reserve(sparse, borrowed->ctx, NY_MEM_STORE, sparse->rows + 1, nnz + kept->d);
        for (size_t k = 0; !err && k < kept->d; k++) {
            if (ny_dtype_at(kept->dtype, row, k) == 0) continue;
            sparse->index[nnz] = (uint32_t)k;
            memcpy((char *)sparse->value + nnz++ * element, row + k * element, element);
        }
        if (!err) sparse->start[++sparse->rows] = (uint32_t)nnz;
    }
    return err;
}

/* Copies sparse rows in order, or as dense ones. */
static int make_ordered(struct borrowed *borrowed)
{
    const struct ny_kept_rows *kept = &borrowed->rows.kept;
    const struct ny_file_table *table;
    struct ny_reader *reader;
    int err = open_reader(borrowed, &reader);

    if (err) return err;
    table = ny_reader_table(reader);
    if (table->layout == NY_CSR)
        borrowed->sparse.dtype = table->dtype;
    else
        borrowed->dense = ny_calloc(borrowed->ctx, NY_MEM_STORE, (size_t)kept->n,
                                    kept->d * ny_dtype_size(table->dtype));
    err = table->layout == NY_CSR || borrowed->dense ? read_all(borrowed, reader) : NY_EBUDGET;
    ny_reader_close(reader);
    return err;
}

/* Copies the rows, and describes the copy in their place. */
static int copy_rows(struct borrowed *borrowed)
{
    struct ny_kept_rows *kept = &borrowed->rows.kept;
    const struct ny_csr *sparse = &borrowed->sparse;
    size_t row_bytes = kept->d * ny_dtype_size(kept->dtype);
    int err = kept->row_start ? make_ordered(borrowed)
                              : ny_borrowed_guard(borrowed->ctx, make_sparse, borrowed);

    if (err) return err;
    *kept =
        (struct ny_kept_rows){.dtype = kept->dtype, .n = kept->n, .d = kept->d, .how = kept->how};
    if (borrowed->dense) {
        kept->values = ny_borrowed_of(borrowed->dense, (size_t)kept->n * row_bytes);
        kept->row_bytes = row_bytes;
        return NY_OK;
    }
    kept->values.at = sparse->value;
    kept->row_start = sparse->start;
    kept->column = sparse->index;
    kept->index_bytes = sizeof(uint32_t);
    return NY_OK;
}

/* Tells of the first value that is wrong as its import would; of one that cannot be prepared once
 * more what the rows themselves say. */
static int tell_wrong(struct borrowed *borrowed)
{
    struct ny_reader *reader;
    int err;

    ny_error_clear(borrowed->ctx);
    err = open_reader(borrowed, &reader);
    if (err) return err;
    err = read_all(borrowed, reader);
    ny_reader_close(reader);
    return err ? err : ny_rows_of_memory(&borrowed->X, borrowed->ctx, &borrowed->rows);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Takes the names of the columns. */
static int take_columns(struct borrowed *borrowed)
{
    const char *const *names = borrowed->table.column_names;
    int err = NY_OK;

    for (uint64_t k = 0; names && !err && k < borrowed->table.columns; k++) {
        const char *name = names[k] ? names[k] : "";
        size_t length = strnlen(name, NY_NAME_BYTES_MAX + 1);
        const char *wrong = ny_name_wrong(name, length);

        err = wrong ? ny_fail(borrowed->ctx, NY_EDATA, "%s: the name of column %llu (from 0) %s",
                              borrowed->path, (unsigned long long)k, wrong)
                    : ny_names_add(&borrowed->columns, borrowed->ctx, name, length);
    }
    if (names) borrowed->rows.columns = &borrowed->columns;
    return err;
}

static int make_rows(struct borrowed *borrowed)
{
    const struct ny_table *table = &borrowed->table;
    bool full = table->entries >= table->rows * table->columns / 8;
    bool stays = table->row_start ? borrowed->layout == NY_READ_SPARSE ||
                                        (borrowed->layout == NY_READ_AUTO && !full)
                                  : borrowed->layout != NY_READ_SPARSE;
    int err = NY_END;

    if (stays) err = ny_rows_of_memory(&borrowed->X, borrowed->ctx, &borrowed->rows);
    if (err == NY_EDATA) return tell_wrong(borrowed);
    if (err == NY_END) err = copy_rows(borrowed);
    if (!err && !borrowed->X) err = ny_rows_of_memory(&borrowed->X, borrowed->ctx, &borrowed->rows);
    return err;
}

/* Reads how rows are to be prepared, and refuses options of an import that would change them. */
static int take_options(struct borrowed *borrowed, const struct ny_options *options)
{
    static const char *const others[] = {"dtype", "dims", "shuffle", "shards"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (ny_options_is_set(options, others[i]))
            return ny_fail(borrowed->ctx, NY_EUSAGE,
                           "--%s says how to import rows, but these are read where they are",
                           others[i]);
    borrowed->layout = ny_settings_layout(options);
    return ny_settings_preparation(borrowed->ctx, options, &borrowed->rows.kept.how);
}

static int borrow(struct ny_context *ctx, const char *path, const struct ny_table *table,
                  const struct ny_options *options)
{
    struct borrowed *borrowed = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*borrowed));
    struct ny_store *store;
    int err;

    if (!borrowed) return NY_EBUDGET;
    *borrowed = (struct borrowed){.ctx = ctx, .table = *table, .path = ny_strdup(ctx, path)};
    borrowed->rows = (struct ny_memory_rows){.name = borrowed->path,
                                             .kept = kept_of(table),
                                             .entries = table->row_start ? table->entries : 0};
    err = borrowed->path ? take_options(borrowed, options) : NY_EBUDGET;
    if (!err) err = take_columns(borrowed);
    if (!err) err = make_rows(borrowed);
    if (err) {
        borrowed_free(borrowed);
        return err;
    }
    err = ny_store_of_rows(
        &store, ctx, path,
        &(struct ny_given_rows){borrowed->X, borrowed->rows.columns, borrowed_free, borrowed});
    if (!err) ny_store_hold(ctx, store);
    return err;
}

int ny_borrow(struct ny_context *context, const char *path, const struct ny_table *table,
              const struct ny_options *options, struct ny_report **report)
{
    struct ny_options none;
    struct ny_table rows;
    int err = NY_GIVEN(context, path, table);

    if (report) *report = NULL;
    if (!err) err = ny_given_table(context, table, &rows);
    if (!err) err = ny_memory_check(context, &rows);
    options = ny_options_given(options, context, &none);
    if (!err) err = borrow(context, path, &rows, options);
    return err || !report ? err : ny_store_report(context, path, report);
}

void ny_give_back(struct ny_context *context)
{
    if (context) ny_store_hold(context, NULL);
}
