/*
 * rpcholesky: randomly pivoted Cholesky (Chen, Epperly, Tropp & Webber 2023). Each next landmark is
 * drawn with probability ∝ its residual δ(x) = k(x,x) − ‖L⁻¹k_D(x)‖² against those before, so that
 * the plain algorithm needs the residuals of all rows after every landmark.
 *
 * Accelerated by rejection (Epperly, Tropp & Webber, "Embrace rejection", 2024): candidates are
 * drawn ∝ stored upper bounds u of δ, k(x,x) at first, and accepted with probability δ/u; whatever
 * the bounds are, those accepted have the distribution above. So only candidates are looked at, in
 * blocks, each until its δ is too small. Bounds are renewed by a pass over the rows when less than
 * 2 % of the candidates are accepted and those still to come would cost more than the pass: a row
 * of a pass costs about m², which grows, so that early passes are cheap, and every landmark that a
 * pass can wait makes a later pass unnecessary (rpcholesky_pace.c).
 *
 * Numbers are f64 where residuals are below 1e-4 of k(x,x), which is why f64 has an exponential
 * of its own (columns/pointwise_variant.c), two ulps of error and 1 ns a value with AVX-512, 2 ns
 * with AVX2.
 *
 * It is the default with `projected` and `ensemble`. On 60,000 MNIST digits its trace error is that
 * of uniform landmarks to 0.1 % (m = 1,000, mean of 10 seeds); on skin colours it is 3,900 times
 * lower (m = 300), on KDD 99, standardised, 50 times lower (m = 1,000; 10 times with 300).
 * k-means++ (D² sampling of the points) is left out: on 8,000 rows and m = 300 its trace error is
 * 1,500 times (skin) and 4 times (KDD 99) that of rpcholesky, and no better on MNIST.
 */
#include "select/rpcholesky.h"

#include <math.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread.h"
#include "base/peers.h"
#include "select/rules_private.h"
#include "stream/rows.h"

/* Sums are noted after so many rows each, in the first units: with more of them a draw is a small
 * part of the work, and the marks would grow with n. */
enum { MARK_ROWS = 32, MARKS = NY_UNIT_ROWS / MARK_ROWS, MARKED_UNITS = 16 };

static size_t marked_units(uint64_t n)
{
    uint64_t units = ny_units_of(n);

    return units < MARKED_UNITS ? (size_t)units : MARKED_UNITS;
}

/* Rows that are looked at together: a unit, or where they are wide a strip, which is enough for a
 * product. It decides what is held, not what is selected. */
static size_t front_rows(const struct ny_columns_spec *spec)
{
    const size_t wide = 16384;
    size_t rows = ny_raw_bytes(spec) > wide ? NY_STRIP_ROWS : NY_UNIT_ROWS;

    return spec->rows && spec->rows < rows ? spec->rows : rows;
}

/* Lays out what does not grow. */
static void lay(struct ny_layout *l, struct ny_rpcholesky *rp, const struct ny_columns_spec *spec)
{
    rp->sums = ny_lay(l, NY_MEM_DICTIONARY, ny_units_of(rp->n) + 1, sizeof(*rp->sums));
    rp->marks = ny_lay(l, NY_MEM_DICTIONARY, marked_units(rp->n), MARKS * sizeof(*rp->marks));
    rp->worker = ny_lay(l, NY_MEM_TILES, rp->workers, sizeof(*rp->worker));
    for (unsigned w = 0; w < rp->workers; w++) {
        struct ny_pivot_worker spare, *worker = rp->worker ? &rp->worker[w] : &spare;

        worker->workspace = ny_columns_workspace_lay(l, spec, NY_FRONT_STRIP);
        worker->again = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(*worker->again));
        worker->bounds = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(*worker->bounds));
    }
}

int ny_pivot_open(struct ny_rpcholesky *rp, const struct ny_selection_request *request)
{
    const struct ny_dictionary_options options = {.affine = false};
    struct ny_context *ctx = request->ctx;
    int err;

    rp->ctx = ctx;
    rp->request = request;
    rp->n = request->n;
    rp->here = request->here.end ? request->here : (struct ny_row_range){0, rp->n};
    rp->m = request->landmarks < request->n ? request->landmarks : (size_t)request->n;
    rp->now = (struct ny_pivot_progress){.measuring = true, .least_share = 1};
    rp->saved_s = ny_now();
    rp->workers = ny_selection_workers(request);
    if (!rp->m) return ny_selection_none(ctx);
    err = ny_dictionary_new(&rp->dictionary, request->spec, &options);
    if (err) return err;
    rp->bounds = ny_calloc(ctx, NY_MEM_DICTIONARY, rp->n, sizeof(*rp->bounds));
    rp->own.ctx = ctx;
    lay(&rp->own, rp, request->spec);
    if (!rp->bounds || rp->own.err) return NY_EBUDGET;
    for (unsigned w = 0; !err && w < rp->workers; w++)
        err = ny_front_new(&rp->worker[w].front, &rp->worker[w].exact, request->spec,
                           front_rows(request->spec), NY_PIVOT_STEP);
    return err;
}

void ny_pivot_close(struct ny_rpcholesky *rp)
{
    for (unsigned w = 0; rp->worker && w < rp->workers; w++)
        ny_front_free(&rp->worker[w].front, &rp->worker[w].exact);
    ny_layout_free(&rp->own);
    ny_free(rp->ctx, rp->bounds);
    ny_dictionary_free(rp->dictionary);
}

void ny_pivot_open_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    struct ny_rpcholesky rp = {.n = request->n, .workers = ny_selection_workers(request)};

    lay(l, &rp, spec);
    ny_lay(l, NY_MEM_DICTIONARY, 1, sizeof(rp));
    ny_lay(l, NY_MEM_DICTIONARY, rp.n, sizeof(*rp.bounds));
    ny_dictionary_count(l, spec, m);
    for (unsigned w = 0; w < rp.workers; w++)
        ny_front_count(l, spec, front_rows(spec));
}

void ny_pivot_count(struct ny_layout *l, const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;

    ny_pivot_open_count(l, request, m);
    for (unsigned w = 0; w < ny_selection_workers(request); w++)
        ny_front_later_count(l, spec, front_rows(spec), NY_PIVOT_STEP, m);
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* Adds the unit's bounds in f64 and in row order; a draw finds its row by the same additions. */
static double unit_sum(struct ny_rpcholesky *rp, uint64_t unit)
{
    uint64_t row = unit * NY_UNIT_ROWS;
    double sum = 0;

    for (uint64_t mark = unit * MARKS; mark < (unit + 1) * MARKS; mark++) {
        for (; row < rp->n && row < (mark + 1) * MARK_ROWS; row++)
            sum += (double)rp->bounds[row];
        if (unit < MARKED_UNITS) rp->marks[mark] = sum;
    }
    return sum;
}

/* Adds up the bounds of all units; a draw then finds its unit by bisection. Returns the sum of all
 * bounds. */
static double add_up(struct ny_rpcholesky *rp)
{
    uint64_t units = ny_units_of(rp->n);

    for (uint64_t unit = 0; unit < units; unit++)
        rp->sums[unit + 1] = rp->sums[unit] + unit_sum(rp, unit);
    return rp->sums[units];
}

/* The unit's row where its sums exceed the target; by rounding none may, then the last one that
 * counts. */
static uint64_t draw_of_unit(const struct ny_rpcholesky *rp, uint64_t unit, double target)
{
    uint64_t mark = unit * MARKS, end = mark + MARKS, row, chosen;
    double sum = 0;

    while (unit < MARKED_UNITS && mark < end && rp->marks[mark] <= target)
        mark++;
    if (mark == end) mark = unit * MARKS;
    if (mark > unit * MARKS) sum = rp->marks[mark - 1];
    chosen = mark * MARK_ROWS;
    for (row = chosen; row < rp->n && row < end * MARK_ROWS; row++) {
        if (!(rp->bounds[row] > 0)) continue;
        chosen = row;
        sum += (double)rp->bounds[row];
        if (sum > target) break;
    }
    return chosen;
}

/* A row with probability ∝ its bound, from a number uniform in (0,1). */
static uint64_t draw(const struct ny_rpcholesky *rp, double uniform)
{
    uint64_t low = 0, high = ny_units_of(rp->n);
    double target = uniform * rp->sums[high];

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (rp->sums[middle] > target)
            high = middle;
        else
            low = middle;
    }
    return draw_of_unit(rp, low, target - rp->sums[low]);
}

/* Chooses how many candidates to look at next, up to the window's end: about as many as the missing
 * landmarks will take. This decides what is read at once, not what is selected. */
static size_t next_candidates(const struct ny_rpcholesky *rp)
{
    size_t room = rp->worker[0].front.rows_max, left = NY_PIVOT_WINDOW - (size_t)rp->now.judged;
    size_t missing = rp->m - ny_dictionary_size(rp->dictionary);
    double rate = ((double)rp->now.accepted + 1) / ((double)rp->now.judged + 2);
    double wanted = 1.25 * (double)missing / rate;
    size_t blocks = (size_t)(wanted / NY_FRONT_BLOCK) + 1;

    if (left > room) left = room;
    return wanted < (double)left && blocks * NY_FRONT_BLOCK < left ? blocks * NY_FRONT_BLOCK : left;
}

/* ---- accepting ------------------------------------------------------------------------------ */

/* The number, among all draws, of the window's candidate `at`. */
static uint64_t draw_number(const struct ny_rpcholesky *rp, uint64_t at)
{
    return rp->now.drawn - rp->now.judged + at;
}

/* The window's candidates up to `end` are judged. */
static void judged_to(struct ny_rpcholesky *rp, uint64_t end)
{
    rp->now.drawn = draw_number(rp, end);
    rp->now.judged = end;
}

/* Tells whether a positive semi-definite kernel may have this δ. */
static bool is_residual(double delta, double k)
{
    return delta >= -NY_NOT_PSD * fabs(k) && isfinite(delta);
}

/* Notes the δ of row i of the block as its bound, and tells whether a candidate with that δ may be
 * accepted. `columns` were taken off δ. */
static int weigh(struct ny_rpcholesky *rp, const struct ny_front *block, size_t i, double delta,
                 size_t columns, bool *accepted)
{
    uint64_t at = block->index[i], row = rp->window_row[at];
    double uniform = ny_hash01(rp->request->seed, NY_STREAM_REJECTION, 2 * draw_number(rp, at) + 1);
    double threshold = uniform * (double)rp->bounds[row], k = block->k[i];
    double slack = ny_front_slack(block, i, columns);

    if (!is_residual(delta, k)) return ny_selection_not_psd(rp->request, row, delta, k);
    if (delta <= ny_pivot_zero(rp)) delta = slack = 0;
    rp->window_bound[at] = ny_delta_bound(delta + slack);
    *accepted = threshold < delta;
    return NY_OK;
}

/* δ only falls with more columns: candidates leave the block as soon as it is too small. */
static int leave_rejected(struct ny_rpcholesky *rp, struct ny_exact *exact, struct ny_front *block,
                          size_t done)
{
    size_t kept = 0;

    for (size_t i = 0; i < block->count; i++) {
        bool accepted = false;
        int err = weigh(rp, block, i, exact->delta[i], done, &accepted);

        if (err) return err;
        if (!accepted) continue;
        ny_exact_move(exact, kept, i, done);
        ny_front_move(block, kept++, i);
    }
    block->count = kept;
    return NY_OK;
}

/* Decides in order, each candidate against the S that those accepted before it left. Accepted ones
 * are moved to the block's begin, from where their columns are added. */
static int decide(struct ny_rpcholesky *rp, struct ny_exact *exact, struct ny_front *block)
{
    struct ny_dictionary *dictionary = rp->dictionary;
    size_t count = block->count, taken = 0;

    for (size_t i = 0; i < count && ny_dictionary_size(dictionary) < rp->m; i++) {
        uint64_t at = block->index[i], row = rp->window_row[at];
        double delta = exact->S[i * count + i], share = delta / block->k[i];
        bool accepted = false;
        int err = weigh(rp, block, i, delta, dictionary->rank, &accepted);

        if (!err && accepted) err = ny_exact_join(exact, block, dictionary, row, i, taken);
        if (err) return err;
        judged_to(rp, at + 1);
        if (!accepted) continue;
        if (share < rp->now.least_share) rp->now.least_share = share;
        rp->window_bound[at] = 0;
        rp->now.accepted++;
        ny_front_move(block, taken++, i);
    }
    return ny_dictionary_extend(dictionary, ny_front_rows(block), taken, NULL);
}

/* Takes the block of a worker through whole steps of the columns that are there, without the
 * others: what the block says depends on no block before it but for the columns those add. Stops
 * before it would fail, for which the block's turn has to come. */
static int look_ahead(void *arg, unsigned index)
{
    struct ny_rpcholesky *rp = arg;
    struct ny_pivot_worker *worker = &rp->worker[index];
    struct ny_front *block = &worker->block;
    size_t end = rp->dictionary->rank / NY_PIVOT_STEP * NY_PIVOT_STEP;
    int err = ny_front_begin(block, rp->dictionary);

    worker->exact.flops = 0;
    if (!err) err = ny_exact_begin(&worker->exact, block, rp->dictionary, rp->m);
    for (worker->done = 0; !err && block->count && worker->done < end;) {
        err = ny_pivot_step(rp, &worker->exact, block, worker->done, &worker->done);
        for (size_t i = 0; !err && i < block->count; i++)
            if (!is_residual(worker->exact.delta[i], block->k[i])) return NY_OK;
        if (!err) err = leave_rejected(rp, &worker->exact, block, worker->done);
    }
    return err;
}

/* Decides the block of a worker, of so many candidates, in its turn: most leave during the
 * substitution, and the rest meet each other in the Schur complement. */
static int decide_block(struct ny_rpcholesky *rp, struct ny_pivot_worker *worker, size_t candidates)
{
    struct ny_front *block = &worker->block;
    struct ny_exact *exact = &worker->exact;
    size_t rank = rp->dictionary->rank;
    uint64_t end = rp->now.judged + candidates;
    int err = worker->done ? leave_rejected(rp, exact, block, worker->done) : NY_OK;

    while (!err && block->count && worker->done < rank) {
        err = ny_pivot_step(rp, exact, block, worker->done, &worker->done);
        if (!err) err = leave_rejected(rp, exact, block, worker->done);
    }
    if (!err && block->count) err = ny_exact_schur(exact, block, rp->dictionary, rank);
    if (!err) err = decide(rp, exact, block);
    if (!err && ny_dictionary_size(rp->dictionary) < rp->m) judged_to(rp, end);
    rp->now.flops += exact->flops;
    return err;
}

/* Checks for interrupts and saves between two blocks, as a pass does between two units. */
static int rest(struct ny_rpcholesky *rp)
{
    int interrupted = ny_check_interrupt(rp->ctx), err = NY_OK;

    if (rp->request->checkpoint.save &&
        (interrupted || ny_now() - rp->saved_s >= ny_context_checkpoint_s(rp->ctx)))
        err = ny_pivot_checkpoint(rp, 0);
    return err ? err : interrupted;
}

/* Decides the candidates from `at` on, of `count` that were read: one block; or, where there are
 * columns enough, one for each worker, which all look ahead and are then decided one by one. */
static int decide_blocks(struct ny_rpcholesky *rp, size_t *at, size_t count)
{
    const size_t alone = 2 * NY_FRONT_BLOCK; /* fewer columns are not worth a thread */
    unsigned workers = rp->dictionary->rank < alone ? 1 : rp->workers, blocks = 0;
    size_t first = *at, taken;
    int err;

    for (; blocks < workers && *at < count; blocks++, *at += taken) {
        taken = count - *at < NY_FRONT_BLOCK ? count - *at : NY_FRONT_BLOCK;
        rp->worker[blocks].block = ny_front_view(&rp->worker[0].front, *at, taken);
    }
    err = ny_parallel(rp->ctx, blocks, look_ahead, rp);
    for (unsigned i = 0; !err && i < blocks && ny_dictionary_size(rp->dictionary) < rp->m; i++) {
        taken = *at - first < NY_FRONT_BLOCK ? *at - first : NY_FRONT_BLOCK;
        err = decide_block(rp, &rp->worker[i], taken);
        if (!err) err = rest(rp);
        first += taken;
    }
    return err;
}

/* The next candidates of the window: drawn, read in the order of the store, decided in the order
 * they were drawn in. */
static int look_at(struct ny_rpcholesky *rp, size_t count)
{
    struct ny_front *front = &rp->worker[0].front;
    size_t first = (size_t)rp->now.judged;
    int err;

    for (size_t i = 0; i < count; i++) {
        rp->window_row[first + i] =
            draw(rp, ny_hash01(rp->request->seed, NY_STREAM_REJECTION, 2 * (rp->now.drawn + i)));
        front->index[i] = (uint32_t)(first + i);
    }
    err = ny_front_gather(front, rp->request->X, rp->window_row + first, count);
    count = front->count;
    if (!err)
        err = ny_columns_diagonal(rp->dictionary->none, ny_front_rows(front), count, front->k);
    for (size_t at = 0; !err && at < count && ny_dictionary_size(rp->dictionary) < rp->m;)
        err = decide_blocks(rp, &at, count);
    return err;
}

/* The bounds of the window's candidates fall to what was seen of them. */
static void lower_bounds(struct ny_rpcholesky *rp)
{
    for (size_t i = 0; i < rp->now.judged; i++)
        if (rp->window_bound[i] < rp->bounds[rp->window_row[i]])
            rp->bounds[rp->window_row[i]] = rp->window_bound[i];
}

/* Asks ny_pivot_pass_due() about the selection as it is. */
static bool is_pass_due(const struct ny_rpcholesky *rp)
{
    const struct ny_pivot_pace pace = {.n = (double)rp->n,
                                       .m = (double)rp->m,
                                       .d = ny_entry_products(rp->request->spec),
                                       .count = (double)ny_dictionary_size(rp->dictionary),
                                       .measured_at = (double)rp->now.measured_at,
                                       .share = rp->now.share};

    return ny_pivot_pass_due(&pace);
}

/* When few were accepted, the bounds of most rows are too far above, and a pass may renew them.
 * If rows keep bounds up to the mean of δ, which the accepted share tells, every other candidate is
 * accepted afterwards. */
static void end_window(struct ny_rpcholesky *rp)
{
    bool few = rp->now.accepted < NY_PIVOT_ACCEPTED_LEAST;
    double share = (double)rp->now.accepted / NY_PIVOT_WINDOW;

    /* After all rows were measured to the end, residuals that are never accepted are rounding. */
    rp->now.exhausted = rp->now.fresh && !rp->now.accepted && !(rp->now.enough > 0);
    rp->now.share = rp->now.fresh ? share : (rp->now.share + share) / 2;
    lower_bounds(rp);
    rp->now.measuring = !rp->now.exhausted && few && is_pass_due(rp);
    if (rp->now.measuring)
        rp->now.enough = rp->now.share * rp->sums[ny_units_of(rp->n)] / (double)rp->n;
    rp->now.judged = rp->now.accepted = rp->now.fresh = 0;
}

/* Looks at candidates until the window is judged or the landmarks are complete. Nothing is left to
 * draw from when all bounds are 0. */
static int draw_window(struct ny_rpcholesky *rp)
{
    double sum = add_up(rp);
    int err = NY_OK;

    if (!isfinite(sum))
        return ny_fail(rp->ctx, NY_ENUMERIC,
                       "the sum of all k(x,x) is too large for f32, in which --select rpcholesky "
                       "keeps residuals in any --precision; rescale the data (--scale standard), "
                       "or give --select uniform");
    if (!(sum > 0)) {
        rp->now.exhausted = true;
        return NY_OK;
    }
    while (!err && rp->now.judged < NY_PIVOT_WINDOW && ny_dictionary_size(rp->dictionary) < rp->m)
        err = look_at(rp, next_candidates(rp));
    if (!err && ny_dictionary_size(rp->dictionary) < rp->m) end_window(rp);
    return err;
}

/* ---- the rule ------------------------------------------------------------------------------- */

/* Alternates passes and windows until m landmarks are found or the rank of K is exhausted; then,
 * where a certificate is asked for, one more pass measures all residuals in f64. */
static int select_from(struct ny_rpcholesky *rp, struct ny_source *source, uint64_t first_unit)
{
    int err = NY_OK;

    while (!err) {
        if (rp->now.measuring) {
            err = ny_pivot_measure(rp, source, first_unit);
            first_unit = 0;
        } else if (ny_dictionary_size(rp->dictionary) < rp->m && !rp->now.exhausted) {
            err = draw_window(rp);
        } else if (rp->request->certify && !rp->now.certified &&
                   ny_dictionary_size(rp->dictionary)) {
            rp->now.measuring = rp->now.certified = true;
            rp->now.enough = -1;
        } else {
            break;
        }
    }
    return err;
}

/* Hands over the row numbers, and the bounds as residuals where they were measured at least twice:
 * after the first time they are k(x,x) but for a few rows. */
static int leave(struct ny_rpcholesky *rp, struct ny_selection *selection)
{
    size_t m = ny_dictionary_size(rp->dictionary);
    int err;

    if (!m && rp->now.largest > 0)
        return ny_fail(rp->ctx, NY_ENUMERIC,
                       "the largest k(x,x) is %.3g, too small for f32; rescale the data (--scale "
                       "standard)",
                       rp->now.largest);
    if (!m) return ny_selection_zero(rp->ctx);
    selection->complete = m < rp->m;
    err = ny_selection_rows(selection, rp->ctx, m);
    if (err) return err;
    for (size_t i = 0; i < m; i++)
        selection->rows[i] = ny_dictionary_rows(rp->dictionary)[i];
    selection->flops = rp->now.flops;
    selection->passes = (unsigned)rp->now.passes;
    selection->rows_read = rp->now.rows_read;
    if (rp->now.measured < 2) return NY_OK; /* bounds are k(x,x) but for a few rows */
    if (!rp->now.certified) lower_bounds(rp);
    ny_selection_residuals(selection, rp->bounds, rp->n);
    rp->bounds = NULL;
    return NY_OK;
}

static int select_rows(const struct ny_selection_request *request, struct ny_selection *selection)
{
    struct ny_rpcholesky *rp = ny_calloc(request->ctx, NY_MEM_DICTIONARY, 1, sizeof(*rp));
    struct ny_source *source = NULL;
    uint64_t first_unit = 0;
    int err = NY_EBUDGET;

    ny_selection_clear(selection);
    if (!rp) return NY_EBUDGET;
    err = ny_pivot_open(rp, request);
    if (!err) err = ny_pivot_take_up(rp, &first_unit);
    if (err) goto done;
    err = ny_rows_source(request->X, request->n, request->spec->slots, rp->workers, &source);
    if (err) goto done;
    ny_blas_serial();
    err = select_from(rp, source, first_unit);
    if (!err) err = leave(rp, selection);
done:
    ny_source_free(source);
    ny_pivot_close(rp);
    ny_free(request->ctx, rp);
    return err;
}

const struct ny_rule ny_rule_rpcholesky = {
    .name = "rpcholesky",
    .summary = "at random, in proportion to how badly those before represent a row",
    .options = "landmarks",
    .measures = true,
    .select = select_rows,
    .count = ny_pivot_count,
    .image_bytes = ny_rpcholesky_image_bytes,
    .work = ny_rpcholesky_work,
};
