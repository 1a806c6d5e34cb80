/* Column statistics gathered block by block: mean, M2 = Σ(x − mean)², minimum, maximum. */
#ifndef NY_STREAM_STATISTICS_H
#define NY_STREAM_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/sparse.h"

/* Four arrays of d, one after another: mean, M2, minimum, maximum. */
struct ny_moments {
    uint64_t n;
    size_t d;
    double *cells;
};

/* Counts of genotypes (NY_GENOTYPE) in some columns. */
enum { NY_ALLELE_ROWS = 255, NY_ALLELE_COLUMNS = 256 };
struct ny_alleles {
    uint8_t ones[NY_ALLELE_COLUMNS], twos[NY_ALLELE_COLUMNS], missing[NY_ALLELE_COLUMNS];
};
/* Counts at most NY_ALLELE_ROWS rows, `stride` bytes apart, in at most NY_ALLELE_COLUMNS columns.
 */
void ny_alleles_of(struct ny_alleles *alleles, const uint8_t *rows, size_t stride, size_t count,
                   size_t width);

/* Adds rows × d packed values, columns first … first+count−1 alone, without counting the rows:
 * several threads may take their share of the columns. Exact sums within the rows given for u8 and
 * i16, two passes for floats, then Chan, Golub and LeVeque's merge. The cut into calls matters in
 * the last bits: each call takes one block. False: a value is not finite. */
bool ny_moments_add(struct ny_moments *moments, enum ny_dtype dtype, const void *rows,
                    size_t count_rows, size_t first, size_t count);

/* *sum += ‖x‖ of each of the packed rows, in order: how they are cut into calls changes nothing. */
void ny_norms_add(double *sum, enum ny_dtype dtype, const void *rows, size_t count, size_t d);

/* Sums over the columns of one block of sparse rows, d of each. */
struct ny_sparse_sums {
    double *mean, *m2; /* of the values that are kept */
    uint32_t *count;   /* of them */
};
/* Rows at … at+count−1 of packed ones. */
struct ny_csr_part {
    const struct ny_csr *csr;
    size_t at, count;
};
/* Like ny_norms_add(), for sparse rows; a value that a row does not keep is 0. */
void ny_norms_add_sparse(double *sum, const struct ny_csr_part *rows);
/* Adds columns first … first+count−1 of sparse rows, like ny_moments_add(); `sums` is room that
 * threads share, each in its own columns. */
bool ny_moments_add_sparse(struct ny_moments *moments, const struct ny_csr_part *rows, size_t first,
                           size_t count, const struct ny_sparse_sums *sums);

#endif
