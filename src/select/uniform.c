/* uniform: the m rows with the smallest hash, so that a smaller m is a prefix, and nothing depends
 * on the order in which rows are seen. */
#include "select/rules_private.h"

#include "base/memory.h"
#include "base/random.h"
#include "select/draws.h"

static int keep_smallest(const struct ny_selection_request *request, struct ny_draws *draws)
{
    enum { CHECK_ROWS = 1 << 20 };

    for (uint64_t row = 0; row < request->n; row++) {
        double hash = ny_hash01(request->seed, NY_STREAM_LANDMARKS, row);

        if (ny_selection_valid(request, row)) ny_draws_offer(draws, (struct ny_draw){hash, row});
        if (row % CHECK_ROWS == 0) {
            int err = ny_check_interrupt(request->ctx);
            if (err) return err;
        }
    }
    return NY_OK;
}

int ny_select_uniform(const struct ny_selection_request *request, struct ny_selection *selection)
{
    size_t m = request->landmarks < request->n ? request->landmarks : (size_t)request->n;
    struct ny_draws draws = {.m = m};
    int err;

    ny_selection_clear(selection);
    if (!m) return ny_selection_none(request->ctx);
    draws.heap = ny_calloc(request->ctx, NY_MEM_DICTIONARY, m, sizeof(*draws.heap));
    if (!draws.heap) return NY_EBUDGET;
    err = keep_smallest(request, &draws);
    if (!err) err = ny_selection_rows(selection, request->ctx, m);
    if (!err) ny_draws_take(&draws, selection->rows);
    ny_free(request->ctx, draws.heap);
    return err;
}

const struct ny_rule ny_rule_uniform = {
    .name = "uniform",
    .summary = "at random",
    .options = "landmarks",
    .uniform = true,
    .select = ny_select_uniform,
};
