/*
 * greedy: Algorithm 1 of Ouimet & Bengio (2005), which Algorithm 2 (greedy_search.c) runs several
 * times. A row joins the dictionary when its residual δ = k(x,x) − ‖L⁻¹k_D(x)‖² (eqs. 5 and 8; of
 * the translated kernel where Σa = 1) against the rows that joined before it is above ε. Blocked,
 * and still the dictionary of the sequential algorithm in f64: residuals only fall as the
 * dictionary grows, so what an older dictionary rejects stays rejected (greedy_unit.c, in parallel
 * and in f32 with a guard band), and the rest is decided in order and in f64 (greedy_fold.c). The
 * rule here decides which runs there are (greedy_run.c), and makes the selection of the last one.
 */
#include "select/greedy.h"

#include <math.h>

#include "select/rules_private.h"

static size_t bounds_bytes(const struct ny_selection_request *request)
{
    return (ny_greedy_searches(request) ? 2 : 1) * request->n * sizeof(float);
}

size_t ny_greedy_bytes(const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    unsigned workers = ny_selection_workers(request);
    size_t bounds = bounds_bytes(request);
    size_t pilot = request->greedy.pilot ? ny_greedy_pilot_bytes(request, m) : 0;

    /* A pilot is over, but for its few bounds, when those of all rows are made. */
    return ny_dictionary_bytes(spec, m) + (bounds > pilot ? bounds : pilot) +
           NY_GREEDY_AHEAD * ny_columns_bytes(spec, NY_DICTIONARY_PANEL) +
           workers * (ny_front_bytes(spec, NY_UNIT_ROWS, m) +
                      ny_exact_bytes(spec, NY_DICTIONARY_PANEL, m) + ny_early_bytes(m) +
                      ny_columns_workspace_bytes(spec, NY_FRONT_STRIP));
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

int ny_greedy_select_from(const struct ny_selection_request *request,
                          const struct ny_greedy_bracket *pilot, struct ny_source *source,
                          struct ny_selection *selection)
{
    struct ny_greedy greedy;
    uint64_t first_unit = 0;
    int err;

    ny_selection_clear(selection);
    err = ny_greedy_open(&greedy, request, request->n);
    if (!err && request->checkpoint.image) err = ny_greedy_restore(&greedy, &first_unit);
    if (!err && !request->checkpoint.image && request->greedy.earlier)
        err = take_up(&greedy, request, &first_unit);
    if (err) goto done;
    if (request->greedy.earlier) greedy.decided = request->greedy.earlier->n;
    ny_selection_drop_image(request);
    if (ny_greedy_searches(request))
        err = ny_greedy_search(&greedy, pilot, source, first_unit);
    else if (request->greedy.follower)
        err = ny_greedy_run_followed(&greedy, first_unit);
    else
        err = ny_greedy_run(&greedy, source, first_unit, request->checkpoint.save != NULL);
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
    struct ny_greedy_bracket pilot = {NAN, NAN};
    struct ny_source *source;
    unsigned workers = ny_selection_workers(request);
    int err = NY_OK;

    ny_selection_clear(selection);
    if (ny_greedy_searches(request) && request->greedy.pilot && !request->checkpoint.image)
        err = ny_greedy_pilot(request, &pilot);
    if (err) return err;
    err = ny_source_of_points(&source, request->store, request->n, request->spec->slots, workers);
    if (err) return err;
    err = ny_greedy_select_from(request, &pilot, source, selection);
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
