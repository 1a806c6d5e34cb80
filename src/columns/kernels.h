/* Shared by the kernels; and the kernels that the table of kernels.c does not list. */
#ifndef NY_COLUMNS_KERNELS_H
#define NY_COLUMNS_KERNELS_H

#include "columns/kernel.h"

/* Found by name. */
extern const struct ny_kernel ny_kernel_coordinates, ny_kernel_features, ny_kernel_directions;
extern const struct ny_kernel ny_kernel_euclidean, ny_kernel_angular; /* for neighbours alone */

/* A width, and other spellings of it for kernels of ‖x − y‖² (columns/rbf.c). */
extern const struct ny_param ny_param_gamma;

/* Kernels that are their base quantity, less the shift in f32. */
void ny_kernel_identity32(const struct ny_pointwise *how, float x_norm, float *values,
                          size_t count);
/* Leaves values as they are, in f64: the base quantity is the kernel value. */
void ny_kernel_identity(const struct ny_kernel_params *params, double x_norm,
                        const double *y_norms, double *values, size_t count);
/* exp(−γ·base quantity), and its γ, 1/median (columns/rbf.c). */
void ny_kernel_decay32(const struct ny_pointwise *how, float x_norm, float *values, size_t count);
/* Replaces the base quantities `values` by exp(−γ·value), in f64. */
void ny_kernel_decay(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                     double *values, size_t count);
/* Returns γ = 1/median of the base quantity; d is not used. */
double ny_kernel_inverse(double median, size_t d);
/* Cosines of angles, from dot products; of a zero row 0 (columns/cosine.c). */
void ny_kernel_angles(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                      double *values, size_t count);

#endif
