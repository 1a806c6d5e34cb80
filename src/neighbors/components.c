/*
 * Runs stage graph of the verb graph: decides the limit of distances, finds the components of the
 * graph that the lists make, joins them if that is asked for (neighbors/connect.c), and reports its
 * figures. It leaves part components, and the record's facts: edges, degrees, components and, with
 * --sweep, the table of components by number of neighbours. All lists are in memory while it runs.
 */
#include <math.h>
#include <string.h>

#include "graph/components.h"
#include "neighbors/job_private.h"
#include "model/embedding.h"

/* All lists in memory, with the distances where there is a limit. */
static void lay(struct ny_layout *l, struct ny_lists *lists, bool limited)
{
    size_t n = (size_t)lists->n, t = lists->stored;

    lists->row = ny_lay(l, NY_MEM_DICTIONARY, n, t * sizeof(uint32_t));
    if (limited) lists->distance = ny_lay(l, NY_MEM_DICTIONARY, n, t * sizeof(float));
}

static int load_lists(struct ny_graph_job *g, struct ny_layout *l, struct ny_lists *lists)
{
    struct ny_job *job = &g->job;
    uint64_t n = job->points.n;
    size_t t = g->settings->stored;
    struct ny_embedding_layout layout = ny_graph_layout("neighbors", n, t);
    int err;

    *lists = (struct ny_lists){.n = n,
                               .stored = t,
                               .t = g->settings->neighbors,
                               .limit = (float)g->settings->max_distance, /* as distances are */
                               .mutual = g->settings->mutual};
    lay(l, lists, ny_graph_limited(g->settings));
    if (l->err) return l->err;
    err = ny_embedding_rows(&job->keep, &layout, 0, (size_t)n, (void *)lists->row);
    if (err == NY_OK && !ny_rows_below(lists->row, (size_t)n * t, n))
        err = ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    if (err || !lists->distance) return err;
    layout = ny_graph_layout("distances", n, t);
    return ny_embedding_rows(&job->keep, &layout, 0, (size_t)n, (void *)lists->distance);
}

/* The limit in force, the lesser of two: the quantile is that of the distances of the t nearest. */
static int decide_limit(struct ny_graph_job *g, struct ny_lists *lists)
{
    size_t n = (size_t)lists->n, t = lists->t;
    double q = g->settings->distance_quantile;
    float *values;

    if (isnan(q)) return NY_OK;
    values = ny_calloc(g->job.ctx, NY_MEM_DICTIONARY, n, t * sizeof(float));
    if (!values) return NY_EBUDGET;
    for (size_t i = 0; i < n; i++)
        memcpy(values + i * t, lists->distance + i * lists->stored, t * sizeof(float));
    lists->limit = fmin(lists->limit, ny_quantile(values, n * t, q));
    ny_free(g->job.ctx, values);
    return NY_OK;
}

/* Returns the limit as it was asked for. */
static double asked_limit(const struct ny_graph_job *g, const struct ny_lists *lists)
{
    double most = g->settings->max_distance;

    return lists->limit == (float)most ? most : lists->limit;
}

/* One line of the table: t neighbours, with the limit or without it. */
static int sweep_line(struct ny_graph_job *g, struct ny_lists lists, size_t t, bool limited)
{
    struct ny_components components;
    struct ny_record record = g->job.record;
    int err;

    lists.t = t;
    if (!limited) lists.limit = INFINITY;
    err = ny_components_find(&components, g->job.ctx, &lists);
    if (err) return err;
    record.ops->append(record, NY_LIST_SWEEP, (double)t);
    record.ops->append(record, NY_LIST_SWEEP, limited ? asked_limit(g, &lists) : NAN);
    record.ops->append(record, NY_LIST_SWEEP, (double)components.count);
    record.ops->append(record, NY_LIST_SWEEP, (double)components.largest / (double)lists.n);
    ny_components_release(&components);
    return NY_OK;
}

/* Fills the table of components for other numbers of neighbours, from the same lists. */
static int sweep(struct ny_graph_job *g, const struct ny_lists *lists)
{
    bool limited = ny_graph_limited(g->settings);
    int err = NY_OK;

    g->job.record.ops->begin_list(g->job.record, NY_LIST_SWEEP);
    for (size_t k = 0; k < g->settings->sweeps && err == NY_OK; k++) {
        err = sweep_line(g, *lists, g->settings->sweep[k], false);
        if (err == NY_OK && limited) err = sweep_line(g, *lists, g->settings->sweep[k], true);
        if (err == NY_OK) err = ny_check_interrupt(g->job.ctx);
    }
    return err;
}

int ny_graph_describe(struct ny_job *job, const struct ny_lists *lists,
                      const struct ny_components *components)
{
    struct ny_state_graph *facts = &job->state.graph;
    uint32_t *degree = ny_calloc(job->ctx, NY_MEM_DICTIONARY, (size_t)lists->n, sizeof(*degree));
    uint64_t edges, isolated = 0, ends = 0; /* ends: twice the edges of the largest component */
    uint32_t most = 0;

    if (!degree) return NY_EBUDGET;
    edges = ny_lists_degrees(lists, degree);
    for (uint64_t i = 0; i < lists->n; i++) {
        isolated += degree[i] == 0;
        if (components->of[i] == 0) ends += degree[i];
        if (degree[i] > most) most = degree[i];
    }
    ny_free(job->ctx, degree);
    facts->distance_limit = lists->limit;
    facts->edges = edges;
    facts->degree_mean = 2 * (double)edges / (double)lists->n;
    facts->degree_max = most;
    facts->isolated = isolated;
    facts->components = components->count;
    facts->largest = components->largest;
    facts->largest_share = (double)components->largest / (double)lists->n;
    facts->largest_edges = ends / 2;
    return NY_OK;
}

/* Reports the figures of the graph. NY_EDATA if it has no edges at all. */
static int describe(struct ny_graph_job *g, const struct ny_lists *lists,
                    const struct ny_components *components)
{
    int err = ny_graph_describe(&g->job, lists, components);

    if (err) return err;
    g->job.state.graph.distance_limit = asked_limit(g, lists);
    g->job.state.record.edge_limit = lists->limit;
    if (components->largest < 2)
        return ny_fail(g->job.ctx, NY_EDATA,
                       "no two rows are neighbours within a distance of %g; raise --max-distance "
                       "or --distance-quantile%s",
                       lists->limit, lists->mutual ? ", or leave --mutual out" : "");
    /* A fit tells what its map leaves out. */
    if (components->count > 1 && g->job.after == NY_STAGE_DONE)
        ny_log(g->job.ctx, NY_LOG_WARNING,
               "the graph has %llu components; the largest holds %.2f %% of the rows; raise "
               "--neighbors or give --connect to join them",
               (unsigned long long)components->count,
               100 * (double)components->largest / (double)lists->n);
    return NY_OK;
}

/* Runs the stage; its last commit deletes the images of lists and of bridges. */
static int stage_graph(struct ny_job *job)
{
    struct ny_graph_job *g = (struct ny_graph_job *)job;
    static const char *const images[] = {"lists.0", "lists.1", "joins.0", "joins.1", NULL};
    struct ny_components components = {0};
    struct ny_layout l = {.ctx = job->ctx};
    struct ny_lists lists;
    int err = g->geometry ? NY_OK : ny_graph_load_spec(g);

    if (err == NY_OK) err = load_lists(g, &l, &lists);
    if (err == NY_OK) err = decide_limit(g, &lists);
    if (err) goto done;
    err = sweep(g, &lists);
    if (err) goto done;
    err = ny_components_find(&components, job->ctx, &lists);
    if (err == NY_OK && g->settings->connect) err = ny_graph_connect(g, &lists, &components);
    if (err) goto done;
    err = describe(g, &lists, &components);
    if (err) goto done;
    err = ny_keep_put(&job->keep, "components", components.of, (size_t)lists.n * sizeof(uint32_t));
    if (err) goto done;
    ny_job_mark_time(job);
    ny_job_clear_checkpoint(job);
    err = ny_job_save_without(job, ny_job_next(job), images);
done:
    ny_components_release(&components);
    ny_free(job->ctx, g->bridge);
    ny_layout_free(&l);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void count_graph(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_graph_sizes *f = ny_graph_sizes_of(sizes);
    struct ny_lists lists = {.n = f->points->n, .stored = f->settings->stored};
    size_t n = (size_t)f->points->n;

    ny_graph_common(l, f, workers);
    lay(l, &lists, ny_graph_limited(f->settings));
    if (ny_graph_limited(f->settings)) /* a copy of distances to sort */
        ny_lay_peak(l, NY_MEM_DICTIONARY, n * lists.stored, sizeof(float));
    ny_graph_bridges_count(l, f, workers, limit);
    ny_components_count(l, n);
    ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint32_t)); /* degrees */
    ny_layout_add(l, NY_MEM_DICTIONARY, 2 * NY_CHUNK_BYTES);
    ny_batch_count(l, NY_MEM_DICTIONARY, limit, n * sizeof(uint32_t));
}

const struct ny_stage ny_stage_graph_components = {NY_STAGE_GRAPH, stage_graph, count_graph, NULL};
