/* Exact conversion of rows to the element type of a store. */
#ifndef NY_STORE_CONVERT_H
#define NY_STORE_CONVERT_H

#include <stddef.h>

#include "base/dtype.h"

/* Converts `count` values; returns how many it did before the first that `to` cannot hold. */
size_t ny_convert_exactly(enum ny_dtype from, const void *in, enum ny_dtype to, void *out,
                          size_t count);
/* Returns value i of an array of this dtype, in f64. */
double ny_value_at(enum ny_dtype dtype, const void *values, size_t i);

#endif
