/*
 * The small problem of each low-rank approximation: from W, s, G, t, n to the map (P, q) with
 * Y = C′P + 1qᵀ, C′ the shifted tile. One file a method with one `solve`, one line in
 * spectral/methods.h.
 */
#ifndef NY_SPECTRAL_METHOD_H
#define NY_SPECTRAL_METHOD_H

#include "linalg/eigen.h"
#include "spectral/accumulator.h"

/* The map's normalisation of K, and the rows that its averages run over: r_i or d_i = c_i·v, with
 * the vector v of ny_problem. Centred: Ouimet & Bengio 2005, eq. 3; divided: their eq. 4, and
 * Homrighausen & McDonald 2011, eq. 2; implicit: Ouimet & Bengio, Proposition 2. */
enum ny_normalisation {
    NY_RAW,               /* svd: K as it is */
    NY_CENTRED_LANDMARKS, /* kpca, averages over D: C̃ = (C − 1w̄ᵀ)H */
    NY_CENTRED_IMPLICIT,  /* kpca, averages over all rows of K̃ */
    NY_DIVIDED_LANDMARKS, /* laplacian, diffusion, degrees over D: C̃ = 𝒟^-½ C 𝒟_D^-½, v = (n/m)1 */
    NY_DIVIDED_IMPLICIT   /* degrees of all rows of K̃: 𝒟^-½ C B Cᵀ 𝒟^-½, v = B s */
};

/* Tells whether the map takes averages off K. */
static inline bool ny_centred(enum ny_normalisation normalisation)
{
    return normalisation == NY_CENTRED_LANDMARKS || normalisation == NY_CENTRED_IMPLICIT;
}

/* Tells whether the map divides K by degrees. */
static inline bool ny_divided(enum ny_normalisation normalisation)
{
    return normalisation == NY_DIVIDED_LANDMARKS || normalisation == NY_DIVIDED_IMPLICIT;
}

enum ny_inner { NY_INNER_AUTO, NY_INNER_EXACT, NY_INNER_RANDOMIZED };

/* The weights of an ensemble's experts (spectral/ensemble_weights.c). */
enum ny_weights { NY_WEIGHTS_UNIFORM, NY_WEIGHTS_EXPONENTIAL, NY_WEIGHTS_RIDGE };

struct ny_problem {
    struct ny_context *ctx;
    size_t m;
    uint64_t n;
    struct ny_matrix W; /* m × m, f64, both triangles, unshifted; may be destroyed */
    const double *a;    /* shift of the tiles, m */
    struct ny_accumulator *acc; /* sums of pass 1; NULL where there is none; may be destroyed */
    enum ny_gram_precision gram;
    enum ny_normalisation normalisation;
    size_t ranks; /* pairs that K can have at most, as it is a product of features; 0: another K */
    const double *v; /* of a divided map: d_i = c_i·v, and acc has summed rows weighted by 1/d_i */
    bool affine;     /* projected works on the affine hull of D */
    bool f32_tiles;  /* tiles are f32, which the rank cut depends on */
    double tile_noise; /* root mean square of f32 tiles' errors, likewise; 0: not measured */
    bool coarse; /* also cut what G has rounded away, since a solution in f64 was inaccurate */
    size_t components;  /* eigenpairs wanted: p, and a trivial one for divided maps */
    size_t rank;        /* k; 0: the method's default */
    enum ny_inner inner;
    struct ny_randomized randomized;
    size_t experts; /* of an ensemble; 0: the number that its rank suggests */
    enum ny_weights weights;
};

/* Eigenvalues of a matrix that is stored in f64, as shares of the largest, down to which they are
 * as exact as 1e-4 of themselves: its rounding, and that of its pairs, is about 2⁻⁵³ of that. */
#define NY_REACH_SUMS 0x1p-40

/* The solution of the small problem, from which the model and the certificate are made. Its arrays
 * are charged to NY_MEM_MODEL; ny_solution_release() frees them. */
struct ny_solution {
    size_t m, p;
    struct ny_matrix P;     /* m × p: eigenvectors Û = C′P + 1qᵀ, unscaled, orthonormal or nearly */
    double *q;              /* p */
    double *values;         /* p: λ̂, descending; NaN: too small beside the first to be told */
    size_t rank_effective;
    size_t negative;        /* negative eigenvalues dropped, and their share of Σ|λ| */
    double negative_share;
    bool negative_weights;  /* the negative ones come from negative weights of an ensemble */
    double trace_approx;    /* tr K̃ of the matrix the map decomposes; NaN where not defined */
    double trace;           /* tr K of that matrix; NaN where not defined */
    const char *trace_of;   /* which matrix that is: raw, centred, normalised */
    double trivial_mean;    /* mean over D of 𝒟^-½Û₁ of a divided map */
    double *averages;       /* m, centred or affine: the matrix that the map decomposes is
                             * k_ij − ρ_i − ρ_j + averages_mean, ρ_i = c_i·averages; else zero */
    double averages_mean;
    bool inaccurate;        /* an eigenvalue below −1e-6·λ₁ or a trace above K's: the tile Gram has
                             * lost what matters, to be redone in f64 */
};

struct ny_whole;

struct ny_method {
    const char *name, *summary;
    const char *options; /* "a|b|c": what it takes of the options that not all methods take */
    const char *without; /* what it alone does not take; both NULL: none */
    const char *rule;    /* the selection that suits it best, --select's default; NULL: it has no
                          * landmarks, and takes no options of them but their number */
    const struct ny_whole
        *whole; /* set for a method that works on all of K: no landmarks, no `solve` */

    bool needs_gram; /* it goes by G = CᵀC, which pass 1 sums up, */
    bool gram_f64;   /* and in f64, as it magnifies what f32 loses of G's small eigenvalues */
    bool krylov;     /* G is not summed up but multiplied with, U ↦ GU, once a pass (Musco & Musco
                      * 2015, Algorithm 2; spectral/krylov.h): no `solve` */

    bool affine;       /* it takes --affine: it can work on the affine hull of D */
    bool uniform_only; /* λ̂ is scaled by n/m or its root (Talwalkar et al. 2013, eqs. 3 and 4), as
                        * if every subset were equally likely: other landmarks warn */
    bool implicit;     /* it knows averages over all rows of K̃ (Ouimet & Bengio 2005, Proposition
                        * 2), which are then the default of --averages */
    bool trace_below;  /* K − K̃ has no eigenvalue below 0, so that trace_error is defined */
    bool all_ranks;    /* its rank without --rank: all of W⁺; else W_k⁺, k the components */
    bool all_rows;     /* D = X, every row: new points are compared with all of them */

    const char *oversample, *power; /* defaults of these options; NULL: those of the option table */
    /* Refuses sizes of a problem, W and all else left out, that `solve` could not do with; NULL:
     * it can do with any. */
    int (*check)(const struct ny_problem *problem);
    /* The rank in force where W is not solved as a whole; else NULL. */
    size_t (*rank_of)(const struct ny_problem *problem);
    int (*solve)(struct ny_problem *problem, struct ny_solution *solution);
    /* Finds v with K̃1 = C v from W and the unshifted s (m), for implicit degrees. NULL where there
     * are none. W is destroyed. */
    int (*degrees)(struct ny_problem *problem, const double *s, double *v);
    /* Plans use these: flops of the small problem, and what it holds beyond W and the accumulator,
     * some of which stays counted. k: the rank in force. */
    double (*flops)(const struct ny_problem *problem, size_t k);
    void (*count)(struct ny_layout *l, const struct ny_problem *problem, size_t k);
};

/* Makes pair k of a product of features unknown: its value NaN, and its part of the map 0. Pairs
 * beyond problem->ranks do not exist, and stay 0. */
void ny_solution_lose(struct ny_solution *solution, const struct ny_problem *problem, size_t k);
/* Returns the method of that name; NULL where there is none. */
const struct ny_method *ny_method_find(const char *name);
/* Returns method number `index` in the order of the help; NULL past the end. */
const struct ny_method *ny_method_at(size_t index);
/* Allocates the arrays of a solution: P (zero), q, values and averages. */
int ny_solution_new(struct ny_solution *solution, struct ny_problem *problem);
/* Frees the arrays of a solution. */
void ny_solution_release(struct ny_solution *solution, struct ny_context *ctx);
/* Notes how many of these eigenvalues are negative beyond the cut, and their share of Σ|λ|; returns
 * how many are above it. */
size_t ny_solution_count(struct ny_solution *solution, const double *values, size_t count,
                         double cut);

/* The choice that W allows before the pass (spectral/gram.c): η = 2⁻²⁴ max_j mean_i (w_ij −
 * a_j)² ‖W_r⁺‖_F / mean k(x,x), and the rank cut of f32 tiles. */
struct ny_gram_choice {
    enum ny_gram_precision precision; /* precision of the tile Gram */
    double eta;
    double inverse_norm; /* ‖W_r⁺‖_F; it and eta to a factor of 2 where that decides */
    size_t rank;         /* r: eigenvalues of W above the cut */
    bool cut;            /* r < m */
};

/* Makes the choice from W, whose both triangles are kept. Charges one more m × m. */
int ny_gram_choose(struct ny_context *ctx, struct ny_matrix W, const double *a,
                   double mean_diagonal, struct ny_gram_choice *choice);
/* Counts what ny_gram_choose() holds while it runs. */
void ny_gram_choose_count(struct ny_layout *l, size_t m);
/* Returns the precision that η alone decides. */
enum ny_gram_precision ny_gram_precision_of(double eta);

#endif
