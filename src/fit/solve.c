/*
 * Stage solve: the small dense problem, W, s, G → P, q; then the model and the certificate.
 *
 * W and the landmarks are made again, and the sums loaded from their checkpoint, unless they are
 * still in memory. The method solves (spectral/method.h), with all threads above 2,048 landmarks.
 * A solution that shows that the sums are too coarse, by a negative eigenvalue or by the measured
 * loss of f32 Grams, is thrown away, and the record goes back to accumulate with f64 Grams, once;
 * where f64 is not enough, solve is tried once more with a coarser cut, and then fails with
 * NY_ENUMERIC. The stage leaves part "model", the eigenvalues and the certificate in the report,
 * and the sums that stay with the result.
 */
#include "fit/shards.h"
#include "fit/courses.h"
#include "fit/sizes.h"
#include "fit/timing.h"
#include "linalg/eigen_few.h"
#include "base/peers.h"
#include "spectral/nystrom.h"
#include "fit/sums.h"

#include <math.h>

#include "fit/gram_noise.h"
#include "model/choice.h"
#include "model/model.h"

static void report_values(struct ny_fit *fit, enum ny_list list, const double *values, size_t count,
                          double factor)
{
    fit->job.record.ops->begin_list(fit->job.record, list);
    for (size_t k = 0; k < count; k++)
        fit->job.record.ops->append(fit->job.record, list, values[k] * factor);
}

/* The paper's tolerance is a bound for rows, so that one that all rows meet is met by anything. */
static void warn_of_tolerance(const struct ny_fit *fit, double trace_error)
{
    const double most = 0.5;
    double tolerance = fit->settings->dictionary.tolerance;

    if (fit->settings->rule->by_tolerance && tolerance > 0 && trace_error > most)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "%s up to --tolerance %g leave%s %.0f %% of the trace out, because most rows are "
               "within that tolerance: give a smaller --tolerance, such as %.1g",
               fit->m == 1 ? "one landmark" : "the landmarks", tolerance, fit->m == 1 ? "s" : "",
               100 * trace_error, fmin(tolerance, 1) / 10);
}

/* (tr K − tr K̃)/tr K. The sum of the residuals bounds tr K − tr K̃ too where no direction of the
 * landmarks is left out, and is not rounded to what is left of a difference of traces. A negative
 * value of the size of rounding is 0. */
static double trace_error_of(const struct ny_fit *fit, const struct ny_solution *solution)
{
    const double rounding = 1e-6;
    const struct ny_fit_settings *settings = fit->settings;
    double error = (solution->trace - solution->trace_approx) / solution->trace;
    double residual = fit->job.state.report.residual_mean;
    bool whole = settings->method->all_ranks && !settings->method->krylov && !settings->rank &&
                 solution->rank_effective == fit->m - settings->affine;

    if (error < 0 && error >= -rounding) error = 0;
    if (whole && !settings->affine && !(residual < 0) &&
        (settings->normalisation == NY_RAW || settings->normalisation == NY_CENTRED_IMPLICIT))
        error = fmin(error, residual * (double)fit->job.points.n / solution->trace);
    return error;
}

/* The landmarks represent all rows, all pairs were found, and still some of the trace is missing:
 * small directions are lost beside rows that lie far outside, since the rank cut is relative to the
 * largest entry. An affine hull has a dimension less than the span that residuals are measured
 * from, so that the trace that it leaves out is no rounding. */
static bool rounding_loses_trace(const struct ny_fit *fit, const struct ny_solution *solution)
{
    const double visible = 1e-5;
    const struct ny_fit_settings *settings = fit->settings;
    bool whole = settings->method->all_ranks && !settings->method->krylov && !settings->rank;
    double lost = fit->job.state.report.trace_error;
    double residual = fit->job.state.report.residual_mean; /* NAN: not measured */

    return whole && !settings->affine && settings->precision == NY_PRECISION_F32 &&
           lost > visible && residual * (double)fit->job.points.n < 0.1 * lost * solution->trace;
}

/* Landmarks that the rank cut leaves out are wasted, and what they alone hold is not in the map. */
static void warn_rank_cut(const struct ny_fit *fit, const struct ny_solution *solution)
{
    const struct ny_fit_settings *settings = fit->settings;
    size_t most = ny_settings_rank(settings, fit->m), rank = solution->rank_effective;
    size_t chosen = ny_stored_choice_count(fit->job.record);
    size_t columns = chosen ? chosen : (size_t)fit->job.points.d;
    bool dot, few, measured = settings->rule && settings->rule->measures;

    if (!settings->kernel || ny_settings_unit_landmarks(settings)) return;
    dot = settings->kernel->base == NY_BASE_DOT;
    if (dot && columns < most) most = columns;
    few = rank < most - most / 4;
    if (few && dot && settings->scale == NY_SCALE_NONE)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "only %zu of %zu directions of the landmarks are above rounding: the columns may "
               "differ in scale so much that small ones are lost; --scale standard keeps them",
               rank, most);
    else if (dot && fit->job.state.report.trace_error_from)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "only %zu of %zu directions are above rounding in f32, because some rows lie far "
               "outside the others: --precision f64 or --approx exact keeps all of them",
               rank, most);
    else if (few && !dot && !measured && settings->precision == NY_PRECISION_F32)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "only %zu of %zu landmarks count: the others are nearly equal to them in f32; "
               "--select rpcholesky chooses others, and --precision f64 tells more of them apart",
               rank, most);
}

/* The pairs of an exact fit that are not asked for are not found, and negative ones not counted:
 * what tells of them is that the others add up to more than the trace. */
static void warn_of_excess(const struct ny_fit *fit, const struct ny_solution *solution)
{
    const double rounding = 1e-3; /* as of variance_kept */
    double excess = solution->trace_approx - solution->trace;

    if (fit->settings->method->all_rows && excess > rounding * solution->trace_approx)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "the eigenvalues of the components add up to more than the trace, %g: others are "
               "negative and left out, as the kernel is not positive semidefinite on these points",
               solution->trace);
}

/* Tells whether the kernel is positive semidefinite on any points. */
static bool is_semidefinite(const struct ny_fit *fit)
{
    const struct ny_kernel *kernel = fit->settings->kernel;

    return kernel->base != NY_BASE_GIVEN &&
           !(kernel->indefinite && kernel->indefinite(&fit->params));
}

/* Reports how many negative eigenvalues there are; nothing where only the largest were found, which
 * tell nothing of the others. */
static void report_negative(struct ny_fit *fit, const struct ny_solution *solution)
{
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_state_report *report = &fit->job.state.report;
    bool all = settings->method->all_ranks && !settings->rank;

    all =
        all || !settings->kernel || is_semidefinite(fit); /* of lengths of paths all are counted */
    all = all || solution->negative || ny_settings_rank(settings, fit->m) >= fit->m;
    report->negative_eigenvalues = all ? solution->negative : NY_NONE;
    report->negative_share = all ? solution->negative_share : NAN;
}

/* Tells of components that do not exist, and of those that are too small to be found. */
static void warn_of_lacking(const struct ny_fit *fit, const struct ny_solution *solution)
{
    bool f64 = fit->settings->precision == NY_PRECISION_F64;
    size_t kept = 0, lost = 0, p = solution->p;

    for (size_t k = 0; k < p; k++) {
        kept += solution->values[k] > 0;
        if (isnan(solution->values[k])) lost++;
    }
    if (lost && fit->job.state.report.converged < p)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "%zu of %zu eigenvalues were not reached: they are null, and their coordinates 0",
               lost, p);
    else if (lost)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "%zu of %zu eigenvalues are zero, or too small beside the largest to be told in %s: "
               "they are null, and their coordinates 0; take fewer components, or %s",
               lost, p, f64 ? "f64" : "f32",
               f64 ? "scale the columns (--scale standard)" : "--precision f64");
    if (kept + lost < p)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "only %zu of %zu components are above rounding: the others are zero", kept, p);
}

void ny_fit_report_solution(struct ny_fit *fit, const struct ny_solution *solution)
{
    struct ny_state_report *state = &fit->job.state.report;
    double trace_error = trace_error_of(fit, solution);

    report_values(fit, NY_LIST_EIGENVALUES, solution->values, solution->p, 1);
    if (fit->settings->map->centred_rows)
        report_values(fit, NY_LIST_VARIANCE, solution->values, solution->p,
                      1 / ((double)fit->job.points.n - 1));
    state->rank = ny_settings_rank(fit->settings, fit->m);
    state->rank_effective = solution->rank_effective;
    report_negative(fit, solution);
    state->trace_of = solution->trace_of;
    state->trace = solution->trace;
    state->trace_error = trace_error;
    if (rounding_loses_trace(fit, solution)) state->trace_error_from = "rounding";
    warn_of_tolerance(fit, trace_error);
    if (fit->settings->normalisation == NY_DIVIDED_IMPLICIT && fabs(solution->values[0] - 1) > 1e-3)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "the first eigenvalue is %.4f, but that of a kernel divided by its own degrees is "
               "1: some rows hardly reach a landmark, and their rounding counts; take more "
               "landmarks, a wider kernel or --precision f64",
               solution->values[0]);
    warn_rank_cut(fit, solution);
    warn_of_lacking(fit, solution);
    warn_of_excess(fit, solution);
    if (solution->negative && fit->settings->kernel) /* of lengths of paths it is no wonder */
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "%zu negative eigenvalues of %s were dropped (%.2g of the sum of magnitudes): %s",
               solution->negative, solution->negative_weights ? "the ensemble" : "W",
               solution->negative_share,
               solution->negative_weights
                   ? "weights of some experts are negative"
                   : "the kernel is not positive semidefinite on these points");
}

int ny_fit_scale(const struct ny_fit *fit, const struct ny_solution *solution, double **scale,
                 struct ny_coordinates *coordinates)
{
    const struct ny_fit_settings *settings = fit->settings;

    *scale = NULL;
    *coordinates = (struct ny_coordinates){.pairs = solution->p,
                                           .skip = settings->map->divided,
                                           .asymmetric = settings->asymmetric,
                                           .normalize = settings->row_normalize};
    if (settings->map->divided && !settings->map->in_time) return NY_OK;
    *scale = ny_calloc(fit->job.ctx, NY_MEM_MODEL, solution->p, sizeof(double));
    if (!*scale) return NY_EBUDGET;
    for (size_t k = 0; k < solution->p && !settings->map->divided; k++)
        (*scale)[k] = solution->values[k] > 0 ? sqrt(solution->values[k]) : 0;
    if (!settings->map->divided) return NY_OK;
    coordinates->scale = *scale;
    for (size_t k = 0; k + 1 < solution->p; k++) {
        (*scale)[k] =
            isnan(solution->values[k + 1]) ? 0 : pow(solution->values[k + 1], settings->time);
        if (settings->asymmetric) (*scale)[k] /= solution->trivial_mean; /* ψ = 𝒟^-½Û/c₀ */
    }
    return NY_OK;
}

int ny_fit_make_model(struct ny_fit *fit, const struct ny_solution *solution)
{
    struct ny_coordinates coordinates;
    double *scale;
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_model_parts parts = {.spec = &spec,
                                   .precision = fit->settings->precision,
                                   .m = fit->m,
                                   .p = solution->p,
                                   .map = fit->settings->map,
                                   .landmarks = fit->columns ? ny_columns_rows(fit->columns)
                                                             : ny_raw_rows(NULL),
                                   .a = fit->a,
                                   .P = solution->P.at,
                                   .q = solution->q,
                                   .degrees = fit->degrees.v ? &fit->degrees : NULL,
                                   .coordinates = &coordinates};
    int err = ny_fit_scale(fit, solution, &scale, &coordinates);

    if (err) return err;
    parts.scale = coordinates.scale ? NULL : scale;
    if (!ny_coordinates_plain(&coordinates))
        ny_coordinates_put(&coordinates, fit->job.record, &fit->job.state);
    err = ny_model_new(&fit->model, &parts);
    ny_free(fit->job.ctx, scale);
    return err;
}

static int save_model(struct ny_fit *fit)
{
    size_t bytes = ny_model_save(fit->model, NULL);
    void *image = ny_alloc(fit->job.ctx, NY_MEM_MODEL, bytes);
    int err;

    if (!image) return NY_EBUDGET;
    ny_model_save(fit->model, image);
    err = ny_job_put_part(&fit->job, "model", image, bytes);
    ny_free(fit->job.ctx, image);
    fit->job.state.record.model_bytes = bytes;
    return err;
}

/* Saves the averages with which a probe normalises K, where it is not divided. */
static int save_averages(struct ny_fit *fit, const struct ny_solution *solution)
{
    if (!ny_settings_probe_averages(fit->settings) || fit->degrees.v) return NY_OK;
    fit->job.state.record.averages_mean = solution->averages_mean;
    return ny_job_put_part(&fit->job, "centring", solution->averages, fit->m * sizeof(double));
}

/* Called if even an f64 G has lost to rounding what W tells apart: the next solve omits that. */
static int solve_again(struct ny_fit *fit)
{
    if (fit->coarse)
        return ny_fail(fit->job.ctx, NY_ENUMERIC,
                       "the projected problem has a negative eigenvalue even in f64: the kernel is "
                       "not positive semidefinite on these points, or so wide that only rounding "
                       "is left of it; choose another kernel or width");
    fit->coarse = true;
    ny_fit_drop_problem(fit);
    return NY_OK;
}

int ny_fit_try_again(struct ny_fit *fit)
{
    if (fit->gram == NY_GRAM_F64 && !ny_fit_sums_outdated(fit)) return solve_again(fit);
    ny_log(fit->job.ctx, NY_LOG_DETAIL,
           "the sums of pass 1 in f32 are too coarse for this result; they are made again in f64");
    fit->job.state.record.gram_f64 = true;
    ny_job_clear_checkpoint(&fit->job);
    ny_fit_drop_problem(fit);
    ny_job_mark_time(&fit->job);
    return ny_job_save(&fit->job, NY_STAGE_ACCUMULATE);
}

/* g_jj, as they are before the solution takes G. */
static int keep_diagonal(const struct ny_fit *fit, double **diagonal)
{
    size_t m = fit->m;

    if (!fit->acc || !fit->acc->G.at || fit->gram == NY_GRAM_F64) return NY_OK;
    *diagonal = ny_alloc(fit->job.ctx, NY_MEM_SOLVE, m * sizeof(double));
    if (!*diagonal) return NY_EBUDGET;
    for (size_t j = 0; j < m; j++)
        (*diagonal)[j] = fit->acc->G.at[j * fit->acc->G.stride + j];
    return NY_OK;
}

int ny_fit_solve_problem(struct ny_fit *fit, struct ny_solution *solution, bool *coarse)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    double *diagonal = NULL; /* set where the Gram is f32 */
    struct ny_problem problem;
    int err = ny_fit_prepare(fit);

    if (err == NY_OK) err = ny_fit_load_accumulator(fit);
    if (err == NY_OK)
        err = fit->acc ? ny_accumulator_fold_peers(fit->acc, peers) : ny_shards_meet(fit);
    if (err || !ny_peers_leads(peers)) goto done; /* the shard that leads solves for all */
    err = keep_diagonal(fit, &diagonal);
    if (err) goto done;
    problem = ny_fit_problem(fit);
    ny_blas_parallel(ny_context_whole(fit->job.ctx), fit->m);
    err = fit->settings->method->solve(&problem, solution); /* W, s, G → P, q */
    ny_blas_serial();
    if (err) goto done;
    *coarse = solution->inaccurate || ny_fit_sums_outdated(fit) ||
              (diagonal && ny_fit_gram_blurs(fit, solution, diagonal));
done:
    ny_free(fit->job.ctx, diagonal);
    return err;
}

int ny_fit_conclude(struct ny_fit *fit, const struct ny_solution *solution)
{
    int err;

    ny_fit_report_solution(fit, solution);
    err = save_averages(fit, solution);
    if (err) return err;
    err = ny_fit_make_model(fit, solution);
    if (err) return err;
    err = save_model(fit);
    if (err) return err;
    ny_fit_drop_problem(fit);
    ny_fit_keep_sums(fit);
    ny_job_mark_time(&fit->job);
    return NY_OK;
}

/* Tells whether K of all rows is made and solved in this stage, without a pass before it. */
static bool makes_K(const struct ny_fit_settings *settings)
{
    return settings->method->all_rows && !ny_settings_unit_landmarks(settings);
}

/* Flops of K, of which one half is computed. */
static double flops_of_K(double m, double entry_products)
{
    return m * m * entry_products;
}

/* Counts what making and solving K took, where no pass does: all rows are read once. */
static void count_K(struct ny_fit *fit)
{
    const struct ny_fit_settings *settings = fit->settings;
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_problem problem = ny_settings_problem(settings, fit->m);

    if (!makes_K(settings)) return;
    ny_job_count_pass(&fit->job, fit->m,
                      flops_of_K((double)fit->m, ny_entry_products(&spec)) +
                          settings->method->flops(&problem, ny_settings_rank(settings, fit->m)));
}

int ny_fit_run_solve(struct ny_fit *fit, int (*fix_signs)(struct ny_fit *, struct ny_solution *))
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    struct ny_solution solution = {0};
    bool coarse = false;
    int err = ny_fit_solve_problem(fit, &solution, &coarse);

    if (err == NY_OK) err = ny_peers_share(peers, &coarse, sizeof(coarse));
    if (err == NY_OK && coarse) err = ny_fit_try_again(fit);
    if (err || coarse) goto done;
    if (fix_signs) err = fix_signs(fit, &solution);
    if (err == NY_OK) count_K(fit); /* saved with the stage's end, so once */
    if (err == NY_OK && ny_peers_leads(peers)) err = ny_fit_conclude(fit, &solution);
    if (err == NY_OK) err = ny_shards_share_solution(fit);
    if (err == NY_OK) err = ny_job_save(&fit->job, ny_job_next(&fit->job));
done:
    ny_solution_release(&solution, fit->job.ctx);
    return err;
}

static int run(struct ny_job *job)
{
    return ny_fit_run_solve(ny_fit_of(job), NULL);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Leaves what is held throughout. */
void ny_solve_count(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                    size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    const struct ny_fit_settings *settings = f->settings;
    size_t map = f->m * ny_settings_pairs(settings) * sizeof(double);
    size_t written =
        map + ny_kept_bytes(&f->spec, f->m) + ny_sizes_arrays(f, 2); /* with its geometry */
    struct ny_layout_mark mark;

    ny_sizes_common(l, f, workers, 1);
    ny_sizes_landmarks(l, f, true);
    ny_layout_add(l, NY_MEM_MODEL, map + f->m * sizeof(double));
    if (ny_settings_forms_gram(settings)) {
        ny_accumulator_count(l, f->m);
        if (ny_context_peers(f->job.ctx)) ny_accumulator_fold_count(l, f->m);
        /* It is loaded before the rest, and W made again. */
        ny_lay_peak(l, NY_MEM_SOLVE, 1, ny_accumulator_image_bytes(f->m, true));
        mark = ny_layout_mark(l);
        ny_columns_square_count(l, &f->spec, f->m, workers);
        ny_layout_back(l, &mark);
    }
    mark = ny_layout_mark(l);
    ny_problem_count(l, f);
    ny_layout_back(l, &mark);
    mark = ny_layout_mark(l);
    ny_lay(l, NY_MEM_SOLVE, 2, written);
    ny_batch_count(l, NY_MEM_SOLVE, limit, written);
    ny_layout_back(l, &mark);
}

/* ---- solve, project, probe ------------------------------------------------------------------ */

void ny_solve_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    const struct ny_fit_settings *settings = t->settings;
    struct ny_problem problem = ny_settings_problem(settings, t->plan->m);
    size_t rank = ny_settings_rank(settings, t->plan->m), pairs = ny_settings_pairs(settings);
    /* One thread solves small problems. */
    double slower = t->plan->m > NY_BLAS_SERIAL_ORDER ? 1 : ny_price_threads(settings->threads);
    double small = settings->method->flops(&problem, rank);
    bool gram = ny_settings_forms_gram(settings);
    bool whole = gram || settings->rule->all ||
                 (!settings->method->krylov && !ny_nystrom_randomized(&problem, t->plan->m, rank));
    /* Products dominate small problems; the reduction of large ones runs at the memory's pace, and
     * products with few columns at a third of that of square ones (11 and 34 GF/s of a thread). */
    double reduced = t->plan->m < 1500 ? 2 : 1.1;
    const double narrow = 0.33;
    bool few = !gram && whole && ny_eigen_is_few(t->plan->m, rank);
    double rate = few ? narrow * t->plan->rates.gemm64 : reduced * t->plan->rates.eigen;

    t->plan->flops += small;
    if (makes_K(settings)) {
        t->plan->passes++;
        t->plan->flops += flops_of_K(t->m, t->price.d);
    }
    t->plan->stage_s[NY_STAGE_SOLVE] =
        ny_price_commit(&t->price, t->m * ((double)pairs * 8 + t->price.raw_bytes)) +
        (whole ? small / rate : small * slower / t->plan->rates.gemm64);
    if (!ny_settings_needs_gram(settings)) t->plan->stage_s[NY_STAGE_SOLVE] += ny_timing_prepare(t);
    if (few) /* pairs that do not settle are found by the reduction after all */
        t->plan->unsettled_s +=
            (ny_eigen_few_flops_most(t->plan->m, rank) - ny_eigen_few_flops(t->plan->m, rank)) /
                rate +
            4.0 / 3 * t->m * t->m * t->m / (reduced * t->plan->rates.eigen);
}

const struct ny_stage ny_stage_solve = {NY_STAGE_SOLVE, run, ny_solve_count, ny_solve_work};
