/*
 * Base quantities of rows against a panel of landmarks, block by block of sums that stay in
 * registers. All f32 tiles of x·y, ‖x − y‖² and ‖x − y‖₁ come from here, except those of bytes and
 * of sparse rows; strip.c calls it for groups of 12 rows against panels of 32 landmarks. With
 * AVX-512 such a group is one block of sums in registers (24 of 32 vectors); with fewer or shorter
 * registers it is several.
 *
 * Tiles have a product of their own because a GEMM of so few columns as points mostly have packs
 * for as long as it multiplies: sgemm packs rows and landmarks again for every strip, for d
 * multiply-adds an element. Here landmarks are packed once for all rows, and rows are read where
 * they lie. A tile by sgemm takes 1.6 times as long in 16 columns, 1.3 times in 64, and as long
 * from 784 columns on (with AVX-512; with AVX2 1.1 times in 64). The Gram CᵀC stays with ssyrk: the
 * same loops are no faster there.
 *
 * Vectors are those of the compiler, so that one source serves all CPUs. A sum over many columns is
 * cut in pieces of NY_DIRECT_DEPTH, so that its rounding error grows with the pieces only. The bits
 * of a value depend on its own row and landmark alone.
 */
#include "columns/vector.h"

/* Sums of a block: so many rows × VECTORS vectors of lanes, beside two of a panel and one of a row.
 */
enum { VECTORS = 2, BLOCK_ROWS = NY_VECTOR_REGISTERS * 3 / 8, BLOCK64_ROWS = 4 };

/* Vectors at any place in arrays of numbers. */
typedef float floats_t __attribute__((vector_size(NY_VECTOR_BYTES), aligned(4), may_alias));
typedef double doubles_t __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8), may_alias));
typedef int32_t float_bits_t __attribute__((vector_size(NY_VECTOR_BYTES)));
typedef int64_t double_bits_t __attribute__((vector_size(NY_VECTOR_BYTES)));

/* Computes ROWS rows of columns first … first + depth − 1 against some lanes of the panel, which
 * begins with them. Compilers unroll the loops over r and v, and keep `sum` in registers; counted
 * to 0, k needs no other register for its end, and all rows have one. */
#define BLOCK(name, type, vector, ROWS, TERM)                                                      \
    static inline void name##_block(const type *const *rows, size_t first, size_t depth,           \
                                    const type *panel, type *out, size_t stride)                   \
    {                                                                                              \
        vector sum[ROWS][VECTORS];                                                                 \
        const type *end[ROWS];                                                                     \
                                                                                                   \
        for (size_t r = 0; r < ROWS; r++)                                                          \
            for (size_t v = 0; v < VECTORS; v++)                                                   \
                sum[r][v] = (vector){0};                                                           \
        for (size_t r = 0; r < ROWS; r++)                                                          \
            end[r] = rows[r] + first + depth;                                                      \
        for (ptrdiff_t k = -(ptrdiff_t)depth; k < 0; k++, panel += NY_PANEL)                       \
            for (size_t r = 0; r < ROWS; r++)                                                      \
                for (size_t v = 0; v < VECTORS; v++)                                               \
                    sum[r][v] += TERM(end[r][k], ((const vector *)panel)[v]);                      \
        for (size_t r = 0; r < ROWS; r++)                                                          \
            for (size_t v = 0; v < VECTORS; v++) {                                                 \
                vector *to = (vector *)(out + r * stride) + v;                                     \
                                                                                                   \
                if (first) sum[r][v] += *to;                                                       \
                *to = sum[r][v];                                                                   \
            }                                                                                      \
    }

#define DIRECT(name, type, vector, ROWS, COUNT, TERM)                                              \
    BLOCK(name, type, vector, ROWS, TERM)                                                          \
                                                                                                   \
    static void name(const type *const *rows, size_t d, const type *panel, type *out,              \
                     size_t stride)                                                                \
    {                                                                                              \
        const size_t lanes = VECTORS * sizeof(vector) / sizeof(type);                              \
                                                                                                   \
        for (size_t k = 0; k < d; k += NY_DIRECT_DEPTH)                                            \
            for (size_t r = 0; r < COUNT; r += ROWS)                                               \
                for (size_t l = 0; l < NY_PANEL; l += lanes)                                       \
                    name##_block(rows + r, k, d - k < NY_DIRECT_DEPTH ? d - k : NY_DIRECT_DEPTH,   \
                                 panel + k * NY_PANEL + l, out + r * stride + l, stride);          \
    }

#define PRODUCT(x, y) ((x) * (y))
#define SQUARE(x, y) (((x) - (y)) * ((x) - (y)))
#define ABSOLUTE(x, y) ((floats_t)((float_bits_t)((x) - (y)) & INT32_MAX))
#define ABSOLUTE64(x, y) ((doubles_t)((double_bits_t)((x) - (y)) & INT64_MAX))

DIRECT(dot, float, floats_t, BLOCK_ROWS, NY_DIRECT_ROWS, PRODUCT)
DIRECT(square, float, floats_t, BLOCK_ROWS, NY_DIRECT_ROWS, SQUARE)
DIRECT(absolute, float, floats_t, BLOCK_ROWS, NY_DIRECT_ROWS, ABSOLUTE)
DIRECT(dot64, double, doubles_t, BLOCK64_ROWS, NY_DIRECT64_ROWS, PRODUCT)
DIRECT(square64, double, doubles_t, BLOCK64_ROWS, NY_DIRECT64_ROWS, SQUARE)
DIRECT(absolute64, double, doubles_t, BLOCK64_ROWS, NY_DIRECT64_ROWS, ABSOLUTE64)

extern const struct ny_direct_ops NY_VARIANT_NAME(ny_direct_ops);
const struct ny_direct_ops NY_VARIANT_NAME(ny_direct_ops) = {
    .dot = dot,
    .square = square,
    .absolute = absolute,
    .dot64 = dot64,
    .square64 = square64,
    .absolute64 = absolute64,
};
