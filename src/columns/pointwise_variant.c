/*
 * Pointwise steps over one row of a strip.
 *
 * The exponential: x = n·ln 2 + r with |r| ≤ ½ ln 2, e^x = 2ⁿ(1 + q), q = e^r − 1 by a polynomial
 * whose relative error is below 2⁻²⁶ for q itself, so that 2ⁿq + (2ⁿ − 1 − a) is accurate also
 * where e^x − 1 − a is near 0. The compiler must not reassociate this file's sums (no -ffast-math).
 */
#include <string.h>

#include "columns/vector.h"

/* ln 2 in two parts; the first has 9 bits, so n·LN2_HIGH is exact without FMA too. */
#define LN2_HIGH 0.693359375f
#define LN2_LOW (-2.12194440e-4f)
#define LOG2_E 1.44269504f
/* Adding 1.5·2²³ rounds to a whole number and leaves it in the low bits. */
#define ROUNDER 12582912.0f
/* −127 ln 2, where n = −127 and 2ⁿ is given by exponent bits of 0: results below 2⁻¹²⁶ are 0. */
#define X_MIN (-88.0296919f)
/* Keeps ∞·0 away. */
#define SQUARE_MAX 1e30f

static void exponential(const struct ny_pointwise *how, float x_norm, float *restrict values,
                        size_t count)
{
    const float *restrict y_norm = how->y_norm;
    const float *restrict shift = how->shift, *restrict shift_low = how->shift_low;
    /* γ in two parts, like the shift: its rounding error would be the same in all entries. */
    const float gamma = (float)how->params->gamma;
    const float gamma_low = (float)(how->params->gamma - (double)gamma);
    const float one = how->minus_one ? 1.0f : 0.0f;

    for (size_t j = 0; j < count; j++) {
        float square = values[j] + (x_norm + y_norm[j]);
        float x, rounded, n, r, q, power;
        uint32_t bits;

        square = 0.0f > square ? 0.0f : square;
        square = SQUARE_MAX < square ? SQUARE_MAX : square;
        x = -(gamma * square + gamma_low * square);
        x = X_MIN > x ? X_MIN : x;
        rounded = x * LOG2_E + ROUNDER;
        n = rounded - ROUNDER;
        r = x - n * LN2_HIGH;
        r = r - n * LN2_LOW;
        q = 0x1.6b9c66p-10f;
        q = q * r + 0x1.12254ap-7f;
        q = q * r + 0x1.5556f2p-5f;
        q = q * r + 0x1.5554b4p-3f;
        q = q * r + 0x1.fffffep-2f;
        q = q * (r * r) + r;
        memcpy(&bits, &rounded, sizeof(bits));
        bits = (bits + 127) << 23;
        memcpy(&power, &bits, sizeof(power));
        values[j] = (power * q + ((power - one) - shift[j])) - shift_low[j];
    }
}

enum { CHUNK = 64 };

/* base ← base^degree by repeated squaring, all lanes in step. */
static void raise_chunk(float *restrict base, unsigned degree)
{
    float result[CHUNK];

    for (size_t j = 0; j < CHUNK; j++)
        result[j] = 1.0f;
    for (; degree; degree >>= 1) {
        if (degree & 1)
            for (size_t j = 0; j < CHUNK; j++)
                result[j] *= base[j];
        for (size_t j = 0; j < CHUNK; j++)
            base[j] *= base[j];
    }
    memcpy(base, result, sizeof(result));
}

static void power(const struct ny_pointwise *how, float *restrict values, size_t count)
{
    const float *restrict shift = how->shift, *restrict shift_low = how->shift_low;
    const float gamma = (float)how->params->gamma, coef0 = (float)how->params->coef0;
    float base[CHUNK] = {0};

    for (size_t first = 0; first < count; first += CHUNK) {
        size_t length = count - first < CHUNK ? count - first : CHUNK;

        for (size_t j = 0; j < length; j++)
            base[j] = gamma * values[first + j] + coef0;
        raise_chunk(base, how->params->degree);
        for (size_t j = 0; j < length; j++)
            values[first + j] = (base[j] - shift[first + j]) - shift_low[first + j];
    }
}

static void identity(const struct ny_pointwise *how, float *restrict values, size_t count)
{
    const float *restrict shift = how->shift, *restrict shift_low = how->shift_low;

    for (size_t j = 0; j < count; j++)
        values[j] = (values[j] - shift[j]) - shift_low[j];
}

extern const struct ny_pointwise_ops NY_VARIANT_NAME(ny_pointwise_ops);
const struct ny_pointwise_ops NY_VARIANT_NAME(ny_pointwise_ops) = {exponential, power, identity};
