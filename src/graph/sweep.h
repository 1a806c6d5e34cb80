/*
 * The distances of all nodes from many sources, as a pass whose units are batches of as
 * many sources as there are lanes: workers take batches in order, and folds follow in that order
 * (stream/pass.h), so that what is added up does not depend on threads or kills.
 */
#ifndef NY_GRAPH_SWEEP_H
#define NY_GRAPH_SWEEP_H

#include "graph/paths.h"

/* The distances from sources[first … first + count - 1], n × lanes. */
struct ny_swept {
    size_t first, count, lanes;
    const float *distances;
};

struct ny_sweep {
    const struct ny_edges *graph;
    const uint32_t *sources; /* count nodes, in the order of graph/batches.h */
    size_t count;
    const char *stage; /* for the progress */
    unsigned workers;
    size_t lanes; /* of a batch, as ny_paths_lay() takes them */
    size_t first; /* the source that a resumed sweep goes on with */
    int (*fold)(void *arg, const struct ny_swept *batch); /* in order, one call at a time */
    int (*checkpoint)(void *arg, uint64_t sources_done);  /* as that of a pass */
    void *arg;
};

/* Runs the sweep from source `first` on; sweep->workers falls to the number of batches if there are
 * fewer. NY_EBUDGET, or the errors of a pass. */
int ny_sweep_run(struct ny_sweep *sweep);
/* Lays out what a sweep holds, the workspaces of its workers. */
struct ny_sweeping;
struct ny_sweeping *ny_sweep_lay(struct ny_layout *l, const struct ny_edges *graph, size_t lanes,
                                 unsigned workers);

#endif
