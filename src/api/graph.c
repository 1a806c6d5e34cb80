/*
 * ny_graph: a graph as a result of its own, which fits and paths may name: of nearest neighbours,
 * or of edges from elsewhere (--edges). It is a kind of request (api/request.h), and its jobs are
 * in neighbors/. ny_path: a shortest path between two rows in the graph that a result has stored.
 */
#include "api/announce.h"
#include "api/call.h"
#include "api/report.h"
#include "api/sharded.h"
#include "base/budget.h"
#include "io/edge_file.h"
#include "io/identity.h"
#include "results/graphs.h"
#include "results/keep.h"
#include "results/path.h"
#include "results/record.h"
#include "records/begin.h"

/* The choices of --edge-weights, of which a graph has the last two and a fit the others. */
enum { HEAT, BINARY, LENGTHS, AFFINITIES };

static bool is_given(const struct ny_request *request)
{
    return request->edges.path != NULL;
}

/* Takes the settings of a graph from elsewhere. The rows of the store are its nodes, where it has
 * some. */
static int take_edges(struct ny_request *request)
{
    struct ny_given_edges *edges = &request->edges;
    struct ny_rows_info points;
    uint64_t nodes = 0;
    int err = ny_points_info(request->store, &points);

    if (err) return err;
    edges->path = ny_options_get(request->options, "edges");
    edges->open = ny_edge_file_open;
    edges->keep_bytes = 2 * NY_READING_BYTES;
    edges->affinities = ny_options_choice(request->options, "edge-weights") == AFFINITIES;
    ny_options_size(request->options, "nodes", &nodes);
    if (points.n && nodes && nodes != points.n)
        return ny_fail_idle(request->ctx, "nodes", "a store of points");
    edges->nodes = points.n ? points.n : nodes;
    return NY_OK;
}

/* Takes the settings from the options, and refuses those with which --knn or --scale have no
 * value: they are for fits. */
static int take_settings(struct ny_request *request)
{
    const struct ny_own_landmarks own = {
        .name = request->name, .record = request->record, .again = request->again != NULL};
    int err = ny_options_check(request->options, NY_GROUP_GRAPH);

    if (err == NY_OK && ny_options_is_set(request->options, "edges")) return take_edges(request);
    if (err == NY_OK &&
        !(ny_options_get(request->options, "knn") && ny_options_get(request->options, "scale")))
        return ny_fail_idle(request->ctx, "graph", "the verb graph");
    if (!err)
        err = ny_given_choice_read(&request->settings.given_choice, request->store,
                                   request->options, request->stored ? &own : NULL);
    if (err) return err;
    request->graph = ny_settings_graph(request->options, request->ctx);
    request->graph.choice = request->settings.given_choice.choice;
    err = ny_refuse_nodes(request->store);
    if (err) return err;
    return ny_graph_settings_decide(&request->graph, ny_store_rows(request->store),
                                    ny_options_get(request->options, "sweep"));
}

/* Puts what a graph from elsewhere has into its new record: one stage, and perhaps no points. */
static json_t *record_of_edges(const struct ny_request *request, const struct ny_rows_info *points,
                               json_t *record)
{
    json_t *report = json_object_get(record, "report");

    ny_record_begin_edges(report, &request->edges);
    ny_field_set_count(report, "n", request->edges.n);
    ny_field_set_count(report, "threads", ny_context_threads(request->ctx));
    ny_field_set_text(record, "stage", ny_stage_name(NY_STAGE_GRAPH));
    if (points->n) return record;
    ny_field_set_json(report, "d", json_null());
    ny_field_set_json(record, "nodes", json_true());
    return record;
}

/* Makes a new record, whose report says how the graph is to be made. */
static json_t *record_of(const struct ny_request *request, const struct ny_rows_info *points,
                         json_t *options)
{
    json_t *record = ny_record_new(points, options, request->kind->name);

    if (is_given(request)) return record_of_edges(request, points, record);
    ny_record_begin_graph(json_object_get(record, "report"), &request->graph);
    ny_field_set_text(json_object_get(record, "report"), "features",
                      ny_options_get(request->options, "features"));
    ny_field_set_count(json_object_get(record, "report"), "threads", request->graph.threads);
    return record;
}

/* Plans a graph of neighbors that are to be found. */
static int plan_neighbors(struct ny_request *request, struct ny_graph_plan *graph)
{
    struct ny_plan *plan = &request->plan;
    struct ny_rows_info points;
    enum ny_stage_id stage = ny_stage_parse(ny_field_text(request->record, "stage"));
    struct ny_state state;
    int err = ny_points_info(request->store, &points);

    if (err) return err;
    state = ny_state_of(ny_record_of(request->record));
    request->graph.n = ny_job_rows(&state, points.n);
    err = ny_graph_plan_make(ny_store_rows(request->store), &request->graph, graph);
    *plan = (struct ny_plan){.fits = true, .whole = true, .workers = graph->workers};
    if (err == NY_OK)
        err = ny_calibration_get(request->ctx, graph->flops, graph->workers, &plan->rates);
    if (err) return err;
    ny_graph_plan_add(graph, plan);
    if (request->record && ny_stage_rank(stage) > ny_stage_rank(NY_STAGE_NEIGHBORS))
        plan->scratch_bytes = 0; /* the lists are stored */
    ny_plan_sum_up(plan);
    return NY_OK;
}

/* Plans and tells the graph, and refuses one that memory or disk cannot hold. */
static int announce(struct ny_request *request)
{
    struct ny_plan *plan = &request->plan;
    struct ny_graph_plan graph;
    bool given = is_given(request);
    int err = given ? ny_given_edges_look(request->ctx, &request->edges)
                    : plan_neighbors(request, &graph);

    if (!err && given) err = ny_given_edges_plan(request->ctx, &request->edges, plan);
    if (!err) err = ny_plan_tell(request->ctx, plan);
    if (err) return err;
    if (!plan->fits) return ny_budget_refuse(request->ctx, "graph", plan->memory_min_bytes, "", "");
    err = ny_plan_check_disk(request->store, request->name, plan);
    if (!err) err = ny_plan_check_time(request->options, plan, request->record, "this graph");
    if (!err && !given) ny_graph_plan_note(request->ctx, &graph);
    return err;
}

/* Describes the files that options may name: of columns, and of edges. */
static int inputs_of(const struct ny_request *request, json_t **out)
{
    uint64_t digest = ny_given_choice_digest(&request->settings.given_choice);
    int err = NY_OK;

    *out = json_object();
    if (digest) ny_request_set_digest(*out, "features", digest);
    if (!is_given(request)) return NY_OK;
    err = ny_file_digest(request->ctx, request->edges.path, &digest);
    if (!err) ny_request_set_digest(*out, "edges", digest);
    return err;
}

static int keep(struct ny_request *request)
{
    return ny_given_choice_keep(&request->settings.given_choice, request->store, request->name,
                                request->record);
}

static int run(struct ny_request *request)
{
    struct ny_rows *X = ny_store_rows(request->store);
    const struct ny_keep keep = ny_store_keep(request->store, request->name);

    if (is_given(request))
        return ny_given_edges_run(X, &keep, &request->edges, ny_record_of(request->record));
    return ny_graph_job_run(X, &keep, &request->graph, ny_record_of(request->record),
                            NY_STAGE_DONE);
}

const struct ny_request_kind ny_request_graph = {.name = "graph",
                                                 .function = "ny_graph",
                                                 .groups = NY_GROUP_GRAPH,
                                                 .makes_store = "edges",
                                                 .settings = take_settings,
                                                 .inputs = inputs_of,
                                                 .record = record_of,
                                                 .announce = announce,
                                                 .keep = keep,
                                                 .run = run};

int ny_graph(struct ny_context *context, const char *path, const char *name,
             const struct ny_options *options, struct ny_report **report)
{
    const struct ny_request_call call = {path, name, options, &ny_request_graph, NULL};

    return ny_request_any(context, &call, report);
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* Reports the rows of the path in order, and the length up to each of them; "length" is the last
 * one. */
static int describe_path(const struct ny_stored_path *path, struct ny_report **report)
{
    json_t *object = json_object(), *rows = json_array(), *lengths = json_array();

    for (size_t k = 0; k < path->count; k++) {
        ny_field_append(rows, json_integer((json_int_t)path->rows[k]));
        ny_field_append(lengths, json_real(path->lengths[k]));
    }
    ny_field_set_number(object, "length", path->lengths[path->count - 1]);
    ny_field_set_json(object, "rows", rows);
    ny_field_set_json(object, "lengths", lengths);
    return ny_report_of_json(report, path->ctx, object);
}

/* Finds the path that --from and --to ask for, neither of which has a default, in the graph of this
 * record. */
static int find_path(const struct ny_stored_graph *graph, struct ny_record record,
                     const struct ny_options *options, struct ny_report **report)
{
    struct ny_stored_path path = {0};
    uint64_t from, to;
    int err;

    if (!ny_options_size(options, "from", &from) || !ny_options_size(options, "to", &to))
        return ny_fail(graph->keep.ctx, NY_EUSAGE, "a path needs --from and --to");
    err = ny_stored_path_find(&path, graph, from, to);
    err = ny_keep_current(&graph->keep, record, err);
    if (err == NY_OK) err = describe_path(&path, report);
    ny_stored_path_release(&path);
    return err;
}

int ny_path(struct ny_context *context, const char *path, const char *graph,
            const struct ny_options *options, struct ny_report **report)
{
    struct ny_named_graph named = {.record.of = NULL};
    struct ny_store *store = NULL;
    struct ny_options none;
    int err = NY_GIVEN(context, path, graph);

    if (report) *report = NULL;
    if (err) return err;
    options = ny_options_given(options, context, &none);
    err = ny_call_open(&store, context, path, graph);
    if (err == NY_OK) err = ny_graph_need(store, graph, &named);
    if (err == NY_OK) err = ny_stored_graph_lengths(&named.graph, "a path");
    if (err == NY_OK) err = find_path(&named.graph, named.record, options, report);
    ny_record_free(named.record);
    ny_call_close(store);
    return err;
}
