/* The rows of a store that a result has: all rows that there were, without those that were lost
 * before. A map of a graph has the rows of its largest component alone. */
#ifndef NY_RESULTS_ROWS_H
#define NY_RESULTS_ROWS_H

#include "results/record.h"

struct ny_result_rows {
    struct ny_store *store;
    const char *name;
    uint64_t n;          /* rows of the job */
    uint64_t count;      /* rows that the result has */
    struct ny_lost lost; /* rows that were lost before; numbers are those of the rows left */
    bool component;      /* part "rows" has their numbers */
};

/* Finds out which rows a result has, by its record; ny_result_rows_release() them. */
int ny_result_rows_of(struct ny_result_rows *result_rows, struct ny_store *store, const char *name,
                      const json_t *record);
/* Frees the list of lost rows. */
void ny_result_rows_release(struct ny_result_rows *result_rows);
/* Returns the number in the store of row `row` of the result. */
uint64_t ny_result_rows_place(const struct ny_result_rows *result_rows, uint64_t row);

/* Reads the numbers in the store of the result's rows first … first + count − 1. */
int ny_result_rows_numbers(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                           uint64_t *out);
/* Tells in *same whether both results have the same rows of the store. */
int ny_result_rows_same(const struct ny_result_rows *a, const struct ny_result_rows *b, bool *same);
/* Reads the labels of those rows. */
int ny_result_rows_labels(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                          double *out);
/* Reads the numbers of those rows in the files that were imported. */
int ny_result_rows_source(const struct ny_result_rows *result_rows, uint64_t first, size_t count,
                          uint64_t *out);

#endif
