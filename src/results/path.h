/* A shortest path between two rows in a stored graph. */
#ifndef NY_RESULTS_PATH_H
#define NY_RESULTS_PATH_H

#include "model/graph.h"

struct ny_stored_path {
    struct ny_context *ctx;
    size_t count;
    uint64_t *rows;  /* from the one end to the other */
    double *lengths; /* length of the path up to each row */
};

/* Finds a shortest path, of several that are as short the one with the fewest edges. NY_EUSAGE for
 * a row that the graph has not, NY_EDATA where there is no path. Holds the component in memory
 * meanwhile. Release the path after a failure, too. */
int ny_stored_path_find(struct ny_stored_path *path, const struct ny_stored_graph *graph,
                        uint64_t from, uint64_t to);
/* Frees the arrays of the path. */
void ny_stored_path_release(struct ny_stored_path *path);

#endif
