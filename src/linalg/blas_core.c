/*
 * Finds out which kernels OpenBLAS took, and has it take its buffers while there is room for them.
 *
 * A version older than the CPU may not know it and then takes the kernels that run everywhere, at a
 * fifth of the speed or less: 0.3.21 does so on Intel's CPUs of 2023 and later.
 *
 * A thread that is in a function of OpenBLAS has a buffer of 128 MiB, which is mapped when none is
 * free, serves other threads later, and is never unmapped. Threads of OpenBLAS itself keep theirs.
 * If the system refuses to map one, OpenBLAS asks again for ever. Limits of the process (ulimit -v
 * and -d) do refuse it, because they count what is mapped, though hardly any of it is resident.
 *
 * It is not enough to look for the room before a job begins, since what the job then takes for
 * itself may leave none at the first product. So in a process with such a limit the buffers of all
 * threads are mapped at once, before the job takes memory of its own, and its products find them
 * there. If there is no room for them, the job is refused with a message. Other processes are left
 * alone.
 */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/mutex.h"
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

/* The functions by which a function of BLAS takes its buffer and gives it back: OpenBLAS exports
 * them, and declares them nowhere. They are NULL where a build hides them; room for the buffers is
 * then looked for, and not kept. */
void *blas_memory_alloc(int place) __attribute__((weak));
void blas_memory_free(void *buffer) __attribute__((weak));

/* Bytes of a buffer, with a little for what else OpenBLAS maps: it has 128 MiB on x86-64. */
static const size_t buffer_bytes = (size_t)130 << 20;

/* Buffers that OpenBLAS has mapped for threads that call it, and for threads of its own. They are
 * counted under NY_SHARED_BLAS, in processes with a limit alone. */
static unsigned for_callers, for_threads;

/* Tells whether the system would map so many bytes. */
static bool has_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

/* Takes so many buffers at a time, so that OpenBLAS maps those that it lacks, and gives them back.
 * Room for one is looked for each time, since threads of other jobs may have some of the buffers
 * that are there. The first word of a buffer names the one before; nobody reads what is in it. */
static bool hold_buffers(unsigned count)
{
    void **last = NULL;
    bool room = true;

    for (unsigned i = 0; i < count; i++) {
        void **buffer = has_room(buffer_bytes) ? blas_memory_alloc(0) : NULL;

        room = buffer != NULL;
        if (!room) break;
        *buffer = last;
        last = buffer;
    }
    while (last) {
        void **buffer = last;

        last = *buffer;
        blas_memory_free(buffer);
    }
    return room;
}

/* Has OpenBLAS map so many more buffers, where there is room for each and for `beside` bytes. */
static bool add_buffers(unsigned count, size_t beside)
{
    if (!has_room(count * (buffer_bytes + beside))) return false;
    return !blas_memory_alloc || !blas_memory_free || hold_buffers(for_callers + count);
}

int ny_blas_make_room(struct ny_context *ctx, unsigned threads)
{
    struct ny_ulimit limit = ny_ulimit();
    unsigned callers = threads * ny_context_parts(ctx), missing;
    bool room = true;

    if (!limit.option) return NY_OK;
    ny_shared_lock(NY_SHARED_BLAS);
    missing = callers > for_callers ? callers - for_callers : 0;
    if (missing) room = add_buffers(missing, 0);
    if (missing && room) for_callers = callers;
    ny_shared_unlock(NY_SHARED_BLAS);
    if (room) return NY_OK;
    return ny_fail(ctx, NY_EBUDGET,
                   "products of matrices map %zu MiB, 130 MiB for each thread, and the limit of "
                   "this process (ulimit %s %zu, which is %zu MiB) leaves %zu MiB: raise it%s; in "
                   "Python, OPENBLAS_NUM_THREADS=1 in the environment leaves more",
                   missing * buffer_bytes >> 20, limit.option, limit.bytes >> 10,
                   limit.bytes >> 20, limit.left >> 20,
                   callers > 1 ? ", or give fewer --threads" : "");
}

/* Returns the bytes of the stack of a thread that OpenBLAS starts, at most. */
static size_t stack_bytes(void)
{
    const size_t common = (size_t)8 << 20;
    struct rlimit stack;

    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur == RLIM_INFINITY) return common;
    return (size_t)stack.rlim_cur;
}

bool ny_blas_may_start(unsigned threads)
{
    unsigned missing;
    bool room = true;

    if (!ny_ulimit().option) return true;
    ny_shared_lock(NY_SHARED_BLAS);
    missing = threads > for_threads ? threads - for_threads : 0;
    if (missing) room = add_buffers(missing, stack_bytes());
    if (missing && room) for_threads = threads;
    ny_shared_unlock(NY_SHARED_BLAS);
    return room;
}
