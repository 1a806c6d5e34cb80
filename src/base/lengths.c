/* Bounds of the values of the longest of sparse rows. */
#include "base/lengths.h"

static uint64_t length_of(unsigned k)
{
    return (uint64_t)(4 + k % 4) << (k / 4);
}

void ny_lengths_count(struct ny_lengths *lengths, uint64_t length)
{
    for (unsigned k = 0; k < NY_LENGTHS && length_of(k) < length; k++)
        lengths->beyond[k] += length - length_of(k);
}

void ny_lengths_add(struct ny_lengths *lengths, const struct ny_lengths *other)
{
    for (unsigned k = 0; k < NY_LENGTHS; k++)
        lengths->beyond[k] += other->beyond[k];
}

void ny_lengths_take(struct ny_lengths *lengths, const struct ny_lengths *other)
{
    for (unsigned k = 0; k < NY_LENGTHS; k++)
        lengths->beyond[k] -= other->beyond[k];
}

void ny_lengths_unknown(struct ny_lengths *lengths, uint64_t values)
{
    for (unsigned k = 0; k < NY_LENGTHS; k++)
        lengths->beyond[k] = values;
}

uint64_t ny_lengths_most(const struct ny_lengths *lengths, uint64_t m)
{
    uint64_t most = UINT64_MAX;

    for (unsigned k = 0; k < NY_LENGTHS; k++) {
        uint64_t sum;

        if (__builtin_mul_overflow(m, length_of(k), &sum) ||
            __builtin_add_overflow(sum, lengths->beyond[k], &sum))
            continue;
        if (sum < most) most = sum;
    }
    return most;
}
