/* The header of NumPy's array files, a Python literal. For io/ alone. */
#ifndef NY_IO_NPY_HEADER_H
#define NY_IO_NPY_HEADER_H

#include "io/convert.h"
#include "io/number.h"

/* Bytes of the magic, of magic and version, and the most of a header's text. */
enum { NY_NPY_MAGIC_BYTES = 6, NY_NPY_HEADER_MAX = 128 * 1024 };
#define NY_NPY_MAGIC "\x93NUMPY"

/* The contents of a header, such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } */
struct ny_npy_header {
    const char *at;    /* the parser's place */
    bool wrong;        /* it is not one of NumPy */
    struct ny_shown descr;
    bool fortran, structured, seen_descr, seen_fortran, seen_shape;
    uint64_t rows, d; /* the first number of the shape, and the product of the others */
    unsigned dimensions;
};

/* Parses the text of a header, which blanks may end as NumPy pads it. */
void ny_npy_parse(struct ny_npy_header *header, const char *text, size_t length);
/* Finds the type and the byte order of a descr such as "<f4"; false: it is none that is read. */
bool ny_npy_element(const char *descr, enum ny_element_type *type, bool *big_endian);

#endif
