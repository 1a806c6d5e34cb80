/*
 * Finds out which kernels OpenBLAS took. A version older than the CPU may not know it and then
 * takes the kernels that run everywhere, at a fifth of the speed or less: 0.3.21 does so on Intel's
 * CPUs of 2023 and later.
 */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "linalg/matrix.h"

const char *ny_blas_better_core(const char *name, enum ny_cpu family)
{
    static const char *const without_avx2[] = {"Prescott", "Core2",       "Penryn",    "Nehalem",
                                               "Atom",     "Sandybridge", "Barcelona", "Generic"};
    static const char *const better[NY_CPU_COUNT] = {
        [NY_CPU_AVX2] = "Haswell", [NY_CPU_AVX512] = "SkylakeX"};

    for (size_t i = 0; i < sizeof(without_avx2) / sizeof(without_avx2[0]); i++)
        if (strcmp(name, without_avx2[i]) == 0) return better[family];
    return NULL;
}

const char *ny_blas_coretype(void)
{
    if (getenv("OPENBLAS_CORETYPE")) return NULL;
    return ny_blas_better_core(openblas_get_corename(), ny_cpu_family());
}
