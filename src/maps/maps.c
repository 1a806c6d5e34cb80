/* The table of maps, and those of them that are a kernel's: what tells these apart are flags, which
 * the stages of a fit go by. */
#include <string.h>

#include "maps/graph_map.h"

/* The maps in the order of the help. A new map is a struct ny_map and a line here. */
#define MAPS(X)                                                                                    \
    X(ny_map_svd)                                                                                  \
    X(ny_map_pca)                                                                                  \
    X(ny_map_kpca)                                                                                 \
    X(ny_map_laplacian)                                                                            \
    X(ny_map_diffusion)                                                                            \
    X(ny_map_isomap)                                                                               \
    X(ny_map_eigenmaps)

#define DECLARE(map) extern const struct ny_map map;
MAPS(DECLARE)

#define ENTRY(map) &map,
static const struct ny_map *const maps[] = {MAPS(ENTRY)};

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

const struct ny_map ny_map_svd = {
    .name = "svd",
    .summary = "eigenvectors of K as it is",
    .title = "Kernel SVD",
};

const struct ny_map ny_map_pca = {
    .name = "pca",
    .summary = "principal components: kpca with the linear kernel about the column mean",
    .title = "PCA",
    .metric = true,
    .additive = true,
    .kernel = "linear",
    .centred_rows = true,
};

const struct ny_map ny_map_kpca = {
    .name = "kpca",
    .summary = "kernel principal components: K centred",
    .title = "Kernel PCA",
    .additive = true,
};

const struct ny_map ny_map_laplacian = {
    .name = "laplacian",
    .summary = "spectral clustering: eigenvectors of K divided by its degrees",
    .title = "Spectral embedding",
    .divided = true,
};

const struct ny_map ny_map_diffusion = {
    .name = "diffusion",
    .summary = "diffusion map: the same, times eigenvalues to the power of --time",
    .title = "Diffusion map",
    .divided = true,
    .in_time = true,
    .of_graph = &ny_map_graph_diffusion,
};
