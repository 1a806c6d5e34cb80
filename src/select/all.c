/* all: every row, in order. */
#include "select/rules_private.h"

int ny_select_all(const struct ny_selection_request *request, struct ny_selection *selection)
{
    int err;

    ny_selection_clear(selection);
    err = ny_selection_rows(selection, request->ctx, (size_t)request->n);
    for (size_t i = 0; !err && i < selection->m; i++)
        selection->rows[i] = i;
    return err;
}
