/* Finds by brute force the results that the methods of spectral/ must have — the n × n matrix K̃
 * itself and its eigenpairs by Jacobi — and checks against them. */
#ifndef NY_TESTS_WANTED_H
#define NY_TESTS_WANTED_H

#include "support/small.h"

/* Components of every solution that is checked. */
enum { P = 6 };
/* A problem of so many, with an exact inner one. */
struct ny_problem wanted_problem(struct ny_context *ctx, enum ny_normalisation centring,
                                 size_t rank);

/* K̃ = FFᵀ of one normalisation, F = C̃ B for W̃⁺ = BᵀB. */
struct wanted {
    double cut;         /* eigenvalues of W̃ below it are rounding */
    size_t rank;        /* of W̃ above the cut, `rank` at most */
    double *C;          /* n × m: columns of the normalised kernel */
    double *W;          /* m × m */
    size_t m;           /* m, or one less on the affine hull */
    double *K;          /* n × n: K̃ */
    double *values, *V; /* its eigenpairs; eigenvector j is row j */
    double trace, trace_approx;
    double error; /* ‖K − K̃‖_F of the normalised K, implicit averages taken of both */
};

struct wanted wanted_of(const struct small *set, enum ny_normalisation centring, bool affine,
                        size_t rank, bool f32);

/* −1 where the entry of u over D that decides the sign — largest magnitude, ties within 1e-6
 * broken by the first — is negative. Row i of u is u[i·stride]. */
double sign_of(const struct small *set, const double *u, size_t stride);
/* Column k of U (n × P) is u (n) up to the sign, which the rule gives. */
void check_column(const struct small *set, const double *U, size_t k, const double *u,
                  double tolerance);
/* UᵀU = I over the first `count` columns, and zero beyond. */
void check_orthonormal(const struct wanted *w, const double *U, size_t n, size_t count,
                       double tolerance);
/* Eigenpairs of K̃: λ as Jacobi's, K̃u = λu, and where λ stands apart u itself, with its sign. */
void check_pairs(const struct small *set, const struct wanted *w, const double *values,
                 const double *U, size_t count, double tolerance);
/* Checks tr K and tr K̃, and that their difference bounds ‖K − K̃‖_F. */
void check_trace(const struct wanted *w, const struct ny_solution *solution,
                 enum ny_normalisation centring, double tolerance);

#endif
