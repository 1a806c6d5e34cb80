/* Exact values of the kernel between one row and others. */
#include "nearest/one_row.h"

int ny_one_row_init(struct ny_one_row *one, const struct ny_columns_spec *spec)
{
    int err = ny_columns_new(&one->column, spec);

    return err ? err : ny_columns_room_new(&one->room, spec, 1);
}

void ny_one_row_release(struct ny_one_row *one, struct ny_context *ctx)
{
    ny_columns_free(one->column);
    ny_columns_room_free(one->room, ctx);
    *one = (struct ny_one_row){0};
}

size_t ny_one_row_bytes(const struct ny_columns_spec *spec)
{
    return ny_columns_bytes(spec, 1) + ny_columns_room_bytes(spec, 1);
}

int ny_one_row_set(const struct ny_one_row *one, const void *x)
{
    ny_columns_clear(one->column);
    return ny_columns_append(one->column, ny_raw_rows(x), 1);
}

int ny_one_row_values(const struct ny_one_row *one, const void *y, size_t count, double *values)
{
    return ny_columns_exact_in(one->room, one->column, ny_raw_rows(y), count, 0,
                               ny_matrix(values, count, 1));
}

int ny_one_row_values_at(const struct ny_one_row *one, const void *const *y, size_t count,
                         double *values)
{
    return ny_columns_exact_at(one->room, one->column, y, ny_matrix(values, count, 1));
}
