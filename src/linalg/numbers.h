/* Arrays of numbers that are f64 or f32: coordinates as they are stored, maps and sums of
 * products. */
#ifndef NY_LINALG_NUMBERS_H
#define NY_LINALG_NUMBERS_H

#include "linalg/matrix.h"

static inline size_t ny_number_bytes(bool f64)
{
    return f64 ? sizeof(double) : sizeof(float);
}

/* Returns number i. */
static inline double ny_number(const void *numbers, bool f64, size_t i)
{
    return f64 ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
}

/* Sets number i, which f32 rounds. */
static inline void ny_number_set(void *numbers, bool f64, size_t i, double value)
{
    if (f64)
        ((double *)numbers)[i] = value;
    else
        ((float *)numbers)[i] = (float)value;
}

/* Returns 1 + the first of so many numbers that is not finite; 0: there is none. */
static inline size_t ny_numbers_not_finite(const void *numbers, bool f64, size_t count)
{
    return f64 ? ny_first_not_finite(numbers, count) : ny_first_not_finite32(numbers, count);
}

/* Sets rows of `width` numbers to those of X, and to 0 behind its columns. */
static inline void ny_numbers_set_rows(void *numbers, bool f64, size_t width, struct ny_matrix X)
{
    for (size_t i = 0; i < X.rows; i++)
        for (size_t k = 0; k < width; k++)
            ny_number_set(numbers, f64, i * width + k, k < X.cols ? X.at[i * X.stride + k] : 0);
}

#endif
