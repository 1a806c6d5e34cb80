/*
 * The handle of a store that is not there (store/imagined.c) refuses all that reads points or
 * writes. Its statistics are those of columns of mean 1 and deviation 2, so that a plan counts all
 * columns and finds that --scale changes them.
 */
#include <math.h>

#include "base/memory.h"
#include "store/store_private.h"

bool ny_store_is_imagined(const struct ny_store *store)
{
    return store->set && store->set->info.imagined;
}

int ny_imagined_refuse(const struct ny_store *store)
{
    return ny_fail(store->ctx, NY_EUSAGE,
                   "this needs the points, but %s gives only their shape: import them first",
                   store->path);
}

int ny_imagined_stats(const struct ny_store *store, struct ny_rows_stats *stats)
{
    const struct ny_rows_info *info = &store->set->info;
    uint64_t d = info->d;
    double *all = ny_calloc(store->ctx, NY_MEM_STORE, 4 * d, sizeof(*all));

    *stats = (struct ny_rows_stats){.n = info->n,
                                    .d = d,
                                    .mean = all,
                                    .minimum = all + d,
                                    .maximum = all + 2 * d,
                                    .variance = all + 3 * d,
                                    .mean_square_norm = 5 * (double)d,
                                    .mean_norm = sqrt(5 * (double)d)};
    for (uint64_t k = 0; all && k < d; k++) {
        stats->mean[k] = 1;
        stats->minimum[k] = -1;
        stats->maximum[k] = 3;
        stats->variance[k] = 4;
    }
    return all ? NY_OK : NY_EBUDGET;
}
