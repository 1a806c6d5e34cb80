/* The entries of a graph that comes from elsewhere, one after another; io/edge_file.c reads them
 * from a file. */
#ifndef NY_GRAPH_EDGE_SOURCE_H
#define NY_GRAPH_EDGE_SOURCE_H

#include "base/context.h"

/* An entry: two nodes from 0, and a weight that is finite and not negative also as f32; a source
 * that has no weights has 1. */
struct ny_edge_entry {
    uint32_t from, to;
    double weight;
};

struct ny_edge_source {
    /* Reads the next entry; NY_END behind the last; NY_EDATA says where a wrong one is. */
    int (*next)(struct ny_edge_source *source, struct ny_edge_entry *entry);
    /* Ends the reading and frees the source. */
    void (*close)(struct ny_edge_source *source);
    uint64_t nodes; /* of a matrix, or those that were given; 0: the source does not say */
};

/* Opens a source of so many nodes; 0: it says itself how many. *out is NULL after a failure. */
typedef int ny_edge_open_fn(struct ny_edge_source **out, struct ny_context *ctx, const char *path,
                            uint64_t nodes);

#endif
