/*
 * How long sparse rows are, as far as it bounds the values of the longest of them: for each of some
 * lengths t the sum of max(length − t, 0) over the rows. Any m of these have at most
 *
 *     min over t of  m t + Σ max(length − t, 0)
 *
 * values together, which is what the m longest have where t is the length of the last of them (the
 * dual of a linear program). Sums of parts of the rows can be added, and taken away again; where
 * rows were never counted so, the number of all their values is a bound of each sum.
 */
#ifndef NY_BASE_LENGTHS_H
#define NY_BASE_LENGTHS_H

#include <stddef.h>
#include <stdint.h>

/* Four lengths an octave, 4, 5, 6, 7, 8, 10, 12, …, below 2^24: part of the store format. */
enum { NY_LENGTHS = 88 };

struct ny_lengths {
    uint64_t beyond[NY_LENGTHS]; /* Σ max(length − t, 0), or more */
};

/* Counts a row. */
void ny_lengths_count(struct ny_lengths *lengths, uint64_t length);
/* Adds the sums of other rows. */
void ny_lengths_add(struct ny_lengths *lengths, const struct ny_lengths *other);
/* Takes away the sums of rows that are in them. */
void ny_lengths_take(struct ny_lengths *lengths, const struct ny_lengths *other);
/* Sets what is known of rows that were not counted, which have so many values in all. */
void ny_lengths_unknown(struct ny_lengths *lengths, uint64_t values);
/* Returns a bound of the values of any m of the rows; UINT64_MAX where it is larger. */
uint64_t ny_lengths_most(const struct ny_lengths *lengths, uint64_t m);

#endif
