/* A small data set with everything about it dense: what the methods of spectral/ approximate, and
 * how to run them on it. */
#ifndef NY_TESTS_SMALL_H
#define NY_TESTS_SMALL_H

#include "spectral/method.h"

enum small_kernel {
    SMALL_RBF,        /* medium width */
    SMALL_WIDE,       /* so wide that all entries are near 1 */
    SMALL_NARROW,     /* W is nearly I */
    SMALL_LINEAR,     /* with a large offset: W has rank d */
    SMALL_POLYNOMIAL, /* (x·y/d + 1)² */
    SMALL_DUPLICATES, /* rbf, with equal landmarks: W is singular */
    SMALL_KERNELS
};

enum { SMALL_M_MAX = 128 };

struct small {
    size_t n, d, m;
    size_t D[SMALL_M_MAX]; /* rows of the landmarks, in order */
    double *K;             /* n × n */
    double a[SMALL_M_MAX]; /* column means of W */
};

struct small small_of(enum small_kernel kernel, size_t n, size_t d, size_t m);

/* The precision of tiles and of the sums of their Gram. */
enum small_tiles { SMALL_F32, SMALL_F32_GRAM64, SMALL_F64, SMALL_TILES };

/* Runs the method as a fit does, from tiles shifted by `a`; problem->ctx, centring, components and
 * what differs from zero are the caller's. Û (n × p) = C′P + 1qᵀ of exact C′ is returned. */
int small_solve(const struct small *set, const struct ny_method *method, enum small_tiles tiles,
                struct ny_problem *problem, struct ny_solution *solution, double *U);

/* The residual that the last solution by blocks reports, and its passes. */
extern double small_residual;
extern unsigned small_steps;

#endif
