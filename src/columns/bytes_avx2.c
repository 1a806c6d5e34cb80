/*
 * Exact ‖x − y‖² of bytes by AVX2: 12 rows × 32 landmarks, as of AVX512-VNNI (bytes_vnni.c), in
 * blocks of 6 rows × 16 landmarks in 12 accumulators.
 *
 * vpmaddwd multiplies pairs of 16 bits and adds each two products. Four bytes y − 128 of a
 * landmark, 32 bits, are two such pairs, the even and the odd bytes, which shifts extend by their
 * signs. The bytes of the rows are spread likewise, once for all landmarks of the panel. Twice as
 * many products come of an instruction as in f32, and landmarks take a fourth of the memory. All
 * sums are modulo 2³²; ‖x − y‖² itself is below 2³¹. Accumulators by name, because gcc keeps an
 * array of them in memory.
 */
#include <immintrin.h>
#include <string.h>

#include "columns/vector.h"

/* Quads that rows are spread of at a time, and the rows and landmarks of a block: two vectors. */
enum { SPREAD = 64, BLOCK_ROWS = 6, BLOCK_COLS = 16, LANES = 8 };

/* Even and odd bytes of some quads of all rows, 16 bits each. */
struct spread {
    int32_t even[NY_BYTE_ROWS][SPREAD], odd[NY_BYTE_ROWS][SPREAD];
};

ny_byte_square_fn ny_byte_square_avx2;
ny_byte_below_fn ny_byte_below_avx2;

static void spread_rows(const struct ny_byte_rows *rows, size_t first, size_t count,
                        struct spread *out)
{
    for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
        const uint8_t *x = rows->row[r] + 4 * first;

        for (size_t q = 0; q < count; q++) {
            uint32_t quad;

            memcpy(&quad, x + 4 * q, sizeof(quad));
            out->even[r][q] = (int32_t)(quad & 0x00ff00ff);
            out->odd[r][q] = (int32_t)(quad >> 8 & 0x00ff00ff);
        }
    }
}

static inline __m256i load(const void *from)
{
    return _mm256_loadu_si256(from);
}

static inline void store(void *to, __m256i numbers)
{
    _mm256_storeu_si256(to, numbers);
}

#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5)

#define CLEAR(r) __m256i low##r = _mm256_setzero_si256(), high##r = _mm256_setzero_si256();
#define GO_ON(r)                                                                                   \
    low##r = load(dot + r * NY_PANEL);                                                             \
    high##r = load(dot + r * NY_PANEL + LANES);
#define MULTIPLY(r)                                                                                \
    pair = _mm256_set1_epi32(x[r * SPREAD]);                                                       \
    low##r = _mm256_add_epi32(low##r, _mm256_madd_epi16(pair, low));                               \
    high##r = _mm256_add_epi32(high##r, _mm256_madd_epi16(pair, high));
#define STORE(r)                                                                                   \
    store(dot + r * NY_PANEL, low##r);                                                             \
    store(dot + r * NY_PANEL + LANES, high##r);

/* Makes `dot` the products of six rows from `row` on and 16 landmarks, or adds them. */
static inline void multiply_block(const struct spread *rows, size_t row, size_t quads,
                                  const int8_t *panel, int32_t *dot, bool adds)
{
    EACH_ROW(CLEAR)

    if (adds) {
        EACH_ROW(GO_ON)
    }
    /* Even and odd bytes apart: gcc adds their products first, else, and keeps sums in memory. */
    for (size_t q = 0; q < quads; q++) {
        const int8_t *y = panel + q * NY_PANEL * 4;
        const int32_t *x = rows->even[row] + q;
        __m256i low = _mm256_srai_epi16(_mm256_slli_epi16(load(y), 8), 8), pair;
        __m256i high = _mm256_srai_epi16(_mm256_slli_epi16(load(y + 4 * LANES), 8), 8);

        EACH_ROW(MULTIPLY)
    }
    for (size_t q = 0; q < quads; q++) {
        const int8_t *y = panel + q * NY_PANEL * 4;
        const int32_t *x = rows->odd[row] + q;
        __m256i low = _mm256_srai_epi16(load(y), 8), pair;
        __m256i high = _mm256_srai_epi16(load(y + 4 * LANES), 8);

        EACH_ROW(MULTIPLY)
    }
    EACH_ROW(STORE)
}

/* Computes Σ x(y − 128) of all rows and landmarks. */
static inline void multiply(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                            int32_t dot[NY_BYTE_ROWS][NY_PANEL])
{
    struct spread x;

    for (size_t q = 0; q < quads; q += SPREAD) {
        size_t count = quads - q < SPREAD ? quads - q : SPREAD;

        spread_rows(rows, q, count, &x);
        for (size_t c = 0; c < NY_PANEL; c += BLOCK_COLS)
            for (size_t r = 0; r < NY_BYTE_ROWS; r += BLOCK_ROWS)
                multiply_block(&x, r, count, panel + (q * NY_PANEL + c) * 4, dot[r] + c, q > 0);
    }
}

/* ‖x‖² + ‖y‖² − 2 x·y, where term = ‖x‖² − 256 Σx. */
static inline __m256 squares(const int32_t *dot, uint32_t term, const uint32_t *y_norms)
{
    __m256i norms = _mm256_add_epi32(_mm256_set1_epi32((int)term), load(y_norms));
    __m256i twice = _mm256_slli_epi32(load(dot), 1);

    return _mm256_cvtepi32_ps(_mm256_sub_epi32(norms, twice));
}

void ny_byte_square_avx2(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                         const uint32_t y_norms[NY_PANEL], float out[NY_BYTE_ROWS][NY_PANEL])
{
    int32_t dot[NY_BYTE_ROWS][NY_PANEL];

    multiply(rows, quads, panel, dot);
    for (size_t r = 0; r < NY_BYTE_ROWS; r++)
        for (size_t c = 0; c < NY_PANEL; c += LANES)
            _mm256_storeu_ps(out[r] + c, squares(dot[r] + c, rows->term[r], y_norms + c));
}

unsigned ny_byte_below_avx2(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                            const uint32_t y_norms[NY_PANEL], struct ny_byte_found *found)
{
    int32_t dot[NY_BYTE_ROWS][NY_PANEL];
    unsigned there = 0;

    multiply(rows, quads, panel, dot);
    for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
        __m256 bound = _mm256_set1_ps(rows->bound[r]);
        uint32_t below = 0;

        for (size_t c = 0; c < NY_PANEL; c += LANES) {
            __m256 square = squares(dot[r] + c, rows->term[r], y_norms + c);
            __m256 less = _mm256_cmp_ps(square, bound, _CMP_LT_OQ);

            below |= (uint32_t)_mm256_movemask_ps(less) << c;
            _mm256_storeu_ps(found->value[r] + c, square);
        }
        found->below[r] = below;
        there |= (unsigned)(below != 0) << r;
    }
    return there;
}
