/*
 * Measures drift (place/drift.h). The figures of rows are on any scale, and a few rows far out move
 * a mean of them, but hardly their distribution: the distance of two distributions needs no scale,
 * no standard error and no share of the trace from which on it counts. By the theorem of Kolmogorov
 * it is more than λ √(1/n + 1/m) with probability 2 exp(−2λ²) at most, for n and m rows that are
 * drawn alike; two figures have twice that.
 *
 * New rows of genotypes lie closer to the mean than those of the fit, along components above noise
 * by their shrinkage, and anywhere along those of noise, which therefore do not count. But they may
 * be those of the fit again: the smaller drift counts. What is left out of a row is that of the
 * genotypes that are there, as if all were.
 *
 * Landmarks leave nothing out of themselves: rows that are landmarks count in neither distribution.
 * A drift that cannot be measured, for numerical reasons or lack of memory, is not known, and no
 * error, since the rows have been placed.
 */
#include "place/drift.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "fit/projector.h"
#include "select/rules.h"
#include "stream/pass.h"

enum { LANDMARKS_MAX = 1024 };

/* The one threshold: the guide (every-night.md) says which changes of real data it tells. And 1.83
 * is the λ of one false alarm in 200 by chance. */
static const double drift_most = 0.35, drift_chance = 1.83;

/* Figures of genotypes scatter so little that errors of the frequencies and the shrinkage of a
 * small fit would be a drift: those that differ by less than this margin are alike. Coordinates are
 * mostly noise if less than this share of the genotypes is there. */
static const double genotype_margin = 1.1, genotype_share = 0.25;

/* Less than these shares of a mean, of all and of the first component, is rounding. */
static const double figure_least = 1e-6, spread_least = 0x1p-20;

/* ---- figures -------------------------------------------------------------------------------- */

/* Rows that are measured, and their figures. */
struct measured {
    struct ny_layout own;
    const struct ny_model *model;
    const struct ny_columns_spec *spec;
    struct ny_raw_rows landmarks; /* that are used, */
    size_t m;                     /* and how many */
    void *taken;                  /* what they are in; NULL: they are all of the model */
    const struct ny_drift_how *how;
    const struct ny_drift_sample *sample;
    double *whole, *left; /* of each row: k(x,x) or ‖φ − μ‖², and what is left out of it */
    double *along;        /* p of each row; NULL: of landmarks */
    size_t count;         /* rows with figures */
    double *figure;       /* count of what is left out; then, not of landmarks, as many along */
};

static int open_rows(const struct measured *rows, struct ny_source **out)
{
    const struct ny_columns_spec *spec = rows->spec;
    int err = ny_source_of_memory(out, rows->sample->ctx, rows->sample->rows, spec->dtype,
                                  rows->sample->count, spec->geometry->d);

    if (!err && spec->slots) ny_source_of_memory_slots(*out, spec->slots, false);
    return err;
}

/* Takes the landmarks that are used, evenly spread over all: at most half as many as the fit had
 * rows, so that there are others to compare new rows with. */
static int take_landmarks(struct measured *rows, struct ny_raw_rows all)
{
    const struct ny_model *model = rows->model;
    size_t most = rows->how->landmarks ? rows->how->landmarks : LANDMARKS_MAX;
    size_t bytes = all.list ? sizeof(*all.list) : ny_raw_bytes(rows->spec);
    const char *from = all.list ? (const char *)all.list : all.at;

    rows->landmarks = all;
    rows->m = model->m;
    if (most > model->fitted.rows / 2) most = (size_t)(model->fitted.rows / 2);
    if (!from || model->m <= most) return NY_OK;
    rows->m = most;
    rows->taken = ny_lay(&rows->own, NY_MEM_OTHER, most, bytes);
    if (!rows->taken) return NY_EBUDGET;
    for (size_t i = 0; i < most; i++)
        memcpy((char *)rows->taken + i * bytes, from + i * model->m / most * bytes, bytes);
    if (all.list)
        rows->landmarks.list = rows->taken;
    else
        rows->landmarks.at = rows->taken;
    return NY_OK;
}

/* Computes the residuals of the rows by the landmarks, as greedy selection would. */
static int find_residuals(struct measured *rows, struct ny_source *source)
{
    struct ny_context *ctx = rows->sample->ctx;
    size_t count = rows->sample->count;
    const struct ny_selection_request request = {.ctx = ctx,
                                                 .n = count,
                                                 .spec = rows->spec,
                                                 .greedy.dictionary.affine = rows->how->affine,
                                                 .workers = 1};
    float *residuals = ny_calloc(ctx, NY_MEM_OTHER, count, sizeof(float));
    struct ny_columns *none = NULL;
    int err = residuals ? ny_columns_new(&none, rows->spec) : NY_EBUDGET;

    if (!err) err = ny_columns_diagonal(none, ny_raw_rows(rows->sample->rows), count, rows->whole);
    ny_columns_free(none);
    ny_context_set_crew(ctx, 1); /* OpenBLAS has room for those who place rows alone */
    if (!err) err = ny_greedy_measure(&request, rows->landmarks, rows->m, source, count, residuals);
    ny_context_set_crew(ctx, 0);
    for (size_t i = 0; !err && i < count; i++)
        rows->left[i] = (double)residuals[i];
    ny_free(ctx, residuals);
    return err;
}

/* Returns the share of a row's genotypes that is there, of the variants that the model uses. */
static double share_there(const struct measured *rows, size_t row)
{
    const struct ny_geometry *geometry = rows->spec->geometry;
    const uint8_t *genotypes = (const uint8_t *)rows->sample->rows + row * geometry->d;
    size_t used = 0, there = 0;

    for (size_t j = 0; j < geometry->d; j++) {
        if (geometry->factor[j] == 0) continue;
        used++;
        there += genotypes[j] != NY_GENOTYPE_MISSING;
    }
    return used ? (double)there / (double)used : 0;
}

/* Makes up for missing genotypes; a row with few of the others gets 0, and does not count. */
static void complete(struct measured *rows)
{
    for (size_t i = 0; i < rows->sample->count; i++) {
        double share = share_there(rows, i);

        rows->whole[i] = share < genotype_share ? 0 : rows->whole[i] / share;
    }
}

struct spread {
    struct ny_projector projector;
    const struct ny_model *model;
    double *along, *distance; /* of the rows that come next */
};

static int place_unit(void *arg, const struct ny_tile *tile)
{
    return ny_projector_tile(&((struct spread *)arg)->projector, tile);
}

static int take_places(void *arg, const struct ny_tile *tile)
{
    struct spread *spread = arg;
    const struct ny_projector *projector = &spread->projector;
    const struct ny_model *model = spread->model;
    const double *diagonal = ny_projector_diagonal(projector, tile->worker);
    const double *mean = projector->u;
    double mean_square = mean ? ny_dot(mean, mean, model->d) : 0;

    for (size_t i = 0; i < tile->rows; i++, spread->along += model->p) {
        for (size_t k = 0; k < model->p; k++)
            spread->along[k] = ny_projector_number(projector, tile->worker, i, k);
        *spread->distance++ = /* ‖φ − μ‖² = ‖φ‖² − 2 φ·μ + ‖μ‖² */
            diagonal[i] + mean_square - (mean ? 2 * projector->roots[i] : 0);
    }
    return NY_OK;
}

/* Places the `count` rows of a source, which `spec` describes: row i gets p numbers of `along`, its
 * coordinates, which make up for missing genotypes, and distance[i] = ‖φ − μ‖². */
static int spread_rows(const struct ny_model *model, const struct ny_columns_spec *spec,
                       struct ny_source *rows, double *along, double *distance)
{
    static const struct ny_pass_work work = {place_unit, take_places, NULL};
    struct spread spread = {.model = model, .along = along, .distance = distance};
    int err = ny_projector_new(&spread.projector, model, spec->dtype, spec->slots, 1);

    if (err) return err;
    spread.projector.u = model->fitted.mean;
    spread.projector.features.completes = true;
    err = ny_pass_run(&(struct ny_pass){.source = rows, .stage = "drift", .workers = 1}, &work,
                      &spread);
    ny_projector_release(&spread.projector);
    return err;
}

/* Places the rows along the components. */
static int find_coordinates(struct measured *rows, struct ny_source *source)
{
    int err;

    rows->along =
        ny_lay(&rows->own, NY_MEM_OTHER, rows->sample->count * rows->model->p, sizeof(double));
    if (!rows->along) return NY_EBUDGET;
    err = spread_rows(rows->model, rows->spec, source, rows->along, rows->whole);
    if (!err && rows->spec->dtype == NY_GENOTYPE) complete(rows);
    return err;
}

static int find(struct measured *rows, struct ny_raw_rows landmarks)
{
    struct ny_context *ctx = rows->sample->ctx;
    size_t count = rows->sample->count;
    struct ny_source *source = NULL;
    int err = take_landmarks(rows, landmarks);

    if (!err) err = open_rows(rows, &source);
    rows->whole = ny_lay(&rows->own, NY_MEM_OTHER, count, sizeof(double));
    rows->left = ny_lay(&rows->own, NY_MEM_OTHER, count, sizeof(double));
    rows->figure = ny_calloc(ctx, NY_MEM_OTHER, 2 * count, sizeof(double)); /* a model keeps it */
    if (!err && !rows->figure) err = NY_EBUDGET;
    if (!err) err = rows->own.err;
    ny_context_set_silent(ctx, true);
    if (!err)
        err = rows->model->fitted.by_variance ? find_coordinates(rows, source)
                                              : find_residuals(rows, source);
    ny_context_set_silent(ctx, false);
    ny_source_free(source);
    return err;
}

static bool is_same(const struct measured *rows, size_t row, size_t landmark)
{
    const struct ny_columns_spec *spec = rows->spec;
    size_t bytes = ny_raw_bytes(spec), size = ny_dtype_size(spec->dtype);
    const char *at = rows->sample->rows + row * bytes;
    struct ny_sparse a, b;

    if (!spec->slots)
        return memcmp(at, (const char *)rows->landmarks.at + landmark * bytes, bytes) == 0;
    a = ny_sparse_of(at, spec->slots);
    b = ny_sparse_row(spec, rows->landmarks, landmark);
    return a.count == b.count && memcmp(a.index, b.index, a.count * sizeof(*a.index)) == 0 &&
           memcmp(a.value, b.value, a.count * size) == 0;
}

static bool is_landmark(const struct measured *rows, size_t row)
{
    size_t i = 0;

    if (rows->along) return false;
    while (i < rows->m && !is_same(rows, row, i))
        i++;
    return i < rows->m;
}

/* The mean of y²/λ over the components that are above rounding. */
static double along_of(const struct measured *rows, const double *y, double *kept)
{
    const double *spread = rows->model->fitted.spread;
    double first = 0, sum = 0;
    size_t count = 0;

    *kept = 0;
    for (size_t k = 0; k < rows->model->p; k++)
        first = fmax(first, spread[k]);
    for (size_t k = 0; k < rows->model->p; k++) {
        if (!(spread[k] > spread_least * first)) continue;
        sum += y[k] * y[k] / spread[k];
        *kept += y[k] * y[k];
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* Makes figures of what was found: shares of the mean of the rows of the fit. */
static void make_figures(struct measured *rows)
{
    double whole = rows->model->fitted.whole;
    size_t p = rows->model->p, all = rows->sample->count;

    rows->count = 0;
    for (size_t i = 0; i < all; i++) {
        double kept, along = 0;

        if (rows->along) {
            along = along_of(rows, rows->along + i * p, &kept);
            rows->left[i] = fmax(0, rows->whole[i] - kept);
        }
        if (rows->spec->dtype == NY_GENOTYPE && rows->whole[i] == 0) continue;
        if (rows->left[i] <= figure_least * whole && is_landmark(rows, i)) continue;
        rows->figure[rows->count] = fmax(rows->left[i] / whole, figure_least);
        rows->figure[all + rows->count++] = along;
    }
    memmove(rows->figure + rows->count, rows->figure + all, rows->count * sizeof(double));
    qsort(rows->figure, rows->count, sizeof(double), ny_compare_doubles);
    qsort(rows->figure + rows->count, rows->count, sizeof(double), ny_compare_doubles);
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* ---- rows of the fit ------------------------------------------------------------------------ */

/* Shrinks coordinates of genotypes of the fit to those of new rows; 0: not known. */
static void shrink(struct measured *rows)
{
    const double *shrinkage = rows->model->fitted.shrinkage;
    size_t p = rows->model->p;

    for (size_t i = 0; i < rows->sample->count * p; i++)
        rows->along[i] *= shrinkage ? shrinkage[i % p] : 0;
}

/* Sets the mean y² along the components. */
static int find_spread(struct ny_model *model, const struct measured *rows)
{
    struct ny_fitted_rows *fitted = &model->fitted;
    size_t count = rows->sample->count;

    if (!rows->along) return NY_OK;
    fitted->spread = ny_calloc(model->ctx, NY_MEM_MODEL, model->p, sizeof(double));
    if (!fitted->spread) return NY_EBUDGET;
    for (size_t i = 0; i < count * model->p; i++)
        fitted->spread[i % model->p] += rows->along[i] * rows->along[i] / (double)count;
    return NY_OK;
}

/* Tells whether what is left out is a share: not where coordinates are of features that are centred
 * over the landmarks, whose mean is not known, nor of genotypes whose shrinkage is not known. */
static bool has_share(const struct ny_model *model)
{
    if (model->spec.dtype == NY_GENOTYPE && !model->fitted.shrinkage) return false;
    return !model->fitted.by_variance || model->fitted.mean || !model->map->additive ||
           model->spec.kernel->base == NY_BASE_COORDINATE;
}

static int learn(struct ny_model *model, struct measured *rows)
{
    struct ny_fitted_rows *fitted = &model->fitted;
    double whole;
    int err = find(rows, ny_model_rows(model));

    if (!err && rows->spec->dtype == NY_GENOTYPE) shrink(rows);
    if (!err) err = find_spread(model, rows);
    if (err) return err;
    whole = sum_of(rows->whole, rows->sample->count);
    if (!(whole > 0 && isfinite(whole))) return NY_OK;
    fitted->whole = whole / (double)rows->sample->count;
    make_figures(rows);
    fitted->share = has_share(model) ? sum_of(rows->left, rows->sample->count) / whole : NAN;
    fitted->count = rows->count;
    fitted->figure = rows->figure;
    rows->figure = NULL;
    return NY_OK;
}

/* A drift that cannot be measured is no error. */
static int forgive(struct ny_context *ctx, int err)
{
    if (err != NY_ENUMERIC && err != NY_EBUDGET) return err;
    ny_log(ctx, NY_LOG_DETAIL, "the drift is not measured: %s", ny_context_message(ctx));
    ny_error_clear(ctx);
    return NY_OK;
}

int ny_drift_learn(struct ny_model *model, struct ny_rows *X, const struct ny_drift_how *how)
{
    struct ny_drift_sample sample = {0};
    struct measured fitted = {
        .own.ctx = model->ctx, .model = model, .spec = &model->spec, .how = how, .sample = &sample};
    int err;

    if (!model->fitted.by_variance && !(model->landmarks || model->sparse.row)) return NY_OK;
    if (model->spec.dtype == NY_GENOTYPE &&
        (!model->fitted.by_variance || model->spec.kernel->unit_rows))
        return NY_OK; /* what is missing changes all figures */
    err = ny_drift_sample_fitted(&sample, model, X);
    if (!err && sample.count) err = learn(model, &fitted);
    ny_layout_free(&fitted.own);
    ny_free(model->ctx, fitted.figure);
    ny_drift_sample_release(&sample);
    return forgive(model->ctx, err);
}

/* Returns the distance of figures, and multiplies those of the new rows: each is taken for any
 * number within the margin. */
static double distance_beyond(double margin, const double *fitted, size_t fitted_count, double *new,
                              size_t count)
{
    double both = margin * margin, larger;

    for (size_t i = 0; i < count; i++)
        new[i] /= margin;
    larger = ny_drift_distance(fitted, fitted_count, new, count, true);
    for (size_t i = 0; i < count; i++)
        new[i] *= both;
    return fmax(larger, ny_drift_distance(new, count, fitted, fitted_count, true));
}

/* Returns the larger distance of the figures of new rows. */
static double distance_of(const struct ny_fitted_rows *fitted, struct measured *new)
{
    double margin = new->spec->dtype == NY_GENOTYPE ? genotype_margin : 1;
    double left = distance_beyond(margin, fitted->figure, fitted->count, new->figure, new->count);

    if (!new->along) return left;
    return fmax(left, distance_beyond(margin, fitted->figure + fitted->count, fitted->count,
                                      new->figure + new->count, new->count));
}

int ny_drift_measure(const struct ny_model *model, const struct ny_columns_spec *spec,
                     struct ny_raw_rows landmarks, const struct ny_drift_how *how,
                     const struct ny_drift_sample *sample, struct ny_drift *drift)
{
    const struct ny_fitted_rows *fitted = &model->fitted;
    struct measured new = {
        .own.ctx = model->ctx, .model = model, .spec = spec, .how = how, .sample = sample};
    size_t above = 0;
    int err;

    *drift = ny_drift_unknown;
    if (!fitted->count || !sample->count) return NY_OK;
    err = find(&new, landmarks);
    if (err) goto done;
    make_figures(&new);
    if (new.along && !new.count) goto done; /* hardly any genotypes are there */
    drift->fitted = fitted->share;
    if (!isnan(fitted->share))
        drift->share = sum_of(new.left, sample->count) / sum_of(new.whole, sample->count);
    drift->rows = new.count;
    drift->of_fit = fitted->count;
    for (size_t i = 0; i < sample->count; i++)
        above += new.left[i] > how->tolerance;
    if (!isnan(how->tolerance) && !new.taken) drift->above = (double)above / (double)sample->count;
    drift->distance = distance_of(fitted, &new);
    if (spec->dtype == NY_GENOTYPE) { /* or they are rows of the fit themselves */
        shrink(&new);
        make_figures(&new);
        drift->distance = fmin(drift->distance, distance_of(fitted, &new));
    }
done:
    ny_layout_free(&new.own);
    ny_free(model->ctx, new.figure);
    return forgive(model->ctx, err);
}

/* ---- the rule and its words ----------------------------------------------------------------- */

double ny_drift_distance(const double *a, size_t a_count, const double *b, size_t b_count,
                         bool larger)
{
    double most = 0;

    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        double at = a[i] < b[j] ? a[i] : b[j], apart;

        while (i < a_count && a[i] <= at)
            i++;
        while (j < b_count && b[j] <= at)
            j++;
        apart = (double)i / (double)a_count - (double)j / (double)b_count;
        most = fmax(most, larger ? apart : fabs(apart));
    }
    return most;
}

/* The drift that chance makes of rows that are drawn alike in one case of 200. */
static double chance_of(const struct ny_drift *drift)
{
    return drift_chance * sqrt(1 / (double)drift->rows + 1 / (double)drift->of_fit);
}

bool ny_drift_is_large(const struct ny_drift *drift)
{
    return drift->distance > drift_most && drift->distance > chance_of(drift);
}

void ny_drift_tell(struct ny_context *ctx, const char *from, const struct ny_drift *drift,
                   const char *cure)
{
    bool large = ny_drift_is_large(drift);

    if (isnan(drift->distance) || chance_of(drift) >= 1) return; /* so few rows tell nothing */
    ny_log(ctx, large ? NY_LOG_WARNING : NY_LOG_NOTE,
           "drift of %s from the rows of the fit: %.2f (0: alike, 1: wholly apart)%s%s", from,
           drift->distance,
           large ? ": are they on the same scale, with the columns in the same order?" : "",
           large ? cure : "");
}
