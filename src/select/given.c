/* given: the rows of a list, in its order, or points that are no rows of the store. */
#include "select/rules_private.h"

#include <stdlib.h>

#include "base/memory.h"

struct entry {
    uint64_t row;
    size_t position;
};

static int by_row(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* Finds the first entry, in the order of the list, that repeats an earlier one. */
static int check_duplicates(struct ny_context *ctx, struct entry *entries, size_t m)
{
    size_t first = SIZE_MAX, earlier = 0;

    qsort(entries, m, sizeof(*entries), by_row);
    for (size_t i = 1; i < m; i++) {
        if (entries[i].row == entries[i - 1].row && entries[i].position < first) {
            first = entries[i].position;
            earlier = i - 1;
        }
    }
    if (first == SIZE_MAX) return NY_OK;
    return ny_fail(ctx, NY_EDATA,
                   "the list of landmarks names row %llu twice, at positions %zu and %zu (from 0); "
                   "each row can be a landmark once",
                   (unsigned long long)entries[earlier].row, entries[earlier].position, first);
}

static int select_rows(const struct ny_selection_request *request, struct ny_selection *selection)
{
    size_t m = request->landmarks;
    struct entry *entries;
    int err;

    ny_selection_clear(selection);
    if (request->points_given) {
        selection->m = m;
        return NY_OK;
    }
    if (!m || !request->named_landmarks)
        return ny_fail(request->ctx, NY_EDATA, "the list of landmarks is empty");
    for (size_t i = 0; i < m; i++)
        if (request->named_landmarks[i] >= request->n)
            return ny_fail(request->ctx, NY_EDATA,
                           "the list of landmarks names row %llu at position %zu (from 0), but the "
                           "rows are 0 … %llu",
                           (unsigned long long)request->named_landmarks[i], i,
                           (unsigned long long)request->n - 1);
    for (size_t i = 0; i < m; i++)
        if (!ny_selection_valid(request, request->named_landmarks[i]))
            return ny_fail(request->ctx, NY_EDATA,
                           "the list of landmarks names row %llu at position %zu (from 0), which "
                           "is not in the largest component of the graph; leave it out, or make a "
                           "graph with more --neighbors",
                           (unsigned long long)request->named_landmarks[i], i);
    entries = ny_calloc(request->ctx, NY_MEM_DICTIONARY, m, sizeof(*entries));
    if (!entries) return NY_EBUDGET;
    for (size_t i = 0; i < m; i++)
        entries[i] = (struct entry){request->named_landmarks[i], i};
    err = check_duplicates(request->ctx, entries, m);
    ny_free(request->ctx, entries);
    if (!err) err = ny_selection_rows(selection, request->ctx, m);
    for (size_t i = 0; !err && i < m; i++)
        selection->rows[i] = request->named_landmarks[i];
    return err;
}

const struct ny_rule ny_rule_given = {
    .name = "given",
    .summary = "--landmarks-file, -points or -from",
    .options = "landmarks-file|landmarks-points|landmarks-from|online",
    .select = select_rows,
};
