/* The job of a fit of a graph's map: the graph, then the map's stages on its largest component. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/embedding.h"
#include "graph/near_rows.h"
#include "maps/graph_map.h"
#include "neighbors/job.h"
#include "place/transform.h"
#include "graph/order.h"

/* ---- the graph ------------------------------------------------------------------------------ */

int ny_graph_check_weights(const struct ny_stored_graph *graph,
                           const struct ny_fit_settings *settings)
{
    if (!graph->affinities) return NY_OK;
    if (!settings->map->kernel) return ny_stored_graph_lengths(graph, "isomap");
    if (settings->edge_weights == NY_EDGES_BINARY ||
        (!settings->edge_weights_typed && settings->gamma_auto))
        return NY_OK;
    return ny_fail(graph->keep.ctx, NY_EUSAGE,
                   "the weights of graph '%s' are affinities, which %s takes as they are; leave "
                   "--edge-weights and the width (--gamma) out, or give --edge-weights binary",
                   graph->keep.name, settings->map->name);
}

/* Loads the edges into memory, or into pages where the budget has no room for them. A result that
 * is done has no settings, and its graph is in memory. */
static int load_graph(struct ny_graph_fit *fit, const struct ny_stored_graph *graph)
{
    const struct ny_fit_settings *settings = fit->base.settings;
    struct ny_map_sizes sizes = {0};

    if (settings) {
        sizes = ny_map_sizes_make(fit->map, settings, &fit->base.job.points, graph);
        ny_map_way(&sizes, ny_memory_limit(fit->base.job.ctx));
    }
    fit->ways = sizes.ways;
    fit->order = ny_stored_graph_near(graph) ? NY_NODE_ORDER_NEAR : NY_NODE_ORDER;
    return sizes.paged ? ny_stored_pages(graph, 0, ny_pages_held(sizes.edges), &fit->edges)
                       : ny_stored_edges(graph, 0, &fit->edges);
}

/* A digest of a graph, as a record has it. */
struct digest {
    char text[17];
};

static int digest_of(const struct ny_stored_graph *graph, struct digest *digest)
{
    uint64_t number;
    int err = ny_stored_graph_digest(graph, &number);

    if (!err) snprintf(digest->text, sizeof(digest->text), "%016llx", (unsigned long long)number);
    return err;
}

int ny_graph_is_adopted(struct ny_record record, const struct ny_stored_graph *graph,
                        struct ny_record of_graph, bool *same)
{
    const struct ny_state state = ny_state_of(record);
    const struct ny_state others = ny_state_of(of_graph);
    const char *known = state.record.graph_digest;
    struct digest now = {""};
    int err = NY_OK;

    *same = graph->n == state.report.n && graph->largest == state.graph.largest;
    if (!*same) return NY_OK;
    if (known) err = digest_of(graph, &now);
    if (!err)
        *same = known ? strcmp(known, now.text) == 0
                      : ny_graph_facts_agree(&state.graph, &others.graph);
    return err;
}

int ny_graph_check_adopted(const char *map, struct ny_record record,
                           const struct ny_stored_graph *graph, struct ny_record of_graph)
{
    bool same;
    int err = ny_graph_is_adopted(record, graph, of_graph, &same);

    if (err || same) return err;
    return ny_fail(
        graph->keep.ctx, NY_EUSAGE,
        "graph '%s' is no longer the one that '%s' was made from; fit it again with --restart",
        graph->keep.name, map);
}

/* Opens the graph of a fit that is done, or under way. `places`: new rows are to find a place in
 * it. */
static int open_graph(struct ny_graph_fit *fit, bool places)
{
    const struct ny_job *job = &fit->base.job;
    const struct ny_named_graph *other = fit->other;
    struct ny_stored_graph graph;
    int err;

    if (other) {
        graph = other->graph;
        err = ny_graph_check_adopted(job->keep.name, job->record, &graph, other->record);
    } else {
        err = ny_stored_graph_need(&graph, job->X, &job->keep, job->record);
    }
    if (err == NY_OK && places) err = ny_stored_graph_places(&graph);
    if (err == NY_OK) err = load_graph(fit, &graph);
    return other ? ny_keep_current(&graph.keep, other->record, err) : err;
}

/* The graph of another NAME becomes that of this fit, with the rows it has. */
static int adopt_graph(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    const struct ny_stored_graph *graph = &fit->other->graph;
    struct ny_record of_graph = fit->other->record;
    struct digest digest;
    int err = digest_of(graph, &digest);

    if (err) return err;
    ny_graph_facts_adopt(job, of_graph);
    job->state.record.graph_digest = digest.text;
    job->state.graph.name = graph->keep.name;
    job->state.report.n = graph->n;
    job->state.record.nodes = ny_state_of(of_graph).record.nodes;
    if (graph->affinities && fit->base.settings->edge_weights == NY_EDGES_HEAT)
        job->state.report.edge_weights = "affinity";
    if (job->points.n > graph->n)
        ny_log(job->ctx, NY_LOG_NOTE, "%llu %s appended since graph '%s' was made, and not in '%s'",
               (unsigned long long)(job->points.n - graph->n),
               job->points.n - graph->n == 1 ? "row was" : "rows were", graph->keep.name,
               job->keep.name);
    ny_job_mark_time(job);
    return ny_job_save(job, ny_graph_map_first(fit->map));
}

static int have_graph(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    enum ny_stage_id stage = ny_stage_parse(job->state.record.stage);
    enum ny_stage_id first = ny_graph_map_first(fit->map);
    int err;

    if (stage != NY_STAGE_STATS && stage != NY_STAGE_NEIGHBORS && stage != NY_STAGE_GRAPH)
        return NY_OK;
    if (fit->other) return adopt_graph(fit);
    err = ny_graph_job_run(job->X, &job->keep, &fit->base.settings->graph, job->record, first);
    job->state = ny_state_of(job->record);
    job->marked_s = ny_now();
    return err;
}

/* Images and parts of the stages of a map are by node: another order of these is of no use. */
static int check_order(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;

    if (ny_is(job->state.record.stage, ny_stage_name(ny_graph_map_first(fit->map))) &&
        !job->state.at.part)
        job->state.record.node_order = fit->order; /* nothing is by node so far */
    if (job->state.record.node_order == fit->order) return NY_OK;
    return ny_fail(job->ctx, NY_ESTORE,
                   "'%s' in %s was begun by a version of nystream that has the nodes of a graph in "
                   "another order; begin it anew with --restart",
                   job->keep.name, job->keep.place);
}

/* Writes what joins the components of the graph: who has looked for neighbours can look for more,
 * and a graph from elsewhere has the edges of its file. */
static void advise(const struct ny_graph_fit *fit, char *text, size_t size)
{
    const struct ny_state_graph *facts = &fit->base.job.state.graph;
    const char *graph = facts->name;

    if (facts->edge_values)
        snprintf(text, size,
                 "give graph '%s' edges that join its components ('nystream graph --edges')",
                 graph);
    else if (graph)
        snprintf(text, size,
                 "make graph '%s' with more --neighbors or with --connect, which joins the "
                 "components ('nystream graph')",
                 graph);
    else
        snprintf(text, size, "raise --neighbors or give --connect, which joins the components");
}

/* Says, when the map begins, which rows the largest component leaves out, and refuses where these
 * are most of them: NY_EDATA. A job of 1.0, which has no option `largest`, goes on. */
static int check_component(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    uint64_t n = job->points.n, kept = fit->edges.n, left = n - kept;
    char cure[400];

    job->state.report.embedded = kept;
    if (!left || ny_stage_parse(job->state.record.stage) != ny_graph_map_first(fit->map))
        return NY_OK;
    advise(fit, cure, sizeof(cure));
    if (kept < left && !fit->base.settings->largest_alone && job->state.options.largest)
        return ny_fail(
            job->ctx, NY_EDATA,
            "the largest component of the graph holds %llu of %llu rows (%.2f %%), less than half, "
            "and the map would leave the others out: %s; or give --largest to use only these rows",
            (unsigned long long)kept, (unsigned long long)n, 100 * (double)kept / (double)n, cure);
    ny_log(job->ctx, NY_LOG_WARNING,
           "%llu of %llu rows (%.2f %%) are not in the largest component of the graph, so they are "
           "not in '%s'; to include them, %s; 'nystream export --part rows' lists the rows that "
           "are in it",
           (unsigned long long)left, (unsigned long long)n, 100 * (double)left / (double)n,
           job->keep.name, cure);
    return NY_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

int ny_graph_fit_run(const struct ny_fit *begun)
{
    struct ny_graph_fit fit = {.base = *begun,
                               .map = ny_graph_map_of(begun->settings->map),
                               .other = begun->settings->graph_given};
    struct ny_job *job = &fit.base.job;
    int err = job->X->ops->info(job->X, &job->points);

    job->state = ny_state_of(job->record);
    if (err == NY_OK) err = have_graph(&fit);
    if (err) return err;
    job->points.n = job->state.report.n;
    err = open_graph(&fit, false);
    if (err == NY_OK) err = check_order(&fit);
    if (err == NY_OK) err = check_component(&fit);
    if (err) goto done;
    job->course = fit.map->course;
    err = ny_job_run(job);
done:
    ny_graph_fit_drop_kept(&fit);
    ny_edges_release(&fit.edges);
    ny_fit_drop_problem(&fit.base);
    ny_unreserve(job->ctx, NY_MEM_PROCESS, job->blas_bytes);
    return err;
}

int ny_graph_transform(const struct ny_fitted *fitted, const struct ny_named_graph *other,
                       struct ny_new_rows *rows)
{
    struct ny_graph_fit fit = {.other = other,
                               .map = ny_graph_map_of(ny_map_of(fitted->record)),
                               .base.job = {.ctx = fitted->X->ctx,
                                            .X = fitted->X,
                                            .keep = fitted->keep,
                                            .record = fitted->record,
                                            .state = ny_state_of(fitted->record)}};
    struct ny_job *job = &fit.base.job;
    int err = job->X->ops->info(job->X, &job->points);

    if (err) return err;
    job->points.n = job->state.report.n;
    job->workers = ny_context_threads(job->ctx);
    err = open_graph(&fit, true);
    if (err == NY_OK) err = fit.map->transform(&fit, rows);
    ny_edges_release(&fit.edges);
    return err;
}
