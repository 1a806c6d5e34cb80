/* Files of NumPy, made in memory. */
#ifndef NY_TESTS_NPY_H
#define NY_TESTS_NPY_H

#include <string.h>

#define NPY_HEADER(element, shape)                                                                 \
    "{'descr': '" element "', 'fortran_order': False, 'shape': " shape ", }"

/* Writes an npy 1.0 with the header text given, padded as numpy does. Returns the length. */
static inline size_t support_npy(unsigned char *to, const char *header, const void *data,
                                 size_t bytes)
{
    size_t text = strlen(header), total = (10 + text + 1 + 63) / 64 * 64;

    memcpy(to, "\x93NUMPY\1", 8);
    to[8] = (unsigned char)((total - 10) & 255);
    to[9] = (unsigned char)((total - 10) >> 8);
    memset(to + 10, ' ', total - 10);
    memcpy(to + 10, header, text);
    to[total - 1] = '\n';
    memcpy(to + total, data, bytes);
    return total + bytes;
}

#endif
