#include "maps/graph_map.h"

/* A new map of a graph is a struct ny_graph_map and a line here. */
#define GRAPH_MAPS(X)                                                                              \
    X(ny_graph_map_isomap)                                                                         \
    X(ny_graph_map_eigenmaps)

#define DECLARE(map) extern const struct ny_graph_map map;
GRAPH_MAPS(DECLARE)

#define ENTRY(map) &map,
static const struct ny_graph_map *const maps[] = {GRAPH_MAPS(ENTRY)};

const struct ny_graph_map *ny_graph_map_of(const struct ny_map *map)
{
    for (size_t i = 0; map && i < sizeof(maps) / sizeof(maps[0]); i++)
        if (maps[i]->map == map || maps[i]->other == map) return maps[i];
    return NULL;
}
