/* Shared by the files of the graph job. */
#ifndef NY_NEIGHBORS_JOB_PRIVATE_H
#define NY_NEIGHBORS_JOB_PRIVATE_H

#include "neighbors/job.h"
#include "graph/components.h"
#include "graph/forest.h"

struct ny_graph_job {
    struct ny_job job; /* its record, checkpoints and times */
    const struct ny_graph_settings *settings;
    struct ny_graph_plan plan;
    struct ny_geometry *geometry;
    struct ny_columns_spec spec;
    struct ny_knn knn;
    struct ny_neighbors lists; /* exact: of the range under way */
    uint64_t again;            /* rows that needed more than their candidates */
    struct ny_forest forest;
    struct ny_bridge *bridge; /* --connect: edges between components, as long as the stage runs */
};

/* Neighbours of rows first … end − 1 into the store, from where the checkpoint says: `measure`
 * gives those of NY_MEASURE_ROWS at a time. */
typedef int ny_graph_measure_fn(struct ny_graph_job *g, uint64_t first, size_t count,
                                struct ny_measured *out);
int ny_graph_write(struct ny_graph_job *g, ny_graph_measure_fn *measure, uint64_t first,
                   uint64_t end);

/* The stage neighbors with a forest: nearly all neighbours of all rows. */
int ny_graph_grow(struct ny_graph_job *g);

/* Bridges between the components, which then are one: into the lists, and part bridges. */
int ny_graph_connect(struct ny_graph_job *g, struct ny_lists *lists,
                     struct ny_components *components);

#endif
