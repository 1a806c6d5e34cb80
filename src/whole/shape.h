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

struct ny_products ny_products_of(const struct ny_fit_settings *settings, uint64_t n);
size_t ny_products_state_bytes(const struct ny_products *products);
/* Totals of all products: entries of K that are computed; columns that all of K is multiplied with;
 * flop, with d columns of points. */
double ny_products_entries(const struct ny_products *products);
double ny_products_columns(const struct ny_products *products);
double ny_products_flops(const struct ny_products *products, double d);

#endif
