/*
 * Reads what a graph job has stored: lists of neighbours and distances, components and bridges, in
 * pieces for exports (results/parts.c), or one component as edges in memory for paths and for maps
 * of a graph (results/path.c, maps/graph_fit.c).
 *
 * Lists have `stored` columns, of which `neighbors` count; a distance above the limit is no edge,
 * and is told as ∞, its row as 2⁶⁴ − 1. What becomes edges is not believed: the numbers of the
 * record, every row, every length and every bridge are checked, and edges must stay in their
 * component, so that a damaged or hostile store ends in NY_ESTORE and never in an index out of
 * range. ny_stored_edges() frees the lists again once the edges are made.
 */
#include "results/graph.h"

#include <math.h>
#include <string.h>

#include "results/embedding.h"

json_t *ny_graph_facts(const json_t *record)
{
    json_t *report = json_object_get(record, "report"), *graph = json_object_get(report, "graph");

    return json_is_object(graph) ? graph : report;
}

struct ny_embedding_layout ny_graph_layout(const char *part, uint64_t n, size_t columns)
{
    struct ny_embedding_layout layout = ny_embedding_layout(n, columns, sizeof(uint32_t));

    layout.part = ny_part_of(part, 0);
    return layout;
}

bool ny_stored_graph_of(struct ny_stored_graph *graph, struct ny_store *store, const char *name,
                        const json_t *record)
{
    const json_t *report = json_object_get(record, "report"), *facts = ny_graph_facts(record);
    const char *kind = ny_field_text(record, "kind");

    *graph = (struct ny_stored_graph){.store = store, .name = name};
    if (!kind || (facts == report && strcmp(kind, "graph") != 0) || ny_field_text(facts, "name"))
        return false;
    graph->n = ny_field_count(report, "n", 0);
    graph->neighbors = (size_t)ny_field_count(facts, "neighbors", 0);
    graph->stored = (size_t)ny_field_count(facts, "neighbors_stored", 0);
    graph->limit = ny_field_number(facts, "distance_limit", INFINITY);
    graph->largest = ny_field_count(facts, "largest", 0);
    graph->bridges = (size_t)ny_field_count(facts, "bridges", 0);
    graph->largest_edges =
        ny_field_count(facts, "largest_edges", ny_field_count(facts, "edges", 0));
    graph->mutual = ny_field_is(json_object_get(record, "options"), "mutual", "yes");
    return true;
}

int ny_stored_graph_check(const struct ny_stored_graph *graph)
{
    if (graph->neighbors && graph->neighbors <= graph->stored && graph->stored < graph->n &&
        graph->n <= NY_NO_ROW && graph->largest && graph->largest <= graph->n &&
        graph->bridges < graph->n)
        return NY_OK;
    return ny_fail(ny_store_context(graph->store), NY_ESTORE,
                   "the record of graph '%s' in %s counts what it cannot have; make it again with "
                   "--restart",
                   graph->name, ny_store_path(graph->store));
}

/* Reads rows of a part of lists, `stored` columns of 4 bytes each. */
static int load(const struct ny_stored_graph *graph, const char *part, uint64_t first, size_t count,
                void *out)
{
    struct ny_embedding_layout layout = ny_graph_layout(part, graph->n, graph->stored);

    return ny_embedding_rows(graph->store, graph->name, &layout, first, count, out);
}

int ny_stored_distances(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, float *out)
{
    const float *distances = room;
    size_t t = graph->neighbors;
    int err = load(graph, "distances", first, count, room);

    for (size_t i = 0; err == NY_OK && i < count; i++)
        for (size_t k = 0; k < t; k++) {
            float distance = distances[i * graph->stored + k];

            out[i * t + k] = (double)distance > graph->limit ? INFINITY : distance;
        }
    return err;
}

int ny_stored_neighbors(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, uint64_t *out)
{
    struct ny_context *ctx = ny_store_context(graph->store);
    const uint32_t *rows = room;
    size_t t = graph->neighbors;
    float *distances = ny_calloc(ctx, NY_MEM_IO, count, t * sizeof(float));
    int err = distances ? ny_stored_distances(graph, first, count, room, distances) : NY_EBUDGET;

    if (err == NY_OK) err = load(graph, "neighbors", first, count, room);
    for (size_t i = 0; err == NY_OK && i < count; i++)
        for (size_t k = 0; k < t; k++)
            out[i * t + k] =
                isinf(distances[i * t + k]) ? UINT64_MAX : rows[i * graph->stored + k];
    ny_free(ctx, distances);
    return err;
}

/* Reads the numbers of the components that rows are in, 4 bytes each. */
static int load_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                           uint32_t *out)
{
    struct ny_embedding_layout layout = {ny_part_of("components", 0), graph->n, sizeof(uint32_t),
                                         NY_CHUNK_BYTES / sizeof(uint32_t)};

    return ny_embedding_rows(graph->store, graph->name, &layout, first, count, out);
}

int ny_stored_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                         uint64_t *out)
{
    struct ny_context *ctx = ny_store_context(graph->store);
    uint32_t *narrow = ny_calloc(ctx, NY_MEM_IO, count, sizeof(uint32_t));
    int err = narrow ? load_components(graph, first, count, narrow) : NY_EBUDGET;

    for (size_t i = 0; err == NY_OK && i < count; i++)
        out[i] = narrow[i];
    ny_free(ctx, narrow);
    return err;
}

int ny_stored_largest(const struct ny_stored_graph *graph, uint64_t *next, size_t count,
                      uint64_t *out)
{
    enum { PIECE_ROWS = 4096 };
    uint32_t component[PIECE_ROWS];
    size_t found = 0;
    int err = NY_OK;

    while (found < count && *next < graph->n && err == NY_OK) {
        uint64_t left = graph->n - *next;
        size_t rows = left < PIECE_ROWS ? (size_t)left : PIECE_ROWS, i = 0;

        err = load_components(graph, *next, rows, component);
        for (; err == NY_OK && i < rows && found < count; i++)
            if (component[i] == 0) out[found++] = *next + i;
        *next += i;
    }
    return err;
}

/* ---- in memory ------------------------------------------------------------------------------ */

size_t ny_stored_edges_bytes(const struct ny_stored_graph *graph)
{
    size_t n = (size_t)graph->n, lists = n * graph->stored * (sizeof(uint32_t) + sizeof(float));

    return lists + graph->bridges * sizeof(struct ny_bridge) + n * sizeof(uint32_t) +
           NY_CHUNK_BYTES + ny_edges_building_bytes(graph->n);
}

/* Checks stored lists, which anybody may have written: rows exist, lengths are valid, and edges
 * stay within a component. */
static int check_lists(const struct ny_stored_graph *graph, const struct ny_lists *lists,
                       const struct ny_components *components)
{
    for (uint64_t i = 0; i < lists->n; i++)
        for (size_t k = 0; k < lists->t; k++) {
            size_t at = (size_t)i * lists->stored + k;
            uint32_t j = lists->row[at];

            if (j == NY_NO_ROW) continue;
            if (j < lists->n && j != i && lists->distance[at] >= 0 &&
                lists->distance[at] < INFINITY &&
                (components->of[i] == components->of[j] || !ny_lists_edge(lists, i, k)))
                continue;
            return ny_fail(ny_store_context(graph->store), NY_ESTORE,
                           "the graph of '%s' in %s is damaged at row %llu; make it again with "
                           "--restart",
                           graph->name, ny_store_path(graph->store), (unsigned long long)i);
        }
    return NY_OK;
}

/* Checks that it has rows, and the largest one as many as the record says. */
static int check_component(const struct ny_stored_graph *graph,
                           const struct ny_components *components, uint32_t component)
{
    uint64_t rows = 0;

    for (uint64_t i = 0; i < graph->n; i++)
        rows += components->of[i] == component;
    if (rows && (component || rows == graph->largest)) return NY_OK;
    return ny_fail(ny_store_context(graph->store), NY_ESTORE,
                   "component %u of the graph of '%s' in %s has %llu rows, which cannot be; make "
                   "it again with --restart",
                   component, graph->name, ny_store_path(graph->store), (unsigned long long)rows);
}

/* Reads the bridges and checks them, because anybody may have written them: both rows exist, the
 * length is valid, and they are in one component. */
static int load_bridges(const struct ny_stored_graph *graph, const struct ny_components *components,
                        struct ny_bridge *bridges)
{
    int err = ny_blob_get(graph->store, graph->name, "bridges", bridges,
                          graph->bridges * sizeof(*bridges));

    for (size_t k = 0; k < graph->bridges && err == NY_OK; k++) {
        struct ny_bridge bridge = bridges[k];

        if (bridge.from < bridge.to && bridge.to < graph->n && bridge.length >= 0 &&
            bridge.length < INFINITY && components->of[bridge.from] == components->of[bridge.to])
            continue;
        err = ny_fail(ny_store_context(graph->store), NY_ESTORE,
                      "bridge %zu of the graph of '%s' in %s is damaged; make it again with "
                      "--restart",
                      k, graph->name, ny_store_path(graph->store));
    }
    return err;
}

int ny_stored_edges(const struct ny_stored_graph *graph, uint32_t component,
                    struct ny_edges *edges)
{
    struct ny_context *ctx = ny_store_context(graph->store);
    size_t n = (size_t)graph->n, t = graph->stored;
    uint32_t *rows = ny_calloc(ctx, NY_MEM_DICTIONARY, n, t * sizeof(uint32_t));
    float *distances = ny_calloc(ctx, NY_MEM_DICTIONARY, n, t * sizeof(float));
    struct ny_bridge *bridges =
        ny_calloc(ctx, NY_MEM_DICTIONARY, graph->bridges, sizeof(struct ny_bridge));
    struct ny_components components = {
        .ctx = ctx, .n = graph->n, .of = ny_calloc(ctx, NY_MEM_DICTIONARY, n, sizeof(uint32_t))};
    struct ny_lists lists = {.n = graph->n,
                             .stored = t,
                             .t = graph->neighbors,
                             .row = rows,
                             .distance = distances,
                             .limit = graph->limit,
                             .mutual = graph->mutual,
                             .bridge = bridges,
                             .bridges = graph->bridges};
    int err = rows && distances && components.of && bridges ? NY_OK : NY_EBUDGET;

    *edges = (struct ny_edges){0};
    if (err == NY_OK) err = load(graph, "neighbors", 0, n, rows);
    if (err == NY_OK) err = load(graph, "distances", 0, n, distances);
    if (err == NY_OK) err = load_components(graph, 0, n, components.of);
    if (err == NY_OK) err = check_component(graph, &components, component);
    if (err == NY_OK) err = check_lists(graph, &lists, &components);
    if (err == NY_OK && graph->bridges) err = load_bridges(graph, &components, bridges);
    if (err == NY_OK) err = ny_edges_new(edges, ctx, &lists, &components, component);
    ny_components_release(&components);
    ny_free(ctx, bridges);
    ny_free(ctx, distances);
    ny_free(ctx, rows);
    return err;
}
