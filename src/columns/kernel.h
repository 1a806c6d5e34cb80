/*
 * Kernels: one file each in this folder, one line each in the table of columns/kernels.c.
 *
 * A kernel is a function of a base quantity that direct loops give for a whole block of rows
 * against landmarks, so that an entry is: base quantity → pointwise function, fused over a strip
 * that is still in cache.
 */
#ifndef NY_COLUMNS_KERNEL_H
#define NY_COLUMNS_KERNEL_H

#include "base/context.h"
#include "base/param.h"

enum ny_base_quantity {
    NY_BASE_DOT,       /* x·y of the rows as they are (scaled when --scale) */
    NY_BASE_SQUARE,    /* ‖x−y‖², of centred rows */
    NY_BASE_ABSOLUTE,  /* ‖x−y‖₁, by direct loops */
    NY_BASE_GIVEN,     /* read from a file: precomputed */
    NY_BASE_COORDINATE /* x_j: the dot product with the unit vector that landmark j stands for */
};

/* The numbers that a kernel's parameters give. Images of models keep these numbers, the second as a
 * whole number below 2³², whatever a kernel calls them: NY_KERNEL_PARAMS where it lists none. */
struct ny_kernel_params {
    double gamma; /* > 0; unused where the kernel has none */
    double first, second;
};
#define NY_KERNEL_PARAMS ((struct ny_kernel_params){1, 0, 1})

/* Input of a pointwise step besides the values of one row; arrays run over the same landmarks. */
struct ny_pointwise {
    const struct ny_kernel_params *params;
    bool minus_one;      /* give k − 1 − shift (columns.h); only asked when can_minus_one */
    const float *y_norm; /* ‖y_j‖² */
    /* The shift, in two parts: rounded to f32, and what that left. If the second were left out, all
     * rows would have the same rounding error, which adds up over rows instead of averaging out. */
    const float *shift, *shift_low;
};

struct ny_kernel {
    const char *name, *summary;
    enum ny_base_quantity base;
    const struct ny_param *const *params; /* what it takes, as options; NULL past the last */
    const char *options; /* "a|b|c": what it takes besides of options that not all kernels take */
    const char *without; /* what it alone does not take */
    bool constant_diagonal;               /* k(x,x) = 1 for all x */
    bool unit_rows;                       /* f32 rows are scaled to length 1 (cosine) */
    bool features;   /* K = ΦΦᵀ by columns/features.h: there are no tiles of it */
    bool half_chord; /* k is ½‖x/‖x‖ − y/‖y‖‖², which f64 finds by that sum where it is small */
    /* Works in place in f32: values[j] ← k − shift_j. NY_BASE_SQUARE: d² is values[j] + ‖x‖² +
     * ‖y_j‖² (values hold −2 x·y after products; if they are d² already, the norms are given as 0).
     * Else values are the base quantity. */
    void (*apply32)(const struct ny_pointwise *how, float x_norm, float *values, size_t count);
    bool can_minus_one;
    /* Like apply32 in f64, but without the shift: values[j] ← k, from the base quantity itself and,
     * for NY_BASE_DOT, the squared norms of both rows. */
    void (*apply)(const struct ny_kernel_params *params, double x_norm, const double *y_norms,
                  double *values, size_t count);
    /* γ where --gamma auto: 1/median of the base quantity over sampled pairs (SQUARE, ABSOLUTE),
     * or 1/d (polynomial); NULL: the kernel has no width. */
    double (*auto_gamma)(double median, size_t d);
    /* Tells whether K may have negative eigenvalues; NULL: it has none on any points. */
    bool (*indefinite)(const struct ny_kernel_params *params);
    /* Tells whether k changes so fast where ‖x − y‖² is near 0 that f32 products, which cancel
     * there, would show: tiles then sum up differences. NULL: it does not. */
    bool (*steep)(const struct ny_kernel_params *params);
};

/* Found by name, but not listed: the rows themselves are C (pca of all columns). */
#define NY_COORDINATES_KERNEL "coordinates"
/* Likewise found and not listed: linear and cosine of rows that are features (columns/features.h).
 */
#define NY_FEATURES_KERNEL "features"
#define NY_DIRECTIONS_KERNEL "directions"

/* Tells whether K is the product of feature rows with themselves: the rows as they are prepared
 * (linear), or at length 1 (cosine). */
static inline bool ny_kernel_has_features(const struct ny_kernel *kernel)
{
    return kernel->base == NY_BASE_DOT && !kernel->auto_gamma;
}
/* Returns the parameter of that name that the kernel lists; NULL: it lists none. */
const struct ny_param *ny_kernel_param(const struct ny_kernel *kernel, const char *name);
/* Returns parameter `index`, of which γ is the first; NULL past the last. */
const struct ny_param *ny_kernel_number(const struct ny_kernel *kernel, size_t index);
const struct ny_kernel *ny_kernel_find(const char *name); /* NULL: no such kernel */
/* Returns the name that users know a kernel by: of one that is not listed, what it computes. */
const char *ny_kernel_shown(const struct ny_kernel *kernel);
const struct ny_kernel *ny_kernel_at(size_t index);       /* NULL past the last */

#endif
