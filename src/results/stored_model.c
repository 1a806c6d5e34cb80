/* Loads models (results/stored_model.h): from the parts of a result, or from a file of its own. */
#include "results/stored_model.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/scratch.h"
#include "model/landmark_points.h"
#include "results/keep.h"
#include "results/record.h"

int ny_model_of_result(struct ny_model **out, struct ny_store *store, const char *name)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    json_t *record = NULL;
    int err = ny_record_need_done(store, name, &record);

    *out = NULL;
    if (!err) err = ny_model_of_record(out, &keep, ny_record_of(record));
    json_decref(record);
    return err;
}

/* The size of a model's file. A file that is no model is not read into memory. */
static int check_file(struct ny_context *ctx, const char *path, int fd, size_t *bytes)
{
    char head[sizeof(NY_MODEL_MAGIC) - 1];
    struct stat status;

    if (fstat(fd, &status) != 0) return ny_fail_errno(ctx, "open", path);
    if (S_ISDIR(status.st_mode)) errno = EISDIR;
    if (S_ISDIR(status.st_mode)) return ny_fail_errno(ctx, "read", path);
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
    ssize_t got = 0;

    *image = NULL;
    err = fd < 0 ? ny_fail_errno(ctx, "open", path) : check_file(ctx, path, fd, bytes);
    if (err) goto done;
    *image = ny_alloc(ctx, NY_MEM_MODEL, *bytes);
    if (!*image) err = NY_EBUDGET;
    if (!err) got = ny_read_at(fd, *image, *bytes, 0);
    if (got < 0) err = ny_fail_errno(ctx, "read", path);
    *bytes = got > 0 ? (size_t)got : 0;
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

/* Refuses to look for the landmarks of a selection, which has no model, in one of the shards. */
static int check_modelled(struct ny_store *store, const char *name)
{
    json_t *record = NULL;
    int err = ny_record_need_done(store, name, &record);

    if (!err && strcmp(ny_record_kind(record), "dictionary") == 0)
        err = ny_fail(ny_store_context(store), NY_EUSAGE,
                      "the landmarks of '%s' are rows of all shards; give the path of the store "
                      "that has them",
                      name);
    json_decref(record);
    return err;
}

int ny_model_landmarks(struct ny_store *store, const char *name,
                       const struct ny_landmark_points *as, uint64_t first, void *rows)
{
    struct ny_model *model = NULL;
    struct ny_rows_info info;
    size_t row_bytes, from_bytes;
    int err = ny_points_info(store, &info);

    if (!err) err = check_modelled(store, name);
    if (!err) err = ny_model_of_result(&model, store, name);
    if (!err && (model->d != info.d || as->count > model->m || first > model->m - as->count ||
                 !(model->landmarks || model->sparse.row)))
        err = ny_fail_damaged(ny_store_context(store), name, ny_store_path(store));
    if (err) goto done;
    row_bytes = model->d * ny_dtype_size(as->dtype);
    from_bytes = ny_row_bytes(model->spec.dtype, model->d, 0);
    for (size_t i = 0; i < as->count; i++) {
        size_t at = (size_t)first + i;
        const char *from = (const char *)model->landmarks + at * from_bytes;
        char *to = (char *)rows + i * row_bytes;

        if (!model->landmarks)
            ny_sparse_spread(model->sparse.row[at], model->spec.dtype, model->d, as->dtype, to);
        else
            ny_dtype_widen(model->spec.dtype, from, as->dtype, to, model->d);
    }
done:
    ny_model_free(model);
    return err;
}

int ny_model_take_columns(struct ny_model *model, struct ny_store *store)
{
    struct ny_stored_points points;
    int err = ny_points_stored(store, &points);

    if (err || !points.column_names || points.rows.d != model->d) return err;
    ny_names_clear(&model->columns);
    return ny_points_all_columns(store, &model->columns);
}
