/* The nearest centre of each row of a block; compiled once for each CPU family. */
#include "evaluate/nearest.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"

enum { LANES = 16, BLOCK = 256 };

/* Centre j against what is nearest so far. */
static inline void compare(const float *restrict g, float norm, uint32_t j, size_t rows,
                           uint32_t *restrict index, float *restrict least)
{
    for (size_t i = 0; i < rows; i++) {
        float value = norm + g[i];

        index[i] = value < least[i] ? j : index[i];
        least[i] = value < least[i] ? value : least[i];
    }
}

static void nearest(const float *G, const float *norms, size_t k, size_t rows, uint32_t *index,
                    float *least)
{
    /* A block of rows at a time: what is compared stays in the nearest cache. */
    for (size_t first = 0; first < rows; first += BLOCK) {
        size_t count = rows - first < BLOCK ? rows - first : BLOCK;

        for (size_t i = first; i < first + count; i++)
            least[i] = INFINITY;
        memset(index + first, 0, count * sizeof(*index));
        for (size_t j = 0; j < k; j++)
            compare(G + j * rows + first, norms[j], (uint32_t)j, count, index + first,
                    least + first);
    }
}

static void add(const float *y, const uint32_t *index, size_t rows, size_t p, double *sums)
{
    for (size_t i = 0; i < rows; i++) {
        const float *restrict row = y + i * p;
        double *restrict sum = sums + index[i] * (p + 1);

        for (size_t c = 0; c < p; c++)
            sum[c] += (double)row[c];
        sum[p] += 1;
    }
}

/* Lane by lane, so that the order of the additions is the same in every family. */
static inline float square_distance(const float *restrict x, const float *restrict y, size_t p)
{
    float lane[LANES] = {0}, sum = 0;
    size_t c = 0;

    for (; c + LANES <= p; c += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += (x[c + l] - y[c + l]) * (x[c + l] - y[c + l]);
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    for (; c < p; c++)
        sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

static void closer(const float *y, size_t rows, size_t p, const float *centre, float *least)
{
    for (size_t i = 0; i < rows; i++) {
        float distance = square_distance(y + i * p, centre, p);

        if (distance < least[i]) least[i] = distance;
    }
}

static void lengths(double *restrict product, double norm, const double *restrict norms,
                    size_t count, double nothing)
{
    for (size_t j = 0; j < count; j++) {
        double both = norm + norms[j], square = both + product[j];

        square = square > nothing * both ? square : 0;
        product[j] = sqrt(square);
    }
}

extern const struct ny_nearest_ops NY_VARIANT_NAME(ny_nearest_ops);
const struct ny_nearest_ops NY_VARIANT_NAME(ny_nearest_ops) = {nearest, add, closer, lengths};
