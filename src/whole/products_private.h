/* Shared by the stages of methods on all of K: the state, as views of job->state. */
#ifndef NY_WHOLE_PRODUCTS_PRIVATE_H
#define NY_WHOLE_PRODUCTS_PRIVATE_H

#include "whole/products.h"

struct ny_products_state {
    struct ny_fit *fit;
    struct ny_products shape;
    struct ny_matrix V, Y; /* n × w, inside job->state */
    double *roots;         /* n: g; NULL where K is not divided */
    double *W;             /* for products by features: whole/feature_product.h */
    struct ny_sketch sketch;
    unsigned step;
    double saved_s;
};

/* Returns the columns of V that check, or of Y their products. */
static inline struct ny_matrix ny_products_checks(const struct ny_products *shape,
                                                  struct ny_matrix V)
{
    return ny_cols(V, shape->w - shape->checks, shape->checks);
}
/* The state as of the last checkpoint, whose place is returned, or a new one, zero. */
int ny_products_open(struct ny_products_state *state, struct ny_fit *fit, uint64_t *place);

#endif
