/* Checks that a result has what its record speaks of: ny_result_check_parts(). */
#include "base/memory.h"
#include "results/parts.h"

/* Reads the last row of a part. */
static int read_last(struct ny_result *result, const struct ny_result_part *part)
{
    size_t columns = part->columns ? part->columns(result) : 1;
    void *row = ny_alloc(result->ctx, NY_MEM_IO, columns * sizeof(uint64_t));
    int err = row ? ny_result_prepare(result, part, 1) : NY_EBUDGET;

    if (!err) err = part->fill(result, part->count(result) - 1, 1, row);
    ny_free(result->ctx, row);
    return err;
}

int ny_result_check_parts(struct ny_result *result)
{
    static const char *const stored[] = {"embedding", "landmarks",  "features", "residuals",
                                         "neighbors", "components", "clusters"};
    int err = NY_OK;

    for (size_t i = 0; !err && i < sizeof(stored) / sizeof(stored[0]); i++) {
        const struct ny_result_part *part = ny_part_find(stored[i]);

        if (part->count(result)) err = read_last(result, part);
    }
    return err;
}
