/* The nearest rows of a graph of each new row: what a transform by a graph writes. */
#ifndef NY_PLACE_NEIGHBORS_H
#define NY_PLACE_NEIGHBORS_H

#include "nearest/recall.h"
#include "place/transform.h"

/* The neighbours that new rows get. */
struct ny_new_neighbors {
    size_t neighbors; /* of a row; 0 is replaced by those of the graph */
    /* The share of the true neighbours to find, up to 1, which is all of them. In place of 0 comes
     * that of the graph: 1, or the recall of its sieve. */
    double recall;
    const char *way;        /* "exact", "tree" or "sieve" */
    struct ny_recall found; /* the share that was found, with its 95 % interval; 1: all */
    uint64_t drawn;         /* rows on which that was measured; 0: it need not be */
};

/* Finds the neighbours of new rows among those of a graph; rows->ops->put() gets them, nearest
 * first. NY_EUSAGE where that is no graph, or has fewer rows than neighbours are wanted, or the
 * recall is no share. */
int ny_neighbors_of_rows(const struct ny_fitted *fitted, struct ny_new_rows *rows,
                         struct ny_new_neighbors *new);

#endif
