/*
 * New points placed by a map of a graph: a batch of them with its nearest nodes, and the map's own
 * formula. A point at distance 0 from a node gets what is stored of that node, whatever the formula
 * says.
 */
#ifndef NY_MAPS_GRAPH_PLACE_H
#define NY_MAPS_GRAPH_PLACE_H

#include "maps/graph_map.h"
#include "place/transform.h"

/* New points with the nearest of the nodes that a fit of a graph's map has embedded, in f64. */
struct ny_newcomers {
    size_t count;     /* of the points, */
    size_t t;         /* and of the neighbours of each: as many as a row of the graph has, or all
                       * nodes */
    uint32_t *node;   /* count × t nodes of the graph, nearest first */
    double *distance; /* count × t */
};

/* Fills Y, a row of `width` values for each new point: what would be stored of it
 * (model/coordinates.h). */
typedef int ny_place_fn(void *arg, const struct ny_newcomers *new, double *Y);

/* Places new rows, batch by batch, with `place`. */
int ny_graph_place(struct ny_graph_fit *fit, struct ny_new_rows *rows, size_t width,
                   ny_place_fn *place, void *arg);
/* Places new rows by a fit of eigenmaps (maps/eigenmaps_transform.c). */
int ny_eigenmaps_transform(struct ny_graph_fit *fit, struct ny_new_rows *rows);

#endif
