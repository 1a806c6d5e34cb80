/* The state of a greedy selection, and one run of Algorithm 1 over rows with it. */
#include "select/greedy.h"

#include <math.h>

#include "select/rules_private.h"

static int open_worker(struct ny_greedy_worker *worker, const struct ny_columns_spec *spec)
{
    int err = ny_front_new(&worker->front, spec, NY_UNIT_ROWS);

    if (!err) err = ny_exact_new(&worker->exact, spec->ctx, NY_DICTIONARY_PANEL);
    if (!err) err = ny_columns_workspace_new(&worker->workspace, spec, NY_FRONT_STRIP);
    return err;
}

int ny_greedy_open(struct ny_greedy *greedy, const struct ny_selection_request *request, uint64_t n)
{
    const struct ny_columns_spec *spec = request->spec;
    struct ny_dictionary_options options = request->greedy.dictionary;
    struct ny_context *ctx = request->ctx;
    bool searches = ny_greedy_searches(request);
    int err;

    *greedy = (struct ny_greedy){.ctx = ctx,
                                 .request = request,
                                 .tolerance = request->greedy.dictionary.tolerance,
                                 .landmarks_max = request->landmarks,
                                 .n = n,
                                 .room = n,
                                 .workers = ny_selection_workers(request)};
    if (!searches && (!(greedy->tolerance > 0) || !isfinite(greedy->tolerance)))
        return ny_fail(ctx, NY_EUSAGE, "--tolerance %g: the greedy selection needs one above 0",
                       greedy->tolerance);
    if (!greedy->landmarks_max)
        return ny_fail(ctx, NY_EUSAGE, "--landmarks 0: at least one is needed");
    if (searches) options.tolerance = 0; /* no part of its identity */
    err = ny_dictionary_new(&greedy->dictionary, spec, &options);
    if (err) return err;
    greedy->residuals = ny_calloc(ctx, NY_MEM_DICTIONARY, n, sizeof(*greedy->residuals));
    if (searches) greedy->kept = ny_calloc(ctx, NY_MEM_DICTIONARY, n, sizeof(*greedy->kept));
    greedy->worker = ny_calloc(ctx, NY_MEM_TILES, greedy->workers, sizeof(*greedy->worker));
    if (!greedy->residuals || (searches && !greedy->kept) || !greedy->worker) return NY_EBUDGET;
    for (uint64_t i = 0; i < n; i++)
        greedy->residuals[i] = INFINITY;
    for (unsigned w = 0; !err && w < greedy->workers; w++)
        err = open_worker(&greedy->worker[w], spec);
    return err;
}

void ny_greedy_close(struct ny_greedy *greedy)
{
    for (unsigned w = 0; greedy->worker && w < greedy->workers; w++) {
        ny_front_free(&greedy->worker[w].front);
        ny_exact_free(&greedy->worker[w].exact, greedy->ctx);
        ny_columns_workspace_free(greedy->worker[w].workspace);
    }
    ny_free(greedy->ctx, greedy->worker);
    ny_free(greedy->ctx, greedy->residuals);
    ny_free(greedy->ctx, greedy->kept);
    ny_greedy_drop_prefixes(greedy);
    ny_dictionary_free(greedy->dictionary);
}

int ny_greedy_begin(struct ny_greedy *greedy)
{
    int err = NY_OK;

    ny_greedy_drop_prefixes(greedy);
    for (uint64_t unit = 0; unit < NY_GREEDY_AHEAD && !err; unit++)
        err = ny_greedy_set_prefix(greedy, unit);
    return err;
}

int ny_greedy_run(struct ny_greedy *greedy, struct ny_source *source, uint64_t first_unit,
                  bool checkpoints)
{
    const struct ny_pass pass = {.ctx = greedy->ctx,
                                 .source = source,
                                 .stage = "select",
                                 .workers = greedy->workers,
                                 .first_unit = first_unit,
                                 .ahead_max = NY_GREEDY_AHEAD,
                                 .rows_total = greedy->n,
                                 .checkpoint_s = greedy->request->checkpoint.interval_s,
                                 .skip = ny_greedy_skip};
    const struct ny_pass_work work = {.unit = ny_greedy_unit,
                                      .fold = ny_greedy_fold,
                                      .checkpoint = checkpoints ? ny_greedy_checkpoint : NULL};

    ny_blas_serial();
    return ny_pass_run(&pass, &work, greedy);
}
