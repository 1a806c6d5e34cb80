/* Exact values of the kernel between one row and others. */
#include "nearest/one_row.h"

/* Sparse rows that are evaluated at a time. */
enum { VIEWS = 64 };

int ny_one_row_init(struct ny_one_row *one, const struct ny_columns_spec *spec)
{
    *one = (struct ny_one_row){.own.ctx = spec->ctx};
    one->room = ny_columns_room_lay(&one->own, spec, 1);
    return one->own.err ? one->own.err : ny_columns_new(&one->column, spec);
}

void ny_one_row_release(struct ny_one_row *one)
{
    ny_columns_free(one->column);
    ny_layout_free(&one->own);
    *one = (struct ny_one_row){0};
}

void ny_one_row_count(struct ny_layout *l, const struct ny_columns_spec *spec)
{
    ny_columns_room_lay(l, spec, 1);
    ny_columns_count(l, spec, 1);
}

int ny_one_row_set(const struct ny_one_row *one, const void *x)
{
    ny_columns_clear(one->column);
    return ny_columns_append(one->column, ny_raw_rows(x), 1);
}

int ny_one_row_values(const struct ny_one_row *one, const void *const *y, size_t count,
                      double *values)
{
    size_t slots = ny_columns_of(one->column)->slots;
    struct ny_sparse view[VIEWS];
    int err = NY_OK;

    if (!slots) return ny_columns_exact_at(one->room, one->column, y, ny_matrix(values, count, 1));
    for (size_t first = 0, rows; first < count && !err; first += rows) {
        rows = count - first < VIEWS ? count - first : VIEWS;
        for (size_t i = 0; i < rows; i++)
            view[i] = ny_sparse_of(y[first + i], slots);
        err = ny_columns_exact_in(one->room, one->column, ny_raw_list(view), rows, 0,
                                  ny_matrix(values + first, rows, 1));
    }
    return err;
}
