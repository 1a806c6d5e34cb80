/*
 * greedy: Algorithm 1 of Ouimet & Bengio (2005), which Algorithm 2 (greedy_search.c) runs several
 * times. A row joins the dictionary when its residual δ = k(x,x) − ‖L⁻¹k_D(x)‖² (eqs. 5 and 8; of
 * the translated kernel where Σa = 1) against the rows that joined before it is above ε. Blocked,
 * and still the dictionary of the sequential algorithm in f64: residuals only fall as the
 * dictionary grows, so what an older dictionary rejects stays rejected (greedy_unit.c, in parallel
 * and in f32 with a guard band), and the rest is decided in order and in f64 (greedy_fold.c).
 */
#include "select/greedy.h"

#include <math.h>

#include "select/rules_private.h"

/* Tells whether Algorithm 2 runs, which searches ε for a size: no tolerance is given. */
static bool searches_size(const struct ny_selection_request *request)
{
    return isnan(request->dictionary.tolerance);
}

static int open_worker(struct ny_greedy_worker *worker, const struct ny_columns_spec *spec)
{
    int err = ny_front_new(&worker->front, spec, NY_UNIT_ROWS);

    if (!err) err = ny_exact_new(&worker->exact, spec->ctx, NY_PANEL);
    if (!err) err = ny_columns_workspace_new(&worker->workspace, spec, NY_FRONT_STRIP);
    return err;
}

int ny_greedy_open(struct ny_greedy *greedy, const struct ny_selection_request *request, uint64_t n)
{
    const struct ny_columns_spec *spec = request->spec;
    struct ny_dictionary_options options = request->dictionary;
    struct ny_context *ctx = request->ctx;
    bool searches = searches_size(request);
    int err;

    *greedy = (struct ny_greedy){.ctx = ctx,
                                 .request = request,
                                 .tolerance = request->dictionary.tolerance,
                                 .landmarks_max = request->dictionary.landmarks_max,
                                 .n = n,
                                 .room = n,
                                 .workers = request->workers ? request->workers : 1};
    if (request->landmarks < greedy->landmarks_max) greedy->landmarks_max = request->landmarks;
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
                                 .checkpoint_s = greedy->request->checkpoint_s,
                                 .skip = ny_greedy_skip};
    const struct ny_pass_work work = {.unit = ny_greedy_unit,
                                      .fold = ny_greedy_fold,
                                      .checkpoint = checkpoints ? ny_greedy_checkpoint : NULL};

    ny_blas_serial();
    return ny_pass_run(&pass, &work, greedy);
}

static size_t bounds_bytes(const struct ny_selection_request *request)
{
    return (searches_size(request) ? 2 : 1) * request->n * sizeof(float);
}

size_t ny_greedy_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    unsigned workers = request->workers ? request->workers : 1;
    size_t bounds = bounds_bytes(request);
    size_t pilot = request->pilot ? ny_greedy_pilot_bytes(request, m) : 0;

    /* A pilot is over, but for its few bounds, when those of all rows are made. */
    return ny_dictionary_bytes(spec, m) + (bounds > pilot ? bounds : pilot) +
           NY_GREEDY_AHEAD * ny_columns_bytes(spec, NY_PANEL) +
           workers * (ny_front_bytes(spec, NY_UNIT_ROWS, m) + ny_exact_bytes(spec, NY_PANEL, m) +
                      ny_early_bytes(m) + ny_columns_workspace_bytes(spec, NY_FRONT_STRIP));
}

size_t ny_greedy_image_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    size_t row_bytes = ny_raw_bytes(spec), heads = 1024;

    return heads + bounds_bytes(request) +
           m * (sizeof(uint64_t) + sizeof(double) + row_bytes) + m * (m + 1) / 2 * sizeof(double);
}

/* The budget ended the selection: how far it came, and what the whole would need. */
static int out_of_memory(const struct ny_greedy *greedy)
{
    size_t m = ny_dictionary_count(greedy->dictionary), last, expected;
    uint64_t seen;

    if (!m)
        return ny_fail(greedy->ctx, NY_EBUDGET,
                       "the greedy selection does not fit the memory budget; raise --memory");
    last = greedy->dictionary->rows[m - 1];
    seen = (last / NY_UNIT_ROWS + 1) * NY_UNIT_ROWS;
    expected = ny_greedy_extrapolate(greedy->dictionary->rows, m, seen, greedy->n);
    if (expected > greedy->landmarks_max) expected = greedy->landmarks_max;
    return ny_fail(greedy->ctx, NY_EBUDGET,
                   "the memory budget of %zu MiB ended the greedy selection at %zu landmarks after "
                   "about %llu of %llu rows; all of it needs about %zu MiB for some %zu: raise "
                   "--memory or --tolerance, or set a cap with --landmarks",
                   ny_memory_limit(greedy->ctx) >> 20, m, (unsigned long long)seen,
                   (unsigned long long)greedy->n, ny_greedy_bytes(greedy->request, expected) >> 20,
                   expected);
}

static int leave(struct ny_greedy *greedy, struct ny_selection *selection)
{
    size_t m = ny_dictionary_count(greedy->dictionary);
    int err;

    if (!m)
        return ny_fail(greedy->ctx, NY_EDATA,
                       "all %llu rows have k(x,x) = 0: there is nothing to select from",
                       (unsigned long long)greedy->n);
    err = ny_selection_rows(selection, greedy->ctx, m);
    if (err) return err;
    for (size_t i = 0; i < m; i++)
        selection->rows[i] = greedy->dictionary->rows[i];
    ny_selection_residuals(selection, greedy->residuals, greedy->n);
    greedy->residuals = NULL;
    selection->tolerance = greedy->tolerance;
    selection->flops = greedy->flops;
    selection->rows_read = greedy->rows_read;
    selection->passes = greedy->kept ? (unsigned)greedy->search.runs : 1;
    if (greedy->request->certify) selection->passes++;
    selection->pilot_low = greedy->kept ? greedy->search.pilot_low : NAN;
    selection->pilot_high = greedy->kept ? greedy->search.pilot_high : NAN;
    return NY_OK;
}

/* One more pass, in which nothing joins and no row leaves early: δ in f64 on the final dictionary.
 */
static int certify(struct ny_greedy *greedy, struct ny_source *source)
{
    double tolerance = greedy->tolerance;
    int err;

    greedy->tolerance = -INFINITY;
    greedy->stops = false;
    greedy->decided = 0;
    greedy->landmarks_max = ny_dictionary_count(greedy->dictionary);
    err = ny_greedy_begin(greedy);
    if (!err) err = ny_greedy_run(greedy, source, 0, false);
    greedy->tolerance = tolerance;
    return err;
}

/* Continues an earlier selection, or starts at the first row if its dictionary cannot be remade. */
static int take_up(struct ny_greedy *greedy, const struct ny_selection_request *request,
                   uint64_t *first_unit)
{
    bool done;
    int err = ny_greedy_take_up(greedy, first_unit, &done);

    if (err || done) return err;
    ny_greedy_close(greedy);
    *first_unit = 0;
    return ny_greedy_open(greedy, request, request->n);
}

int ny_greedy_select_from(const struct ny_selection_request *request, struct ny_source *source,
                          struct ny_selection *selection)
{
    struct ny_greedy greedy;
    uint64_t first_unit = 0;
    int err;

    ny_selection_clear(selection);
    err = ny_greedy_open(&greedy, request, request->n);
    if (!err && request->image) err = ny_greedy_restore(&greedy, &first_unit);
    if (!err && !request->image && request->earlier) err = take_up(&greedy, request, &first_unit);
    if (err) goto done;
    if (request->earlier) greedy.decided = request->earlier->n;
    if (request->image_owner) {
        ny_free(request->ctx, *request->image_owner);
        *request->image_owner = NULL;
    }
    if (searches_size(request))
        err = ny_greedy_search(&greedy, source, first_unit);
    else if (request->follower)
        err = ny_greedy_run_followed(&greedy, first_unit);
    else
        err = ny_greedy_run(&greedy, source, first_unit, request->checkpoint != NULL);
    if (err == NY_EBUDGET) {
        ny_error_clear(greedy.ctx);
        err = out_of_memory(&greedy);
    }
    if (!err && request->certify && ny_dictionary_count(greedy.dictionary))
        err = certify(&greedy, source);
    if (!err) err = leave(&greedy, selection);
done:
    ny_greedy_close(&greedy);
    return err;
}

static int select_rows(const struct ny_selection_request *request,
                       struct ny_selection *selection)
{
    struct ny_selection_request piloted = *request;
    struct ny_source *source;
    unsigned workers = request->workers ? request->workers : 1;
    int err = NY_OK;

    ny_selection_clear(selection);
    if (searches_size(request) && request->pilot && !request->image)
        err = ny_greedy_pilot(request, &piloted.tolerance_low, &piloted.tolerance_high);
    if (err) return err;
    err = ny_source_of_points(&source, request->store, request->n, request->spec->slots, workers);
    if (err) return err;
    err = ny_greedy_select_from(&piloted, source, selection);
    ny_source_free(source);
    return err;
}

const struct ny_rule ny_rule_greedy = {
    .name = "greedy",
    .summary = "in row order, each row that the chosen ones represent worse than the tolerance "
               "(online; bounds every entry of K); or as many landmarks as asked for",
    .options = "landmarks|online",
    .by_tolerance = true,
    .measures = true,
    .select = select_rows,
    .bytes = ny_greedy_bytes,
    .image_bytes = ny_greedy_image_bytes,
};
