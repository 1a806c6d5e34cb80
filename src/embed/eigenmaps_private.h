/* Shared by the files of eigenmaps, which embed/eigenmaps.c describes. */
#ifndef NY_EMBED_EIGENMAPS_PRIVATE_H
#define NY_EMBED_EIGENMAPS_PRIVATE_H

#include "embed/graph_map.h"

int ny_eigenmaps_transform(struct ny_graph_fit *fit, const struct ny_new_rows *rows);

#endif
