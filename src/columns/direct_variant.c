/*
 * Direct loops for what a GEMM cannot give (‖x − y‖₁) or gives badly (very few columns). A sum over
 * many columns is cut in pieces of DEPTH, so that its rounding error grows with the pieces only.
 */
#include "columns/vector.h"

enum { DEPTH = 128 };

#define MAGNITUDE(x) ((x) < 0 ? -(x) : (x))

/* Sums over a piece start from its first column, not from 0: that saves a fill, which is much
 * where there are few columns. */
#define DIRECT(name, type, TERM)                                                                   \
    static inline void name##_piece(const type *restrict rows, size_t stride, size_t depth,        \
                                    const type *restrict panel, type *restrict sums)               \
    {                                                                                              \
        for (size_t r = 0; r < NY_DIRECT_ROWS; r++)                                                \
            for (size_t l = 0; l < NY_PANEL; l++)                                                  \
                sums[r * NY_PANEL + l] = TERM(rows[r * stride], panel[l]);                         \
        for (size_t k = 1; k < depth; k++)                                                         \
            for (size_t r = 0; r < NY_DIRECT_ROWS; r++)                                            \
                for (size_t l = 0; l < NY_PANEL; l++)                                              \
                    sums[r * NY_PANEL + l] +=                                                      \
                        TERM(rows[r * stride + k], panel[k * NY_PANEL + l]);                       \
    }                                                                                              \
                                                                                                   \
    static void name(const type *rows, size_t d, const type *panel, type *restrict out,            \
                     size_t stride)                                                                \
    {                                                                                              \
        type sums[NY_DIRECT_ROWS * NY_PANEL];                                                      \
                                                                                                   \
        name##_piece(rows, d, d < DEPTH ? d : DEPTH, panel, sums);                                 \
        for (size_t r = 0; r < NY_DIRECT_ROWS; r++)                                                \
            for (size_t l = 0; l < NY_PANEL; l++)                                                  \
                out[r * stride + l] = sums[r * NY_PANEL + l];                                      \
        for (size_t k = DEPTH; k < d; k += DEPTH) {                                                \
            name##_piece(rows + k, d, d - k < DEPTH ? d - k : DEPTH, panel + k * NY_PANEL, sums);  \
            for (size_t r = 0; r < NY_DIRECT_ROWS; r++)                                            \
                for (size_t l = 0; l < NY_PANEL; l++)                                              \
                    out[r * stride + l] += sums[r * NY_PANEL + l];                                 \
        }                                                                                          \
    }

#define PRODUCT(a, b) ((a) * (b))
#define SQUARE(a, b) (((a) - (b)) * ((a) - (b)))
#define ABSOLUTE(a, b) MAGNITUDE((a) - (b))

DIRECT(dot, float, PRODUCT)
DIRECT(square, float, SQUARE)
DIRECT(absolute, float, ABSOLUTE)
DIRECT(dot64, double, PRODUCT)
DIRECT(square64, double, SQUARE)
DIRECT(absolute64, double, ABSOLUTE)

extern const struct ny_direct_ops NY_VARIANT_NAME(ny_direct_ops);
const struct ny_direct_ops NY_VARIANT_NAME(ny_direct_ops) = {
    .dot = dot,
    .square = square,
    .absolute = absolute,
    .dot64 = dot64,
    .square64 = square64,
    .absolute64 = absolute64,
};
