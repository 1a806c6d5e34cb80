/* Loads the model of a finished result (model/model.h), with what its record says of the fit. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "columns/kernels.h"
#include "linalg/matrix.h"
#include "model/extension.h"
#include "model/model.h"

/* The mean of features that are centred when they are placed: of sums g of n rows, which are
 * stored with ‖g‖²/n, or the means of the columns, which sparse rows keep. */
static int load_mean(struct ny_model *model, const struct ny_keep *keep, const json_t *record)
{
    const struct ny_geometry *geometry = model->spec.geometry;
    bool known = model->map->centred_rows &&
                 !json_object_get(json_object_get(record, "generations"), "degrees");
    size_t d = model->d;
    double *mean, squares;
    int err = NY_OK;

    if (known && !model->spec.slots) return NY_OK; /* dense rows are centred as they are read */
    mean = ny_calloc(model->ctx, NY_MEM_MODEL, d + 1, sizeof(double));
    if (!mean) return NY_EBUDGET;
    model->fitted.mean = mean;
    if (known) {
        for (size_t j = 0; j < d; j++)
            mean[j] = geometry->centre[j] * geometry->factor[j];
        return NY_OK;
    }
    err = keep->ops->get(keep, ny_record_part(record, "degrees").name, mean,
                         (d + 1) * sizeof(double));
    squares = err ? 0 : ny_dot(mean, mean, d);
    for (size_t j = 0; j < d && squares > 0; j++)
        mean[j] *= mean[d] / squares;
    return err;
}

/* Tells whether the variance of rows about the mean is known when they are placed: that of the rows
 * themselves, where a kernel that is centred is not centred over the landmarks alone. */
static bool has_variance(const struct ny_model *model)
{
    const struct ny_kernel *kernel = model->spec.kernel;
    bool of_rows = kernel == ny_kernel_find("linear") || kernel == ny_kernel_find("cosine");

    if (!model->map || model->degrees.v) return false;
    return kernel->base == NY_BASE_COORDINATE ||
           (of_rows && (!model->map->additive || model->map->centred_rows));
}

/* Loads the mean squares along the components. In an exact fit Σy² over its rows is the eigenvalue;
 * landmarks only estimate that. */
static int load_spread(struct ny_model *model, const json_t *report)
{
    const json_t *values = json_object_get(report, "eigenvalues");

    if (!ny_field_is(report, "approx", "exact") || json_array_size(values) != model->p)
        return NY_OK;
    model->fitted.spread = ny_calloc(model->ctx, NY_MEM_MODEL, model->p, sizeof(double));
    if (!model->fitted.spread) return NY_EBUDGET;
    for (size_t k = 0; k < model->p; k++)
        model->fitted.spread[k] = json_number_value(json_array_get(values, k)) / model->fitted.rows;
    return NY_OK;
}

/* Reads what the fit says of the spread of its own rows. */
static int load_fitted(struct ny_model *model, const struct ny_keep *keep, const json_t *record)
{
    const json_t *report = json_object_get(record, "report");
    double kept = ny_field_number(report, "variance_kept", NAN);
    double rows = (double)ny_record_fitted(record);
    double distance = ny_field_number(report, "trace", NAN) / rows;
    int err;

    model->trace_error = ny_field_number(report, "trace_error", 0);
    if (!has_variance(model) || !(kept >= 0) || !(distance > 0 && isfinite(distance))) return NY_OK;
    model->fitted.distance = distance;
    model->fitted.left = fmax(0, 1 - kept);
    model->fitted.rows = rows;
    err = load_spread(model, report);
    if (err || !model->spec.kernel->features || !model->map->additive) return err;
    return load_mean(model, keep, record);
}

int ny_model_of_record(struct ny_model **out, const struct ny_keep *keep, const json_t *record)
{
    struct ny_context *ctx = keep->ctx;
    size_t bytes = (size_t)ny_field_count(record, "model_bytes", 0);
    const char *kind = ny_record_kind(record);
    void *image;
    int err = ny_result_has_model(ctx, keep->name, record);

    *out = NULL;
    if (err) return err;
    if (!bytes)
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' is only a %s and has no model; make one with 'nystream fit --%s %s'",
                       keep->name, kind,
                       strcmp(kind, "graph") == 0 ? "map isomap --graph" : "landmarks-from",
                       keep->name);
    image = ny_alloc(ctx, NY_MEM_MODEL, bytes);
    if (!image) return NY_EBUDGET;
    err = keep->ops->get(keep, ny_record_part(record, "model").name, image, bytes);
    if (!err) err = ny_model_read(out, ctx, image, bytes, keep->name);
    if (!err) err = load_fitted(*out, keep, record);
    err = ny_keep_current(keep, record, err);
    ny_free(ctx, image);
    if (!err) return NY_OK;
    ny_model_free(*out);
    *out = NULL;
    return err;
}
