/* Stage stats of a graph: the geometry, and γ, a power of two that makes distances about 1. */
#include <float.h>
#include <math.h>

#include "columns/pairs.h"
#include "neighbors/job_private.h"
#include "model/choice.h"
#include "model/geometry.h"

static double unit_gamma(const struct ny_geometry *geometry, const struct ny_rows_stats *stats)
{
    double spread = 0;

    for (size_t k = 0; k < geometry->d; k++)
        spread += 2 * stats->variance[k] * geometry->factor[k] * geometry->factor[k];
    /* 2^1000 is finite still: cosines do not look at it. */
    return spread > 0 && isfinite(spread) ? ldexp(1, -2 * (int)lrint(fmax(log2(spread), -1e3) / 2))
                                          : 1;
}

/* Makes the geometry, and keeps the columns that are chosen where they are not all. */
static int make_geometry(struct ny_graph_job *g, bool centred)
{
    struct ny_job *job = &g->job;
    struct ny_geometry_wish wish = {.scale = g->settings->scale,
                                    .centred = centred,
                                    .differences = centred,
                                    .workers = job->workers,
                                    .choice = g->settings->choice};
    unsigned passes = ny_geometry_passes(&wish, &job->points);
    size_t d = (size_t)job->points.d;
    int err;

    if (wish.choice.rule != NY_CHOOSE_ALL) {
        wish.chosen = ny_alloc(job->ctx, NY_MEM_OTHER, d);
        if (!wish.chosen) return NY_EBUDGET;
    }
    err = ny_geometry_new(&g->geometry, job->X, &wish);
    if (!err && passes) ny_job_count_passes(job, passes, passes * job->points.n, 0);
    if (!err && wish.chosen) err = ny_stored_choice_put(&job->keep, wish.chosen, d, &job->state);
    ny_free(job->ctx, wish.chosen);
    return err;
}

/* Takes bits off the means, down to about a millionth of the spread, so that x − centre is exact in
 * f64 where x has 32 bits, or is a whole number: rows that are equally far stay so, and go by their
 * numbers. */
static void round_centre(struct ny_geometry *geometry, const struct ny_rows_stats *stats)
{
    for (size_t k = 0; k < geometry->d; k++) {
        double step = exp2(logb(sqrt(stats->variance[k])) - 20);

        if (step > 0 && isfinite(step))
            geometry->centre[k] = rint(geometry->centre[k] / step) * step;
    }
}

/* Refuses rows that all of the lists would take for equal, as distances are kept in f32, and rows
 * whose lengths have no squares in f64, which cosines need. Rows that are equal are none of these.
 */
static int check_scale(const struct ny_graph_job *g, const struct ny_rows_stats *stats)
{
    const struct ny_geometry *geometry = g->geometry;
    bool cosine = g->settings->metric->base != NY_BASE_SQUARE;
    double least = cosine ? 1e-150 : (double)FLT_MIN, most = cosine ? 1e150 : INFINITY;
    double widest = 0;

    for (size_t k = 0; k < geometry->d; k++) {
        double low = (stats->minimum[k] - geometry->centre[k]) * geometry->factor[k];
        double high = (stats->maximum[k] - geometry->centre[k]) * geometry->factor[k];

        widest = fmax(widest, cosine ? fmax(fabs(low), fabs(high)) : high - low);
    }
    if (widest == 0 || (widest >= least && widest <= most)) return NY_OK;
    return ny_fail(g->job.ctx, NY_ENUMERIC,
                   "the %s of %s, of up to %.2g, are too %s for %s; divide the data by that number",
                   cosine ? "values" : "differences of rows", g->job.keep.place, widest,
                   widest < least ? "small" : "large",
                   cosine ? "cosines" : "the distances of a graph");
}

/* Warns of columns that make up the distances by themselves, unless the user has chosen a scale. */
static int warn_dominant(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    struct ny_dominant told;
    int err;

    if (g->settings->scale_typed) return NY_OK;
    err = ny_geometry_warn_dominant(g->geometry, job->X, g->settings->metric, false, &told);
    if (!err && told.text[0]) job->state.report.dominant_columns = told.text;
    if (!err) job->record.ops->put(job->record, &job->state);
    return err;
}

static int stage_stats(struct ny_job *job)
{
    struct ny_graph_job *g = (struct ny_graph_job *)job;
    bool centred = g->settings->metric->base == NY_BASE_SQUARE && !job->points.row_slots;
    struct ny_rows_stats stats = {0};
    double gamma;
    int err = make_geometry(g, centred);

    if (!err) err = warn_dominant(g);
    if (err) goto done;
    err = job->X->ops->stats(job->X, &stats);
    if (err) goto done;
    round_centre(g->geometry, &stats);
    err = check_scale(g, &stats);
    if (err) goto done;
    gamma = unit_gamma(g->geometry, &stats);
    err = ny_stored_geometry_put(&job->keep, "geometry", g->geometry, &gamma);
    if (err) goto done;
    ny_job_mark_time(job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_geometry_free(g->geometry, job->ctx);
    g->geometry = NULL;
    ny_rows_stats_release(&stats, job->ctx);
    return err;
}

int ny_graph_load_spec(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    double gamma = 1;
    int err =
        ny_stored_geometry(&g->geometry, &job->keep, "geometry", (size_t)job->points.d, &gamma);

    g->spec = (struct ny_columns_spec){.ctx = job->ctx,
                                       .kernel = g->settings->metric,
                                       .params = {.gamma = gamma},
                                       .geometry = g->geometry,
                                       .dtype = job->points.dtype};
    ny_columns_spec_points(&g->spec, &job->points);
    g->knn = (struct ny_knn){.spec = &g->spec,
                             .X = job->X,
                             .n = job->points.n,
                             .neighbors = g->settings->stored,
                             .workers = g->plan.workers};
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

void ny_graph_common(struct ny_layout *l, const struct ny_graph_sizes *f, unsigned workers)
{
    const size_t small_bytes = 512 << 10;

    ny_layout_add(l, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    ny_layout_add(l, NY_MEM_DICTIONARY,
                  small_bytes + 8 * (size_t)f->points->d * sizeof(double) +
                      ny_blas_bytes(f->job.threads, workers, ny_panel_rows(f->points->n)) +
                      (workers + 2) * f->points->reader_bytes);
}

static void count_stats(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_graph_sizes *g = ny_graph_sizes_of(sizes);
    const struct ny_geometry_wish wish = {.scale = g->settings->scale,
                                          .differences = true,
                                          .workers = workers,
                                          .choice = g->settings->choice};

    ny_graph_common(l, g, workers);
    ny_layout_add(l, NY_MEM_DICTIONARY, 2 * NY_CHUNK_BYTES);
    ny_geometry_count(l, &wish, g->points);
    if (wish.choice.rule != NY_CHOOSE_ALL)
        ny_batch_count(l, NY_MEM_DICTIONARY, limit, (size_t)g->points->d * sizeof(uint64_t));
}

const struct ny_stage ny_stage_graph_stats = {NY_STAGE_STATS, stage_stats, count_stats, NULL};
