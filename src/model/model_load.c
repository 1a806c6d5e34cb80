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
static int load_mean(struct ny_model *model, const struct ny_keep *keep, struct ny_record record)
{
    const struct ny_geometry *geometry = model->spec.geometry;
    bool known = model->map->centred_rows && !record.ops->generation(record, "degrees");
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

/* The shrinkage of genotypes, which the report has for components above noise (spectral/bulk.h). */
static int load_shrinkage(struct ny_model *model, struct ny_record record)
{
    if (!record.ops->count(record, NY_LIST_SHRINKAGE)) return NY_OK;
    model->fitted.shrinkage = ny_calloc(model->ctx, NY_MEM_MODEL, model->p, sizeof(double));
    if (!model->fitted.shrinkage) return NY_EBUDGET;
    for (size_t k = 0; k < model->p; k++) {
        double factor = record.ops->at(record, NY_LIST_SHRINKAGE, k);

        model->fitted.shrinkage[k] = isnan(factor) ? 0 : factor;
    }
    return NY_OK;
}

/* Finds what rows lie about, where the features of the kernel are the rows themselves. */
static int load_fitted(struct ny_model *model, const struct ny_keep *keep, struct ny_record record)
{
    const struct ny_kernel *kernel = model->spec.kernel;
    bool of_rows = kernel == ny_kernel_find("linear") || kernel == ny_kernel_find("cosine");
    int err = NY_OK;

    model->fitted.rows = ny_record_fitted(record);
    model->fitted.by_variance =
        model->map && !model->degrees.v && (of_rows || kernel->base == NY_BASE_COORDINATE);
    if (model->spec.dtype == NY_GENOTYPE) err = load_shrinkage(model, record);
    if (err || !model->fitted.by_variance || !kernel->features || !model->map->additive) return err;
    return load_mean(model, keep, record);
}

int ny_model_of_record(struct ny_model **out, const struct ny_keep *keep, struct ny_record record)
{
    struct ny_context *ctx = keep->ctx;
    const struct ny_state state = ny_state_of(record);
    size_t bytes = (size_t)state.record.model_bytes;
    const char *kind = state.record.kind ? state.record.kind : "result";
    void *image;
    int err = ny_result_has_model(ctx, keep->name, record);

    *out = NULL;
    if (err) return err;
    if (!bytes)
        return ny_fail(
            ctx, NY_EUSAGE,
            "'%s' is only a %s and has no model; make one with 'nystream fit --%s %s'", keep->name,
            kind, strcmp(kind, "graph") == 0 ? "map isomap --graph" : "landmarks-from", keep->name);
    image = ny_alloc(ctx, NY_MEM_MODEL, bytes);
    if (!image) return NY_EBUDGET;
    err = keep->ops->get(keep, ny_record_part(record, "model").name, image, bytes);
    if (!err) err = ny_model_read(out, ctx, image, bytes, keep->name);
    if (!err) err = load_fitted(*out, keep, record);
    if (!err) err = ny_model_take_errors(*out, record);
    err = ny_keep_current(keep, record, err);
    ny_free(ctx, image);
    if (!err) return NY_OK;
    ny_model_free(*out);
    *out = NULL;
    return err;
}
