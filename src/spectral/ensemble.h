/* The experts of an ensemble and their weights. */
#ifndef NY_SPECTRAL_ENSEMBLE_H
#define NY_SPECTRAL_ENSEMBLE_H

#include "spectral/basis.h"

/* Columns that the weights are fitted on; ridge takes as many again to choose its parameter. */
enum { NY_ENSEMBLE_SAMPLES = 20 };

/* Expert r has landmarks first(r) … first(r+1)−1 of the first `columns`, in order of selection. */
struct ny_ensemble {
    size_t experts, columns; /* E; landmarks that belong to an expert */
    size_t samples;          /* the landmarks after those, 0, s or s + s′ */
    size_t width, rank; /* landmarks of the widest expert; the most pairs that an expert keeps */
    size_t *offset;          /* E + 1: expert r has rows offset[r] … offset[r+1]−1 of `root` */
    struct ny_matrix root;   /* Σ_r^-½U_rᵀ of each expert, below one another: W_r⁺ = rootᵀ·root */
    double *weight;          /* E: μ_r */
    struct ny_layout own;
};

/* Returns the sizes, from m, rank, experts and weights of the problem. */
struct ny_ensemble ny_ensemble_shape(const struct ny_problem *problem);
/* Refuses landmarks that are too few for all experts and for weighing them, and weights that would
 * need degrees that need them. A greedy selection may find fewer landmarks than it is allowed, so
 * that the method looks once more. */
int ny_ensemble_check(const struct ny_problem *problem);
/* Returns the first landmark of the expert. */
size_t ny_ensemble_first(const struct ny_ensemble *ensemble, size_t expert);
/* Returns how many landmarks the expert has. */
size_t ny_ensemble_width(const struct ny_ensemble *ensemble, size_t expert);
/* Returns the rows of `root` that belong to the expert, over its own landmarks. */
struct ny_matrix ny_ensemble_root(const struct ny_ensemble *ensemble, size_t expert);

/* Computes the weights μ from ΦᵀΦ and the strict upper triangle of W_R. */
int ny_ensemble_weigh(const struct ny_problem *problem, const struct ny_basis *basis,
                      struct ny_ensemble *ensemble);
/* Counts what it holds while it runs. */
void ny_ensemble_weigh_count(struct ny_layout *l, const struct ny_ensemble *ensemble);

#endif
