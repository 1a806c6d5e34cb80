/*
 * A step of the forward substitution Z = L⁻¹k in f64, of NY_ADVANCE_COLUMNS columns at a time: the
 * products with the columns before, and the triangle.
 *
 * BLAS does it too, and packs both operands for a third of the time, a triangle of 32 columns for
 * another third. This code has the bits of OpenBLAS's kernels for AVX-512, sum by sum: residuals of
 * 1e-13 differ otherwise, and with them the landmarks that are drawn. It is used where these
 * kernels are; elsewhere BLAS is.
 */
#ifndef NY_SELECT_ADVANCE_H
#define NY_SELECT_ADVANCE_H

#include <stddef.h>
#include <stdint.h>

enum {
    NY_ADVANCE_COLUMNS = 32,
    NY_ADVANCE_ROWS = 38 /* OpenBLAS takes products of fewer rows in another order */
};

struct ny_advance {
    double *Z; /* rows × stride: columns 0 … from−1 are done, then come kernel values */
    size_t rows, stride, from;
    const double *L; /* NY_ADVANCE_COLUMNS rows of it, L_stride apart, from column 0 on */
    size_t L_stride;
    double *packed; /* room for NY_ADVANCE_COLUMNS × from */
};

typedef void ny_advance_fn(const struct ny_advance *step);

#endif
