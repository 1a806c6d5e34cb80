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
#include "place/spread.h"
#include "place/unseen.h"
#include "stream/pass.h"

/* The pass over new rows: the model, and what is noticed on the way. */
struct by_landmarks {
    struct ny_placer base;
    const struct ny_model *model;
    struct ny_projector own, *projector; /* which is its own, or that of the model's few rows */
    struct ny_model *keeper; /* the model, where it keeps a projector for few rows; else NULL */
    struct ny_drift_sample sample; /* of the new rows */
    struct ny_unseen unseen;       /* likewise */
    struct ny_spread spread;       /* likewise, where the model knows that of its fit */
    size_t blas_bytes;             /* reserved */
    struct ny_placed *placed;      /* NULL: nothing is told, and no drift measured */
    bool blind;  /* the fit leaves out too much of its own rows to tell others by it */
    bool glance; /* a drift that is not large need not be known exactly */
};

/* A drift is looked at on so few rows and by so few landmarks, which take a share of the time that
 * placing takes. Tables of so few rows are placed without a look. */
enum { GLANCE_ROWS = 64, GLANCE_LANDMARKS = 128, UNSEEN_ROWS = 16 };

/* Returns how many rows the drift is measured on at most. */
static size_t most_measured(const struct by_landmarks *run)
{
    if (!run->placed) return 0;
    return run->glance ? GLANCE_ROWS : SIZE_MAX;
}

/* Returns the bytes that BLAS keeps. */
static size_t blas_bytes(const struct ny_model *model, unsigned workers)
{
    bool features = model->spec.kernel->features;

    return ny_blas_bytes(workers, workers, features ? ny_features_blas_order(model->m) : model->m);
}

static size_t pass_bytes(const void *placer, unsigned workers, size_t limit)
{
    const struct by_landmarks *run = placer;
    const struct ny_columns_spec *spec = &run->base.spec;
    const struct ny_model *model = run->model;

    (void)limit;
    return ny_projector_bytes(spec, model->m, model->p, model->precision, workers) +
           blas_bytes(model, workers) + ny_unseen_bytes(spec) +
           ny_drift_sample_bytes(ny_raw_bytes(spec), most_measured(run),
                                 ny_memory_limit(spec->ctx) / 2);
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

/* Tells whether all new rows are measured, by the sums of the projector. */
static bool is_summed(const struct by_landmarks *run)
{
    return run->placed && run->model->fitted.distance > 0;
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
    if (!err) run->projector->u = is_summed(run) ? run->model->fitted.mean : NULL;
    return err;
}

/* Reserves what BLAS keeps, and makes the projector for rows of the type of the new ones. */
static int begin(struct ny_placer *placer)
{
    struct by_landmarks *run = (struct by_landmarks *)placer;
    const struct ny_columns_spec *spec = &placer->spec;
    size_t bytes = blas_bytes(run->model, placer->workers);
    int err;

    ny_drift_sample_begin(&run->sample, spec->ctx, ny_raw_bytes(spec), most_measured(run));
    ny_spread_begin(&run->spread, run->model);
    err = run->placed ? ny_unseen_begin(&run->unseen, spec) : NY_OK;
    if (!err) err = ny_reserve(spec->ctx, NY_MEM_PROCESS, bytes);
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

    if (is_summed(run)) ny_spread_take(&run->spread, run->projector, tile);
    if (!err) err = ny_unseen_take(&run->unseen, tile);
    if (err) return err;
    return ny_placer_put(&run->base, ny_projector_rows(run->projector, tile->worker), tile->rows);
}

static int place(struct ny_placer *placer, struct ny_source *rows)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    struct by_landmarks *run = (struct by_landmarks *)placer;
    const struct ny_model *model = run->model;

    return ny_pass_run(
        &(struct ny_pass){.ctx = model->ctx,
                          .source = rows,
                          .stage = "transform",
                          .workers = placer->workers,
                          .flops_per_row = 2 * (double)model->m * (double)(model->d + model->p)},
        &work, run);
}

/* Measures the drift in the type of the new rows, to which the projector has widened the landmarks.
 * The first of these leave out more than all do: where it is little, so is the drift. */
static int measure_drift(const struct by_landmarks *run, struct ny_drift *drift)
{
    struct ny_raw_rows landmarks;
    size_t m = run->model->m;
    int err = NY_OK;

    if (!run->projector->columns) return NY_OK; /* features leave nothing out */
    landmarks = ny_columns_rows(run->projector->columns);
    if (run->glance && m > GLANCE_LANDMARKS) {
        err = ny_drift_measure(&run->base.spec, landmarks, GLANCE_LANDMARKS, &run->sample, drift);
        if (err || !ny_drift_is_large(drift)) return err;
    }
    return ny_drift_measure(&run->base.spec, landmarks, m, &run->sample, drift);
}

/* Tells what was noticed. */
static int end(struct ny_placer *placer)
{
    struct by_landmarks *run = (struct by_landmarks *)placer;
    struct ny_placed *placed = run->placed;

    if (!placed) return NY_OK;
    placed->columns_unseen = ny_unseen_count(&run->unseen);
    placed->drift = ny_drift_unknown;
    placed->length = ny_drift_length(&run->base.spec, &run->sample);
    placed->drift_rows = is_summed(run) ? placer->placed : run->sample.count;
    if (!is_summed(run)) return run->blind ? NY_OK : measure_drift(run, &placed->drift);
    placed->drift = ny_spread_drift(&run->spread);
    return NY_OK;
}

static const struct ny_placer_ops ops = {
    .bytes = pass_bytes, .begin = begin, .place = place, .end = end, .by_units = true};

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
    ny_unseen_release(&run->unseen);
    ny_projector_release(&run->own);
    ny_unreserve(run->model->ctx, NY_MEM_PROCESS, run->blas_bytes);
}

int ny_transform_rows(const struct ny_model *model, struct ny_new_rows *rows,
                      struct ny_placed *placed)
{
    struct by_landmarks run = placer_of(model);
    int err;

    run.placed = placed;
    err = ny_place_all(&run.base, rows);
    release(&run);
    return err;
}

int ny_transform_table(struct ny_model *model, struct ny_new_rows *rows, uint64_t count,
                       struct ny_drift *drift)
{
    struct by_landmarks run = placer_of(model);
    struct ny_placed placed = {.drift = ny_drift_unknown, .length = NAN};
    int err;

    run.glance = true;
    if (count <= NY_STRIP_ROWS) run.keeper = model;
    if (count > UNSEEN_ROWS) run.placed = &placed;
    run.blind = model->trace_error >= 0.1; /* ten times as much is more than all */
    err = ny_place_all(&run.base, rows);
    if (!err) err = ny_drift_shrunk(model, NULL, 0, placed.length, &placed.drift.shrunk);
    *drift = placed.drift;
    release(&run);
    return err;
}
