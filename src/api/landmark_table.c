/* Gives the landmarks of a model to options, as the table of option landmarks-points. */
#include "api/landmark_table.h"

#include <string.h>

#include "base/memory.h"
#include "base/sparse.h"

/* Gives sparse landmarks to the options, as a table in CSR. */
static int set_sparse(struct ny_options *options, const struct ny_model *model)
{
    struct ny_context *ctx = model->ctx;
    size_t element = ny_dtype_size(model->spec.dtype), slots = model->spec.slots, entries = 0;
    size_t row_bytes = ny_row_bytes(model->spec.dtype, model->d, slots);
    uint64_t *start = ny_calloc(ctx, NY_MEM_MODEL, model->m + 1, sizeof(*start));
    uint64_t *column = ny_calloc(ctx, NY_MEM_MODEL, model->m * slots, sizeof(*column));
    char *values = ny_calloc(ctx, NY_MEM_MODEL, model->m * slots, element);
    struct ny_table table = {.struct_bytes = sizeof(table),
                             .name = "the landmarks",
                             .dtype = (int)model->spec.dtype,
                             .index_bytes = sizeof(uint64_t),
                             .rows = model->m,
                             .columns = model->d,
                             .values = values,
                             .row_start = start,
                             .column = column};
    int err = start && column && values ? NY_OK : NY_EBUDGET;

    for (size_t i = 0; !err && i < model->m; i++) {
        struct ny_sparse row = ny_sparse_of((const char *)model->landmarks + i * row_bytes, slots);

        for (size_t k = 0; k < row.count; k++)
            column[entries + k] = row.index[k];
        if (row.count) memcpy(values + entries * element, row.value, row.count * element);
        entries += row.count;
        start[i + 1] = entries;
    }
    table.entries = entries;
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
