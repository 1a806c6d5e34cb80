/*
 * Maps: which matrix is decomposed, and how its eigenvectors become coordinates. What a reader of a
 * result has to know of its map is here; how a map of a graph is made is in maps/graph_map.h.
 */
#ifndef NY_MODEL_MAP_H
#define NY_MODEL_MAP_H

#include <stdbool.h>
#include <stddef.h>

struct ny_map {
    const char *name, *summary;
    bool metric;        /* coordinates have the unit of distances between rows: pictures give all of
                         * them one scale */
    bool additive;      /* K is centred (over D or implicitly) */
    const char *kernel; /* the only kernel it makes sense with; NULL: any */
    const char *method; /* --approx, if no option of landmarks is typed; NULL: that of all maps */
    bool centred_rows;  /* the linear kernel is taken of rows less their mean */
    bool divided;       /* K is divided by degrees; the first eigenpair is trivial */
    bool in_time;       /* coordinates are multiplied by λ̂^t */
    bool graph;         /* K comes from a graph of neighbours, not from a kernel */
    const char *methods; /* "a|b|c": values of --approx that a map of a graph takes, in the order of
                          * the help, the first by default; NULL: it takes none */
    const char *options; /* options of kernels' maps that this map of a graph takes too */
    const char *own;     /* what it takes of the options that not all maps take */
    const char *without; /* what it alone does not take */
    const struct ny_map *of_graph; /* the map that takes its place with the options of a graph;
                                    * NULL: there is none */
};

/* The maps in the order of the help: ny_map_NAME, defined in model/map.c. A new map is its struct
 * there and a line here. A map of a graph also has the file maps/NAME.c with ny_graph_map_NAME,
 * what makes it; maps/graph_map.c lists these by the second macro. */
#define NY_KERNEL_MAPS(X)                                                                          \
    X(svd)                                                                                         \
    X(pca)                                                                                         \
    X(kpca)                                                                                        \
    X(laplacian)                                                                                   \
    X(diffusion)
#define NY_GRAPH_MAPS(X)                                                                           \
    X(isomap)                                                                                      \
    X(eigenmaps)

#define NY_DECLARE_MAP(map) extern const struct ny_map ny_map_##map;

#include "job/record.h"
NY_KERNEL_MAPS(NY_DECLARE_MAP)
NY_GRAPH_MAPS(NY_DECLARE_MAP)

/* Diffusion on a graph, which ny_map_diffusion leads to. The file of eigenmaps makes it. */
extern const struct ny_map ny_map_graph_diffusion;

/* Finds a map by its name, the first of two that share it; NULL: there is none, or no name. */
const struct ny_map *ny_map_find(const char *name);
/* Returns map number `index` in the order of the help; NULL past the end. */
const struct ny_map *ny_map_at(size_t index);

/* Returns the map that has made a result. If two have its name, the record says whether it is of a
 * graph. NULL: the record names none. */
const struct ny_map *ny_map_of(struct ny_record record);

#endif
