#include "base/cpu.h"

#include <sys/auxv.h>

/* NY_X86_VARIANTS is set by the build where the vector code was compiled for x86-64. */
enum ny_cpu ny_cpu_family(void)
{
#if defined(NY_X86_VARIANTS)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return NY_CPU_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return NY_CPU_AVX2;
#endif
    return NY_CPU_PLAIN;
}

bool ny_cpu_has_dot(void)
{
#if defined(NY_X86_VARIANTS)
    return ny_cpu_family() == NY_CPU_AVX512 && __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__) && defined(HWCAP_ASIMDDP)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#else
    return false;
#endif
}

const char *ny_cpu_name(enum ny_cpu family)
{
    static const char *const names[NY_CPU_COUNT] = {"plain", "avx2", "avx512"};

    return names[family];
}
