/*
 * Finds out which kernels OpenBLAS took, and limits how many threads are in it where memory is
 * short.
 *
 * A version older than the CPU may not know it and then takes the kernels that run everywhere, at a
 * fifth of the speed or less: 0.3.21 does so on Intel's CPUs of 2023 and later.
 *
 * A thread that is in a function of OpenBLAS has a buffer of 128 MiB, which is mapped when none is
 * free, serves other threads later, and is never unmapped. Threads of OpenBLAS itself keep theirs.
 * If the system refuses to map one, OpenBLAS asks again for ever. Limits of the process (ulimit -v
 * and -d) do refuse it, because they count what is mapped, though hardly any of it is resident.
 *
 * So in a process with such a limit as many threads are in OpenBLAS at a time as there is room for,
 * beside all that the job may still take for itself; the others wait. One buffer is mapped before
 * the job takes memory of its own, and the job is refused with a message where there is no room
 * for that. Other processes are left alone.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/memory.h"
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

/* Bytes of a buffer, with a little for what else OpenBLAS maps: it has 128 MiB on x86-64. */
static const size_t buffer_bytes = (size_t)130 << 20;

/* Threads that may be in OpenBLAS at a time, 0 where any number may, and those that are. */
static struct {
    struct ny_once made;
    struct ny_mutex lock;
    struct ny_cond changed;
    atomic_uint places;
    unsigned inside;
} gate = {.made = NY_ONCE_INIT};

static unsigned for_threads; /* buffers that threads of OpenBLAS have, in processes with a limit */

static void make_gate(void)
{
    ny_mutex_init(&gate.lock);
    ny_cond_init(&gate.changed);
}

void ny_blas_enter(void)
{
    if (!atomic_load(&gate.places)) return;
    ny_mutex_lock(&gate.lock);
    while (gate.inside >= gate.places)
        ny_cond_wait(&gate.changed, &gate.lock);
    gate.inside++;
    ny_mutex_unlock(&gate.lock);
}

void ny_blas_leave(void)
{
    if (!atomic_load(&gate.places)) return;
    ny_mutex_lock(&gate.lock);
    if (gate.inside) gate.inside--; /* it entered before there was a limit */
    ny_cond_broadcast(&gate.changed);
    ny_mutex_unlock(&gate.lock);
}

/* Tells whether the system would map so many bytes. */
static bool has_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

/* Tells whether there is room for so many threads in OpenBLAS, and all that the job may take. */
static bool has_room_for(const struct ny_context *ctx, unsigned threads)
{
    size_t most = ny_memory_left(ny_context_whole(ctx)), stack = (size_t)8 << 20; /* of a thread */
    struct rlimit limit;

    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY)
        stack = (size_t)limit.rlim_cur;
    return has_room(most + threads * (buffer_bytes + stack));
}

/* Has OpenBLAS map its first buffer, if there is room for it. */
static bool map_first(void)
{
    static bool mapped;
    double one = 1;
    bool room;

    ny_shared_lock(NY_SHARED_BLAS);
    room = mapped || has_room(buffer_bytes);
    ny_blas_enter();
    if (room && !mapped) mapped = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', 1, &one, 1) == 0;
    ny_blas_leave();
    ny_shared_unlock(NY_SHARED_BLAS);
    return room;
}

int ny_blas_make_room(struct ny_context *ctx, unsigned threads)
{
    struct ny_ulimit limit = ny_ulimit();
    unsigned places = threads * ny_context_parts(ctx);

    if (!limit.option) return NY_OK;
    ny_once(&gate.made, make_gate);
    if (!map_first())
        return ny_fail(ctx, NY_EBUDGET,
                       "products of matrices map 130 MiB, and the limit of this process (ulimit %s "
                       "%zu, which is %zu MiB) leaves %zu MiB: raise it; in Python, "
                       "OPENBLAS_NUM_THREADS=1 in the environment leaves more",
                       limit.option, limit.bytes >> 10, limit.bytes >> 20, limit.left >> 20);
    while (places > 1 && !has_room_for(ctx, places - 1))
        places--;
    atomic_store(&gate.places, places);
    return NY_OK;
}

bool ny_blas_may_start(const struct ny_context *ctx, unsigned threads)
{
    bool room;

    if (!ny_ulimit().option) return true;
    ny_shared_lock(NY_SHARED_BLAS);
    room = threads <= for_threads || has_room_for(ctx, threads - for_threads);
    if (room && threads > for_threads) for_threads = threads;
    ny_shared_unlock(NY_SHARED_BLAS);
    return room;
}
