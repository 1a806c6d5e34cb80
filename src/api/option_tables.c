/*
 * Gives from memory what an option names a file for (ny_options_set_table()).
 *
 * The table is copied, in one block, and read by the reader of tables as the file would be. The
 * option's text is then "table" and a digest of it: so the identity of a job, and the check that an
 * update agrees with its result, tell one table from another as they tell files by their names.
 */
#include "api/option_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/option_table.h"
#include "base/memory.h"
#include "base/sparse.h"
#include "base/text.h"
#include "io/memory.h"
#include "io/refuse.h"

/* The options that name a file of numbers. */
static const char with_tables[] = "landmarks-file|landmarks-points|features";

/* The sizes of the parts of a copy, each rounded up to 8 bytes. */
struct parts {
    size_t name, values, row_start, column;
};

/* Adds the bytes of `count` items to *total; false: they overflow. */
static bool add(size_t *total, size_t *part, uint64_t count, size_t item)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, item, &bytes) || bytes > SIZE_MAX - 7) return false;
    *part = (bytes + 7) / 8 * 8;
    return !__builtin_add_overflow(*total, *part, total);
}

/* Measures what a copy of the table takes; 0: more than there can be. */
static size_t measure(const struct ny_table *table, struct parts *parts)
{
    size_t element = ny_dtype_size((enum ny_dtype)table->dtype), total = sizeof(*table), row;
    bool sparse = table->row_start;
    uint64_t values = sparse ? table->entries : table->rows;

    *parts = (struct parts){0};
    if (__builtin_mul_overflow(table->columns, element, &row)) return 0;
    if (!add(&total, &parts->name, strlen(ny_memory_name(table)) + 1, 1)) return 0;
    if (!add(&total, &parts->values, values, sparse ? element : row)) return 0;
    if (!sparse) return total;
    if (!add(&total, &parts->row_start, table->rows + 1, table->index_bytes)) return 0;
    return add(&total, &parts->column, table->entries, table->index_bytes) ? total : 0;
}

/* Copies an array to *at, which goes on behind it, and returns the copy. */
static void *put(char **at, size_t room, const void *array, size_t bytes)
{
    void *copy = *at;

    if (bytes) memcpy(copy, array, bytes);
    *at += room;
    return copy;
}

/* Copies a table that has been checked, without its labels; ny_free() it. */
static struct ny_table *copy_table(struct ny_context *ctx, const struct ny_table *table)
{
    size_t row = (size_t)table->columns * ny_dtype_size((enum ny_dtype)table->dtype);
    size_t entries = (size_t)table->entries, width = table->index_bytes;
    const char *name = ny_memory_name(table);
    struct parts parts;
    size_t bytes = measure(table, &parts);
    struct ny_table *copy = bytes ? ny_calloc(ctx, NY_MEM_OTHER, 1, bytes) : NULL;
    char *at = (char *)(copy + 1), *to;

    if (!bytes) ny_fail_memory(ctx);
    if (!copy) return NULL;
    *copy = *table;
    copy->labels = NULL;
    copy->row_bytes = 0;
    copy->name = put(&at, parts.name, name, strlen(name) + 1);
    if (table->row_start) {
        copy->values = put(&at, parts.values, table->values,
                           entries * ny_dtype_size((enum ny_dtype)table->dtype));
        copy->row_start =
            put(&at, parts.row_start, table->row_start, ((size_t)table->rows + 1) * width);
        copy->column = put(&at, parts.column, table->column, entries * width);
        return copy;
    }
    copy->values = to = at;
    for (uint64_t r = 0; r < table->rows; r++)
        put(&to, row, (const char *)table->values + r * (table->row_bytes ? table->row_bytes : row),
            row);
    return copy;
}

int ny_options_set_table(struct ny_options *options, const char *name, const struct ny_table *table)
{
    struct ny_context *ctx = options ? options->ctx : NULL;
    struct ny_table given, *copy;
    char text[40];
    int err = NY_GIVEN(ctx, name, table);

    if (!err && !ny_one_of(name, with_tables)) err = ny_fail_idle(ctx, name, "a table");
    if (!err) err = ny_given_table(ctx, table, &given);
    if (!err) err = ny_memory_check(ctx, &given);
    if (err) return err;
    copy = copy_table(ctx, &given);
    if (!copy) return NY_EBUDGET;
    snprintf(text, sizeof(text), "table %016llx", (unsigned long long)ny_memory_digest(copy));
    err = ny_options_set(options, name, text);
    if (err)
        ny_free(ctx, copy);
    else
        options->tables[ny_option_find(name)] = copy;
    return err;
}

int ny_options_copy(struct ny_options **out, const struct ny_options *options, const char *but)
{
    int err = ny_options_new(out, options->ctx);

    for (int i = 0; !err && i < (int)ny_option_count(); i++) {
        const char *name = ny_option_at(i)->name;

        if (ny_one_of(name, but)) continue;
        if (options->tables && options->tables[i])
            err = ny_options_set_table(*out, name, options->tables[i]);
        else if (options->typed[i])
            err = ny_options_set(*out, name, options->typed[i]);
    }
    if (!err) return NY_OK;
    ny_options_free(*out);
    *out = NULL;
    return err;
}

/* Returns the table that was set for the option; NULL: it names a file. */
static const struct ny_table *table_of(const struct ny_options *options, const char *name)
{
    return options->tables ? options->tables[ny_option_find(name)] : NULL;
}

int ny_options_open(struct ny_reader **out, const struct ny_options *options, const char *name,
                    const struct ny_reader_options *how)
{
    const struct ny_table *table = table_of(options, name);

    return table ? ny_reader_open_memory(out, options->ctx, table, how)
                 : ny_reader_open(out, options->ctx, ny_options_get(options, name), how);
}

size_t ny_options_table_bytes(const struct ny_options *options)
{
    struct parts parts;
    size_t bytes = 0;

    for (size_t i = 0; options->tables && i < ny_option_count(); i++)
        if (options->tables[i]) bytes += measure(options->tables[i], &parts);
    return bytes;
}

const char *ny_options_source(const struct ny_options *options, const char *name)
{
    const struct ny_table *table = table_of(options, name);

    return table ? ny_memory_name(table) : ny_options_get(options, name);
}

/* ---- a list of numbers ---------------------------------------------------------------------- */

/* Appends the numbers of a batch, as f64: exact up to 2⁵³. */
static int add_numbers(struct ny_context *ctx, const struct ny_row_batch *batch, const char *path,
                       struct ny_numbers *list)
{
    const double *values = batch->values;
    int err = ny_resize_array(ctx, NY_MEM_DICTIONARY, &list->number, list->count + batch->count,
                              sizeof(*list->number));

    for (size_t i = 0; !err && i < batch->count; i++) {
        if (values[i] < 0 || values[i] != floor(values[i]) || values[i] > 0x1p53)
            return ny_refuse_index(ctx, path, list->count);
        list->number[list->count++] = (uint64_t)values[i];
    }
    return err;
}

int ny_options_numbers(const struct ny_options *options, const char *name, struct ny_numbers *list)
{
    enum { ROWS = 1024 };
    const char *path = ny_options_source(options, name);
    struct ny_reader_options how = {.dtype = NY_F64};
    struct ny_reader *reader = NULL;
    double values[ROWS];
    int err = ny_options_open(&reader, options, name, &how);

    if (err) return err;
    if (ny_reader_table(reader)->d != 1) err = ny_refuse_list(options->ctx, path);
    while (!err) {
        struct ny_row_batch batch = {.values = values};

        err = ny_reader_next(reader, ROWS, &batch);
        if (!err) err = add_numbers(options->ctx, &batch, path, list);
    }
    ny_reader_close(reader);
    return err == NY_END ? NY_OK : err;
}

/* ---- landmarks of a model ------------------------------------------------------------------- */

/* Gives sparse landmarks to the options, as a table in CSR. */
static int set_sparse(struct ny_options *options, const struct ny_model *model)
{
    struct ny_context *ctx = model->ctx;
    const struct ny_sparse *row = model->sparse.row;
    size_t element = ny_dtype_size(model->spec.dtype), entries = 0;
    uint64_t *start = ny_calloc(ctx, NY_MEM_MODEL, model->m + 1, sizeof(*start)), *column;
    struct ny_table table = {.struct_bytes = sizeof(table),
                             .name = "the landmarks",
                             .dtype = (int)model->spec.dtype,
                             .index_bytes = sizeof(uint64_t),
                             .rows = model->m,
                             .columns = model->d};
    char *values;
    int err;

    for (size_t i = 0; start && i < model->m; i++)
        start[i + 1] = entries += row[i].count;
    column = ny_calloc(ctx, NY_MEM_MODEL, entries + 1, sizeof(*column));
    values = ny_calloc(ctx, NY_MEM_MODEL, entries + 1, element);
    err = start && column && values ? NY_OK : NY_EBUDGET;
    for (size_t i = 0; !err && i < model->m; i++) {
        for (size_t k = 0; k < row[i].count; k++)
            column[start[i] + k] = row[i].index[k];
        if (row[i].count) memcpy(values + start[i] * element, row[i].value, row[i].count * element);
    }
    table.entries = entries;
    table.values = values;
    table.row_start = start;
    table.column = column;
    if (!err) err = ny_options_set_table(options, "landmarks-points", &table);
    ny_free(ctx, values);
    ny_free(ctx, column);
    ny_free(ctx, start);
    return err;
}

int ny_landmark_table_set(struct ny_options *options, const struct ny_model *model)
{
    const struct ny_table table = {.struct_bytes = sizeof(table),
                                   .name = "the landmarks",
                                   .dtype = (int)model->spec.dtype,
                                   .rows = model->m,
                                   .columns = model->d,
                                   .values = model->landmarks};

    return model->spec.slots ? set_sparse(options, model)
                             : ny_options_set_table(options, "landmarks-points", &table);
}
