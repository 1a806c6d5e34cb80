/*
 * The pass that measures what f32 tile Grams would lose (fit/gram_noise.h), called by stage
 * accumulate before its own pass, and the rules with which it and stage solve use the result.
 *
 * Units that are read are min(32, max(2, u/32)) of u, each in the middle of one of as many equal
 * parts; the others are skipped without reading a row. Each is computed as pass 1 would, weights
 * 1/d_i of a divided kernel included, and compared in spectral/gram_noise.c. If W has no Cholesky
 * factor there is nothing to weigh the loss with, and the Gram is f64 at once.
 *
 * The pass leaves "gram_noise" in the record, and "gram_f64" where f32 would lose too much. A
 * record that has "gram_noise" is not measured again: a resumed job decides as it did before.
 */
#include "fit/gram_noise.h"

#include <math.h>
#include <string.h>

#include "fit/given_columns.h"
#include "fit/shards.h"
#include "linalg/factor.h"
#include "spectral/gram_noise.h"

struct measure {
    struct ny_fit *fit;
    struct ny_layout own;
    double *spread;     /* m: mean square of the columns of W − 1aᵀ */
    struct ny_matrix L; /* of W */
    struct ny_gram_meter meter;
    struct ny_gram_sample **sample; /* one a worker */
    struct ny_tiles tiles;
    double *roots; /* divided: workers × NY_UNIT_ROWS, d_i^-½ */
    double degree_offset;
    uint64_t units; /* that are looked at */
};

uint64_t ny_gram_noise_units(uint64_t units)
{
    const uint64_t one_in = 32, least = 2, most = 32;
    uint64_t count = units / one_in;

    if (count < least) count = least;
    if (count > most) count = most;
    return count < units ? count : units;
}

/* The k-th of them is in the middle of the k-th of equal parts of all units, those of other shards
 * included. */
static bool is_skipped(void *arg, uint64_t unit)
{
    const struct measure *run = arg;
    const struct ny_rows_info *points = &run->fit->job.points;
    uint64_t all = ny_units_of(points->n), k;

    unit += points->here.first / NY_UNIT_ROWS;
    k = unit * run->units / all;

    return unit != (2 * k + 1) * all / (2 * run->units);
}

/* Computes the tile, weighs its rows where K is divided, and takes the sample of its Gram. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct measure *run = arg;
    const struct ny_degrees *degrees = &run->fit->degrees;
    unsigned w = tile->worker;
    struct ny_tile_rows rows = {.count = tile->rows, .diagonal = ny_tiles_diagonal(&run->tiles, w)};
    double *roots = run->roots + (size_t)w * NY_UNIT_ROWS;
    int err = ny_tiles_compute(&run->tiles, tile);

    if (err) return err;
    if (degrees->v) {
        ny_degrees_roots(degrees, run->degree_offset, &run->tiles, tile, roots);
        rows.weights = roots;
    }
    ny_gram_sample_set(run->sample[w], ny_tiles_c32(&run->tiles, w), &rows);
    return NY_OK;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct measure *run = arg;

    if (!tile->skipped) ny_gram_meter_add(&run->meter, run->sample[tile->worker]);
    return NY_OK;
}

/* Mean square of the columns of W − 1aᵀ, and L of W; *full: W has one. */
static int factorise(struct measure *run, bool *full)
{
    struct ny_fit *fit = run->fit;
    size_t m = fit->m;
    int err = NY_OK;

    if (fit->W.at)
        memcpy(run->L.at, fit->W.at, m * m * sizeof(double));
    else
        err = ny_columns_square(fit->columns, run->L);
    for (size_t i = 0; i < m && !err; i++)
        for (size_t j = 0; j < m; j++) {
            double c = run->L.at[i * m + j] - fit->a[j];

            run->spread[j] += c * c / (double)m;
        }
    *full = false;
    return err ? err : ny_factor(fit->job.ctx, run->L, full);
}

static void lay(struct ny_layout *l, struct measure *run, const struct ny_columns_spec *spec,
                size_t m, unsigned workers)
{
    run->spread = ny_lay(l, NY_MEM_GRAM, m, sizeof(double));
    run->L = ny_lay_matrix(l, NY_MEM_GRAM, m, m);
    ny_gram_meter_lay(l, &run->meter, m);
    ny_tiles_lay(l, &run->tiles, spec, m, NY_PRECISION_F32, workers);
    run->roots = ny_lay(l, NY_MEM_TILES, workers, NY_UNIT_ROWS * sizeof(double));
    run->sample = ny_lay(l, NY_MEM_GRAM, workers, sizeof(*run->sample));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_gram_sample *sample = ny_gram_sample_lay(l, &run->meter);

        if (run->sample) run->sample[w] = sample;
    }
}

void ny_fit_measure_lay(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m,
                        unsigned workers)
{
    lay(l, &(struct measure){.fit = NULL}, spec, m, workers);
}

/* Returns the units of the points, with the share of the last one. */
static double units_of(const struct ny_fit *fit)
{
    return (double)fit->job.points.n / NY_UNIT_ROWS;
}

/* Keeps the measure in the record and decides for f64 where it is too large. */
static void use(struct ny_fit *fit, const struct ny_gram_noise *noise)
{
    double left = noise->residual * units_of(fit);

    fit->job.state.noise = (struct ny_state_noise){true,          noise->trace,    noise->diagonal,
                                                   noise->others, noise->coherent, noise->residual};
    if (!ny_gram_blurs(noise, units_of(fit), left)) return;
    fit->gram = NY_GRAM_F64;
    fit->job.state.record.gram_f64 = true;
}

int ny_fit_measure_gram(struct ny_fit *fit)
{
    static const struct ny_pass_work work = {.unit = unit, .fold = fold};
    struct measure run = {.fit = fit, .units = ny_gram_noise_units(ny_units_of(fit->job.points.n))};
    bool full = false;
    int err;

    if (fit->gram != NY_GRAM_F32 || fit->job.state.noise.there) return NY_OK;
    run.own.ctx = fit->job.ctx;
    lay(&run.own, &run, ny_columns_of(fit->columns), fit->m, fit->job.workers);
    err = run.own.err;
    if (!err) err = factorise(&run, &full);
    if (err) goto done;
    if (!full) { /* no rows of W⁺ to weigh the loss with */
        fit->gram = NY_GRAM_F64;
        fit->job.state.record.gram_f64 = true;
        goto done;
    }
    ny_tiles_use(&run.tiles, fit->columns, fit->a);
    run.tiles.cache = fit->cache;
    if (fit->degrees.v) run.degree_offset = ny_degrees_offset(&fit->degrees, fit->a);
    err = ny_gram_meter_begin(&run.meter, &run.own, run.L, fit->a, run.spread);
    if (!err) /* a kill begins it again, as it is short */
        err =
            ny_fit_pass(fit, fit->job.points.n, (struct ny_pass){.skip = is_skipped}, &work, &run);
    if (!err) err = ny_gram_meter_fold_peers(&run.meter, ny_context_peers(fit->job.ctx));
    if (!err) {
        struct ny_gram_noise noise = ny_gram_meter_read(&run.meter);

        use(fit, &noise);
        err = ny_shards_share_gram(fit);
    }
done:
    ny_layout_free(&run.own);
    return err;
}

bool ny_fit_gram_blurs(const struct ny_fit *fit, const struct ny_solution *solution,
                       const double *gram)
{
    const struct ny_state_noise *stored = &fit->job.state.noise;
    struct ny_gram_noise noise = {.trace = stored->trace,
                                  .diagonal = stored->diagonal,
                                  .others = stored->others,
                                  .coherent = stored->coherent};
    double left = solution->trace - solution->trace_approx;

    if (isfinite(left) && ny_gram_blurs(&noise, units_of(fit), left)) return true;
    return ny_gram_blurs_values(&noise, units_of(fit), gram, solution->P);
}
