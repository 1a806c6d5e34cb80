/*
 * ny_borrow: rows in the memory of the caller as a store that is in memory, too (ny_store_hold()),
 * and ny_temporary: a store without rows, which an import fills.
 *
 * Rows are read where they are. Only sparse ones may have to be imported: those whose entries are
 * not in order, and those of which more than one value in eight is there, which are quicker as
 * dense rows.
 */
#include <string.h>

#include "api/call.h"
#include "api/import.h"
#include "api/options.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/memory.h"
#include "io/memory.h"
#include "io/refuse.h"
#include "job/keep_memory.h"
#include "store/store.h"
#include "stream/rows_memory.h"

/* Rows that a store in memory reads, with what is made for it. */
struct borrowed {
    struct ny_context *ctx;
    char *path; /* by which messages call the rows */
    struct ny_table table;
    struct ny_memory_rows rows;
    struct ny_rows *X;
    struct ny_names columns;
};

static void borrowed_free(void *arg)
{
    struct borrowed *borrowed = arg;

    if (!borrowed) return;
    ny_memory_rows_free(borrowed->X);
    ny_names_release(&borrowed->columns, borrowed->ctx);
    ny_free(borrowed->ctx, borrowed->path);
    ny_free(borrowed->ctx, borrowed);
}

/* Describes the rows of the table as they are. */
static struct ny_kept_rows kept_of(const struct ny_table *table)
{
    size_t element = ny_dtype_size((enum ny_dtype)table->dtype);
    uint64_t row_bytes = table->row_bytes ? table->row_bytes : table->columns * element;
    uint64_t bytes = (table->rows - 1) * row_bytes + table->columns * element;
    struct ny_borrowed_rows values = {.at = table->values};

    if (!table->row_start) values = ny_borrowed_of(table->values, (size_t)bytes);
    return (struct ny_kept_rows){.dtype = (enum ny_dtype)table->dtype,
                                 .n = table->rows,
                                 .d = (size_t)table->columns,
                                 .values = values,
                                 .row_bytes = (size_t)row_bytes,
                                 .row_start = table->row_start,
                                 .column = table->column,
                                 .index_bytes = table->index_bytes,
                                 .start_bytes = table->index_bytes};
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

        err = wrong ? ny_refuse_name(borrowed->ctx, borrowed->path, k, wrong)
                    : ny_names_add(&borrowed->columns, borrowed->ctx, name, length);
    }
    if (names) borrowed->rows.columns = &borrowed->columns;
    return err;
}

/* Tells whether rows can stay where they are, if sparse ones are in order. */
static bool can_stay(const struct ny_table *table, enum ny_reading layout)
{
    bool full = table->entries >= table->rows * table->columns / 8;

    if (table->dtype == NY_GENOTYPE) return false; /* its bytes are to be looked at */
    if (!table->row_start) return layout != NY_READ_SPARSE;
    return layout == NY_READ_SPARSE || (layout == NY_READ_AUTO && !full);
}

/* Borrows the rows where they are. NY_END: they cannot stay there. NY_EDATA: an import tells of the
 * first value that is wrong. */
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
    err = borrowed->path ? ny_options_refuse(options, "dtype|dims|shuffle|shards",
                                             "rows that are read where they are")
                         : NY_EBUDGET;
    if (!err) err = ny_settings_preparation(ctx, options, &borrowed->rows.kept.how);
    if (!err) err = take_columns(borrowed);
    if (!err && !can_stay(table, ny_settings_layout(options))) err = NY_END;
    if (!err) err = ny_rows_of_memory(&borrowed->X, ctx, &borrowed->rows);
    if (err) {
        borrowed_free(borrowed);
        return err;
    }
    err = ny_store_of_rows(&store, ctx, path,
                           &(struct ny_given_rows){.X = borrowed->X,
                                                   .columns = borrowed->rows.columns,
                                                   .folder = ny_options_get(options, "tmpdir"),
                                                   .free = borrowed_free,
                                                   .arg = borrowed});
    if (!err) ny_store_hold(ctx, store);
    return err;
}

/* Makes a store without rows; NULL: what is made of them is in memory. */
static int hold_none(struct ny_context *ctx, const char *path, const char *folder)
{
    struct ny_store *store;
    int err = ny_store_of_none(&store, ctx, path, folder);

    if (!err) ny_store_hold(ctx, store);
    return err;
}

static int import(struct ny_context *ctx, const char *path, const struct ny_table *table,
                  const struct ny_options *options)
{
    int err = hold_none(ctx, path, ny_options_get(options, "tmpdir"));

    if (!err)
        err = ny_import_held(ctx, path, (struct ny_import_source){.table = table}, options, NULL);
    if (err) ny_store_hold(ctx, NULL);
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
    if (err == NY_EDATA) ny_error_clear(context);
    if (err == NY_END || err == NY_EDATA) err = import(context, path, &rows, options);
    return err || !report ? err : ny_store_report(context, path, report);
}

int ny_temporary(struct ny_context *context, const char *path, const char *folder)
{
    int err = NY_GIVEN(context, path, folder);

    return err ? err : hold_none(context, path, folder);
}

/* Finds the results of the store that the context holds by this path. */
static int find_results(struct ny_context *ctx, const char *path,
                        struct ny_memory_results **results)
{
    struct ny_store *store;
    int err = ny_store_open(&store, ctx, path);

    if (err) return err;
    *results = ny_store_memory_results(store);
    ny_store_close(store); /* the context holds it */
    return *results ? NY_OK : ny_fail(ctx, NY_EUSAGE, "%s is not in memory", path);
}

int ny_results_image(struct ny_context *context, const char *path, void *image, size_t *bytes)
{
    struct ny_memory_results *results;
    int err = NY_GIVEN(context, path, bytes);

    if (!err) err = find_results(context, path, &results);
    return err ? err : ny_memory_image(results, image, bytes);
}

int ny_results_load(struct ny_context *context, const char *path, const void *image, size_t bytes)
{
    struct ny_memory_results *results;
    int err = NY_GIVEN(context, path, image);

    if (!err) err = find_results(context, path, &results);
    return err ? err : ny_memory_load(results, image, bytes);
}

void ny_give_back(struct ny_context *context)
{
    if (context) ny_store_hold(context, NULL);
}
