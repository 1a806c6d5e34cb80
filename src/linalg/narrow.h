/* Products of a matrix with a block of 16 columns, which BLAS takes at a third of its speed: it
 * packs the whole matrix for each block. Compiled once for each CPU family; rows do not depend on
 * one another, so that shares of them may be computed by several threads. */
#ifndef NY_LINALG_NARROW_H
#define NY_LINALG_NARROW_H

#include <stddef.h>

/* Columns of a block X or Y, whose rows are packed. */
enum { NY_NARROW = 16 };

/* A and the blocks of a product. Rows of A are `stride` apart, and it has `inner` columns, or rows
 * where its transpose is multiplied with: as many as X has rows. */
struct ny_narrow_product {
    const double *A;
    size_t stride, inner;
    const double *X;
    double *Y;
};

/* Each computes rows first … first+count−1 of Y, in an order of sums that does not depend on which
 * rows these are. */
typedef void ny_narrow_fn(const struct ny_narrow_product *p, size_t first, size_t count);

struct ny_narrow_ops {
    ny_narrow_fn *symmetric; /* Y = AX, of which the lower triangle is read */
    ny_narrow_fn *multiply;  /* Y = AX */
    ny_narrow_fn *subtract;  /* Y ← Y − AᵀX */
};

#endif
