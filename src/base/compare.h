/* Ascending orders of numbers, for qsort() and bsearch(). */
#ifndef NY_BASE_COMPARE_H
#define NY_BASE_COMPARE_H

/* Compares two f64, of which none is NaN. */
int ny_compare_doubles(const void *a, const void *b);
/* Compares two row numbers, uint64_t. */
int ny_compare_rows(const void *a, const void *b);
/* Compares two numbers of nodes, uint32_t. */
int ny_compare_nodes(const void *a, const void *b);

#endif
