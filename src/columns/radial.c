/*
 * Steps of kernels of ‖x − y‖² that have no loop of their own in f32: tiles go through f64, a few
 * values at a time, and are rounded once, so that a kernel is one function in f64.
 */
#include "columns/radial.h"

void ny_kernel_radial(const struct ny_kernel_params *params, ny_radial_fn *k, double *values,
                      size_t count)
{
    for (size_t first = 0; first < count; first += NY_RADIAL_VALUES)
        k(params, false, values + first,
          count - first < NY_RADIAL_VALUES ? count - first : NY_RADIAL_VALUES);
}

void ny_kernel_radial32(const struct ny_pointwise *how, ny_radial_fn *k, float x_norm,
                        float *values, size_t count)
{
    double wide[NY_RADIAL_VALUES];

    for (size_t first = 0; first < count; first += NY_RADIAL_VALUES) {
        size_t left = count - first, length = left < NY_RADIAL_VALUES ? left : NY_RADIAL_VALUES;
        const float *y_norm = how->y_norm + first, *shift = how->shift + first;
        float *value = values + first;

        for (size_t j = 0; j < length; j++) {
            value[j] += x_norm + y_norm[j];
            wide[j] = value[j] < 0 ? 0 : (double)value[j];
        }
        k(how->params, how->minus_one, wide, length);
        for (size_t j = 0; j < length; j++) { /* an infinite d² is NaN, as in vector.h */
            double low = (double)how->shift_low[first + j];

            value[j] = (float)(wide[j] - (double)shift[j] - low) + 0 * value[j];
        }
    }
}

double ny_radial_less_one(double value, double y, const double series[4])
{
    const double small = 2e-3;
    double few = y * (series[0] + y * (series[1] + y * (series[2] + y * series[3])));

    return y < small ? few : value - 1;
}
