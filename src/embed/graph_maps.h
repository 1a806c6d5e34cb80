/* The maps of graphs, for the table of maps in embed/settings.c. */
#ifndef NY_EMBED_GRAPH_MAPS_H
#define NY_EMBED_GRAPH_MAPS_H

#include "embed/graph_map.h"

extern const struct ny_graph_map ny_graph_map_isomap, ny_graph_map_eigenmaps;

#endif
