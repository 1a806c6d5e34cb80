/* Symmetric eigenproblems. Eigenvalues come in descending order; eigenvector j is *row* j of V,
 * unit length, its sign as the solver left it (methods fix signs themselves). */
#ifndef NY_LINALG_EIGEN_H
#define NY_LINALG_EIGEN_H

#include "linalg/matrix.h"

/* The `count` largest eigenpairs of the symmetric A (lower triangle; destroyed; not transposed), by
 * block Lanczos where they are few of many and settle (eigen_few.h), else by a reduction to a
 * tridiagonal matrix (eigen_dense.h): values[count], V count × A.rows. By all threads of the
 * context's crew, whose number changes no bit. Workspace under NY_MEM_SOLVE: some m·(m/8 + 1,300)
 * bytes, or some 32·m·(count + 128) of block Lanczos (the vectors are found in V itself).
 * NY_ENUMERIC when A or the result is not finite, or the solver fails. */
int ny_eigen_top(struct ny_context *ctx, struct ny_matrix A, size_t count, double *values,
                 struct ny_matrix V);
/* All eigenvalues, no vectors; A destroyed. */
int ny_eigenvalues(struct ny_context *ctx, struct ny_matrix A, double *values);
/* Counts the eigenvalues below `bound` by Sylvester's law of inertia. This is a quarter of the work
 * of finding any, at the rate of products. A (lower triangle) destroyed. */
int ny_eigen_count_below(struct ny_context *ctx, struct ny_matrix A, double bound, size_t *count);

/* Counts what ny_eigen_top() and ny_eigen_count_below() hold while they run, of an m × m matrix. */
void ny_eigen_top_count(struct ny_layout *l, size_t m, size_t count);
void ny_eigen_below_count(struct ny_layout *l, size_t m);

/* Lays out `count` eigenvalues, which it returns, and their eigenvectors V, count × m. */
double *ny_lay_pairs(struct ny_layout *l, size_t count, size_t m, struct ny_matrix *V);

struct ny_randomized {
    size_t oversample; /* p */
    unsigned power;    /* q */
    uint64_t seed;
};

/* The `count` largest eigenpairs of symmetric A (both triangles; kept) from a random range of
 * count + p columns: Li, Kwok & Lu Algorithm 1, with Y orthonormalised between products and
 * B = QᵀAQ. Signs of B's small or negative eigenvalues are kept as they are. */
int ny_eigen_randomized(struct ny_context *ctx, struct ny_matrix A, size_t count,
                        const struct ny_randomized *how, double *values, struct ny_matrix V);
/* Counts its workspace. */
void ny_eigen_randomized_count(struct ny_layout *l, size_t m, size_t count,
                               const struct ny_randomized *how);

/* Orthonormalises the columns of Y (m × r, r ≤ m) in place by Cholesky-QR twice, falling back to
 * Householder (dgelqf, dorglq on the transposed storage) where the Gram is not safely positive
 * definite. Columns that depend on others are replaced by some orthonormal to them. */
int ny_orthonormalise(struct ny_context *ctx, struct ny_matrix Y);
/* Counts its workspace. */
void ny_orthonormalise_count(struct ny_layout *l, size_t r);

/* Like ny_orthonormalise(), by all threads of the context's crew, whose number changes no bit
 * (linalg/tall.h), and in one round where that is enough. */
int ny_orthonormalise_lanes(struct ny_context *ctx, struct ny_matrix Y);
/* Counts its workspace. */
void ny_orthonormalise_lanes_count(struct ny_layout *l, size_t r);

/* ‖A‖_F of a matrix that is not transposed; not finite where an element is not. */
int ny_frobenius_norm(struct ny_context *ctx, struct ny_matrix A, double *norm);
/* Spectral norm ‖A‖₂ of any matrix by power iteration on AᵀA from a fixed start (30 steps or 1e-3
 * relative change); never above the Frobenius norm. */
int ny_spectral_norm(struct ny_context *ctx, struct ny_matrix A, double *norm);

#endif
