/*
 * New rows whose neighbours go to files, or to memory (place/neighbors.h). As of a file, row
 * numbers are u64 and distances f32, as a graph's own lists are exported; in memory distances are
 * f64.
 */
#ifndef NY_API_NEW_NEIGHBORS_H
#define NY_API_NEW_NEIGHBORS_H

#include "api/new_rows.h"
#include "place/neighbors.h"

/* Row numbers go to rows.output or `numbers`, and distances, where they are wanted, to the others.
 */
struct ny_neighbor_lists {
    struct ny_read_rows rows; /* its room is not used */
    const char *distances_output;
    uint64_t *numbers;
    double *distances;
    struct ny_new_neighbors found;
    /* These are of a search under way. */
    struct ny_writer *numbers_writer, *distances_writer;
    uint64_t *wide; /* a row of numbers, */
    float *narrow;  /* and of distances, as files have them */
};

/* Finds them by a result of the store. NY_EUSAGE where that is no graph of enough rows. */
int ny_neighbor_lists_find(struct ny_neighbor_lists *lists, struct ny_store *store,
                           const char *name);

#endif
