/* Ascending orders of numbers, for qsort() and bsearch(), and runs of them. */
#ifndef NY_BASE_COMPARE_H
#define NY_BASE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/* Compares two f64, of which none is NaN. */
int ny_compare_doubles(const void *a, const void *b);
/* Compares two row numbers, uint64_t. */
int ny_compare_rows(const void *a, const void *b);
/* Compares two numbers of nodes, uint32_t. */
int ny_compare_nodes(const void *a, const void *b);
/* Counts how many of some numbers of rows, at least one, follow one another from the first on. */
size_t ny_run_of_rows(const uint64_t *rows, size_t count);

#endif
