/*
 * Kernels: one file each in this folder, one line each in the table of columns/kernels.c.
 *
 * A kernel is a function of a base quantity that a GEMM (or a direct loop) gives for a whole block
 * of rows against landmarks, so that an entry is: base quantity → pointwise function, fused over a
 * strip that is still in cache.
 */
#ifndef NY_COLUMNS_KERNEL_H
#define NY_COLUMNS_KERNEL_H

#include "base/context.h"

enum ny_base_quantity {
    NY_BASE_DOT,        /* x·y of the rows as they are (scaled when --scale) */
    NY_BASE_SQUARE,     /* ‖x−y‖², of centred rows */
    NY_BASE_ABSOLUTE,   /* ‖x−y‖₁, by direct loops */
    NY_BASE_GIVEN       /* read from a file: precomputed */
};

struct ny_kernel_params {
    double gamma; /* > 0; unused where the kernel has none */
    double coef0;
    unsigned degree;
};

struct ny_kernel {
    const char *name, *summary;
    enum ny_base_quantity base;
    bool has_gamma, has_sigma, has_polynomial; /* which options act; sigma, epsilon: rbf only */
    bool constant_diagonal;                    /* k(x,x) = 1 for all x */
    /* values[j] = k from base quantity values[j], in place, f32. x_norm: ‖x‖² of the row,
     * y_norm[j]: ‖y_j‖² (DOT kernels that need norms). `minus_one`: give k − 1 (expm1, trap 2),
     * only asked when `can_minus_one`. */
    void (*apply32)(const struct ny_kernel_params *params, bool minus_one, float x_norm,
                    const float *y_norm, float *values, size_t count);
    bool can_minus_one;
    /* The same in f64, k itself. */
    double (*apply)(const struct ny_kernel_params *params, double base, double x_norm,
                    double y_norm);
    /* γ where --gamma auto: 1/median of the base quantity over sampled pairs (SQUARE, ABSOLUTE),
     * or 1/d (polynomial); NULL: the kernel has no width. */
    double (*auto_gamma)(double median, size_t d);
};

const struct ny_kernel *ny_kernel_find(const char *name); /* NULL: no such kernel */
const struct ny_kernel *ny_kernel_at(size_t index);       /* NULL past the last */

#endif
