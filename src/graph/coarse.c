/*
 * Makes the next coarser graph of multigrid (graph/coarse.h); ny_multigrid_new() calls it until a
 * coarser graph no longer pays.
 *
 * Nodes are visited in their order. A free node takes up to seven free neighbours to which it is
 * strongly tied; one that finds none free joins the aggregate of its strongest neighbour, so that
 * no node that has an edge stays alone. Small aggregates are joined on demand. A_c = RᵀAR is then
 * formed one aggregate at a time, with `at` remembering where the row under way has its entry of
 * each column. Ties are entries of D_out^-½AD_out^-½, since that is the matrix whose rough errors
 * relaxation takes away. Memory is taken for the entries of the finer graph and given back once the
 * true number is known.
 */
#include "graph/coarse.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Nodes of an aggregate but for those that are left over. */
enum { AGGREGATE = 8 };

static const uint32_t none = UINT32_MAX;

/* A tie is strong that is at least this share of the node's strongest: what relaxation makes equal
 * is taken together, and nothing else. */
static const double strong = 0.25;

/* w_ij of D_out^-½AD_out^-½, up to what is the same for all edges of a node. */
static double tie(const struct ny_affinity *fine, uint64_t edge)
{
    return fine->weight[edge] / sqrt(fine->outward[fine->graph->target[edge]]);
}

/* Returns the strongest tie of a node, by which the others are judged. */
static double strongest_tie(const struct ny_affinity *fine, uint32_t node)
{
    double most = 0;

    for (uint64_t e = fine->graph->head[node]; e < fine->graph->head[node + 1]; e++)
        most = fmax(most, tie(fine, e));
    return most;
}

/* The free neighbours of a node with the strongest ties, at most AGGREGATE − 1: how many there
 * are. */
static size_t strongest_free(const struct ny_affinity *fine, const uint32_t *of, uint32_t node,
                             uint32_t *found)
{
    const struct ny_edges *graph = fine->graph;
    double least = strong * strongest_tie(fine, node), ties[AGGREGATE];
    size_t count = 0;

    for (uint64_t e = graph->head[node]; e < graph->head[node + 1]; e++) {
        double with = tie(fine, e);
        size_t at = count;

        if (of[graph->target[e]] != none || with < least) continue;
        for (; at > 0 && ties[at - 1] < with; at--) {
            ties[at] = ties[at - 1];
            found[at] = found[at - 1];
        }
        ties[at] = with;
        found[at] = graph->target[e];
        if (count + 1 < AGGREGATE) count++;
    }
    return count < AGGREGATE - 1 ? count : AGGREGATE - 1;
}

/* The aggregate of the neighbour with the strongest tie of those that have one, or none. */
static uint32_t strongest_aggregate(const struct ny_affinity *fine, const uint32_t *of,
                                    uint32_t node)
{
    const struct ny_edges *graph = fine->graph;
    uint32_t found = none;
    double most = -1;

    for (uint64_t e = graph->head[node]; e < graph->head[node + 1]; e++) {
        if (of[graph->target[e]] == none || tie(fine, e) <= most) continue;
        most = tie(fine, e);
        found = of[graph->target[e]];
    }
    return found;
}

/* Aggregates in the order of the nodes, so that aggregates are as near in memory as those were. */
static uint32_t aggregate(const struct ny_affinity *fine, uint32_t *of)
{
    uint32_t n = fine->graph->n, found[AGGREGATE], aggregates = 0;

    memset(of, 0xff, n * sizeof(*of));
    for (uint32_t v = 0; v < n; v++) {
        size_t count;

        if (of[v] != none) continue;
        count = strongest_free(fine, of, v, found);
        of[v] = count ? none : strongest_aggregate(fine, of, v);
        if (of[v] != none) continue;
        of[v] = aggregates;
        for (size_t i = 0; i < count; i++)
            of[found[i]] = aggregates;
        aggregates++;
    }
    return aggregates;
}

/* Returns the aggregate that one has become a part of. */
static uint32_t whole_of(uint32_t *into, uint32_t k)
{
    while (into[k] != k)
        k = into[k] = into[into[k]];
    return k;
}

/* Aggregates while they are joined. */
struct joining {
    const struct ny_affinity *fine;
    const uint32_t *of; /* the aggregate of each node */
    uint32_t *into;     /* the one that each has become a part of, or itself */
    uint32_t *size;     /* its nodes */
};

/* Returns the small aggregate to which the node has its strongest tie of all that go to such; its
 * own where none does. */
static uint32_t strongest_other(const struct joining *joining, uint32_t node)
{
    const struct ny_affinity *fine = joining->fine;
    const struct ny_edges *graph = fine->graph;
    uint32_t own = whole_of(joining->into, joining->of[node]), found = own;
    double most = -1;

    for (uint64_t e = graph->head[node]; e < graph->head[node + 1]; e++) {
        uint32_t other = whole_of(joining->into, joining->of[graph->target[e]]);

        if (other == own || joining->size[other] >= AGGREGATE || tie(fine, e) <= most) continue;
        most = tie(fine, e);
        found = other;
    }
    return found;
}

/* Joins aggregates of fewer than AGGREGATE nodes, two and two, and numbers what is left in the same
 * order. room: two numbers for each aggregate. Returns how many are left. */
static uint32_t join_small(const struct ny_affinity *fine, uint32_t *of, uint32_t aggregates,
                           uint32_t *room)
{
    const struct joining joining = {fine, of, room, room + aggregates};
    uint32_t *into = joining.into, *size = joining.size, n = fine->graph->n, left = 0;

    memset(size, 0, aggregates * sizeof(*size));
    for (uint32_t k = 0; k < aggregates; k++)
        into[k] = k;
    for (uint32_t v = 0; v < n; v++)
        size[of[v]]++;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t own = whole_of(into, of[v]);
        uint32_t other = size[own] < AGGREGATE ? strongest_other(&joining, v) : own;
        uint32_t first = own < other ? own : other;

        if (other == own) continue;
        size[first] = size[own] + size[other];
        into[own] = into[other] = first;
    }
    for (uint32_t k = 0; k < aggregates; k++) /* the first of those joined is numbered before */
        size[k] = into[k] == k ? left++ : size[whole_of(into, k)];
    for (uint32_t v = 0; v < n; v++)
        of[v] = size[of[v]];
    return left;
}

/* Lists the nodes of each aggregate, ascending, by counting. */
static void sort_members(struct ny_coarse *coarse, uint32_t n)
{
    uint32_t *first = coarse->first, *member = coarse->member;

    for (uint32_t v = 0; v < n; v++)
        first[coarse->of[v] + 1]++;
    for (uint32_t k = 0; k < coarse->graph.n; k++)
        first[k + 1] += first[k];
    for (uint32_t v = n; v-- > 0;) /* from behind: first[k + 1] becomes the beginning of k */
        member[--first[coarse->of[v] + 1]] = v;
    memmove(first, first + 1, coarse->graph.n * sizeof(*first));
    first[coarse->graph.n] = n;
}

/* Forms RᵀAR row by row. `at`: where the row under way has the entry of a column, if any. */
static void multiply_out(struct ny_coarse *coarse, const struct ny_affinity *fine, uint64_t *at)
{
    struct ny_affinity *affinity = &coarse->affinity;
    uint32_t *target = coarse->graph.target;
    uint64_t entries = 0;

    memset(at, 0xff, coarse->graph.n * sizeof(*at));
    for (uint32_t k = 0; k < coarse->graph.n; k++) {
        uint64_t begin = entries;

        for (uint32_t i = coarse->first[k]; i < coarse->first[k + 1]; i++) {
            uint32_t v = coarse->member[i];

            affinity->degree[k] += fine->degree[v];
            for (uint64_t e = fine->graph->head[v]; e < fine->graph->head[v + 1]; e++) {
                uint32_t to = coarse->of[fine->graph->target[e]];

                if (to == k) continue;
                if (at[to] == UINT64_MAX || at[to] < begin) {
                    at[to] = entries;
                    target[entries] = to;
                    affinity->weight[entries++] = 0;
                }
                affinity->weight[at[to]] += fine->weight[e];
                affinity->outward[k] += fine->weight[e];
            }
        }
        affinity->inverse[k] = 1 / affinity->degree[k];
        coarse->graph.head[k + 1] = entries;
    }
}

/* Lays out aggregates, and room for as many entries as the finer graph has. */
static void lay(struct ny_layout *l, struct ny_coarse *coarse, size_t nodes, size_t entries)
{
    size_t n = coarse->graph.n;

    coarse->first = ny_lay(l, NY_MEM_SOLVE, n + 2, sizeof(uint32_t));
    coarse->member = ny_lay(l, NY_MEM_SOLVE, nodes, sizeof(uint32_t));
    coarse->graph.head = ny_lay(l, NY_MEM_SOLVE, n + 1, sizeof(uint64_t));
    coarse->graph.target = ny_lay(l, NY_MEM_SOLVE, entries, sizeof(uint32_t));
    coarse->affinity.weight = ny_lay(l, NY_MEM_SOLVE, entries, sizeof(double));
    coarse->affinity.degree = ny_lay(l, NY_MEM_SOLVE, n, sizeof(double));
    coarse->affinity.inverse = ny_lay(l, NY_MEM_SOLVE, n, sizeof(double));
    coarse->affinity.outward = ny_lay(l, NY_MEM_SOLVE, n, sizeof(double));
}

int ny_coarse_new(struct ny_coarse *coarse, struct ny_layout *l, const struct ny_affinity *fine,
                  bool joined)
{
    size_t n = fine->graph->n, entries;
    struct ny_layout_mark mark;
    uint64_t *at;

    *coarse = (struct ny_coarse){.graph = {.ctx = fine->ctx}};
    coarse->affinity = (struct ny_affinity){.ctx = fine->ctx, .graph = &coarse->graph};
    coarse->of = ny_lay(l, NY_MEM_SOLVE, n, sizeof(uint32_t));
    if (l->err) return l->err;
    coarse->graph.n = aggregate(fine, coarse->of);
    lay(l, coarse, n, (size_t)fine->graph->head[n]);
    mark = ny_layout_mark(l);
    at = ny_lay(l, NY_MEM_SOLVE, coarse->graph.n, sizeof(uint64_t));
    if (l->err) return l->err;
    if (joined)
        coarse->graph.n = join_small(fine, coarse->of, coarse->graph.n, (uint32_t *)(void *)at);
    sort_members(coarse, fine->graph->n);
    multiply_out(coarse, fine, at);
    ny_layout_back(l, &mark);
    entries = (size_t)coarse->graph.head[coarse->graph.n] + 1; /* a graph of one node has none */
    coarse->graph.target =
        ny_lay_shrink(l, NY_MEM_SOLVE, coarse->graph.target, entries * sizeof(uint32_t));
    coarse->affinity.weight =
        ny_lay_shrink(l, NY_MEM_SOLVE, coarse->affinity.weight, entries * sizeof(double));
    return l->err;
}

/* Aggregates have two nodes at least. */
void ny_coarse_count(struct ny_layout *l, size_t nodes, size_t entries)
{
    struct ny_coarse coarse = {.graph.n = (uint32_t)(nodes / 2 + 1)};
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_SOLVE, nodes, sizeof(*coarse.of));
    mark = ny_layout_mark(l);
    lay(l, &coarse, nodes, entries);
    ny_lay(l, NY_MEM_SOLVE, coarse.graph.n, sizeof(uint64_t));
    ny_layout_back(l, &mark);
    lay(l, &coarse, nodes, entries / 2);
}
