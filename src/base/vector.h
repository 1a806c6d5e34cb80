/* A register of the CPUs that a file is compiled for, and what compilers do not find there. */
#ifndef NY_BASE_VECTOR_H
#define NY_BASE_VECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef int32_t ny_vector_bits __attribute__((vector_size(NY_VECTOR_BYTES)));

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

#endif
