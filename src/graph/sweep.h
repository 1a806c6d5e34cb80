/*
 * The distances of all nodes from many sources, as a pass whose units are batches of NY_LANES
 * sources: workers take batches in order, and folds follow in that order (stream/pass.h), so that
 * what is added up does not depend on threads or kills.
 */
#ifndef NY_GRAPH_SWEEP_H
#define NY_GRAPH_SWEEP_H

#include "graph/paths.h"

struct ny_sweep {
    const struct ny_edges *graph;
    const uint32_t *sources; /* count nodes, in the order of graph/batches.h */
    size_t count;
    const char *stage; /* for the progress */
    unsigned workers;
    uint64_t first_batch; /* where a resumed sweep goes on */
    double checkpoint_s;
    /* The distances from sources[first …], n × NY_LANES: in order, one call at a time. */
    int (*fold)(void *arg, size_t first, size_t count, const float *distances);
    int (*checkpoint)(void *arg, uint64_t batches_done); /* as that of a pass */
    void *arg;
};

/* Runs the sweep from first_batch on; sweep->workers falls to the number of batches if there are
 * fewer. NY_EBUDGET, or the errors of a pass. */
int ny_sweep_run(struct ny_sweep *sweep);
/* Returns the number of batches of so many sources. */
uint64_t ny_sweep_batches(size_t sources);
/* Bytes for so many workers over a graph of so many nodes. */
size_t ny_sweep_bytes(uint64_t nodes, unsigned workers);

#endif
