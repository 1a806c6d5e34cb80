/* ΦP of the rows of a tile, for models whose kernel has features (columns/features.h). */
#ifndef NY_FIT_FEATURE_PROJECTOR_H
#define NY_FIT_FEATURE_PROJECTOR_H

#include "columns/features.h"
#include "base/layout.h"
#include "model/model.h"

/*
 * Places rows of genotypes some of which are missing, by the columns that they have. The mean
 * stands for what is missing, so that products with the map, Vᵀz of orthonormal V, come out too
 * small: by V_MᵀV_M of the missing columns M. The coordinates t that have the least squares
 * ‖z − Vt‖ in the other columns solve (I − V_MᵀV_M)t = Vᵀz, as EIGENSOFT's lsqproject has them.
 */
struct ny_incomplete {
    size_t d, p;
    const double *P;  /* d × p, of the model: VΛ^-½ */
    double *roots;    /* p: √λ, by which P's columns are V's; 0 of columns without a pair */
    double *matrices; /* p × (p + 1), a worker: I − V_MᵀV_M, and Vᵀz */
};

struct ny_feature_projector {
    const struct ny_model *model;
    struct ny_columns_spec spec;   /* describes the rows that are placed */
    size_t width;                  /* p up to a multiple of 16 */
    void *P;                       /* d × width, in the model's precision */
    struct ny_features **features; /* one a worker, as what follows */
    void *Y;                       /* rows of a piece × width */
    double *products;              /* rows of a piece */
    bool completes; /* what is missing of genotypes is made up for; set by who places new rows */
    struct ny_incomplete incomplete; /* of genotypes under a linear kernel; else without a map */
};

/* Lays one out for rows of a spec, and p eigenpairs. */
void ny_feature_projector_lay(struct ny_layout *l, struct ny_feature_projector *fp,
                              const struct ny_columns_spec *spec, size_t p,
                              enum ny_precision precision, unsigned workers);
/* Takes the map of a model, which must outlive it. */
void ny_feature_projector_use(struct ny_feature_projector *fp, const struct ny_model *model);

/* Arrays that the rows of a tile are put into. */
struct ny_feature_rows {
    void *at; /* tile->rows × stride, in the model's precision: p numbers each, ΦP */
    size_t stride;
    double *roots;    /* 1/√d_i of a divided kernel, 0 of rows without degree; else NULL */
    const double *u;  /* d: averages φ_i·u are wanted, of a kernel that is not divided; or NULL */
    double *averages; /* these */
    double *diagonal; /* k(x,x) */
};
/* Computes the rows of a tile, on its worker. */
int ny_feature_projector_tile(struct ny_feature_projector *fp, const struct ny_tile *tile,
                              const struct ny_feature_rows *out);

#endif
