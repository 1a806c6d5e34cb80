/*
 * How neighbours of new rows are found among the rows of a graph, which place/neighbors.h writes.
 * There are two ways of the same bytes, both exact:
 *
 *   tree     by boxes of the points (graph/tree.h), which are made at once for all new rows
 *   compare  with all points, in a pass for every NY_COMPARE_ROWS new rows (place/seeker.h)
 *
 * A tree serves rows of few columns, of a graph that was found by one, or of six columns at most.
 * It takes memory for all points: where the budget does not hold it, or there are few new rows,
 * they are compared.
 */
#ifndef NY_PLACE_SEARCH_H
#define NY_PLACE_SEARCH_H

#include "graph/tree.h"
#include "place/seeker.h"

/* Rows that are searched for at a time, at most. */
enum { NY_SEARCH_ROWS = 8 * NY_UNIT_ROWS };

struct ny_search {
    /* These are given. */
    struct ny_seeker *seeker; /* open; its points have the type and slots of the store */
    bool by_tree;             /* the graph was found by one */
    /* These are set by ny_search_begin() and ny_search_find(). */
    size_t room;              /* rows that are taken at a time */
    struct ny_measured found; /* of the last rows, as the seeker has it */
    bool boxed;               /* a tree is to be made, or is there */
    struct ny_columns_spec points_spec;
    struct ny_knn knn; /* of the points, in their own type */
    struct ny_box_tree tree;
};

/* Returns the bytes that a search charges at least, with room for the rows. */
size_t ny_search_bytes(const struct ny_search *search, unsigned workers);
/* Decides how `rows` new rows are searched for (NY_ROWS_UNKNOWN: no one knows how many they are),
 * by what is left of the budget, and takes room. ny_search_end() it after a failure, too. */
int ny_search_begin(struct ny_search *search, uint64_t rows, unsigned workers);
/* Finds the nearest of `count` raw rows, at most search->room, the first of which is new row `row`:
 * search->found. `last`: no rows come behind these. */
int ny_search_find(struct ny_search *search, const void *raw, uint64_t row, size_t count,
                   bool last);
/* Frees what was taken. */
void ny_search_end(struct ny_search *search);

#endif
