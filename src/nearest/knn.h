/*
 * Finds the nearest neighbours of every point, exactly. Stage neighbors of the verb graph
 * (neighbors/lists.c), the bridges, and new points beside a graph use it.
 *
 * All pairs go through the tiles of columns/pairs.h, in f32 or as exact integers, and each row
 * keeps a list of a few more candidates than are wanted: t + t/4 + 4 of them, for example 10 for t
 * = 5. The candidates are then measured again in f64, without cancellation, and ordered by
 * (distance, row number).
 *
 * Neighbours prove themselves. The rounding of f32 is bounded (columns/rounding.c): a row whose
 * last candidate is not farther than its last neighbour by more than f32 may have rounded away
 * could have missed a neighbour, and is compared with all points once more, in f64. So the result
 * is that of exact arithmetic, and unique.
 *
 * The rows of a tile come in ascending order of their numbers, so that a list needs no tie-break
 * other than inserting behind entries that are as near. The lists are the whole state of the pass.
 * If the budget does not hold the lists of all rows, ranges of rows follow one another; two ranges
 * take half as much work again as one, since a pair within a range serves both of its rows and a
 * pair across two ranges is computed twice. If the budget holds the points as well
 * (nearest/held.h), they are decoded once and not for every panel, which took a sixth of the time.
 */
#ifndef NY_NEAREST_KNN_H
#define NY_NEAREST_KNN_H

#include "columns/columns.h"
#include "nearest/held.h"
#include "nearest/neighbors.h"
#include "stream/pass.h"

struct ny_rows;

/* Rows that are measured at a time, so that their candidates stay few. */
enum { NY_MEASURE_ROWS = 512 };

struct ny_knn {
    const struct ny_columns_spec *spec; /* its kernel: euclidean or angular */
    struct ny_rows *X;
    uint64_t n;
    const struct ny_held *held; /* all of the points; NULL: they are read from the store */
    size_t neighbors;           /* t, below n */
    unsigned workers;
};

/* Number of candidates that a list keeps for t neighbours. */
size_t ny_knn_width(const struct ny_knn *knn);

/* One pass over the pairs of a range of panels, whose lists these are, from tile `first_tile` on.
 * `checkpoint`: between two tiles, with the number of those done. */
int ny_knn_pass(const struct ny_knn *knn, struct ny_neighbors *lists, uint64_t first_tile,
                int (*checkpoint)(void *arg, uint64_t tiles_done), void *arg);
/* Distances of a pass over so many panels. */
double ny_knn_pass_pairs(const struct ny_knn *knn, uint64_t panels);
/* Counts what ny_knn_pass() takes for n points, beside the lists and the source of the points. */
void ny_knn_pass_count(struct ny_layout *l, const struct ny_columns_spec *spec, uint64_t n,
                       unsigned workers);

/* The final lists of rows first … first + count − 1, at most NY_MEASURE_ROWS: t row numbers and
 * distances each; distances are d itself, or 1 − cos. Reads the candidates, and all points again
 * for rows whose candidates do not prove themselves; `again` counts these. */
struct ny_measured {
    uint32_t *row;    /* count × t */
    double *distance; /* count × t */
    uint64_t again;
};
/* Measures the candidates of these rows in f64 and writes their final lists to out->row and
 * out->distance, which the caller owns. NY_EBUDGET, errors of the rows, or an interrupt. */
int ny_knn_measure(const struct ny_knn *knn, const struct ny_neighbors *lists, uint64_t first,
                   size_t count, struct ny_measured *out);
/* Rows that are compared with all points at a time. */
enum { NY_COMPARE_ROWS = 256 };

/* Raw rows of the spec, whoever's, at most NY_COMPARE_ROWS; and which points count for the i-th. */
struct ny_knn_query {
    const void *raw;
    size_t count;
    bool (*takes)(const void *arg, size_t i, uint64_t row); /* NULL: all of them do */
    const void *arg;
    const double *near; /* count: values up to which the nearest are, or NULL: not known */
};
/* Finds their nearest of `points`, the first n, in f64, in one pass; NY_NO_ROW where too few
 * are there. */
int ny_knn_nearest(const struct ny_knn *knn, const struct ny_knn_query *query,
                   struct ny_source *points, struct ny_measured *out);
/* Counts what a comparison of NY_COMPARE_ROWS rows with all points takes, beside these rows and the
 * source of the points. */
void ny_knn_compare_count(struct ny_layout *l, const struct ny_knn *knn);
/* Counts the most that ny_knn_measure() takes. */
void ny_knn_measure_count(struct ny_layout *l, const struct ny_knn *knn);

#endif
