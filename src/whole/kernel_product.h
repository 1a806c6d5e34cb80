/*
 * Y = N K N V for all of K, n × n, which is never stored: K is streamed tile against tile, N a
 * diagonal matrix.
 *
 * Kernel values of a panel p and a unit u (columns/pairs.h) serve both Y_u += K_up V_p and, K being
 * symmetric, Y_p += K_upᵀ V_u. Y is a left fold over these tiles: neither threads nor the budget
 * change a bit of it. As in columns.h, an f32 tile is K_up − 1aᵀ; the part of a is added in f64.
 *
 * `randomized` and `gaussian` multiply all of K with a few columns in this way, unless K is the
 * product of features (whole/feature_product.h). A tile of 2,048 ×
 * 2,048 kernel values serves both products, so half of the kernel values are computed. Tiles are
 * the units of the ordinary pass (stream/pass.h): a product resumes at any tile and has the same
 * bytes for any number of threads. f32 tiles are shifted by means over 64 hashed points
 * (ny_shift_sample).
 */
#ifndef NY_WHOLE_KERNEL_PRODUCT_H
#define NY_WHOLE_KERNEL_PRODUCT_H

#include "columns/pairs.h"
#include "columns/tiles.h"
#include "stream/pass.h"

struct ny_kernel_product {
    const struct ny_columns_spec *spec;
    struct ny_source *points; /* tiles in any order, from several workers */
    enum ny_precision precision;
    unsigned workers;
    uint64_t seed; /* of the rows that the shift a is the mean over */
    const char *stage;
    const double *scale; /* diagonal of N (n); NULL: I */
    struct ny_matrix V;  /* n × w */
    struct ny_matrix Y;  /* n × w; holds what tiles < first_tile gave */
    uint64_t first_tile;
    /* Called between two tiles: Y holds tiles < tiles_done (not yet scaled by N from the left). */
    int (*checkpoint)(void *arg, uint64_t tiles_done);
    void *checkpoint_arg;
};

/* Adds tiles first_tile … to Y, then scales by N from the left. NY_ENUMERIC when Y is not finite.
 */
int ny_kernel_product_run(const struct ny_kernel_product *product);

/* Y ← NY, for scale the diagonal of N, or NULL. NY_ENUMERIC when Y is not finite. */
int ny_product_finish(struct ny_context *ctx, const double *scale, struct ny_matrix Y);
/* flop of the products that one run makes, d columns of points. */
double ny_kernel_product_flops(uint64_t n, double d, size_t w);
/* Counts what a run takes besides V, Y, the source, and exact values in f64. */
void ny_kernel_product_count(struct ny_layout *l, const struct ny_columns_spec *spec, uint64_t n,
                             size_t w, enum ny_precision precision, unsigned workers);

/* Columns that give f32 tiles their shift: `a` of some rows is the mean of their kernel values with
 * a few hashed ones. */
struct ny_shift_sample;
/* Draws 64 hashed rows of `points` and makes the buffers of all workers. */
int ny_shift_sample_new(struct ny_shift_sample **out, const struct ny_columns_spec *spec,
                        struct ny_source *points, uint64_t seed, unsigned workers);
/* Frees the sample; NULL is allowed. */
void ny_shift_sample_free(struct ny_shift_sample *sample);
/* Counts a sample for so many workers. */
void ny_shift_sample_count(struct ny_layout *l, const struct ny_columns_spec *spec,
                           unsigned workers);
/* a[i] of the tile's rows, on the tile's worker. */
int ny_shift_sample_means(struct ny_shift_sample *sample, const struct ny_tile *tile, double *a);

#endif
