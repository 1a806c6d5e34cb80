/* Measures how well a clustering agrees with classes, from the table of row counts of each pair. */
#ifndef NY_EVALUATE_AGREEMENT_H
#define NY_EVALUATE_AGREEMENT_H

#include "base/context.h"

struct ny_agreement {
    double purity;   /* (1/n) Σ_clusters max_class (Talwalkar et al. 2013, section 4.4) */
    double accuracy; /* share of rows whose cluster is matched with their class, at best */
    /* (1/n) Σ_classes max_cluster: "accuracy" in Talwalkar et al. 2013, section 4.4, which is 1 of
     * all rows in one cluster. */
    double class_concentration;
    double nmi; /* mutual information over the mean of the two entropies */
    double ari; /* Hubert & Arabie 1985 */
};

/* counts: clusters × classes, not all 0, of rows that have a label. */
int ny_agreement_of(struct ny_context *ctx, const uint64_t *counts, size_t clusters, size_t classes,
                    struct ny_agreement *out);

#endif
