/* The inner loops of k-means and of silhouettes, compiled once for each CPU family. */
#ifndef NY_EVALUATE_NEAREST_H
#define NY_EVALUATE_NEAREST_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

struct ny_nearest_ops {
    /* index[i] = the first j with the least norms[j] + G[j·rows + i], i < rows; least[i] that. */
    void (*nearest)(const float *G, const float *norms, size_t k, size_t rows, uint32_t *index,
                    float *least);
    /* sums (k × (p + 1)): row index[i] takes y_i in, and counts 1 more in its last column. */
    void (*add)(const float *y, const uint32_t *index, size_t rows, size_t p, double *sums);
    /* least[i] ← min(least[i], ‖y_i − centre‖²) */
    void (*closer)(const float *y, size_t rows, size_t p, const float *centre, float *least);
    /* product[j], −2xy_j before, becomes ‖x − y_j‖ by the squared norms; 0 where the square is less
     * than `nothing` of these. */
    void (*lengths)(double *product, double norm, const double *norms, size_t count,
                    double nothing);
};

/* Returns the loops that were compiled for this CPU. */
const struct ny_nearest_ops *ny_nearest_loops(void);

#endif
