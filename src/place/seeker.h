/*
 * The nearest stored rows of new rows, exactly, in f64, by the geometry and the metric of a graph.
 * All points of the store are read once for every NY_COMPARE_ROWS new rows. New points beside a
 * graph (maps/graph_place.h) and the neighbours of new rows (place/neighbors.h) are found by it.
 */
#ifndef NY_PLACE_SEEKER_H
#define NY_PLACE_SEEKER_H

#include "job/keep.h"
#include "nearest/knn.h"
#include "stream/source.h"
#include "job/record.h"

struct ny_seeker {
    struct ny_layout own;
    /* These are given. */
    struct ny_rows *X;
    struct ny_keep keep;        /* of its graph, which has the geometry */
    const char *name;           /* the result, for messages */
    struct ny_rows_info points; /* n: the rows of its graph */
    bool (*takes)(const void *arg, size_t i, uint64_t row); /* the points that count */
    const void *arg;
    /* These are set by ny_seeker_open() and ny_seeker_begin(). */
    struct ny_geometry *geometry;
    struct ny_knn knn;
    char *raw;                /* NY_COMPARE_ROWS rows */
    struct ny_measured found; /* the last rows have knn.neighbors each, nearest first */
};

/* Fills *spec with what the rows of the graph are, and keeps it; `record` is that of the result.
 * ny_seeker_close() it after a failure, too. */
int ny_seeker_open(struct ny_seeker *seeker, struct ny_record record, size_t neighbors,
                   struct ny_columns_spec *spec);
/* Frees all that was taken. */
void ny_seeker_close(struct ny_seeker *seeker);
/* Counts what the next two take, with the source of the points. */
void ny_seeker_count(struct ny_layout *l, struct ny_seeker seeker, unsigned workers);
/* Takes room for rows, whose type the spec holds by now. */
int ny_seeker_begin(struct ny_seeker *seeker, unsigned workers);
/* Finds the nearest of rows first … first + count − 1 of a tile, at most NY_COMPARE_ROWS, as
 * seeker->found. NY_ENUMERIC where there are not as many, as distances are no numbers. */
int ny_seeker_find(struct ny_seeker *seeker, const struct ny_tile *tile, size_t first,
                   size_t count);
/* Finds the nearest of `count` raw rows of the spec likewise; the first one is new row `row`. The
 * distances of a euclidean metric are summed from differences, as those of a tree of boxes are. */
int ny_seeker_compare(struct ny_seeker *seeker, const void *raw, uint64_t row, size_t count);
/* Checks the lists that were found of rows from new row `row` on, however they were found. */
int ny_seeker_check(const struct ny_seeker *seeker, const struct ny_measured *found, uint64_t row,
                    size_t count);

#endif
