/* Folds rows in order: those that a prefix of the dictionary did not reject are decided against the
 * whole of it, and may join. Numbers in brackets are lines of Algorithm 1. */
#include "select/greedy.h"

#include <math.h>

#include "select/rules_private.h"

/* [1] Until there is a landmark: the first row with k(x,x) > 0 becomes it. Rows before it are zero
 * in feature space; the affine hull of that one row is √k(x₁,x₁) away from them. */
static int start(struct ny_greedy *greedy, struct ny_front *front, uint64_t first_row)
{
    size_t first = 0, kept = 0;
    uint64_t row;
    int err;

    while (first < front->count && !(front->k[first] > 0)) {
        if (!(front->k[first] >= 0))
            return ny_selection_not_psd(greedy->request, first_row + front->index[first],
                                        front->k[first], front->k[first]);
        first++;
    }
    if (first < front->count) {
        row = first_row + front->index[first];
        if (!isfinite(front->k[first]))
            return ny_selection_not_psd(greedy->request, row, front->k[first], front->k[first]);
        err = ny_dictionary_start(greedy->dictionary, row, front->raw + first * front->row_bytes,
                                  front->k[first]);
        if (err) return err;
        for (uint64_t i = 0; i < row; i++)
            greedy->residuals[i] =
                greedy->dictionary->options.affine ? ny_greedy_bound(front->k[first]) : 0;
        greedy->residuals[row] = 0;
        first++;
    }
    for (size_t i = first; i < front->count; i++)
        ny_front_move(front, kept++, i);
    front->count = kept;
    return NY_OK;
}

/* Decides in row order, each row against the S that the rows before it left. Rows that join are
 * moved to the block's begin, from where their columns are added. */
static int decide(struct ny_greedy *greedy, struct ny_exact *exact, struct ny_front *block,
                  uint64_t first_row)
{
    struct ny_dictionary *dictionary = greedy->dictionary;
    size_t count = block->count, taken = 0;
    int err = NY_OK;

    for (size_t i = 0; i < count; i++) {
        uint64_t row = first_row + block->index[i];
        double delta = exact->S[i * count + i];                             /* [9] */
        struct ny_prefix now = ny_dictionary_now(dictionary);
        bool joins = !ny_greedy_rejects(greedy, block, i, &now, delta);     /* [10] */

        if (!(delta >= -NY_NOT_PSD * fabs(block->k[i])) || !isfinite(delta))
            return ny_selection_not_psd(greedy->request, row, delta, block->k[i]);
        if (joins && ny_greedy_full(greedy) && greedy->stops) {
            greedy->too_large = true;
            return NY_END;
        }
        if (joins && !ny_greedy_full(greedy)) {
            err = ny_exact_join(exact, block, dictionary, row, i, taken);   /* [11, 12] */
            if (err) return err;
            greedy->residuals[row] = 0;
            ny_front_move(block, taken++, i);
        } else {
            greedy->residuals[row] =
                ny_greedy_bound(delta + ny_greedy_slack(block, i, now.rank));
        }
    }
    return ny_dictionary_extend(dictionary, block->raw, taken,
                                dictionary->options.affine ? block->origin_k : NULL);
}

/* Decides in f64 the rows that f32 could not reject, at most NY_FRONT_BLOCK of them. */
static int decide_block(struct ny_greedy *greedy, struct ny_exact *exact, struct ny_front *block,
                        uint64_t first_row)
{
    struct ny_dictionary *dictionary = greedy->dictionary;
    struct ny_prefix now = ny_dictionary_now(dictionary);
    int err = ny_exact_begin(exact, block, dictionary, now.rank);
    size_t from = !err && ny_exact_resume(exact, block, greedy->fold_rank) ? greedy->fold_rank : 0;

    for (; !err && from < now.rank; from = ny_front_next(from, now.rank))
        err = ny_exact_step(exact, block, dictionary, &now, from);
    if (!err) err = ny_exact_schur(exact, block, dictionary, now.rank);
    return err ? err : decide(greedy, exact, block, first_row);
}

/* Decides the first `count` rows of the front, block by block. */
static int decide_pending(struct ny_greedy *greedy, struct ny_exact *exact,
                          const struct ny_front *front, size_t count, uint64_t first_row)
{
    int err = NY_OK;

    for (size_t first = 0; !err && first < count; first += NY_FRONT_BLOCK) {
        struct ny_front block = ny_front_view(
            front, first, count - first < NY_FRONT_BLOCK ? count - first : NY_FRONT_BLOCK);

        block.done = 0; /* its Z is not needed any more */
        err = decide_block(greedy, exact, &block, first_row);
    }
    return err;
}

/* Rows `first` … of the front against all columns that there are, in f32; what is left is added to
 * the `pending` rows at the front's begin. */
static int screen_slice(struct ny_greedy *greedy, struct ny_front *front, size_t first,
                        size_t count, size_t *pending)
{
    struct ny_prefix now = ny_dictionary_now(greedy->dictionary);
    struct ny_front slice = ny_front_view(front, first, count), rows;
    uint64_t first_row = greedy->fold_row;

    if (!ny_greedy_needs_f64(greedy, &slice, now.largest)) {
        int err = ny_front_reserve(front, now.rank);

        if (err) return err;
        slice = ny_front_view(front, first, count);
        ny_greedy_screen(greedy, &slice, first_row, &now,
                         ny_greedy_full(greedy) && !greedy->stops);
        greedy->flops += slice.flops;
    }
    rows = *front;
    rows.done = 0;
    for (size_t i = 0; i < slice.count; i++)
        ny_front_move(&rows, (*pending)++, first + i);
    return NY_OK;
}

/* Slices are short while many rows join, so that the next rows meet those that joined; f64 is given
 * a few dozen rows at once, which it pads to. */
static int fold_rows(struct ny_greedy *greedy, struct ny_greedy_worker *worker)
{
    enum { SLICE_LEAST = 64, SLICE_MOST = NY_STRIP_ROWS, PENDING = 24 };
    struct ny_front *front = &worker->front;
    size_t slice = 2 * SLICE_LEAST, pending = 0, rows = front->count;
    int err = NY_OK;

    for (size_t first = 0, count; !err && first < rows; first += count) {
        size_t before = pending;

        count = rows - first < slice ? rows - first : slice;
        err = screen_slice(greedy, front, first, count, &pending);
        if (err) break;
        if (pending - before > slice / 4 && slice > SLICE_LEAST) slice /= 2;
        if (pending - before < slice / 16 && slice < SLICE_MOST) slice *= 2;
        if (pending < PENDING && first + count < rows) continue;
        err = decide_pending(greedy, &worker->exact, front, pending, greedy->fold_row);
        pending = 0;
    }
    greedy->flops += front->flops + worker->exact.flops;
    return err;
}

int ny_greedy_fold(void *arg, const struct ny_tile *tile)
{
    struct ny_greedy *greedy = arg;
    struct ny_greedy_worker *worker = &greedy->worker[tile->worker];
    struct ny_front *front = &worker->front;
    int err = NY_OK;

    if (tile->skipped) return ny_greedy_set_prefix(greedy, tile->unit + NY_GREEDY_AHEAD);
    greedy->rows_read += tile->rows;
    if (!greedy->dictionary->count) err = start(greedy, front, tile->first_row);
    if (!err && greedy->dictionary->count &&
        !greedy->prefix[tile->unit % NY_GREEDY_AHEAD].started)
        err = ny_front_begin(front, greedy->dictionary);
    greedy->fold_row = tile->first_row;
    greedy->fold_rank = greedy->prefix[tile->unit % NY_GREEDY_AHEAD].rank;
    if (!err && greedy->dictionary->count) err = fold_rows(greedy, worker);
    return err ? err : ny_greedy_set_prefix(greedy, tile->unit + NY_GREEDY_AHEAD);
}
