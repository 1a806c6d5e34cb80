/* Kernels of ‖x − y‖² by one function in f64 (columns/radial.c). */
#ifndef NY_COLUMNS_RADIAL_H
#define NY_COLUMNS_RADIAL_H

#include "columns/kernels.h"

/* Replaces ‖x − y‖² ≥ 0 by k, or by k − 1 with a relative error below that of f32 also where it is
 * near 0. NaN stays NaN. There are at most NY_RADIAL_VALUES. */
enum { NY_RADIAL_VALUES = 64 };
typedef void ny_radial_fn(const struct ny_kernel_params *params, bool minus_one, double *values,
                          size_t count);

/* Do what ny_kernel.apply and ny_kernel.apply32 are for, by that function. */
void ny_kernel_radial(const struct ny_kernel_params *params, ny_radial_fn *k, double *values,
                      size_t count);
void ny_kernel_radial32(const struct ny_pointwise *how, ny_radial_fn *k, float x_norm,
                        float *values, size_t count);
/* Returns value − 1, of a value that is 1 + Σ series[i]·y^(i+1) and cancels where y is small. */
double ny_radial_less_one(double value, double y, const double series[4]);

#endif
