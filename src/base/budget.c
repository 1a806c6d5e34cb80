#include "base/budget.h"

#include <stdio.h>

size_t ny_budget_held(ny_budget_count_fn *count, const void *sizes, unsigned workers, size_t limit)
{
    struct ny_layout l = {0};

    count(&l, sizes, workers, limit);
    return ny_layout_most(&l);
}

unsigned ny_budget_workers(ny_budget_count_fn *count, const void *sizes, unsigned most,
                           size_t limit)
{
    unsigned workers = most;

    while (workers > 0 && ny_budget_held(count, sizes, workers, limit) > limit)
        workers--;
    return workers;
}

unsigned ny_budget_workers_left(const struct ny_context *ctx, ny_budget_count_fn *count,
                                const void *sizes, unsigned most)
{
    unsigned workers = ny_budget_workers(count, sizes, most, ny_memory_left(ctx));

    return workers ? workers : 1;
}

/* A budget that is too small by some bytes is raised to what would be held under it. Buffers are a
 * share of the budget, so that each step is a fraction of the last. */
size_t ny_budget_least(ny_budget_count_fn *count, const void *sizes)
{
    size_t limit = 0, needed;

    while ((needed = ny_budget_held(count, sizes, 1, limit)) > limit)
        limit = needed;
    return limit;
}

size_t ny_budget_of_parts(const struct ny_context *ctx, size_t least)
{
    const struct ny_context *whole = ny_context_whole(ctx);
    const size_t step = 64 << 10; /* texts of options, and the like */
    size_t held = whole == ctx ? 0 : (ny_memory_used(whole) / step + 1) * step;

    return ny_context_parts(ctx) * least + held;
}

int ny_budget_refuse(struct ny_context *ctx, const char *what, size_t least, const char *with,
                     const char *instead)
{
    const double mib = 1 << 20;
    unsigned parts = ny_context_parts(ctx);
    size_t all = ny_budget_of_parts(ctx, least);
    const struct ny_context *whole = ny_context_whole(ctx);
    size_t limit = ny_memory_whole(whole);
    char shards[64] = "";

    if (parts > 1) snprintf(shards, sizeof(shards), " over %u shards at the same time", parts);
    return ny_fail(
        ctx, NY_EBUDGET,
        "this %s needs %zu bytes (%.1f MiB)%s%s, but the budget is %.1f MiB; give --memory %zuM%s",
        what, all, (double)all / mib, with, shards, (double)limit / mib, (all >> 20) + 1, instead);
}

int ny_budget_need(struct ny_context *ctx, const char *what, size_t bytes)
{
    size_t left = ny_memory_left(ctx);

    if (bytes <= left) return NY_OK;
    return ny_budget_refuse(ctx, what, bytes + ny_memory_whole(ctx) - left, "", "");
}
