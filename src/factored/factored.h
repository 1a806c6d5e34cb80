/*
 * Fits of linear and cosine kernels by their features: the exact eigenpairs of K = ΦΦᵀ without
 * landmarks and without K, for data of any number of rows.
 *
 *   map                  operator                          before the first product
 *   svd                  ΦᵀΦ                               –
 *   pca, kpca            (Φ − 1μᵀ)ᵀ(Φ − 1μᵀ), μ = Φᵀ1/n     g = Φᵀ1, or the means of the columns
 *   laplacian, diffusion ZᵀZ, Z = 𝒟^-½Φ, d_i = φ_i·g       g
 *
 * The basis is on the side of the columns (N = d), where a product is one pass: Y_u = Φ_u Q of a
 * unit, then H += Φ_uᵀ Y_u (columns/features.h). Where there are fewer rows than columns it is on
 * the side of the rows (N = n), with ΦΦᵀ in the place of ΦᵀΦ, and a product is two passes: W = ΦᵀQ,
 * then H_u = Φ_u W. Multiplications are as many; the basis is smaller. Over shards it is on
 * the side of the columns, except of genotypes, whose p-values need that of the rows: each shard
 * then has the whole basis, multiplies with its own rows, and H is added up like W.
 *
 * The pairs are found by restarted block Krylov iteration (spectral/restarted.h), and those of K
 * follow, Û = ΦVΛ^-½, in the projection. The model is that of a fit whose landmarks are the unit
 * vectors, P = VΛ^-½, d × p: placing a row costs its values times p. From the side of the rows it
 * takes one more pass, P = ΦᵀUΛ^-1.
 *
 * Means are never taken off a sum. Rows that are dense are centred as they are read; of sparse ones
 * Y_u = Φ_u Q − 1(μᵀQ), and at the end H −= μ(1ᵀY), a correction of the size of rounding; on the
 * side of the rows all blocks are orthogonal to 1, and W −= μ(1ᵀQ) is such a correction.
 *
 * The state of stage accumulate is one array, which a checkpoint keeps: that of the iteration, W on
 * the side of the rows, 1ᵀY, and totals of the rows. Its place is pass · (units + 1) + units done,
 * passes counted over all products. Parts of a NAME:
 *
 *   degrees        g = Φᵀ1 (d), and ‖g‖²/n, the mean degree
 *   features.0/1   image of the state, two slots in turn, the last of which has the vectors that
 *                  were found in its place; gone when the job is done
 */
#ifndef NY_FACTORED_FACTORED_H
#define NY_FACTORED_FACTORED_H

#include "columns/features.h"
#include "fit/fit.h"
#include "spectral/restarted.h"

/* Products in f32 tell the eigenvalues of pairs above 2⁻²⁰θ₁ to this relative error. One of size θ
 * they tell to about 2⁻²⁴√(θ₁/θ), as sums of the size of √θ₁√θ are rounded. Where smaller pairs
 * are wanted, products continue in f64. */
#define NY_F32_TELLS 0x1p-14

/* The smallest pairs that a fit tells, as shares of the largest. In f32 coordinates of such a size
 * are as exact as the default tolerance; in f64, the rounding of the rows themselves is. */
#define NY_REACH_F32 0x1p-34
#define NY_REACH_F64 0x1p-40

/* The sizes of such a fit. */
struct ny_factored {
    uint64_t n;
    size_t d, pairs; /* pairs: those of the fit that exist, d at most */
    size_t width;    /* columns of a product: those of a block, up to a multiple of 16 */
    struct ny_restarted_shape shape;
    bool rows;    /* the side of the rows; else that of the columns */
    bool sums;    /* g takes a pass of its own */
    bool centred; /* μ is taken off products */
    bool refined; /* products may have to be in f64 at last, whatever the precision of the fit; of
                   * others the blocks are then half as wide, so that they have room */
    bool divided;
    size_t state_bytes; /* of stage accumulate */
};

/* Totals of all rows, which the first pass counts; and whether products are in f64, as they are
 * when those in f32 have found all that they can tell. */
struct ny_feature_totals {
    double precise;
    double trace;                      /* Σ k(x,x), or Σ k(x,x)/d_i where K is divided */
    double empty, first_empty;         /* rows without a value, and the number of the first */
    double unreached, first_unreached; /* rows that have values, and no degree */
};

/* Returns the sizes of a fit of these points. */
struct ny_factored ny_factored_of(const struct ny_fit_settings *settings,
                                  const struct ny_rows_info *points);
/* Returns the passes of a product. */
static inline unsigned ny_factored_passes(const struct ny_factored *sizes)
{
    return sizes->rows ? 2 : 1;
}
/* Operations that turn the basis into the vectors that are found. */
double ny_factored_turn_flops(const struct ny_factored *sizes);

extern const struct ny_stage ny_stage_feature_sums, ny_stage_feature_products,
    ny_stage_feature_solve;
extern const struct ny_course ny_course_factored;

#endif
