/*
 * Random numbers that are a function of (seed, stream, index), so that they do not depend on which
 * thread asks for them, in which order, or after which kill.
 */
#include "base/random.h"

#include <math.h>

/* Philox 4×32, ten rounds (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011). Counter = (index, stream), key = seed. */
void ny_philox(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4])
{
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);

    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0;
        uint64_t b = (uint64_t)0xCD9E8D57u * c2;

        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint64_t ny_hash64(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t w[4];

    ny_philox(seed, stream, index, w);
    return (uint64_t)w[0] << 32 | w[1];
}

/* The midpoint of one of 2^52 equal cells: never 0, never 1. */
static double unit_open(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

double ny_hash01(uint64_t seed, uint64_t stream, uint64_t index)
{
    return unit_open(ny_hash64(seed, stream, index));
}

void ny_gaussian(uint64_t seed, uint64_t stream, uint64_t first, double *x, size_t count)
{
    const double two_pi = 6.283185307179586477;

    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        uint32_t w[4];
        double radius, angle;

        ny_philox(seed, stream, number / 2, w);
        radius = sqrt(-2.0 * log(unit_open((uint64_t)w[0] << 32 | w[1])));
        angle = two_pi * unit_open((uint64_t)w[2] << 32 | w[3]);
        x[i] = radius * (number % 2 ? sin(angle) : cos(angle));
    }
}
