/* The rows of a store that a result covers: all that there were, but those that were lost before;
 * of a map of a graph, those of its largest component. */
#ifndef NY_RESULTS_COVERED_H
#define NY_RESULTS_COVERED_H

#include "results/record.h"

struct ny_covered {
    struct ny_store *store;
    const char *name;
    uint64_t n, rows;    /* of the result; that it covers */
    struct ny_lost lost; /* row numbers are those of the rows that were left */
    bool component;      /* part "rows" has their numbers */
};

/* ny_covered_release() it. */
int ny_covered_of(struct ny_covered *covered, struct ny_store *store, const char *name,
                  const json_t *record);
/* Frees the list of lost rows. */
void ny_covered_release(struct ny_covered *covered);
/* Returns the number in the store of row `row` of the result. */
uint64_t ny_covered_place(const struct ny_covered *covered, uint64_t row);

/* Numbers in the store of the covered rows first … first + count − 1; below, their labels. */
int ny_covered_rows(const struct ny_covered *covered, uint64_t first, size_t count, uint64_t *out);
/* *same: both cover the same rows of the store. */
int ny_covered_same(const struct ny_covered *a, const struct ny_covered *b, bool *same);
/* Reads the labels of the covered rows first … first + count − 1. */
int ny_covered_labels(const struct ny_covered *covered, uint64_t first, size_t count, double *out);
/* Reads their numbers in the files that were imported. */
int ny_covered_source(const struct ny_covered *covered, uint64_t first, size_t count,
                      uint64_t *out);

#endif
