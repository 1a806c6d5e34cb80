/* Batches of sources: those of one are near one another, as shortest paths want it
 * (graph/paths.h). */
#ifndef NY_GRAPH_BATCHES_H
#define NY_GRAPH_BATCHES_H

#include "graph/paths.h"

/* Sets order[0 … count − 1] to the sources so that each NY_LANES are a batch, and the one at half
 * of a batch is in its midst. The same sources always come in the same order. */
int ny_batches_form(const struct ny_edges *graph, const uint32_t *sources, size_t count,
                    uint32_t *order);
/* Bytes that it holds while it runs. */
size_t ny_batches_bytes(uint64_t nodes, size_t count);

#endif
