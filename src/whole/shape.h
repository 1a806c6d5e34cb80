/* The sizes of a fit of a method on all of K, by its settings: whole/products.h. */
#ifndef NY_WHOLE_SHAPE_H
#define NY_WHOLE_SHAPE_H

#include "fit/settings.h"

/* Columns of a product by features that are made at a time, at most: they bound what is held of
 * the d columns of the points, whatever r is. */
enum { NY_FEATURE_BLOCK = 128 };

struct ny_products {
    uint64_t n;
    bool features; /* products are by features (whole/feature_product.h), else by tiles */
    size_t d;
    uint64_t tiles;  /* tiles that one product takes */
    uint64_t places; /* places of a checkpoint in one product, that of its end included */
    size_t r, w;
    size_t checks;  /* random columns that tell the residuals, of methods whose products do not */
    size_t rank;    /* eigenpairs wanted of the r */
    unsigned steps; /* products, that of the degrees included */
    bool centred, divided;
    size_t order; /* columns of the widest BLAS call of a worker, or of the small problem */
};

/* Returns the sizes of a fit of these points with these settings. */
struct ny_products ny_products_of(const struct ny_fit_settings *settings,
                                  const struct ny_rows_info *points);
/* Returns them without columns that check, which fits of earlier versions have not. */
struct ny_products ny_products_unchecked(struct ny_products products);
/* Returns how many times the rows are gone through for a product by features with w columns: once
 * with Φᵀ and once with Φ for each block of them. */
unsigned ny_feature_product_passes(size_t w);
/* Returns the columns of such a block: those of the product in equal parts, to a multiple of 16. */
size_t ny_feature_product_width(size_t w);
/* Bytes of a checkpoint: two n × w blocks, and degrees where there are any; by features, also W and
 * the sums of columns. */
size_t ny_products_state_bytes(const struct ny_products *products);
/* Returns the entries of K that all products by tiles compute. */
double ny_products_entries(const struct ny_products *products);
/* Returns the columns that all of K is multiplied with, in all products; by features, those that
 * fill the blocks up included. */
double ny_products_columns(const struct ny_products *products);
/* Returns the flop of all products, for points of which a row has so many values. */
double ny_products_flops(const struct ny_products *products, double values);
/* Returns how many times all products go through the points: tiles count once a product. */
unsigned ny_products_passes(const struct ny_products *products);

#endif
