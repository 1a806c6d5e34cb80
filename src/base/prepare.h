/*
 * Preparation of rows: what readers of a store see in place of the values that it keeps. Counts so
 * stay in their smallest type, and can be had back.
 *
 * Rows come first, then values: with total:10000 and log1p, x becomes ln(1 + 10000 x / Σx), Σx over
 * its row. What is prepared is f64 in between, f32 in the end, or f64 where the values are. Zero
 * stays zero, so that sparse rows keep their columns. A row whose sum, or norm, is not above 0 has
 * no value but 0.
 */
#ifndef NY_BASE_PREPARE_H
#define NY_BASE_PREPARE_H

#include <stdint.h>

#include "base/sparse.h"

/* Part of the formats of stores and models. */
enum ny_row_preparation { NY_ROWS_NONE = 0, NY_ROWS_TOTAL = 1, NY_ROWS_UNIT = 2 };
enum ny_value_preparation {
    NY_VALUES_RAW = 0,
    NY_VALUES_LOG1P = 1,
    NY_VALUES_SQRT = 2,
    NY_VALUES_BINARY = 3
};

struct ny_prepared {
    uint32_t rows;   /* enum ny_row_preparation */
    uint32_t values; /* enum ny_value_preparation */
    double total;    /* the S of total:S, above 0; else 0 */
};
_Static_assert(sizeof(struct ny_prepared) == 16, "part of the formats");

/* Tells whether anything is done to values. */
static inline bool ny_prepares(const struct ny_prepared *how)
{
    return how->rows != NY_ROWS_NONE || how->values != NY_VALUES_RAW;
}

/* Tells whether the fields are such as this program writes. */
bool ny_prepared_plausible(const struct ny_prepared *how);
/* Tells whether two preparations do the same. */
bool ny_prepared_same(const struct ny_prepared *one, const struct ny_prepared *other);
/* Returns the type of prepared values of this type: itself where nothing is done. */
enum ny_dtype ny_prepared_dtype(const struct ny_prepared *how, enum ny_dtype dtype);

enum { NY_PREPARED_WORD_BYTES = 40 };
/* Writes what --rows says, such as "total:10000", into the room, and returns it. */
const char *ny_prepared_rows(const struct ny_prepared *how, char text[NY_PREPARED_WORD_BYTES]);
/* Returns what --values says, such as "log1p". */
const char *ny_prepared_values(const struct ny_prepared *how);
/* Parses the words of --rows and --values; false: one of them is none. */
bool ny_prepared_parse(struct ny_prepared *how, const char *rows, const char *values);

/* Prepares the `count` values of one row, those of a sparse row without its zeros, into values of
 * type `to`, which is f32 or f64. `in` may be the end of the room of `out`. Returns how many it did
 * before the first that is not finite when prepared, such as log1p of −2. */
size_t ny_prepare_row(const struct ny_prepared *how, enum ny_dtype from, const void *in,
                      size_t count, enum ny_dtype to, void *out);
/* Prepares `rows` dense rows of d values. They lie in the end of their room, as their own type,
 * and fill it as `to`. */
void ny_prepare_in_place(const struct ny_prepared *how, enum ny_dtype from, enum ny_dtype to,
                         void *room, size_t rows, size_t d);

#endif
