/* Elements of binary files, and their way to the store's types. */
#ifndef NY_IO_CONVERT_H
#define NY_IO_CONVERT_H

#include "base/dtype.h"

#include <stdint.h>

/* bytes, the store's type that holds it exactly (i8 and u8: up to 2^53) */
#define NY_ELEMENT_MAP(X)                                                                          \
    X(NY_E_U1, 1, NY_U8)                                                                           \
    X(NY_E_I1, 1, NY_I16)                                                                          \
    X(NY_E_U2, 2, NY_F32)                                                                          \
    X(NY_E_I2, 2, NY_I16)                                                                          \
    X(NY_E_U4, 4, NY_F64)                                                                          \
    X(NY_E_I4, 4, NY_F64)                                                                          \
    X(NY_E_U8, 8, NY_F64)                                                                          \
    X(NY_E_I8, 8, NY_F64)                                                                          \
    X(NY_E_F2, 2, NY_F32)                                                                          \
    X(NY_E_F4, 4, NY_F32)                                                                          \
    X(NY_E_F8, 8, NY_F64)

enum ny_element_type {
#define NY_ELEMENT_ENUM(id, size, natural) id,
    NY_ELEMENT_MAP(NY_ELEMENT_ENUM)
#undef NY_ELEMENT_ENUM
};

/* Returns the bytes of an element in the file. */
size_t ny_element_size(enum ny_element_type type);
/* Returns the dtype to which the type is read unless --dtype asks for another. */
enum ny_dtype ny_element_natural(enum ny_element_type type);
/* True when the element's bytes (native order) are the store type's. */
bool ny_element_is(enum ny_element_type type, enum ny_dtype dtype);
/* Tells whether the type is float16, float32 or float64. */
bool ny_element_is_float(enum ny_element_type type);

/* Tells whether this machine is big-endian. */
bool ny_host_is_big_endian(void);
/* Reverses the bytes of each element, in place. */
void ny_swap(void *values, size_t size, size_t count);
/* Native elements to double. Returns the first that a double does not hold exactly; count: none. */
size_t ny_widen(enum ny_element_type type, const void *in, double *out, size_t count);
/* The first NaN or Inf; count: none. */
size_t ny_first_nonfinite(enum ny_dtype dtype, const void *values, size_t count);

#endif
