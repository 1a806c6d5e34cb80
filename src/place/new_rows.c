#include "place/new_rows.h"

#include "store/store.h"

int ny_new_rows_open(struct ny_reader **out, struct ny_context *ctx, const char *input,
                     const struct ny_reader_options *given, const struct ny_points_like *like)
{
    struct ny_reader_options options = given ? *given : (struct ny_reader_options){0};

    options.dims = like->d;
    options.dims_of = like->whose;
    options.nan_drop = false; /* every row has its place in the output */
    options.labels_file = NULL;
    options.reading = like->slots ? NY_READ_SPARSE : NY_READ_DENSE;
    if (options.dtype == NY_DTYPE_NONE && like->dtype == NY_F64) options.dtype = NY_F64;
    return ny_reader_open(out, ctx, input, &options);
}

size_t ny_new_rows_slots(size_t own, const struct ny_file_table *table)
{
    size_t slots = (size_t)(table->layout == NY_CSR ? table->slots : table->d);

    if (!own) return 0;
    return slots > own ? slots : own;
}

int ny_new_rows_beside(struct ny_reader **reader, struct ny_source **rows,
                       const struct ny_points_info *points, struct ny_columns_spec *spec,
                       const char *input, const struct ny_reader_options *given)
{
    size_t slots = (size_t)points->row_slots;
    const struct ny_points_like like = {points->d, points->dtype, slots, "the store has"};
    const struct ny_file_table *table;
    int err = ny_new_rows_open(reader, spec->ctx, input, given, &like);

    if (err) return err;
    table = ny_reader_table(*reader);
    spec->dtype = ny_dtype_common(points->dtype, table->dtype);
    spec->slots = ny_new_rows_slots(slots, table);
    return ny_source_of_reader(rows, spec->ctx, *reader, spec->dtype, spec->slots, 1);
}
