/* The sizes of a fit of a method on all of K, by its settings: whole/products.h. */
#ifndef NY_WHOLE_SHAPE_H
#define NY_WHOLE_SHAPE_H

#include "fit/settings.h"

struct ny_products {
    uint64_t n, tiles; /* of one product */
    size_t r, w;
    size_t rank;    /* eigenpairs wanted of the r */
    unsigned steps; /* products, that of the degrees included */
    bool centred, divided;
    size_t order; /* columns of the widest BLAS call of a worker, or of the small problem */
};

/* Returns the sizes of a fit of n points with these settings. */
struct ny_products ny_products_of(const struct ny_fit_settings *settings, uint64_t n);
/* Bytes of a checkpoint: two n × w blocks, and degrees where there are any. */
size_t ny_products_state_bytes(const struct ny_products *products);
/* Returns the entries of K that all products compute. */
double ny_products_entries(const struct ny_products *products);
/* Returns the columns that all of K is multiplied with, in all products. */
double ny_products_columns(const struct ny_products *products);
/* Returns the flop of all products, for points of d columns. */
double ny_products_flops(const struct ny_products *products, double d);

#endif
