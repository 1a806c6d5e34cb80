/* One unit's share of C′ᵀ(C′U): two products with few columns in place of the tile Gram. */
#include <assert.h>
#include <string.h>

#include "spectral/krylov.h"
#include "stream/source.h"

/* In f64 the tile is gone through by strips, so that a strip is all that is ever widened. */
enum { STRIP = NY_STRIP_ROWS, STRIPS = NY_UNIT_ROWS / NY_STRIP_ROWS };

int ny_krylov_partial_new(struct ny_krylov_partial **out, struct ny_context *ctx, size_t m,
                          size_t width, enum ny_gram_precision precision)
{
    struct ny_krylov_partial *part = ny_calloc(ctx, NY_MEM_GRAM, 1, sizeof(*part));
    bool f32 = precision == NY_GRAM_F32, good;

    *out = NULL;
    if (!part) return NY_EBUDGET;
    *part = (struct ny_krylov_partial){.ctx = ctx, .precision = precision, .m = m, .width = width};
    if (f32) {
        part->T32 = ny_calloc(ctx, NY_MEM_GRAM, NY_UNIT_ROWS, width * sizeof(float));
        part->H32 = ny_calloc(ctx, NY_MEM_GRAM, m, width * sizeof(float));
    } else {
        part->T64 = ny_calloc(ctx, NY_MEM_GRAM, STRIP, width * sizeof(double));
        part->H64 = ny_calloc(ctx, NY_MEM_GRAM, m, width * sizeof(double));
        part->strip = ny_calloc(ctx, NY_MEM_GRAM, STRIP, m * sizeof(double));
    }
    good = f32 ? part->T32 && part->H32 : part->T64 && part->H64 && part->strip;
    if (!good) {
        ny_krylov_partial_free(part);
        return NY_EBUDGET;
    }
    *out = part;
    return NY_OK;
}

void ny_krylov_partial_free(struct ny_krylov_partial *part)
{
    if (!part) return;
    ny_free(part->ctx, part->T32);
    ny_free(part->ctx, part->H32);
    ny_free(part->ctx, part->T64);
    ny_free(part->ctx, part->H64);
    ny_free(part->ctx, part->strip);
    ny_free(part->ctx, part);
}

size_t ny_krylov_partial_bytes(size_t m, size_t width, enum ny_gram_precision precision)
{
    size_t narrow = (NY_UNIT_ROWS + m) * width * sizeof(float);
    size_t wide = ((STRIP + m) * width + STRIP * m) * sizeof(double);

    return (precision == NY_GRAM_F32 ? narrow : wide) + sizeof(struct ny_krylov_partial);
}

/* H (+)= CᵀCU of one strip. */
static void add_strip(struct ny_krylov_partial *part, struct ny_matrix C, struct ny_matrix U,
                      bool first)
{
    struct ny_matrix T = ny_matrix(part->T64, STRIP, U.cols);

    ny_gemm(1, C, U, 0, T);
    ny_gemm(1, ny_t(C), T, first ? 0 : 1, ny_matrix(part->H64, part->m, U.cols));
}

void ny_krylov_partial_set(struct ny_krylov_partial *part, struct ny_matrix32 C, struct ny_matrix U,
                           struct ny_matrix32 U32)
{
    struct ny_matrix32 T = ny_matrix32(part->T32, NY_UNIT_ROWS, U.cols);
    struct ny_matrix strip = ny_matrix(part->strip, STRIP, part->m);

    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && U.cols <= part->width);
    if (part->precision == NY_GRAM_F32) {
        ny_gemm32(1, C, U32, 0, T);                                             /* T = C′U */
        ny_gemm32(1, ny_t32(C), T, 0, ny_matrix32(part->H32, part->m, U.cols)); /* H = C′ᵀT */
        return;
    }
    for (size_t first = 0; first < NY_UNIT_ROWS; first += STRIP) {
        for (size_t i = 0; i < STRIP; i++) {
            const float *restrict from = C.at + (first + i) * C.stride;
            double *restrict to = part->strip + i * part->m;

            for (size_t j = 0; j < part->m; j++)
                to[j] = (double)from[j];
        }
        add_strip(part, strip, U, first == 0);
    }
}

void ny_krylov_partial_set64(struct ny_krylov_partial *part, struct ny_matrix C, struct ny_matrix U)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && U.cols <= part->width);
    assert(part->precision == NY_GRAM_F64);
    for (size_t strip = 0; strip < STRIPS; strip++)
        add_strip(part, ny_rows(C, strip * STRIP, STRIP), U, strip == 0);
}

void ny_krylov_fold(struct ny_krylov *krylov, const struct ny_krylov_partial *part)
{
    size_t entries = krylov->H.rows * krylov->H.cols;

    for (size_t i = 0; i < entries; i++)
        krylov->H.at[i] += part->precision == NY_GRAM_F32 ? (double)part->H32[i] : part->H64[i];
}
