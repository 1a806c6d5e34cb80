/*
 * The pass over feature rows. Each worker has sums of its own over all columns, of one unit: the
 * fold adds them, in the order of the units, to H in f64, and clears them. Sparse rows touch few
 * columns, so that workers note which groups of 16 they were, and only these are added.
 */
#include "factored/pass.h"

#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "linalg/numbers.h"
#include "fit/given_columns.h"
#include "base/peers.h"

/* Columns of Φ whose sums are added together. */
enum { GROUP = 16 };

struct worker {
    struct ny_features *features;
    void *Y;                /* rows of a unit, or of a piece: NY_UNIT_ROWS × width */
    void *sums;             /* d × width of the unit */
    unsigned char *touched; /* one a group of columns */
    double *column_sums;    /* width: 1ᵀY of the unit */
    double *shares;         /* 1/d_i, or 1/√d_i, for each row of a piece */
    struct ny_feature_totals totals;
};

struct ny_feature_workers {
    struct ny_layout own;
    struct ny_columns_spec spec;
    enum ny_precision precision;
    size_t width, count;
    struct worker *worker;
    double *degrees; /* d_i for each row, NaN if no pass has had it; NULL: they are not kept */
};

struct run {
    const struct ny_feature_pass *pass;
    const struct ny_feature_workers *all;
};

static size_t groups_of(const struct ny_columns_spec *spec)
{
    return (spec->geometry->d + GROUP - 1) / GROUP;
}

struct ny_feature_workers *ny_feature_workers_lay(struct ny_layout *l,
                                                  const struct ny_columns_spec *spec,
                                                  const struct ny_feature_room *room,
                                                  unsigned workers)
{
    struct ny_feature_workers spare, *all = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);
    size_t row_bytes = room->width * ny_precision_bytes(room->precision);
    size_t groups = groups_of(spec);

    *all = (struct ny_feature_workers){
        .spec = *spec, .precision = room->precision, .width = room->width, .count = workers};
    if (room->degrees)
        all->degrees = ny_lay(l, NY_MEM_TILES, (size_t)room->degrees, sizeof(double));
    all->worker = ny_lay(l, NY_MEM_TILES, workers, sizeof(*all->worker));
    for (unsigned w = 0; w < workers; w++) {
        struct worker idle, *worker = all->worker ? &all->worker[w] : &idle;

        worker->features = ny_features_lay(l, &all->spec, room->precision);
        worker->Y = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, row_bytes);
        worker->sums = ny_lay(l, NY_MEM_TILES, groups * GROUP, row_bytes);
        worker->touched = ny_lay(l, NY_MEM_TILES, groups, 1);
        worker->column_sums = ny_lay(l, NY_MEM_TILES, room->width, sizeof(double));
        worker->shares = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
    }
    return ny_laid(l, all);
}

/* ---- a unit -------------------------------------------------------------------------------- */

/* Y ← 𝒟⁻¹(Y − 1cᵀ), or 𝒟^-½, row by row, with its sums of columns. A row without degree becomes
 * 0. */
#define ROWS(finish_rows, type)                                                                    \
    static void finish_rows(const struct run *run, struct worker *worker, type *Y, size_t rows)    \
    {                                                                                              \
        const double *c = run->pass->offset;                                                       \
                                                                                                   \
        for (size_t i = 0; i < rows; i++, Y += run->all->width) {                                  \
            double share = run->pass->g ? worker->shares[i] : 1;                                   \
                                                                                                   \
            for (size_t k = 0; c && k < run->all->width; k++)                                      \
                Y[k] = (type)((double)Y[k] - c[k]);                                                \
            for (size_t k = 0; run->pass->g && k < run->all->width; k++)                           \
                Y[k] *= (type)share;                                                               \
            for (size_t k = 0; run->pass->column_sums && k < run->all->width; k++)                 \
                worker->column_sums[k] += (double)Y[k];                                            \
        }                                                                                          \
    }

ROWS(finish_rows32, float)
ROWS(finish_rows64, double)

/* Finds the degrees of a piece, where they are not known yet, and 1/d_i, or 1/√d_i. */
static void find_shares(const struct run *run, struct worker *worker, uint64_t first, size_t rows)
{
    double *degrees = run->all->degrees + first;

    if (isnan(degrees[0])) /* a piece is the same rows in each pass */
        ny_features_dot(worker->features, run->pass->g, degrees);
    for (size_t i = 0; i < rows; i++) {
        bool reached = ny_degree_reaches(degrees[i], run->pass->mean_degree);
        double share = reached ? 1 / degrees[i] : 0;

        worker->shares[i] = run->pass->roots ? sqrt(share) : share;
    }
}

/* Counts the rows of a piece. */
static void count_rows(const struct run *run, struct worker *worker, uint64_t first, size_t rows)
{
    const double *diagonal = ny_features_diagonal(worker->features);
    struct ny_feature_totals *totals = &worker->totals;

    for (size_t i = 0; i < rows; i++) {
        bool empty = !(diagonal[i] > 0), reached = true;

        if (run->pass->g)
            reached = ny_degree_reaches(run->all->degrees[first + i], run->pass->mean_degree);
        if (reached && !empty)
            totals->trace +=
                run->pass->g ? diagonal[i] * (1 / run->all->degrees[first + i]) : diagonal[i];
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
    bool f64 = run->all->precision == NY_PRECISION_F64;
    char *Y = worker->Y;

    if (pass->Z.at) Y += first * run->all->width * ny_precision_bytes(run->all->precision);
    if (pass->Q) /* Y = ΦQ */
        ny_features_times(worker->features, pass->Q, run->all->width, Y);
    else
        ny_numbers_set_rows(Y, f64, run->all->width,
                            ny_rows(pass->X, (size_t)(tile->first_row + first), rows));
    if (f64)
        finish_rows64(run, worker, (double *)(void *)Y, rows);
    else
        finish_rows32(run, worker, (float *)(void *)Y, rows);
    if (pass->Z.at) return;
    ny_features_mark(worker->features, worker->touched, GROUP);
    ny_features_add_transposed(worker->features, Y, run->all->width, worker->sums); /* += ΦᵀY */
}

/* Reads the unit piece by piece, and makes its sums or rows. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct worker *worker = &run->all->worker[tile->worker];
    struct ny_features *features = worker->features;
    const struct ny_feature_pass *pass = run->pass;
    int err;

    for (size_t first = 0, rows; first < tile->rows; first += rows) {
        err = ny_features_read(features, tile, first);
        if (err) return err;
        rows = ny_features_rows(features);
        if (pass->g) find_shares(run, worker, tile->first_row + first, rows);
        if (pass->totals) count_rows(run, worker, tile->first_row + first, rows);
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
    size_t first = group * GROUP, end = first + GROUP, width = run->all->width;
    bool f64 = run->all->precision == NY_PRECISION_F64;

    if (end > H.rows) end = H.rows;
    for (size_t j = first; j < end; j++) {
        double *h = H.at + j * H.stride;

        for (size_t k = 0; k < H.cols; k++)
            h[k] += ny_number(worker->sums, f64, j * width + k);
    }
    memset((char *)worker->sums + first * width * ny_number_bytes(f64), 0,
           (end - first) * width * ny_number_bytes(f64));
}

/* Z's rows of the unit. */
static void put_rows(const struct run *run, const struct worker *worker, const struct ny_tile *tile)
{
    struct ny_matrix Z = ny_rows(run->pass->Z, (size_t)tile->first_row, tile->rows);
    bool f64 = run->all->precision == NY_PRECISION_F64;

    for (size_t i = 0; i < Z.rows; i++)
        for (size_t k = 0; k < Z.cols; k++)
            Z.at[i * Z.stride + k] = ny_number(worker->Y, f64, i * run->all->width + k);
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
    struct worker *worker = &run->all->worker[tile->worker];
    size_t groups = groups_of(&run->all->spec);

    if (run->pass->Z.at) put_rows(run, worker, tile);
    for (size_t group = 0; group < groups; group++)
        if (worker->touched[group]) add_group(run, worker, group);
    memset(worker->touched, 0, groups);
    for (size_t k = 0; run->pass->column_sums && k < run->all->width; k++)
        run->pass->column_sums[k] += worker->column_sums[k];
    memset(worker->column_sums, 0, run->all->width * sizeof(double));
    if (run->pass->totals) add_totals(run->pass->totals, &worker->totals);
    worker->totals = (struct ny_feature_totals){0};
    return NY_OK;
}

static int checkpoint(void *arg, uint64_t units_done)
{
    const struct ny_feature_pass *pass = ((struct run *)arg)->pass;

    return pass->checkpoint ? pass->checkpoint(pass->checkpoint_arg, units_done) : NY_OK;
}

/* Returns the number, among the rows of all shards, of a row of this one. */
static uint64_t number_of(const struct ny_job *job, double count, double first)
{
    return count > 0 ? job->points.here.first + (uint64_t)first : UINT64_MAX;
}

int ny_feature_totals_fold(struct ny_feature_totals *totals, const struct ny_job *job)
{
    struct ny_peers *peers = ny_context_peers(job->ctx);
    uint64_t empty = number_of(job, totals->empty, totals->first_empty);
    uint64_t unreached = number_of(job, totals->unreached, totals->first_unreached);
    double sums[] = {totals->trace, totals->empty, totals->unreached};
    int err = ny_peers_fold(peers, sums, sizeof(sums) / sizeof(sums[0]));

    if (!err) err = ny_peers_least(peers, &empty);
    if (!err) err = ny_peers_least(peers, &unreached);
    totals->trace = sums[0];
    totals->empty = sums[1];
    totals->unreached = sums[2];
    totals->first_empty = (double)empty;
    totals->first_unreached = (double)unreached;
    return err;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Pages of a new block that are read before they are written are mapped twice, and the second time
 * stops all threads: sums are written at once, those of each worker by a thread. */
static int touch_sums(void *arg, unsigned w)
{
    const struct ny_feature_workers *all = arg;
    size_t row_bytes = all->width * ny_precision_bytes(all->precision);

    memset(all->worker[w].sums, 0, groups_of(&all->spec) * GROUP * row_bytes);
    return NY_OK;
}

int ny_feature_workers_new(struct ny_feature_workers **out, struct ny_fit *fit,
                           const struct ny_feature_room *room, unsigned workers)
{
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_layout own = {.ctx = spec.ctx};
    struct ny_feature_workers *all = ny_feature_workers_lay(&own, &spec, room, workers);

    *out = all;
    if (!all) return ny_layout_end(&own);
    all->own = own;
    for (size_t i = 0; i < (size_t)room->degrees; i++)
        all->degrees[i] = NAN;
    return ny_parallel(spec.ctx, workers, touch_sums, all);
}

void ny_feature_workers_free(struct ny_feature_workers *all)
{
    struct ny_layout own;

    if (!all) return;
    own = all->own;
    ny_layout_free(&own);
}

void ny_feature_round(const struct ny_feature_room *room, struct ny_matrix V, const double *mu,
                      void *Q, double *offset)
{
    bool f64 = room->precision == NY_PRECISION_F64;
    size_t width = room->width;

    memset(offset, 0, width * sizeof(double));
    ny_numbers_set_rows(Q, f64, width, V);
    for (size_t j = 0; j < V.rows && mu; j++)
        for (size_t k = 0; k < width; k++)
            offset[k] += mu[j] * ny_number(Q, f64, j * width + k);
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
    struct ny_job *job = &pass->fit->job;
    const struct ny_feature_workers *all = pass->workers;
    double products = pass->Q && !pass->Z.at ? 4 : pass->Q || pass->X.at ? 2 : 1;
    double flops = products * (double)all->width * ny_entry_products(&all->spec);
    struct run run = {.pass = pass, .all = all};
    int err;

    ny_blas_serial();
    err = ny_fit_pass(pass->fit, job->points.n,
                      (struct ny_pass){.workers = (unsigned)all->count,
                                       .first_unit = pass->first_unit,
                                       .flops_per_row = flops},
                      &work, &run);
    if (!err) ny_job_count_pass(job, job->points.n, flops * (double)job->points.n);
    return err;
}

double ny_feature_pass_seconds(const struct ny_timing *t, double columns)
{
    /* Beats of a value with a column of both products where the columns stay in the cache of a
     * core, or where each is somewhere in memory, and of an entry of the fold. Measured with
     * AVX2, one thread, 16 to 80 columns: 0.19 to 0.25 (cells), 0.42 to 0.55 (documents). */
    const double cached_beats = 0.2, far_beats = 0.5, fold_beats = 0.5;
    double d = (double)t->sizes->points->d, rows = fmin(t->n, NY_UNIT_ROWS);
    size_t row_bytes = (size_t)columns * (t->price.f64 ? sizeof(double) : sizeof(float));
    bool cached =
        ny_features_in_cache(rows, rows * t->price.d, (size_t)t->sizes->points->d, row_bytes);
    double entries = t->n * t->price.d, units = (double)ny_units_of(t->sizes->points->n);
    double touched = fmin(d, t->price.d * fmin(t->n, NY_UNIT_ROWS));
    double seconds = ny_price_rows(&t->price, t->n) +
                     ny_price_beats(&t->price, fold_beats * units * touched * columns);

    if (t->sizes->spec.slots)
        return seconds +
               ny_price_beats(&t->price, (cached ? cached_beats : far_beats) * entries * columns);
    return seconds +
           4 * entries * columns / (t->price.f64 ? t->price.rate->gemm64 : t->price.rate->gemm32);
}
