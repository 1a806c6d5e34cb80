/* Stages accumulate and solve of projected with its randomized solver (spectral/krylov.h): a pass
 * for each block, whose state is what a checkpoint keeps. */
#include "base/clock.h"
#include "fit/sums.h"

/* A step has as many places for a checkpoint as units, and that of its end. */
static uint64_t places_of(const struct ny_job *job)
{
    return ny_units_of(job->points.n) + 1;
}

static int save(struct ny_job *job, enum ny_stage next, uint64_t units_done)
{
    const double *state = ny_krylov_save(job->krylov);
    struct ny_problem problem = ny_job_problem(job);

    return ny_job_checkpoint_image(job, next, "krylov", state,
                                   ny_krylov_state_bytes(&problem, job->m),
                                   job->krylov->step * places_of(job) + units_done);
}

/* The solver as of the last checkpoint, or at its beginning. */
static int open_krylov(struct ny_job *job, uint64_t *units)
{
    struct ny_problem problem;
    struct ny_image_shape shape;
    void *image = NULL;
    uint64_t place = 0;
    int err;

    *units = 0;
    if (job->krylov) return NY_OK;
    if (json_is_true(json_object_get(job->record, "coarse"))) job->coarse = true;
    err = ny_job_prepare(job);
    if (err == NY_OK && job->stage == NY_STAGE_ACCUMULATE) err = ny_job_fit_workers(job);
    if (err) return err;
    if (job->stage == NY_STAGE_ACCUMULATE) ny_job_drop_outdated(job);
    problem = ny_job_problem(job);
    shape.bytes = ny_krylov_state_bytes(&problem, job->m);
    shape.units = ny_krylov_steps(&problem, job->m) * places_of(job);
    err = ny_job_load_image(job, "krylov", &shape, &image, &place);
    if (err) return err;
    job->krylov = ny_calloc(job->ctx, NY_MEM_SOLVE, 1, sizeof(*job->krylov));
    if (!job->krylov) {
        ny_free(job->ctx, image);
        return NY_EBUDGET;
    }
    *units = place % places_of(job);
    ny_blas_parallel(job->ctx, job->m);
    err = ny_krylov_new(job->krylov, &problem, image, (unsigned)(place / places_of(job)));
    ny_blas_serial();
    return err;
}

/* The pass of one block, and the next block. */
static int run_step(struct ny_job *job, uint64_t first_unit, bool *done)
{
    struct ny_krylov *krylov = job->krylov;
    struct ny_accumulate pass = {.acc = krylov->step == 0 ? &krylov->sums : NULL,
                                 .gram = NY_GRAM_NONE,
                                 .krylov = krylov,
                                 .first_unit = first_unit,
                                 .save = save};
    int err = ny_accumulate_pass(job, &pass);

    if (err) return err;
    ny_blas_parallel(job->ctx, job->m);
    err = ny_krylov_next(krylov, done);
    ny_blas_serial();
    return err;
}

int ny_krylov_accumulate(struct ny_job *job)
{
    double saved_s = ny_now();
    bool done = false;
    uint64_t units;
    int err = open_krylov(job, &units);

    if (err) return err;
    ny_field_set_text(ny_job_report(job), "gram_precision", "f64"); /* of the products */
    while (!done) {
        err = run_step(job, units, &done);
        if (err) return err;
        units = 0;
        if (done || ny_now() - saved_s < ny_context_checkpoint_s(job->ctx)) continue;
        err = save(job, NY_STAGE_ACCUMULATE, 0);
        if (err) return err;
        saved_s = ny_now();
    }
    ny_job_mark_time(job);
    return save(job, NY_STAGE_SOLVE, 0);
}

int ny_krylov_finish(struct ny_job *job, struct ny_solution *solution)
{
    json_t *report = ny_job_report(job);
    uint64_t units;
    int err = open_krylov(job, &units);

    if (err) return err;
    ny_blas_parallel(job->ctx, job->m);
    err = ny_krylov_solve(job->krylov, solution);
    ny_blas_serial();
    ny_field_set_count(report, "inner_passes", job->krylov->step);
    ny_field_set_number(report, "inner_residual", ny_krylov_residual(job->krylov));
    if (err == NY_OK && !ny_krylov_converged(job->krylov))
        ny_log(job->ctx, NY_LOG_WARNING,
               "after %u passes the eigenpairs of --inner randomized still have residuals of up to "
               "%.2g of their eigenvalue; raise --power or --oversample",
               job->krylov->step, ny_krylov_residual(job->krylov));
    ny_krylov_close(job);
    return err;
}

void ny_krylov_close(struct ny_job *job)
{
    if (job->krylov) ny_krylov_release(job->krylov);
    ny_free(job->ctx, job->krylov);
    job->krylov = NULL;
}

int ny_krylov_leave(struct ny_job *job)
{
    static const char *const parts[] = {"krylov.0", "krylov.1", NULL};

    return ny_job_save_without(job, NY_STAGE_PROJECT, parts);
}
