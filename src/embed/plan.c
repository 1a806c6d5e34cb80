#include "embed/plan.h"

#include <math.h>
#include <string.h>

#include "embed/embedding.h"
#include "embed/given_columns.h"
#include "embed/graph_map.h"
#include "embed/products.h"
#include "spectral/krylov.h"

/* m of the plan: what was asked for, or for greedy what a sample says. */
static int decide_landmarks(struct ny_store *store, const struct ny_fit_settings *settings,
                            const struct ny_points_info *points, struct ny_columns_spec spec,
                            struct ny_plan *plan)
{
    enum { SAMPLE_ROWS = 20000 };
    struct ny_context *ctx = ny_store_context(store);
    struct ny_selection_request request = {.ctx = ctx,
                                           .store = store,
                                           .n = points->n,
                                           .spec = &spec,
                                           .seed = settings->seed,
                                           .landmarks = settings->landmarks,
                                           .dictionary = settings->dictionary,
                                           .workers = 1};
    int err = NY_OK;

    if (settings->method->whole) {
        plan->whole = true;
        plan->m = ny_products_of(settings, points->n).order;
        return NY_OK;
    }
    plan->m = settings->landmarks;
    if (settings->method->coordinates) return NY_OK;
    if (plan->m > points->n) plan->m = (size_t)points->n;
    if (!settings->rule->by_tolerance || isnan(settings->dictionary.tolerance)) return NY_OK;
    if (settings->gamma_auto)
        err = ny_columns_auto_gamma(&spec, store, ny_settings_frozen_rows(settings, points),
                                    settings->seed, &spec.params.gamma);
    if (err == NY_OK) err = ny_greedy_estimate(&request, SAMPLE_ROWS, &plan->m);
    plan->m_estimated = true;
    if (plan->m > settings->landmarks) plan->m = settings->landmarks;
    return err;
}

/* Seconds of pieces of the work, with all threads. */
struct prices {
    const struct ny_calibration *rate;
    enum ny_way way;
    bool f64, exponential;
    double d;
};

static struct prices prices_of(const struct ny_calibration *rate,
                               const struct ny_fit_settings *settings,
                               const struct ny_columns_spec *spec)
{
    return (struct prices){.rate = rate,
                           .way = ny_way_of(spec),
                           .f64 = settings->precision == NY_PRECISION_F64,
                           .exponential = spec->kernel->can_minus_one,
                           .d = ny_entry_products(spec)};
}

/* The products of so many entries of C. */
static double product_s(const struct prices *price, double entries)
{
    return 2 * entries * price->d / ny_calibration_tile(price->rate, price->way, price->f64);
}

static double tile_s(const struct prices *price, double entries)
{
    double exponentials = price->f64 ? price->rate->exp64 : price->rate->exp32;

    return product_s(price, entries) + (price->exponential ? entries / exponentials : 0);
}

static double gram_s(const struct prices *price, bool f64, double n, double m)
{
    return n * m * m / (f64 ? price->rate->gram64 : price->rate->gram32);
}

static double map_s(const struct prices *price, double entries, double p)
{
    return 2 * entries * p / (price->f64 ? price->rate->gemm64 : price->rate->gemm32);
}

/* W: half of it is computed, in f64. */
static double square_s(const struct prices *price, double m)
{
    return m * m * price->d / price->rate->gemm64 + m * m / 2 / price->rate->exp64;
}

/* A pass takes longer where the budget leaves threads out of it. */
static double slowdown(const struct ny_footprint *footprint, enum ny_stage stage)
{
    unsigned workers = ny_footprint_stage_workers(footprint, stage);

    return (double)footprint->settings->threads / (workers ? workers : 1);
}

/* A kernel block and a substitution a row, most of them left early: 40 % of the work is left, as
 * measured on images. Without a tolerance: a dozen runs, most of which skip nearly all rows. */
static void plan_greedy(const struct ny_fit_settings *settings, const struct prices *price,
                        double entries, struct ny_plan *plan)
{
    bool searches = isnan(settings->dictionary.tolerance);
    double runs = !searches ? 1 : settings->pilot ? 2.5 : 5, m = (double)plan->m;

    plan->passes += searches ? 12 : 1;
    plan->flops += runs * entries * (2 * price->d + 0.4 * m);
    plan->stage_s[NY_STAGE_SELECT] =
        runs * (tile_s(price, entries) + entries * 0.4 * m / price->rate->gemm32);
}

static double selection_flops(const struct ny_footprint *footprint, size_t m)
{
    const struct ny_selection_request request = {
        .n = footprint->points->n,
        .spec = &footprint->spec,
        .diagonal = ny_settings_diagonal(footprint->settings)};

    return footprint->settings->rule->flops(&request, m);
}

/* Exact values of all columns, and a substitution a row. */
static void plan_certify(const struct prices *price, double entries, struct ny_plan *plan)
{
    struct prices exact = *price;
    double m = (double)plan->m;

    exact.f64 = true;
    plan->passes++;
    plan->flops += entries * (2 * price->d + m);
    plan->stage_s[NY_STAGE_SELECT] +=
        tile_s(&exact, entries) + entries * m / price->rate->gemm64;
}

/* Exact values of some columns, and of K̃ beside them. */
static void plan_probe(const struct ny_footprint *footprint, struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = footprint->settings;
    struct ny_columns_spec spec = ny_settings_probe_spec(&footprint->spec);
    struct prices price = prices_of(&plan->rates, settings, &spec);
    double entries = (double)footprint->points->n * (double)settings->probes;
    double p = (double)ny_settings_pairs(settings);

    if (!settings->probes) return;
    price.f64 = true;
    plan->passes++;
    plan->flops += 2 * entries * (price.d + p);
    plan->stage_s[NY_STAGE_PROBE] =
        (tile_s(&price, entries) + map_s(&price, entries, p)) *
        slowdown(footprint, NY_STAGE_PROBE);
    plan->seconds += plan->stage_s[NY_STAGE_PROBE];
}

/* Of all products with K; of what follows from them. */
static void plan_products(const struct ny_footprint *footprint, struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = footprint->settings;
    const struct ny_calibration *rate = &plan->rates;
    struct prices price = prices_of(rate, settings, &footprint->spec);
    struct ny_products products = ny_products_of(settings, footprint->points->n);
    double n = (double)footprint->points->n, r = (double)products.r;
    double width = (double)(ny_settings_pairs(settings) + settings->asymmetric);
    double small = settings->method->whole->flops(n, r, &settings->randomized) + 9 * r * r * r;
    double out_bytes = n * width * (price.f64 ? 8 : 4);
    double state = (double)ny_products_state_bytes(&products);

    plan->passes = products.steps;
    plan->flops = ny_products_flops(&products, ny_entry_products(&footprint->spec)) + small +
                  2 * n * r * width;
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        slowdown(footprint, NY_STAGE_ACCUMULATE) *
            (tile_s(&price, ny_products_entries(&products)) +
             map_s(&price, n * n, ny_products_columns(&products))) +
        state / rate->disk_write;
    plan->stage_s[NY_STAGE_SOLVE] = small / rate->gemm64;
    plan->stage_s[NY_STAGE_PROJECT] =
        2 * n * r * width / rate->gemm64 + out_bytes / rate->disk_write;
    plan->result_bytes = (uint64_t)out_bytes;
    plan->disk_bytes = (uint64_t)(out_bytes + 2 * state + r * width * 8);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        plan->seconds += plan->stage_s[stage];
}

/* All passes there may be, one a block; most fits need fewer. */
static void plan_krylov(const struct ny_footprint *footprint, const struct prices *price,
                        struct ny_plan *plan)
{
    struct ny_problem problem = ny_settings_problem(footprint->settings, plan->m);
    double m = (double)plan->m, entries = (double)footprint->points->n * m;
    double columns = 2 * (double)ny_krylov_width(&problem, plan->m);
    unsigned steps = ny_krylov_steps(&problem, plan->m);

    plan->passes += steps;
    plan->flops += steps * entries * 2 * (price->d + columns);
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        square_s(price, m) + steps * (tile_s(price, entries) + map_s(price, entries, columns)) *
                                 slowdown(footprint, NY_STAGE_ACCUMULATE);
}

static void plan_select(const struct ny_footprint *footprint, const struct prices *price,
                        double entries, struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = footprint->settings;
    const struct ny_calibration *rate = &plan->rates;

    if (settings->rule->by_tolerance) {
        plan_greedy(settings, price, entries, plan);
    } else if (settings->rule->flops) {
        double work = selection_flops(footprint, plan->m);

        plan->passes++;
        plan->flops += work;
        plan->stage_s[NY_STAGE_SELECT] =
            work / (settings->rule->in_f64 ? rate->gemm64 : rate->gemm32);
    }
    if (settings->certify) plan_certify(price, entries, plan);
}

/* The passes that sum up: stages degrees and accumulate. */
static void plan_sums(const struct ny_footprint *footprint, const struct prices *price,
                      double entries, struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = footprint->settings;
    double n = (double)footprint->points->n, m = (double)plan->m;
    bool gram_f64 = ny_settings_gram_f64(settings);

    if (ny_settings_needs_degrees(settings)) {
        plan->passes++;
        plan->flops += entries * 2 * price->d;
        plan->stage_s[NY_STAGE_DEGREES] =
            square_s(price, m) + tile_s(price, entries) * slowdown(footprint, NY_STAGE_DEGREES);
    }
    if (ny_settings_forms_gram(settings)) {
        plan->passes += !settings->online; /* else that of the selection */
        plan->flops += entries * (2 * price->d + m);
        plan->stage_s[NY_STAGE_ACCUMULATE] =
            square_s(price, m) + (tile_s(price, entries) + gram_s(price, gram_f64, n, m)) *
                                     slowdown(footprint, NY_STAGE_ACCUMULATE);
    }
    if (settings->method->krylov) plan_krylov(footprint, price, plan);
}

static void plan_solve(const struct ny_fit_settings *settings, const struct prices *price,
                       struct ny_plan *plan)
{
    struct ny_problem problem = ny_settings_problem(settings, plan->m);
    size_t rank = ny_settings_rank(settings, plan->m);
    /* One thread solves small problems. */
    double slower = plan->m > NY_BLAS_SERIAL_ORDER ? 1 : (double)settings->threads;
    double small = settings->method->flops(plan->m, ny_settings_pairs(settings), rank, &problem);
    bool gram = ny_settings_forms_gram(settings);

    plan->flops += small;
    plan->stage_s[NY_STAGE_SOLVE] = gram || settings->inner == NY_INNER_EXACT
                                        ? small / (3 * plan->rates.eigen)
                                        : small * slower / plan->rates.gemm64;
    if (!gram) plan->stage_s[NY_STAGE_SOLVE] += square_s(price, (double)plan->m);
}

static void plan_project(const struct ny_footprint *footprint, const struct prices *price,
                         double entries, struct ny_plan *plan)
{
    const double narrow = 16; /* reading C takes as long as a product with so many columns */
    double p = (double)ny_settings_pairs(footprint->settings), m = (double)plan->m;
    double out_bytes = (double)footprint->points->n * p * (price->f64 ? 8 : 4);
    double gram_bytes = ny_settings_forms_gram(footprint->settings) ? 8 * m * m : 0;

    plan->passes++;
    plan->flops += 2 * entries * (price->d + p);
    plan->stage_s[NY_STAGE_PROJECT] =
        (tile_s(price, entries) + map_s(price, entries, p < narrow ? narrow : p)) *
            slowdown(footprint, NY_STAGE_PROJECT) +
        out_bytes / plan->rates.disk_write;
    plan->result_bytes = (uint64_t)out_bytes;
    plan->disk_bytes = (uint64_t)(out_bytes + m * p * 8 + m * price->d * 8 + gram_bytes);
}

static void plan_time(const struct ny_footprint *footprint, struct ny_plan *plan)
{
    struct prices price = prices_of(&plan->rates, footprint->settings, &footprint->spec);
    double entries = (double)footprint->points->n * (double)plan->m;

    plan_select(footprint, &price, entries, plan);
    plan_sums(footprint, &price, entries, plan);
    plan_solve(footprint->settings, &price, plan);
    plan_project(footprint, &price, entries, plan);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        plan->seconds += plan->stage_s[stage];
}

/* An estimate may be too low: memory is planned for a quarter more. */
static size_t with_margin(size_t m, size_t cap, uint64_t n)
{
    size_t more = m + m / 4;

    if (more > cap) more = cap;
    return more < n ? more : (size_t)n;
}

static void plan_memory(const struct ny_footprint *footprint, struct ny_plan *plan)
{
    struct ny_context *ctx = footprint->ctx;

    plan->workers = ny_footprint_workers(footprint, footprint->settings->threads);
    plan->fits = plan->workers > 0;
    if (!plan->fits) plan->workers = 1;
    plan->memory_bytes =
        ny_footprint_peak(footprint, plan->workers, ny_memory_limit(ctx), plan->by_purpose);
    ny_footprint_stages(footprint, plan->workers, ny_memory_limit(ctx), plan->stage_bytes);
    plan->memory_min_bytes = ny_footprint_minimum(footprint);
}

/* Of tiles and their Gram, or of all of K and its products, about. */
static double rough_flops(const struct ny_footprint *footprint, size_t m)
{
    const struct ny_points_info *points = footprint->points;
    double n = (double)points->n, d = (double)points->d;

    if (footprint->settings->method->whole)
        return 2 * n * n * (d + (double)ny_settings_pairs(footprint->settings));
    return 2 * n * (double)m * (d + (double)m);
}

int ny_plan_make(struct ny_store *store, const struct ny_fit_settings *settings, size_t m,
                 struct ny_plan *plan)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_footprint footprint = {.ctx = ctx, .settings = settings, .gram = NY_GRAM_F64};
    struct ny_geometry *geometry = NULL;
    struct ny_points_info points;
    int err;

    *plan = (struct ny_plan){0};
    if (settings->map->graph) return ny_graph_fit_plan(store, settings, plan);
    err = ny_points_info(store, &points);
    if (err) goto done;
    if (points.n == 0) {
        err = ny_fail(ctx, NY_EDATA, "%s holds no points; import some first with 'nystream import'",
                      ny_store_path(store));
        goto done;
    }
    err = ny_given_columns_shape(ctx, settings, &points);
    if (err) goto done;
    err = ny_settings_geometry(&geometry, store, settings, (size_t)points.d);
    if (err) goto done;
    footprint.points = &points;
    footprint.spec = ny_settings_spec(settings, ctx, &points, geometry);
    plan->m = m;
    if (!m) err = decide_landmarks(store, settings, &points, footprint.spec, plan);
    if (err) goto done;
    footprint.m = plan->m_estimated ? with_margin(plan->m, settings->landmarks, points.n) : plan->m;
    plan_memory(&footprint, plan);
    err = ny_calibration_get(ctx, rough_flops(&footprint, plan->m), &plan->rates);
    if (err) goto done;
    if (settings->method->whole)
        plan_products(&footprint, plan);
    else
        plan_time(&footprint, plan);
    plan_probe(&footprint, plan);
done:
    ny_geometry_free(geometry, ctx);
    return err;
}

json_t *ny_plan_json(const struct ny_plan *plan)
{
    json_t *json = json_object(), *memory = json_object(), *stages = json_object();
    json_t *bytes = json_object();

    ny_field_set_json(json, "fits", json_boolean(plan->fits));
    ny_field_set_count(json, "memory_min_bytes", plan->memory_min_bytes);
    for (int p = 0; p < NY_PURPOSES; p++)
        ny_field_set_count(memory, ny_purpose_name((enum ny_purpose)p), plan->by_purpose[p]);
    ny_field_set_json(json, "memory_bytes", memory);
    ny_field_set_count(json, "disk_bytes", plan->disk_bytes);
    ny_field_set_number(json, "flops", plan->flops);
    ny_field_set_count(json, "passes", plan->passes);
    ny_field_set_number(json, "seconds", plan->seconds);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        const char *name = ny_stage_name((enum ny_stage)stage);

        ny_field_set_number(stages, name, plan->stage_s[stage]);
        ny_field_set_count(bytes, name, plan->stage_bytes[stage]);
    }
    ny_field_set_json(json, "stages", stages);
    ny_field_set_json(json, "stage_memory_bytes", bytes);
    if (plan->whole)
        ny_field_set_json(json, "landmarks", json_null());
    else
        ny_field_set_count(json, "landmarks", plan->m);
    ny_field_set_json(json, "landmarks_estimated", json_boolean(plan->m_estimated));
    ny_field_set_count(json, "workers", plan->workers);
    ny_field_set_json(json, "rates", ny_calibration_json(&plan->rates));
    return json;
}

double ny_plan_gemm_ratio(const struct ny_calibration *calibration, const struct ny_job *job)
{
    static const char *const passes[] = {"degrees", "accumulate", "project"};
    const json_t *report = ny_job_report(job), *stages = json_object_get(report, "stages");
    const char *gram = ny_field_text(report, "gram_precision");
    const struct ny_fit_settings *settings = job->settings;
    struct ny_columns_spec spec = ny_job_spec(job);
    struct prices price = prices_of(calibration, settings, &spec);
    struct ny_problem problem = ny_settings_problem(settings, job->m);
    double n = (double)job->points.n, m = (double)job->m, wall_s = 0;
    double width = (double)ny_krylov_width(&problem, job->m);
    double ideal_s = product_s(&price, n * m) +
                     map_s(&price, n * m, (double)ny_settings_pairs(settings));

    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
        wall_s += ny_field_number(stages, passes[i], 0);
    if (ny_settings_needs_degrees(settings)) ideal_s += product_s(&price, n * m);
    if (settings->method->krylov)
        ideal_s += ny_field_number(report, "inner_passes", 0) *
                   (product_s(&price, n * m) + map_s(&price, n * m, 2 * width));
    else if (gram)
        ideal_s += product_s(&price, n * m) + gram_s(&price, strcmp(gram, "f64") == 0, n, m);
    if (settings->method->whole) {
        struct ny_products products = ny_products_of(settings, job->points.n);

        ideal_s = product_s(&price, ny_products_entries(&products)) +
                  map_s(&price, n * n, ny_products_columns(&products));
    }
    /* Products of sparse rows are no GEMM. */
    return ideal_s > 0 && price.way != NY_WAY_SPARSE ? wall_s / ideal_s : NAN;
}

int ny_job_fit_workers(struct ny_job *job)
{
    struct ny_footprint footprint = {.ctx = job->ctx,
                                     .settings = job->settings,
                                     .points = &job->points,
                                     .m = job->m,
                                     .gram = job->gram,
                                     .blas_bytes = job->blas_bytes};
    unsigned workers;
    int err = ny_job_load_frozen(job);

    if (err) return err;
    footprint.spec = ny_job_spec(job);
    workers = ny_footprint_stage_workers(&footprint, job->stage);
    if (!workers)
        return ny_fail(job->ctx, NY_EBUDGET,
                       "this fit needs a budget of %zu bytes (%.1f MiB), and it is %.1f MiB; "
                       "give --memory %zuM or fewer %s",
                       ny_footprint_minimum(&footprint),
                       (double)ny_footprint_minimum(&footprint) / 1048576.0,
                       (double)ny_memory_limit(job->ctx) / 1048576.0,
                       (ny_footprint_minimum(&footprint) >> 20) + 1,
                       job->settings->method->whole ? "components" : "landmarks");
    job->workers = workers;
    if (job->stage == NY_STAGE_ACCUMULATE && !ny_footprint_keeps_square(&footprint, workers)) {
        ny_free(job->ctx, job->W.at);
        job->W.at = NULL;
    }
    return ny_job_reserve_blas(job, job->m);
}
