/*
 * Rows of the points in memory: all of them where there is room, else those that are wanted next,
 * which are read in the order of their blocks. Who uses them does not see which.
 */
#ifndef NY_NEAREST_HELD_H
#define NY_NEAREST_HELD_H

#include "columns/columns.h"

struct ny_rows;

/* Rows of which one thread reads those wanted at a time. */
enum { NY_HELD_PIECE = 16384 };

struct ny_held {
    struct ny_layout own;
    struct ny_rows *X;
    uint64_t n;
    size_t slots, row_bytes, room; /* room: rows that it can hold; n: it holds all */
    unsigned workers;
    size_t count; /* number of rows wanted */
    char *rows;
    uint64_t *wanted; /* a bit a row, if not all are held */
    uint32_t *before; /* how many are wanted before each 64 rows */
};

/* Room for at most so many of the store's first n rows; all of them are read at once where they
 * fit. */
int ny_held_new(struct ny_held *held, struct ny_rows *X, const struct ny_columns_spec *spec,
                uint64_t n, size_t room, unsigned workers);
/* Frees the rows; right also after a failure of ny_held_new(). */
void ny_held_release(struct ny_held *held);
/* Counts what ny_held_new() and reading with so many workers take for room of `room` rows of n. */
void ny_held_count(struct ny_layout *l, const struct ny_columns_spec *spec, uint64_t n, size_t room,
                   unsigned workers);

/* Tells whether all rows are in memory, so that nothing need be wanted. */
static inline bool ny_held_all(const struct ny_held *held)
{
    return held->room == held->n;
}

/* Forgets which rows were wanted. Does nothing if all rows are held. */
void ny_held_clear(struct ny_held *held);
/* Wants one row more, for ny_held_load() to read; false if there is no room for it. */
bool ny_held_want(struct ny_held *held, uint64_t row);
/* Reads all rows that are wanted, in the order of their blocks. Does nothing if all rows are held.
 */
int ny_held_load(struct ny_held *held);

/* Draws rows by hash, one from each of `count` equal stretches of them: their numbers, and the raw
 * rows. Errors of the rows. */
int ny_held_draw(const struct ny_held *held, uint64_t seed, uint64_t stream, size_t count,
                 uint64_t *row, char *raw);

/* A raw row that was wanted and read. */
static inline const void *ny_held_row(const struct ny_held *held, uint64_t row)
{
    size_t place = (size_t)row;

    if (!ny_held_all(held)) {
        uint64_t below = held->wanted[row / 64] & (((uint64_t)1 << row % 64) - 1);

        place = held->before[row / 64] + (size_t)__builtin_popcountll(below);
    }
    return held->rows + place * held->row_bytes;
}

#endif
