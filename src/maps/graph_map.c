#include "maps/graph_map.h"

#define DECLARE(map) extern const struct ny_graph_map ny_graph_map_##map;
NY_GRAPH_MAPS(DECLARE)

#define ENTRY(map) &ny_graph_map_##map,
static const struct ny_graph_map *const maps[] = {NY_GRAPH_MAPS(ENTRY)};

const struct ny_graph_map *ny_graph_map_of(const struct ny_map *map)
{
    for (size_t i = 0; map && i < sizeof(maps) / sizeof(maps[0]); i++)
        if (maps[i]->map == map || maps[i]->other == map) return maps[i];
    return NULL;
}
