/* The header of NumPy's array files, a Python literal. For io/ alone. */
#ifndef NY_IO_NPY_HEADER_H
#define NY_IO_NPY_HEADER_H

#include "io/bytes.h"
#include "io/convert.h"
#include "io/number.h"

#define NY_NPY_MAGIC "\x93NUMPY"

/* The contents of a header, such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
struct ny_npy_header {
    const char *at; /* the parser's place */
    bool wrong;     /* it is not one of NumPy */
    struct ny_shown descr;
    bool fortran, structured, seen_descr, seen_fortran, seen_shape;
    uint64_t rows, d; /* the first number of the shape, and the product of the others */
    unsigned dimensions;
};

/* Writes the header of version 1.0 of an array in the byte order of the machine: descr is numpy's
 * without the byte order, such as "f4" or "S3", and the shape as in "(3,)" or "()". The length is
 * the same whatever they are, and the data begin at a multiple of 64 bytes. */
enum { NY_NPY_HEADER_BYTES = 128 };
void ny_npy_header_text(char header[NY_NPY_HEADER_BYTES], const char *descr, const char *shape);
/* Tells whether some bytes begin as a file of NumPy does. */
bool ny_npy_begins(const char *head, size_t length);
/* Reads the header and leaves bytes->at at the data. NY_EDATA where it is none, or wrong. */
int ny_npy_read_header(struct ny_bytes *bytes, struct ny_npy_header *header);
/* Finds the type and the byte order of a descr such as "<f4"; false: it is none that is read. */
bool ny_npy_element(const char *descr, enum ny_element_type *type, bool *big_endian);

#endif
