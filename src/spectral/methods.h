/* The methods there are. */
#ifndef NY_SPECTRAL_METHODS_H
#define NY_SPECTRAL_METHODS_H

#include "spectral/method.h"

/* The methods in the order of the help. A new method is its file and a line here. */
#define NY_METHODS(X)                                                                              \
    X(ny_method_nystrom)                                                                           \
    X(ny_method_column)                                                                            \
    X(ny_method_orthonystrom)                                                                      \
    X(ny_method_projected)                                                                         \
    X(ny_method_ensemble)                                                                          \
    X(ny_method_exact)                                                                             \
    X(ny_method_randomized)                                                                        \
    X(ny_method_gaussian)

#define NY_DECLARE_METHOD(method) extern const struct ny_method method;
NY_METHODS(NY_DECLARE_METHOD)

/* These stand in for a method that is listed, and so are not listed themselves. */
extern const struct ny_method ny_method_krylov;  /* --approx projected --inner randomized */
extern const struct ny_method ny_method_scatter; /* --approx exact of --map pca */

extern const struct ny_method ny_method_factored; /* --approx exact of linear and cosine kernels */

/* Returns what stands in for the method where its pairs are to come from products with a few
 * columns (--inner randomized); NULL: nothing does. */
const struct ny_method *ny_method_by_products(const struct ny_method *method);
/* Returns what stands in for the method where K is that of the linear kernel about the mean, and
 * so the columns of the points can take the place of landmarks; NULL: nothing does. */
const struct ny_method *ny_method_by_columns(const struct ny_method *method);
/* Returns what stands in for the method where K is the product of features, whose columns take the
 * place of landmarks likewise; NULL: nothing does. */
const struct ny_method *ny_method_by_features(const struct ny_method *method);

#endif
