/*
 * The edges of a graph that comes from elsewhere: collected in any order, in one direction or both,
 * and then settled, each edge once.
 */
#ifndef NY_GRAPH_EDGE_LIST_H
#define NY_GRAPH_EDGE_LIST_H

#include "graph/components.h"

/* Entries while they are collected, edges once they are settled: then from < to, they ascend by
 * (from, to), each pair is there once, and lengths are values of f32. */
struct ny_edge_list {
    struct ny_context *ctx;
    size_t count, room;
    struct ny_bridge *edge;
    bool affinities;  /* weights are those, not lengths */
    uint64_t loops;   /* entries that were left out as they join a node with itself, */
    uint64_t zeros;   /* edges as their affinity is 0 in f32; */
    uint64_t repeats; /* entries whose pair had come before in the same direction */
};

/* Makes room for so many entries. NY_EBUDGET. */
int ny_edge_list_new(struct ny_edge_list *list, struct ny_context *ctx, size_t room);
/* Frees the edges; a zeroed list is left alone. */
void ny_edge_list_release(struct ny_edge_list *list);
/* Adds an entry to one of less than `room`. */
void ny_edge_list_add(struct ny_edge_list *list, uint32_t from, uint32_t to, double weight);
/* Makes edges of the entries: of lengths the least of a pair counts; affinities of one direction
 * are added, and where both are there, their mean counts. NY_EDATA where a sum is too large for
 * f32, an interrupt. */
int ny_edge_list_settle(struct ny_edge_list *list);

#endif
