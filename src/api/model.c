/*
 * Models in memory: opened from a result, from a file or from their bytes, made bytes of, and used
 * to place rows.
 */
#include <math.h>

#include "api/call.h"
#include "api/new_rows.h"
#include "api/report.h"
#include "base/memory.h"
#include "base/prepare.h"
#include "io/memory.h"
#include "io/writer.h"
#include "linalg/matrix.h"
#include "place/drift.h"
#include "place/landmarks.h"
#include "records/certificate.h"
#include "records/fields.h"
#include "results/stored_model.h"
#include "store/store.h"
#include "shards/open.h"
#include "records/figures.h"

int ny_model_open(struct ny_model **out, struct ny_context *context, const char *path,
                  const char *name)
{
    struct ny_store *store = NULL;
    int err = NY_GIVEN(context, out, path, name);

    if (out) *out = NULL;
    if (err == NY_OK) err = ny_shards_open(&store, context, path, name, NY_SHARDS_SOME);
    if (err == NY_OK) err = ny_model_of_result(out, store, name);
    if (err == NY_OK) err = ny_model_take_columns(*out, store);
    if (err == NY_OK && !ny_store_set(store)) err = ny_store_skip_lost(store);
    if (err == NY_OK) {
        ny_blas_borrow();
        err = ny_transform_learn(*out, ny_store_rows(store), &ny_drift_of_tables);
        ny_blas_return();
    }
    if (err && out && *out) {
        ny_model_free(*out);
        *out = NULL;
    }
    ny_store_close(store);
    return err;
}

int ny_model_load(struct ny_model **out, struct ny_context *context, const void *image,
                  size_t bytes)
{
    int err = NY_GIVEN(context, out, image);

    if (out) *out = NULL;
    return err ? err : ny_model_read(out, context, image, bytes, "the image");
}

int ny_model_load_file(struct ny_model **out, struct ny_context *context, const char *file)
{
    int err = NY_GIVEN(context, out, file);

    if (out) *out = NULL;
    return err ? err : ny_model_of_file(out, context, file);
}

int ny_model_image(struct ny_model *model, const void **image, size_t *bytes)
{
    int err = NY_GIVEN(model ? model->ctx : NULL, image, bytes);

    if (err) return err;
    *image = NULL;
    *bytes = ny_model_save(model, NULL);
    if (!model->image) {
        model->image = ny_alloc(model->ctx, NY_MEM_MODEL, *bytes);
        if (!model->image) return NY_EBUDGET;
        ny_model_save(model, model->image);
    }
    *image = model->image;
    return NY_OK;
}

int ny_model_column_names(const struct ny_model *model, const char **names, size_t *count)
{
    int err = NY_GIVEN(model ? model->ctx : NULL, names, count);

    if (err) return err;
    *names = model->columns.count ? model->columns.text : NULL;
    *count = model->columns.count;
    return NY_OK;
}

int ny_model_save_file(struct ny_model *model, const char *file)
{
    struct ny_writer *writer = NULL;
    const void *image;
    size_t bytes;
    int err = NY_GIVEN(model ? model->ctx : NULL, file);

    if (!err) err = ny_model_image(model, &image, &bytes);
    if (!err) err = ny_writer_open(&writer, model->ctx, file, NY_OUT_BYTES, bytes, 0);
    if (!err) err = ny_writer_rows(writer, image, bytes);
    return ny_writer_commit(writer, err);
}

/* Says the kernel and its parameters, and the polynomial kernel's also of kernels without any. */
static void report_kernel(json_t *object, const struct ny_kernel *kernel,
                          struct ny_kernel_params params)
{
    const struct ny_kernel *named = kernel;
    const struct ny_param *param;

    if (!ny_kernel_number(kernel, 1)) named = ny_kernel_find("polynomial");
    if (!kernel->auto_gamma) params.gamma = NAN;
    ny_field_set_text(object, "kernel", ny_kernel_shown(kernel));
    for (size_t i = 0; (param = ny_kernel_number(named, i)); i++)
        if (param->kind == NY_COUNT)
            ny_field_set_count(object, param->name, (uint64_t)*ny_param_value(param, &params));
        else
            ny_field_set_number(object, param->name, *ny_param_value(param, &params));
}

int ny_model_report(struct ny_model *model, struct ny_report **report)
{
    const struct ny_prepared *how;
    char rows[NY_PREPARED_WORD_BYTES];
    json_t *object;
    int err = NY_GIVEN(model ? model->ctx : NULL, report);

    if (report) *report = NULL;
    if (err) return err;
    ny_fields_begin();
    how = &model->spec.preparation;
    object = json_object();
    ny_field_set_text(object, "map", model->map ? model->map->name : NULL);
    report_kernel(object, model->spec.kernel, model->spec.params);
    ny_field_set_count(object, "landmarks", model->m);
    ny_field_set_count(object, "d", model->d);
    ny_field_set_count(object, "components", ny_coordinates_count(&model->coordinates));
    ny_field_set_text(object, "precision", model->precision == NY_PRECISION_F64 ? "f64" : "f32");
    ny_field_set_text(object, "dtype", ny_dtype_name(model->spec.dtype));
    ny_field_set_text(object, "format", model->spec.slots ? "sparse" : "dense");
    ny_field_set_count(object, "bytes", ny_model_save(model, NULL));
    ny_field_set_text(object, "prepared_rows",
                      ny_prepares(how) ? ny_prepared_rows(how, rows) : NULL);
    ny_field_set_text(object, "prepared_values", ny_prepares(how) ? ny_prepared_values(how) : NULL);
    if (model->coordinates.skip)
        ny_field_set_count(object, "eigenvalues_trivial", model->coordinates.skip);
    ny_field_set_json(object, "eigenvalues", ny_model_found(model, NY_FOUND_VALUES));
    ny_field_set_json(object, "component_errors", ny_model_found(model, NY_FOUND_ERRORS));
    ny_field_set_json(object, "component_errors_se", ny_model_found(model, NY_FOUND_ERRORS_SE));
    ny_field_set_number(object, "trace_error", ny_model_trace_error(model));
    ny_field_set_json(object, "certificate", ny_certificate(object, true));
    return ny_report_of_json(report, model->ctx, object);
}

int ny_model_place(struct ny_model *model, const struct ny_table *table, int dtype, void *out,
                   uint64_t row_bytes)
{
    struct ny_read_rows rows = {.base.ops = &ny_read_rows_ops,
                                .room = {out, (enum ny_dtype)dtype, row_bytes, NY_ANY_COMPONENTS}};
    struct ny_drift drift;
    struct ny_table given;
    int err = NY_GIVEN(model ? model->ctx : NULL, table, out);

    if (!err) err = ny_given_table(model->ctx, table, &given);
    if (err || !given.rows) return err;
    rows.table = &given;
    ny_blas_borrow();
    err = ny_transform_table(model, &rows.base, given.rows, &drift);
    ny_blas_return();
    if (!err && ny_drift_is_large(&drift))
        ny_drift_tell(model->ctx, ny_memory_name(&given), &drift, "");
    return err;
}

int ny_model_transform(struct ny_model *model, const float *values, uint64_t rows, float *embedding)
{
    struct ny_table table = {
        .struct_bytes = sizeof(table), .dtype = NY_F32, .rows = rows, .values = values};
    int err = NY_GIVEN(model ? model->ctx : NULL, values, embedding);

    if (!err) err = ny_given_rows(model->ctx, rows, model->d);
    if (err) return err;
    table.columns = model->d;
    return ny_model_place(model, &table, NY_F32, embedding, 0);
}
