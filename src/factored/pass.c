/*
 * The pass over feature rows. Each worker has sums of its own over all columns, of one unit: the
 * fold adds them, in the order of the units, to H in f64, and clears them. Sparse rows touch few
 * columns, so that workers note which groups of 16 they were, and only these are added.
 */
#include "factored/pass.h"

#include <math.h>
#include <string.h>

#include "fit/given_columns.h"
#include "stream/pass.h"

/* Columns of Φ whose sums are added together. */
enum { GROUP = 16 };

struct worker {
    struct ny_features *features;
    void *Y;                /* rows of a unit, or of a piece: NY_UNIT_ROWS × width */
    void *sums;             /* d × width of the unit */
    unsigned char *touched; /* one a group of columns */
    double *column_sums;    /* width: 1ᵀY of the unit */
    double *degrees;        /* degrees of the rows of a piece, then their reciprocals */
    struct ny_feature_totals totals;
};

struct run {
    const struct ny_feature_pass *pass;
    struct ny_columns_spec spec;
    enum ny_precision precision; /* products have it; sums of rows are in f64 */
    size_t width;                /* 1: sums of rows */
    struct worker *worker;
};

static size_t groups_of(const struct ny_columns_spec *spec)
{
    return (spec->geometry->d + GROUP - 1) / GROUP;
}

size_t ny_feature_pass_bytes(const struct ny_columns_spec *spec, enum ny_precision precision,
                             size_t width, unsigned workers)
{
    size_t element = ny_precision_bytes(precision);

    return workers *
           (sizeof(struct worker) + ny_features_bytes(spec, precision) +
            NY_UNIT_ROWS * (width * element + sizeof(double)) +
            groups_of(spec) * (GROUP * width * element + 1) + width * sizeof(double) + 8 * 128);
}

/* ---- a unit -------------------------------------------------------------------------------- */

/* Takes rows of X from `row` on as Y, with columns of 0 up to the width; and Y ← 𝒟⁻¹(Y − 1cᵀ), or
 * 𝒟^-½, row by row, with its sums of columns. A row without degree becomes 0. */
#define ROWS(load_rows, finish_rows, type)                                                         \
    static void load_rows(const struct run *run, struct worker *worker, uint64_t row, size_t rows) \
    {                                                                                              \
        struct ny_matrix X = ny_rows(run->pass->X, (size_t)row, rows);                             \
        type *Y = worker->Y;                                                                       \
                                                                                                   \
        for (size_t i = 0; i < rows; i++, Y += run->width)                                         \
            for (size_t k = 0; k < run->width; k++)                                                \
                Y[k] = k < X.cols ? (type)X.at[i * X.stride + k] : 0;                              \
    }                                                                                              \
    static void finish_rows(const struct run *run, struct worker *worker, type *Y, size_t rows)    \
    {                                                                                              \
        const double *c = run->pass->offset;                                                       \
                                                                                                   \
        for (size_t i = 0; i < rows; i++, Y += run->width) {                                       \
            double share = run->pass->g ? worker->degrees[i] : 1;                                  \
                                                                                                   \
            for (size_t k = 0; c && k < run->width; k++)                                           \
                Y[k] = (type)((double)Y[k] - c[k]);                                                \
            for (size_t k = 0; run->pass->g && k < run->width; k++)                                \
                Y[k] *= (type)share;                                                               \
            for (size_t k = 0; run->pass->column_sums && k < run->width; k++)                      \
                worker->column_sums[k] += (double)Y[k];                                            \
        }                                                                                          \
    }

ROWS(load_rows32, finish_rows32, float)
ROWS(load_rows64, finish_rows64, double)

/* Turns the degrees of a piece into 1/d_i, or 1/√d_i, and counts its rows. */
static void count_rows(const struct run *run, struct worker *worker, uint64_t first, size_t rows)
{
    const double *diagonal = ny_features_diagonal(worker->features);
    struct ny_feature_totals *totals = &worker->totals;

    for (size_t i = 0; i < rows; i++) {
        bool empty = !(diagonal[i] > 0), reached = true;

        if (run->pass->g) {
            reached = !empty && ny_degree_reaches(worker->degrees[i], run->pass->mean_degree);
            worker->degrees[i] = reached ? 1 / worker->degrees[i] : 0;
        }
        totals->trace += run->pass->g ? diagonal[i] * worker->degrees[i] : diagonal[i];
        if (run->pass->g && run->pass->roots) worker->degrees[i] = sqrt(worker->degrees[i]);
        if (empty && totals->empty++ == 0) totals->first_empty = (double)(first + i);
        if (!empty && !reached && totals->unreached++ == 0)
            totals->first_unreached = (double)(first + i);
    }
}

/* Multiplies a piece of `rows` rows, the first of which is row `first` of the tile. */
static void multiply(const struct run *run, struct worker *worker, const struct ny_tile *tile,
                     size_t first, size_t rows)
{
    const struct ny_feature_pass *pass = run->pass;
    bool f64 = run->precision == NY_PRECISION_F64;
    char *Y = worker->Y;

    if (pass->Z.at) Y += first * run->width * ny_precision_bytes(run->precision);
    if (pass->Q) /* Y = ΦQ */
        ny_features_times(worker->features, pass->Q, run->width, Y);
    else if (f64)
        load_rows64(run, worker, tile->first_row + first, rows);
    else
        load_rows32(run, worker, tile->first_row + first, rows);
    if (f64)
        finish_rows64(run, worker, (double *)(void *)Y, rows);
    else
        finish_rows32(run, worker, (float *)(void *)Y, rows);
    if (pass->Z.at) return;
    ny_features_mark(worker->features, worker->touched, GROUP);
    ny_features_add_transposed(worker->features, Y, run->width, worker->sums); /* += ΦᵀY */
}

/* Reads the unit piece by piece, and makes its sums or rows. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct worker *worker = &run->worker[tile->worker];
    struct ny_features *features = worker->features;
    const struct ny_feature_pass *pass = run->pass;
    int err;

    for (size_t first = 0, rows; first < tile->rows; first += rows) {
        err = ny_features_read(features, tile, first);
        if (err) return err;
        rows = ny_features_rows(features);
        if (pass->g) ny_features_dot(features, pass->g, worker->degrees);
        count_rows(run, worker, tile->first_row + first, rows);
        if (pass->Q || pass->X.at) {
            multiply(run, worker, tile, first, rows);
        } else {
            ny_features_mark(features, worker->touched, GROUP);
            ny_features_add_rows(features, worker->sums);
        }
    }
    return NY_OK;
}

/* ---- the fold ------------------------------------------------------------------------------ */

/* H += the sums of a group of columns, which become 0. */
static void add_group(const struct run *run, struct worker *worker, size_t group)
{
    struct ny_matrix H = run->pass->H;
    size_t first = group * GROUP, end = first + GROUP, width = run->width;
    float *narrow = worker->sums;
    double *wide = worker->sums;

    if (end > H.rows) end = H.rows;
    for (size_t j = first; j < end; j++) {
        double *h = H.at + j * H.stride;

        for (size_t k = 0; k < H.cols; k++)
            h[k] += run->precision == NY_PRECISION_F64 ? wide[j * width + k]
                                                       : (double)narrow[j * width + k];
    }
    memset((char *)worker->sums + first * width * ny_precision_bytes(run->precision), 0,
           (end - first) * width * ny_precision_bytes(run->precision));
}

/* Z's rows of the unit. */
static void put_rows(const struct run *run, const struct worker *worker, const struct ny_tile *tile)
{
    struct ny_matrix Z = ny_rows(run->pass->Z, (size_t)tile->first_row, tile->rows);
    const float *narrow = worker->Y;
    const double *wide = worker->Y;

    for (size_t i = 0; i < Z.rows; i++)
        for (size_t k = 0; k < Z.cols; k++) {
            size_t at = i * run->width + k;

            Z.at[i * Z.stride + k] =
                run->precision == NY_PRECISION_F64 ? wide[at] : (double)narrow[at];
        }
}

static void add_totals(struct ny_feature_totals *all, const struct ny_feature_totals *more)
{
    if (!(all->empty > 0)) all->first_empty = more->first_empty;
    if (!(all->unreached > 0)) all->first_unreached = more->first_unreached;
    all->trace += more->trace;
    all->empty += more->empty;
    all->unreached += more->unreached;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct worker *worker = &run->worker[tile->worker];
    size_t groups = groups_of(&run->spec);

    if (run->pass->Z.at) put_rows(run, worker, tile);
    for (size_t group = 0; group < groups; group++)
        if (worker->touched[group]) add_group(run, worker, group);
    memset(worker->touched, 0, groups);
    for (size_t k = 0; run->pass->column_sums && k < run->width; k++)
        run->pass->column_sums[k] += worker->column_sums[k];
    memset(worker->column_sums, 0, run->width * sizeof(double));
    if (run->pass->totals) add_totals(run->pass->totals, &worker->totals);
    worker->totals = (struct ny_feature_totals){0};
    return NY_OK;
}

static int checkpoint(void *arg, uint64_t units_done)
{
    const struct ny_feature_pass *pass = ((struct run *)arg)->pass;

    return pass->checkpoint ? pass->checkpoint(pass->checkpoint_arg, units_done) : NY_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Pages of a new block that are read before they are written are mapped twice, and the second time
 * stops all threads: sums are written at once. */
static void *zero_sums(struct ny_context *ctx, size_t count, size_t size)
{
    size_t bytes;
    void *sums =
        ny_product(ctx, &bytes, count, size, 1) ? NULL : ny_alloc(ctx, NY_MEM_TILES, bytes);

    return sums ? memset(sums, 0, bytes) : NULL;
}

static int allocate_worker(const struct run *run, struct worker *worker)
{
    struct ny_context *ctx = run->spec.ctx;
    size_t element = ny_precision_bytes(run->precision), groups = groups_of(&run->spec);
    size_t sums = run->pass->Z.at ? 0 : groups * GROUP;
    int err = ny_features_new(&worker->features, &run->spec, run->precision);

    if (err) return err;
    worker->Y = ny_calloc(ctx, NY_MEM_TILES, NY_UNIT_ROWS, run->width * element);
    worker->sums = zero_sums(ctx, sums, run->width * element);
    worker->touched = ny_calloc(ctx, NY_MEM_TILES, groups, 1);
    worker->column_sums = ny_calloc(ctx, NY_MEM_TILES, run->width, sizeof(double));
    worker->degrees = ny_calloc(ctx, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
    return worker->Y && worker->sums && worker->touched && worker->column_sums && worker->degrees
               ? NY_OK
               : NY_EBUDGET;
}

static int allocate(struct run *run, unsigned workers)
{
    int err = NY_OK;

    run->worker = ny_calloc(run->spec.ctx, NY_MEM_TILES, workers, sizeof(*run->worker));
    if (!run->worker) return NY_EBUDGET;
    for (unsigned w = 0; w < workers && !err; w++)
        err = allocate_worker(run, &run->worker[w]);
    return err;
}

static void release(struct run *run, unsigned workers)
{
    struct ny_context *ctx = run->spec.ctx;

    for (unsigned w = 0; run->worker && w < workers; w++) {
        ny_features_free(run->worker[w].features);
        ny_free(ctx, run->worker[w].Y);
        ny_free(ctx, run->worker[w].sums);
        ny_free(ctx, run->worker[w].touched);
        ny_free(ctx, run->worker[w].column_sums);
        ny_free(ctx, run->worker[w].degrees);
    }
    ny_free(ctx, run->worker);
}

void ny_feature_correct_centre(struct ny_matrix H, const double *mu, const double *sums)
{
    for (size_t j = 0; j < H.rows; j++)
        for (size_t k = 0; k < H.cols; k++)
            H.at[j * H.stride + k] -= mu[j] * sums[k];
}

int ny_feature_pass_run(const struct ny_feature_pass *pass)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct ny_fit *fit = pass->fit;
    struct run run = {
        .pass = pass, .spec = ny_fit_spec(fit), .precision = NY_PRECISION_F64, .width = 1};
    double products = pass->Q && !pass->Z.at ? 4 : pass->Q || pass->X.at ? 2 : 1, flops;
    struct ny_source *source = NULL;
    int err;

    if (pass->Q || pass->X.at) {
        run.precision = pass->precision;
        run.width = pass->sizes->width;
    }
    flops = products * (double)run.width * ny_entry_products(&run.spec);
    ny_blas_serial();
    err = allocate(&run, fit->job.workers);
    if (!err) err = ny_fit_open_source(fit, pass->first_unit, fit->job.points.n, &source);
    if (!err)
        err = ny_pass_run(&(struct ny_pass){.ctx = fit->job.ctx,
                                            .source = source,
                                            .stage = ny_stage_name(fit->job.stage),
                                            .workers = fit->job.workers,
                                            .first_unit = pass->first_unit,
                                            .checkpoint_s = ny_context_checkpoint_s(fit->job.ctx),
                                            .flops_per_row = flops},
                          &work, &run);
    if (!err) ny_job_count_pass(&fit->job, fit->job.points.n, flops * (double)fit->job.points.n);
    ny_fit_close_source(fit, source);
    release(&run, fit->job.workers);
    return err;
}

double ny_feature_pass_seconds(const struct ny_timing *t, const struct ny_factored *sizes,
                               double columns)
{
    /* Beats of a value with a column of both products where rows are sparse, and of an entry of the
     * fold. */
    const double sparse_beats = 0.16, fold_beats = 0.5;
    double entries = t->n * t->price.d, units = (double)ny_units_of(sizes->n);
    double touched = fmin((double)sizes->d, t->price.d * fmin(t->n, NY_UNIT_ROWS));
    double seconds = ny_price_rows(&t->price, t->n) +
                     ny_price_beats(&t->price, fold_beats * units * touched * columns);

    if (t->sizes->spec.slots)
        return seconds + ny_price_beats(&t->price, sparse_beats * entries * columns);
    return seconds +
           4 * entries * columns / (t->price.f64 ? t->price.rate->gemm64 : t->price.rate->gemm32);
}
