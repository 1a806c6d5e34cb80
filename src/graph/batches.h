/* Batches of sources: those of one are near one another, as shortest paths want it
 * (graph/paths.h). */
#ifndef NY_GRAPH_BATCHES_H
#define NY_GRAPH_BATCHES_H

#include "graph/paths.h"

/* Sets order[0 … count − 1] to the sources so that each NY_LANES are a batch, and the one at half
 * of a batch is in its midst. The same sources always come in the same order. */
int ny_batches_form(const struct ny_edges *graph, const uint32_t *sources, size_t count,
                    uint32_t *order);
/* Lays out what ny_batches_form() holds while it runs. */
struct ny_batching;
struct ny_batching *ny_batches_lay(struct ny_layout *l, const struct ny_edges *graph, size_t count);

#endif
