/*
 * Ends of edges in a temporary file, by ranges of the nodes that they are at, so that the lists of
 * a graph are read once for all ranges. The ends of a range come back in the order in which they
 * were put.
 */
#ifndef NY_GRAPH_ENDS_H
#define NY_GRAPH_ENDS_H

#include "base/context.h"

/* An end at some node of an edge to another. */
struct ny_end {
    uint32_t at, to;
    float length;
};

struct ny_ends;
/* Makes the file in a folder, which must outlive it, for ranges of nodes: range r begins with node
 * begin[r], and has at most count[r] ends. NY_EBUDGET, or NY_EIO: *out is NULL. */
int ny_ends_new(struct ny_ends **out, struct ny_context *ctx, const char *folder, uint32_t ranges,
                const uint32_t *begin, const uint64_t *count);
/* Frees it, and the file; NULL is allowed. */
void ny_ends_free(struct ny_ends *ends);
/* Returns the most bytes that ny_ends_new() charges for so many ranges. */
size_t ny_ends_bytes(size_t ranges);

/* Puts an end into the range of its node. */
int ny_ends_put(struct ny_ends *ends, const struct ny_end *end);
/* Calls `each` for the ends of a range, in the order in which they were put. */
int ny_ends_walk(struct ny_ends *ends, uint32_t range,
                 void (*each)(void *arg, const struct ny_end *end), void *arg);

#endif
