/* all: every row, in order. */
#include "select/rules_private.h"

static int select_rows(const struct ny_selection_request *request, struct ny_selection *selection)
{
    size_t count = 0;
    int err;

    for (uint64_t row = 0; row < request->n; row++)
        count += ny_selection_valid(request, row);
    ny_selection_clear(selection);
    err = ny_selection_rows(selection, request->ctx, count);
    count = 0;
    for (uint64_t row = 0; !err && row < request->n; row++)
        if (ny_selection_valid(request, row)) selection->rows[count++] = row;
    return err;
}

const struct ny_rule ny_rule_all = {
    .name = "all",
    .summary = "every row",
    .all = true,
    .uniform = true,
    .select = select_rows,
};
