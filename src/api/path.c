/*
 * ny_path: a shortest path between two rows in the graph that a result has stored.
 */
#include "api/call.h"
#include "api/report.h"
#include "api/options.h"
#include "base/memory.h"
#include "results/graphs.h"
#include "records/fields.h"
#include "results/path.h"
#include "shards/open.h"

/* Reports the rows of the path in order, and the length up to each of them; "length" is the last
 * one. */
static int describe(const struct ny_stored_path *path, struct ny_report **report)
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
static int find(const struct ny_stored_graph *graph, struct ny_record record,
                const struct ny_options *options, struct ny_report **report)
{
    struct ny_stored_path path = {0};
    uint64_t from, to;
    int err;

    if (!ny_options_size(options, "from", &from) || !ny_options_size(options, "to", &to))
        return ny_fail(graph->keep.ctx, NY_EUSAGE, "a path needs --from and --to");
    err = ny_stored_path_find(&path, graph, from, to);
    err = ny_keep_current(&graph->keep, record, err);
    if (err == NY_OK) err = describe(&path, report);
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
    err = ny_call_begin(context);
    if (err) return err;
    err = ny_shards_open(&store, context, path, graph, NY_SHARDS_ALL);
    if (err == NY_OK) err = ny_graph_need(store, graph, &named);
    if (err == NY_OK) err = ny_stored_graph_lengths(&named.graph, "a path");
    if (err == NY_OK) err = find(&named.graph, named.record, options, report);
    ny_record_free(named.record);
    ny_store_close(store);
    ny_call_end(context);
    return err;
}
