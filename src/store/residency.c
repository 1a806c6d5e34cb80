/*
 * Mapped pages count as resident, and a fault maps more of them than it needs: an aligned window,
 * or all of a large folio of the page cache (2 MiB, kernels from 6.18 on). So after every value of
 * more than a page all mapped pages are given back at once: they stay in the page cache, and the
 * next read maps again what it needs.
 */
#include <sys/mman.h>

#include "base/memory.h"
#include "store/store_private.h"

/* Pages of the tree and values inside them: the same few, most of the time. */
enum { SMALL_READS_MAX = 16 };

void ny_env_touched(struct ny_env *env, const void *at, size_t bytes)
{
    ny_mutex_lock(&env->lock);
    if (!env->map && at) env->map = ny_mapping_of(at, &env->map_length);
    env->small_reads++;
    if (env->map && (bytes >= env->page_bytes || env->small_reads >= SMALL_READS_MAX)) {
        madvise(env->map, env->map_length, MADV_DONTNEED);
        env->small_reads = 0;
    }
    ny_mutex_unlock(&env->lock);
}
