/* The plan of a fit of a graph's map. */
#include "graph/pages.h"
#include "maps/graph_map.h"
#include "neighbors/job.h"

/* Assumes, before there is a graph, one component and no edge that is in two lists. */
static int sizes_of(struct ny_rows *X, const struct ny_fit_settings *settings,
                    struct ny_map_sizes *sizes)
{
    const struct ny_graph_map *map = ny_graph_map_of(settings->map);
    struct ny_stored_graph graph = {.X = X, .keep.ctx = X->ctx};
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    if (settings->graph_given) graph = settings->graph_given->graph;
    if (err == NY_OK) err = ny_graph_check_weights(&graph, settings);
    if (err) return err;
    if (!settings->graph_given) {
        if (settings->graph.n) points.n = settings->graph.n;
        graph.n = graph.largest = points.n;
        graph.stored = settings->graph.stored;
        graph.neighbors = settings->graph.neighbors;
        graph.largest_edges = points.n * settings->graph.neighbors;
    }
    *sizes = ny_map_sizes_make(map, settings, &points, &graph);
    return NY_OK;
}

int ny_graph_fit_plan(struct ny_rows *X, const struct ny_fit_settings *settings,
                      struct ny_plan *plan)
{
    const double opening = 200, paging = 400; /* beats of an edge, in memory or to pages */
    size_t element = ny_precision_bytes(settings->precision);
    struct ny_graph_plan graph = {0};
    struct ny_map_sizes sizes;
    int err = sizes_of(X, settings, &sizes);
    double m = settings->method && err == NY_OK ? (double)sizes.m : 0;

    *plan = (struct ny_plan){0};
    if (err == NY_OK && !settings->graph_given)
        err = ny_graph_plan_make(X, &settings->graph, &graph);
    if (err) return err;
    plan->m = sizes.m;
    plan->whole = !settings->method;
    ny_plan_memory(&sizes.job, plan);
    err = ny_calibration_get(sizes.job.ctx, graph.flops + 2 * ((double)sizes.nodes + m) * m * m,
                             plan->workers, &plan->rates);
    if (err) return err;
    plan->result_bytes =
        sizes.nodes *
        ((ny_settings_pairs(settings) + settings->asymmetric) * element + sizeof(uint32_t));
    plan->disk_bytes = plan->result_bytes;
    ny_map_way(&sizes, ny_memory_limit(sizes.job.ctx));
    ny_map_keep(&sizes, plan->workers, ny_memory_limit(sizes.job.ctx));
    if (sizes.paged) {
        uint64_t pages = ny_pages_disk_bytes(sizes.nodes, sizes.edges, sizes.graph.neighbors);
        /* Edges of a graph that is still to be made may all be in two lists. */
        uint64_t fewest = settings->graph_given ? sizes.edges : sizes.edges / 2;
        uint64_t certain = ny_pages_disk_bytes(sizes.nodes, fewest, sizes.graph.neighbors);

        plan->disk_bytes += pages;
        if (certain > plan->result_bytes) /* the rows of the map come after the pages */
            plan->scratch_bytes = certain - plan->result_bytes;
    }
    ny_plan_work(&sizes.job, plan);
    plan->stage_s[sizes.job.course->stages[0]->id] +=
        ny_calibration_alone(&plan->rates, (sizes.paged ? paging : opening) * (double)sizes.edges);
    if (!settings->graph_given) {
        ny_graph_plan_add(&graph, plan);
        ny_graph_plan_note(sizes.job.ctx, &graph);
    }
    ny_plan_sum_up(plan);
    return NY_OK;
}
