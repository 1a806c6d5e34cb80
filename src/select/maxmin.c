/* maxmin: each landmark is the row farthest from those before it (de Silva & Tenenbaum 2004,
 * section 3), by the distances of the graph; the first is the first of `uniform`. */
#include "select/rules_private.h"

#include "base/memory.h"

static int select_rows(const struct ny_selection_request *request, struct ny_selection *selection)
{
    const struct ny_candidates *candidates = &request->candidates;
    struct ny_selection_request one = *request;
    uint64_t next;
    int err;

    if (one.landmarks > 1) one.landmarks = 1;
    err = ny_select_uniform(&one, selection);
    if (err) return err;
    next = selection->rows[0];
    ny_selection_release(selection, request->ctx);
    err = ny_selection_rows(selection, request->ctx, request->landmarks);
    for (size_t j = 0; j < request->landmarks && err == NY_OK; j++) {
        selection->rows[j] = next;
        next = candidates->farthest(candidates->farthest_arg, next);
        err = ny_check_interrupt(request->ctx);
    }
    return err;
}

const struct ny_rule ny_rule_maxmin = {
    .name = "maxmin",
    .summary = "for isomap, each time the row farthest from those before",
    .options = "landmarks",
    .paths = true,
    .select = select_rows,
};
