/* Silhouettes of clusters of an embedding, which need no labels. */
#ifndef NY_EVALUATE_SILHOUETTE_H
#define NY_EVALUATE_SILHOUETTE_H

#include "evaluate/evaluate.h"

struct ny_silhouette {
    double mean;           /* NAN where fewer than two clusters have rows */
    double standard_error; /* that of the mean; 0: the sample is all rows */
    size_t rows;           /* how many the sample has */
};

/* The mean silhouette of run->cluster, over a sample of option sample's rows. One pass over the
 * rows of the cloud. NY_EBUDGET, or an interrupt. */
int ny_silhouette_measure(struct ny_evaluation *run, struct ny_silhouette *out);
/* Counts what this holds for k clusters. */
void ny_silhouette_count(struct ny_layout *l, const struct ny_evaluation *run, size_t k);

#endif
