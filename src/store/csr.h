/*
 * Blocks of sparse rows. Before LZ4, the block's frame holds
 *
 *   u32 values · u32 bytes of what follows up to the values
 *   for each row, how many values it has
 *   for each value, its column: the first of a row as it is, then the gap to the one before, less 1
 *   the values, in the store's dtype
 *
 * Counts and columns are in groups of seven bits, the lowest first, with the high bit on all but
 * the last. Measured, bytes a column number after LZ4, as 32 bits and as gaps: term counts of TDT2
 * 2.42 and 1.14, of 20 newsgroups 1.73 and 1.03, a9a 0.99 and 0.57.
 *
 * A column number so takes 0.6 to 1.1 bytes, where 32 bits after LZ4 take 1.0 to 2.4. In memory
 * rows are records of fixed size or packed arrays of 32-bit numbers (base/sparse.h): blocks are
 * decoded as they are read.
 */
#ifndef NY_STORE_CSR_H
#define NY_STORE_CSR_H

#include "store/store_private.h"

/* Bytes of an encoded block, at most. */
size_t ny_csr_bound(size_t rows, size_t nnz, enum ny_dtype dtype);
/* Encodes the first `rows` rows; returns the bytes. */
size_t ny_csr_encode(const struct ny_csr *csr, size_t rows, void *out);

/* The encoded block and how many of its rows are wanted, from the first. */
struct ny_csr_image {
    void *at;
    size_t bytes, rows, wanted;
    uint64_t d;
    enum ny_dtype dtype;
};
/* Values of the wanted rows; *wrong as the end of a sentence, or NULL. */
size_t ny_csr_count(const struct ny_csr_image *image, const char **wrong);
/* Decodes them to start (wanted + 1), index and value, for `nnz` values; NULL, or what is wrong. */
const char *ny_csr_decode(const struct ny_csr_image *image, size_t nnz, uint32_t *start,
                          uint32_t *index, void *value);

/* Reads the encoded block, which must have image->rows rows, to image->at (ny_csr_bound() of the
 * manifest's rows and fullest block), checks it and fills the rest of *image. NY_ESTORE: *wrong
 * says what is; no error is set. */
int ny_csr_read(struct ny_snapshot *view, const struct ny_manifest *manifest, struct ny_key key,
                struct ny_csr_image *image, const char **wrong);

#endif
