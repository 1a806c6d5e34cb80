/*
 * The table of maps: each says how its matrix is made (centred, divided, or of a graph), which
 * kernel it brings along, and which options and methods it takes.
 *
 * Options, fits, exports and reports look maps up here. Diffusion is two maps of one name: of a
 * kernel and, with the options of a graph, of a graph; the second is reached through of_graph and
 * is not in the list.
 */
#include <string.h>

#include "model/map.h"
#include "job/record.h"

#define ENTRY(map) &ny_map_##map,
static const struct ny_map *const maps[] = {NY_KERNEL_MAPS(ENTRY) NY_GRAPH_MAPS(ENTRY)};

const struct ny_map *ny_map_at(size_t index)
{
    return index < sizeof(maps) / sizeof(maps[0]) ? maps[index] : NULL;
}

const struct ny_map *ny_map_find(const char *name)
{
    for (size_t i = 0; name && ny_map_at(i); i++)
        if (strcmp(maps[i]->name, name) == 0) return maps[i];
    return NULL;
}

const struct ny_map *ny_map_of(struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    const struct ny_map *map = ny_map_find(state.facts.map);

    if (map && map->of_graph && state.own_graph.there) return map->of_graph;
    return map;
}

const struct ny_map ny_map_svd = {
    .name = "svd",
    .summary = "eigenvectors of the kernel matrix K",
    .own = "online",
    .without = "averages",
};

const struct ny_map ny_map_pca = {
    .name = "pca",
    .summary = "kpca with the linear kernel",
    .own = "online",
    .metric = true,
    .additive = true,
    .kernel = "linear",
    .method = "exact",
    .centred_rows = true,
};

const struct ny_map ny_map_kpca = {
    .name = "kpca",
    .summary = "eigenvectors of the centred K",
    .own = "online",
    .additive = true,
};

const struct ny_map ny_map_laplacian = {
    .name = "laplacian",
    .summary = "of K divided by its degrees",
    .divided = true,
};

const struct ny_map ny_map_diffusion = {
    .name = "diffusion",
    .summary = "like laplacian, times the eigenvalues to the power of --time (on a graph, not a "
               "kernel, with --neighbors or --graph)",
    .own = "normalize|time|edge-weights",
    .divided = true,
    .in_time = true,
    .of_graph = &ny_map_graph_diffusion,
};

const struct ny_map ny_map_isomap = {
    .name = "isomap",
    .summary = "from lengths of shortest paths in a graph of neighbours (--neighbors or --graph)",
    .metric = true,
    .additive = true,
    .graph = true,
    .methods = "nystrom|column|exact",
    .options = "approx|select|landmarks|landmarks-file|landmarks-from",
};

const struct ny_map ny_map_eigenmaps = {
    .name = "eigenmaps",
    .summary = "the smoothest functions on such a graph",
    .own = "edge-weights",
    .kernel = "rbf",
    .divided = true,
    .graph = true,
    .options = "kernel|gamma|normalize|time",
};

const struct ny_map ny_map_graph_diffusion = {
    .name = "diffusion",
    .kernel = "rbf",
    .divided = true,
    .in_time = true,
    .graph = true,
    .options = "kernel|gamma|normalize|time",
};
