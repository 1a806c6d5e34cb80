/*
 * Finds the nearest neighbours of every point, exactly, by a tree of boxes. It is for rows of few
 * columns, of which a box excludes nearly all others; stage neighbors of the verb graph takes it
 * (neighbors/tree.c).
 *
 * A node of the tree is a run of leaves of NY_TREE_ROWS rows, and its box is the least that holds
 * them. Each node is cut in two halves at the median of the coordinate along which its rows spread
 * most. NY_TREE_ROWS rows that lie side by side look for their neighbours together, one in each
 * lane of a vector: they meet their own leaf, then what is beside it, level by level up to the
 * root, and leave out each box that none of them needs (nearest/tree_variant.c).
 *
 * The lists have the bytes of those of all pairs. Distances are sums of the same operations on the
 * same f64 numbers in the same order as in columns/exact.c. The bound of a box is the same sum over
 * the coordinates by which a row is outside of it, and as rounding is monotone it is never above
 * the distance of a row inside. Equal distances go by row number; so a box is left out where its
 * bound is greater than the last distance of a list, or as great and its lowest row number greater
 * than the list's last. Hence neither equal points nor lattices cost more than others: of a million
 * copies of a point, only the leaf with the lowest numbers is ever read.
 */
#ifndef NY_NEAREST_TREE_H
#define NY_NEAREST_TREE_H

#include "nearest/knn.h"

/* Rows of a leaf: those of the last may be fewer. */
enum { NY_TREE_ROWS = 8 };

struct ny_box_tree {
    struct ny_layout own;
    const struct ny_knn *knn;
    size_t d;
    double gamma;    /* values of the metric are gamma ‖x−y‖² of prepared rows */
    double *x;       /* n × d: prepared rows, leaf by leaf */
    uint32_t *row;   /* n: their numbers */
    uint32_t leaves; /* the nodes are 2 leaves − 1, each before its halves */
    double *box;     /* nodes × 2d: lowest, then highest coordinates */
    uint32_t *least; /* nodes: the lowest row number */
};

/* Reads and prepares the points, which are dense and of a euclidean metric, and makes the tree of
 * them. NY_EBUDGET, errors of the store, or an interrupt; ny_tree_release() it then, too. */
int ny_tree_new(struct ny_box_tree *tree, const struct ny_knn *knn);
/* Frees a tree; right also of a zeroed one. */
void ny_tree_release(struct ny_box_tree *tree);
/* Counts what ny_tree_new() and ny_tree_search() take at most, beside the lists. */
void ny_tree_count(struct ny_layout *l, const struct ny_knn *knn);

/* The work of a search: boxes and rows that packets of rows are measured against, and places of
 * lists that rows are moved by. */
struct ny_tree_work {
    uint64_t boxes, rows, moves;
};
/* Looks for the neighbours of `packets` × NY_TREE_ROWS rows, spread over all of the tree, and drops
 * them. The work depends on nothing but the points. NY_EBUDGET, or an interrupt. */
int ny_tree_pilot(const struct ny_box_tree *tree, uint32_t packets, struct ny_tree_work *work);

/* The final lists of some rows of the points, in no order: t = knn->neighbors row numbers and
 * distances each. */
struct ny_tree_found {
    size_t count;
    uint32_t *of;    /* count: whose lists they are */
    uint32_t *row;   /* count × t; NY_NO_ROW where a distance is no number */
    float *distance; /* count × t: the f64 distance, rounded once */
};
/* Takes lists; it is called from all workers at once. */
typedef int ny_tree_take_fn(void *arg, const struct ny_tree_found *found);

/* Finds the lists of rows `first` to n − 1, some hundred at a time. They come in the order of the
 * tree, so that rows that lie side by side are looked for once. An error of `take`, NY_EBUDGET, or
 * an interrupt. */
int ny_tree_search(const struct ny_box_tree *tree, uint64_t first, ny_tree_take_fn *take,
                   void *arg);

/* Finds the nearest of `count` raw rows that are no rows of the tree: out->row and out->distance
 * have knn->neighbors each, which may be as many as there are points; NY_NO_ROW where a distance is
 * no number. `spec` is theirs, which may have another type than that of the points, but prepares
 * rows alike. Rows that lie near each other are walked together, which changes no list. NY_EBUDGET,
 * or an interrupt. */
int ny_tree_nearest(const struct ny_box_tree *tree, const struct ny_columns_spec *spec,
                    const void *raw, size_t count, struct ny_measured *out);
/* Counts what ny_tree_nearest() takes for so many rows, beside the packets that
 * ny_tree_count() counts. */
void ny_tree_nearest_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t count);

#endif
