/* Shared by the files of eigenmaps, which maps/eigenmaps.c describes. */
#ifndef NY_MAPS_EIGENMAPS_PRIVATE_H
#define NY_MAPS_EIGENMAPS_PRIVATE_H

#include "maps/graph_map.h"

/* Places new rows by Nyström's formula (maps/eigenmaps_transform.c); `transform` of
 * ny_graph_map_eigenmaps. */
int ny_eigenmaps_transform(struct ny_graph_fit *fit, struct ny_new_rows *rows);

#endif
