/* Conversion of rows to the element type of a store. */
#ifndef NY_STORE_CONVERT_H
#define NY_STORE_CONVERT_H

#include <stddef.h>

#include "base/dtype.h"

/* Converts `count` values: exactly, but that f64 is rounded to f32. Returns how many it did before
 * the first that `to` cannot hold, which of f32 is too large. */
size_t ny_convert_rows(enum ny_dtype from, const void *in, enum ny_dtype to, void *out,
                       size_t count);

#endif
