/*
 * Feature rows: Φ, n × d, with K = ΦΦᵀ. The linear kernel is the product of the prepared rows
 * themselves, and cosine that of the same rows at length 1. Products of Φ and of Φᵀ with a few
 * columns take the place of tiles of K where the kernel has features (struct ny_kernel): a pass
 * reads a unit in pieces, and multiplies each while it is in memory.
 *
 * Sparse rows stay sparse: a product costs their values times the columns, and memory holds the
 * values of a piece and one row more, whatever the fullest row is. A piece ends with 16 values a
 * column, 2¹⁹ at least and 2²³ at most, so that its rows use a column several times while its row
 * of Q or H is in the cache. Dense rows come in strips of NY_STRIP_ROWS, padded with zero rows, and
 * are multiplied by GEMM: genotypes 1,024 columns at a time, which are made f32 in the cache.
 *
 * A value of a product with Φ is summed over the columns of one row, and one of a product with Φᵀ
 * over the rows in order, so that neither depends on where a unit was cut. Sparse rows are not
 * centred: the callers take the centre off the product.
 */
#ifndef NY_COLUMNS_FEATURES_H
#define NY_COLUMNS_FEATURES_H

#include "columns/tiles.h"

/* Returns the columns that a product with so many is made with: a multiple of 16. */
static inline size_t ny_features_width(size_t columns)
{
    const size_t group = 16;

    return (columns + group - 1) / group * group;
}

/* Returns the order for which ny_blas_bytes() tells what BLAS keeps once features of d columns were
 * multiplied: it packs some of them at a time, however many there are. */
static inline size_t ny_features_blas_order(size_t d)
{
    return d > NY_BLAS_SERIAL_ORDER ? NY_BLAS_SERIAL_ORDER : d;
}

/* Returns likewise the columns of a product in f64: a multiple of 8. */
static inline size_t ny_features_width64(size_t columns)
{
    const size_t group = 8;

    return (columns + group - 1) / group * group;
}

/* One worker's piece of a unit, and room for it. */
struct ny_features;

/* Lays out room for pieces of rows of this spec, whose geometry stays the caller's. Products are in
 * this precision. */
struct ny_features *ny_features_lay(struct ny_layout *l, const struct ny_columns_spec *spec,
                                    enum ny_precision precision);

/* Reads the piece of the tile that begins at row `first` of it: at least one row. Pieces of a tile
 * are read in ascending order, as strips are. Errors are those of the source. */
int ny_features_read(struct ny_features *features, const struct ny_tile *tile, size_t first);
/* Returns the rows of the piece. */
size_t ny_features_rows(const struct ny_features *features);
/* Returns dense row i of the piece as it was read. */
const void *ny_features_raw(const struct ny_features *features, size_t i);
/* Returns k(x,x) of the rows, in f64: 0 where a row has no value. */
const double *ny_features_diagonal(struct ny_features *features);
/* Returns the rows of Y that products of a piece may take: padding of dense strips included. */
size_t ny_features_rows_most(const struct ny_columns_spec *spec);

/* Tells whether products of a piece of sparse rows with dense columns, of which a row takes so many
 * bytes, stay in the cache of a core: their columns are taken range by range. */
bool ny_features_in_cache(double rows, double values, size_t d, size_t row_bytes);

/* Y (rows × l) = Φ Q of the piece. Q: d × l. Both packed, in the precision of the features; l is a
 * multiple of 16, in f64 of 8. Y has room for ny_features_rows_most() rows. */
void ny_features_times(const struct ny_features *features, const void *Q, size_t l, void *Y);
/* H (d × l) += Φᵀ Y of the piece. Rows of Y behind those of the piece are overwritten with 0. */
void ny_features_add_transposed(const struct ny_features *features, void *Y, size_t l, void *H);
/* out_i = φ_i·g of the rows, in f64; g: d numbers. */
void ny_features_dot(const struct ny_features *features, const double *g, double *out);
/* g += Σ_i φ_i of the rows, in f64. */
void ny_features_add_rows(const struct ny_features *features, double *g);
/* Sets touched[j / group] to 1 for each column j that has a value in the piece; for all columns,
 * where values are so many that most groups have one. */
void ny_features_mark(const struct ny_features *features, unsigned char *touched, size_t group);

#endif
