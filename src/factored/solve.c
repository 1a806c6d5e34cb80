/*
 * Stage solve of a fit by features: the Ritz vectors V of the last product, the map P = VΛ^-½ and
 * q = −Pᵀμ, signs, the certificate, and the model.
 */
#include "factored/factored_private.h"

#include <math.h>

#include "factored/pass.h"
#include "fit/plan.h"
#include "fit/signs.h"
#include "results/model.h"

/* Returns what rounding makes of a value of zero, relative to the largest. */
static double noise_of(const struct ny_fit *fit)
{
    return fit->settings->precision == NY_PRECISION_F64 ? 0x1p-45 : 0x1p-22;
}

/* Keeps the pairs that are above rounding. */
static int keep_pairs(struct ny_fit *fit, const struct ny_restarted *it,
                      struct ny_solution *solution)
{
    for (size_t k = 0; k < solution->p; k++) {
        bool kept = it->values[k] > noise_of(fit) * it->values[0];

        solution->values[k] = kept ? it->values[k] : 0;
        solution->rank_effective += kept;
    }
    if (solution->rank_effective) return NY_OK;
    return ny_fail(fit->job.ctx, NY_ENUMERIC,
                   "no eigenvalue of the kernel matrix is above rounding: are all rows equal?");
}

/* Turns the vectors of the columns so that the entry of largest magnitude of each is positive: that
 * needs no row. */
static void fix_signs(struct ny_solution *solution, size_t d)
{
    struct ny_matrix P = ny_matrix(solution->P.at, d, solution->p);

    for (size_t k = 0; k < P.cols; k++)
        for (size_t j = 0, negative = ny_signs_negative(P, k); negative && j < d; j++)
            P.at[j * P.stride + k] = -P.at[j * P.stride + k];
}

enum { SCALED_TOGETHER = 64 }; /* columns: rows of P are long, and seldom in the cache */

/* Multiplies the columns of P by λ^power; those of pairs that were not kept become 0. */
static void scale_map(struct ny_solution *solution, size_t rows, double power)
{
    const double *value = solution->values;
    size_t p = solution->p;

    for (size_t first = 0, end; first < p; first = end) {
        double factor[SCALED_TOGETHER];

        end = first + SCALED_TOGETHER < p ? first + SCALED_TOGETHER : p;
        for (size_t k = first; k < end; k++)
            factor[k - first] = value[k] > 0 ? pow(value[k], power) : 0;
        for (size_t j = 0; j < rows; j++)
            for (size_t k = first; k < end; k++)
                solution->P.at[j * p + k] *= factor[k - first];
    }
}

/* The room of the workers of the pass from rows to columns. */
static struct ny_feature_room room_of_map(const struct ny_factored *sizes)
{
    return (struct ny_feature_room){NY_PRECISION_F64, sizes->width, sizes->divided ? sizes->n : 0};
}

/* V = ΦᵀUΛ^-½ of the vectors U of the rows, then P = VΛ^-½. What rounding has left of a vector of a
 * large λ in one of a small λ is larger in ΦᵀU by the root of their ratio: so the pass is in f64,
 * and V is made orthonormal, one column after the other. */
static int map_of_rows(struct ny_fit *fit, struct ny_feature_state *state, const double *mu,
                       struct ny_solution *solution)
{
    struct ny_context *ctx = fit->job.ctx;
    size_t n = (size_t)state->sizes.n, p = solution->p;
    double *U = ny_alloc(ctx, NY_MEM_SOLVE, n * p * sizeof(double));
    struct ny_feature_pass pass = {.fit = fit,
                                   .g = fit->degrees.v,
                                   .mean_degree = fit->degrees.mean,
                                   .roots = true,
                                   .X = ny_matrix(U, n, p),
                                   .H = ny_matrix(solution->P.at, state->sizes.d, p),
                                   .column_sums = mu ? state->column_sums : NULL};
    const struct ny_feature_room room = room_of_map(&state->sizes);
    int err = U ? ny_restarted_vectors(&state->it, pass.X) : NY_EBUDGET;

    if (!err) err = ny_feature_workers_new(&pass.workers, fit, &room, fit->job.workers);
    if (!err) err = ny_feature_pass_run(&pass);
    ny_feature_workers_free(pass.workers);
    ny_free(ctx, U);
    if (err) return err;
    if (mu) ny_feature_correct_centre(pass.H, mu, state->column_sums);
    scale_map(solution, state->sizes.d, -0.5);
    err = ny_orthonormalise(ctx, ny_cols(solution->P, 0, solution->rank_effective));
    scale_map(solution, state->sizes.d, -0.5);
    return err;
}

/* P = VΛ^-½ of the vectors V of the columns. */
static int map_of_columns(const struct ny_feature_state *state, struct ny_solution *solution)
{
    int err =
        ny_restarted_vectors(&state->it, ny_matrix(solution->P.at, state->sizes.d, solution->p));

    if (!err) scale_map(solution, state->sizes.d, -0.5);
    return err;
}

/* The trace of the matrix that is decomposed: all of it is in the pairs there are. */
static void certify(const struct ny_feature_state *state, const double *mu,
                    struct ny_solution *solution)
{
    solution->trace = state->totals->trace;
    solution->trace_of = state->sizes.divided ? "normalised" : "raw";
    if (mu) solution->trace -= (double)state->sizes.n * ny_dot(mu, mu, state->sizes.d);
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

/* The share of each pair that is not an eigenpair: ‖Av − λv‖/λ, of those above rounding. */
static void report_pairs(struct ny_fit *fit, const struct ny_feature_state *state)
{
    const struct ny_restarted *it = &state->it;
    json_t *report = ny_job_report(&fit->job), *residuals = json_array();
    unsigned long long empty = (unsigned long long)state->totals->empty;
    size_t pairs = state->sizes.pairs;

    for (size_t k = 0; k < pairs; k++) {
        double size = fmax(it->values[k], 0x1p-20 * it->values[0]);

        ny_field_append(residuals, json_real(size > 0 ? it->residuals[k] / size : 0));
    }
    ny_field_set_text(report, "side", state->sizes.rows ? "rows" : "columns");
    ny_field_set_json(report, "eigenvector_residuals", residuals);
    ny_field_set_count(report, "converged", it->converged);
    ny_field_set_count(report, "rows_empty", empty);
    if (empty)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "%llu of %llu rows have no value, the first of them row %llu: %s", empty,
               (unsigned long long)state->sizes.n, (unsigned long long)state->totals->first_empty,
               state->sizes.divided ? "their coordinates are 0" : "they are placed as zero rows");
    if (it->converged < pairs)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "after %u passes %zu of %zu eigenvalues are as exact as --tol %g asks; "
               "eigenvector_residuals tell of the others, and --max-passes raises the limit",
               it->step, it->converged, pairs, fit->settings->tol);
}

/* Solves, and gives the state back: what follows needs room for copies of the model. */
static int solve(struct ny_fit *fit, struct ny_solution *solution)
{
    struct ny_problem problem = ny_settings_problem(fit->settings, fit->m);
    struct ny_feature_state state;
    double *mu = NULL;
    uint64_t place;
    int err;

    problem.ctx = fit->job.ctx;
    fit->a = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, sizeof(double)); /* no shift */
    if (!fit->a) return NY_EBUDGET;
    err = ny_feature_state_open(&state, fit, &place);
    if (!err && !state.it.step) /* version 1.0 found the same pairs from K itself */
        err = ny_job_begun_otherwise(&fit->job);
    if (!err) err = ny_feature_sums_load(fit, &state.sizes, &mu);
    if (!err) err = ny_solution_new(solution, &problem);
    if (!err) err = keep_pairs(fit, &state.it, solution);
    if (!err)
        err = state.sizes.rows ? map_of_rows(fit, &state, mu, solution)
                               : map_of_columns(&state, solution);
    if (err) goto done;
    fix_signs(solution, state.sizes.d);
    find_offset(mu, state.sizes.d, solution);
    find_averages(fit, mu, solution);
    if (fit->degrees.v) /* Û₁ = 𝒟^½1/√Σd, and Σd = ‖g‖² */
        solution->trivial_mean = 1 / sqrt(ny_dot(fit->degrees.v, fit->degrees.v, state.sizes.d));
    certify(&state, mu, solution);
    report_pairs(fit, &state);
    if (state.sizes.centred || fit->settings->map->additive) solution->trace_of = "centred";
done:
    ny_free(fit->job.ctx, mu);
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
    if (!err) err = ny_fit_conclude(fit, &solution);
    if (!err) err = ny_job_save_without(job, ny_job_next(job), parts);
    ny_solution_release(&solution, job->ctx);
    return err;
}

/* The state with the vectors that are found in it, or the model with its copies. */
static struct ny_stage_bytes bytes(const struct ny_job_sizes *job, unsigned workers, size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(job);
    struct ny_stage_bytes bytes = ny_sizes_common(f, workers, 1);
    struct ny_factored sizes = ny_factored_of_sizes(f);
    size_t map = sizes.d * sizes.pairs * sizeof(double), arrays = ny_sizes_arrays(f, 5);
    size_t state = ny_factored_state_bytes(&sizes) + ny_restarted_bytes(&sizes.shape);
    size_t model = 2 * (map + arrays) + ny_batch_put_bytes(limit, map + arrays);
    const struct ny_feature_room room = room_of_map(&sizes);
    size_t vectors = sizes.rows ? sizes.n * sizes.pairs * sizeof(double) : 0;

    if (sizes.rows) { /* one more pass */
        bytes = ny_sizes_common(f, workers, workers);
        bytes.by_purpose[NY_MEM_STORE] += ny_sizes_source(f, workers);
        bytes.by_purpose[NY_MEM_TILES] = ny_feature_workers_bytes(&f->spec, &room, workers);
        state += vectors;
    }
    bytes.by_purpose[NY_MEM_DICTIONARY] = ny_sizes_arrays(f, 2);
    bytes.by_purpose[NY_MEM_SOLVE] = state > model ? state : model;
    bytes.by_purpose[NY_MEM_MODEL] = map + ny_sizes_arrays(f, 2);
    return bytes;
}

static void work(const struct ny_job_sizes *job, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(job, plan), *t = &timing;
    struct ny_factored sizes = ny_factored_of_sizes(t->sizes);
    double turned = 2 * (double)sizes.d * (double)sizes.shape.most * (double)sizes.pairs;

    plan->flops += turned;
    plan->passes += sizes.rows;
    plan->stage_s[NY_STAGE_SOLVE] =
        turned / plan->rates.gemm64 +
        (sizes.rows ? ny_feature_pass_seconds(t, (double)sizes.width) / 2 : 0) +
        ny_price_commit(&t->price, 8 * (double)(sizes.d * sizes.pairs));
}

const struct ny_stage ny_stage_feature_solve = {NY_STAGE_SOLVE, run, bytes, work};
