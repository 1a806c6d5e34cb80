/*
 * Methods that work on all of A, the normalised K, by products A·V with n × r matrices: A itself
 * comes tile by tile (whole/kernel_product.h), or is multiplied by its features
 * (whole/feature_product.h), and is never stored. The part of such a method that
 * is not the product: what V is at first, what it becomes after each product, and the small
 * matrix B with A ≈ V B Vᵀ that is left of A in the end.
 */
#ifndef NY_SPECTRAL_WHOLE_H
#define NY_SPECTRAL_WHOLE_H

#include "spectral/method.h"

struct ny_sketch {
    struct ny_context *ctx;
    struct ny_randomized randomized;
    struct ny_matrix V, Y; /* n × r each; stride beyond r is the caller's */
    double noise; /* rounding of B over that of a product with unit columns; 0: the same */
};

struct ny_whole {
    bool landmarks; /* --landmarks is the number r of columns; else it is rank + oversample */
    bool basis_last; /* the last product is AQ, which tells the residual of each pair */
    unsigned (*products)(const struct ny_randomized *how);
    /* Makes V before the first product. */
    int (*start)(struct ny_sketch *sketch);
    /* Called with Y = AV of product `step`: turns V into the input of the next product, or after
     * the last one into the basis Q. */
    int (*next)(struct ny_sketch *sketch, unsigned step);
    /* Makes B (r × r, symmetric, both triangles) of V = Q and the last Y; may set `noise`. */
    int (*reduce)(struct ny_sketch *sketch, struct ny_matrix B);
    /* Counts what the three functions above hold besides V and Y. */
    void (*count)(struct ny_layout *l, size_t r);
    double (*flops)(double n, double r, const struct ny_randomized *how);
};

/* Fills V with standard normal numbers, the matrix Ω, the same for any stride. */
int ny_sketch_gaussian(struct ny_sketch *sketch);
/* Computes B ← (B + Bᵀ)/2. */
void ny_symmetrise(struct ny_matrix B);

#endif
