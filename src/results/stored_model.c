/* Loads models (results/stored_model.h): from the parts of a result, or from a file of its own. */
#include "results/stored_model.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "columns/kernels.h"
#include "linalg/matrix.h"
#include "results/current.h"
#include "results/keep.h"
#include "model/extension.h"
#include "model/landmark_points.h"

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

int ny_model_of_result(struct ny_model **out, struct ny_store *store, const char *name)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_context *ctx = ny_store_context(store);
    json_t *record = NULL;
    void *image = NULL;
    size_t bytes;
    int err;

    *out = NULL;
    err = ny_record_need_done(store, name, &record);
    if (err) goto done;
    err = ny_result_has_model(ctx, name, record);
    if (err) goto done;
    bytes = (size_t)ny_field_count(record, "model_bytes", 0);
    if (!bytes) {
        err = ny_fail(ctx, NY_EUSAGE,
                      "'%s' is only a %s and has no model; make one with 'nystream fit --%s %s'",
                      name, ny_record_kind(record),
                      strcmp(ny_record_kind(record), "graph") == 0 ? "map isomap --graph"
                                                                   : "landmarks-from",
                      name);
        goto done;
    }
    image = ny_alloc(ctx, NY_MEM_MODEL, bytes);
    err = NY_EBUDGET;
    if (!image) goto done;
    err = keep.ops->get(&keep, ny_record_part(record, "model").name, image, bytes);
    if (err == NY_OK) err = ny_model_read(out, ctx, image, bytes, name);
    if (err == NY_OK) err = load_fitted(*out, &keep, record);
    err = ny_record_current(store, name, record, err);
    if (err && *out) {
        ny_model_free(*out);
        *out = NULL;
    }
done:
    ny_free(ctx, image);
    json_decref(record);
    return err;
}

/* The size of a model's file. A file that is no model is not read into memory. */
static int check_file(struct ny_context *ctx, const char *path, int fd, size_t *bytes)
{
    char head[sizeof(NY_MODEL_MAGIC) - 1];
    struct stat status;

    if (fstat(fd, &status) != 0) return ny_fail_errno(ctx, "open", path);
    if (S_ISDIR(status.st_mode))
        return ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE,
                          "%s is a directory; give the file of a model", path);
    *bytes = S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
    if (*bytes < sizeof(head) || pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head, NY_MODEL_MAGIC, sizeof(head)) != 0)
        return ny_model_foreign(ctx, path);
    return NY_OK;
}

/* The whole of it; *bytes is less where it was cut short meanwhile. */
static int read_file(struct ny_context *ctx, const char *path, void **image, size_t *bytes)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;
    size_t done = 0;

    *image = NULL;
    err = fd < 0 ? ny_fail_errno(ctx, "open", path) : check_file(ctx, path, fd, bytes);
    if (err) goto done;
    *image = ny_alloc(ctx, NY_MEM_MODEL, *bytes);
    if (!*image) err = NY_EBUDGET;
    while (done < *bytes && err == NY_OK) {
        ssize_t got = read(fd, (char *)*image + done, *bytes - done);

        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            err = ny_fail_errno(ctx, "read", path);
        else if (got == 0)
            *bytes = done;
        else
            done += (size_t)got;
    }
done:
    if (fd >= 0) close(fd);
    return err;
}

int ny_model_of_file(struct ny_model **out, struct ny_context *ctx, const char *path)
{
    void *image;
    size_t bytes = 0;
    int err = read_file(ctx, path, &image, &bytes);

    *out = NULL;
    if (err == NY_OK) err = ny_model_read(out, ctx, image, bytes, path);
    ny_free(ctx, image);
    return err;
}

int ny_model_landmarks(struct ny_store *store, const char *name,
                       const struct ny_landmark_points *as, uint64_t first, void *rows)
{
    struct ny_model *model = NULL;
    struct ny_rows_info info;
    const char *from;
    size_t values;
    int err = ny_points_info(store, &info);

    if (!err) err = ny_model_of_result(&model, store, name);
    if (!err && (!model->landmarks || model->d != info.d || as->count > model->m ||
                 first > model->m - as->count))
        err = ny_fail(ny_store_context(store), NY_ESTORE,
                      "the model of '%s' in %s has other landmarks than its record says; fit it "
                      "again with --restart",
                      name, ny_store_path(store));
    if (err) goto done;
    values = as->count * model->d;
    from = (const char *)model->landmarks + first * ny_row_bytes(model->spec.dtype, model->d, 0);
    if (as->dtype == NY_F64)
        ny_dtype_to_f64(model->spec.dtype, from, rows, values);
    else
        ny_dtype_to_f32(model->spec.dtype, from, rows, values);
done:
    ny_model_free(model);
    return err;
}

int ny_model_take_columns(struct ny_model *model, struct ny_store *store)
{
    struct ny_rows_info info;
    int err = ny_points_info(store, &info);

    if (err || !info.column_names || info.d != model->d) return err;
    ny_names_clear(&model->columns);
    return ny_points_all_columns(store, &model->columns);
}
