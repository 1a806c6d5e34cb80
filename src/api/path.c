/* ny_path: a shortest path in a stored graph. */
#include "api/inspect.h"
#include "api/options.h"
#include "base/memory.h"
#include "embed/stored_graph.h"
#include "graph/paths.h"

struct path {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    json_t *record;
    struct ny_stored_graph stored;
    uint64_t from, to;
    struct ny_edges graph;
};

static int take_rows(struct path *path, const struct ny_options *options)
{
    if (!ny_stored_graph_of(&path->stored, path->store, path->name, path->record))
        return ny_fail(path->ctx, NY_EUSAGE,
                       "'%s' is no graph; make one with 'nystream graph %s NAME'", path->name,
                       ny_store_path(path->store));
    if (!ny_options_size(options, "from", &path->from) ||
        !ny_options_size(options, "to", &path->to))
        return ny_fail(path->ctx, NY_EUSAGE, "a path needs --from ROW and --to ROW");
    if (path->from >= path->stored.n || path->to >= path->stored.n)
        return ny_fail(path->ctx, NY_EUSAGE, "'%s' has rows 0 to %llu, and no row %llu", path->name,
                       (unsigned long long)path->stored.n - 1,
                       (unsigned long long)(path->from >= path->stored.n ? path->from : path->to));
    return NY_OK;
}

/* Backwards from the end over edges that a shortest path may take: next[v] is the node after v. The
 * one with the fewest edges of several that are as short. */
static void trace(const struct path *path, const float *distance, uint32_t *next, uint32_t *queue)
{
    const struct ny_edges *graph = &path->graph;
    uint32_t from = graph->node[path->from], to = graph->node[path->to], begin = 0, end = 0;

    for (uint32_t v = 0; v < graph->n; v++)
        next[v] = NY_NO_ROW;
    next[to] = to;
    queue[end++] = to;
    while (next[from] == NY_NO_ROW && begin < end) {
        uint32_t v = queue[begin++];
        float here = distance[(size_t)v * NY_LANES];

        for (uint64_t e = graph->head[v]; e < graph->head[v + 1]; e++) {
            uint32_t w = graph->target[e];
            float before = distance[(size_t)w * NY_LANES];

            if (next[w] != NY_NO_ROW || before + graph->length[e] != here) continue;
            next[w] = v;
            queue[end++] = w;
        }
    }
}

/* rows, and the length of the path up to each. */
static int describe(const struct path *path, const float *distance, struct ny_report **report)
{
    const struct ny_edges *graph = &path->graph;
    uint32_t *next = ny_calloc(path->ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
    uint32_t *queue = ny_calloc(path->ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
    uint32_t to = graph->node[path->to];
    json_t *object = json_object(), *rows = json_array(), *lengths = json_array();
    int err = NY_EBUDGET;

    if (next && queue) {
        trace(path, distance, next, queue);
        for (uint32_t v = graph->node[path->from];; v = next[v]) {
            ny_field_append(rows, json_integer(graph->row[v]));
            ny_field_append(lengths, json_real((double)distance[(size_t)v * NY_LANES]));
            if (v == to) break;
        }
        ny_field_set_number(object, "length", (double)distance[(size_t)to * NY_LANES]);
        ny_field_set_json(object, "rows", json_incref(rows));
        ny_field_set_json(object, "lengths", json_incref(lengths));
        err = ny_report_of_json(report, path->ctx, object);
        object = NULL;
    }
    json_decref(object);
    json_decref(rows);
    json_decref(lengths);
    ny_free(path->ctx, queue);
    ny_free(path->ctx, next);
    return err;
}

static int find(struct path *path, struct ny_report **report)
{
    struct ny_paths *paths = NULL;
    uint64_t from, to;
    uint32_t source;
    int err = ny_stored_components(&path->stored, path->from, 1, &from);

    if (err == NY_OK) err = ny_stored_components(&path->stored, path->to, 1, &to);
    if (err) return err;
    if (from != to)
        return ny_fail(path->ctx, NY_EDATA,
                       "there is no path from row %llu to row %llu: they are in components %llu "
                       "and %llu of '%s'; make a graph of more --neighbors",
                       (unsigned long long)path->from, (unsigned long long)path->to,
                       (unsigned long long)from, (unsigned long long)to, path->name);
    err = ny_stored_edges(&path->stored, (uint32_t)from, &path->graph);
    if (err == NY_OK) err = ny_paths_new(&paths, &path->graph, NY_PATHS_BUCKETS);
    if (err) goto done;
    source = path->graph.node[path->from];
    err = describe(path, ny_paths_from(paths, &source, 1), report);
done:
    ny_paths_free(paths);
    ny_edges_release(&path->graph);
    return err;
}

int ny_path(struct ny_context *context, const char *store, const char *graph,
            const struct ny_options *options, struct ny_report **report)
{
    struct path path = {.ctx = context, .name = graph};
    int err;

    *report = NULL;
    ny_error_clear(context);
    ny_fields_begin();
    err = ny_reserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) return err;
    err = ny_store_open(&path.store, context, store);
    if (err) goto done;
    err = ny_record_need_done(path.store, graph, &path.record);
    if (err) goto done;
    err = take_rows(&path, options);
    if (err == NY_OK) err = find(&path, report);
done:
    json_decref(path.record);
    ny_store_close(path.store);
    ny_unreserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}
