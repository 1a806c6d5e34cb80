/* Rows made ready for kernels, and f64 sums over them. Sums run in 16 lanes: a fixed order. */
#include "columns/vector.h"

#define PREPARE(name, type)                                                                        \
    static void name(const void *raw, const double *restrict centre,                               \
                     const double *restrict factor, size_t d, double *restrict out)                \
    {                                                                                              \
        const type *restrict x = raw;                                                              \
                                                                                                   \
        for (size_t k = 0; k < d; k++)                                                             \
            out[k] = ((double)x[k] - centre[k]) * factor[k];                                       \
    }

PREPARE(prepare_u8, uint8_t)
PREPARE(prepare_i16, int16_t)
PREPARE(prepare_f32, float)
PREPARE(prepare_f64, double)

/* A missing genotype counts as the centre, which is its mean. */
static void prepare_genotype(const void *raw, const double *restrict centre,
                             const double *restrict factor, size_t d, double *restrict out)
{
    const uint8_t *restrict x = raw;

    for (size_t k = 0; k < d; k++) {
        double value = ((double)x[k] - centre[k]) * factor[k];

        out[k] = x[k] == NY_GENOTYPE_MISSING ? 0 : value;
    }
}

enum { LANES = 16 };

static double sum_of(const double lanes[LANES])
{
    double sum = 0;

    for (size_t l = 0; l < LANES; l++)
        sum += lanes[l];
    return sum;
}

static double narrow(const double *restrict row, double scale, size_t d, float *restrict out)
{
    double lanes[LANES] = {0}, rest = 0;
    size_t k = 0;

    for (size_t i = 0; i < d; i++)
        out[i] = (float)(scale * row[i]);
    for (; k + LANES <= d; k += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] += (double)out[k + l] * (double)out[k + l];
    for (; k < d; k++)
        rest += (double)out[k] * (double)out[k];
    return sum_of(lanes) + rest;
}

static inline double magnitude(double x)
{
    return x < 0 ? -x : x;
}

/* Rows of f32 straight from genotypes, which rounds no more than f32 does. */
static void genotypes(const uint8_t *restrict x, const float *restrict factor,
                      const float *restrict offset, size_t d, float *restrict out)
{
    for (size_t k = 0; k < d; k++) {
        float value = (float)x[k] * factor[k] + offset[k];

        out[k] = x[k] == NY_GENOTYPE_MISSING ? 0 : value;
    }
}

#define PAIR_SUM(name, TERM)                                                                       \
    static double name(const double *restrict x, const double *restrict y, size_t d)               \
    {                                                                                              \
        double lanes[LANES] = {0}, rest = 0;                                                       \
        size_t k = 0;                                                                              \
                                                                                                   \
        for (; k + LANES <= d; k += LANES)                                                         \
            for (size_t l = 0; l < LANES; l++)                                                     \
                lanes[l] += TERM(x[k + l], y[k + l]);                                              \
        for (; k < d; k++)                                                                         \
            rest += TERM(x[k], y[k]);                                                              \
        return sum_of(lanes) + rest;                                                               \
    }

#define PRODUCT(a, b) ((a) * (b))
#define SQUARE(a, b) (((a) - (b)) * ((a) - (b)))
#define ABSOLUTE(a, b) magnitude((a) - (b))

PAIR_SUM(dot, PRODUCT)
PAIR_SUM(square, SQUARE)
PAIR_SUM(absolute, ABSOLUTE)

static void byte_sums(const uint8_t *restrict raw, size_t d, uint32_t *sum, uint32_t *square_sum)
{
    uint32_t s = 0, q = 0;

    for (size_t k = 0; k < d; k++) {
        s += raw[k];
        q += (uint32_t)raw[k] * raw[k];
    }
    *sum = s;
    *square_sum = q;
}

extern const struct ny_prepare_ops NY_VARIANT_NAME(ny_prepare_ops);
const struct ny_prepare_ops NY_VARIANT_NAME(ny_prepare_ops) = {
    .row = {[NY_U8] = prepare_u8,
            [NY_I16] = prepare_i16,
            [NY_F32] = prepare_f32,
            [NY_F64] = prepare_f64,
            [NY_GENOTYPE] = prepare_genotype},
    .narrow = narrow,
    .genotypes = genotypes,
    .dot = dot,
    .square = square,
    .absolute = absolute,
    .byte_sums = byte_sums,
};
