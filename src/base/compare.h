/* Ascending orders of numbers, for qsort() and bsearch(). */
#ifndef NY_BASE_COMPARE_H
#define NY_BASE_COMPARE_H

int ny_compare_doubles(const void *a, const void *b); /* no NaN among them */
int ny_compare_rows(const void *a, const void *b);    /* uint64_t */

#endif
