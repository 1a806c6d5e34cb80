/*
 * The undirected graph of neighbour lists, as far as it can be told from the lists themselves:
 * which edges it has, its components and degrees.
 *
 * i and j are joined where one lists the other (union), or where both do (mutual), and where they
 * are no farther apart than the limit. Lists are n × stored, of which the first t count.
 */
#ifndef NY_GRAPH_COMPONENTS_H
#define NY_GRAPH_COMPONENTS_H

#include "base/layout.h"
#include "nearest/neighbors.h"

/* An edge that no list has (graph/bridges.h). */
struct ny_bridge {
    double length;
    uint32_t from, to;
};

struct ny_lists {
    uint64_t n;
    size_t stored, t;
    const uint32_t *row;    /* n × stored */
    const float *distance;  /* n × stored; NULL where there is no limit */
    double limit;           /* ∞: none */
    bool mutual;
    const struct ny_bridge *bridge; /* bridges: edges beside those of the lists */
    size_t bridges;
    const uint32_t *order; /* n: rows as their nodes are numbered at first; NULL: ascending */
};

/* Tells whether i lists j. */
static inline bool ny_lists_has(const struct ny_lists *lists, uint64_t i, uint64_t j)
{
    for (size_t k = 0; k < lists->t; k++)
        if (lists->row[i * lists->stored + k] == j) return true;
    return false;
}

/* The k-th of i's list is an edge. */
static inline bool ny_lists_edge(const struct ny_lists *lists, uint64_t i, size_t k)
{
    size_t at = (size_t)i * lists->stored + k;
    uint32_t j = lists->row[at];

    if (j == NY_NO_ROW) return false;
    if (lists->distance && (double)lists->distance[at] > lists->limit) return false;
    return !lists->mutual || ny_lists_has(lists, j, i);
}

/* The edge of i's list to j is that of j's list to i as well, and counts there: j < i. */
static inline bool ny_lists_met(const struct ny_lists *lists, uint64_t i, uint64_t j)
{
    if (j > i) return false;
    for (size_t k = 0; k < lists->t; k++)
        if (lists->row[j * lists->stored + k] == i) return ny_lists_edge(lists, j, k);
    return false;
}

/* Undirected edges, and the degrees (n) of their nodes. */
uint64_t ny_lists_degrees(const struct ny_lists *lists, uint32_t *degree);

/* Components: numbered by size, the largest is 0; of equal ones that of the smallest row first. */
struct ny_components {
    struct ny_layout own;
    uint64_t n, count, largest;
    uint32_t *of; /* n: the component of each row */
};
/* Finds the components of the graph of these lists, bridges included. NY_EBUDGET releases what it
 * made. */
int ny_components_find(struct ny_components *components, struct ny_context *ctx,
                       const struct ny_lists *lists);
/* Frees the component numbers. */
void ny_components_release(struct ny_components *components);
/* Counts the most that ny_components_find() takes for n rows: one component may have them all. */
void ny_components_count(struct ny_layout *l, uint64_t n);
/* Trees of parents, each of whose roots is its own: a and b come into one. False: they were. */
bool ny_components_join(uint32_t *parent, uint32_t a, uint32_t b);

/* The value with a share of q of `count` (> 0) distances at or below it, interpolated linearly
 * between the two nearest; they are reordered. */
double ny_quantile(float *values, size_t count, double q);

#endif
