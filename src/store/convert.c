#include "store/convert.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PIECE = 1024 };

/* Tells whether the type has the value, or of f32 a nearest one that is finite. */
static bool holds(enum ny_dtype to, double v)
{
    switch (to) {
    case NY_U8: return v >= 0 && v <= UINT8_MAX && v == trunc(v);
    case NY_I16: return v >= INT16_MIN && v <= INT16_MAX && v == trunc(v);
    case NY_F32: return (double)(float)v == v || fabs(v) <= (double)FLT_MAX;
    case NY_F64: return true;
    case NY_GENOTYPE:
    case NY_DTYPE_NONE: break;
    }
    return false;
}

static void store_value(enum ny_dtype to, double v, void *out, size_t i)
{
    switch (to) {
    case NY_U8: ((uint8_t *)out)[i] = (uint8_t)v; break;
    case NY_I16: ((int16_t *)out)[i] = (int16_t)v; break;
    case NY_F32: ((float *)out)[i] = (float)v; break;
    case NY_F64: ((double *)out)[i] = v; break;
    case NY_GENOTYPE:
    case NY_DTYPE_NONE: break;
    }
}

size_t ny_convert_rows(enum ny_dtype from, const void *in, enum ny_dtype to, void *out,
                       size_t count)
{
    double piece[PIECE];

    if (from == to) {
        memcpy(out, in, count * ny_dtype_size(to));
        return count;
    }
    for (size_t done = 0; done < count; done += PIECE) {
        size_t some = count - done < PIECE ? count - done : PIECE;

        ny_dtype_to_f64(from, (const char *)in + done * ny_dtype_size(from), piece, some);
        for (size_t i = 0; i < some; i++) {
            if (!holds(to, piece[i])) return done + i;
            store_value(to, piece[i], out, done + i);
        }
    }
    return count;
}
