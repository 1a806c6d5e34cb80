/*
 * ny_graph: a graph of nearest neighbours as a result of its own, which fits and paths may name. It
 * is a kind of request (api/request.h), and its job is in neighbors/.
 */
#include "api/announce.h"
#include "api/request.h"
#include "base/budget.h"

/* Takes the settings from the options, and refuses those with which --knn or --scale have no
 * value: they are for fits. */
static int take_settings(struct ny_request *request)
{
    const struct ny_own_landmarks own = {.name = request->name, .record = request->record};
    int err = ny_options_check(request->options, NY_GROUP_GRAPH);

    if (err == NY_OK && !(ny_options_text(request->options, "knn") &&
                          ny_options_text(request->options, "scale")))
        return ny_fail(request->ctx, NY_EUSAGE,
                       "options graph and kernel precomputed are for fits; leave them out to make "
                       "a graph");
    if (!err)
        err = ny_given_choice_read(&request->settings.given_choice, request->store,
                                   request->options, request->stored ? &own : NULL);
    if (err) return err;
    request->graph = ny_settings_graph(request->options, request->ctx);
    request->graph.choice = request->settings.given_choice.choice;
    err = ny_graph_settings_decide(&request->graph, request->store,
                                   ny_options_text(request->options, "sweep"));
    if (err == NY_OK && !request->graph.forest && ny_options_is_set(request->options, "seed"))
        return ny_fail(request->ctx, NY_EUSAGE, "--seed acts only with --knn forest");
    return err;
}

/* Makes a new record, whose report says how the graph is to be made. The seed is in it only
 * where it acts. */
static json_t *record_of(const struct ny_request *request, const struct ny_points_info *points,
                         json_t *options)
{
    json_t *record = ny_job_record_new(points, options, request->kind->name);

    ny_graph_facts_begin(json_object_get(record, "report"), &request->graph);
    ny_field_set_text(json_object_get(record, "report"), "features",
                      ny_options_text(request->options, "features"));
    if (request->graph.forest)
        ny_field_set_count(json_object_get(record, "report"), "seed", request->graph.seed);
    ny_field_set_count(json_object_get(record, "report"), "threads", request->graph.threads);
    return record;
}

/* Plans and tells the graph, and refuses one that memory or disk cannot hold. A note says when a
 * forest cannot keep all rows in memory, since each of its trees then reads them several times. */
static int announce(struct ny_request *request)
{
    struct ny_plan *plan = &request->plan;
    struct ny_points_info points;
    struct ny_graph_plan graph;
    int err = ny_graph_plan_make(request->store, &request->graph, &graph);

    *plan = (struct ny_plan){.fits = true, .whole = true, .workers = graph.workers};
    if (err == NY_OK) err = ny_points_info(request->store, &points);
    if (err == NY_OK)
        err = ny_calibration_get(request->ctx, graph.flops, false, graph.workers, &plan->rates);
    if (err) return err;
    ny_graph_plan_add(&graph, plan);
    ny_plan_sum_up(plan);
    err = ny_plan_tell(request->ctx, plan);
    if (err) return err;
    if (!plan->fits) return ny_budget_refuse(request->ctx, "graph", plan->memory_min_bytes, "", "");
    err = ny_plan_check_disk(request->store, request->name, plan);
    if (!err) err = ny_plan_check_time(request->options, plan, request->record, "this graph");
    if (err) return err;
    if (graph.forest && graph.held_rows < points.n)
        ny_log(request->ctx, NY_LOG_NOTE,
               "%.0f %% of the rows are in memory at a time, so that each tree reads them several "
               "times; a larger --memory saves time",
               100 * (double)graph.held_rows / (double)points.n);
    return NY_OK;
}

/* Describes the file of columns that an option may name. */
static int inputs_of(const struct ny_request *request, json_t **out)
{
    uint64_t digest = ny_given_choice_digest(&request->settings.given_choice);

    *out = json_object();
    if (digest) ny_request_set_digest(*out, "features", digest);
    return NY_OK;
}

static int keep(struct ny_request *request)
{
    return ny_given_choice_keep(&request->settings.given_choice, request->store, request->name,
                                request->record);
}

static int run(struct ny_request *request)
{
    return ny_graph_job_run(request->store, request->name, &request->graph, request->record,
                            NY_STAGE_DONE);
}

const struct ny_request_kind ny_request_graph = {.name = "graph",
                                                 .groups = NY_GROUP_GRAPH,
                                                 .settings = take_settings,
                                                 .inputs = inputs_of,
                                                 .record = record_of,
                                                 .announce = announce,
                                                 .keep = keep,
                                                 .run = run};

int ny_graph(struct ny_context *context, const char *path, const char *name,
             const struct ny_options *options, struct ny_report **report)
{
    return ny_request_run(&ny_request_graph, context, path, name, options, report);
}
