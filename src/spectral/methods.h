/* The methods there are. */
#ifndef NY_SPECTRAL_METHODS_H
#define NY_SPECTRAL_METHODS_H

#include "spectral/method.h"

extern const struct ny_method ny_method_nystrom;
extern const struct ny_method ny_method_column;
extern const struct ny_method ny_method_orthonystrom;
extern const struct ny_method ny_method_projected;
extern const struct ny_method ny_method_ensemble;
extern const struct ny_method ny_method_exact;
extern const struct ny_method ny_method_randomized;
extern const struct ny_method ny_method_gaussian;
extern const struct ny_method ny_method_krylov;  /* --approx projected --inner randomized */
extern const struct ny_method ny_method_scatter; /* --approx exact of --map pca */

#endif
