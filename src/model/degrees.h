/*
 * Degrees of a divided kernel: d_i = c_i·v for any row, of which rows and columns of K are divided
 * by √d_i (laplacian, diffusion; Ouimet & Bengio 2005, eq. 4). Over D v = (n/m)1; implicitly
 * (Proposition 2) v = B s of K̃ = C B Cᵀ.
 *
 * Divided kernels need one vector more than others: the m numbers v, from which the degree of any
 * row follows. For the implicit v = B s the sums s have to be known, and stage degrees finds them
 * by a pass without a Gram. Pass 1 then weighs rows by 1/d_i (spectral/accumulator.h), and the
 * basis of the small problem has one more line in its table (spectral/basis.h).
 *
 * Such a map stores the rows of Û, the trivial pair included, so that they can be exported.
 * model/coordinates.h makes coordinates of them wherever they are read: λ^t, the random walk's
 * 𝒟^-½, or rows of length one.
 */
#ifndef NY_MODEL_DEGREES_H
#define NY_MODEL_DEGREES_H

#include "columns/tiles.h"

struct ny_degrees {
    size_t m;
    double *v;   /* m numbers: d_i = c_i·v */
    double mean; /* mean degree, over D or over all rows */
};

/* Rows whose degree is not above 2⁻²⁰ of the mean: no landmark reaches them. They weigh nothing in
 * sums, and their stored rows and coordinates are NaN. */
struct ny_unreached_rows {
    uint64_t count, first; /* first: the number of the first one */
};

/* Tells whether a row of this degree is reached, where the mean degree is `mean`. */
static inline bool ny_degree_reaches(double degree, double mean)
{
    return degree > 0 && degree > 0x1p-20 * mean;
}

/* Sets degrees over D: v = (n/m)1, mean = n·ā of the column means a of W. */
int ny_degrees_over_landmarks(struct ny_degrees *degrees, struct ny_context *ctx, const double *a,
                              size_t m, uint64_t n);
/* Frees v. */
void ny_degrees_release(struct ny_degrees *degrees, struct ny_context *ctx);
/* Returns a·v, the part of c_i·v that the shift a of a tile leaves out. */
double ny_degrees_offset(const struct ny_degrees *degrees, const double *a);

/* Computes products[i] = c_i·v of the rows of the worker's tile, in f64; offset = a·v. */
void ny_tile_products(const struct ny_tiles *tiles, const struct ny_tile *tile, const double *v,
                      double offset, double *products);

/* Computes roots[i] = 1/√d_i of the rows of the worker's tile, in f64, and 0 for rows that no
 * landmark reaches. */
void ny_degrees_roots(const struct ny_degrees *degrees, double offset, const struct ny_tiles *tiles,
                      const struct ny_tile *tile, double *roots);

/* Adds a row, by its number in all points, from 0. */
void ny_unreached_rows_note(struct ny_unreached_rows *all, uint64_t row);
/* Adds rows that come after those of `all`. */
void ny_unreached_rows_add(struct ny_unreached_rows *all, const struct ny_unreached_rows *more);
/* Warns where some of `rows` rows are unreached. */
void ny_unreached_rows_warn(const struct ny_unreached_rows *unreached, struct ny_context *ctx,
                            uint64_t rows);
/* Warns of those of `rows` new rows that are unreached. NY_ENUMERIC where they are several and more
 * than half, as rows of another scale are. */
int ny_unreached_rows_check(const struct ny_unreached_rows *unreached, struct ny_context *ctx,
                            uint64_t rows);

#endif
