/*
 * New points placed by a map of a graph: a batch of them with its nearest nodes
 * (maps/newcomers.h), and the map's own formula. A point at distance 0 from a node gets what is
 * stored of that node, whatever the formula says.
 */
#ifndef NY_MAPS_GRAPH_PLACE_H
#define NY_MAPS_GRAPH_PLACE_H

#include "maps/newcomers.h"
#include "place/transform.h"

/* Fills Y, a row of `width` values for each new point: what would be stored of it
 * (model/coordinates.h). */
typedef int ny_place_fn(void *arg, const struct ny_newcomers *new, double *Y);

/* Places the rows of a file, batch by batch, with `place`. */
int ny_graph_place(struct ny_graph_fit *fit, struct ny_new_rows *rows, size_t width,
                   ny_place_fn *place, void *arg);

#endif
