/*
 * Models without a store: an image in memory or in a file becomes a model, and a model an image.
 * ny_model_open and ny_model_transform, which need one, stand beside the other calls that place
 * rows (api/transform.c).
 */
#include <math.h>

#include "api/given.h"
#include "api/report.h"
#include "base/memory.h"
#include "results/stored_model.h"
#include "results/fields.h"

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
    *bytes = ny_model_image_bytes(model);
    if (!model->image) {
        model->image = ny_alloc(model->ctx, NY_MEM_MODEL, *bytes);
        if (!model->image) return NY_EBUDGET;
        ny_model_save(model, model->image);
    }
    *image = model->image;
    return NY_OK;
}

int ny_model_report(struct ny_model *model, struct ny_report **report)
{
    const struct ny_kernel_params *params;
    const struct ny_kernel *kernel;
    json_t *object;
    int err = NY_GIVEN(model ? model->ctx : NULL, report);

    if (report) *report = NULL;
    if (err) return err;
    ny_fields_begin();
    kernel = model->spec.kernel;
    params = &model->spec.params;
    object = json_object();
    ny_field_set_text(object, "kernel",
                      kernel->base == NY_BASE_COORDINATE ? "linear" : kernel->name);
    ny_field_set_number(object, "gamma", kernel->has_gamma ? params->gamma : NAN);
    ny_field_set_number(object, "coef0", params->coef0);
    ny_field_set_count(object, "degree", params->degree);
    ny_field_set_count(object, "landmarks", model->m);
    ny_field_set_count(object, "d", model->d);
    ny_field_set_count(object, "components", ny_coordinates_count(&model->coordinates));
    ny_field_set_text(object, "precision", model->precision == NY_PRECISION_F64 ? "f64" : "f32");
    ny_field_set_text(object, "dtype", ny_dtype_name(model->spec.dtype));
    ny_field_set_text(object, "format", model->spec.slots ? "sparse" : "dense");
    ny_field_set_count(object, "bytes", ny_model_image_bytes(model));
    return ny_report_of_json(report, model->ctx, object);
}
