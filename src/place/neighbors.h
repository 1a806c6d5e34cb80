/* The nearest rows of a graph of each new row: what a transform by a graph writes. */
#ifndef NY_PLACE_NEIGHBORS_H
#define NY_PLACE_NEIGHBORS_H

#include "nearest/forest.h"
#include "place/transform.h"

struct ny_store;

/* New rows, and the places of their neighbours: row numbers go to rows.output or `numbers`, and
 * distances, where they are wanted, to the others. */
struct ny_new_neighbors {
    struct ny_new_rows rows; /* its room is not used */
    size_t neighbors;        /* a row gets so many; 0 is replaced by those of the graph */
    const char *distances_output;
    /* The share of the true neighbours to find, up to 1, which is all of them. In place of 0 comes
     * that of the graph: 1, or the recall of its forest or sieve. */
    double recall;
    uint64_t *numbers;
    double *distances;
    uint64_t placed;        /* rows whose neighbours were found */
    const char *way;        /* "exact", "tree" or "sieve" */
    struct ny_recall found; /* the share that was found, with its 95 % interval; 1: all */
    uint64_t drawn;         /* rows on which that was measured; 0: it need not be */
};

/* Finds the neighbours of new rows among those of the graph `name`, which is done. NY_EUSAGE where
 * that is no graph, or has fewer rows than neighbours are wanted, or the recall is no share. */
int ny_neighbors_of_rows(struct ny_store *store, const char *name, struct ny_new_neighbors *new);

#endif
