/*
 * Element types: their names and sizes, and conversions between them, by way of f64, which is exact
 * for all. A conversion from f64 is exact, or it stops: it returns the index of the first value
 * that does not survive, such as 300 for u8, and the caller names its row and column. Only a float
 * may be rounded to f32, if it does not overflow.
 */
#include "base/dtype.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PIECE = 1024 }; /* values that are converted at once */

/* Name and bytes of each element type, by its number. */
static const struct {
    const char *name;
    size_t size;
} types[] = {[NY_DTYPE_NONE] = {"none", 0}, [NY_U8] = {"u8", 1},   [NY_I16] = {"i16", 2},
             [NY_F32] = {"f32", 4},         [NY_F64] = {"f64", 8}, [NY_GENOTYPE] = {"genotype", 1}};

size_t ny_dtype_size(enum ny_dtype dtype)
{
    return types[dtype].size;
}

const char *ny_dtype_name(enum ny_dtype dtype)
{
    return types[dtype].name;
}

enum ny_dtype ny_dtype_parse(const char *name)
{
    for (int t = NY_U8; t <= NY_GENOTYPE; t++)
        if (strcmp(types[t].name, name) == 0) return (enum ny_dtype)t;
    return NY_DTYPE_NONE;
}

enum ny_dtype ny_dtype_common(enum ny_dtype one, enum ny_dtype other)
{
    if (one == other) return one;
    if (one == NY_GENOTYPE || other == NY_GENOTYPE) return NY_DTYPE_NONE;
    return one == NY_F64 || other == NY_F64 ? NY_F64 : NY_F32;
}

/* The loop has no exit, so that it is vectorized. */
#define HAS_ZERO(type)                                                                             \
    do {                                                                                           \
        for (size_t i = 0; i < count; i++)                                                         \
            zero |= ((const type *)values)[i] == 0;                                                \
    } while (0)

bool ny_dtype_has_zero(enum ny_dtype dtype, const void *values, size_t count)
{
    unsigned zero = 0;

    switch (dtype) {
    case NY_U8:
    case NY_GENOTYPE:
        HAS_ZERO(uint8_t);
        break;
    case NY_I16:
        HAS_ZERO(int16_t);
        break;
    case NY_F32:
        HAS_ZERO(float);
        break;
    case NY_F64:
        HAS_ZERO(double);
        break;
    case NY_DTYPE_NONE:
        break;
    }
    return zero != 0;
}

/* Converts `count` elements from `in` to `out`, the two arrays of the functions below. */
#define CONVERT(in_type, out_type)                                                                 \
    for (size_t i = 0; i < count; i++)                                                             \
    out[i] = (out_type)((const in_type *)in)[i]

/* Defines a conversion to a type of floats, `same` in the list of types. */
#define DEFINE_CONVERSION(name, out_type, same)                                                    \
    void name(enum ny_dtype from, const void *in, out_type *out, size_t count)                     \
    {                                                                                              \
        const uint8_t *bytes = in;                                                                 \
                                                                                                   \
        if (from == (same)) {                                                                      \
            memcpy(out, in, count * sizeof(*out));                                                 \
            return;                                                                                \
        }                                                                                          \
        switch (from) {                                                                            \
        case NY_U8:                                                                                \
            CONVERT(uint8_t, out_type);                                                            \
            break;                                                                                 \
        case NY_I16:                                                                               \
            CONVERT(int16_t, out_type);                                                            \
            break;                                                                                 \
        case NY_F32:                                                                               \
            CONVERT(float, out_type);                                                              \
            break;                                                                                 \
        case NY_F64:                                                                               \
            CONVERT(double, out_type);                                                             \
            break;                                                                                 \
        case NY_GENOTYPE:                                                                          \
            for (size_t i = 0; i < count; i++)                                                     \
                out[i] = bytes[i] == NY_GENOTYPE_MISSING ? (out_type)NAN : (out_type)bytes[i];     \
            break;                                                                                 \
        case NY_DTYPE_NONE:                                                                        \
            break;                                                                                 \
        }                                                                                          \
    }

DEFINE_CONVERSION(ny_dtype_to_f32, float, NY_F32)
DEFINE_CONVERSION(ny_dtype_to_f64, double, NY_F64)

void ny_dtype_widen(enum ny_dtype from, const void *in, enum ny_dtype to, void *out, size_t count)
{
    if (to == from)
        memcpy(out, in, count * ny_dtype_size(to));
    else if (to == NY_F32)
        ny_dtype_to_f32(from, in, out, count);
    else
        ny_dtype_to_f64(from, in, out, count);
}

/* The comparison in this form is false for NaN. */
#define NARROW_WHOLE(type, low, high)                                                              \
    for (size_t i = 0; i < count; i++) {                                                           \
        if (!(in[i] >= (low) && in[i] <= (high))) return i;                                        \
        ((type *)out)[i] = (type)in[i];                                                            \
        if ((double)((type *)out)[i] != in[i]) return i;                                           \
    }

/* Narrows to f32. With `rounding` only an overflow stops it, as the source was a float; without,
 * every value must survive exactly. */
static size_t narrow_f32(bool rounding, const double *in, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)in[i];
        if ((double)out[i] != in[i] && !isnan(in[i]) && (!rounding || isinf(out[i]))) return i;
    }
    return count;
}

/* NaN is missing, as is the number that stands for that in rows of bytes. */
static size_t narrow_genotypes(const double *in, uint8_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double v = isnan(in[i]) ? NY_GENOTYPE_MISSING : in[i];

        if (!(v >= 0 && v <= NY_GENOTYPE_MISSING) || v != trunc(v)) return i;
        out[i] = (uint8_t)v;
    }
    return count;
}

size_t ny_dtype_from_f64(enum ny_dtype to, bool rounding, const double *in, void *out, size_t count)
{
    switch (to) {
    case NY_U8:
        NARROW_WHOLE(uint8_t, 0, 255);
        break;
    case NY_I16:
        NARROW_WHOLE(int16_t, -32768, 32767);
        break;
    case NY_F32:
        return narrow_f32(rounding, in, out, count);
    case NY_F64:
        memcpy(out, in, count * sizeof(double));
        break;
    case NY_GENOTYPE:
        return narrow_genotypes(in, out, count);
    case NY_DTYPE_NONE:
        return 0;
    }
    return count;
}

size_t ny_dtype_convert(enum ny_dtype from, const void *in, enum ny_dtype to, bool rounding,
                        void *out, size_t count)
{
    double wide[PIECE], piece[PIECE];
    size_t size = ny_dtype_size(from);
    bool aligned = (uintptr_t)in % size == 0;

    if (from == to) {
        if (count) memcpy(out, in, count * size);
        return count;
    }
    for (size_t done = 0, some; done < count; done += some) {
        const char *at = (const char *)in + done * size;
        size_t fit;

        some = count - done < PIECE ? count - done : PIECE;
        if (!aligned) at = memcpy(piece, at, some * size);
        ny_dtype_to_f64(from, at, wide, some);
        fit = ny_dtype_from_f64(to, rounding, wide, (char *)out + done * ny_dtype_size(to), some);
        if (fit < some) return done + fit;
    }
    return count;
}
