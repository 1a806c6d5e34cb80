/*
 * Measure distances: how far the embedding keeps them, over the pairs of a sample.
 * residual_variance is 1 − ρ², ρ the correlation of ‖x − x′‖ and ‖y − y′‖ (Tenenbaum et al. 2000).
 * Isomap keeps lengths of paths in the place of ‖x − x′‖: its figure is that which its fit has
 * found. distance_error is ‖D − D̃‖_F/‖D‖_F of squared distances, D_ij = k_ii + k_jj − 2k_ij those
 * that the kernel means (Talwalkar et al. 2013, section 4.2); centring changes none of them,
 * division does.
 */
#include <math.h>

#include "base/memory.h"
#include "fit/settings.h"
#include "evaluate/sample.h"

static const char *const keys[] = {"residual_variance", "distance_error", "distance_standard_error",
                                   NULL};

enum { SUMS = 7 };
enum { X, Y, XX, YY, XY, ERROR, SQUARE };

struct distances {
    size_t s;
    const double *diagonal; /* k_ii; NULL: no kernel */
    double *sums;           /* SUMS × s: of each row */
};

/* Sums over all pairs of a row of the sample, which has sums of its own. */
static void add_row(const struct distances *run, const struct ny_pair_rows *rows, size_t r)
{
    size_t s = run->s, i = rows->first + r;
    double sum[SUMS] = {0};

    for (size_t j = 0; j < s; j++) {
        double square = rows->outputs.at[r * s + j];
        double x = sqrt(fmax(rows->inputs.at[r * s + j], 0)), y = sqrt(square);

        if (j == i) continue;
        sum[X] += x;
        sum[Y] += y;
        sum[XX] += x * x;
        sum[YY] += y * y;
        sum[XY] += x * y;
        if (run->diagonal) {
            double D = run->diagonal[i] + run->diagonal[j] - 2 * rows->kernel.at[r * s + j];

            sum[ERROR] += (D - square) * (D - square);
            sum[SQUARE] += D * D;
        }
    }
    for (size_t k = 0; k < SUMS; k++)
        run->sums[k * s + i] = sum[k];
}

static void look(void *arg, const struct ny_pair_rows *rows)
{
    for (size_t r = 0; r < rows->count; r++)
        add_row(arg, rows, r);
}

/* Takes the figure of a map of a graph from the record; false where it has none. */
static bool take_stored(struct ny_evaluation *evaluation)
{
    double stored = ny_field_number(evaluation->result.report, "residual_variance", NAN);

    if (isnan(stored)) return false;
    ny_field_set_number(evaluation->report, "residual_variance", stored);
    json_object_del(evaluation->reasons, "residual_variance");
    return true;
}

/* Returns 1 − ρ² of the sums of squared deviations and of products, which is below 0 by rounding
 * alone. NaN stays. */
static double residual_variance(double x, double y, double xy)
{
    double variance = 1 - xy * xy / (x * y);

    return variance < 0 ? 0 : variance;
}

static void report_variance(struct ny_evaluation *evaluation, const struct distances *run)
{
    double total[SUMS] = {0}, pairs = (double)run->s * (double)(run->s - 1), x, y, xy;

    for (size_t k = 0; k < SUMS; k++)
        for (size_t i = 0; i < run->s; i++)
            total[k] += run->sums[k * run->s + i];
    x = total[XX] - total[X] * total[X] / pairs;
    y = total[YY] - total[Y] * total[Y] / pairs;
    xy = total[XY] - total[X] * total[Y] / pairs;
    if (take_stored(evaluation)) return;
    if (json_is_object(json_object_get(evaluation->result.report, "graph")))
        ny_evaluate_inapplicable(evaluation, "residual_variance",
                                 "the map is of a graph: it keeps no distances of points");
    else if (x > 1e-12 * total[XX] && y > 1e-12 * total[YY])
        ny_field_set_number(evaluation->report, "residual_variance", residual_variance(x, y, xy));
    else
        ny_evaluate_inapplicable(evaluation, "residual_variance", "all distances are equal");
}

/* Tells why the kernel's distances are not those that the map keeps; NULL: they are. */
static const char *no_distances(const struct ny_evaluation *evaluation,
                                const struct ny_sample *sample)
{
    const struct ny_map *map = evaluation->result.map;

    if (!sample->kernel)
        return "the matrix of this result is not one of kernel values of the points";
    if (map && map->divided) return "the map divides the kernel by degrees: it keeps no distances";
    return NULL;
}

static int run_distances(struct ny_evaluation *evaluation)
{
    struct ny_sample *sample;
    struct distances run = {0};
    const char *why;
    double *diagonal;
    int err = ny_evaluate_sample(evaluation);

    if (err) return err;
    sample = evaluation->sample;
    if (!ny_evaluate_inputs(evaluation)) {
        take_stored(evaluation);
        return NY_OK;
    }
    why = no_distances(evaluation, sample);
    run.s = sample->s;
    run.sums = ny_calloc(sample->ctx, NY_MEM_OTHER, SUMS * run.s, sizeof(double));
    diagonal = ny_calloc(sample->ctx, NY_MEM_OTHER, run.s, sizeof(double));
    err = run.sums && diagonal ? NY_OK : NY_EBUDGET;
    if (err == NY_OK && !why) {
        err = ny_columns_diagonal(sample->kernel, ny_sample_rows(sample), run.s, diagonal);
        run.diagonal = diagonal;
    }
    if (err == NY_OK) err = ny_sample_pairs(sample, evaluation->cloud.scale, look, &run);
    if (err) goto done;
    report_variance(evaluation, &run);
    if (!why)
        ny_sample_report_ratio(evaluation, &keys[1], run.sums + ERROR * run.s,
                               run.sums + SQUARE * run.s, "all distances are 0");
    if (why) ny_evaluate_inapplicable(evaluation, "distance_error", "%s", why);
    if (why) ny_evaluate_inapplicable(evaluation, "distance_standard_error", "%s", why);
done:
    ny_free(sample->ctx, diagonal);
    ny_free(sample->ctx, run.sums);
    return err;
}

static void count(struct ny_layout *l, const struct ny_evaluation *run)
{
    ny_sample_count(l, run);
    ny_lay(l, NY_MEM_OTHER, SUMS + 1, ny_sample_size(run) * sizeof(double));
}

const struct ny_measure ny_measure_distances = {.name = "distances",
                                                .keys = keys,
                                                .options = "sample|seed",
                                                .run = run_distances,
                                                .count = count,
                                                .order = ny_sample_size};
