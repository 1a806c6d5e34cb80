/*
 * Y = N K N V for K = ΦΦᵀ, the product of feature rows (columns/features.h): W = Φᵀ(NV), d × w, in
 * one pass over the points, then Y = N(ΦW) in another. Nothing of the size n² is computed, and
 * sparse rows stay sparse.
 *
 * `randomized` and `gaussian` multiply in this way where the kernel is linear or cosine, unless n
 * is one unit or less, or not more than 4w: with so few rows, the 4nw multiplications by values of
 * a column are no fewer than the n² of tiles (whole/kernel_product.h). W is made for at most
 * NY_FEATURE_BLOCK columns of V at a time, so that what is held of the d columns does not grow with
 * r: each block takes two passes.
 *
 * Y holds NV of a block until its second pass overwrites it, unit by unit. W and the sums of
 * columns are the caller's, who keeps them in the checkpoint: so a product goes on at any unit of
 * either pass, and has the same bytes for any number of threads, as a pass folds its units in order
 * (factored/pass.h).
 *
 * The linear kernel of pca takes rows less the stored means. Dense rows lose them as they are
 * read; of sparse ones c(1ᵀNV) is taken off W, and Wᵀc off each row of Y.
 */
#ifndef NY_WHOLE_FEATURE_PRODUCT_H
#define NY_WHOLE_FEATURE_PRODUCT_H

#include "fit/fit.h"
#include "whole/shape.h"

struct ny_feature_product {
    struct ny_fit *fit;
    const double *scale; /* diagonal of N (n); NULL: I */
    struct ny_matrix V;  /* n × w */
    struct ny_matrix Y;  /* n × w; holds what the places before first_place gave */
    double *W;           /* (d + 1) × ny_feature_product_width(w), likewise; at first 0 */
    uint64_t first_place;
    /* Called between two units: Y and W hold what the places before this one gave. */
    int (*checkpoint)(void *arg, uint64_t place);
    void *checkpoint_arg;
};

/* Runs the passes that are left; a place is pass · (units + 1) + units done. W is 0 in the end, and
 * each pass is counted in the report. NY_ENUMERIC when Y is not finite. */
int ny_feature_product_run(const struct ny_feature_product *product);

/* Counts what a run with w columns takes besides V, Y, W and the source. */
void ny_feature_product_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t w,
                              enum ny_precision precision, unsigned workers);

#endif
