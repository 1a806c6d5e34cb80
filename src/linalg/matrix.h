/*
 * Dense matrices, and the BLAS and LAPACK calls on them. Only this folder names cblas_* and
 * LAPACKE_*; sizes are size_t and are narrowed in one checked place.
 *
 * A matrix is a view: it owns nothing, and is passed by value. Row-major: element (i,j) is
 * at[i·stride + j]; ny_t() is the transposed view of the same memory.
 */
#ifndef NY_LINALG_MATRIX_H
#define NY_LINALG_MATRIX_H

#include "base/context.h"
#include "base/cpu.h"
#include "base/layout.h"

struct ny_matrix {
    double *at;
    size_t rows, cols, stride;
    bool transposed; /* rows and cols are those of the view; the memory is cols × rows then */
};

struct ny_matrix32 {
    float *at;
    size_t rows, cols, stride;
    bool transposed;
};

/* Returns the smaller one of two sizes. */
static inline size_t ny_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns a view of rows × cols packed doubles; it owns nothing. */
static inline struct ny_matrix ny_matrix(double *at, size_t rows, size_t cols)
{
    return (struct ny_matrix){at, rows, cols, cols, false};
}

/* Lays out a packed matrix. */
static inline struct ny_matrix ny_lay_matrix(struct ny_layout *l, enum ny_purpose purpose,
                                             size_t rows, size_t cols)
{
    return ny_matrix(ny_lay(l, purpose, rows, cols * sizeof(double)), rows, cols);
}

/* Returns a view of rows × cols packed floats. */
static inline struct ny_matrix32 ny_matrix32(float *at, size_t rows, size_t cols)
{
    return (struct ny_matrix32){at, rows, cols, cols, false};
}

/* Returns the transposed view of the same memory. */
static inline struct ny_matrix ny_t(struct ny_matrix a)
{
    return (struct ny_matrix){a.at, a.cols, a.rows, a.stride, !a.transposed};
}

/* Returns the transposed view of the same memory, in f32. */
static inline struct ny_matrix32 ny_t32(struct ny_matrix32 a)
{
    return (struct ny_matrix32){a.at, a.cols, a.rows, a.stride, !a.transposed};
}

/* Returns rows first … first+count−1 of an untransposed view. */
static inline struct ny_matrix ny_rows(struct ny_matrix a, size_t first, size_t count)
{
    return (struct ny_matrix){a.at + first * a.stride, count, a.cols, a.stride, false};
}

/* Returns columns first … first+count−1 of an untransposed view. */
static inline struct ny_matrix ny_cols(struct ny_matrix a, size_t first, size_t count)
{
    return (struct ny_matrix){a.at + first, a.rows, count, a.stride, false};
}

/* Like ny_rows(), in f32. */
static inline struct ny_matrix32 ny_rows32(struct ny_matrix32 a, size_t first, size_t count)
{
    return (struct ny_matrix32){a.at + first * a.stride, count, a.cols, a.stride, false};
}

/* Like ny_cols(), in f32. */
static inline struct ny_matrix32 ny_cols32(struct ny_matrix32 a, size_t first, size_t count)
{
    return (struct ny_matrix32){a.at + first, a.rows, count, a.stride, false};
}

/* Threads that OpenBLAS itself uses: 1 in the passes, where whole units run in parallel; between
 * _parallel and _serial, around a small problem of order m, all of the context's — but 1 up to this
 * order, where more gain a second at most: other threads give other bits. Process-wide state. */
enum { NY_BLAS_SERIAL_ORDER = 2048 };
/* Gives OpenBLAS the threads of the context for a small problem of order m, or one thread where a
 * limit of the process has no room for more: the others would wait for it for ever. */
void ny_blas_parallel(const struct ny_context *ctx, size_t m);
/* Bytes that OpenBLAS keeps resident in its buffers once `workers` threads multiplied matrices of m
 * columns, and a small problem of order m was solved, above NY_BLAS_SERIAL_ORDER in all `threads`:
 * for each caller what does not depend on m, its stack, and a packed panel of 512 × m doubles.
 * Measured up to m = 4,000, rounded up. */
size_t ny_blas_bytes(unsigned threads, unsigned workers, size_t m);
/* Decides how many of so many threads, and of as many for each other part of the work that runs
 * beside this one, may be in OpenBLAS at a time. Work that multiplies calls this before it takes
 * memory of its own. NY_EBUDGET where a limit of the process (ulimit -v or -d) leaves no room for
 * one; without such a limit nothing is done. */
int ny_blas_make_room(struct ny_context *ctx, unsigned threads);
/* Gives OpenBLAS one thread again. */
void ny_blas_serial(void);
/* Takes OpenBLAS from the program around the library, with one thread, and gives it back with the
 * threads that it had. Calls may nest, and come from several threads: the first takes, the last
 * gives back. */
void ny_blas_borrow(void);
void ny_blas_return(void);
/* "OpenBLAS 0.3.21 … Cooperlake" — recorded with jobs: other kernels give other bits. */
const char *ny_blas_name(void);
/* The kernels that OpenBLAS should have taken on a CPU of this family instead of those of `name`;
 * NULL where it took what it should. */
const char *ny_blas_better_core(const char *name, enum ny_cpu family);

/* C = alpha·A·B + beta·C. C untransposed. */
void ny_gemm(double alpha, struct ny_matrix A, struct ny_matrix B, double beta, struct ny_matrix C);
/* Like ny_gemm(), in f32. */
void ny_gemm32(float alpha, struct ny_matrix32 A, struct ny_matrix32 B, float beta,
               struct ny_matrix32 C);
/* Lower triangle of C = AᵀA (beta 0) or C + AᵀA (beta 1). The upper triangle is not touched. */
void ny_gram(struct ny_matrix A, double beta, struct ny_matrix C);
/* The lower triangle is cut in square blocks of this side; the order alone decides how many. */
enum { NY_GRAM_BLOCK = 512 };
/* Returns how many blocks the lower triangle of an m × m Gram has. */
size_t ny_gram_blocks(size_t m);
/* Like ny_gram(), of block `index` < ny_gram_blocks(A.cols) alone. */
void ny_gram_block(struct ny_matrix A, double beta, struct ny_matrix C, size_t index);
/* Lower triangle of C + alpha (AᵀB + BᵀA). The upper triangle is not touched. */
void ny_gram_crossed(double alpha, struct ny_matrix A, struct ny_matrix B, struct ny_matrix C);
/* Like ny_gram(), in f32. */
void ny_gram32(struct ny_matrix32 A, float beta, struct ny_matrix32 C);
/* y = alpha·A·x + beta·y */
void ny_gemv(double alpha, struct ny_matrix A, const double *x, double beta, double *y);
/* Widens the rows of A, side by side. */
void ny_matrix_widen(struct ny_matrix32 A, double *to);
/* Copies the lower triangle to the upper. */
void ny_mirror_lower(struct ny_matrix A);
/* Copies a matrix to one of its shape. */
void ny_copy(struct ny_matrix from, struct ny_matrix to);
/* Takes the means of its columns off X. */
void ny_centre_columns(struct ny_matrix X);
/* Copies these rows of the lower triangle to the upper, or the other way round where `lower` is not
 * set. */
void ny_mirror_rows(struct ny_matrix A, size_t first, size_t rows, bool lower);

/* L ← chol(A) in place: A's lower triangle in, L's out; the upper triangle is neither read nor
 * written. Returns 0, or 1 + the index of the first pivot that is not positive. */
size_t ny_cholesky(struct ny_matrix A);
/* Like ny_cholesky(), but takes the largest remaining pivot first: A[order, order] ≈ LLᵀ with *rank
 * columns of L, until no pivot is above `tolerance`. The strict upper triangle is not touched.
 * order: A.rows. */
int ny_cholesky_pivoted(struct ny_context *ctx, struct ny_matrix A, double tolerance, size_t *order,
                        size_t *rank);
/* B ← L⁻¹B; L lower triangular, B untransposed, L.rows × B.cols. */
void ny_solve_lower(struct ny_matrix L, struct ny_matrix B);
/* B ← L⁻ᵀB, in the shapes of ny_solve_lower(). */
void ny_solve_lower_t(struct ny_matrix L, struct ny_matrix B);
/* X ← X·L⁻ᵀ (each row x becomes L⁻¹x), L lower triangular, X rows × L.rows. */
void ny_solve_rows(struct ny_matrix L, struct ny_matrix X);
/* Like ny_solve_rows(), in f32. */
void ny_solve_rows32(struct ny_matrix32 L, struct ny_matrix32 X);
/* A⁻¹'s lower triangle from L, in place of L (dpotri). */
int ny_cholesky_inverse(struct ny_context *ctx, struct ny_matrix L);

/* 0 when all are finite, else 1 + the row-major index of the first NaN or Inf. */
size_t ny_first_not_finite(const double *x, size_t count);
/* Like ny_first_not_finite(), in f32. */
size_t ny_first_not_finite32(const float *x, size_t count);

/* Returns Σ x_i. */
double ny_sum(const double *x, size_t count);
/* Returns Σ x_i y_i. */
double ny_dot(const double *x, const double *y, size_t count);
/* Returns ‖x‖₂, which overflows only where the norm itself does. */
double ny_length(const double *x, size_t count);

#endif
