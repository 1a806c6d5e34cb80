/*
 * Finds out which kernels OpenBLAS took, and whether it finds room for what it does. A version
 * older than the CPU may not know it and then takes the kernels that run everywhere, at a fifth of
 * the speed or less: 0.3.21 does so on Intel's CPUs of 2023 and later.
 */
#include <cblas.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/context.h"
#include "linalg/blas.h"

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

/* Tells whether the process may take so much address space and no more. */
static bool is_limited(void)
{
    struct rlimit space, data;

    return (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) ||
           (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY);
}

/* OpenBLAS never gives a buffer back, so that threads that had room once have it. */
int ny_blas_check_space(struct ny_context *ctx, unsigned threads)
{
    const size_t buffer = (size_t)130 << 20;
    static atomic_uint served;
    unsigned before = served;
    size_t bytes = threads > before ? (threads - before) * buffer : 0;
    void *room;

    if (!bytes || !is_limited()) return NY_OK;
    room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
    if (room == MAP_FAILED)
        return ny_fail(ctx, NY_EBUDGET,
                       "products of matrices take %zu MiB of address space, 130 MiB for each of %u "
                       "threads, and a limit of this process (ulimit -v or -d) leaves less: raise "
                       "it, or give fewer --threads",
                       bytes >> 20, threads - before);
    munmap(room, bytes);
    served = threads;
    return NY_OK;
}
