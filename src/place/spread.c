/*
 * Measures the spread of new rows (place/spread.h) by two figures of each row, whose means over the
 * rows of the fit are 1:
 *
 *   along   Σ_k (y_k²/λ_k) / counted                  along the components, each in its own unit
 *   beside  (‖φ − μ‖² − Σ_k y_k²) / (v − Σ_k λ_k)     in what they leave out
 *
 * where λ_k is the mean of y_k² and v that of ‖φ − μ‖² over the rows of the fit. Columns that have
 * changed places leave the length of a row nearly as it is, but seldom the directions in which rows
 * vary little: these are among the last components, or beside all.
 *
 * Rows of the same kind that the fit has not seen spread a little more. Of n rows and c components
 * the mean of `along` is then about n/(n − c − 1), and that of `beside` up to the square of that.
 * Both figures are divided by these.
 *
 * Columns that are scaled by a spread of their own may have hardly any among few rows. A pixel that
 * only one of 150 images has is 1,000 times as far in the next one that has it: real rows that were
 * like those of the fit spread up to 600 times as much. Of 1,000 rows or more none did three times.
 *
 * The guide (every-night.md) says how many changes of 18 real data sets this tells.
 */
#include "place/spread.h"

#include <math.h>

#include "linalg/matrix.h"
#include "stream/pass.h"

/* A standard error of so few new rows says little, as rows are not normal; nor do so few rows of a
 * fit tell the spread of columns that are scaled by it. */
enum { ROWS_LEAST = 16, SCALED_LEAST = 1000 };

/* Below these shares, of the first component and of all, rounding in f32 counts. Components that
 * are smaller are left out, and what is left out counts as so much at least: it is 0 where columns
 * follow from others, and new rows in which they do not are told. */
static const double counted_least = 0x1p-20, left_least = 1e-4;

/* Tells whether columns have factors that differ. A column that is not chosen has factor 0. */
static bool is_scaled(const struct ny_geometry *geometry)
{
    double first = 0;

    for (size_t k = 0; k < geometry->d; k++) {
        double factor = geometry->factor[k];

        if (first == 0) first = factor;
        if (factor != 0 && factor != first) return true;
    }
    return false;
}

void ny_spread_begin(struct ny_spread *spread, const struct ny_model *model)
{
    const struct ny_fitted_variance *fitted = &model->fitted;
    double left = fitted->distance;

    *spread = (struct ny_spread){.model = model};
    if (!fitted->spread || (fitted->rows < SCALED_LEAST && is_scaled(model->spec.geometry))) return;
    for (; spread->counted < model->p; spread->counted++) {
        double value = fitted->spread[spread->counted];

        if (!(value > counted_least * fitted->spread[0])) break;
        left -= value;
    }
    spread->left = fmax(left, left_least * fitted->distance);
}

static void add(struct ny_spread_sums *sums, double value)
{
    sums->sum += value;
    sums->squares += value * value;
}

/* Adds a row of coordinates, at this squared distance from the mean of the fit. */
static void take_row(struct ny_spread *spread, const void *row, double distance)
{
    const struct ny_model *model = spread->model;
    bool f64 = model->precision == NY_PRECISION_F64;
    double along = 0, kept = 0;

    for (size_t k = 0; k < spread->counted; k++) {
        double y = f64 ? ((const double *)row)[k] : (double)((const float *)row)[k];

        kept += y * y;
        along += y * y / model->fitted.spread[k];
    }
    if (!spread->counted) return;
    add(&spread->along, along / (double)spread->counted);
    add(&spread->beside, (distance - kept) / spread->left); /* rounding may make it negative */
}

void ny_spread_take(struct ny_spread *spread, const struct ny_projector *projector,
                    const struct ny_tile *tile)
{
    const double *diagonal = ny_projector_diagonal(projector, tile->worker);
    const double *products = projector->roots + (size_t)tile->worker * NY_UNIT_ROWS;
    const double *mean = projector->u;
    const char *rows = ny_projector_rows(projector, tile->worker);
    size_t row_bytes = projector->width * ny_precision_bytes(spread->model->precision);
    double mean_square = mean ? ny_dot(mean, mean, spread->model->d) : 0;

    spread->kept += ny_projector_sums(projector, tile->worker)[NY_SUM_SQUARES];
    spread->rows += tile->rows;
    for (size_t i = 0; i < tile->rows; i++) { /* ‖φ − μ‖² = ‖φ‖² − 2 φ·μ + ‖μ‖² */
        double distance = diagonal[i] + mean_square - (mean ? 2 * products[i] : 0);

        spread->squares += distance;
        spread->farthest = fmax(spread->farthest, distance);
        take_row(spread, rows + i * row_bytes, distance);
    }
}

/* Sets the ratio of the drift to this figure, if it is surely larger than the one that is there. */
static void take_larger(struct ny_drift *drift, struct ny_spread_sums sums, double expected,
                        double rows, bool beside)
{
    double mean = sums.sum / rows, variance = (sums.squares / rows - mean * mean) / (rows - 1);
    double ratio = fmax(0, mean / expected), error = sqrt(fmax(0, variance)) / expected;

    if (ratio - 2 * error <= drift->ratio - 2 * drift->ratio_error) return;
    drift->ratio = ratio;
    drift->ratio_error = error;
    drift->beside = beside;
}

/* Sets the ratio of the new rows to those of the fit. */
static void find_ratio(const struct ny_spread *spread, struct ny_drift *drift)
{
    double n = spread->model->fitted.rows, rows = (double)spread->rows;
    double unseen = n / (n - (double)spread->counted - 1);
    double least = left_least * spread->model->fitted.distance;

    if (!spread->counted || spread->rows <= ROWS_LEAST || !(unseen > 0 && isfinite(unseen))) return;
    take_larger(drift, spread->along, unseen, rows, false);
    if (spread->left > least || spread->beside.sum > rows) /* else there is nothing beside */
        take_larger(drift, spread->beside, unseen * unseen, rows, true);
}

struct ny_drift ny_spread_drift(const struct ny_spread *spread)
{
    const struct ny_fitted_variance *fitted = &spread->model->fitted;
    struct ny_drift drift = ny_drift_unknown;
    double rows = (double)spread->rows, squares = spread->squares;

    if (!spread->rows || !(squares > 0)) return drift;
    drift.share = fmax(0, 1 - spread->kept / squares);
    drift.fitted = fitted->left;
    drift.distance = squares / rows / fitted->distance;
    if (spread->rows > 1)
        drift.distance_others = (squares - spread->farthest) / (rows - 1) / fitted->distance;
    find_ratio(spread, &drift);
    return drift;
}

/* ---- rows that are drawn -------------------------------------------------------------------- */

/* A pass over them. */
struct pass {
    struct ny_projector projector;
    struct ny_spread spread;
};

static int unit(void *arg, const struct ny_tile *tile)
{
    return ny_projector_tile(&((struct pass *)arg)->projector, tile);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct pass *pass = arg;

    ny_spread_take(&pass->spread, &pass->projector, tile);
    return NY_OK;
}

int ny_spread_measure(const struct ny_model *model, const struct ny_columns_spec *spec,
                      struct ny_source *rows, struct ny_drift *drift)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    struct pass pass;
    int err = ny_projector_new(&pass.projector, model, spec->dtype, spec->slots, 1);

    if (err) return err;
    pass.projector.u = model->fitted.mean;
    ny_spread_begin(&pass.spread, model);
    err = ny_pass_run(
        &(struct ny_pass){.ctx = model->ctx, .source = rows, .stage = "drift", .workers = 1}, &work,
        &pass);
    if (!err) *drift = ny_spread_drift(&pass.spread);
    ny_projector_release(&pass.projector);
    return err;
}
