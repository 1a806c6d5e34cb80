/* A register of the CPUs that a file is compiled for, and what compilers do not find there. */
#ifndef NY_BASE_VECTOR_H
#define NY_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

typedef int32_t ny_vector_bits __attribute__((vector_size(NY_VECTOR_BYTES)));

typedef float ny_floats __attribute__((vector_size(NY_VECTOR_BYTES)));

typedef int64_t ny_eight_lanes __attribute__((vector_size(64)));

/* The lanes of two vectors of eight doubles that have these numbers. */
#if defined(__clang__) || __GNUC__ > 11
#define NY_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define NY_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ny_eight_lanes){__VA_ARGS__})
#endif

/* Returns the lanes that are below a bound, a bit each. */
static inline uint32_t ny_floats_less(ny_floats values, float bound)
{
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)values, _mm512_set1_ps(bound), _CMP_LT_OQ);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_ps((__m256)(values < bound));
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)(values < bound));
#else
    uint32_t less = 0;

    for (unsigned l = 0; l < NY_VECTOR_BYTES / sizeof(float); l++)
        less |= (uint32_t)(values[l] < bound) << l;
    return less;
#endif
}

/* Tells whether some bit is set. */
static inline bool ny_vector_any(ny_vector_bits bits)
{
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)bits, (__m512i)bits) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)bits, (__m256i)bits);
#else
    uint64_t word[NY_VECTOR_BYTES / sizeof(uint64_t)];

    memcpy(word, &bits, sizeof(word));
    return (word[0] | word[1]) != 0;
#endif
}

/* ---- words of four bytes -------------------------------------------------------------------- */

/* A word is multiplied in parts: the whole of it, the even and the odd bytes, or byte by byte. */
#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_DOTPROD)
enum { NY_BYTE_PARTS = 1 };
typedef int32_t ny_byte_lanes __attribute__((vector_size(NY_VECTOR_BYTES)));
#elif defined(__SSE2__)
enum { NY_BYTE_PARTS = 2 };
typedef int16_t ny_byte_lanes __attribute__((vector_size(NY_VECTOR_BYTES)));
#else
enum { NY_BYTE_PARTS = 4 };
typedef uint32_t ny_byte_lanes __attribute__((vector_size(NY_VECTOR_BYTES)));
#endif

/* Returns a part of a word of unsigned bytes. */
static inline uint32_t ny_byte_part(uint32_t word, unsigned part)
{
    const uint32_t mask = NY_BYTE_PARTS == 4 ? 0xff : NY_BYTE_PARTS == 2 ? 0x00ff00ff : UINT32_MAX;

    return word >> 8 * part & mask;
}

/* Returns a part of words of bytes less NY_BYTE_BIAS: signed ones, if there is one. */
static inline ny_vector_bits ny_byte_parts(ny_vector_bits words, unsigned part)
{
    const int others = 8 * (NY_BYTE_PARTS - 1);

    return (ny_vector_bits)((ny_byte_lanes)words << (others - 8 * (int)part) >> others);
}

/* Adds the products of the bytes of word x and of each word of y, or of parts of them. */
static inline ny_vector_bits ny_add_products(ny_vector_bits sum, int32_t x, ny_vector_bits y)
{
    ny_vector_bits all = (ny_vector_bits){0} + x;

#if defined(__AVX512VNNI__)
    return (ny_vector_bits)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)all, (__m512i)y);
#elif defined(__AVX512F__)
    return sum + (ny_vector_bits)_mm512_madd_epi16((__m512i)all, (__m512i)y);
#elif defined(__AVX2__)
    return sum + (ny_vector_bits)_mm256_madd_epi16((__m256i)all, (__m256i)y);
#elif defined(__SSE2__)
    return sum + (ny_vector_bits)_mm_madd_epi16((__m128i)all, (__m128i)y);
#elif defined(__ARM_FEATURE_DOTPROD)
    return (ny_vector_bits)vdotq_u32((uint32x4_t)sum, (uint8x16_t)all, (uint8x16_t)y);
#else
    return sum + all * y;
#endif
}

/* ---- comparisons ---------------------------------------------------------------------------- */

/* A register of f64 and one of whole numbers beside it, lane by lane, and the lanes in which
 * something holds: a mask register where the CPU has them. */
typedef double ny_doubles __attribute__((vector_size(NY_VECTOR_BYTES)));
typedef int64_t ny_longs __attribute__((vector_size(NY_VECTOR_BYTES)));
#if defined(__AVX512F__)
typedef __mmask8 ny_lanes;
#else
typedef ny_longs ny_lanes;
#endif

/* Returns the lanes in which a pair (value, number) comes before another: its value is less, or
 * equal and its number less. */
static inline ny_lanes ny_lanes_before(ny_doubles value, ny_longs number, ny_doubles other,
                                       ny_longs other_number)
{
#if defined(__AVX512F__)
    __mmask8 equal = _mm512_cmp_pd_mask((__m512d)value, (__m512d)other, _CMP_EQ_OQ);

    return (__mmask8)(_mm512_cmp_pd_mask((__m512d)value, (__m512d)other, _CMP_LT_OQ) |
                      _mm512_mask_cmplt_epi64_mask(equal, (__m512i)number, (__m512i)other_number));
#else
    return (value < other) | ((value == other) & (number < other_number));
#endif
}

/* Takes a in the lanes, and b in the others. */
static inline ny_doubles ny_lanes_choose(ny_lanes lanes, ny_doubles a, ny_doubles b)
{
#if defined(__AVX512F__)
    return (ny_doubles)_mm512_mask_blend_pd(lanes, (__m512d)b, (__m512d)a);
#elif defined(__AVX2__)
    return (ny_doubles)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)lanes);
#else
    return (ny_doubles)(((ny_longs)a & lanes) | ((ny_longs)b & ~lanes));
#endif
}

static inline ny_longs ny_lanes_choose_longs(ny_lanes lanes, ny_longs a, ny_longs b)
{
    return (ny_longs)ny_lanes_choose(lanes, (ny_doubles)a, (ny_doubles)b); /* bits are the same */
}

/* Returns a where it is greater than b; so b where a is no number. */
static inline ny_doubles ny_doubles_greater(ny_doubles a, ny_doubles b)
{
#if defined(__AVX512F__)
    return (ny_doubles)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (ny_doubles)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return ny_lanes_choose(a > b, a, b);
#endif
}

/* Tells whether something holds in some lane of `count` registers. */
static inline bool ny_lanes_any(const ny_lanes *lanes, size_t count)
{
    ny_lanes all = lanes[0];

    for (size_t i = 1; i < count; i++)
        all |= lanes[i];
#if defined(__AVX512F__)
    return all != 0;
#else
    return ny_vector_any((ny_vector_bits)all);
#endif
}

/* Numbers that ny_vector_gaps() reads at most, and bytes that it looks at. */
enum { NY_VECTOR_GAPS = 16 };

/* Reads gaps in groups of seven bits, the lowest first, with the high bit on all but the last: each
 * column is *next and its gap, and *next is then behind it. All of columns[0…15] are overwritten.
 * Returns how many there are, in *bytes; 0 where a gap has more than two bytes, or without
 * AVX-512. *next must be below 2³¹. */
static inline unsigned ny_vector_gaps(const unsigned char *from, uint32_t *next, uint32_t *columns,
                                      unsigned *bytes)
{
#if defined(__AVX512F__)
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
    __m128i raw = _mm_loadu_si128((const __m128i *)(const void *)from);
    unsigned high = (unsigned)_mm_movemask_epi8(raw), cut = high >> 15, begins;
    __m512i first = _mm512_and_si512(_mm512_cvtepu8_epi32(raw), _mm512_set1_epi32(127));
    __m512i second = _mm512_cvtepu8_epi32(_mm_srli_si128(raw, 1)), step;

    *bytes = NY_VECTOR_GAPS - cut;
    if (high & high << 1) return 0;
    begins = ~(high << 1 | cut << 15) & 0xffff;
    step = _mm512_maskz_slli_epi32((__mmask16)high, second, 7);
    step = _mm512_add_epi32(_mm512_add_epi32(first, step), one);
    step = _mm512_maskz_compress_epi32((__mmask16)begins, step);
    step = _mm512_add_epi32(step, _mm512_alignr_epi32(step, zero, 15));
    step = _mm512_add_epi32(step, _mm512_alignr_epi32(step, zero, 14));
    step = _mm512_add_epi32(step, _mm512_alignr_epi32(step, zero, 12));
    step = _mm512_add_epi32(step, _mm512_alignr_epi32(step, zero, 8)); /* sums up to each */
    _mm512_storeu_si512(columns, _mm512_add_epi32(step, _mm512_set1_epi32((int)*next - 1)));
    *next += (uint32_t)_mm_extract_epi32(_mm512_extracti32x4_epi32(step, 3), 3);
    return (unsigned)__builtin_popcount(begins);
#else
    (void)from, (void)next, (void)columns;
    *bytes = 0;
    return 0;
#endif
}

/* Returns how many of NY_VECTOR_GAPS columns, which ascend, are below `end`. */
static inline unsigned ny_vector_below(const uint32_t *columns, uint32_t end)
{
#if defined(__AVX512F__)
    __m512i sixteen = _mm512_loadu_si512(columns);

    return (unsigned)__builtin_popcount(
        _mm512_cmplt_epu32_mask(sixteen, _mm512_set1_epi32((int)end)));
#else
    unsigned below = 0;

    for (unsigned k = 0; k < NY_VECTOR_GAPS; k++)
        below += columns[k] < end;
    return below;
#endif
}

#endif
