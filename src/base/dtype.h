/* Element types that the store keeps: enum ny_dtype of the public header. */
#ifndef NY_BASE_DTYPE_H
#define NY_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "nystream.h"

/* The byte of a genotype that is missing; the others are counts of alleles, 0 to 2. */
#define NY_GENOTYPE_MISSING 3

/* Bytes of one value in memory. */
size_t ny_dtype_size(enum ny_dtype dtype);
/* Returns the name of a type, such as "f32". */
const char *ny_dtype_name(enum ny_dtype dtype);
/* NY_DTYPE_NONE when the name is not one. */
enum ny_dtype ny_dtype_parse(const char *name);
/* The narrowest in which both are exact: of two that differ f64 where one is, else f32; none of
 * genotypes and others. */
enum ny_dtype ny_dtype_common(enum ny_dtype one, enum ny_dtype other);
/* Tells whether one of the values is 0; it runs at the speed of memory. */
bool ny_dtype_has_zero(enum ny_dtype dtype, const void *values, size_t count);
/* Converts `count` values to f32. A missing genotype is NaN. */
void ny_dtype_to_f32(enum ny_dtype from, const void *in, float *out, size_t count);
/* Converts `count` values to f64, which is exact. */
void ny_dtype_to_f64(enum ny_dtype from, const void *in, double *out, size_t count);
/* Converts `count` values to their own type, f32 or f64. */
void ny_dtype_widen(enum ny_dtype from, const void *in, enum ny_dtype to, void *out, size_t count);
/* Converts f64 to a type. Returns the first that does not fit (not exact; with `rounding`, f32 may
 * be rounded but not overflow); count: none. NaN and Inf fit the floats, and NaN genotypes. */
size_t ny_dtype_from_f64(enum ny_dtype to, bool rounding, const double *in, void *out,
                         size_t count);
/* Converts values of one type, which may lie at any address, to another, likewise. */
size_t ny_dtype_convert(enum ny_dtype from, const void *in, enum ny_dtype to, bool rounding,
                        void *out, size_t count);

#endif
