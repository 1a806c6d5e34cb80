/*
 * The rule greedy: decides which runs of Algorithm 1 there are, and makes the selection of what
 * they leave. With a tolerance it is one run (greedy.c), which may be followed (greedy_online.c),
 * or may go on from an earlier selection (greedy_extend.c); with a number of landmarks it is a
 * search of the tolerance (greedy_search.c), whose first bracket comes from a pilot
 * (greedy_estimate.c). Where a certificate is asked for, one more run measures all rows.
 */
#include "select/greedy.h"

#include <math.h>

#include "base/peers.h"
#include "select/rules_private.h"

void ny_greedy_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    struct ny_greedy greedy = {.workers = ny_selection_workers(request)};
    size_t pilot = request->greedy.pilot ? ny_greedy_pilot_rows(request, m) : 0;
    struct ny_layout_mark mark;

    ny_greedy_lay(l, &greedy, spec);
    ny_dictionary_count(l, spec, m);
    for (int i = 0; i < NY_GREEDY_AHEAD; i++) /* tails of prefixes */
        ny_columns_count(l, spec, NY_DICTIONARY_PANEL);
    for (unsigned w = 0; w < greedy.workers; w++) {
        ny_front_count(l, spec, NY_UNIT_ROWS);
        ny_front_later_count(l, spec, NY_UNIT_ROWS, NY_DICTIONARY_PANEL, m);
        ny_early_count(l, m);
    }
    /* A pilot, with the numbers of its rows, is over when the bounds of all rows are made. */
    mark = ny_layout_mark(l);
    ny_layout_add(l, NY_MEM_TILES, ny_kept_bytes(spec, pilot));
    ny_lay(l, NY_MEM_DICTIONARY, pilot, 3 * sizeof(uint64_t));
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_DICTIONARY, ny_greedy_bounds(request), sizeof(float));
}

/* The budget ended the selection: how far it came, and what the whole would need. */
static int out_of_memory(const struct ny_greedy *greedy)
{
    size_t m = ny_dictionary_size(greedy->dictionary), last, expected;
    struct ny_layout counted = {0};
    uint64_t seen;

    if (!m)
        return ny_fail(greedy->ctx, NY_EBUDGET,
                       "the greedy selection does not fit the memory budget; raise --memory");
    last = greedy->dictionary->rows[m - 1];
    seen = (last / NY_UNIT_ROWS + 1) * NY_UNIT_ROWS;
    expected = ny_greedy_extrapolate(greedy->dictionary->rows, m, seen, greedy->n);
    if (expected > greedy->request->landmarks) expected = greedy->request->landmarks;
    ny_greedy_count(&counted, greedy->request, expected);
    return ny_fail(greedy->ctx, NY_EBUDGET,
                   "the memory budget of %zu MiB ended the greedy selection at %zu landmarks after "
                   "about %llu of %llu rows; all rows need about %zu MiB for about %zu landmarks: "
                   "raise --memory or --tolerance, or set a cap with --landmarks",
                   ny_memory_limit(greedy->ctx) >> 20, m, (unsigned long long)seen,
                   (unsigned long long)greedy->n, ny_layout_most(&counted) >> 20, expected);
}

/* Hands over the landmarks, the bounds, and what the runs took. */
static int fill_selection(struct ny_greedy *greedy, struct ny_selection *selection)
{
    const struct ny_selection_request *request = greedy->request;
    const struct ny_greedy_search *search = ny_greedy_searches(request) ? &greedy->search : NULL;
    size_t m = ny_dictionary_size(greedy->dictionary);
    int err;

    if (!m) return ny_selection_zero(greedy->ctx);
    err = ny_selection_rows(selection, greedy->ctx, m);
    if (err) return err;
    for (size_t i = 0; i < m; i++)
        selection->rows[i] = greedy->dictionary->rows[i];
    ny_selection_residuals(selection, greedy->residuals, greedy->n);
    greedy->residuals = NULL;
    selection->tolerance = search ? search->high : request->greedy.dictionary.tolerance;
    selection->flops = greedy->flops;
    selection->rows_read = greedy->rows_read;
    selection->passes = (search ? (unsigned)search->runs : 1) + request->certify;
    if (search) selection->pilot_low = search->pilot_low;
    if (search) selection->pilot_high = search->pilot_high;
    return NY_OK;
}

/* One more pass, in which nothing joins and no row leaves early: δ in f64 on the final dictionary.
 */
static int certify(struct ny_greedy *greedy, struct ny_source *source)
{
    const struct ny_greedy_limits limits = {-INFINITY, ny_dictionary_size(greedy->dictionary),
                                            false};
    int err;

    greedy->decided = 0;
    err = ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);
    return err ? err : ny_greedy_run(greedy, &limits, source, 0, false);
}

int ny_greedy_select_from(const struct ny_selection_request *request,
                          const struct ny_greedy_bracket *pilot, struct ny_source *source,
                          struct ny_selection *selection)
{
    const struct ny_greedy_limits limits = ny_greedy_limits_of(request);
    struct ny_greedy greedy;
    uint64_t first_unit = 0;
    int err;

    ny_selection_clear(selection);
    err = ny_greedy_open(&greedy, request, request->n);
    if (!err) err = ny_greedy_resume(&greedy, &first_unit);
    if (!err && !greedy.resumed && request->greedy.earlier)
        err = ny_greedy_take_up(&greedy, &first_unit);
    if (err) goto done;
    ny_selection_drop_image(request);
    if (ny_greedy_searches(request))
        err = ny_greedy_search(&greedy, pilot, source, first_unit);
    else if (request->greedy.follower)
        err = ny_greedy_run_followed(&greedy, first_unit);
    else
        err = ny_greedy_run_all(&greedy, &limits, source, first_unit,
                                request->checkpoint.save != NULL);
    if (err == NY_EBUDGET) {
        ny_error_clear(greedy.ctx);
        err = out_of_memory(&greedy);
    }
    if (!err && request->certify && ny_dictionary_size(greedy.dictionary))
        err = certify(&greedy, source);
    if (!err) err = ny_greedy_complete(&greedy, source);
    if (!err) err = fill_selection(&greedy, selection);
done:
    ny_greedy_close(&greedy);
    return err;
}

static int select_rows(const struct ny_selection_request *request, struct ny_selection *selection)
{
    struct ny_greedy_bracket pilot = {NAN, NAN};
    struct ny_source *source;
    unsigned workers = ny_selection_workers(request);
    uint64_t anew = !request->checkpoint.image;
    int err = ny_peers_least(ny_context_peers(request->ctx), &anew);

    ny_selection_clear(selection);
    if (!err && ny_greedy_searches(request) && request->greedy.pilot && anew)
        err = ny_greedy_pilot(request, &pilot);
    if (err) return err;
    err = ny_rows_source(request->X, request->n, request->spec->slots, workers, &source);
    if (err) return err;
    err = ny_greedy_select_from(request, &pilot, source, selection);
    ny_source_free(source);
    return err;
}

const struct ny_rule ny_rule_greedy = {
    .name = "greedy",
    .summary = "bounds the error of every entry of K",
    .options = "landmarks|online|tolerance|pilot",
    .by_tolerance = true,
    .measures = true,
    .select = select_rows,
    .count = ny_greedy_count,
    .image_bytes = ny_greedy_image_bytes,
};
