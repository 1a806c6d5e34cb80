#include "neighbors/job.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "columns/kernels.h"
#include "columns/pairs.h"
#include "neighbors/job_private.h"

/* The way that the record has, which may have been decided: options of another spelling give the
 * same lists. */
static enum ny_knn_way recorded_way(const char *word, enum ny_knn_way way)
{
    for (int w = NY_KNN_AUTO; w <= NY_KNN_SIEVE; w++)
        if (ny_is(word, ny_knn_way_name((enum ny_knn_way)w))) return (enum ny_knn_way)w;
    return way;
}

/* Plans the job in the way of its record. All pairs need the least memory: a tree, or a sieve that
 * --knn auto has chosen to find all neighbours, gives way to them where the budget does not hold it
 * any more, and they begin anew. */
static int plan_way(struct ny_graph_job *g, struct ny_graph_settings *own)
{
    struct ny_job *job = &g->job;
    bool finding = ny_stage_parse(job->state.record.stage) == NY_STAGE_NEIGHBORS;
    bool automatic = own->way == NY_KNN_AUTO, exactly;
    int err;

    own->way = recorded_way(job->state.graph.knn, own->way);
    err = ny_graph_plan_make(job->X, own, &g->plan);
    if (err) return err;
    exactly =
        own->way == NY_KNN_TREE || (own->way == NY_KNN_SIEVE && automatic && own->recall >= 1);
    if (finding && exactly && !g->plan.fits) {
        ny_job_clear_checkpoint(job);
        own->way = NY_KNN_EXACT;
        err = ny_graph_plan_make(job->X, own, &g->plan);
    }
    ny_graph_set_way(g, own->way == NY_KNN_AUTO ? g->plan.way : own->way);
    return err;
}

int ny_graph_job_run(struct ny_rows *X, const struct ny_keep *keep,
                     const struct ny_graph_settings *settings, struct ny_record record,
                     enum ny_stage_id after)
{
    struct ny_context *ctx = X->ctx;
    struct ny_graph_settings own = *settings;
    struct ny_graph_job g = {.job = {.ctx = ctx,
                                     .X = X,
                                     .keep = *keep,
                                     .record = record,
                                     .state = ny_state_of(record),
                                     .course = &ny_course_graph,
                                     .after = after,
                                     .marked_s = ny_now()},
                             .settings = &own,
                             .tree_ns = INFINITY};
    size_t blas_bytes = 0;
    uint64_t n;
    int err = X->ops->info(X, &g.job.points);

    if (err == NY_OK) ny_job_count_anew(&g.job);
    n = g.job.state.report.n;
    if (err == NY_OK && (n < 2 || n > g.job.points.n))
        err = ny_fail(ctx, NY_ESTORE, "%s has %llu rows, but '%s' was begun on %llu", X->name,
                      (unsigned long long)g.job.points.n, keep->name, (unsigned long long)n);
    own.n = n;
    if (err == NY_OK) err = plan_way(&g, &own);
    if (err) return err;
    g.job.points.n = n;
    g.job.workers = g.plan.workers;
    blas_bytes = ny_blas_bytes(settings->threads, g.plan.workers, ny_panel_rows(g.job.points.n));
    err = ny_reserve(ctx, NY_MEM_PROCESS, blas_bytes);
    if (err) return err;
    err = ny_job_run(&g.job);
    ny_geometry_free(g.geometry, ctx);
    ny_unreserve(ctx, NY_MEM_PROCESS, blas_bytes);
    return err;
}
