/*
 * The job of a graph whose edges come from a file (verb graph, --edges): one stage, graph, which
 * reads the file, settles the edges (graph/edge_list.h) and finds the components. It keeps no
 * checkpoint: a job that was killed reads the file again. Parts of the NAME:
 *
 *   job          the record; its field `nodes` is true where the store had no points
 *   edges        each once (struct ny_bridge), in the order of graph/edge_list.h
 *   components   n component numbers (u32); 0 is the largest
 */
#ifndef NY_NEIGHBORS_GIVEN_H
#define NY_NEIGHBORS_GIVEN_H

#include "graph/edge_source.h"
#include "job/plan.h"
#include "model/graph.h"

/* The wishes of the options, and what ny_given_edges_look() has found in the file. */
struct ny_given_edges {
    const char *path;      /* NULL: there is none, and neighbours are looked for */
    ny_edge_open_fn *open; /* opens it */
    size_t keep_bytes;     /* that whoever reads what is kept has charged */
    bool affinities;       /* weights are these, not lengths */
    uint64_t nodes;        /* that are said to be there; 0: the file says */
    uint64_t n, entries;   /* found */
    size_t reading_bytes;  /* found: charged while the file is read */
};

/* Reads the file once, to its end, and counts nodes and entries. NY_EDATA for what is wrong in it,
 * and where it has no node; the errors of given->open(). */
int ny_given_edges_look(struct ny_context *ctx, struct ny_given_edges *given);
/* Plans the job, whose file was looked at. */
int ny_given_edges_plan(struct ny_context *ctx, const struct ny_given_edges *given,
                        struct ny_plan *plan);
/* Runs the job; the caller holds the NAME's lock, and the file was looked at. NY_EDATA where no
 * edge is left, or the file was changed. */
int ny_given_edges_run(struct ny_rows *X, const struct ny_keep *keep,
                       const struct ny_given_edges *given, struct ny_record record);

#endif
