/* Sparse rows made ready for products: φ = x·factor·scale, and the sums of squares that scale them
 * to length 1. Sums of counts without factors are whole numbers, and have no order. */
#include <string.h>

#include "columns/vector.h"

enum { LANES = 4, TOGETHER = 1 << 16 }; /* sums in f64, and squares of bytes that 32 bits hold */

/* Bytes without factors. */
static double square_of_bytes(const uint8_t *x, size_t count)
{
    uint64_t sum = 0;

    for (size_t first = 0, end; first < count; first = end) {
        uint32_t part = 0;

        end = count - first < TOGETHER ? count : first + TOGETHER;
        for (size_t k = first; k < end; k++)
            part += (uint32_t)x[k] * x[k];
        sum += part;
    }
    return (double)sum;
}

#define ROWS(name, type)                                                                           \
    static double name##_square(struct ny_sparse row, const double *factor)                        \
    {                                                                                              \
        const type *x = row.value;                                                                 \
        double sum[LANES] = {0};                                                                   \
                                                                                                   \
        if (!factor && sizeof(type) == 1) return square_of_bytes(row.value, row.count);            \
        for (size_t k = 0; k < row.count; k++) {                                                   \
            double value = (double)x[k] * (factor ? factor[row.index[k]] : 1);                     \
                                                                                                   \
            sum[k % LANES] += value * value;                                                       \
        }                                                                                          \
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);                                              \
    }                                                                                              \
    PACK(name##_pack32, type, float)                                                               \
    PACK(name##_pack64, type, double)

#define PACK(name, type, wanted)                                                                   \
    static size_t name(struct ny_sparse row, const double *factor, double scale,                   \
                       uint32_t *restrict index, void *packed)                                     \
    {                                                                                              \
        const type *restrict x = row.value;                                                        \
        wanted *restrict out = packed;                                                             \
        size_t count = 0;                                                                          \
                                                                                                   \
        if (!factor) {                                                                             \
            memcpy(index, row.index, row.count * sizeof(uint32_t));                                \
            for (size_t k = 0; k < row.count; k++)                                                 \
                out[k] = (wanted)((double)x[k] * scale);                                           \
            return row.count;                                                                      \
        }                                                                                          \
        for (size_t k = 0; k < row.count; k++) {                                                   \
            double weight = factor[row.index[k]];                                                  \
                                                                                                   \
            index[count] = row.index[k];                                                           \
            out[count] = (wanted)((double)x[k] * weight * scale);                                  \
            count += weight != 0;                                                                  \
        }                                                                                          \
        return count;                                                                              \
    }

ROWS(u8, uint8_t)
ROWS(i16, int16_t)
ROWS(f32, float)
ROWS(f64, double)

#define BY_TYPE(what)                                                                              \
    {                                                                                              \
        [NY_U8] = u8_##what, [NY_I16] = i16_##what, [NY_F32] = f32_##what, [NY_F64] = f64_##what   \
    }

extern const struct ny_sparse_row_ops NY_VARIANT_NAME(ny_sparse_row_ops);
const struct ny_sparse_row_ops NY_VARIANT_NAME(ny_sparse_row_ops) = {
    .square = BY_TYPE(square), .pack32 = BY_TYPE(pack32), .pack64 = BY_TYPE(pack64)};
