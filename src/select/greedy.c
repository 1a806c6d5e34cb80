/*
 * Algorithm 1 of Ouimet & Bengio (2005), lines 1 to 16: the dictionary D of a tolerance ε. Rows are
 * visited in order, and a row joins D where its residual against the rows that joined before it,
 *
 *     δ = k(x,x) − k_D(x)ᵀ W⁻¹ k_D(x)        (eqs. 5, 6 and 8, with W for the paper's M)
 *
 * is above ε. Where Σa = 1 (eq. 7), the kernel is translated by the first landmark (dictionary.h).
 * Numbers in brackets are the paper's lines; its lines 17 to 23 are spectral/projected.c.
 *
 * visit_block() is the algorithm. W = LLᵀ takes the place of W⁻¹: δ = k(x,x) − ‖Z‖² with Z =
 * L⁻¹k_D, and a row that joins adds a row to L in the place of eq. 9. Around it is what keeps most
 * rows away from f64: residuals only fall as D grows, so that a row which an older D rejects stays
 * rejected. ny_greedy_run() is a pass over units of rows. Workers screen them, in parallel and in
 * f32, against D as it was some units before (greedy_screen.c). The fold takes what is left of them
 * in order, and screens it once more, slice by slice, against all of D. The dictionary is that of
 * the sequential algorithm in f64.
 */
#include "select/greedy.h"

#include <math.h>

#include "select/rules_private.h"

/* The unit that is folded: the rows that its worker left. */
struct unit {
    struct ny_greedy *greedy;
    struct ny_front *front;
    struct ny_exact *exact;
    uint64_t first_row;
    size_t screened; /* columns of D that its worker met: for some rows Z is kept */
};

/* Until there is a landmark: the first row with k(x,x) > 0 becomes it [1]. Rows before it are zero
 * in feature space; the affine hull of that one row is √k(x₁,x₁) away from them. */
static int start_dictionary(const struct unit *unit)
{
    struct ny_greedy *greedy = unit->greedy;
    struct ny_front *front = unit->front;
    size_t first = 0, kept = 0;
    uint64_t row;
    int err;

    while (first < front->count && !(front->k[first] > 0)) {
        if (!(front->k[first] >= 0))
            return ny_selection_not_psd(greedy->request, unit->first_row + front->index[first],
                                        front->k[first], front->k[first]);
        first++;
    }
    if (first < front->count) {
        row = unit->first_row + front->index[first];
        if (!isfinite(front->k[first]))
            return ny_selection_not_psd(greedy->request, row, front->k[first], front->k[first]);
        err = ny_dictionary_start(
            greedy->dictionary, row,
            ny_raw_rows_from(greedy->request->spec, ny_front_rows(front), first), front->k[first]);
        if (err) return err;
        for (uint64_t i = greedy->here.first; i < row; i++)
            greedy->residuals[i] =
                greedy->dictionary->options.affine ? ny_delta_bound(front->k[first]) : 0;
        greedy->residuals[row] = 0;
        first++;
    }
    for (size_t i = first; i < front->count; i++)
        ny_front_move(front, kept++, i);
    front->count = kept;
    return NY_OK;
}

/* Computes S = K_BB − ZZᵀ of a block in f64, Z = L⁻¹k_D, from where the block's worker stopped. */
static int measure_block(const struct unit *unit, struct ny_front *block)
{
    const struct ny_dictionary *D = unit->greedy->dictionary;
    struct ny_prefix now = ny_dictionary_now(D);
    int err = ny_exact_begin(unit->exact, block, D, now.rank);
    size_t from = 0;

    if (!err && ny_exact_resume(unit->exact, block, unit->screened)) from = unit->screened;
    for (; !err && from < now.rank; from = ny_front_next(from, now.rank))
        err = ny_exact_step(unit->exact, block, D, &now, from);
    return err ? err : ny_exact_schur(unit->exact, block, D, now.rank);
}

/* Visits the rows of a block, at most NY_FRONT_BLOCK, in order. The diagonal of S has their
 * residuals against D: a row that joins is eliminated from S, which takes its part off the rows
 * after it. Rows that join are moved to the block's begin, from where their columns are added. */
static int visit_block(const struct unit *unit, struct ny_front *block)
{
    struct ny_greedy *greedy = unit->greedy;
    struct ny_dictionary *D = greedy->dictionary;
    size_t count = block->count, taken = 0;
    int err = measure_block(unit, block); /* [3–8] */

    for (size_t t = 0; !err && t < count; t++) { /* [2] */
        uint64_t row = unit->first_row + block->index[t];
        double delta = unit->exact->S[t * count + t]; /* [9] */
        struct ny_prefix now = ny_dictionary_now(D);
        bool joins = !ny_greedy_rejects(greedy, block, t, &now, delta); /* [10] δ > ε */

        if (!(delta >= -NY_NOT_PSD * fabs(block->k[t])) || !isfinite(delta))
            return ny_selection_not_psd(greedy->request, row, delta, block->k[t]);
        if (joins && !ny_greedy_full(greedy)) {
            err = ny_exact_join(unit->exact, block, D, row, t, taken); /* [11, 12] */
            greedy->residuals[row] = 0;
            ny_front_move(block, taken++, t);
        } else if (joins && greedy->limits.stops) {
            greedy->too_large = true; /* Algorithm 2, lines 4 and 16: stopping if m_t > m */
            return NY_END;
        } else { /* [13, 14] */
            greedy->residuals[row] = ny_delta_bound(delta + ny_front_slack(block, t, now.rank));
        }
    }
    if (err) return err;
    return ny_dictionary_extend(D, ny_front_rows(block), taken,
                                D->options.affine ? block->origin_k : NULL);
}

/* Visits the first `count` rows of the front, block by block. */
static int visit_pending(const struct unit *unit, size_t count)
{
    int err = NY_OK;

    for (size_t first = 0; !err && first < count; first += NY_FRONT_BLOCK) {
        struct ny_front block = ny_front_view(
            unit->front, first, count - first < NY_FRONT_BLOCK ? count - first : NY_FRONT_BLOCK);

        block.done = 0; /* its Z is not needed any more */
        err = visit_block(unit, &block);
    }
    return err;
}

/* Screens rows `first` … of the front in f32 against all columns that there are; what is left is
 * added to the `pending` rows at the front's begin. */
static int screen_slice(const struct unit *unit, size_t first, size_t count, size_t *pending)
{
    struct ny_greedy *greedy = unit->greedy;
    struct ny_prefix now = ny_dictionary_now(greedy->dictionary);
    struct ny_front slice = ny_front_view(unit->front, first, count), rows;

    if (!ny_greedy_needs_f64(greedy, &slice, now.largest)) {
        int err = ny_front_reserve(unit->front, now.rank);

        if (err) return err;
        slice = ny_front_view(unit->front, first, count);
        ny_greedy_screen(greedy, &slice, unit->first_row, &now,
                         ny_greedy_full(greedy) && !greedy->limits.stops);
        greedy->flops += slice.flops;
    }
    rows = *unit->front;
    rows.done = 0;
    for (size_t i = 0; i < slice.count; i++)
        ny_front_move(&rows, (*pending)++, first + i);
    return NY_OK;
}

/* Visits the rows that a worker left. Slices are short while many rows join, so that the next rows
 * meet those that joined; f64 is given a few dozen rows at once, which it pads to. */
static int visit_unit(const struct unit *unit)
{
    enum { SLICE_LEAST = 64, SLICE_MOST = NY_STRIP_ROWS, PENDING = 24 };
    size_t slice = 2 * SLICE_LEAST, pending = 0, rows = unit->front->count;
    int err = NY_OK;

    for (size_t first = 0, count; !err && first < rows; first += count) {
        size_t before = pending;

        count = rows - first < slice ? rows - first : slice;
        err = screen_slice(unit, first, count, &pending);
        if (err) break;
        if (pending - before > slice / 4 && slice > SLICE_LEAST) slice /= 2;
        if (pending - before < slice / 16 && slice < SLICE_MOST) slice *= 2;
        if (pending < PENDING && first + count < rows) continue;
        err = visit_pending(unit, pending);
        pending = 0;
    }
    unit->greedy->flops += unit->front->flops + unit->exact->flops;
    return err;
}

/* Visits the rows of a unit that its worker left, and makes D the prefix of a later unit: the
 * pass's `fold`, in unit order. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct ny_greedy *greedy = arg;
    struct ny_greedy_worker *worker = &greedy->worker[tile->worker];
    const struct ny_prefix *prefix = ny_prefix_of(&greedy->prefixes, tile->unit);
    const struct unit unit = {greedy, &worker->front, &worker->exact,
                              greedy->here.first + tile->first_row, prefix->rank};
    int err = NY_OK;

    if (!tile->skipped) {
        greedy->rows_read += tile->rows;
        if (!greedy->dictionary->count) err = start_dictionary(&unit);
        if (!err && greedy->dictionary->count && !prefix->started)
            err = ny_front_begin(unit.front, greedy->dictionary);
        if (!err && greedy->dictionary->count) err = visit_unit(&unit);
    }
    return err ? err
               : ny_prefixes_set(&greedy->prefixes, greedy->dictionary,
                                 tile->unit + NY_GREEDY_AHEAD);
}

int ny_greedy_run(struct ny_greedy *greedy, const struct ny_greedy_limits *limits,
                  struct ny_source *source, uint64_t first_unit, bool checkpoints)
{
    const struct ny_pass pass = {.source = source,
                                 .stage = "select",
                                 .workers = greedy->workers,
                                 .first_unit = first_unit,
                                 .ahead_max = NY_GREEDY_AHEAD,
                                 .rows_total = greedy->here.end - greedy->here.first,
                                 .skip = ny_greedy_skip};
    const struct ny_pass_work work = {.unit = ny_greedy_screen_unit,
                                      .fold = fold,
                                      .checkpoint = checkpoints ? ny_greedy_checkpoint : NULL};

    greedy->limits = *limits;
    greedy->too_large = false;
    ny_blas_serial();
    return ny_pass_run(&pass, &work, greedy);
}
