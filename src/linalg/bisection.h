/* Eigenvalues of a symmetric tridiagonal matrix by bisection, many side by side. */
#ifndef NY_LINALG_BISECTION_H
#define NY_LINALG_BISECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"

/* T: the diagonal d (m) and e (m − 1) beside it. */
struct ny_tridiagonal {
    const double *d, *e;
    size_t m;
};

/* Tells whether an element of e is so small beside the diagonal that T falls apart there. */
bool ny_tridiagonal_splits(const struct ny_tridiagonal *T);
/* Finds the eigenvalues first … first + count − 1 of T, numbered from 0 upwards: values[count],
 * ascending, each to some 2⁻⁵² of the largest. By all threads of the context's crew, whose number
 * changes no bit. squares: room for m doubles. Some 200·m·count flops. (Barth, Martin & Wilkinson
 * 1967, with the pivots of LAPACK's dlaebz) */
void ny_bisection(struct ny_context *ctx, const struct ny_tridiagonal *T, size_t first,
                  size_t count, double *squares, double *values);

#endif
