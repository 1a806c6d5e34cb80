/*
 * The nearest neighbours of every point, exactly: all pairs by tiles of products (columns/pairs.h),
 * in f32 or exact integers, with a list a row that keeps a few more than are wanted. The candidates
 * are measured again in f64, without cancellation, and ordered by (distance, row number). The
 * rounding of f32 is bounded: a row whose list could have missed a neighbour is compared with all
 * points once more, in f64. So the result is that of exact arithmetic, and unique.
 */
#ifndef NY_GRAPH_KNN_H
#define NY_GRAPH_KNN_H

#include "columns/columns.h"
#include "graph/held.h"
#include "graph/neighbors.h"
#include "stream/pass.h"

struct ny_store;

/* Rows that are measured at a time, so that their candidates stay few. */
enum { NY_MEASURE_ROWS = 512 };

struct ny_knn {
    const struct ny_columns_spec *spec; /* its kernel: euclidean or angular */
    struct ny_store *store;
    uint64_t n;
    const struct ny_held *held; /* all of the points; NULL: they are read from the store */
    size_t neighbors;           /* t, below n */
    unsigned workers;
    double checkpoint_s;
};

/* Number of candidates that a list keeps for t neighbours. */
size_t ny_knn_width(const struct ny_knn *knn);

/* One pass over the pairs of a range of panels, whose lists these are, from tile `first_tile` on.
 * `checkpoint`: between two tiles, with the number of those done. */
int ny_knn_pass(const struct ny_knn *knn, struct ny_neighbors *lists, uint64_t first_tile,
                int (*checkpoint)(void *arg, uint64_t tiles_done), void *arg);
/* Distances of a pass over so many panels. */
double ny_knn_pass_pairs(const struct ny_knn *knn, uint64_t panels);
size_t ny_knn_pass_bytes(const struct ny_columns_spec *spec, uint64_t n, unsigned workers);

/* The final lists of rows first … first + count − 1, at most NY_MEASURE_ROWS: t row numbers and
 * distances each; distances are d itself, or 1 − cos. Reads the candidates, and all points again
 * for rows whose candidates do not prove themselves; `again` counts these. */
struct ny_measured {
    uint32_t *row;    /* count × t */
    double *distance; /* count × t */
    uint64_t again;
};
int ny_knn_measure(const struct ny_knn *knn, const struct ny_neighbors *lists, uint64_t first,
                   size_t count, struct ny_measured *out);
/* Rows that are compared with all points at a time. */
enum { NY_COMPARE_ROWS = 256 };

/* Raw rows of the spec, whoever's, at most NY_COMPARE_ROWS; and which points count for the i-th. */
struct ny_knn_query {
    const void *raw;
    size_t count;
    bool (*takes)(const void *arg, size_t i, uint64_t row);
    const void *arg;
};
/* Finds their nearest of `points`, the first n, in f64, in one pass; NY_NO_ROW where there are not
 * as many as wanted. */
int ny_knn_nearest(const struct ny_knn *knn, const struct ny_knn_query *query,
                   struct ny_source *points, struct ny_measured *out);
size_t ny_knn_compare_bytes(const struct ny_knn *knn);
size_t ny_knn_measure_bytes(const struct ny_knn *knn, size_t count);

#endif
