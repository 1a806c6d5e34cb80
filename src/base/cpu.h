/* Asks at run time what this CPU can do: the build machine's CPU is never assumed. */
#ifndef NY_BASE_CPU_H
#define NY_BASE_CPU_H

#include <stdbool.h>

/* Families of our own vector code, in ascending order of preference. */
enum ny_cpu { NY_CPU_PLAIN = 0, NY_CPU_AVX2 = 1, NY_CPU_AVX512 = 2, NY_CPU_COUNT };

/* X(variant, family) for each family that this build compiled vector code for. */
#if defined(NY_X86_VARIANTS)
#define NY_CPU_VARIANTS(X)                                                                         \
    X(plain, NY_CPU_PLAIN)                                                                         \
    X(avx2, NY_CPU_AVX2)                                                                           \
    X(avx512, NY_CPU_AVX512)
#else
#define NY_CPU_VARIANTS(X) X(plain, NY_CPU_PLAIN)
#endif

/* Declares what a file compiled for each family exports as `name`, and name_families[], where it is
 * for a family. type: a function type, or a const struct. */
#if defined(NY_X86_VARIANTS)
#define NY_CPU_FAMILIES(type, name)                                                                \
    extern type name##_plain, name##_avx2, name##_avx512;                                          \
    static type *const name##_families[NY_CPU_COUNT] = {&name##_plain, &name##_avx2,               \
                                                        &name##_avx512};
#else
#define NY_CPU_FAMILIES(type, name)                                                                \
    extern type name##_plain;                                                                      \
    static type *const name##_families[NY_CPU_COUNT] = {&name##_plain};
#endif

/* a_b of what a and b stand for; and the name of something in the family a file is compiled for. */
#define NY_JOIN_WORDS(a, b) a##_##b
#define NY_JOIN(a, b) NY_JOIN_WORDS(a, b)
#define NY_VARIANT_NAME(name) NY_JOIN(name, NY_VARIANT)

/* Bytes of a vector register and number of registers of the CPUs that a file is compiled for. */
#if defined(__AVX512F__)
enum { NY_VECTOR_BYTES = 64, NY_VECTOR_REGISTERS = 32 };
#elif defined(__AVX2__)
enum { NY_VECTOR_BYTES = 32, NY_VECTOR_REGISTERS = 16 };
#elif defined(__aarch64__)
enum { NY_VECTOR_BYTES = 16, NY_VECTOR_REGISTERS = 32 };
#else
enum { NY_VECTOR_BYTES = 16, NY_VECTOR_REGISTERS = 16 };
#endif

/* Bytes of landmarks are kept less this: products of bytes take signed ones there on x86, and
 * unsigned ones on ARM. */
#if defined(__x86_64__)
enum { NY_BYTE_BIAS = 128 };
#else
enum { NY_BYTE_BIAS = 0 };
#endif

/* The best family that this CPU runs and this build holds. */
enum ny_cpu ny_cpu_family(void);
/* Tells whether this CPU runs the variant `dot`: the best family with products of four bytes at a
 * time, vpdpbusd of AVX-512 or udot of ARM. */
bool ny_cpu_has_dot(void);
/* Returns the name of a family, such as "avx512". */
const char *ny_cpu_name(enum ny_cpu family);
/* CPUs this process may run on, at least 1. */
unsigned ny_cpu_count(void);
/* CPUs of the machine, whoever may run on them; at least 1. */
unsigned ny_cpu_online(void);

#endif
