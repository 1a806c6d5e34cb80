/*
 * Laplacian eigenmaps (Belkin & Niyogi 2003) of a graph of neighbours, as Talwalkar, Kumar & Rowley
 * 2008 have them in section 2.2 (their W is A, their σ² 1/γ): A = exp(−γ‖·‖²) on its edges, or 1;
 * Y = U of the smallest eigenpairs of L = I − D^-½AD^-½ (eq. 2), of which the first is trivial
 * (graph/lobpcg.h). The diffusion map of such a graph (Homrighausen & McDonald 2011, eqs. 1 to 3, ε
 * = 1/γ) takes the same vectors, of D^-½AD^-½ = I − L (eq. 2), times the power t of its eigenvalues
 * 1 − λ; asymmetric: those of the walk D⁻¹A (eq. 3), D^-½u. Stages:
 *
 *   solve       the pairs
 *   project     their rows, as embedding; that of the trivial pair, too, so that it can be exported
 *
 * Parts of the NAME beside those of maps/graph_map.h:
 *
 *   eigenpairs.0/1  the solver's state, two slots in turn; gone when done
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/progress.h"
#include "model/coordinates.h"
#include "maps/graph_place.h"
#include "maps/graph_map.h"
#include "fit/signs.h"
#include "graph/lobpcg.h"

/* Most graphs take some ten steps. With more values of 0 to rounding than the block holds, one took
 * 300 from one start. */
enum { PATIENCE = 500 };

struct eigenmaps {
    struct ny_graph_fit *fit;
    size_t pairs;
    struct ny_affinity affinity;
    struct ny_lobpcg solver;
};

/* ---- what both stages begin with ------------------------------------------------------------ */

static int check_size(const struct ny_graph_fit *fit, size_t pairs)
{
    if (pairs <= fit->edges.n) return NY_OK;
    return ny_fail_most(fit->base.job.ctx, "components", pairs - 1, fit->edges.n, "rows");
}

/* γ, in the report once it is known; 0: weights are 1, or affinities that the edges have. */
static int decide_width(struct ny_graph_fit *fit, double *gamma)
{
    struct ny_job *job = &fit->base.job;
    int err = NY_OK;

    *gamma = 0;
    if (fit->base.settings->edge_weights == NY_EDGES_BINARY) fit->edges.affinities = false;
    if (fit->base.settings->edge_weights == NY_EDGES_BINARY || fit->edges.affinities) return NY_OK;
    *gamma = job->state.report.gamma;
    if (!isnan(*gamma)) return NY_OK;
    *gamma = fit->base.settings->params.gamma;
    if (fit->base.settings->gamma_auto) err = ny_affinity_gamma(&fit->edges, gamma);
    if (err == NY_OK) ny_fit_report_width(&fit->base, *gamma);
    return err;
}

/* Loads the stage's image of so many bytes; NULL: there is none yet. Its units are products. */
static int load_image(const struct eigenmaps *map, size_t bytes, double **image)
{
    struct ny_image_shape shape = {bytes, UINT64_MAX};
    void *loaded;
    uint64_t products;
    int err = ny_job_load_image(&map->fit->base.job, "eigenpairs", &shape, &loaded, &products);

    *image = loaded;
    return err;
}

static void warn_of_far_rows(const struct eigenmaps *map)
{
    const struct ny_affinity *affinity = &map->affinity;

    if (affinity->far && map->fit->base.job.stage == NY_STAGE_SOLVE)
        ny_log(affinity->ctx, NY_LOG_WARNING,
               "%llu rows, row %llu the first of them, are so far from all of their neighbours "
               "that the weights exp(-%g d^2) vanish: they are placed at 0; a smaller --gamma "
               "gives them a place, a --max-distance leaves them out",
               (unsigned long long)affinity->far, (unsigned long long)affinity->far_row,
               affinity->gamma);
}

/* Decides γ and weighs the edges, which both stages need. */
static int open_map(struct eigenmaps *map, struct ny_graph_fit *fit)
{
    double gamma;
    int err;

    *map = (struct eigenmaps){.fit = fit, .pairs = ny_settings_pairs(fit->base.settings)};
    err = check_size(fit, map->pairs);
    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) err = decide_width(fit, &gamma);
    if (err == NY_OK) err = ny_affinity_new(&map->affinity, &fit->edges, gamma);
    if (err == NY_OK) warn_of_far_rows(map);
    return err;
}

static int open_solver(struct eigenmaps *map)
{
    double *image = NULL;
    int err = ny_fit_reserve_blas(&map->fit->base, map->pairs);

    if (err == NY_OK)
        err = load_image(map, ny_lobpcg_state_bytes(map->fit->edges.n, map->pairs), &image);
    if (err) return err;
    return ny_lobpcg_new(&map->solver, &map->affinity, map->pairs, map->fit->base.settings->seed,
                         image);
}

static void close_map(struct eigenmaps *map)
{
    ny_lobpcg_release(&map->solver);
    ny_affinity_release(&map->affinity);
}

/* ---- solve ---------------------------------------------------------------------------------- */

/* Saves the state of the solver. Units done are counted in products with the graph. */
static int save(struct eigenmaps *map)
{
    return ny_job_checkpoint_image(
        &map->fit->base.job, NY_STAGE_SOLVE, "eigenpairs", map->solver.state,
        ny_lobpcg_state_bytes(map->solver.n, map->pairs), ny_lobpcg_products(&map->solver));
}

/* A product counts as a pass over the nodes. How many are to come is not known before residuals
 * have begun to fall. */
static void report_progress(const struct eigenmaps *map, struct ny_meter *meter)
{
    const struct ny_lobpcg *solver = &map->solver;
    uint64_t rows = (uint64_t)NY_LOBPCG_STEP_PRODUCTS * solver->n;
    double edges = (double)map->fit->edges.head[solver->n], columns = (double)solver->columns;
    double ahead = ny_lobpcg_ahead(solver);

    meter->rows_total = ahead < INFINITY ? meter->rows_done + (uint64_t)(1 + ahead) * rows : 0;
    ny_meter_add(meter, rows, 0, 3 * NY_LOBPCG_STEP_PRODUCTS * edges * columns);
}

/* Fails after PATIENCE steps, since more would hardly help. */
static int give_up(const struct eigenmaps *map)
{
    return ny_fail(
        map->fit->base.job.ctx, NY_ENUMERIC,
        "after %.0f steps the residuals of the eigenvectors are still %.3g times as large as "
        "allowed; fewer --components, more --neighbors or a smaller --gamma make it easier",
        map->solver.at->steps, ny_lobpcg_excess(&map->solver));
}

static int run_solver(struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_lobpcg *solver = &map->solver;
    double saved_s = ny_now();
    struct ny_meter meter;
    int err = NY_OK;

    ny_meter_start(&meter, job->ctx, ny_stage_name(job->stage), 0, 0);
    while (err == NY_OK && !ny_lobpcg_converged(solver)) {
        if (solver->at->steps >= PATIENCE) return give_up(map);
        err = ny_lobpcg_step(solver);
        report_progress(map, &meter);
        if (err == NY_OK && ny_now() - saved_s < ny_context_checkpoint_s(job->ctx)) continue;
        if (err == NY_OK || ny_is_interrupt(err)) {
            int late = save(map);

            if (late) err = late;
        }
        saved_s = ny_now();
    }
    if (err == NY_OK) ny_meter_finish(&meter);
    return err;
}

/* The vectors u = D^½z, n × pairs, in place of z. */
static struct ny_matrix to_vectors(struct eigenmaps *map)
{
    const struct ny_lobpcg *solver = &map->solver;
    struct ny_matrix U = ny_matrix(solver->x, solver->n, map->pairs);

    for (size_t i = 0; i < solver->n; i++)
        for (size_t k = 0; k < map->pairs; k++)
            U.at[i * map->pairs + k] =
                sqrt(map->affinity.degree[i]) * solver->x[i * solver->stride + k];
    return U;
}

/* Fixes the signs over the nodes with the smallest hash. */
static int fix_signs(struct eigenmaps *map, struct ny_matrix U)
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_selection chosen = {0};
    double *at = NULL;
    int err = ny_signs_rows(&map->fit->base, &map->fit->edges, &chosen);

    if (err) goto done;
    at = ny_calloc(job->ctx, NY_MEM_SOLVE, chosen.m, U.cols * sizeof(double));
    if (!at) err = NY_EBUDGET;
    if (err) goto done;
    for (size_t i = 0; i < chosen.m; i++)
        memcpy(at + i * U.cols, U.at + map->fit->edges.node[chosen.rows[i]] * U.cols,
               U.cols * sizeof(double));
    for (size_t k = 0; k < U.cols; k++)
        if (ny_signs_negative(ny_matrix(at, chosen.m, U.cols), k))
            for (size_t i = 0; i < U.rows; i++)
                U.at[i * U.cols + k] *= -1;
done:
    ny_free(job->ctx, at);
    ny_selection_release(&chosen, job->ctx);
    return err;
}

/* (1 − λ)^t of the coordinates; and ψ = D^-½u/c₀, where c₀ = 1/√(Σd) is the trivial vector. */
static int report_scale(const struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_coordinates coordinates = {
        .pairs = map->pairs, .skip = 1, .asymmetric = map->fit->base.settings->asymmetric};
    double *scale = NULL, volume = 0;

    if (map->fit->base.settings->map->in_time) {
        scale = ny_calloc(job->ctx, NY_MEM_SOLVE, map->pairs, sizeof(double));
        if (!scale) return NY_EBUDGET;
    }
    for (size_t i = 0; i < map->solver.n; i++)
        volume += map->affinity.degree[i];
    for (size_t k = 0; k + 1 < map->pairs && scale; k++) {
        scale[k] = pow(1 - map->solver.value[k + 1], map->fit->base.settings->time);
        if (map->fit->base.settings->asymmetric) scale[k] *= sqrt(volume);
    }
    coordinates.scale = scale;
    ny_coordinates_put(&coordinates, job->record, &job->state);
    ny_free(job->ctx, scale);
    return NY_OK;
}

static void report_pairs(const struct eigenmaps *map)
{
    struct ny_job *job = &map->fit->base.job;

    job->record.ops->begin_list(job->record, NY_LIST_EIGENVALUES);
    job->record.ops->begin_list(job->record, NY_LIST_RESIDUALS);
    for (size_t k = 0; k < map->pairs; k++) {
        double value = fmax(map->solver.value[k], 0);

        job->record.ops->append(job->record, NY_LIST_EIGENVALUES,
                                map->fit->base.settings->map->in_time ? 1 - value : value);
        job->record.ops->append(job->record, NY_LIST_RESIDUALS, map->solver.residual[k]);
    }
    job->state.report.products = ny_lobpcg_products(&map->solver);
}

/* Zeros are as many as groups of nodes, less one, that only vanishing weights tie together. */
static void warn_of_groups(const struct eigenmaps *map)
{
    size_t zeros = 0;

    for (size_t k = 1; k < map->pairs; k++)
        zeros += map->solver.value[k] < NY_LOBPCG_ROUNDING;
    if (zeros)
        ny_log(map->fit->base.job.ctx, NY_LOG_WARNING,
               "%zu of the %zu eigenvalues are 0 to rounding: weights that vanish cut groups of "
               "rows off from the rest, and these eigenvectors tell only the groups apart, not the "
               "rows within them; give --edge-weights binary or a smaller --gamma",
               zeros, map->pairs - 1);
}

/* Powers of a negative number. */
static int check_time(const struct eigenmaps *map)
{
    const struct ny_job *job = &map->fit->base.job;
    double last = 1 - map->solver.value[map->pairs - 1];

    if (!map->fit->base.settings->map->in_time || !isnan(pow(last, map->fit->base.settings->time)))
        return NY_OK;
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "the last eigenvalue of the walk is %.3g, which cannot be raised to the power "
                   "--time %g; give a whole --time, or fewer --components",
                   last, map->fit->base.settings->time);
}

/* Runs stage solve: finds the pairs and leaves U = D^½z, with its signs fixed, as the image that
 * stage project begins with. */
static int solve(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct eigenmaps map;
    struct ny_matrix U;
    int err = open_map(&map, fit);

    if (err == NY_OK) err = open_solver(&map);
    if (err == NY_OK) err = run_solver(&map);
    if (err == NY_OK) err = check_time(&map);
    if (err == NY_OK) err = report_scale(&map);
    if (err) goto done;
    report_pairs(&map);
    warn_of_groups(&map);
    U = to_vectors(&map);
    err = fix_signs(&map, U);
    if (err == NY_OK)
        err = ny_job_checkpoint_image(job, ny_job_next(job), "eigenpairs", U.at,
                                      U.rows * U.cols * sizeof(double),
                                      ny_lobpcg_products(&map.solver));
done:
    close_map(&map);
    return err;
}

/* ---- project -------------------------------------------------------------------------------- */

/* Ends stage project: its commit deletes the images of the solver. */
static int finish(struct ny_job *job)
{
    static const char *const parts[] = {"eigenpairs.0", "eigenpairs.1", NULL};

    ny_job_mark_time(job);
    ny_job_clear_checkpoint(job);
    return ny_job_save_without(job, ny_job_next(job), parts);
}

/* Rows of Û, and 1/√d_i behind them where coordinates are those of the walk. */
static int embed(struct eigenmaps *map, struct ny_matrix U)
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_matrix wide;
    int err;

    if (!map->fit->base.settings->asymmetric) return ny_graph_embed(map->fit, U);
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

static int project(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct eigenmaps map;
    double *U = NULL;
    size_t n = fit->edges.n;
    int err = open_map(&map, fit);

    if (err == NY_OK) err = load_image(&map, n * map.pairs * sizeof(double), &U);
    if (err == NY_OK && !U)
        err = ny_fail_damaged(fit->base.job.ctx, fit->base.job.keep.name, fit->base.job.keep.place);
    if (err == NY_OK) err = embed(&map, ny_matrix(U, n, map.pairs));
    if (err == NY_OK) err = finish(&fit->base.job);
    ny_free(fit->base.job.ctx, U);
    close_map(&map);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Counts what both stages hold, the weights of the edges included. */
static void count_common(struct ny_layout *l, const struct ny_map_sizes *f, unsigned workers)
{
    struct ny_affinity affinity;

    ny_map_common(l, f);
    ny_layout_add(l, NY_MEM_PROCESS,
                  ny_blas_bytes(f->job.threads, workers, ny_settings_pairs(f->settings)));
    ny_affinity_lay(l, &affinity, (size_t)f->nodes, 2 * (size_t)f->edges);
}

static void count_solve(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t pairs = ny_settings_pairs(f->settings);

    count_common(l, f, workers);
    ny_lobpcg_count(l, f->nodes, f->edges, pairs, f->job.threads);
    ny_lay(l, NY_MEM_SOLVE, NY_SIGN_ROWS, (pairs + 3) * sizeof(double));
    ny_batch_count(l, NY_MEM_STORE, limit, ny_lobpcg_state_bytes(f->nodes, pairs));
}

/* A product goes at the speed of memory. Steps depend on the data, and hardly on how many they
 * are. */
static void solve_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const double steps = 20, coarse = 1.7, flop = 0.33; /* beats */
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t pairs = ny_settings_pairs(f->settings);
    double flops =
        steps * coarse * NY_LOBPCG_STEP_PRODUCTS * 6 * (double)f->edges * 1.5 * (double)pairs;

    plan->loose = true;
    plan->flops += flops;
    plan->stage_s[NY_STAGE_SOLVE] += ny_calibration_beats(&plan->rates, flop * flops);
    plan->disk_bytes += 2 * ny_lobpcg_state_bytes(f->nodes, pairs);
}

static void count_project(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                          size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t pairs = ny_settings_pairs(f->settings), wide = f->settings->asymmetric ? pairs + 1 : 0;

    count_common(l, f, workers);
    ny_lay(l, NY_MEM_SOLVE, (size_t)f->nodes, pairs * sizeof(double));
    ny_lay(l, NY_MEM_SOLVE, (size_t)f->nodes, wide * sizeof(double));
    ny_graph_embed_count(l, f, limit);
}

/* ---- the map -------------------------------------------------------------------------------- */

static const struct ny_stage stage_pairs = {NY_STAGE_SOLVE, solve, count_solve, solve_work};
static const struct ny_stage stage_write = {NY_STAGE_PROJECT, project, count_project, NULL};
static const struct ny_stage *const stages[] = {&stage_pairs, &stage_write, NULL};
static const struct ny_course course = {.stages = stages, .bytes = ny_map_course_bytes};

const struct ny_graph_map ny_graph_map_eigenmaps = {.map = &ny_map_eigenmaps,
                                                    .other = &ny_map_graph_diffusion,
                                                    .course = &course,
                                                    .transform = ny_eigenmaps_transform};
