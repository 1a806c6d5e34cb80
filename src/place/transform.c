/*
 * Places new rows with a model of landmarks (place/transform.h), from a file to a file or from
 * memory to memory, and loads models from a result or a file of its own. api/transform.c calls it.
 *
 * One pass reads the rows, and the projector of a fit (fit/projector.h) makes coordinates of each
 * tile; folds check them and write them in order. The rows of a file also give a sample on which
 * the drift is measured: the share of their trace that the landmarks leave out. A text file whose
 * number of rows the output format needs in advance is read once more to count them. A file that
 * fails leaves no output. The file of a model is read into memory only after its magic was found.
 */
#include "place/transform.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "place/new_rows.h"
#include "fit/projector.h"
#include "results/record.h"
#include "place/drift.h"
#include "results/extension.h"
#include "stream/pass.h"

/* The pass over new rows: the model, where coordinates go, and what is noticed on the way. */
struct transform {
    const struct ny_model *model;
    struct ny_projector projector;
    struct ny_writer *writer; /* or, in memory: */
    float *embedding;
    struct ny_unreached unreached;
    struct ny_drift_sample sample; /* of the rows of a file */
    uint64_t rows;
};

static int unit(void *arg, const struct ny_tile *tile)
{
    struct transform *run = arg;

    return ny_projector_tile(&run->projector, tile);
}

/* Makes coordinates of the rows of a tile, checks them, and writes or stores them in order. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct transform *run = arg;
    const struct ny_coordinates *coordinates = &run->model->coordinates;
    bool f64 = run->model->precision == NY_PRECISION_F64;
    void *rows = ny_projector_rows(&run->projector, tile->worker);
    size_t p = ny_coordinates_count(coordinates), count = tile->rows * p;
    float *out;
    int err;

    ny_unreached_add(&run->unreached, &run->projector.unreached[tile->worker]);
    ny_coordinates_apply(coordinates, f64, rows, tile->rows, rows);
    err = ny_coordinates_check(coordinates, run->model->ctx, f64, rows, tile->first_row,
                               tile->rows);
    if (err) return err;
    run->rows += tile->rows;
    if (run->writer) {
        err = ny_drift_sample_take(&run->sample, tile);
        return err ? err : ny_writer_rows(run->writer, rows, tile->rows);
    }
    out = run->embedding + tile->first_row * p;
    if (!f64) {
        memcpy(out, rows, count * sizeof(float));
        return NY_OK;
    }
    ny_dtype_to_f32(NY_F64, rows, out, count);
    return ny_coordinates_check(coordinates, run->model->ctx, false, out, tile->first_row,
                                tile->rows);
}

/* A model, with the rows that are placed by it. */
struct sizes {
    const struct ny_model *model;
    struct ny_columns_spec spec;
};

/* Returns the bytes that a pass with so many workers needs beside the model. */
static size_t pass_bytes(const void *arg, unsigned workers, size_t limit)
{
    const struct sizes *sizes = arg;
    const struct ny_model *model = sizes->model;
    const struct ny_columns_spec *spec = &sizes->spec;

    (void)limit;
    return ny_projector_bytes(spec, model->m, model->p, model->precision, workers) +
           ny_blas_bytes(workers, workers, model->m) +
           workers * NY_UNIT_ROWS * ny_row_bytes(spec->dtype, model->d, spec->slots);
}

/* Returns as many workers as threads are allowed and the rest of the budget holds. */
static unsigned decide_workers(const struct ny_model *model, enum ny_dtype dtype, size_t slots)
{
    struct sizes sizes = {model, model->spec};

    sizes.spec.dtype = dtype;
    sizes.spec.slots = slots;
    return ny_budget_workers_left(model->ctx, pass_bytes, &sizes, ny_context_threads(model->ctx));
}

/* Places all rows of a source, with what BLAS keeps reserved meanwhile. */
static int run_pass(struct transform *run, struct ny_source *source, unsigned workers)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    const struct ny_model *model = run->model;
    size_t blas = ny_blas_bytes(workers, workers, model->m);
    int err;

    err = ny_reserve(model->ctx, NY_MEM_PROCESS, blas);
    if (err) return err;
    err = ny_projector_new(&run->projector, model, source->dtype, source->slots, workers);
    if (err) goto done;
    err = ny_pass_run(
        &(struct ny_pass){.ctx = model->ctx,
                          .source = source,
                          .stage = "transform",
                          .workers = workers,
                          .flops_per_row = 2 * (double)model->m * (double)(model->d + model->p)},
        &work, run);
    if (err) goto done;
    err = ny_unreached_check(&run->unreached, model->ctx, source->n);
done:
    ny_unreserve(model->ctx, NY_MEM_PROCESS, blas);
    return err;
}

/* Opens a file of new rows, which must have as many columns as the model. */
static int open_input(const struct ny_model *model, const char *input,
                      const struct ny_reader_options *options, struct ny_reader **out)
{
    const struct ny_points_like like = {model->d, model->spec.dtype, model->spec.slots,
                                        "the model has"};

    return ny_new_rows_open(out, model->ctx, input, options, &like);
}

/* Counts the rows of a text file by reading it once. A pipe, which can be read only once, is left
 * as unknown. */
static int count_rows(const struct ny_model *model, const char *input,
                      const struct ny_reader_options *options, uint64_t *rows)
{
    struct ny_reader *reader = NULL;
    struct ny_csr sparse = {0};
    struct ny_row_batch batch = {.sparse = &sparse};
    struct stat status;
    size_t row_bytes;
    int err;

    *rows = NY_ROWS_UNKNOWN;
    if (stat(input, &status) != 0 || !S_ISREG(status.st_mode)) return NY_OK;
    err = open_input(model, input, options, &reader);
    if (err) return err;
    sparse.dtype = ny_reader_table(reader)->dtype;
    row_bytes = ny_reader_table(reader)->layout == NY_CSR ? 0
                                                          : model->d * ny_dtype_size(sparse.dtype);
    batch.values = ny_alloc(model->ctx, NY_MEM_IO, NY_UNIT_ROWS * row_bytes);
    if (!batch.values) err = NY_EBUDGET;
    while (err == NY_OK) {
        sparse.rows = 0;
        err = ny_reader_next(reader, NY_UNIT_ROWS, &batch);
    }
    if (err == NY_END) {
        *rows = batch.consumed;
        err = NY_OK;
    }
    ny_free(model->ctx, batch.values);
    ny_csr_release(&sparse, model->ctx);
    ny_reader_close(reader);
    return err;
}

/* Finds the number of rows, if the output's format has to begin with it. */
static int rows_of(const struct ny_model *model, const char *input,
                   const struct ny_reader_options *options, const struct ny_reader *reader,
                   const char *output, uint64_t *rows)
{
    *rows = ny_reader_table(reader)->rows;
    if (*rows != NY_ROWS_UNKNOWN || !ny_writer_needs_rows(output)) return NY_OK;
    return count_rows(model, input, options, rows);
}

/* Measures in the type of the new rows, to which the projector has widened the landmarks. */
static int measure_drift(struct transform *run, const struct ny_source *source,
                         struct ny_placed *placed)
{
    const struct ny_model *model = run->model;
    struct ny_columns_spec spec = model->spec;

    spec.dtype = source->dtype;
    spec.slots = source->slots;
    placed->rows = run->rows;
    placed->drift_rows = run->sample.count;
    return ny_drift_measure(&spec, ny_columns_raw(run->projector.columns), model->m, &run->sample,
                            &placed->drift_trace_error);
}

int ny_transform_file(const struct ny_model *model, const char *input,
                      const struct ny_reader_options *options, const char *output,
                      struct ny_placed *placed)
{
    struct transform run = {.model = model};
    struct ny_reader *reader = NULL;
    struct ny_source *source = NULL;
    enum ny_element element = model->precision == NY_PRECISION_F64 ? NY_OUT_F64 : NY_OUT_F32;
    enum ny_dtype dtype;
    size_t slots;
    unsigned workers;
    uint64_t rows;
    int err;

    err = open_input(model, input, options, &reader);
    if (err) goto done;
    err = rows_of(model, input, options, reader, output, &rows);
    if (err) goto done;
    dtype = ny_dtype_common(model->spec.dtype, ny_reader_table(reader)->dtype);
    slots = ny_new_rows_slots(model->spec.slots, ny_reader_table(reader));
    workers = decide_workers(model, dtype, slots);
    err = ny_source_of_reader(&source, model->ctx, reader, dtype, slots, workers);
    if (err) goto done;
    err = ny_writer_open(&run.writer, model->ctx, output, element,
                         rows == NY_ROWS_UNKNOWN ? NY_ROWS_COUNTED : rows,
                         ny_coordinates_count(&model->coordinates));
    if (err == NY_OK) err = ny_writer_fits(run.writer);
    if (err) goto done;
    ny_drift_sample_begin(&run.sample, model->ctx, ny_row_bytes(dtype, model->d, slots));
    err = run_pass(&run, source, workers);
    if (!err) err = measure_drift(&run, source, placed);
    if (err) goto done;
    err = ny_writer_commit(run.writer);
    run.writer = NULL;
done:
    ny_writer_abort(run.writer);
    ny_drift_sample_release(&run.sample);
    ny_projector_release(&run.projector);
    ny_source_free(source);
    ny_reader_close(reader);
    return err;
}

/* Slots for the model's landmarks and for dense rows that become sparse ones. */
static size_t fullest_row(const struct ny_model *model, const float *values, uint64_t rows)
{
    size_t most = model->spec.slots;

    for (uint64_t i = 0; i < rows; i++) {
        size_t count = 0;

        for (size_t k = 0; k < model->d; k++)
            count += values[i * model->d + k] != 0;
        if (count > most) most = count;
    }
    return most;
}

int ny_transform_memory(const struct ny_model *model, const float *values, uint64_t rows,
                        float *embedding)
{
    struct transform run = {.model = model, .embedding = embedding};
    struct ny_source *source = NULL;
    int err;

    if (ny_first_not_finite32(values, (size_t)rows * model->d))
        return ny_fail(model->ctx, NY_EDATA, "row %zu of the rows to transform holds NaN or Inf",
                       (ny_first_not_finite32(values, (size_t)rows * model->d) - 1) / model->d);
    err = ny_source_of_memory(&source, model->ctx, values, NY_F32, rows, model->d);
    if (err == NY_OK && model->spec.slots)
        ny_source_of_memory_slots(source, fullest_row(model, values, rows), true);
    if (err == NY_OK) err = run_pass(&run, source, decide_workers(model, NY_F32, source->slots));
    ny_projector_release(&run.projector);
    ny_source_free(source);
    return err;
}

int ny_model_of_result(struct ny_model **out, struct ny_store *store, const char *name)
{
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
                      "'%s' is a %s alone and has no model; make one with 'nystream fit "
                      "--%s %s'",
                      name, ny_record_kind(record),
                      strcmp(ny_record_kind(record), "graph") == 0 ? "map isomap --graph"
                                                                   : "landmarks-from",
                      name);
        goto done;
    }
    image = ny_alloc(ctx, NY_MEM_MODEL, bytes);
    err = NY_EBUDGET;
    if (!image) goto done;
    err = ny_blob_get(store, name, ny_record_part(record, "model").name, image, bytes);
    if (err == NY_OK) err = ny_model_load(out, ctx, image, bytes, name);
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
    if (err == NY_OK) err = ny_model_load(out, ctx, image, bytes, path);
    ny_free(ctx, image);
    return err;
}
