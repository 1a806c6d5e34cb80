/* Dense linear algebra by plain loops in double, for answers that share no code with src. All
 * matrices are row-major and packed. */
#ifndef NY_TESTS_BRUTE_H
#define NY_TESTS_BRUTE_H

#include <stddef.h>

/* C (n × m) = A (n × k) B (k × m) */
void brute_multiply(const double *A, const double *B, double *C, size_t n, size_t k, size_t m);
/* C (k × m) = Aᵀ B, A n × k, B n × m */
void brute_multiply_t(const double *A, const double *B, double *C, size_t n, size_t k, size_t m);

/* Eigenpairs of the symmetric A (kept) by cyclic Jacobi rotations: values descending, eigenvector
 * j is row j of V. */
void brute_eigen(const double *A, size_t n, double *values, double *V);

/* Rows of B: v_j/√σ_j of the eigenvalues above `cut`, at most the `rank` largest, so that
 * A⁺ = BᵀB; returns how many those are. B has room for n × n. */
size_t brute_inverse_root(const double *A, size_t n, double cut, size_t rank, double *B);

/* A ← HAH, H = I − 11ᵀ/n. */
void brute_centre(double *A, size_t n);
double brute_trace(const double *A, size_t n);

/* The product of columns j and k of A, whose rows are `stride` apart. */
double brute_dot(const double *A, size_t n, size_t stride, size_t j, size_t k);
/* Makes the columns of A (n × m) orthonormal, one after the other. */
void brute_orthonormalise(double *A, size_t n, size_t m);

#endif
