/*
 * Stage solve of a fit by features: the Ritz vectors V of the last product, the map P = VΛ^-½ and
 * q = −Pᵀμ, signs, the certificate, and the model.
 */
#include "base/text.h"
#include "factored/factored_private.h"

#include <math.h>

#include "base/thread.h"
#include "factored/pass.h"
#include "fit/plan.h"
#include "fit/shards.h"
#include "fit/signs.h"
#include "base/peers.h"
#include "model/model.h"
#include "spectral/bulk.h"

/* Returns what rounding makes of a value of zero, relative to the largest: jobs of releases that
 * did not look behind the large pairs have left such values. */
static double noise_of(const struct ny_fit *fit, const struct ny_feature_found *found)
{
    bool f64 = fit->settings->precision == NY_PRECISION_F64 || found->totals->precise > 0;

    return f64 ? 0x1p-45 : 0x1p-22;
}

/* Keeps the pairs that are above rounding; those that do not exist stay 0. */
static int keep_pairs(struct ny_fit *fit, const struct ny_feature_found *found,
                      struct ny_solution *solution)
{
    for (size_t k = 0; k < found->vectors.cols; k++) {
        bool kept = found->values[k] > noise_of(fit, found) * found->values[0];

        solution->values[k] = kept || isnan(found->values[k]) ? found->values[k] : 0;
        solution->rank_effective += kept;
    }
    if (solution->rank_effective) return NY_OK;
    return ny_fail(fit->job.ctx, NY_ENUMERIC,
                   "no eigenvalue of the kernel matrix is above rounding: are all rows equal?");
}

/* The columns of V with what each is multiplied by. */
struct scaled {
    struct ny_matrix V;
    const double *factor;
};

static int scale_rows(void *arg, size_t first, size_t count)
{
    const struct scaled *scaled = arg;
    struct ny_matrix V = ny_rows(scaled->V, first, count);

    for (size_t j = 0; j < V.rows; j++)
        for (size_t k = 0; k < V.cols; k++)
            V.at[j * V.stride + k] *= scaled->factor[k];
    return NY_OK;
}

/* P = VΛ^-½ of the vectors V of the columns, in place; those of pairs that were not kept become 0.
 * Each is turned so that its entry of largest magnitude is positive: that needs no row. */
static int scale_map(struct ny_fit *fit, struct ny_solution *solution, size_t d)
{
    struct ny_layout l = {.ctx = fit->job.ctx};
    size_t p = solution->p;
    bool *negative = ny_lay(&l, NY_MEM_SOLVE, p, sizeof(*negative));
    double *factor = ny_lay(&l, NY_MEM_SOLVE, p, sizeof(*factor));
    struct scaled scaled = {ny_matrix(solution->P.at, d, p), factor};
    int err = l.err;

    if (err) goto done;
    ny_signs_find(scaled.V, negative);
    for (size_t k = 0; k < p; k++) {
        factor[k] = solution->values[k] > 0 ? pow(solution->values[k], -0.5) : 0;
        if (negative[k]) factor[k] = -factor[k];
    }
    err = ny_parallel_ranges(l.ctx, d, scale_rows, &scaled);
done:
    ny_layout_free(&l);
    return err;
}

/* The problem that is solved. */
struct problem {
    struct ny_factored sizes;
    struct ny_feature_found found;
    double *mu; /* NULL: K is not centred */
};

/* The room of the workers of the pass from rows to columns. */
static struct ny_feature_room room_of_map(const struct ny_factored *sizes)
{
    return (struct ny_feature_room){NY_PRECISION_F64, ny_features_width64(sizes->pairs),
                                    sizes->divided ? sizes->n : 0};
}

/* V = ΦᵀUΛ^-½ of the vectors U of the rows, whose lengths need no Λ. What rounding has left of a
 * vector of a large λ in one of a small λ is larger in ΦᵀU by the root of their ratio: so the pass
 * is in f64, and V is made orthonormal, one column after the other. */
static int vectors_of_rows(struct ny_fit *fit, const struct problem *problem,
                           struct ny_solution *solution)
{
    struct ny_context *ctx = fit->job.ctx;
    size_t d = problem->sizes.d, p = solution->p;
    const struct ny_feature_room room = room_of_map(&problem->sizes);
    double *sums = ny_calloc(ctx, NY_MEM_SOLVE, room.width, sizeof(double));
    struct ny_feature_pass pass = {.fit = fit,
                                   .g = fit->degrees.v,
                                   .mean_degree = fit->degrees.mean,
                                   .roots = true,
                                   .X = ny_feature_rows_here(fit, problem->found.vectors),
                                   .H = ny_matrix(solution->P.at, d, p),
                                   .column_sums = problem->mu ? sums : NULL};
    int err = sums ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_feature_workers_new(&pass.workers, fit, &room, fit->job.workers);
    if (!err) err = ny_feature_pass_run(&pass);
    ny_feature_workers_free(pass.workers);
    if (!err) err = ny_peers_fold(ny_context_peers(ctx), pass.H.at, d * p);
    if (!err) err = ny_peers_fold(ny_context_peers(ctx), sums, room.width);
    if (!err && problem->mu) ny_feature_correct_centre(pass.H, problem->mu, sums);
    ny_free(ctx, sums);
    return err ? err : ny_orthonormalise_lanes(ctx, ny_cols(pass.H, 0, solution->rank_effective));
}

/* The trace of the matrix that is decomposed: all of it is in the pairs there are. */
static void certify(const struct problem *problem, struct ny_solution *solution)
{
    const struct ny_factored *sizes = &problem->sizes;
    const double *mu = problem->mu;

    solution->trace = problem->found.totals->trace;
    solution->trace_of = sizes->divided ? "normalised" : "raw";
    if (mu) solution->trace -= (double)sizes->n * ny_dot(mu, mu, sizes->d);
    solution->trace_approx = solution->trace;
}

/* q = −Pᵀμ. */
static void find_offset(const double *mu, size_t d, struct ny_solution *solution)
{
    for (size_t j = 0; mu && j < d; j++)
        for (size_t k = 0; k < solution->p; k++)
            solution->q[k] -= mu[j] * solution->P.at[j * solution->p + k];
}

/* The averages by which a probe centres K: ρ_i = φ_i·u, u = μ. The kernel that it computes of
 * sparse rows of pca is that about the stored means c already, and the average of a row about them
 * is φ_i·u − c·u with u = μ − c: the second part goes to the mean. */
static void find_averages(const struct ny_fit *fit, const double *mu, struct ny_solution *solution)
{
    const struct ny_geometry *geometry = fit->geometry;
    bool about_means = fit->settings->map->centred_rows && fit->job.points.row_slots;

    solution->averages_mean = 0;
    for (size_t j = 0; mu && j < geometry->d; j++) {
        double c = about_means ? geometry->centre[j] * geometry->factor[j] : 0, u = mu[j] - c;

        solution->averages[j] = u;
        solution->averages_mean += u * u + 2 * c * u;
    }
}

/* Reports how probable such an eigenvalue is of noise alone, and how many stand out of it. What is
 * missing has drawn the rows of the fit towards the centre, and does not draw new ones. */
static void report_noise(struct ny_job *job, const struct ny_feature_found *found, size_t pairs)
{
    double missing = job->state.report.genotypes_missing;
    size_t above = 0;

    if (!found->p || isnan(found->p[0])) return; /* too few rows to tell */
    if (isnan(missing)) missing = 0;             /* of a job that began before it was counted */
    job->record.ops->begin_list(job->record, NY_LIST_P_VALUES);
    job->record.ops->begin_list(job->record, NY_LIST_SHRINKAGE);
    for (size_t k = 0; k < pairs; k++) {
        job->record.ops->append(job->record, NY_LIST_P_VALUES, found->p[k]);
        above += above == k && found->p[k] < NY_BULK_P;
        job->record.ops->append(job->record, NY_LIST_SHRINKAGE,
                                k < above ? found->shrinkage[k] / (1 - missing) : NAN);
    }
    job->state.report.components_above_noise = above;
}

/* Counts the pairs that are as exact as --tol asks. Those of noise are taken as they are, and an
 * eigenvalue is no farther off than its residual. */
static size_t count_exact(const struct ny_feature_found *found, size_t pairs, double tol)
{
    size_t above = 0, exact = 0;

    if (!found->p || isnan(found->p[0])) return found->converged;
    for (size_t k = 0; k < pairs; k++) {
        above += above == k && found->p[k] < NY_BULK_P;
        exact += k < above || found->residuals[k] <= tol * found->values[k];
    }
    return exact < found->converged ? exact : found->converged;
}

/* The share of each pair that is not an eigenpair: ‖Av − λv‖/λ; null where λ is not known. */
static void report_pairs(struct ny_fit *fit, const struct problem *problem)
{
    const struct ny_feature_found *it = &problem->found;
    struct ny_job *job = &fit->job;
    unsigned long long empty = (unsigned long long)it->totals->empty;
    size_t pairs = problem->sizes.pairs;

    job->record.ops->begin_list(job->record, NY_LIST_RESIDUALS);
    for (size_t k = 0; k < pairs; k++) {
        double value = it->values[k], share = value > 0 ? it->residuals[k] / value : 0;

        job->record.ops->append(job->record, NY_LIST_RESIDUALS, isnan(value) ? NAN : share);
    }
    job->state.report.side = problem->sizes.rows ? "rows" : "columns";
    report_noise(job, it, pairs);
    job->state.report.converged = count_exact(it, pairs, fit->settings->tol);
    job->state.report.rows_empty = empty;
    if (empty)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "%llu of %llu rows have no value, the first of them row %llu: %s", empty,
               (unsigned long long)problem->sizes.n, (unsigned long long)it->totals->first_empty,
               problem->sizes.divided ? "their coordinates are 0" : "they are placed as zero rows");
    if (it->converged < pairs)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "after %s, only %zu of %zu eigenvalues are as exact as --tol %g asks; "
               "eigenvector_residuals show the others, and --max-passes raises the limit",
               ny_counted(it->step, "pass", "passes").text, it->converged, pairs,
               fit->settings->tol);
}

/* The mean of 𝒟^-½Û₁, where Û₁ = ±𝒟^½1/√Σd and Σd = ‖g‖²: P has the sign. */
static double mean_trivial(const double *g, struct ny_matrix P)
{
    double sum = 0;

    for (size_t j = 0; j < P.rows; j++)
        sum += g[j] * P.at[j * P.stride];
    return copysign(1 / sqrt(ny_dot(g, g, P.rows)), sum);
}

/* Finds the solution from what the products have left. */
static int make_solution(struct ny_fit *fit, const struct problem *problem,
                         struct ny_solution *solution)
{
    size_t d = problem->sizes.d;
    int err = keep_pairs(fit, &problem->found, solution);

    if (err) return err;
    if (problem->sizes.rows)
        err = vectors_of_rows(fit, problem, solution);
    else
        ny_copy(problem->found.vectors, ny_cols(solution->P, 0, problem->found.vectors.cols));
    if (!err) err = scale_map(fit, solution, d);
    if (err) return err;
    find_offset(problem->mu, d, solution);
    find_averages(fit, problem->mu, solution);
    if (fit->degrees.v) solution->trivial_mean = mean_trivial(fit->degrees.v, solution->P);
    certify(problem, solution);
    report_pairs(fit, problem);
    if (problem->sizes.centred || fit->settings->map->additive) solution->trace_of = "centred";
    return NY_OK;
}

/* Solves, and gives the vectors of the basis back: what follows needs room for copies of the model.
 */
static int solve(struct ny_fit *fit, struct ny_solution *solution)
{
    struct ny_problem small = ny_settings_problem(fit->settings, fit->m);
    struct problem problem = {.sizes = ny_factored_of_fit(fit)};
    int err;

    small.ctx = fit->job.ctx;
    fit->a = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, sizeof(double)); /* no shift */
    if (!fit->a) return NY_EBUDGET;
    err = ny_feature_found_open(&problem.found, fit, &problem.sizes);
    if (!err) err = ny_feature_sums_load(fit, &problem.sizes, &problem.mu);
    if (!err) err = ny_solution_new(solution, &small);
    if (!err) err = make_solution(fit, &problem, solution);
    ny_free(fit->job.ctx, problem.mu);
    ny_free(fit->job.ctx, fit->state);
    fit->state = NULL;
    return err;
}

/* Runs stage solve; its last commit deletes the images of the products. */
static int run(struct ny_job *job)
{
    static const char *const parts[] = {"features.0", "features.1", NULL};
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_solution solution = {0};
    int err;

    fit->m = (size_t)job->points.d;
    err = ny_fit_load_frozen(fit);
    if (!err) err = ny_fit_lower_workers(fit); /* for the pass from rows to columns */
    if (!err) err = solve(fit, &solution);
    if (!err && ny_peers_leads(ny_context_peers(job->ctx))) err = ny_fit_conclude(fit, &solution);
    if (!err) err = ny_shards_share_solution(fit);
    if (!err) err = ny_job_save_without(job, ny_job_next(job), parts);
    ny_solution_release(&solution, job->ctx);
    return err;
}

/* The vectors that are found with those of the columns, or the model with its copies. */
static void count(struct ny_layout *l, const struct ny_job_sizes *job, unsigned workers,
                  size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(job);
    struct ny_factored sizes = ny_factored_of_sizes(f);
    size_t map = sizes.d * sizes.pairs * sizeof(double), arrays = ny_sizes_arrays(f, 5);
    const struct ny_feature_room room = room_of_map(&sizes);
    struct ny_layout_mark mark;

    ny_sizes_common(l, f, workers, sizes.rows ? workers : 1);
    if (sizes.rows) { /* one more pass */
        ny_sizes_source(l, f, workers);
        ny_feature_workers_lay(l, &f->spec, &room, workers);
    }
    ny_layout_add(l, NY_MEM_DICTIONARY, ny_sizes_arrays(f, 2));
    ny_layout_add(l, NY_MEM_MODEL, map + ny_sizes_arrays(f, 2));
    mark = ny_layout_mark(l);
    ny_lay(l, NY_MEM_SOLVE, 2, map + arrays);
    ny_batch_count(l, NY_MEM_SOLVE, limit, map + arrays);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_SOLVE, 1, ny_feature_found_bytes(&sizes));
    if (sizes.rows) ny_lay(l, NY_MEM_SOLVE, room.width, sizeof(double));
    ny_orthonormalise_lanes_count(l, sizes.pairs);
}

static void work(const struct ny_job_sizes *job, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(job, plan), *t = &timing;
    struct ny_factored sizes = ny_factored_of_sizes(t->sizes);
    double turned = ny_factored_turn_flops(&sizes);

    plan->flops += turned;
    if (sizes.rows) plan->flops += 2 * t->n * t->price.d * (double)room_of_map(&sizes).width;
    plan->passes += sizes.rows;
    plan->stage_s[NY_STAGE_SOLVE] =
        turned / plan->rates.gemm64 +
        (sizes.rows ? ny_feature_pass_seconds(t, (double)sizes.width) / 2 : 0) +
        ny_price_commit(&t->price, 8 * (double)(sizes.d * sizes.pairs));
}

const struct ny_stage ny_stage_feature_solve = {NY_STAGE_SOLVE, run, count, work};
