/*
 * Rows of samples of a table that stands in its file variant after variant, as PLINK writes it: a
 * record for each variant, with two bits for each sample. For io/ alone.
 */
#ifndef NY_IO_SNP_MAJOR_H
#define NY_IO_SNP_MAJOR_H

#include "io/bytes.h"

struct ny_snp_major_shape {
    uint64_t samples, variants;
    const char *scratch;   /* folder of a temporary file of the size of the table */
    const uint32_t *place; /* column of each variant in a row, or NY_NO_PLACE; NULL: in order */
    const bool *flipped;   /* counts the other allele of these variants; NULL: of none */
    size_t columns;        /* of a row */
};

struct ny_snp_major;

/* Makes the table of the records that `bytes` has next; the shape's arrays stay the caller's. What
 * it takes is a share of the memory that is left, and at least 64 rows. */
int ny_snp_major_new(struct ny_snp_major **out, struct ny_bytes *bytes,
                     const struct ny_snp_major_shape *shape);
/* Frees it with its temporary file; NULL is allowed. */
void ny_snp_major_free(struct ny_snp_major *table);
/* Puts rows first … first+count−1 to `out`, count × columns values of NY_GENOTYPE: how many alleles
 * of the first kind a sample has. The first call reads the file, once, and leaves out what is
 * before its row; rows are asked for in ascending order. NY_EDATA: the file is too short. */
int ny_snp_major_rows(struct ny_snp_major *table, uint64_t first, size_t count, uint8_t *out);

#endif
