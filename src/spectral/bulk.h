/*
 * Which eigenvalues of a covariance matrix stand out of its bulk: the largest eigenvalue of noise
 * has the distribution of Tracy and Widom (1996; Johnstone 2001), to which those of m rows and a
 * number of columns that the eigenvalues themselves tell are compared one after the other
 * (Patterson, Price & Reich 2006, section "A formal test for structure").
 */
#ifndef NY_SPECTRAL_BULK_H
#define NY_SPECTRAL_BULK_H

#include <stdbool.h>
#include <stddef.h>

/* p-values from here on say that an eigenvalue is one of noise. The theory is of columns that are
 * independent and equally noisy; what these are not widens a bulk by some tenths of a percent, more
 * than the largest eigenvalues of many rows scatter. So a value has to stand out by this much. */
#define NY_BULK_P 0.05
#define NY_BULK_MARGIN 1.01

/* The eigenvalues of XXᵀ, or of XᵀX, where the rows of X are centred. */
struct ny_bulk {
    double order;         /* of the matrix */
    double trace;         /* the sum of all of them */
    double square;        /* the sum of their squares */
    const double *values; /* the largest, descending */
    bool of_rows;         /* XXᵀ */
};

/* Returns the probability that noise has an eigenvalue above the k-th largest (from 0) divided
 * by the margin, if those before it are none; NaN where there are too few to tell. */
double ny_bulk_p(const struct ny_bulk *bulk, size_t k);
/* Returns what coordinates of new rows are of those that rows of the fit have, on the axis of the
 * k-th value, where the first `above` stand out: (ℓ − 1)/(ℓ − 1 + γ) with γ columns a row and ℓ, of
 * noise 1, the variance along the axis, which has the value ℓ(1 + γ/(ℓ − 1)) among rows of the fit
 * (Lee, Zou & Wright 2010). By XᵀX the value tells ℓ′ with γ′ = 1/γ, and ℓ − 1 = γ(ℓ′ − 1). 0 of
 * noise. */
double ny_bulk_shrinkage(const struct ny_bulk *bulk, size_t above, size_t k);
#endif
