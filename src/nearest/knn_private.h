/* Shared by the files about neighbours: exact values, and the nearest of them. */
#ifndef NY_NEAREST_KNN_PRIVATE_H
#define NY_NEAREST_KNN_PRIVATE_H

#include "nearest/knn.h"

struct ny_near {
    double value; /* the metric as a kernel has it: γ‖x−y‖², or 1 − cos */
    uint32_t row;
};

/* Empties a list of `size` entries. */
void ny_near_clear(struct ny_near *list, size_t size);
/* Keeps an item among the `size` nearest, in order of (value, row number). */
void ny_near_keep(struct ny_near *list, size_t size, struct ny_near item);
/* The distance that a value stands for. */
double ny_near_distance(const struct ny_columns_spec *spec, double value);

/* The points. */
int ny_knn_source(const struct ny_knn *knn, struct ny_source **out);

/* The knn->neighbors nearest of each row of the query: one pass, in f64. near: count × neighbors.
 * Values up to query->near are summed as ny_one_row_values() does. */
int ny_knn_compare(const struct ny_knn *knn, const struct ny_knn_query *query,
                   struct ny_near *near);

#endif
