/* Shared by the files of this folder: the two libraries and the narrowing of sizes to theirs. */
#ifndef NY_LINALG_BLAS_H
#define NY_LINALG_BLAS_H

#include <assert.h>
#include <limits.h>

#include <cblas.h>
#include <lapacke.h>

#include "linalg/matrix.h"

/* BLAS and LAPACK count in 32-bit integers in most builds. A matrix with a side of 2^31 elements
 * is a mistake of ours: no budget holds the small problem of one. */
static inline int ny_blas_int(size_t size)
{
    assert(size <= INT_MAX);
    return (int)size;
}

/* Leading dimension; BLAS rejects 0 even where nothing is read. */
static inline int ny_blas_stride(size_t stride)
{
    return stride ? ny_blas_int(stride) : 1;
}

/* Returns an error if a routine's `lwork`, `factor` times the order m, is more than an int
 * holds. */
int ny_check_order(struct ny_context *ctx, size_t m, size_t factor);
/* Tells whether OpenBLAS may start so many threads of its own, beside those that call it: whether
 * there is room for their buffers and stacks under the limits of the process. */
bool ny_blas_may_start(const struct ny_context *ctx, unsigned threads);
/* Around a call that takes a buffer of OpenBLAS: waits until there is room for one, and gives it
 * back (linalg/blas_core.c). */
void ny_blas_enter(void);
void ny_blas_leave(void);
#define NY_BLAS(call) (ny_blas_enter(), (void)(call), ny_blas_leave())
/* NY_ENUMERIC where the lower triangle of A holds a NaN or Inf. */
int ny_check_lower(struct ny_context *ctx, struct ny_matrix A);

/* Row-major storage read column by column is the transpose: the lower triangle of a view is the
 * upper one for LAPACK, and L of A = LLᵀ is its U of A = UᵀU. No copies are needed. */
static inline char ny_lapack_lower(struct ny_matrix A)
{
    return A.transposed ? 'L' : 'U';
}

#endif
