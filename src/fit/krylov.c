/*
 * Stages accumulate and solve of projected with its randomized solver (spectral/krylov.h): one
 * pass over the points for each block.
 *
 * The state of the solver is what a checkpoint keeps. Its place is one number, step · (units + 1)
 * + units done, so that a run after a kill goes on in the middle of a pass. If rounding has
 * spoiled the solution, solve asks for a coarser cut (fit/solve.c); the checkpoint is then
 * forgotten, and the passes begin again.
 */
#include <math.h>

#include "base/text.h"
#include "fit/courses.h"
#include "fit/sizes.h"
#include "fit/timing.h"
#include "base/clock.h"
#include "fit/shards.h"
#include "fit/sums.h"
#include "base/peers.h"

/* A step has as many places for a checkpoint as units, and that of its end. */
static uint64_t places_of(const struct ny_fit *fit)
{
    return ny_units_of(fit->job.points.n) + 1;
}

/* Saves the solver's state as the checkpoint of stage `next`. */
static int save(struct ny_fit *fit, enum ny_stage_id next, uint64_t units_done)
{
    const double *state = ny_krylov_save(fit->krylov);
    struct ny_problem problem = ny_fit_problem(fit);

    return ny_job_checkpoint_image(&fit->job, next, "krylov", state,
                                   ny_krylov_state_bytes(&problem, fit->m),
                                   fit->krylov->step * places_of(fit) + units_done);
}

/* Small problems are the same on all shards with one thread each; alone they may have all. */
static void begin_small(const struct ny_fit *fit)
{
    if (ny_context_peers(fit->job.ctx))
        ny_blas_serial();
    else
        ny_blas_parallel(fit->job.ctx, fit->m);
}

/* The solver as of the last checkpoint, or at its beginning. */
static int open_krylov(struct ny_fit *fit, uint64_t *units)
{
    struct ny_problem problem;
    struct ny_image_shape shape;
    void *image = NULL;
    uint64_t place = 0;
    bool anew;
    int err;

    *units = 0;
    if (fit->krylov) return NY_OK;
    if (fit->job.state.record.coarse) fit->coarse = true;
    err = ny_fit_prepare(fit);
    if (err == NY_OK && fit->job.stage == NY_STAGE_ACCUMULATE) err = ny_fit_lower_workers(fit);
    if (err) return err;
    if (fit->job.stage == NY_STAGE_ACCUMULATE) ny_fit_drop_outdated(fit);
    problem = ny_fit_problem(fit);
    shape.bytes = ny_krylov_state_bytes(&problem, fit->m);
    shape.units = ny_krylov_steps(&problem, fit->m) * places_of(fit);
    err = ny_job_load_image(&fit->job, "krylov", &shape, &image, &place);
    if (!err)
        err = ny_shards_align_state(fit, &image, shape.bytes,
                                    &(struct ny_shard_place){&place, places_of(fit)}, &anew);
    if (err) {
        ny_free(fit->job.ctx, image);
        return err;
    }
    fit->krylov = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, 1, sizeof(*fit->krylov));
    if (!fit->krylov) {
        ny_free(fit->job.ctx, image);
        return NY_EBUDGET;
    }
    *units = place % places_of(fit);
    begin_small(fit);
    err = ny_krylov_new(fit->krylov, &problem, image, (unsigned)(place / places_of(fit)));
    ny_blas_serial();
    if (!err && anew) ny_krylov_clear_pass(fit->krylov);
    return err;
}

/* The pass of one block, and the next block. */
static int run_step(struct ny_fit *fit, uint64_t first_unit, bool *done)
{
    struct ny_krylov *krylov = fit->krylov;
    struct ny_accumulate pass = {.acc = krylov->step == 0 ? &krylov->sums : NULL,
                                 .gram = NY_GRAM_NONE,
                                 .krylov = krylov,
                                 .first_unit = first_unit,
                                 .save = save};
    int err = ny_accumulate_pass(fit, &pass);

    if (err) return err;
    err = ny_krylov_fold_peers(krylov, ny_context_peers(fit->job.ctx));
    if (err) return err;
    begin_small(fit);
    err = ny_krylov_next(krylov, done);
    ny_blas_serial();
    return err;
}

/* Runs the passes. Between two of them the state is saved only when the interval of checkpoints
 * has passed; the last save makes solve the next stage. */
static int run_multiply(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    double saved_s = ny_now();
    bool done = false;
    uint64_t units;
    int err = open_krylov(fit, &units);

    if (err) return err;
    fit->job.state.report.gram_precision = "f64"; /* of the products */
    while (!done) {
        err = run_step(fit, units, &done);
        if (err) return err;
        units = 0;
        if (done || ny_now() - saved_s < ny_context_checkpoint_s(fit->job.ctx)) continue;
        err = save(fit, NY_STAGE_ACCUMULATE, 0);
        if (err) return err;
        saved_s = ny_now();
    }
    ny_job_mark_time(job);
    return save(fit, ny_job_next(job), 0);
}

/* Products with the Gram in place of the Gram. */
static void count_multiply(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                           size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_problem problem = ny_settings_problem(f->settings, f->m);
    const struct ny_sums_shape shape = {
        .gram = NY_GRAM_NONE, .width = ny_krylov_width(&problem, f->m), .workers = workers};

    ny_sizes_common(l, f, workers, workers);
    ny_sizes_landmarks(l, f, true);
    ny_sizes_source(l, f, workers);
    ny_problem_count(l, f);
    ny_batch_count(l, NY_MEM_STORE, limit, ny_krylov_state_bytes(&problem, f->m));
    ny_sizes_sums(l, f, &shape);
}

/* The passes are all there may be, one a block; the seconds those that most fits need. */
static void multiply_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(sizes, plan), *t = &timing;
    const double usual = 0.6;
    double passes;
    struct ny_problem problem = ny_settings_problem(t->settings, t->plan->m);
    double columns = 2 * (double)ny_krylov_width(&problem, t->plan->m);
    unsigned steps = ny_krylov_steps(&problem, t->plan->m);
    double again_flops = t->plan->cache_bytes ? 0 : 2 * t->entries * t->price.d;
    struct ny_prices products = t->price; /* which are f64 */

    products.f64 = true;
    t->plan->stage_s[NY_STAGE_ACCUMULATE] =
        (ny_settings_needs_degrees(t->settings) ? 0 : ny_timing_prepare(t)) +
        ny_price_commit(&t->price, 4 * t->m * t->m);
    t->plan->passes += steps;
    t->plan->flops += ny_timing_tile_flops(t, NY_STAGE_ACCUMULATE) + (steps - 1) * again_flops +
                      steps * t->entries * 2 * columns;
    passes = fmax(1, usual * steps); /* the first computes columns that others may find kept */
    t->plan->stage_s[NY_STAGE_ACCUMULATE] +=
        ny_timing_share(t, NY_STAGE_ACCUMULATE, count_multiply) *
        (ny_timing_tiles(t, NY_STAGE_ACCUMULATE) +
         (passes - 1) * ny_timing_tiles(t, NY_STAGE_PROJECT) +
         passes * ny_price_map(&products, t->entries, columns));
}

const struct ny_stage ny_stage_multiply = {NY_STAGE_ACCUMULATE, run_multiply, count_multiply,
                                           multiply_work};

/* Computes P and q from the blocks, reports passes and residual, and frees the solver. A residual
 * that is still large is a warning and no error. */
static int solve(struct ny_fit *fit, struct ny_solution *solution)
{
    uint64_t units;
    int err = open_krylov(fit, &units);

    if (err) return err;
    begin_small(fit);
    err = ny_krylov_solve(fit->krylov, solution);
    ny_blas_serial();
    fit->job.state.report.inner_passes = fit->krylov->step;
    fit->job.state.report.inner_residual = ny_krylov_residual(fit->krylov);
    if (err == NY_OK && !ny_krylov_converged(fit->krylov))
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "after %s the eigenpairs of --inner randomized still have residuals of up to "
               "%.2g of their eigenvalue; raise --power or --oversample",
               ny_counted(fit->krylov->step, "pass", "passes").text,
               ny_krylov_residual(fit->krylov));
    ny_fit_drop_krylov(fit);
    return err;
}

/* Passes that have to go on omit what only rounding is left of. */
static int try_again(struct ny_fit *fit)
{
    bool coarse = fit->coarse;
    int err = ny_fit_try_again(fit);

    if (err || fit->coarse == coarse) return err;
    fit->job.state.record.coarse = true;
    ny_job_clear_checkpoint(&fit->job);
    return ny_job_save(&fit->job, NY_STAGE_ACCUMULATE);
}

/* Runs stage solve; its last commit deletes both images of the solver. */
static int run_finish(struct ny_job *job)
{
    static const char *const parts[] = {"krylov.0", "krylov.1", NULL};
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_solution solution = {0};
    int err = solve(fit, &solution);

    if (err) goto done;
    if (solution.inaccurate || ny_fit_sums_outdated(fit)) {
        err = try_again(fit);
        goto done;
    }
    if (ny_peers_leads(ny_context_peers(job->ctx))) err = ny_fit_conclude(fit, &solution);
    if (err == NY_OK) err = ny_shards_share_solution(fit);
    if (err == NY_OK) err = ny_job_save_without(job, ny_job_next(job), parts);
done:
    ny_solution_release(&solution, job->ctx);
    return err;
}

const struct ny_stage ny_stage_finish = {NY_STAGE_SOLVE, run_finish, ny_solve_count, ny_solve_work};
