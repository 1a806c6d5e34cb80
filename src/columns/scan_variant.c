/* Finds the values of a row that are below the row's bound or below their column's, and tells how
 * far rows of 16-bit numbers are apart. */
#include "columns/vector.h"

/* Values that are compared at a time; mostly none of them is below. */
enum { BLOCK = 64 };

static inline bool any_below(const float *restrict values, float bound,
                             const float *restrict bounds, size_t count)
{
    unsigned found = 0;

    for (size_t j = 0; j < count; j++)
        found |= (unsigned)(values[j] < bound) | (unsigned)(values[j] < bounds[j]);
    return found;
}

static size_t below(const float *values, float bound, const float *bounds, size_t count,
                    uint16_t *found)
{
    size_t hits = 0;

    for (size_t first = 0; first < count; first += BLOCK) {
        size_t length = count - first < BLOCK ? count - first : BLOCK;

        if (length == BLOCK ? !any_below(values + first, bound, bounds + first, BLOCK)
                            : !any_below(values + first, bound, bounds + first, length))
            continue;
        for (size_t j = first; j < first + length; j++) {
            found[hits] = (uint16_t)j;
            hits += (values[j] < bound) | (values[j] < bounds[j]);
        }
    }
    return hits;
}

static int32_t apart(const int16_t *x, const int16_t *y, size_t count)
{
    int32_t sum = 0;

    for (size_t k = 0; k < count; k++) {
        int16_t difference = (int16_t)(x[k] - y[k]);

        sum += difference * difference;
    }
    return sum;
}

extern const struct ny_scan_ops NY_VARIANT_NAME(ny_scan_ops);
const struct ny_scan_ops NY_VARIANT_NAME(ny_scan_ops) = {below, apart};
