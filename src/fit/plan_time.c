/* Passes, flops, disk and seconds of a fit's stages. */
#include <math.h>

#include "results/embedding.h"
#include "fit/gram_noise.h"
#include "fit/plan_private.h"
#include "spectral/whole.h"
#include "whole/shape.h"
#include "spectral/gram_noise.h"
#include "spectral/krylov.h"
#include "spectral/nystrom.h"

/* The quantities by which a stage of a fit is priced. */
struct timing {
    const struct ny_footprint *footprint;
    const struct ny_fit_settings *settings;
    const struct ny_look *look;
    struct ny_prices price;
    double n, m, entries;
    struct ny_plan *plan;
};

/* The whole pass, where the budget or few rows leave threads out of it. */
static double share(const struct timing *t, enum ny_stage_id stage)
{
    unsigned workers = ny_footprint_stage_workers(t->footprint, stage);

    return ny_price_share(t->footprint->points->n, workers, t->settings->threads);
}

static double all_workers(const struct timing *t)
{
    return ny_price_share(t->footprint->points->n, t->settings->threads, t->settings->threads);
}

/* ---- stats ---------------------------------------------------------------------------------- */

/* The process begins, the machine is looked at; the width of the kernel. */
static void time_stats(const struct timing *t)
{
    const double begin_s = 0.06, pairs = 20000;
    const struct ny_kernel *kernel = t->footprint->spec.kernel;
    bool width = t->settings->gamma_auto && kernel->auto_gamma && kernel->base != NY_BASE_DOT;

    t->plan->stage_s[NY_STAGE_STATS] = begin_s + ny_price_commit(&t->price, 0);
    if (width)
        t->plan->stage_s[NY_STAGE_STATS] += ny_price_pairs(&t->price, pairs, t->settings->threads);
}

/* ---- select --------------------------------------------------------------------------------- */

/* A kernel block and a substitution a row, most of them left early: 40 % of the work is left, as
 * measured on images. A search for a size makes dozens of runs, most of which skip nearly all rows;
 * but if the rank of K is below the size, all halvings look at all rows, in f64. */
static void time_greedy(const struct timing *t)
{
    const double rank_reached = 1e-11;
    const struct ny_decay *decay = &t->look->decay;
    bool searches = isnan(t->settings->dictionary.tolerance);
    bool whole = searches && decay->count && ny_decay_at(decay, t->m) < rank_reached;
    double runs = !searches ? 1 : whole ? 20 : t->settings->pilot ? 3.3 : 6;
    struct ny_prices price = t->price;

    price.f64 = price.f64 || whole;
    t->plan->passes += !searches ? 1 : whole ? 42 : 18;
    t->plan->flops += runs * t->entries * (2 * t->price.d + 0.4 * t->m);
    t->plan->stage_s[NY_STAGE_SELECT] +=
        runs * (ny_price_tile(&price, t->entries) + ny_price_rows(&price, t->n) +
                t->entries * 0.4 * t->m / (whole ? t->price.rate->gemm64 : t->price.rate->gemm32));
}

static struct ny_selection_work selection_work(const struct timing *t)
{
    const struct ny_selection_request request = {.n = t->footprint->points->n,
                                                 .spec = &t->footprint->spec,
                                                 .diagonal = ny_settings_diagonal(t->settings)};

    return t->settings->rule->work(&request, t->plan->m, &t->look->decay);
}

static void time_rule(const struct timing *t)
{
    const double sum_beats = 1.2, efficiency = 0.5; /* of substitutions in short steps */
    struct ny_selection_work work = selection_work(t);
    struct ny_prices tile = t->price, exact = t->price;
    double threads = ny_price_threads(t->settings->threads);

    tile.f64 = false;
    exact.f64 = true;
    t->plan->passes += (unsigned)ceil(work.passes);
    t->plan->flops += 2 * t->price.d * (work.entries + work.exact + work.alone) + work.flops +
                      work.exact_flops + work.alone_flops;
    t->plan->stage_s[NY_STAGE_SELECT] +=
        all_workers(t) *
            (work.passes * ny_price_rows(&tile, t->n) + ny_price_tile(&tile, work.entries) +
             ny_price_tile(&exact, work.exact) + ny_price_beats(&tile, sum_beats * work.sums) +
             work.flops / (efficiency * t->price.rate->gemm32) +
             work.exact_flops / (efficiency * t->price.rate->gemm64)) +
        threads * (ny_price_tile(&exact, work.alone) +
                   work.alone_flops / (efficiency * t->price.rate->gemm64));
    if (work.visits)
        t->plan->stage_s[NY_STAGE_SELECT] +=
            work.visits *
            ny_price_gather(&t->price, work.gathered / work.visits, t->settings->threads);
}

/* Times exact values of all columns, and a substitution a row. */
static void time_certify(const struct timing *t)
{
    struct ny_prices exact = t->price;

    exact.f64 = true;
    t->plan->passes++;
    t->plan->flops += t->entries * (2 * t->price.d + t->m);
    t->plan->stage_s[NY_STAGE_SELECT] +=
        all_workers(t) * (ny_price_rows(&exact, t->n) + ny_price_tile(&exact, t->entries) +
                          t->entries * t->m / t->price.rate->gemm64);
}

static void time_select(const struct timing *t)
{
    t->plan->stage_s[NY_STAGE_SELECT] = ny_price_commit(&t->price, 0);
    if (t->settings->rule->by_tolerance)
        time_greedy(t);
    else if (t->settings->rule->work)
        time_rule(t);
    if (t->settings->certify) time_certify(t);
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Landmarks are read and compared with one another, and W is looked at, by whichever stage begins.
 */
static double prepare_s(const struct timing *t)
{
    const double choose = 1.5; /* of m³: two triangular problems */
    bool chooses = ny_settings_forms_gram(t->settings) && !t->plan->gram_f64;

    if (t->settings->method->coordinates) return 0;
    return ny_price_gather(&t->price, t->m, t->settings->threads) +
           ny_price_square(&t->price, t->m) +
           (chooses ? choose * t->m * t->m * t->m / t->price.rate->gemm64 : 0);
}

/* Seconds to measure the loss of f32 tile Grams: some of their rows for a few units
 * (fit/gram_noise.h), and W = LLᵀ. */
static double measure_s(const struct timing *t)
{
    double rows = (double)ny_gram_noise_units(ny_units_of((uint64_t)t->n)) * NY_UNIT_ROWS;
    double columns = 2 * (double)ny_gram_meter_rows(t->plan->m);

    return ny_price_rows(&t->price, rows) + ny_price_tile(&t->price, rows * t->m) +
           rows * t->m * columns * (1 / t->price.rate->gemm32 + 1 / t->price.rate->gemm64) +
           t->m * t->m * t->m / 3 / t->price.rate->gemm64;
}

/* The passes are all there may be, one a block; the seconds those that most fits need. */
static void time_krylov(const struct timing *t)
{
    const double usual = 0.6;
    struct ny_problem problem = ny_settings_problem(t->settings, t->plan->m);
    double columns = 2 * (double)ny_krylov_width(&problem, t->plan->m);
    unsigned steps = ny_krylov_steps(&problem, t->plan->m);
    struct ny_prices products = t->price; /* which are f64 */

    products.f64 = true;
    t->plan->passes += steps;
    t->plan->flops += steps * t->entries * 2 * (t->price.d + columns);
    t->plan->stage_s[NY_STAGE_ACCUMULATE] +=
        usual * steps * share(t, NY_STAGE_ACCUMULATE) *
        (ny_price_rows(&t->price, t->n) + ny_price_tile(&t->price, t->entries) +
         ny_price_map(&products, t->entries, columns));
}

/* The passes that sum up: stages degrees and accumulate. */
static void time_sums(const struct timing *t)
{
    const double degree_beats = 0.3;
    struct ny_plan *plan = t->plan;
    bool degrees = ny_settings_needs_degrees(t->settings);

    if (degrees) {
        plan->passes++;
        plan->flops += t->entries * 2 * t->price.d;
        plan->stage_s[NY_STAGE_DEGREES] =
            prepare_s(t) + ny_price_commit(&t->price, 0) +
            share(t, NY_STAGE_DEGREES) *
                (ny_price_rows(&t->price, t->n) + ny_price_tile(&t->price, t->entries) +
                 ny_price_beats(&t->price, degree_beats * t->entries));
    }
    if (!ny_settings_needs_gram(t->settings)) return;
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        (degrees ? 0 : prepare_s(t)) + ny_price_commit(&t->price, 4 * t->m * t->m);
    if (ny_settings_forms_gram(t->settings)) {
        plan->passes += !t->settings->online; /* else that of the selection */
        plan->flops += t->entries * (2 * t->price.d + t->m);
        plan->stage_s[NY_STAGE_ACCUMULATE] +=
            share(t, NY_STAGE_ACCUMULATE) *
            (ny_price_rows(&t->price, t->n) + ny_price_tile(&t->price, t->entries) +
             ny_price_gram(&t->price, plan->gram_f64, t->n, t->m));
        if (!plan->gram_f64) plan->stage_s[NY_STAGE_ACCUMULATE] += measure_s(t);
    }
    if (t->settings->method->krylov) time_krylov(t);
}

/* ---- solve, project, probe ------------------------------------------------------------------ */

static void time_solve(const struct timing *t)
{
    const struct ny_fit_settings *settings = t->settings;
    struct ny_problem problem = ny_settings_problem(settings, t->plan->m);
    size_t rank = ny_settings_rank(settings, t->plan->m), pairs = ny_settings_pairs(settings);
    /* One thread solves small problems. */
    double slower = t->plan->m > NY_BLAS_SERIAL_ORDER ? 1 : ny_price_threads(settings->threads);
    double small = settings->method->flops(t->plan->m, pairs, rank, &problem);
    bool gram = ny_settings_forms_gram(settings);
    bool whole = gram || settings->rule->all ||
                 (!settings->method->krylov && !ny_nystrom_randomized(&problem, t->plan->m, rank));
    /* Products dominate small problems; the reduction of large ones runs at the memory's pace. */
    double reduced = t->plan->m < 1500 ? 2 : 1.1;

    t->plan->flops += small;
    t->plan->stage_s[NY_STAGE_SOLVE] =
        ny_price_commit(&t->price, t->m * ((double)pairs * 8 + t->price.raw_bytes)) +
        (whole ? small / (reduced * t->plan->rates.eigen) : small * slower / t->plan->rates.gemm64);
    if (!ny_settings_needs_gram(settings)) t->plan->stage_s[NY_STAGE_SOLVE] += prepare_s(t);
}

static void time_project(const struct timing *t)
{
    double p = (double)ny_settings_pairs(t->settings);
    double out_bytes = t->n * p * (t->price.f64 ? 8 : 4);
    double gram_bytes = ny_settings_forms_gram(t->settings) ? 8 * t->m * t->m : 0;
    bool model_holds_rows = !t->settings->method->coordinates;
    bool measures = model_holds_rows && (t->settings->rule->by_tolerance || t->settings->certify);
    bool averages = t->settings->probes && ny_settings_probe_averages(t->settings);

    t->plan->passes++;
    t->plan->flops += 2 * t->entries * (t->price.d + p);
    t->plan->stage_s[NY_STAGE_PROJECT] =
        share(t, NY_STAGE_PROJECT) *
            (ny_price_rows(&t->price, t->n) + ny_price_tile(&t->price, t->entries) +
             ny_price_map(&t->price, t->entries, p)) +
        ny_price_commit(&t->price, out_bytes);
    out_bytes += t->m * p * 8 + (model_holds_rows ? t->m * t->price.raw_bytes : 0) +
                 (measures ? 4 * t->n : 0) + (averages ? 8 * t->n : 0);
    t->plan->result_bytes = (uint64_t)(out_bytes + gram_bytes / 2);
    t->plan->disk_bytes = (uint64_t)(out_bytes + gram_bytes);
}

/* Times exact values of some columns, and of K̃ besides them. Stored rows are read by chunks, of
 * each column and of each unit. */
static void time_probe(const struct timing *t)
{
    const double chunk_byte_beats = 1.2;
    struct ny_columns_spec spec = ny_settings_probe_spec(&t->footprint->spec);
    struct ny_prices price = ny_prices_of(&t->plan->rates, t->footprint->points, &spec, true);
    double r = (double)t->settings->probes, p = (double)ny_settings_pairs(t->settings);
    double chunk = fmin(NY_CHUNK_BYTES, t->n * p * (t->price.f64 ? 8 : 4)) +
                   (ny_settings_probe_averages(t->settings) ? fmin(NY_CHUNK_BYTES, 8 * t->n) : 0);
    double units = ceil(t->n / NY_UNIT_ROWS);

    if (!t->settings->probes) return;
    t->plan->passes++;
    t->plan->flops += 2 * t->n * r * (price.d + p);
    t->plan->stage_s[NY_STAGE_PROBE] =
        share(t, NY_STAGE_PROBE) * (ny_price_rows(&price, t->n) + ny_price_tile(&price, t->n * r) +
                                    ny_price_map(&price, t->n * r, p) +
                                    ny_price_beats(&price, units * chunk * chunk_byte_beats)) +
        ny_price_gather(&price, r, t->settings->threads) +
        ny_price_beats(&price, r * chunk * chunk_byte_beats) *
            ny_price_threads(t->settings->threads) +
        ny_price_commit(&price, 0);
}

/* ---- methods that work on all of K ---------------------------------------------------------- */

/* All products with K, and what follows from them. Tiles are those of whole units, and a tile on
 * the diagonal is computed whole; each reads its rows again. */
static void time_products(const struct timing *t)
{
    const struct ny_fit_settings *settings = t->settings;
    struct ny_plan *plan = t->plan;
    struct ny_products products = ny_products_of(settings, t->footprint->points->n);
    double n = t->n, r = (double)products.r;
    double width = (double)(ny_settings_pairs(settings) + settings->asymmetric);
    double small = settings->method->whole->flops(n, r, &settings->randomized) + 9 * r * r * r;
    double out_bytes = n * width * (t->price.f64 ? 8 : 4);
    double state = (double)ny_products_state_bytes(&products);
    double tiles = (double)products.tiles, rows = products.steps * tiles * NY_UNIT_ROWS;
    unsigned workers = ny_footprint_stage_workers(t->footprint, NY_STAGE_ACCUMULATE);
    double busy = fmin(tiles, ny_price_threads(workers ? workers : 1));

    if (n < NY_UNIT_ROWS) rows *= n / NY_UNIT_ROWS;
    plan->passes = products.steps;
    plan->flops = ny_products_flops(&products, t->price.d) + small + 2 * n * r * width;
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        ny_price_threads(settings->threads) / busy *
            (2 * ny_price_rows(&t->price, rows) +
             ny_price_tile(&t->price, ny_products_entries(&products)) +
             ny_price_map(&t->price, n * n, ny_products_columns(&products))) +
        products.steps * ny_price_commit(&t->price, 0) + ny_price_commit(&t->price, state);
    plan->stage_s[NY_STAGE_SOLVE] = small / plan->rates.gemm64 + ny_price_commit(&t->price, 0);
    plan->stage_s[NY_STAGE_PROJECT] =
        2 * n * r * width / plan->rates.gemm64 + ny_price_commit(&t->price, out_bytes);
    plan->result_bytes = (uint64_t)(out_bytes + state);
    plan->disk_bytes = (uint64_t)(out_bytes + 2 * state + r * width * 8);
}

/* ---- the whole ------------------------------------------------------------------------------ */

void ny_plan_time(const struct ny_footprint *footprint, const struct ny_look *look,
                  struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = footprint->settings;
    bool f64 = settings->precision == NY_PRECISION_F64;
    const struct timing t = {
        .footprint = footprint,
        .settings = settings,
        .look = look,
        .price = ny_prices_of(&plan->rates, footprint->points, &footprint->spec, f64),
        .n = (double)footprint->points->n,
        .m = (double)plan->m,
        .entries = (double)footprint->points->n * (double)plan->m,
        .plan = plan};

    time_stats(&t);
    if (settings->method->whole) {
        time_products(&t);
    } else {
        if (!settings->method->coordinates) time_select(&t);
        time_sums(&t);
        time_solve(&t);
        time_project(&t);
    }
    time_probe(&t);
    ny_plan_sum_up(plan);
}
