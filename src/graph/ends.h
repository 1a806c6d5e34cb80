/*
 * Ends of edges in a temporary file, by ranges of the nodes that they are at, so that the lists of
 * a graph are read once for all ranges. The ends of a range come back in the order in which they
 * were put.
 */
#ifndef NY_GRAPH_ENDS_H
#define NY_GRAPH_ENDS_H

#include "base/layout.h"

/* An end at some node of an edge to another. */
struct ny_end {
    uint32_t at, to;
    float length;
};

struct ny_ends;
/* Lays out so many ranges of nodes. */
struct ny_ends *ny_ends_lay(struct ny_layout *l, uint32_t ranges);
/* Makes the file in a folder, which must outlive it: range r begins with node begin[r], and has at
 * most count[r] ends. NY_EIO. */
int ny_ends_open(struct ny_ends *ends, struct ny_context *ctx, const char *folder,
                 const uint32_t *begin, const uint64_t *count);
/* Closes the file; NULL is allowed. */
void ny_ends_close(struct ny_ends *ends);

/* Puts an end into the range of its node. */
int ny_ends_put(struct ny_ends *ends, const struct ny_end *end);
/* Calls `each` for the ends of a range, in the order in which they were put. */
int ny_ends_walk(struct ny_ends *ends, uint32_t range,
                 void (*each)(void *arg, const struct ny_end *end), void *arg);

#endif
