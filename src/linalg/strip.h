/* Products of a symmetric matrix, of which the lower triangle is stored, with a vector: a strip of
 * rows at a time, whose elements are read once for both triangles. Compiled once for each CPU
 * family. */
#ifndef NY_LINALG_STRIP_H
#define NY_LINALG_STRIP_H

#include <stddef.h>

/* Adds to y the share of rows first … first+rows−1 of A (rows `stride` apart), and of the columns
 * that mirror them: y has first+rows elements, x too. `first` is a multiple of 8. */
typedef void ny_strip_fn(const double *A, size_t stride, size_t first, size_t rows, const double *x,
                         double *y);

#endif
