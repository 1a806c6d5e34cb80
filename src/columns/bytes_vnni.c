/*
 * Exact ‖x − y‖² of bytes by AVX512-VNNI: 12 rows × 32 landmarks in 24 accumulators.
 *
 * vpdpbusd multiplies unsigned by signed bytes, so landmarks are kept as y − 128:
 * x·y = Σ x(y − 128) + 128 Σx. All sums are modulo 2³²; ‖x − y‖² itself is below 2³¹.
 * Intrinsics, because compilers do not find this form; accumulators by name, because gcc keeps an
 * array of them in memory.
 */
#include <immintrin.h>
#include <string.h>

#include "columns/vector.h"

/* Sums are kept in the type that the instruction has in gcc, which else keeps them in two. */
typedef int sums_t __attribute__((vector_size(64)));

#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

static inline __m512i quad_of(const uint8_t *x)
{
    int quad;

    memcpy(&quad, x, sizeof(quad));
    return _mm512_set1_epi32(quad);
}

/* ‖x‖² + ‖y‖² − 2 x·y, where term = ‖x‖² − 256 Σx. */
static inline void store_squares(__m512i dot, uint32_t term, const uint32_t *y_norms, float *out)
{
    __m512i norms = _mm512_add_epi32(_mm512_set1_epi32((int)term), _mm512_loadu_si512(y_norms));
    __m512i square = _mm512_sub_epi32(norms, _mm512_add_epi32(dot, dot));

    _mm512_storeu_ps(out, _mm512_cvtepi32_ps(square));
}

ny_byte_square_fn ny_byte_square_vnni;
ny_byte_below_fn ny_byte_below_vnni;

#define CLEAR(r)                                                                                   \
    const uint8_t *x##r = rows->row[r];                                                            \
    sums_t low##r = {0}, high##r = {0};
#define MULTIPLY(r)                                                                                \
    quad = quad_of(x##r + 4 * q);                                                                  \
    low##r = (sums_t)_mm512_dpbusd_epi32((__m512i)low##r, quad, y_low);                            \
    high##r = (sums_t)_mm512_dpbusd_epi32((__m512i)high##r, quad, y_high);
#define STORE_AT(r, out)                                                                           \
    store_squares((__m512i)low##r, rows->term[r], y_norms, out[r]);                                \
    store_squares((__m512i)high##r, rows->term[r], y_norms + NY_PANEL / 2, out[r] + NY_PANEL / 2);
#define STORE(r) STORE_AT(r, out)

#define MULTIPLY_ALL                                                                               \
    EACH_ROW(CLEAR)                                                                                \
                                                                                                   \
    for (size_t q = 0; q < quads; q++) {                                                           \
        __m512i y_low = _mm512_loadu_si512(panel + q * NY_PANEL * 4);                              \
        __m512i y_high = _mm512_loadu_si512(panel + q * NY_PANEL * 4 + 64), quad;                  \
                                                                                                   \
        EACH_ROW(MULTIPLY)                                                                         \
    }

void ny_byte_square_vnni(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                         const uint32_t y_norms[NY_PANEL], float out[NY_BYTE_ROWS][NY_PANEL])
{
    MULTIPLY_ALL
    EACH_ROW(STORE)
}

/* Returns those of 16 values ‖x‖² + ‖y‖² − 2 x·y that are below the bound, a bit each. */
static inline uint32_t below_of(__m512i dot, uint32_t term, const uint32_t *y_norms, float bound)
{
    __m512i norms = _mm512_add_epi32(_mm512_set1_epi32((int)term), _mm512_loadu_si512(y_norms));
    __m512i square = _mm512_sub_epi32(norms, _mm512_add_epi32(dot, dot));

    return _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(square), _mm512_set1_ps(bound), _CMP_LT_OQ);
}

#define LOOK(r)                                                                                    \
    below = below_of((__m512i)low##r, rows->term[r], y_norms, rows->bound[r]) |                   \
            below_of((__m512i)high##r, rows->term[r], y_norms + NY_PANEL / 2, rows->bound[r])     \
                << NY_PANEL / 2;                                                                   \
    found->below[r] = below;                                                                       \
    if (below) {                                                                                   \
        there |= 1U << r;                                                                          \
        STORE_AT(r, found->value)                                                                  \
    }

unsigned ny_byte_below_vnni(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                            const uint32_t y_norms[NY_PANEL], struct ny_byte_found *found)
{
    unsigned there = 0;
    uint32_t below;

    MULTIPLY_ALL
    EACH_ROW(LOOK)
    return there;
}
