/* The columns of C that a model's landmarks make (model/model.h), for rows of any type. */
#include "base/memory.h"
#include "model/model.h"

/* Dense landmarks in another type. */
static int append_widened(const struct ny_model *model, struct ny_columns *columns)
{
    enum ny_dtype dtype = ny_columns_of(columns)->dtype;
    size_t count = model->m * model->d;
    void *widened = ny_calloc(model->ctx, NY_MEM_MODEL, count, ny_dtype_size(dtype));
    int err = NY_EBUDGET;

    if (!widened) return NY_EBUDGET;
    ny_dtype_widen(model->spec.dtype, model->landmarks, dtype, widened, count);
    err = ny_columns_append(columns, ny_raw_rows(widened), model->m);
    ny_free(model->ctx, widened);
    return err;
}

/* Sparse landmarks in another type, one after the other by way of a record. */
static int append_widened_sparse(const struct ny_model *model, struct ny_columns *columns)
{
    struct ny_context *ctx = model->ctx;
    enum ny_dtype dtype = ny_columns_of(columns)->dtype;
    size_t slots = model->spec.slots, bytes = 0;
    void *record = ny_alloc(ctx, NY_MEM_MODEL, ny_row_bytes(dtype, model->d, slots));
    struct ny_sparse_list list = {0};
    struct ny_sparse_room room;
    int err = record ? NY_OK : NY_EBUDGET;

    for (size_t i = 0; i < model->sparse.count; i++)
        bytes += ny_sparse_bytes(dtype, model->sparse.row[i].count);
    if (!err) err = ny_sparse_list_extend(&list, ctx, NY_MEM_DICTIONARY, model->m, bytes, &room);
    for (size_t i = 0; !err && i < model->m; i++) {
        ny_sparse_pack_as(record, slots, dtype, model->sparse.row[i], model->spec.dtype);
        (void)ny_sparse_room_put(&room, dtype, ny_sparse_of(record, slots), &list.row[i]);
    }
    if (!err) err = ny_columns_take(columns, &list);
    ny_sparse_list_release(&list, ctx);
    ny_free(ctx, record);
    return err;
}

static int append_landmarks(const struct ny_model *model, struct ny_columns *columns)
{
    struct ny_raw_rows rows = ny_model_rows(model);
    bool none = !rows.at && !rows.list;

    if (none || ny_columns_of(columns)->dtype == model->spec.dtype)
        return ny_columns_append(columns, rows, model->m);
    return rows.list ? append_widened_sparse(model, columns) : append_widened(model, columns);
}

struct ny_columns_spec ny_model_spec(const struct ny_model *model, enum ny_dtype dtype,
                                     size_t slots)
{
    struct ny_columns_spec spec = model->spec;

    if (dtype != NY_DTYPE_NONE) spec.dtype = ny_dtype_common(spec.dtype, dtype);
    if (slots > spec.slots) spec.slots = slots;
    return spec;
}

int ny_model_columns(const struct ny_model *model, enum ny_dtype dtype, size_t slots,
                     struct ny_columns **out)
{
    struct ny_columns_spec spec = ny_model_spec(model, dtype, slots);
    int err = ny_columns_new(out, &spec);

    if (!err) err = append_landmarks(model, *out);
    if (!err) err = ny_columns_set_shift(*out, model->a);
    if (!err) return NY_OK;
    ny_columns_free(*out);
    *out = NULL;
    return err;
}
