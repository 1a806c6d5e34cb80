/*
 * Check rows (fit/checks.h). A row i of pass 2 has the numbers v_i = (w_i y_i, 1), where y_i is its
 * stored row, a multiple of ũ_i in each pair, and w_i = d̃_i^-½, or 1 where K is not divided. The
 * pass sums up, in f64 and in the order of the units,
 *
 *    B (R × (p+1))  Σ_i k′(x_i, s) v_i, of the shifted tile k′ = k − shift_s
 *    v (p+1)        Σ_i v_i
 *    q (p)          Σ_i y_i²
 *    e (p)          Σ_T (a_ii − λ)² y_i²    of artefacts, below
 *    Y (R × p), w (R)   y_s and w_s of the check rows
 *
 * which is an array of numbers, so that shards add up theirs. A checkpoint keeps them, with S and π
 * behind them.
 */
#include "fit/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/peers.h"
#include "fit/check_draw.h"
#include "fit/drawn_rows.h"
#include "model/model.h"

/* One worker's. */
struct ny_check_side {
    struct ny_matrix K; /* NY_STRIP_ROWS × R: k′ of a strip, widened */
    struct ny_matrix V; /* NY_STRIP_ROWS × (p+1) */
    double *sums;       /* B, v, q and e of a tile */
};

/* Indices of these in the array, and how many numbers there are: summed up, and in all. */
struct places {
    size_t v, q, e, Y, w, summed, S, probability, count;
};

static struct places places_of(const struct ny_checks *checks)
{
    size_t R = checks->R, p = checks->p;
    struct places at = {.v = R * (p + 1)};

    at.q = at.v + p + 1;
    at.e = at.q + p;
    at.Y = at.e + p;
    at.w = at.Y + R * p;
    at.summed = at.S = at.w + R;
    at.probability = at.S + R;
    at.count = at.probability + R;
    return at;
}

static struct ny_matrix B_of(const struct ny_checks *checks, double *sums)
{
    return ny_matrix(sums, checks->R, checks->p + 1);
}

size_t ny_checks_rows(const struct ny_fit_settings *settings, const struct ny_rows_info *points)
{
    bool shards = points->here.end - points->here.first < points->n;

    if (settings->placed || settings->columns || settings->method->all_rows ||
        ny_settings_features(settings) || ny_settings_unit_landmarks(settings))
        return 0;
    if (settings->affine && settings->normalisation == NY_RAW) return 0;
    if (shards && points->row_slots) return 0; /* they cannot read one another's sparse rows */
    return settings->check_rows < points->n ? settings->check_rows : (size_t)points->n;
}

void ny_checks_lay(struct ny_layout *l, struct ny_checks *checks,
                   const struct ny_columns_spec *spec, enum ny_precision precision,
                   unsigned workers)
{
    size_t R = checks->R, width = checks->p + 1;
    struct places at = places_of(checks);

    if (!R) return;
    checks->rows = ny_lay(l, NY_MEM_DICTIONARY, R, sizeof(*checks->rows));
    checks->shift = ny_lay(l, NY_MEM_DICTIONARY, R, sizeof(double));
    checks->values = ny_lay(l, NY_MEM_DICTIONARY, checks->p, sizeof(double));
    checks->sums = ny_lay(l, NY_MEM_TILES, at.count, sizeof(double));
    checks->side = ny_lay(l, NY_MEM_TILES, workers, sizeof(*checks->side));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_check_side spare, *side = checks->side ? &checks->side[w] : &spare;
        bool wide = precision == NY_PRECISION_F32; /* tiles in f64 are what they are */
        double *K = ny_lay(l, NY_MEM_TILES, wide ? NY_STRIP_ROWS : 0, R * sizeof(double));
        double *V = ny_lay(l, NY_MEM_TILES, NY_STRIP_ROWS, width * sizeof(double));

        side->K = ny_matrix(K, NY_STRIP_ROWS, R);
        side->V = ny_matrix(V, NY_STRIP_ROWS, width);
        side->sums = ny_lay(l, NY_MEM_TILES, at.Y, sizeof(double));
    }
    ny_tiles_lay(l, &checks->tiles, spec, R, precision, workers);
}

/* ---- S ------------------------------------------------------------------------------------- */

/* Sets the shift to the mean of k(s, S), which keeps what f32 would lose of values near 1. */
static int choose_shift(struct ny_checks *checks, struct ny_context *ctx)
{
    size_t R = checks->R;
    double *at = ny_calloc(ctx, NY_MEM_SOLVE, R, R * sizeof(double));
    struct ny_matrix W = ny_matrix(at, R, R);
    int err = at ? ny_columns_square(checks->columns, W) : NY_EBUDGET;

    for (size_t s = 0; s < R && !err; s++) {
        for (size_t t = 0; t < R; t++)
            checks->shift[s] += W.at[s * R + t] / (double)R;
        if (!isfinite(checks->shift[s])) checks->shift[s] = 0;
    }
    ny_free(ctx, at);
    return err ? err : ny_columns_set_shift(checks->columns, checks->shift);
}

/* Reads the sums of the checkpoint, and S. */
static int restore(struct ny_checks *checks, struct ny_fit *fit)
{
    const struct ny_keep *keep = &fit->job.keep;
    struct places at = places_of(checks);
    const double *S = checks->sums + at.S;
    int err = keep->ops->get(keep, ny_record_part(fit->job.record, "checks").name, checks->sums,
                             at.count * sizeof(double));

    for (size_t s = 0; s < checks->R && !err; s++) {
        if (!(S[s] >= 0 && S[s] < (double)fit->job.points.n && checks->probability[s] > 0))
            return ny_fail_damaged(fit->job.ctx, keep->name, keep->place);
        checks->rows[s] = (uint64_t)S[s];
    }
    return err;
}

/* Draws S, for a pass that begins. */
static int draw(struct ny_checks *checks, struct ny_fit *fit, struct ny_projector *projector)
{
    int err = ny_check_draw(fit, projector, checks->R, checks->rows, checks->probability);

    for (size_t s = 0; s < checks->R; s++)
        checks->sums[places_of(checks).S + s] = (double)checks->rows[s];
    return err;
}

int ny_checks_open(struct ny_checks *checks, struct ny_fit *fit, struct ny_projector *projector,
                   uint64_t unit)
{
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_state_record *record = &fit->job.state.record;
    struct ny_columns_spec spec = ny_fit_spec(fit);
    int err;

    if (!unit) record->check_rows = ny_checks_rows(settings, &fit->job.points);
    /* A shard that an earlier version has begun to place has none. */
    err = ny_peers_least(ny_context_peers(fit->job.ctx), &record->check_rows);
    if (err) return err;
    *checks = (struct ny_checks){
        .own.ctx = fit->job.ctx, .R = (size_t)record->check_rows, .p = fit->model->p};
    if (!checks->R) return NY_OK;
    if (!unit) ny_record_renew(fit->job.record, "checks");
    ny_checks_lay(&checks->own, checks, &spec, settings->precision, fit->job.workers);
    err = checks->own.err;
    if (err) return err;
    checks->probability = checks->sums + places_of(checks).probability;
    checks->candidates = ny_check_candidates(checks->R, fit->job.points.n);
    checks->unit = settings->kernel->constant_diagonal || settings->kernel->unit_rows;
    for (size_t k = 0; k < checks->p; k++)
        checks->values[k] = ny_job_eigenvalue(&fit->job, k);
    err = unit ? restore(checks, fit) : draw(checks, fit, projector);
    if (err) return err;
    err = ny_fit_gather_columns(fit, &spec, checks->rows, checks->R, &checks->columns);
    if (!err) err = choose_shift(checks, fit->job.ctx);
    if (err) return err;
    ny_tiles_use(&checks->tiles, checks->columns, checks->shift);
    return NY_OK;
}

void ny_checks_release(struct ny_checks *checks)
{
    ny_columns_free(checks->columns);
    ny_layout_free(&checks->own);
    *checks = (struct ny_checks){0};
}

/* ---- the pass ------------------------------------------------------------------------------ */

/* Element k of stored row i of the worker's tile. */
static double stored(const struct ny_projector *projector, unsigned worker, size_t i, size_t k)
{
    size_t at = ((size_t)worker * NY_UNIT_ROWS + i) * projector->width + k;

    return projector->Y64 ? projector->Y64[at] : (double)projector->Y32[at];
}

/* w of row i of the worker's tile: NaN for a row that no landmark reaches. */
static double weight(const struct ny_projector *projector, unsigned worker, size_t i)
{
    return projector->model->degrees.v ? projector->roots[(size_t)worker * NY_UNIT_ROWS + i] : 1;
}

/* Returns (a_ii − λ)² y² of pair k if the row is an artefact, else 0. */
static double own_square(const struct ny_checks *checks, double w, double y, size_t k)
{
    double r = (w * w - checks->values[k]) * y;

    return checks->unit && w > 1 ? r * r : 0;
}

/* Makes v of `count` rows of a strip, and adds up what belongs to them; zero beyond them. */
static void fill_V(const struct ny_checks *checks, const struct ny_projector *projector,
                   unsigned worker, size_t first, size_t count)
{
    const struct ny_check_side *side = &checks->side[worker];
    struct places at = places_of(checks);
    double *v = side->sums + at.v, *q = side->sums + at.q, *e = side->sums + at.e;
    size_t p = checks->p;

    memset(side->V.at, 0, NY_STRIP_ROWS * (p + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double *row = side->V.at + i * (p + 1), w = weight(projector, worker, first + i);

        row[p] = 1;
        v[p]++;
        if (isnan(w)) continue;
        for (size_t k = 0; k < p; k++) {
            double y = stored(projector, worker, first + i, k);

            row[k] = w * y;
            v[k] += row[k];
            q[k] += y * y;
            e[k] += own_square(checks, w, y, k);
        }
    }
}

/* Returns k′ of a strip in f64. */
static struct ny_matrix strip_of(const struct ny_checks *checks, unsigned worker, size_t first)
{
    const struct ny_tiles *tiles = &checks->tiles;
    struct ny_matrix K = checks->side[worker].K;
    const float *from;

    if (tiles->precision == NY_PRECISION_F64)
        return ny_rows(ny_tiles_c64(tiles, worker), first, NY_STRIP_ROWS);
    from = ny_rows32(ny_tiles_c32(tiles, worker), first, NY_STRIP_ROWS).at;
    for (size_t i = 0; i < NY_STRIP_ROWS * K.cols; i++)
        K.at[i] = (double)from[i];
    return K;
}

int ny_checks_tile(struct ny_checks *checks, const struct ny_tile *tile,
                   const struct ny_projector *projector)
{
    const struct ny_check_side *side;
    int err;

    if (!checks->R) return NY_OK;
    side = &checks->side[tile->worker];
    err = ny_tiles_compute(&checks->tiles, tile); /* k′(tile, S) */
    if (err) return err;
    memset(side->sums, 0, places_of(checks).Y * sizeof(double));
    for (size_t first = 0; first < tile->rows; first += NY_STRIP_ROWS) {
        size_t left = tile->rows - first;

        fill_V(checks, projector, tile->worker, first, ny_smaller(left, NY_STRIP_ROWS));
        ny_gemm(1, ny_t(strip_of(checks, tile->worker, first)), side->V, 1,
                B_of(checks, side->sums)); /* B += k′ᵀV */
    }
    return NY_OK;
}

void ny_checks_fold(struct ny_checks *checks, const struct ny_fit *fit, const struct ny_tile *tile,
                    const struct ny_projector *projector)
{
    struct places at = places_of(checks);
    uint64_t before = fit->job.points.here.first + tile->first_row;
    size_t p = checks->p;

    for (size_t i = 0; checks->R && i < at.Y; i++)
        checks->sums[i] += checks->side[tile->worker].sums[i];
    for (size_t s = 0; s < checks->R; s++) {
        size_t i = (size_t)(checks->rows[s] - before);
        double w;

        if (checks->rows[s] < before || checks->rows[s] >= before + tile->rows) continue;
        w = weight(projector, tile->worker, i);
        checks->sums[at.w + s] = isnan(w) ? 0 : w;
        for (size_t k = 0; k < p; k++)
            checks->sums[at.Y + s * p + k] = isnan(w) ? 0 : stored(projector, tile->worker, i, k);
    }
}

int ny_checks_put(const struct ny_checks *checks, struct ny_fit *fit, struct ny_batch *batch,
                  bool over)
{
    const struct ny_keep *keep = &fit->job.keep;
    size_t bytes = places_of(checks).count * sizeof(double), chunk = 0;
    struct ny_part part = ny_record_part(fit->job.record, "checks");
    int err = NY_OK;

    if (!checks->R) return NY_OK;
    if (over) return keep->ops->drop(keep, batch, part.name);
    for (size_t at = 0; at < bytes && !err; at += NY_CHUNK_BYTES)
        err = keep->ops->put(keep, batch, part.name, chunk++, (const char *)checks->sums + at,
                             ny_smaller(bytes - at, NY_CHUNK_BYTES));
    return err;
}

/* ---- the errors ---------------------------------------------------------------------------- */

/* The error of a pair, its standard error, and the eigenvalue that follows. */
struct error {
    double rho, se, value;
};

/* r_s of pair k of all check rows: Aũ − λũ, with y in the place of ũ. */
static void residuals(const struct ny_checks *checks, enum ny_normalisation normalisation, size_t k,
                      double value, double *r)
{
    struct places at = places_of(checks);
    const double *sums = checks->sums, *v = sums + at.v;
    double n = v[checks->p], mean = ny_centred(normalisation) ? v[k] / n : 0;
    double sum_r = 0, rows = 0; /* estimates of Σ_i r_i, and of n */
    size_t R = checks->R, p = checks->p;

    for (size_t s = 0; s < R; s++) {
        const double *B = sums + s * (p + 1);
        double Kv = B[k] + checks->shift[s] * v[k] - mean * (B[p] + checks->shift[s] * n);
        double y = sums[at.Y + s * p + k] - mean;

        r[s] = sums[at.w + s] * Kv - value * y;
        sum_r += r[s] / checks->probability[s];
        rows += 1 / checks->probability[s];
    }
    for (size_t s = 0; s < R && ny_centred(normalisation); s++)
        r[s] -= sum_r / rows;
}

/* Sums over S of x_s = r_s² − z_s². */
struct squares {
    double total;    /* Σ x/π: an estimate of that of all rows */
    double variance; /* of it */
    double seen;     /* Σ r_s²: what that of all rows is at least */
};

/* Returns the variance of Σ x/π: that of the draw of N candidates out of n rows, and that of S out
 * of these (Deville's approximation for unequal probabilities, Hájek's weights 1 − π). */
static double variance_of(const struct ny_checks *checks, const double *x, double n)
{
    double N = (double)checks->candidates, R = (double)checks->R, sum = 0, squares = 0;
    double open = 0, mean = 0, spread = 0; /* of shares t = x/π, weighted by what may not be in S */

    for (size_t s = 0; s < checks->R; s++) {
        double among = checks->probability[s] * n / N; /* π of S out of the candidates */

        sum += x[s] / among / N;
        squares += x[s] * x[s] / among / N;
        open += 1 - among;
        mean += (1 - among) * x[s] / among;
    }
    mean = open > 0 ? mean / open : 0;
    for (size_t s = 0; s < checks->R; s++) {
        double among = checks->probability[s] * n / N, t = x[s] / among - mean;

        spread += (1 - among) * t * t;
    }
    return n * n / (N * N) * R / (R - 1) * spread +
           n * n / N * (1 - N / n) * fmax(squares - sum * sum, 0);
}

/* Returns them for pair k; `x` has room for R numbers. */
static struct squares squares_of(const struct ny_checks *checks, size_t k, double n,
                                 const double *r, double *x)
{
    struct places at = places_of(checks);
    struct squares squares = {0};

    for (size_t s = 0; s < checks->R; s++) {
        double y = checks->sums[at.Y + s * checks->p + k], square = r[s] * r[s];

        x[s] = square - own_square(checks, checks->sums[at.w + s], y, k);
        squares.seen += square;
        squares.total += x[s] / checks->probability[s];
    }
    squares.variance = variance_of(checks, x, n);
    return squares;
}

/* Returns how many rows would have been drawn uniformly for a mean as certain as that over S. */
static double rows_worth(const struct ny_checks *checks)
{
    double sum = 0, squares = 0;

    for (size_t s = 0; s < checks->R; s++) {
        double weight = 1 / checks->probability[s];

        sum += weight;
        squares += weight * weight;
    }
    return sum * sum / squares;
}

/* Returns the error of pair k from its residuals; `x` has room for R numbers. */
static struct error error_of(const struct ny_checks *checks, enum ny_normalisation normalisation,
                             size_t k, double value, const double *r, double *x)
{
    struct places at = places_of(checks);
    const double *v = checks->sums + at.v;
    double n = v[checks->p], worth = rows_worth(checks), mean = 0, product = 0, total;
    double norm = checks->sums[at.q + k]; /* ‖y‖² */
    struct squares squares = squares_of(checks, k, n, r, x);
    struct error error = {NAN, NAN, NAN};

    if (ny_centred(normalisation)) {
        mean = v[k] / n;
        norm -= n * mean * mean;
        squares.total *= worth / (worth - 1); /* the mean of r is theirs */
    }
    if (!(value > 0) || !(norm > 0) || checks->R < 2) return error;
    for (size_t s = 0; s < checks->R; s++)
        product += (checks->sums[at.Y + s * checks->p + k] - mean) * r[s] / checks->probability[s];
    total = fmax(checks->sums[at.e + k] + squares.total, squares.seen);
    error.rho = sqrt(total / norm) / value;
    error.se = error.rho > 0 ? sqrt(squares.variance) / (2 * error.rho * value * value * norm) : 0;
    error.value = value + product / norm;
    return error;
}

/* The error of a degree, and of how many rows it is an example. */
struct example {
    double error, rows;
};

static int by_error(const void *a, const void *b)
{
    double x = ((const struct example *)a)->error, y = ((const struct example *)b)->error;

    return (x > y) - (x < y);
}

/* Returns the error that this share of all rows has at most. */
static double quantile(const struct example *examples, size_t count, double share)
{
    double all = 0, sum = 0;
    size_t i = 0;

    for (size_t s = 0; s < count; s++)
        all += examples[s].rows;
    for (; i + 1 < count && sum + examples[i].rows <= share * all; i++)
        sum += examples[i].rows;
    return examples[i].error;
}

/* Reports how far the degrees of the fit are from those of K, Σ_i k(s, x_i), at most of the rows.
 */
static int report_degrees(const struct ny_checks *checks, struct ny_context *ctx, json_t *report)
{
    struct places at = places_of(checks);
    const double *sums = checks->sums;
    size_t p = checks->p, reached = 0;
    struct example *examples = ny_calloc(ctx, NY_MEM_SOLVE, checks->R, sizeof(*examples));

    if (!examples) return NY_EBUDGET;
    for (size_t s = 0; s < checks->R; s++) {
        double w = sums[at.w + s];
        double degree = sums[s * (p + 1) + p] + checks->shift[s] * sums[at.v + p];

        if (w > 0)
            examples[reached++] =
                (struct example){fabs(degree * w * w - 1), 1 / checks->probability[s]};
    }
    if (reached) {
        qsort(examples, reached, sizeof(*examples), by_error);
        ny_field_set_number(report, "degrees_error", quantile(examples, reached, 0.5));
        ny_field_set_number(report, "degrees_error_95", quantile(examples, reached, 0.95));
    }
    ny_free(ctx, examples);
    return NY_OK;
}

static void append(json_t *array, double value)
{
    ny_field_append(array, isfinite(value) ? json_real(value) : json_null());
}

int ny_checks_report(struct ny_checks *checks, struct ny_fit *fit)
{
    enum ny_normalisation normalisation = fit->settings->normalisation;
    json_t *report = ny_job_report(&fit->job);
    json_t *rho = json_array(), *se = json_array(), *values = json_array();
    double *r = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, checks->R + 1, 2 * sizeof(double));
    int err = r ? NY_OK : NY_EBUDGET;

    if (!err && checks->R)
        err = ny_peers_fold(ny_context_peers(fit->job.ctx), checks->sums, places_of(checks).summed);
    for (size_t k = 0; k < checks->p && checks->R && !err; k++) {
        double value = ny_job_eigenvalue(&fit->job, k);
        struct error error;

        residuals(checks, normalisation, k, value, r);
        error = error_of(checks, normalisation, k, value, r, r + checks->R);
        append(rho, error.rho);
        append(se, error.se);
        append(values, error.value);
    }
    if (!err && checks->R) {
        ny_field_set_count(report, "check_rows", checks->R);
        ny_field_set_json(report, "component_errors", json_incref(rho));
        ny_field_set_json(report, "component_errors_se", json_incref(se));
        ny_field_set_json(report, "eigenvalues_corrected", json_incref(values));
        if (ny_divided(normalisation)) err = report_degrees(checks, fit->job.ctx, report);
    }
    json_decref(rho);
    json_decref(se);
    json_decref(values);
    ny_free(fit->job.ctx, r);
    return err;
}
