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
/* The bits of 127 ln 2, where n = −127 and 2ⁿ is given by exponent bits of 0: below 2⁻¹²⁶ is 0. */
#define Y_MAX_BITS 0x42b00f34

/* y clamped to 0 … 127 ln 2, on its bits, which are ordered like the numbers: compilers make two
 * instructions of it, but chains of masks of float comparisons that must respect NaN. */
static inline float clamped(float y)
{
    int32_t bits;

    memcpy(&bits, &y, sizeof(bits));
    bits = bits < 0 ? 0 : bits;
    bits = bits > Y_MAX_BITS ? Y_MAX_BITS : bits;
    memcpy(&y, &bits, sizeof(y));
    return y;
}

/* 2ⁿ of the whole number n that ROUNDER + n holds. */
static inline float power_of_two(float rounded)
{
    uint32_t bits;

    memcpy(&bits, &rounded, sizeof(bits));
    bits = (bits + 127) << 23;
    memcpy(&rounded, &bits, sizeof(bits));
    return rounded;
}

static void exponential(const struct ny_pointwise *how, float x_norm, float *restrict values,
                        size_t count)
{
    const float *restrict y_norm = how->y_norm;
    const float *restrict shift = how->shift, *restrict shift_low = how->shift_low;
    const float gamma = (float)how->params->gamma;
    /* The share of γ that rounding lost: like the shift's, the same error in all entries. */
    const float lost_share = (float)((how->params->gamma - (double)gamma) / (double)gamma);
    const float one = how->minus_one ? 1.0f : 0.0f;

    for (size_t j = 0; j < count; j++) {
        float square = values[j] + (x_norm + y_norm[j]);
        float y = clamped(gamma * square);
        float rounded = ROUNDER - y * LOG2_E, n = rounded - ROUNDER;
        float r = (-y - n * LN2_HIGH) - n * LN2_LOW, q = 0x1.6b9c66p-10f;
        float power = power_of_two(rounded), low;
        float invalid = 0.0f * square; /* NaN where d² is, or is infinite; else 0 */

        q = q * r + 0x1.12254ap-7f;
        q = q * r + 0x1.5556f2p-5f;
        q = q * r + 0x1.5554b4p-3f;
        q = q * r + 0x1.fffffep-2f;
        q = q * (r * r) + r;
        low = y * lost_share * (power * q + power) + shift_low[j];
        values[j] = (power * q + ((power - one) - shift[j])) - low + invalid;
    }
}

/* ---- the exponential in f64 ----------------------------------------------------------------- */

/* These are the constants above in f64; the first part of ln 2 has 32 bits. */
#define LN2_HIGH64 0x1.62e42feep-1
#define LN2_LOW64 0x1.a39ef35793c76p-33
#define LOG2_E64 0x1.71547652b82fep0
#define ROUNDER64 0x1.8p52
/* Above this y, e^−y is below half of the least number there is and becomes 0. */
#define Y_MAX64 746.0

static inline double power_of_two64(double rounded)
{
    uint64_t bits;

    memcpy(&bits, &rounded, sizeof(bits));
    bits = (bits + 1023) << 52;
    memcpy(&rounded, &bits, sizeof(rounded));
    return rounded;
}

/* e^−y, by a polynomial for (q − r)/r² that leaves 2⁻⁶¹ of it. Results below 2⁻¹⁰⁰⁰ are made 2¹⁰⁰⁰
 * times as large first, so that those below the least exponent are rounded once. NaN passes. */
static inline double decay(double y)
{
    double rounded, n, r, q = 0x1.1f72fc83bcbc7p-29, power, lift, drop;

    y = y < 0 ? 0 : y;
    y = y > Y_MAX64 ? Y_MAX64 : y;
    rounded = ROUNDER64 - y * LOG2_E64;
    n = rounded - ROUNDER64;
    r = (-y - n * LN2_HIGH64) - n * LN2_LOW64;
    lift = n < -1000 ? 1000 : 0;
    drop = n < -1000 ? 0x1p-1000 : 1;
    power = power_of_two64(rounded + lift);
    q = q * r + 0x1.af4ddda1c08cdp-26;
    q = q * r + 0x1.27e4db67ac2b0p-22;
    q = q * r + 0x1.71de0237484cdp-19;
    q = q * r + 0x1.a01a01a6d7831p-16;
    q = q * r + 0x1.a01a01abe6323p-13;
    q = q * r + 0x1.6c16c16c162d6p-10;
    q = q * r + 0x1.11111111100dfp-7;
    q = q * r + 0x1.5555555555556p-5;
    q = q * r + 0x1.5555555555557p-3;
    q = q * r + 0x1p-1;
    q = q * (r * r) + r;
    return (power * q + power) * drop;
}

enum { LANES64 = 16 };

static inline void decay_lanes(double gamma, double *restrict values)
{
    for (size_t l = 0; l < LANES64; l++)
        values[l] = decay(gamma * values[l]);
}

/* The last lanes go as all others do: a value's bits do not depend on its place. */
static void exponential64(double gamma, double *restrict values, size_t count)
{
    double rest[LANES64] = {0};
    size_t j = 0;

    for (; j + LANES64 <= count; j += LANES64)
        decay_lanes(gamma, values + j);
    if (j == count) return;
    memcpy(rest, values + j, (count - j) * sizeof(*rest));
    decay_lanes(gamma, rest);
    memcpy(values + j, rest, (count - j) * sizeof(*rest));
}

/* ---- powers --------------------------------------------------------------------------------- */

enum { CHUNK = 64 };

/* base ← base^degree by repeated squaring, all lanes in step. */
#define RAISE_CHUNK(name, type)                                                                    \
    static void name(type *restrict base, unsigned degree)                                         \
    {                                                                                              \
        type result[CHUNK];                                                                        \
                                                                                                   \
        for (size_t j = 0; j < CHUNK; j++)                                                         \
            result[j] = 1;                                                                         \
        for (; degree; degree >>= 1) {                                                             \
            if (degree & 1)                                                                        \
                for (size_t j = 0; j < CHUNK; j++)                                                 \
                    result[j] *= base[j];                                                          \
            for (size_t j = 0; j < CHUNK; j++)                                                     \
                base[j] *= base[j];                                                                \
        }                                                                                          \
        memcpy(base, result, sizeof(result));                                                      \
    }

RAISE_CHUNK(raise_chunk, float)
RAISE_CHUNK(raise_chunk64, double)

static void power(const struct ny_pointwise *how, float *restrict values, size_t count)
{
    const float *restrict shift = how->shift, *restrict shift_low = how->shift_low;
    const float gamma = (float)how->params->gamma, constant = (float)how->params->first;
    float base[CHUNK] = {0};

    for (size_t first = 0; first < count; first += CHUNK) {
        size_t length = count - first < CHUNK ? count - first : CHUNK;

        for (size_t j = 0; j < length; j++)
            base[j] = gamma * values[first + j] + constant;
        raise_chunk(base, (unsigned)how->params->second);
        for (size_t j = 0; j < length; j++)
            values[first + j] = (base[j] - shift[first + j]) - shift_low[first + j];
    }
}

static void power64(const struct ny_kernel_params *params, double *restrict values, size_t count)
{
    double base[CHUNK] = {0};

    for (size_t first = 0; first < count; first += CHUNK) {
        size_t length = count - first < CHUNK ? count - first : CHUNK;

        memcpy(base, values + first, length * sizeof(*base));
        for (size_t j = 0; j < CHUNK; j++)
            base[j] = params->gamma * base[j] + params->first;
        raise_chunk64(base, (unsigned)params->second);
        memcpy(values + first, base, length * sizeof(*base));
    }
}

/* Subtracts the shift, in both parts. */
static void identity(const struct ny_pointwise *how, float *restrict values, size_t count)
{
    const float *restrict shift = how->shift, *restrict shift_low = how->shift_low;

    for (size_t j = 0; j < count; j++)
        values[j] = (values[j] - shift[j]) - shift_low[j];
}

extern const struct ny_pointwise_ops NY_VARIANT_NAME(ny_pointwise_ops);
const struct ny_pointwise_ops NY_VARIANT_NAME(ny_pointwise_ops) = {
    .exponential = exponential,
    .power = power,
    .identity = identity,
    .exponential64 = exponential64,
    .power64 = power64,
};
