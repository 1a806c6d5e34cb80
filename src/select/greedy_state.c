/* Makes and frees the state of a greedy selection. */
#include "select/greedy.h"

#include <math.h>

#include "select/rules_private.h"

void ny_greedy_lay(struct ny_layout *l, struct ny_greedy *greedy,
                   const struct ny_columns_spec *spec)
{
    greedy->worker = ny_lay(l, NY_MEM_TILES, greedy->workers, sizeof(*greedy->worker));
    for (unsigned w = 0; w < greedy->workers; w++) {
        struct ny_columns_workspace *workspace = ny_columns_workspace_lay(l, spec, NY_FRONT_STRIP);

        if (greedy->worker) greedy->worker[w].workspace = workspace;
    }
}

int ny_greedy_open(struct ny_greedy *greedy, const struct ny_selection_request *request, uint64_t n)
{
    const struct ny_columns_spec *spec = request->spec;
    struct ny_dictionary_options options = request->greedy.dictionary;
    struct ny_context *ctx = request->ctx;
    bool searches = ny_greedy_searches(request);
    int err;

    *greedy =
        (struct ny_greedy){.ctx = ctx,
                           .own.ctx = ctx,
                           .request = request,
                           .n = n,
                           .here = request->here.end ? request->here : (struct ny_row_range){0, n},
                           .workers = ny_selection_workers(request)};
    if (!searches && (!(options.tolerance > 0) || !isfinite(options.tolerance)))
        return ny_fail(ctx, NY_EUSAGE, "--tolerance %g: the greedy selection needs one above 0",
                       options.tolerance);
    if (!request->landmarks) return ny_selection_none(ctx);
    if (searches) options.tolerance = 0; /* no part of its identity */
    err = ny_dictionary_new(&greedy->dictionary, spec, &options);
    if (err) return err;
    greedy->residuals = ny_calloc(ctx, NY_MEM_DICTIONARY, n, sizeof(*greedy->residuals));
    if (searches) greedy->kept = ny_calloc(ctx, NY_MEM_DICTIONARY, n, sizeof(*greedy->kept));
    ny_greedy_lay(&greedy->own, greedy, spec);
    if (!greedy->residuals || (searches && !greedy->kept) || greedy->own.err) return NY_EBUDGET;
    for (uint64_t i = 0; i < n; i++)
        greedy->residuals[i] = INFINITY;
    for (uint64_t i = 0; searches && i < n; i++)
        greedy->kept[i] = INFINITY;
    for (unsigned w = 0; !err && w < greedy->workers; w++)
        err = ny_front_new(&greedy->worker[w].front, &greedy->worker[w].exact, spec, NY_UNIT_ROWS,
                           NY_DICTIONARY_PANEL);
    return err;
}

void ny_greedy_close(struct ny_greedy *greedy)
{
    for (unsigned w = 0; greedy->worker && w < greedy->workers; w++)
        ny_front_free(&greedy->worker[w].front, &greedy->worker[w].exact);
    ny_layout_free(&greedy->own);
    ny_free(greedy->ctx, greedy->residuals);
    ny_free(greedy->ctx, greedy->kept);
    ny_prefixes_drop(&greedy->prefixes, greedy->ctx);
    ny_dictionary_free(greedy->dictionary);
}
