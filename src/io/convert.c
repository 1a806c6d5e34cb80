/*
 * Elements of binary files on their way to the dtypes of a store: sizes and names, byte order, and
 * the first step of a conversion, from the file's type to f64. The second is base/dtype.h's.
 *
 * io/binary.c calls these for pieces of rows. A conversion is exact, or it stops: it returns the
 * index of the first value that does not survive, such as a uint64 above 2^53 that is odd, and the
 * caller names its row and column. ny_first_nonfinite() runs at memory speed, because all rows pass
 * it.
 */
#include "io/convert.h"

#include <math.h>
#include <string.h>

static const struct {
    size_t size;
    enum ny_dtype natural;
} elements[] = {
#define NY_ELEMENT_ROW(id, size, natural) [id] = {size, natural},
    NY_ELEMENT_MAP(NY_ELEMENT_ROW)
#undef NY_ELEMENT_ROW
};

size_t ny_element_size(enum ny_element_type type)
{
    return elements[type].size;
}

enum ny_dtype ny_element_natural(enum ny_element_type type)
{
    return elements[type].natural;
}

bool ny_element_is(enum ny_element_type type, enum ny_dtype dtype)
{
    return elements[type].natural == dtype && elements[type].size == ny_dtype_size(dtype) &&
           type != NY_E_U8 && type != NY_E_I8;
}

bool ny_element_is_float(enum ny_element_type type)
{
    return type == NY_E_F2 || type == NY_E_F4 || type == NY_E_F8;
}

bool ny_host_is_big_endian(void)
{
    const uint16_t probe = 1;
    unsigned char first;

    memcpy(&first, &probe, 1);
    return first == 0;
}

void ny_swap(void *values, size_t size, size_t count)
{
    switch (size) {
    case 2: {
        uint16_t *v = values;
        for (size_t i = 0; i < count; i++)
            v[i] = __builtin_bswap16(v[i]);
        break;
    }
    case 4: {
        uint32_t *v = values;
        for (size_t i = 0; i < count; i++)
            v[i] = __builtin_bswap32(v[i]);
        break;
    }
    case 8: {
        uint64_t *v = values;
        for (size_t i = 0; i < count; i++)
            v[i] = __builtin_bswap64(v[i]);
        break;
    }
    default:
        break;
    }
}

/* Widens an IEEE 754 half to a double, exactly; subnormal halves are normal doubles. */
static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude;

    if (exponent == 31)
        magnitude = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(fraction, -24);
    else
        magnitude = ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

#define WIDEN(type)                                                                                \
    for (size_t i = 0; i < count; i++)                                                             \
    out[i] = (double)((const type *)in)[i]
/* 2^64 and 2^63 are out of range of the cast back, which would be undefined. */
#define WIDEN_CHECKED(type, limit)                                                                 \
    for (size_t i = 0; i < count; i++) {                                                           \
        out[i] = (double)((const type *)in)[i];                                                    \
        if (out[i] >= (limit) || (type)out[i] != ((const type *)in)[i]) return i;                  \
    }

size_t ny_widen(enum ny_element_type type, const void *in, double *out, size_t count)
{
    switch (type) {
    case NY_E_U1:
        WIDEN(uint8_t);
        break;
    case NY_E_I1:
        WIDEN(int8_t);
        break;
    case NY_E_U2:
        WIDEN(uint16_t);
        break;
    case NY_E_I2:
        WIDEN(int16_t);
        break;
    case NY_E_U4:
        WIDEN(uint32_t);
        break;
    case NY_E_I4:
        WIDEN(int32_t);
        break;
    case NY_E_U8:
        WIDEN_CHECKED(uint64_t, 0x1p64);
        break;
    case NY_E_I8:
        WIDEN_CHECKED(int64_t, 0x1p63);
        break;
    case NY_E_F2:
        for (size_t i = 0; i < count; i++)
            out[i] = half(((const uint16_t *)in)[i]);
        break;
    case NY_E_F4:
        WIDEN(float);
        break;
    case NY_E_F8:
        memcpy(out, in, count * sizeof(double));
        break;
    }
    return count;
}

/* Exponents of all ones. The first loop has no exit, so that it runs at memory speed. */
#define FIRST_NONFINITE(type, mask)                                                                \
    do {                                                                                           \
        const type *bits = values;                                                                 \
        type bad = 0;                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            bad |= (type)((bits[i] & (mask)) == (mask));                                           \
        if (!bad) return count;                                                                    \
        for (size_t i = 0; i < count; i++)                                                         \
            if ((bits[i] & (mask)) == (mask)) return i;                                            \
    } while (0)

size_t ny_first_nonfinite(enum ny_dtype dtype, const void *values, size_t count)
{
    if (dtype == NY_F32) FIRST_NONFINITE(uint32_t, UINT32_C(0x7f800000));
    if (dtype == NY_F64) FIRST_NONFINITE(uint64_t, UINT64_C(0x7ff0000000000000));
    return count;
}
