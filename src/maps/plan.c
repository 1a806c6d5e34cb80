/* The plan of a fit of a graph's map. */
#include "maps/graph_map.h"
#include "neighbors/job.h"

static const double opening_s = 1e-7; /* an end of an edge, while the graph is opened */

/* Assumes, before there is a graph, one component and no edge that is in two lists. */
static int shape_of(struct ny_store *store, const struct ny_fit_settings *settings,
                    struct ny_graph_shape *shape)
{
    const char *name = settings->graph_name;
    struct ny_stored_graph graph = {.store = store};
    struct ny_points_info points;
    json_t *record = NULL;
    int err = name ? ny_graph_need(store, name, &graph, &record) : ny_points_info(store, &points);

    json_decref(record);
    if (err) return err;
    if (!name) {
        graph.n = graph.largest = points.n;
        graph.stored = settings->graph.stored;
        graph.largest_edges = points.n * settings->graph.neighbors;
    }
    *shape = (struct ny_graph_shape){.ctx = ny_store_context(store),
                                     .settings = settings,
                                     .map = ny_graph_map_of(settings->map),
                                     .n = graph.n,
                                     .nodes = graph.largest,
                                     .edges = graph.largest_edges,
                                     .m = settings->landmarks,
                                     .opening_bytes = ny_stored_edges_bytes(&graph)};
    if (shape->m > shape->nodes) shape->m = (size_t)shape->nodes;
    return NY_OK;
}

int ny_graph_fit_plan(struct ny_store *store, const struct ny_fit_settings *settings,
                      struct ny_plan *plan)
{
    size_t element = ny_precision_bytes(settings->precision);
    struct ny_graph_plan graph = {0};
    struct ny_graph_shape shape;
    int err = shape_of(store, settings, &shape);
    double m = settings->method && err == NY_OK ? (double)shape.m : 0;

    *plan = (struct ny_plan){0};
    if (err == NY_OK && !settings->graph_name)
        err = ny_graph_plan_make(store, &settings->graph, &graph);
    if (err) return err;
    plan->m = shape.m;
    plan->whole = !settings->method;
    ny_graph_plan_memory(&shape, plan);
    err = ny_calibration_get(shape.ctx, graph.flops + 2 * ((double)shape.nodes + m) * m * m,
                             settings->patient, plan->workers, &plan->rates);
    if (err) return err;
    plan->result_bytes = shape.nodes * ((ny_settings_pairs(settings) + settings->asymmetric) *
                                            element +
                                        sizeof(uint32_t));
    plan->disk_bytes = plan->result_bytes;
    shape.map->work(&shape, plan);
    plan->stage_s[ny_graph_map_first(shape.map)] += opening_s * 2 * (double)shape.edges;
    if (!settings->graph_name) ny_graph_plan_add(&graph, plan);
    ny_plan_sum_up(plan);
    return NY_OK;
}
