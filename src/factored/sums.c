/*
 * Stage degrees of a fit by features: g = Φᵀ1, the sums of its columns, from which follow the
 * degrees d_i = φ_i·g of a divided kernel, and the mean μ = g/n of a centred one. The pass is short
 * beside a product, and begins anew after an interruption.
 */
#include "factored/factored_private.h"

#include "factored/pass.h"
#include "base/peers.h"

static const struct ny_feature_room room = {NY_PRECISION_F64, 1, 0};

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_feature_pass pass = {.fit = fit};
    size_t d = (size_t)job->points.d;
    double *g = NULL;
    int err;

    fit->m = d;
    err = ny_fit_load_frozen(fit);
    if (!err) err = ny_fit_lower_workers(fit);
    if (err) return err;
    g = ny_calloc(job->ctx, NY_MEM_DICTIONARY, d + 1, sizeof(double));
    err = g ? ny_feature_workers_new(&pass.workers, fit, &room, fit->job.workers) : NY_EBUDGET;
    if (err) goto done;
    pass.H = ny_matrix(g, d, 1);
    err = ny_feature_pass_run(&pass);
    if (!err) err = ny_peers_fold(ny_context_peers(job->ctx), g, d);
    if (err) goto done;
    g[d] = ny_dot(g, g, d) / (double)job->points.n; /* the mean of φ_i·g */
    err = ny_job_put_part(job, "degrees", g, (d + 1) * sizeof(double));
    if (err) goto done;
    ny_job_mark_time(job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_feature_workers_free(pass.workers);
    ny_free(job->ctx, g);
    return err;
}

/* The means of the columns as they are multiplied: of pca, whose rows have no pass for g. */
static void stored_means(const struct ny_geometry *geometry, double *mu)
{
    for (size_t j = 0; j < geometry->d; j++)
        mu[j] = geometry->centre[j] * geometry->factor[j];
}

int ny_feature_sums_load(struct ny_fit *fit, const struct ny_factored *sizes, double **mu)
{
    struct ny_context *ctx = fit->job.ctx;
    size_t d = sizes->d;
    double *g;
    int err = NY_OK;

    *mu = NULL;
    if (!sizes->sums && !sizes->centred) return NY_OK;
    g = ny_calloc(ctx, NY_MEM_DICTIONARY, d + 1, sizeof(double));
    if (!g) return NY_EBUDGET;
    if (sizes->sums)
        err = ny_job_get_part(&fit->job, "degrees", g, (d + 1) * sizeof(double));
    else
        stored_means(fit->geometry, g);
    if (sizes->divided) {
        ny_degrees_release(&fit->degrees, ctx);
        fit->degrees = (struct ny_degrees){.m = d, .v = g, .mean = g[d]};
        return err;
    }
    for (size_t j = 0; sizes->sums && j < d; j++)
        g[j] /= (double)fit->job.points.n;
    *mu = g;
    return err;
}

static void count(struct ny_layout *l, const struct ny_job_sizes *job, unsigned workers,
                  size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(job);
    size_t array = ny_sizes_arrays(f, 1) + sizeof(double);

    ny_sizes_common(l, f, workers, workers);
    ny_layout_add(l, NY_MEM_DICTIONARY, array);
    ny_sizes_source(l, f, workers);
    ny_batch_count(l, NY_MEM_STORE, limit, array);
    ny_feature_workers_lay(l, &f->spec, &room, workers);
}

static void work(const struct ny_job_sizes *job, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(job, plan), *t = &timing;

    plan->passes++;
    plan->flops += t->n * t->price.d;
    plan->stage_s[NY_STAGE_DEGREES] =
        ny_feature_pass_seconds(t, 1) * ny_timing_share(t, NY_STAGE_DEGREES, count) +
        ny_price_commit(&t->price, 0);
}

const struct ny_stage ny_stage_feature_sums = {NY_STAGE_DEGREES, run, count, work};
