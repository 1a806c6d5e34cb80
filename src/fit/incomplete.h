/*
 * Places rows of genotypes some of which are missing, by the columns that they have. The mean
 * stands for what is missing, so that products with the map, Vᵀz of orthonormal V, come out too
 * small: by V_MᵀV_M of the missing columns M. The coordinates t that have the least squares
 * ‖z − Vt‖ in the other columns solve (I − V_MᵀV_M)t = Vᵀz, as EIGENSOFT's lsqproject has them.
 */
#ifndef NY_FIT_INCOMPLETE_H
#define NY_FIT_INCOMPLETE_H

#include "base/layout.h"
#include "model/model.h"

struct ny_incomplete {
    size_t d, p;
    const double *P;  /* d × p, of the model: VΛ^-½ */
    double *roots;    /* p: √λ, by which P's columns are V's; 0 of columns without a pair */
    double *matrices; /* p × (p + 1), a worker: I − V_MᵀV_M, and Vᵀz */
};

/* Lays out the room of so many workers, for p pairs. */
void ny_incomplete_lay(struct ny_layout *l, struct ny_incomplete *incomplete, size_t p,
                       unsigned workers);
/* Takes the map of a model, which must outlive it. */
void ny_incomplete_use(struct ny_incomplete *incomplete, const struct ny_model *model);
/* Corrects the p numbers zᵀP of a row of genotypes, on a worker. A row whose columns cannot tell
 * all coordinates, since fewer than p are there, stays as it is. */
void ny_incomplete_row32(const struct ny_incomplete *incomplete, unsigned worker,
                         const uint8_t *genotypes, float *y);
/* Like it, in f64. */
void ny_incomplete_row64(const struct ny_incomplete *incomplete, unsigned worker,
                         const uint8_t *genotypes, double *y);

#endif
