/*
 * Makes the pages of a graph from lists of neighbours that are read again and again
 * (graph/pages.h), as ny_edges_new() makes the edges in memory. They are filled twice: with nodes
 * as they are numbered at first, only the targets, from which graph/order.c finds their numbers,
 * and then patch by patch.
 *
 * A fill counts the edges of each node, and then goes through the nodes, as many at a time as there
 * is room for their edges. Where these are several ranges, the ends of all edges are put in a file,
 * range by range (graph/ends.h), so that all lists are read twice in a fill. A list tells of an
 * edge at both of its ends; where both ends list one another, each has it twice, and the first of
 * both is kept: so edges come to lie as they do in memory, and nodes have the same numbers.
 */
#include <math.h>
#include <string.h>

#include "graph/ends.h"
#include "graph/order.h"
#include "graph/pages.h"

/* An end of an edge at some node; a length of the node's own list is stored as −length. */
struct end {
    uint32_t to;
    float length;
};

struct build {
    struct ny_edges *graph;
    const struct ny_list_source *source;
    uint32_t *row; /* a piece of the lists */
    float *distance;
    uint32_t *next;      /* n: ends of a node; of one in the range, where the next one goes */
    uint32_t begin, end; /* the range of nodes */
    struct ny_ends *filed; /* the ends of all ranges; NULL: there is one range */
    int err;               /* of putting ends there */
    struct end *room;
    size_t ends;   /* room for so many */
    char *record;  /* of a patch */
    double length; /* of all edges together */
};

/* ---- the lists ------------------------------------------------------------------------------ */

typedef void end_fn(struct build *build, uint32_t at, uint32_t to, float length);

static void count_end(struct build *build, uint32_t at, uint32_t to, float length)
{
    (void)to, (void)length;
    build->next[at]++;
}

static void put_end(struct build *build, uint32_t at, uint32_t to, float length)
{
    build->room[build->next[at]++] = (struct end){to, length};
}

static void file_end(struct build *build, uint32_t at, uint32_t to, float length)
{
    if (!build->err) build->err = ny_ends_put(build->filed, &(struct ny_end){at, to, length});
}

/* Puts an end of the file. */
static void take_end(void *arg, const struct ny_end *end)
{
    put_end(arg, end->at, end->to, end->length);
}

/* Calls `each` for both ends of what row i lists. */
static inline int walk_row(struct build *build, uint64_t i, size_t at, end_fn *each)
{
    const struct ny_list_source *source = build->source;
    const struct ny_lists *lists = &source->lists;
    const uint32_t *node = build->graph->node;

    for (size_t k = at; k < at + lists->t; k++) {
        uint32_t j = build->row[k];
        float length = build->distance[k];

        if (j == NY_NO_ROW) continue;
        if (j >= lists->n || j == i || !(length >= 0) || !(length < INFINITY))
            return source->damaged(source->arg);
        if ((double)length > lists->limit) continue;
        if (node[i] == NY_NO_ROW || node[j] == NY_NO_ROW) {
            if (node[i] == node[j] || lists->mutual) continue;
            return source->damaged(source->arg); /* edges stay within a component */
        }
        each(build, node[i], node[j], -length);
        each(build, node[j], node[i], length);
    }
    return NY_OK;
}

/* A bridge is as if both of its ends listed one another. */
static void walk_bridges(struct build *build, end_fn *each)
{
    const struct ny_lists *lists = &build->source->lists;

    for (size_t k = 0; k < lists->bridges; k++) {
        const struct ny_bridge *bridge = &lists->bridge[k];
        uint32_t from = build->graph->node[bridge->from], to = build->graph->node[bridge->to];
        float length = (float)bridge->length;

        if (from == NY_NO_ROW) continue;
        each(build, from, to, -length);
        each(build, from, to, length);
        each(build, to, from, -length);
        each(build, to, from, length);
    }
}

/* Calls `each` for the ends of all edges at all nodes. */
static inline int walk(struct build *build, end_fn *each)
{
    const struct ny_list_source *source = build->source;
    const struct ny_lists *lists = &source->lists;
    int err = NY_OK;

    for (uint64_t first = 0; first < lists->n && err == NY_OK; first += source->piece_rows) {
        uint64_t left = lists->n - first;
        size_t count = left < source->piece_rows ? (size_t)left : source->piece_rows;

        err = ny_check_interrupt(build->graph->ctx);
        if (err == NY_OK && lists->t)
            err = source->read(source->arg, first, count, build->row, build->distance);
        for (size_t i = 0; i < count && err == NY_OK; i++)
            err = walk_row(build, first + i, i * lists->stored, each);
        if (err == NY_OK) err = build->err;
    }
    if (err == NY_OK) walk_bridges(build, each);
    return err ? err : build->err;
}

/* ---- the ends of a node --------------------------------------------------------------------- */

/* The first of two ends that are those of one edge stays, and is marked as one that both list. */
static void match(struct end *ends, size_t count, size_t own, bool mutual)
{
    for (size_t i = 0; i < count; i++) {
        if (ends[i].to != ends[own].to || signbit(ends[i].length)) continue;
        if (i < own) ends[i].length = -ends[i].length;
        ends[i < own ? own : i].to = NY_NO_ROW;
        return;
    }
    if (mutual) ends[own].to = NY_NO_ROW;
}

/* Leaves each edge of a node once, and in a mutual graph those alone that both ends list. Puts them
 * at `out`, which may be before the ends, and returns how many there are. */
static size_t settle(struct end *ends, size_t count, bool mutual, struct end *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (signbit(ends[i].length) && ends[i].to != NY_NO_ROW) match(ends, count, i, mutual);
    for (size_t i = 0; i < count; i++)
        if (ends[i].to != NY_NO_ROW && (!mutual || signbit(ends[i].length)))
            out[kept++] = (struct end){ends[i].to, fabsf(ends[i].length)};
    return kept;
}

/* ---- ranges of nodes ------------------------------------------------------------------------ */

/* Fails as a patch has more edges than there is room for: rows to which a large share of all edges
 * leads. */
static int too_many(const struct ny_edges *graph)
{
    return ny_fail(graph->ctx, NY_EBUDGET,
                   "a few rows have so many of the edges that the graph cannot be searched page by "
                   "page (%zu bytes at a time); give a larger --memory, which holds all of it",
                   graph->pages->bytes);
}

/* Returns the node behind those that are filled together with v: the patch, or v alone. */
static uint32_t behind(const struct ny_edges *graph, uint32_t v)
{
    return graph->patches.count ? graph->patches.first[ny_patch_of(&graph->patches, v) + 1] : v + 1;
}

/* Returns the node behind those from `begin` on for which there is room, and sets the number of
 * their ends; `begin` where there is no room for the first. */
static uint32_t range_end(const struct build *build, uint32_t begin, uint64_t *ends)
{
    const struct ny_edges *graph = build->graph;
    uint32_t next = begin;

    for (*ends = 0; next < graph->n;) {
        uint32_t end = behind(graph, next);
        uint64_t more = 0;

        for (uint32_t v = next; v < end; v++)
            more += build->next[v];
        if (*ends + more > build->ends) break;
        *ends += more;
        next = end;
    }
    return next;
}

/* Takes as many nodes from build->end on as there is room for; next[v] is then where ends of v go.
 */
static void take_range(struct build *build)
{
    uint64_t ends;
    uint32_t sum = 0;

    build->begin = build->end;
    build->end = range_end(build, build->begin, &ends);
    for (uint32_t v = build->begin; v < build->end; v++) {
        uint32_t count = build->next[v];

        build->next[v] = sum;
        sum += count;
    }
}

/* Counts the ranges, and where there are arrays, sets the first node and the ends of each.
 * NY_EBUDGET where there is no room for all ends of a node or a patch. */
static int list_ranges(const struct build *build, uint32_t *ranges, uint32_t *begin,
                       uint64_t *count)
{
    uint32_t at = 0;

    for (*ranges = 0; at < build->graph->n; ++*ranges) {
        uint64_t ends;
        uint32_t end = range_end(build, at, &ends);

        if (end == at) return too_many(build->graph);
        if (begin) begin[*ranges] = at;
        if (count) count[*ranges] = ends;
        at = end;
    }
    return NY_OK;
}

static struct ny_ends *lay_filed(struct ny_layout *l, uint32_t ranges, uint32_t **begin,
                                 uint64_t **count)
{
    *begin = ny_lay(l, NY_MEM_DICTIONARY, ranges, sizeof(**begin));
    *count = ny_lay(l, NY_MEM_DICTIONARY, ranges, sizeof(**count));
    return ny_ends_lay(l, ranges);
}

/* Puts the ends of all edges in a file, where there are several ranges. */
static int file_ends(struct build *build, struct ny_layout *l)
{
    uint32_t ranges, *begin;
    uint64_t *count;
    int err = list_ranges(build, &ranges, NULL, NULL);

    if (err || ranges == 1) return err;
    build->filed = lay_filed(l, ranges, &begin, &count);
    err = build->filed ? list_ranges(build, &ranges, begin, count) : l->err;
    if (err == NY_OK) err = ny_ends_open(build->filed, l->ctx, build->source->folder, begin, count);
    return err ? err : walk(build, file_end);
}

/* Settles the nodes of the range; next[v] is then behind the ends of v. */
static void settle_range(struct build *build)
{
    size_t first = 0, kept = 0;

    for (uint32_t v = build->begin; v < build->end; v++) {
        size_t end = build->next[v];

        kept += settle(build->room + first, end - first, build->source->lists.mutual,
                       build->room + kept);
        build->next[v] = (uint32_t)kept;
        first = end;
    }
}

/* Fills the edges of all nodes, and has each range written. */
static int fill(struct build *build, struct ny_layout *l, int (*write)(struct build *build))
{
    int err;

    memset(build->next, 0, build->graph->n * sizeof(*build->next));
    build->end = 0;
    err = walk(build, count_end);
    if (err == NY_OK) err = file_ends(build, l);
    for (uint32_t range = 0; err == NY_OK && build->end < build->graph->n; range++) {
        take_range(build);
        err = build->filed ? ny_ends_walk(build->filed, range, take_end, build)
                           : walk(build, put_end);
        if (err) break;
        settle_range(build);
        err = write(build);
    }
    ny_ends_close(build->filed);
    build->filed = NULL;
    return err;
}

/* ---- by rows -------------------------------------------------------------------------------- */

/* Writes the targets of a range behind those before it, and sets the heads of its nodes. */
static int write_targets(struct build *build)
{
    struct ny_edges *graph = build->graph;
    uint64_t *head = graph->head;
    uint32_t *target = (uint32_t *)(void *)build->room; /* each is behind the end that it is of */
    size_t count = build->next[build->end - 1];

    for (uint32_t v = build->begin; v < build->end; v++)
        head[v + 1] = head[build->begin] + build->next[v];
    for (size_t i = 0; i < count; i++)
        target[i] = build->room[i].to;
    for (uint32_t v = build->begin; v < build->end && graph->near; v++)
        ny_order_targets(target + (head[v] - head[build->begin]), (size_t)(head[v + 1] - head[v]));
    return ny_scratch_put(&graph->pages->targets->file, target, count * sizeof(*target),
                          head[build->begin] * sizeof(*target));
}

/* Finds the numbers of the nodes, by edges that are in a file as well. */
static int order(struct ny_edges *graph, uint64_t points)
{
    uint32_t *place = ny_calloc(graph->ctx, NY_MEM_DICTIONARY, graph->n, sizeof(uint32_t));
    int err = place ? ny_order_nodes(graph, place) : NY_EBUDGET;

    for (uint64_t i = 0; i < points && err == NY_OK; i++)
        if (graph->node[i] != NY_NO_ROW) graph->node[i] = place[graph->node[i]];
    ny_free(graph->ctx, place);
    return err;
}

/* ---- by patches ----------------------------------------------------------------------------- */

/* Writes what a patch has in the file: the heads of its nodes, targets and lengths. */
static int write_patch(struct build *build, uint32_t patch, uint64_t at, size_t *bytes)
{
    struct ny_edges *graph = build->graph;
    const uint32_t first = graph->patches.first[patch], end = graph->patches.first[patch + 1];
    size_t begin = first > build->begin ? build->next[first - 1] : 0;
    size_t count = build->next[end - 1] - begin;
    uint64_t *head = (uint64_t *)(void *)build->record;
    uint32_t *target = (uint32_t *)(head + (end - first) + 1);
    float *length = (float *)(void *)(target + count);

    *bytes = (end - first + 1) * sizeof(*head) + count * (sizeof(*target) + sizeof(*length));
    if (*bytes > graph->pages->largest) graph->pages->largest = *bytes;
    if (*bytes > graph->pages->bytes) return too_many(graph);
    head[0] = 0;
    for (uint32_t v = first; v < end; v++)
        head[v - first + 1] = build->next[v] - begin;
    for (size_t i = 0; i < count; i++) {
        target[i] = build->room[begin + i].to;
        length[i] = build->room[begin + i].length;
        build->length += (double)length[i];
        graph->longest = fmax(graph->longest, (double)length[i]);
    }
    graph->pages->directed += count;
    return ny_scratch_put(&graph->pages->file, build->record, *bytes, at);
}

static int write_patches(struct build *build)
{
    struct ny_edges *graph = build->graph;
    uint64_t *at = graph->pages->at;
    uint32_t patch = ny_patch_of(&graph->patches, build->begin);
    int err = NY_OK;

    for (; patch < graph->patches.count && graph->patches.first[patch] < build->end && err == NY_OK;
         patch++) {
        size_t bytes;

        err = write_patch(build, patch, at[patch], &bytes);
        at[patch + 1] = at[patch] + ny_padded(bytes);
    }
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* There is room for all ends of one node, at which each other may have two, and for those of a
 * patch of twice as many as usual. So there are about as many ranges as a row has neighbours. */
static void lay_room(struct ny_layout *l, struct build *build, size_t record_bytes)
{
    const struct ny_list_source *source = build->source;
    size_t numbers = source->piece_rows * source->lists.stored;
    size_t of_node = 2 * (size_t)build->graph->n;
    size_t of_patch = (size_t)4 * NY_PATCH_NODES * (source->lists.t + 1);

    build->ends = of_node > of_patch ? of_node : of_patch;
    if (build->ends > UINT32_MAX) build->ends = UINT32_MAX;
    build->next = ny_lay(l, NY_MEM_DICTIONARY, build->graph->n, sizeof(uint32_t));
    build->row = ny_lay(l, NY_MEM_DICTIONARY, numbers, sizeof(uint32_t));
    build->distance = ny_lay(l, NY_MEM_DICTIONARY, numbers, sizeof(float));
    build->room = ny_lay(l, NY_MEM_DICTIONARY, build->ends, sizeof(struct end));
    build->record = ny_lay(l, NY_MEM_DICTIONARY, record_bytes, 1);
}

static int run_fill(struct build *build, size_t record_bytes, int (*write)(struct build *build))
{
    struct ny_layout l = {.ctx = build->graph->ctx};
    int err;

    lay_room(&l, build, record_bytes);
    err = l.err ? l.err : fill(build, &l, write);
    ny_layout_free(&l);
    return err;
}

/* Lays out what is there until the nodes are in order. */
static struct ny_targets *lay_targets(struct ny_layout *l, struct ny_edges *graph)
{
    graph->head = ny_lay(l, NY_MEM_DICTIONARY, (size_t)graph->n + 1, sizeof(uint64_t));
    return ny_lay(l, NY_MEM_DICTIONARY, 1, sizeof(struct ny_targets));
}

/* Puts the nodes in order, from their edges by rows. */
static int find_order(struct build *build)
{
    struct ny_edges *graph = build->graph;
    struct ny_pages *pages = graph->pages;
    struct ny_layout l = {.ctx = graph->ctx};
    struct ny_targets *targets = lay_targets(&l, graph);
    int err = l.err;

    if (err) goto done;
    targets->file = pages->file;
    pages->targets = targets;
    err = ny_scratch_open(&targets->file);
    if (err) goto done;
    err = run_fill(build, 0, write_targets);
    if (err == NY_OK) err = order(graph, build->source->lists.n);
    ny_scratch_close(&targets->file);
done:
    pages->targets = NULL;
    graph->head = NULL;
    ny_layout_free(&l);
    return err;
}

void ny_pages_lay(struct ny_layout *l, struct ny_edges *graph, uint64_t points)
{
    size_t patches = (size_t)ny_pages_most(graph->n);
    uint64_t *at;

    if (!graph->node) graph->node = ny_lay(l, NY_MEM_DICTIONARY, (size_t)points, sizeof(uint32_t));
    ny_patches_lay(l, &graph->patches, graph->n);
    at = ny_lay(l, NY_MEM_DICTIONARY, patches + 1, sizeof(uint64_t));
    graph->pages = ny_lay(l, NY_MEM_DICTIONARY, 1, sizeof(struct ny_pages));
    if (graph->pages) graph->pages->at = at;
}

int ny_pages_build(struct ny_edges *graph, const struct ny_list_source *source)
{
    struct build build = {.graph = graph, .source = source};
    struct ny_pages *pages;
    int err;

    ny_pages_lay(&graph->own, graph, source->lists.n);
    if (graph->own.err) return graph->own.err;
    pages = graph->pages;
    pages->file = (struct ny_scratch){graph->ctx, source->folder, "the edges of a graph", -1};
    pages->bytes = source->pages_bytes;
    err = find_order(&build);
    if (err == NY_OK && graph->patches.count > ny_pages_most(graph->n)) err = too_many(graph);
    if (err == NY_OK) err = ny_scratch_open(&pages->file);
    if (err == NY_OK) err = run_fill(&build, pages->bytes, write_patches);
    if (err == NY_OK && pages->directed)
        graph->mean_length = build.length / (double)pages->directed;
    return err;
}

/* Counts a fill. Two ranges have more ends than there is room for, and bridges are fewer than
 * nodes. */
static void count_fill(struct ny_layout *l, struct build *build, size_t record_bytes)
{
    const struct ny_layout_mark mark = ny_layout_mark(l);
    uint32_t ranges = 2 * (uint32_t)build->source->lists.t + 8, *begin;
    uint64_t *count;

    lay_room(l, build, record_bytes);
    lay_filed(l, ranges, &begin, &count);
    ny_layout_back(l, &mark);
}

void ny_pages_making_count(struct ny_layout *l, uint64_t nodes, const struct ny_list_source *source)
{
    const struct ny_layout_mark mark = ny_layout_mark(l);
    struct ny_edges graph = {.n = (uint32_t)nodes};
    struct build build = {.graph = &graph, .source = source};

    lay_targets(l, &graph);
    count_fill(l, &build, 0);
    ny_edges_making_count(l, nodes);
    ny_layout_back(l, &mark);
    count_fill(l, &build, source->pages_bytes);
}
