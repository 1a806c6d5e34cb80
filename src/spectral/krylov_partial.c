/* One unit's share of C′ᵀ(C′U): two products with few columns in place of the tile Gram, in f64. */
#include <assert.h>
#include <string.h>

#include "spectral/krylov.h"
#include "stream/source.h"

/* The tile is gone through by strips, so that a strip is all that is ever widened. */
enum { STRIP = NY_STRIP_ROWS, STRIPS = NY_UNIT_ROWS / NY_STRIP_ROWS };

struct ny_krylov_partial *ny_krylov_partial_lay(struct ny_layout *l, size_t m, size_t width)
{
    struct ny_krylov_partial spare, *part = ny_lay_struct(l, NY_MEM_GRAM, sizeof(spare), &spare);

    *part = (struct ny_krylov_partial){.m = m, .width = width};
    part->T = ny_lay(l, NY_MEM_GRAM, STRIP, width * sizeof(double));
    part->H = ny_lay(l, NY_MEM_GRAM, m, width * sizeof(double));
    part->strip = ny_lay(l, NY_MEM_GRAM, STRIP, m * sizeof(double));
    return ny_laid(l, part);
}

/* H (+)= CᵀCU of one strip. */
static void add_strip(struct ny_krylov_partial *part, struct ny_matrix C, struct ny_matrix U,
                      bool first)
{
    struct ny_matrix T = ny_matrix(part->T, STRIP, U.cols);

    ny_gemm(1, C, U, 0, T);
    ny_gemm(1, ny_t(C), T, first ? 0 : 1, ny_matrix(part->H, part->m, U.cols));
}

void ny_krylov_partial_set(struct ny_krylov_partial *part, struct ny_matrix32 C, struct ny_matrix U)
{
    struct ny_matrix strip = ny_matrix(part->strip, STRIP, part->m);

    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && U.cols <= part->width);
    for (size_t first = 0; first < NY_UNIT_ROWS; first += STRIP) {
        ny_matrix_widen(ny_rows32(C, first, STRIP), part->strip);
        add_strip(part, strip, U, first == 0);
    }
}

void ny_krylov_partial_set64(struct ny_krylov_partial *part, struct ny_matrix C, struct ny_matrix U)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && U.cols <= part->width);
    for (size_t strip = 0; strip < STRIPS; strip++)
        add_strip(part, ny_rows(C, strip * STRIP, STRIP), U, strip == 0);
}

void ny_krylov_fold(struct ny_krylov *krylov, const struct ny_krylov_partial *part)
{
    size_t entries = krylov->H.rows * krylov->H.cols;

    for (size_t i = 0; i < entries; i++)
        krylov->H.at[i] += part->H[i];
}
