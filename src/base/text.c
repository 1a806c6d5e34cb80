#include "base/text.h"

#include <string.h>

enum { LENGTH_MAX = 63 };

size_t ny_edit_distance(const char *a, const char *b)
{
    size_t rows = strnlen(a, LENGTH_MAX), cols = strnlen(b, LENGTH_MAX);
    size_t distance[LENGTH_MAX + 1];

    for (size_t j = 0; j <= cols; j++)
        distance[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = distance[0];

        distance[0] = i;
        for (size_t j = 1; j <= cols; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = distance[j];
            if (distance[j - 1] + 1 < best) best = distance[j - 1] + 1;
            if (diagonal + 1 < best) best = diagonal + 1;
            distance[j] = best;
        }
    }
    return distance[cols];
}

const char *ny_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t least = 0;

    for (size_t i = 0; i < count; i++) {
        size_t distance = ny_edit_distance(word, candidates[i]);

        if (nearest && distance >= least) continue;
        nearest = candidates[i];
        least = distance;
    }
    return nearest;
}
