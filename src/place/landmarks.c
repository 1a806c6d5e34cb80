/*
 * Places new rows with a model of landmarks (place/landmarks.h). api/transform.c calls it.
 *
 * One pass reads the rows, and the projector of a fit (fit/projector.h) makes stored rows of each
 * tile; folds put them in order. The rows also give a sample on which the drift is measured:
 * the share of their trace that the landmarks leave out.
 */
#include "place/landmarks.h"

#include "columns/features.h"
#include "fit/projector.h"
#include "stream/pass.h"

/* The pass over new rows: the model, and what is noticed on the way. */
struct by_landmarks {
    struct ny_placer base;
    const struct ny_model *model;
    struct ny_projector own, *projector; /* which is its own, or that of the model's few rows */
    struct ny_model *keeper; /* the model, where it keeps a projector for few rows; else NULL */
    struct ny_drift_sample sample; /* of the new rows */
    size_t blas_bytes;             /* reserved */
    struct ny_placed *placed;      /* NULL: nothing is told, and no drift measured */
    const struct ny_drift_how *how;
    size_t most; /* of the sample */
};

/* The drift of a table is measured on so few rows and by so few landmarks, which take a share of
 * the time that placing takes. Tables of so few rows are placed without a look. */
enum { TABLE_ROWS = 64, TABLE_LANDMARKS = 128, UNSEEN_ROWS = 16 };
const struct ny_drift_how ny_drift_of_tables = {.landmarks = TABLE_LANDMARKS, .tolerance = NAN};

/* Returns the columns of the products of a pass. */
static size_t order_of(const struct ny_model *model)
{
    return model->spec.kernel->features ? ny_features_blas_order(model->m) : model->m;
}

static void count(struct ny_layout *l, const void *placer, unsigned workers, size_t limit)
{
    const struct by_landmarks *run = (const struct by_landmarks *)placer;
    const struct ny_columns_spec *spec = &run->base.spec;
    const struct ny_model *model = run->model;
    const struct ny_projector_shape shape = {
        spec,   model->m, model->p, ny_coordinates_width(&model->coordinates), model->precision,
        workers};

    ny_projector_lay(l, &(struct ny_projector){0}, &shape);
    ny_layout_add(l, NY_MEM_PROCESS, ny_blas_bytes(workers, workers, order_of(model)));
    ny_drift_sample_count(l, ny_memory_used(spec->ctx) + limit, ny_raw_bytes(spec), run->most);
}

/* A model keeps this to place few rows at a time: a projector for rows of one type. */
struct few_rows {
    struct ny_projector projector;
    enum ny_dtype dtype;
    size_t slots;
};

static void free_few_rows(struct ny_model *model)
{
    struct few_rows *few = model->few_rows;

    ny_projector_release(&few->projector);
    ny_free(model->ctx, few);
    model->few_rows = NULL;
}

/* Takes the projector that the model keeps, which the first call makes, and one with rows of
 * another type makes anew. */
static int take_kept(struct by_landmarks *run)
{
    const struct ny_columns_spec *spec = &run->base.spec;
    struct ny_model *model = run->keeper;
    struct few_rows *few = model->few_rows;
    int err = NY_OK;

    if (few && (few->dtype != spec->dtype || few->slots != spec->slots)) free_few_rows(model);
    few = model->few_rows;
    if (!few) {
        few = ny_calloc(model->ctx, NY_MEM_MODEL, 1, sizeof(*few));
        if (!few) return NY_EBUDGET;
        few->dtype = spec->dtype;
        few->slots = spec->slots;
        model->few_rows = few;
        model->few_rows_free = free_few_rows;
        err = ny_projector_new(&few->projector, model, spec->dtype, spec->slots, 1);
        if (err)
            free_few_rows(model);
        else
            ny_projector_shorten(&few->projector);
    }
    if (!err) run->projector = &few->projector;
    return err;
}

/* Takes the projector of the model's few rows, or makes one. */
static int take_projector(struct by_landmarks *run)
{
    const struct ny_columns_spec *spec = &run->base.spec;
    int err;

    run->projector = &run->own;
    err = run->keeper ? take_kept(run)
                      : ny_projector_new(run->projector, run->model, spec->dtype, spec->slots,
                                         run->base.workers);
    if (!err) run->projector->features.completes = true;
    return err;
}

/* Reserves what BLAS keeps, and makes the projector for rows of the type of the new ones. */
static int begin(struct ny_placer *placer)
{
    struct by_landmarks *run = (struct by_landmarks *)placer;
    const struct ny_columns_spec *spec = &placer->spec;
    size_t bytes = ny_blas_bytes(placer->workers, placer->workers, order_of(run->model));
    int err;

    ny_drift_sample_begin(&run->sample, spec->ctx, ny_raw_bytes(spec), run->most);
    err = ny_reserve(spec->ctx, NY_MEM_PROCESS, bytes);
    if (err) return err;
    run->blas_bytes = bytes;
    return take_projector(run);
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct by_landmarks *run = arg;

    return ny_projector_tile(run->projector, tile);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct by_landmarks *run = arg;
    int err = ny_drift_sample_take(&run->sample, tile);

    if (err) return err;
    return ny_placer_put(&run->base, ny_projector_rows(run->projector, tile->worker), tile->rows);
}

static int place(struct ny_placer *placer, struct ny_source *rows)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    struct by_landmarks *run = (struct by_landmarks *)placer;
    const struct ny_model *model = run->model;

    return ny_pass_run(
        &(struct ny_pass){.source = rows,
                          .stage = "transform",
                          .workers = placer->workers,
                          .flops_per_row = 2 * (double)model->m * (double)(model->d + model->p)},
        &work, run);
}

/* Measures the drift in the type of the new rows, to which the projector has widened the landmarks.
 */
static int end(struct ny_placer *placer)
{
    struct by_landmarks *run = (struct by_landmarks *)placer;
    const struct ny_columns *columns = run->projector->columns;
    struct ny_raw_rows landmarks = {0};

    if (!run->placed) return NY_OK;
    if (columns) landmarks = ny_columns_rows(columns);
    return ny_drift_measure(run->model, &placer->spec, landmarks, run->how, &run->sample,
                            &run->placed->drift);
}

static const struct ny_placer_ops ops = {
    .count = count, .begin = begin, .place = place, .end = end, .by_units = true};

/* Returns a placer that is not begun. */
static struct by_landmarks placer_of(const struct ny_model *model)
{
    return (struct by_landmarks){.base = {.ops = &ops,
                                          .spec = model->spec,
                                          .whose = "the model was fitted on",
                                          .party = ny_model_party(model, "the model"),
                                          .coordinates = model->coordinates,
                                          .divided = model->degrees.v != NULL,
                                          .precision = model->precision,
                                          .computed = model->precision},
                                 .model = model};
}

static void release(struct by_landmarks *run)
{
    ny_drift_sample_release(&run->sample);
    ny_projector_release(&run->own);
    ny_unreserve(run->model->ctx, NY_MEM_PROCESS, run->blas_bytes);
}

int ny_transform_learn(struct ny_model *model, struct ny_rows *X, const struct ny_drift_how *how)
{
    int err = ny_blas_make_room(model->ctx, 1);

    if (err == NY_EBUDGET) { /* rows are placed all the same, or that says so */
        ny_error_clear(model->ctx);
        return NY_OK;
    }
    return err ? err : ny_drift_learn(model, X, how);
}

int ny_transform_rows(const struct ny_model *model, struct ny_new_rows *rows,
                      struct ny_placed *placed)
{
    static const struct ny_drift_how how = {.tolerance = NAN};
    struct by_landmarks run = placer_of(model);
    int err;

    run.placed = placed;
    run.how = &how;
    run.most = placed && model->fitted.count ? SIZE_MAX : 0;
    err = ny_place_all(&run.base, rows);
    release(&run);
    return err;
}

int ny_transform_table(struct ny_model *model, struct ny_new_rows *rows, uint64_t count,
                       struct ny_drift *drift)
{
    struct by_landmarks run = placer_of(model);
    struct ny_placed placed = {.drift = ny_drift_unknown};
    int err;

    run.how = &ny_drift_of_tables;
    if (count <= NY_STRIP_ROWS) run.keeper = model;
    if (count > UNSEEN_ROWS) run.placed = &placed;
    run.most = run.placed && model->fitted.count ? TABLE_ROWS : 0;
    err = ny_place_all(&run.base, rows);
    *drift = placed.drift;
    release(&run);
    return err;
}
