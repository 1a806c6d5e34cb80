/* The numbers of an encoded block of sparse rows: counts and gaps of columns, as store/csr.h has
 * them. */
#ifndef NY_STORE_CSR_NUMBERS_H
#define NY_STORE_CSR_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* The numbers of an image that are left. */
struct ny_csr_numbers {
    const unsigned char *at, *end;
    bool bad; /* one does not end in time */
};

/* Reads a number that the encoder has written; sets from->bad where it does not end in time. */
static inline uint32_t ny_csr_number(struct ny_csr_numbers *from)
{
    uint32_t number = 0;

    for (unsigned shift = 0; from->at < from->end && shift < 35; shift += 7) {
        unsigned char byte = *from->at++;

        number |= (uint32_t)(byte & 127) << shift;
        if (byte < 128) return number;
    }
    from->bad = true;
    return 0;
}

/* Reads the columns of so many rows, row i of which has start[i+1] − start[i]: false where one is
 * not below d. One function for each CPU family. */
typedef bool ny_csr_columns_fn(struct ny_csr_numbers *from, uint64_t d, const uint32_t *start,
                               size_t rows, uint32_t *index);

#endif
