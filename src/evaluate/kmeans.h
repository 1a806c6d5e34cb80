/*
 * Runs k-means: Lloyd's iterations from several k-means++ initialisations, all of them in the same
 * passes over the rows. The measure clusters calls it (evaluate/clusters.c).
 *
 * Distances of a unit Y to the centres are a product, ‖c‖² − 2CYᵀ in f32, in which the
 * centres of several initialisations lie side by side. The nearest centre is found by a comparison
 * along rows. An iteration of ten initialisations is therefore one pass over the rows, and not ten.
 * Sums are f64, a left fold over units: threads and budget do not change a bit. The initial centres
 * are drawn from a hashed sample of the rows.
 *
 * The mean is subtracted from the rows. They are held in memory if they fit the budget; if they do
 * not, each pass reads them again, in the same units (evaluate/cloud.h). Mini-batches were left
 * out: they would make results depend on the budget, and a pass over an embedding costs less than
 * one over its points.
 */
#ifndef NY_EVALUATE_KMEANS_H
#define NY_EVALUATE_KMEANS_H

#include "evaluate/cloud.h"

struct ny_kmeans {
    struct ny_context *ctx;
    struct ny_cloud *cloud;
    size_t k;
    unsigned inits, workers;
    unsigned iterations; /* at most */
    double tolerance; /* an initialisation ends when Σ‖c − c before‖² is below this × the mean
                       * variance of a column; 0: when no centre moves */
    uint64_t seed;
};

/* The results of all initialisations. */
struct ny_centres {
    struct ny_layout own;
    float *at;       /* inits × k × p */
    double *inertia; /* Σ‖y − c‖² of the rows as they are handed out, c the means of clusters */
    unsigned *steps; /* iterations */
};

/* centres: zeros before; released also after a failure. */
int ny_kmeans_run(const struct ny_kmeans *how, struct ny_centres *centres);
/* Frees the centres; zeros are allowed. */
void ny_centres_release(struct ny_centres *centres);
/* The initial centres alone: inits × k × p. If there are fewer than k different rows, the first
 * centre is repeated, and no row is nearest to the copies. */
int ny_kmeans_seed(const struct ny_kmeans *how, float *centres);
/* Counts what this holds while it runs over n rows of p values. */
void ny_kmeans_seed_count(struct ny_layout *l, const struct ny_kmeans *how, uint64_t n, size_t p);

/* cluster[i] of all rows by the centres (k × p); *inertia (may be NULL) around their means. */
int ny_kmeans_assign(const struct ny_kmeans *how, const float *centres, uint32_t *cluster,
                     double *inertia);

/* Counts what these hold, besides the rows and the clusters: centres for good. */
void ny_kmeans_count(struct ny_layout *l, const struct ny_kmeans *how, uint64_t n, size_t p);

#endif
