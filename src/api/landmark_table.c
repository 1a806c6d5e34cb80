/* Gives the landmarks of a model to options, as the table of option landmarks-points. */
#include "api/landmark_table.h"

#include <string.h>

#include "base/memory.h"
#include "base/sparse.h"

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
