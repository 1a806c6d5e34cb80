/*
 * Laplacian eigenmaps (Belkin & Niyogi 2003) of a graph of neighbours: A = exp(−γ‖·‖²) on its
 * edges, or 1; the smallest eigenpairs of I − D^-½AD^-½, of which the first is trivial
 * (graph/chebyshev.h). And the diffusion map of such a graph: the same vectors, times the power t
 * of the eigenvalues 1 − λ of D^-½AD^-½; asymmetric: those of the walk D⁻¹A, D^-½u. Stages:
 *
 *   solve       the pairs
 *   project     their rows, as embedding; that of the trivial pair, too, so that it can be exported
 *
 * Parts of the NAME beside those of embed/graph_map.h:
 *
 *   eigenpairs.0/1  the solver's state, two slots in turn; gone when done
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/progress.h"
#include "embed/coordinates.h"
#include "embed/eigenmaps_private.h"
#include "embed/graph_maps.h"
#include "embed/signs.h"
#include "graph/chebyshev.h"

/* Of a surface, in which eigenvalues fall as 1/n. */
static double products_of(uint64_t n)
{
    return 20 + sqrt((double)n);
}

/* A run gives up after so many times that number; the next one goes on. */
static const double patience = 100;

struct eigenmaps {
    struct ny_graph_fit *fit;
    size_t pairs;
    struct ny_affinity affinity;
    struct ny_chebyshev solver;
};

/* ---- what both stages begin with ------------------------------------------------------------ */

static int check_size(const struct ny_graph_fit *fit, size_t pairs)
{
    if (pairs <= fit->edges.n) return NY_OK;
    return ny_fail(fit->job.ctx, NY_EUSAGE,
                   "--components %zu and the trivial one are more than the %u rows of the largest "
                   "component of the graph",
                   pairs - 1, fit->edges.n);
}

/* γ, in the report once it is known; 0: weights are 1. */
static int decide_width(struct ny_graph_fit *fit, double *gamma)
{
    struct ny_job *job = &fit->job;
    json_t *report = ny_job_report(job);
    int err = NY_OK;

    *gamma = 0;
    if (job->settings->edge_weights == NY_EDGES_BINARY) return NY_OK;
    *gamma = ny_field_number(report, "gamma", job->settings->params.gamma);
    if (json_is_number(json_object_get(report, "gamma"))) return NY_OK;
    if (job->settings->gamma_auto) err = ny_affinity_gamma(&fit->edges, gamma);
    if (err == NY_OK) ny_job_report_width(job, *gamma);
    return err;
}

static int load_state(const struct eigenmaps *map, void **image)
{
    struct ny_job *job = &map->fit->job;
    uint64_t products;
    size_t bytes;
    int err = ny_job_load_image(job, "eigenpairs", image, &bytes, &products);

    if (err || !*image || bytes == ny_chebyshev_state_bytes(map->fit->edges.n, map->pairs))
        return err;
    return ny_fail(job->ctx, NY_ESTORE,
                   "the checkpoint of '%s' is not of this graph; fit it again with --restart",
                   job->name);
}

static void warn_of_far_rows(const struct eigenmaps *map)
{
    const struct ny_affinity *affinity = &map->affinity;

    if (affinity->far && map->fit->job.stage == NY_STAGE_SOLVE)
        ny_log(affinity->ctx, NY_LOG_WARNING,
               "%llu rows, row %llu the first of them, are so far from all of their neighbours "
               "that the weights exp(-%g d^2) vanish: they are placed at 0; a smaller --gamma "
               "gives them a place, a --max-distance leaves them out",
               (unsigned long long)affinity->far, (unsigned long long)affinity->far_row,
               affinity->gamma);
}

static int open_map(struct eigenmaps *map, struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->job;
    void *image = NULL;
    double gamma;
    int err;

    *map = (struct eigenmaps){.fit = fit, .pairs = ny_settings_pairs(job->settings)};
    err = check_size(fit, map->pairs);
    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) err = ny_job_reserve_blas(job, map->pairs);
    if (err == NY_OK) err = decide_width(fit, &gamma);
    if (err == NY_OK) err = ny_affinity_new(&map->affinity, &fit->edges, gamma);
    if (err == NY_OK) err = load_state(map, &image);
    if (err) {
        ny_free(job->ctx, image);
        return err;
    }
    warn_of_far_rows(map);
    return ny_chebyshev_new(&map->solver, &map->affinity, map->pairs, job->settings->seed, image);
}

static void close_map(struct eigenmaps *map)
{
    ny_chebyshev_release(&map->solver);
    ny_affinity_release(&map->affinity);
}

/* ---- solve ---------------------------------------------------------------------------------- */

static int save(struct eigenmaps *map, enum ny_stage next)
{
    return ny_job_checkpoint_image(&map->fit->job, next, "eigenpairs", map->solver.state,
                                   ny_chebyshev_state_bytes(map->solver.n, map->pairs),
                                   (uint64_t)map->solver.at->products);
}

/* A product counts as a pass over the nodes. How many are to come is not known before residuals
 * have begun to fall. */
static void report_progress(const struct eigenmaps *map, struct ny_meter *meter)
{
    const struct ny_chebyshev *solver = &map->solver;
    double edges = (double)map->fit->edges.head[solver->n], columns = (double)solver->columns;
    double ahead = ny_chebyshev_ahead(solver);

    meter->rows_total =
        ahead < INFINITY ? meter->rows_done + (uint64_t)((1 + ahead) * (double)solver->n) : 0;
    ny_meter_add(meter, solver->n, 0, 2 * edges * columns);
}

static int give_up(struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->job;
    const struct ny_chebyshev *solver = &map->solver;
    int err = save(map, NY_STAGE_SOLVE);

    if (err) return err;
    ny_field_set_json(job->record, "goes_on", json_true());
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "after %.0f products the residuals of the eigenvectors are still %.3g times as "
                   "large as they may be, %.2g of the largest eigenvalue; the same command goes on "
                   "from here, and fewer --components or more --neighbors make it easier",
                   solver->at->products, ny_chebyshev_excess(solver), NY_CHEBYSHEV_RESIDUAL);
}

static int run_solver(struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->job;
    struct ny_chebyshev *solver = &map->solver;
    double end = solver->at->products + patience * products_of(solver->n), saved_s = ny_now();
    struct ny_meter meter;
    int late, err = NY_OK;

    ny_meter_start(&meter, job->ctx, ny_stage_name(job->stage), 0, 0);
    while (err == NY_OK && !ny_chebyshev_converged(solver)) {
        if (solver->at->products >= end) return give_up(map);
        err = ny_check_interrupt(job->ctx);
        if (err == NY_OK) {
            err = ny_chebyshev_step(solver);
            report_progress(map, &meter);
            if (err || ny_now() - saved_s < ny_context_checkpoint_s(job->ctx)) continue;
        }
        late = save(map, NY_STAGE_SOLVE);
        if (late) err = late;
        saved_s = ny_now();
    }
    if (err == NY_OK) ny_meter_finish(&meter);
    return err;
}

/* Over the nodes with the smallest hash. */
static int fix_signs(struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->job;
    struct ny_chebyshev *solver = &map->solver;
    struct ny_selection chosen = {0};
    double *at = NULL;
    int err = ny_signs_rows(job, &map->fit->edges, &chosen);

    if (err) goto done;
    at = ny_calloc(job->ctx, NY_MEM_SOLVE, chosen.m, map->pairs * sizeof(double));
    if (!at) err = NY_EBUDGET;
    if (err) goto done;
    for (size_t i = 0; i < chosen.m; i++)
        for (size_t k = 0; k < map->pairs; k++)
            at[i * map->pairs + k] =
                solver->x[map->fit->edges.node[chosen.rows[i]] * solver->stride + k];
    for (size_t k = 0; k < map->pairs; k++)
        if (ny_signs_negative(ny_matrix(at, chosen.m, map->pairs), k))
            for (size_t i = 0; i < solver->n; i++)
                solver->x[i * solver->stride + k] *= -1;
done:
    ny_free(job->ctx, at);
    ny_selection_release(&chosen, job->ctx);
    return err;
}

/* (1 − λ)^t of the coordinates; and ψ = D^-½u/c₀, where c₀ = 1/√(Σd) is the trivial vector. */
static int report_scale(const struct eigenmaps *map)
{
    const struct ny_job *job = &map->fit->job;
    struct ny_coordinates coordinates = {
        .pairs = map->pairs, .skip = 1, .asymmetric = job->settings->asymmetric};
    double *scale = NULL, volume = 0;

    if (job->settings->map->in_time) {
        scale = ny_calloc(job->ctx, NY_MEM_SOLVE, map->pairs, sizeof(double));
        if (!scale) return NY_EBUDGET;
    }
    for (size_t i = 0; i < map->solver.n; i++)
        volume += map->affinity.degree[i];
    for (size_t k = 0; k + 1 < map->pairs && scale; k++) {
        scale[k] = pow(1 - map->solver.value[k + 1], job->settings->time);
        if (job->settings->asymmetric) scale[k] *= sqrt(volume);
    }
    coordinates.scale = scale;
    ny_field_set_json(job->record, "coordinates", ny_coordinates_json(&coordinates));
    ny_free(job->ctx, scale);
    return NY_OK;
}

static void report_pairs(const struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->job;
    json_t *report = ny_job_report(job), *values = json_array(), *residuals = json_array();

    for (size_t k = 0; k < map->pairs; k++) {
        double value = fmax(map->solver.value[k], 0);

        ny_field_append(values, json_real(job->settings->map->in_time ? 1 - value : value));
        ny_field_append(residuals, json_real(map->solver.residual[k]));
    }
    ny_field_set_json(report, "eigenvalues", values);
    ny_field_set_json(report, "eigenvector_residuals", residuals);
    ny_field_set_count(report, "products", (uint64_t)map->solver.at->products);
}

/* Powers of a negative number. */
static int check_time(const struct eigenmaps *map)
{
    const struct ny_job *job = &map->fit->job;
    double last = 1 - map->solver.value[map->pairs - 1];

    if (!job->settings->map->in_time || !isnan(pow(last, job->settings->time))) return NY_OK;
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "the last eigenvalue of the walk is %.3g, and has no power --time %g; give a "
                   "whole --time, or fewer --components",
                   last, job->settings->time);
}

static int solve(struct ny_graph_fit *fit)
{
    struct eigenmaps map;
    int err = open_map(&map, fit);

    if (err == NY_OK) err = run_solver(&map);
    if (err == NY_OK) err = check_time(&map);
    if (err == NY_OK) err = fix_signs(&map);
    if (err == NY_OK) err = report_scale(&map);
    if (err == NY_OK) {
        report_pairs(&map);
        err = save(&map, NY_STAGE_PROJECT);
    }
    close_map(&map);
    return err;
}

/* ---- project -------------------------------------------------------------------------------- */

static int finish(struct ny_job *job)
{
    struct ny_batch *batch;
    int err;

    ny_job_report_resources(job);
    ny_job_mark_time(job);
    json_object_clear(ny_job_checkpoint(job));
    err = ny_batch_begin(&batch, job->store);
    if (err) return err;
    err = ny_job_delete_part(job, batch, "eigenpairs.0");
    if (err == NY_OK) err = ny_job_delete_part(job, batch, "eigenpairs.1");
    if (err) {
        ny_batch_abort(batch);
        return err;
    }
    return ny_job_commit(job, batch, NY_STAGE_DONE);
}

/* Rows of Û, and 1/√d_i behind them where coordinates are those of the walk. */
static int embed(struct eigenmaps *map)
{
    const struct ny_chebyshev *solver = &map->solver;
    struct ny_job *job = &map->fit->job;
    struct ny_matrix U = {solver->x, solver->n, map->pairs, solver->stride, false};
    struct ny_matrix wide;
    int err;

    if (!job->settings->asymmetric) return ny_graph_embed(map->fit, U);
    wide = ny_matrix(ny_calloc(job->ctx, NY_MEM_SOLVE, U.rows, (U.cols + 1) * sizeof(double)),
                     U.rows, U.cols + 1);
    if (!wide.at) return NY_EBUDGET;
    for (size_t i = 0; i < U.rows; i++) {
        memcpy(wide.at + i * wide.stride, U.at + i * U.stride, U.cols * sizeof(double));
        wide.at[i * wide.stride + U.cols] = sqrt(map->affinity.inverse[i]);
    }
    err = ny_graph_embed(map->fit, wide);
    ny_free(job->ctx, wide.at);
    return err;
}

static int project(struct ny_graph_fit *fit)
{
    struct eigenmaps map;
    int err = open_map(&map, fit);

    if (err == NY_OK) err = embed(&map);
    if (err == NY_OK) err = finish(&fit->job);
    close_map(&map);
    return err;
}

static int stage(struct ny_graph_fit *fit)
{
    return fit->job.stage == NY_STAGE_SOLVE ? solve(fit) : project(fit);
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void bill(const struct ny_graph_shape *shape, enum ny_stage stage, unsigned workers,
                 size_t limit, size_t by_purpose[NY_PURPOSES])
{
    size_t pairs = ny_settings_pairs(shape->settings);
    size_t state = ny_chebyshev_state_bytes(shape->nodes, pairs);
    size_t wide = shape->settings->asymmetric
                      ? (size_t)shape->nodes * (pairs + 1) * sizeof(double)
                      : 0;

    if (stage != NY_STAGE_SOLVE && stage != NY_STAGE_PROJECT) return;
    by_purpose[NY_MEM_PROCESS] += ny_blas_bytes(shape->settings->threads, workers, pairs);
    by_purpose[NY_MEM_DICTIONARY] += ny_affinity_bytes(shape->nodes, shape->edges);
    by_purpose[NY_MEM_SOLVE] +=
        stage == NY_STAGE_SOLVE
            ? ny_chebyshev_bytes(shape->nodes, shape->edges, pairs, shape->settings->threads) +
                  NY_SIGN_ROWS * (pairs + 3) * sizeof(double)
            : state + wide;
    by_purpose[NY_MEM_STORE] += stage == NY_STAGE_SOLVE ? ny_graph_put_bytes(limit, state)
                                                        : ny_graph_embed_bytes(shape, limit);
}

/* A product goes at the speed of memory. */
static void work(const struct ny_graph_shape *shape, struct ny_plan *plan)
{
    const double flops_per_s = 1e10; /* of a thread, measured */
    size_t pairs = ny_settings_pairs(shape->settings);
    double flops = products_of(shape->nodes) * 4 * (double)shape->edges * 1.5 * (double)pairs;

    plan->flops += flops;
    plan->stage_s[NY_STAGE_SOLVE] += flops / (flops_per_s * shape->settings->threads);
    plan->disk_bytes += 2 * ny_chebyshev_state_bytes(shape->nodes, pairs);
}

const struct ny_graph_map ny_graph_map_eigenmaps = {
    .options = "kernel|gamma|sigma|epsilon|normalize|time",
    .first = NY_STAGE_SOLVE,
    .stage = stage,
    .transform = ny_eigenmaps_transform,
    .bill = bill,
    .work = work,
};
