/*
 * How neighbours of new rows are found among the rows of a graph, which place/neighbors.h writes:
 *
 *   tree     by boxes of the points (nearest/tree.h), which are made once for all new rows
 *   sieve    by codes of the points (nearest/sieve.h), likewise: all neighbours, or a share of them
 *   compare  with all points, in a pass for every NY_COMPARE_ROWS new rows (place/seeker.h)
 *
 * A tree serves rows of few columns, of a graph that was found by one, or of six columns at most; a
 * sieve serves other dense rows. Both take memory for all points. Where the budget does not hold
 * it, or there are few new rows, they are compared: which gives the same bytes of all neighbours,
 * but for a cosine the last bits. So a share of the neighbours, and a cosine, are refused where
 * there is no room for a sieve.
 */
#ifndef NY_PLACE_SEARCH_H
#define NY_PLACE_SEARCH_H

#include "nearest/sieve.h"
#include "nearest/tree.h"
#include "place/seeker.h"

/* Rows that are searched for at a time, at most. */
enum { NY_SEARCH_ROWS = 8 * NY_UNIT_ROWS };

/* How new rows are searched for. */
enum ny_search_way { NY_SEARCH_COMPARE, NY_SEARCH_TREE, NY_SEARCH_SIEVE };

struct ny_search {
    /* These are given. */
    struct ny_seeker *seeker; /* open; its points have the type and slots of the store */
    bool by_tree;             /* the graph was found by one */
    double recall;            /* the share of the neighbours to find; 1: all */
    /* These are set by ny_search_begin() and ny_search_find(). */
    enum ny_search_way way;
    size_t room;                     /* rows that are taken at a time */
    struct ny_layout own;
    char *raw;                       /* of so many rows */
    struct ny_measured found;        /* found for the last rows, as the seeker has it */
    struct ny_sieve_learned learned; /* by a sieve; rows 0: all neighbours were found */
    struct ny_columns_spec points_spec;
    struct ny_knn knn; /* describes the points, in their own type */
    size_t held;       /* rows that a sieve holds */
    struct ny_box_tree tree;
    struct ny_sieve sieve;
};

/* Counts what a search takes at least, with room for the rows. */
void ny_search_count(struct ny_layout *l, const struct ny_search *search, unsigned workers);
/* Decides how `rows` new rows are searched for (NY_ROWS_UNKNOWN: no one knows how many they are),
 * by what is left of the budget, and takes room. NY_EBUDGET; ny_search_end() it then, too. */
int ny_search_begin(struct ny_search *search, uint64_t rows, unsigned workers);
/* Finds the nearest of `count` rows in search->raw, at most search->room, the first of which is new
 * row `row`: search->found. `last`: no rows come behind these. */
int ny_search_find(struct ny_search *search, uint64_t row, size_t count, bool last);
/* Frees what was taken. */
void ny_search_end(struct ny_search *search);

#endif
