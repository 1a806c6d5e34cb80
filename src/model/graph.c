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
#include "model/graph.h"

#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "model/embedding.h"
#include "graph/near_rows.h"

/* Edges whose bytes a size can tell, with what is made of them. */
static const uint64_t edges_most = (uint64_t)1 << 48;

/* Returns the facts of another graph; one from elsewhere has none about a search of neighbours. */
static struct ny_state_graph facts_of(const struct ny_state_graph *own, struct ny_record of_graph)
{
    struct ny_state_graph facts = ny_state_of(of_graph).graph;

    if (!facts.edge_values) return facts;
    facts.neighbors = own->neighbors;
    facts.neighbors_stored = own->neighbors_stored;
    facts.knn = own->knn;
    facts.metric = own->metric;
    return facts;
}

void ny_graph_facts_adopt(struct ny_job *job, struct ny_record of_graph)
{
    struct ny_record record = job->record;

    job->state.graph = facts_of(&job->state.graph, of_graph);
    for (int list = NY_LIST_RECALL_INTERVAL; list <= NY_LIST_SWEEP; list++) {
        size_t count = of_graph.ops->count(of_graph, (enum ny_list)list);

        if (count) record.ops->begin_list(record, (enum ny_list)list);
        for (size_t k = 0; k < count; k++)
            record.ops->append(record, (enum ny_list)list,
                               of_graph.ops->at(of_graph, (enum ny_list)list, k));
    }
}

/* Tells whether two numbers are the same, as far as both are known. */
static bool agree(uint64_t one, uint64_t other)
{
    return one == NY_NONE || other == NY_NONE || one == other;
}

bool ny_graph_facts_agree(const struct ny_state_graph *facts, const struct ny_state_graph *others)
{
    const char *const texts[][2] = {{facts->metric, others->metric},
                                    {facts->edge_values, others->edge_values}};
    double limit = facts->distance_limit, other = others->distance_limit;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i][0] && texts[i][1] && strcmp(texts[i][0], texts[i][1]) != 0) return false;
    return agree(facts->neighbors, others->neighbors) && agree(facts->edges, others->edges) &&
           agree(facts->components, others->components) &&
           agree(facts->degree_max, others->degree_max) && agree(facts->bridges, others->bridges) &&
           (limit == other || (isnan(limit) && isnan(other)));
}

struct ny_embedding_layout ny_graph_layout(const char *part, uint64_t n, size_t columns)
{
    struct ny_embedding_layout layout = ny_embedding_layout(n, columns, sizeof(uint32_t));

    layout.part = ny_part_of(part, 0);
    return layout;
}

/* Returns a number of the record as one of memory; 0: it is not known. */
static size_t known(uint64_t count)
{
    return count == NY_NONE ? 0 : (size_t)count;
}

bool ny_stored_graph_of(struct ny_stored_graph *graph, struct ny_rows *X,
                        const struct ny_keep *keep, struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    const struct ny_state_graph *facts = &state.graph;
    bool own = state.own_graph.there || ny_is(state.record.kind, "graph");
    double limit = state.record.edge_limit;

    *graph = (struct ny_stored_graph){.X = X, .keep = *keep};
    if (!own || !state.record.kind || facts->name) return false;
    if (isnan(limit)) limit = isnan(facts->distance_limit) ? INFINITY : facts->distance_limit;
    graph->n = state.report.n;
    graph->limit = limit;
    graph->largest = facts->largest;
    graph->largest_edges =
        known(facts->largest_edges != NY_NONE ? facts->largest_edges : facts->edges);
    graph->mutual = ny_is(state.options.mutual, "yes");
    graph->given = facts->edge_values != NULL;
    graph->affinities = ny_is(facts->edge_values, "affinities");
    graph->bridges = known(graph->given ? facts->edges : facts->bridges);
    if (graph->given) return true;
    graph->neighbors = known(facts->neighbors);
    graph->stored = known(facts->neighbors_stored);
    return true;
}

const char *ny_stored_graph_part(const struct ny_stored_graph *graph)
{
    return graph->given ? "edges" : "bridges";
}

int ny_stored_graph_digest(const struct ny_stored_graph *graph, uint64_t *digest)
{
    const char *const parts[] = {"neighbors", "distances", ny_stored_graph_part(graph)};
    uint64_t head[] = {graph->n,       graph->neighbors, graph->stored,     0,
                       graph->bridges, graph->mutual,    graph->affinities, graph->given};
    int err = NY_OK;

    memcpy(&head[3], &graph->limit, sizeof(graph->limit));
    *digest = ny_checksum(head, sizeof(head));
    for (size_t i = 0; !err && i < sizeof(parts) / sizeof(parts[0]); i++)
        err = ny_part_digest(&graph->keep, parts[i], digest);
    return err;
}

int ny_stored_graph_check(const struct ny_stored_graph *graph)
{
    bool lists = graph->neighbors && graph->neighbors <= graph->stored &&
                 graph->stored < graph->n && graph->bridges < graph->n;
    bool edges = graph->given && graph->bridges && graph->bridges < edges_most;

    if ((lists || edges) && graph->n <= NY_NO_ROW && graph->largest && graph->largest <= graph->n)
        return NY_OK;
    return ny_fail_damaged(graph->keep.ctx, graph->keep.name, graph->keep.place);
}

int ny_stored_graph_lengths(const struct ny_stored_graph *graph, const char *whose)
{
    if (!graph->affinities) return NY_OK;
    return ny_fail(graph->keep.ctx, NY_EUSAGE,
                   "the weights of graph '%s' are affinities, but %s needs lengths; make a graph "
                   "of lengths (--edge-weights lengths)",
                   graph->keep.name, whose);
}

int ny_stored_graph_places(const struct ny_stored_graph *graph)
{
    if (!graph->given) return NY_OK;
    return ny_fail(graph->keep.ctx, NY_EUSAGE,
                   "the edges of graph '%s' came from a file, so new rows have no neighbours in "
                   "it; make a graph that includes the new nodes, and fit it",
                   graph->keep.name);
}

/* Reads rows of a part of lists, `stored` columns of 4 bytes each. */
static int load(const struct ny_stored_graph *graph, const char *part, uint64_t first, size_t count,
                void *out)
{
    struct ny_embedding_layout layout = ny_graph_layout(part, graph->n, graph->stored);

    return ny_embedding_rows(&graph->keep, &layout, first, count, out);
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
    struct ny_context *ctx = graph->keep.ctx;
    const uint32_t *rows = room;
    size_t t = graph->neighbors;
    float *distances = ny_calloc(ctx, NY_MEM_IO, count, t * sizeof(float));
    int err = distances ? ny_stored_distances(graph, first, count, room, distances) : NY_EBUDGET;

    if (err == NY_OK) err = load(graph, "neighbors", first, count, room);
    for (size_t i = 0; err == NY_OK && i < count; i++)
        for (size_t k = 0; k < t; k++)
            out[i * t + k] = isinf(distances[i * t + k]) ? UINT64_MAX : rows[i * graph->stored + k];
    ny_free(ctx, distances);
    return err;
}

/* Reads the numbers of the components that rows are in, 4 bytes each. */
static int load_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                           uint32_t *out)
{
    struct ny_embedding_layout layout = {ny_part_of("components", 0), graph->n, sizeof(uint32_t),
                                         NY_CHUNK_BYTES / sizeof(uint32_t)};

    return ny_embedding_rows(&graph->keep, &layout, first, count, out);
}

int ny_stored_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                         uint64_t *out)
{
    struct ny_context *ctx = graph->keep.ctx;
    uint32_t *narrow = ny_calloc(ctx, NY_MEM_IO, count, sizeof(uint32_t));
    int err = narrow ? load_components(graph, first, count, narrow) : NY_EBUDGET;

    for (size_t i = 0; err == NY_OK && i < count; i++)
        out[i] = narrow[i];
    ny_free(ctx, narrow);
    return err;
}

int ny_stored_largest(const struct ny_stored_graph *graph, struct ny_largest_walk *walk,
                      uint64_t first, size_t count, uint64_t *out)
{
    enum { PIECE_ROWS = 4096 };
    uint32_t component[PIECE_ROWS];
    uint64_t end = first + count;
    int err = NY_OK;

    if (first < walk->found) *walk = (struct ny_largest_walk){0};
    while (walk->found < end && walk->next < graph->n && err == NY_OK) {
        uint64_t left = graph->n - walk->next;
        size_t rows = left < PIECE_ROWS ? (size_t)left : PIECE_ROWS, i = 0;

        err = load_components(graph, walk->next, rows, component);
        for (; err == NY_OK && i < rows && walk->found < end; i++) {
            if (component[i] != 0) continue;
            if (walk->found >= first) out[walk->found - first] = walk->next + i;
            walk->found++;
        }
        walk->next += i;
    }
    return err;
}

int ny_stored_graph_need(struct ny_stored_graph *graph, struct ny_rows *X,
                         const struct ny_keep *keep, struct ny_record record)
{
    if (ny_stored_graph_of(graph, X, keep, record)) return ny_stored_graph_check(graph);
    return ny_fail(keep->ctx, NY_EUSAGE,
                   "'%s' is not a graph; make one with 'nystream graph %s NAME'", keep->name,
                   keep->place);
}

bool ny_stored_graph_near(const struct ny_stored_graph *graph)
{
    return !graph->given && ny_near_rows_wanted(graph->X, graph->n);
}

/* ---- in memory ------------------------------------------------------------------------------ */

/* Fails with NY_ESTORE: what a list says cannot be so. */
static int damaged(void *arg)
{
    const struct ny_stored_graph *graph = arg;

    return ny_fail_damaged(graph->keep.ctx, graph->keep.name, graph->keep.place);
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
            return damaged((void *)graph);
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
    return ny_fail_damaged(graph->keep.ctx, graph->keep.name, graph->keep.place);
}

/* Reads the bridges and checks them, because anybody may have written them: both rows exist, the
 * length is valid, and they are in one component. */
static int load_bridges(const struct ny_stored_graph *graph, const uint32_t *component,
                        struct ny_bridge *bridges)
{
    int err = graph->keep.ops->get(&graph->keep, ny_stored_graph_part(graph), bridges,
                                   graph->bridges * sizeof(*bridges));

    for (size_t k = 0; k < graph->bridges && err == NY_OK; k++) {
        struct ny_bridge bridge = bridges[k];

        if (bridge.from < bridge.to && bridge.to < graph->n && bridge.length >= 0 &&
            bridge.length < INFINITY && component[bridge.from] == component[bridge.to])
            continue;
        err = ny_fail_damaged(graph->keep.ctx, graph->keep.name, graph->keep.place);
    }
    return err;
}

/* A graph in memory as it is stored. */
struct stored {
    struct ny_layout own;
    struct ny_bridge *bridges;
    struct ny_components components;
    struct ny_lists lists;
};

static void lay_stored(struct ny_layout *l, struct stored *stored,
                       const struct ny_stored_graph *graph)
{
    size_t n = (size_t)graph->n, t = graph->stored;

    stored->bridges = ny_lay(l, NY_MEM_DICTIONARY, graph->bridges, sizeof(struct ny_bridge));
    stored->lists = (struct ny_lists){
        .n = graph->n,
        .stored = t,
        .t = graph->neighbors,
        .row = ny_lay(l, NY_MEM_DICTIONARY, n, t * sizeof(uint32_t)),
        .distance = ny_lay(l, NY_MEM_DICTIONARY, n, t * sizeof(float)),
        .limit = graph->limit,
        .mutual = graph->mutual,
        .bridge = stored->bridges,
        .bridges = graph->bridges,
    };
    stored->components = (struct ny_components){.n = graph->n};
    stored->components.of = ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint32_t));
}

/* Loads lists, bridges or edges, and components, and checks them. */
static int load_stored(const struct ny_stored_graph *graph, struct stored *stored)
{
    size_t n = (size_t)graph->n, t = graph->stored;
    int err;

    lay_stored(&stored->own, stored, graph);
    err = stored->own.err;
    if (err == NY_OK && t) err = load(graph, "neighbors", 0, n, (void *)stored->lists.row);
    if (err == NY_OK && t) err = load(graph, "distances", 0, n, (void *)stored->lists.distance);
    if (err == NY_OK) err = load_components(graph, 0, n, stored->components.of);
    if (err == NY_OK) err = check_lists(graph, &stored->lists, &stored->components);
    if (err == NY_OK && graph->bridges)
        err = load_bridges(graph, stored->components.of, stored->bridges);
    return err;
}

int ny_stored_edges(const struct ny_stored_graph *graph, uint32_t component, struct ny_edges *edges)
{
    struct stored stored = {.own.ctx = graph->keep.ctx};
    uint32_t *order = NULL;
    int err = NY_OK;

    *edges = (struct ny_edges){0};
    if (ny_stored_graph_near(graph)) err = ny_near_rows(graph->X, graph->n, &stored.own, &order);
    if (err == NY_OK) err = load_stored(graph, &stored);
    stored.lists.order = order;
    if (err == NY_OK) err = check_component(graph, &stored.components, component);
    if (err == NY_OK)
        err = ny_edges_new(edges, graph->keep.ctx, &stored.lists, &stored.components, component);
    edges->affinities = err == NY_OK && graph->affinities;
    ny_layout_free(&stored.own);
    return err;
}

void ny_stored_edges_count(struct ny_layout *l, const struct ny_stored_graph *graph)
{
    struct ny_edges edges = {.n = (uint32_t)graph->largest};
    struct ny_layout_mark mark;
    struct stored stored;

    ny_edges_lay(l, &edges, graph->n, graph->largest_edges);
    mark = ny_layout_mark(l);
    if (ny_stored_graph_near(graph))
        ny_lay(l, NY_MEM_DICTIONARY, (size_t)graph->n, sizeof(uint32_t)); /* their order */
    lay_stored(l, &stored, graph);
    ny_layout_add(l, NY_MEM_DICTIONARY, NY_CHUNK_BYTES);
    ny_edges_making_count(l, graph->largest);
    ny_layout_back(l, &mark);
}

/* ---- in pages ------------------------------------------------------------------------------- */

static int read_lists(void *arg, uint64_t first, size_t count, uint32_t *row, float *distance)
{
    const struct ny_stored_graph *graph = arg;
    int err = load(graph, "neighbors", first, count, row);

    return err ? err : load(graph, "distances", first, count, distance);
}

/* Reads the bridges, and numbers the points of a component as ny_edges_new() does. */
static int number_points(const struct ny_stored_graph *graph, uint32_t component,
                         struct ny_edges *edges, struct ny_bridge *bridges)
{
    struct ny_layout l = {.ctx = edges->ctx};
    uint32_t *order = NULL;
    int err;

    edges->node = ny_lay(&edges->own, NY_MEM_DICTIONARY, (size_t)graph->n, sizeof(*edges->node));
    err = edges->node ? load_components(graph, 0, (size_t)graph->n, edges->node) : NY_EBUDGET;
    if (err == NY_OK && graph->bridges) err = load_bridges(graph, edges->node, bridges);
    if (err == NY_OK && ny_stored_graph_near(graph))
        err = ny_near_rows(graph->X, graph->n, &l, &order);
    edges->near = !!order;
    for (uint64_t k = 0; k < graph->n && err == NY_OK; k++) {
        uint64_t i = order ? order[k] : k;

        edges->node[i] = edges->node[i] == component ? edges->n++ : NY_NO_ROW;
    }
    ny_layout_free(&l);
    if (err || (edges->n && (component || edges->n == graph->largest))) return err;
    return ny_fail_damaged(graph->keep.ctx, graph->keep.name, graph->keep.place);
}

/* Lays out the bridges, and returns the lists with these. */
static struct ny_list_source lay_source(struct ny_layout *l, const struct ny_stored_graph *graph,
                                        struct ny_bridge **bridges)
{
    *bridges = ny_lay(l, NY_MEM_DICTIONARY, graph->bridges, sizeof(**bridges));
    return (struct ny_list_source){
        .lists = {.n = graph->n,
                  .stored = graph->stored,
                  .t = graph->neighbors,
                  .limit = graph->limit,
                  .mutual = graph->mutual,
                  .bridge = *bridges,
                  .bridges = graph->bridges},
        .piece_rows = ny_graph_layout("neighbors", graph->n, graph->stored).chunk_rows,
        .folder = graph->keep.folder,
        .read = read_lists,
        .damaged = damaged,
        .arg = (void *)graph};
}

int ny_stored_pages(const struct ny_stored_graph *graph, uint32_t component, size_t pages_bytes,
                    struct ny_edges *edges)
{
    struct ny_layout l = {.ctx = graph->keep.ctx};
    struct ny_bridge *bridges;
    struct ny_list_source source = lay_source(&l, graph, &bridges);
    int err = l.err;

    source.pages_bytes = pages_bytes;
    *edges = (struct ny_edges){.own.ctx = l.ctx, .ctx = l.ctx};
    if (err == NY_OK) err = number_points(graph, component, edges, bridges);
    if (err == NY_OK) err = ny_pages_build(edges, &source);
    ny_layout_free(&l);
    if (err) ny_edges_release(edges);
    return err;
}

void ny_stored_pages_count(struct ny_layout *l, const struct ny_stored_graph *graph)
{
    struct ny_edges edges = {.n = (uint32_t)graph->largest};
    struct ny_list_source source;
    struct ny_layout_mark mark;
    struct ny_bridge *bridges;

    ny_pages_lay(l, &edges, graph->n);
    mark = ny_layout_mark(l);
    source = lay_source(l, graph, &bridges);
    source.pages_bytes = ny_pages_held(graph->largest_edges);
    ny_layout_add(l, NY_MEM_DICTIONARY, NY_CHUNK_BYTES);
    ny_pages_making_count(l, graph->largest, &source);
    ny_layout_back(l, &mark);
}

/* ---- all edges ------------------------------------------------------------------------------ */

/* Counts the edges of lists, or adds them to `list` where there is one. */
static size_t walk_edges(const struct ny_lists *lists, struct ny_edge_list *list)
{
    size_t count = 0;

    for (uint64_t i = 0; i < lists->n; i++)
        for (size_t k = 0; k < lists->t; k++) {
            size_t at = (size_t)i * lists->stored + k;

            if (!ny_lists_edge(lists, i, k) || ny_lists_met(lists, i, lists->row[at])) continue;
            count++;
            if (list)
                ny_edge_list_add(list, (uint32_t)i, lists->row[at], (double)lists->distance[at]);
        }
    for (size_t k = 0; k < lists->bridges && list; k++)
        ny_edge_list_add(list, lists->bridge[k].from, lists->bridge[k].to, lists->bridge[k].length);
    return count + lists->bridges;
}

int ny_stored_edge_list(const struct ny_stored_graph *graph, struct ny_edge_list *list)
{
    struct stored stored = {.own.ctx = graph->keep.ctx};
    int err = load_stored(graph, &stored);

    *list = (struct ny_edge_list){0};
    if (err == NY_OK)
        err = ny_edge_list_new(list, graph->keep.ctx, walk_edges(&stored.lists, NULL));
    if (err == NY_OK) walk_edges(&stored.lists, list);
    ny_layout_free(&stored.own);
    return err ? err : ny_edge_list_settle(list);
}
