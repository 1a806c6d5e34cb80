/* The certificate and the leading eigenvalues that a fit should print: plain loops in long double
 * over the rows and the landmarks that it exported, which share no code with src. */
#ifndef NY_TESTS_CERTIFIED_H
#define NY_TESTS_CERTIFIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum certified_kernel {
    CERTIFIED_RBF,
    CERTIFIED_LAPLACIAN,
    CERTIFIED_POLYNOMIAL,
    CERTIFIED_COSINE,
    CERTIFIED_LINEAR
};

enum certified_averages {
    CERTIFIED_RAW,
    CERTIFIED_CENTRED_LANDMARKS,
    CERTIFIED_CENTRED_IMPLICIT,
    CERTIFIED_DIVIDED_LANDMARKS,
    CERTIFIED_DIVIDED_IMPLICIT
};

/* Formulas of the eigenvalues: those of K̃; (n/m)σ; √(n/m) times the singular values of C̃. */
enum certified_values { CERTIFIED_OF_SPAN, CERTIFIED_OF_NYSTROM, CERTIFIED_OF_COLUMN };

struct certified_fit {
    const double *X; /* n × d, row-major */
    size_t n, d;
    enum certified_kernel kernel;
    double gamma, degree, coef0;
    bool centred_rows; /* the kernel is taken of rows less their mean */
    const uint64_t *D; /* m rows */
    size_t m, rank;    /* rank of W̃ that is in use, all experts' together */
    size_t experts;    /* 0: no ensemble */
    size_t pairs;      /* K̃ has this many eigenpairs; 0: all */
    enum certified_averages averages;
    enum certified_values values;
    bool affine; /* the kernel is translated by the first landmark, which then drops out */
};

enum { CERTIFIED_P = 8 };

struct certified {
    long double trace, error;        /* t, (t − tr K̃)/t */
    long double raw;                 /* Σ k(x,x), each divided by its degree where K is */
    long double values[CERTIFIED_P]; /* descending */
    long double unsure[CERTIFIED_P]; /* what rounding the Gram of tiles to f64 takes from each */
};

struct certified certified_of(const struct certified_fit *fit);

/* Eigenpairs of the symmetric A (n × n, lost) by cyclic Jacobi rotations: values descending,
 * eigenvector j is row j of V. */
void certified_eigen(long double *A, size_t n, long double *values, long double *V);

#endif
