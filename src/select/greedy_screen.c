/*
 * Screens rows for Algorithm 1 (greedy.c): those whose residual cannot be above ε leave their
 * front, with the residual as their bound. Workers screen a whole unit, in parallel, against the
 * prefix of the dictionary that belongs to it; what they leave goes to the fold, in row order. f32
 * rejects below its guard band (front.h); where ε is too small for that, f64 does.
 */
#include "select/greedy.h"

#include <math.h>
#include <string.h>

bool ny_greedy_needs_f64(const struct ny_greedy *greedy, const struct ny_front *front,
                         double largest)
{
    for (size_t i = 0; i < front->count; i++)
        if (front->scale[i] > largest) largest = front->scale[i];
    return !(greedy->limits.tolerance >= NY_EXACT_BELOW * largest);
}

/* Rows whose δ lies in the band, or below what rounding explains, stay: f64 decides about them.
 * `measured`: none joins any more, and the δ measured is the row's bound, above ε or not. */
static void drop(struct ny_greedy *greedy, struct ny_front *front, uint64_t first_row,
                 bool measured)
{
    size_t kept = 0;

    for (size_t i = 0; i < front->count; i++) {
        double band = NY_BAND * front->scale[i], delta = front->delta[i];
        double most = measured ? front->scale[i] + band : greedy->limits.tolerance - band;

        if (delta >= -band && delta <= most)
            greedy->residuals[first_row + front->index[i]] = ny_delta_bound(delta + band);
        else
            ny_front_move(front, kept++, i);
    }
    front->count = kept;
}

void ny_greedy_screen(struct ny_greedy *greedy, struct ny_front *front, uint64_t first_row,
                      const struct ny_prefix *prefix, bool full)
{
    drop(greedy, front, first_row, false);
    while (front->count && front->done < prefix->rank) {
        ny_front_step(front, greedy->dictionary, prefix, ny_front_next(front->done, prefix->rank));
        drop(greedy, front, first_row, false);
    }
    if (full) drop(greedy, front, first_row, true);
}

/* δ ≤ ε, or δ that is 0 as far as f64 can tell: large landmarks leave more than the row's own. */
bool ny_greedy_rejects(const struct ny_greedy *greedy, const struct ny_front *front, size_t i,
                       const struct ny_prefix *prefix, double delta)
{
    return delta <= greedy->limits.tolerance || delta <= ny_front_slack(front, i, prefix->rank) ||
           delta <= ((double)prefix->rank + 16) * 0x1p-52 * prefix->largest;
}

/* f64: a row with δ ≤ ε is rejected; a δ below zero is for the fold to complain about, in order. */
static void drop_exact(struct ny_greedy *greedy, struct ny_front *front, struct ny_exact *exact,
                       uint64_t first_row, const struct ny_prefix *seen, bool measured)
{
    size_t kept = 0;

    for (size_t i = 0; i < front->count; i++) {
        double delta = exact->delta[i];

        if ((measured || ny_greedy_rejects(greedy, front, i, seen, delta)) &&
            delta >= -NY_NOT_PSD * fabs(front->k[i])) {
            greedy->residuals[first_row + front->index[i]] =
                ny_delta_bound(delta + ny_front_slack(front, i, seen->rank));
        } else {
            ny_exact_move(exact, kept, i, seen->rank);
            ny_front_move(front, kept++, i);
        }
    }
    front->count = kept;
}

/* Screens in f64. The rows left go to the fold, which finds Z and δ of the first of them ready. */
static int screen_exact(struct ny_greedy *greedy, struct ny_greedy_worker *worker,
                        uint64_t first_row, const struct ny_prefix *prefix, bool full)
{
    struct ny_front *front = &worker->front;
    struct ny_prefix seen = *prefix;
    size_t rows = front->count, kept = 0;

    for (size_t first = 0; first < rows; first += NY_FRONT_BLOCK) {
        struct ny_front view = ny_front_view(
            front, first, rows - first < NY_FRONT_BLOCK ? rows - first : NY_FRONT_BLOCK);
        int err = ny_exact_begin(&worker->exact, &view, greedy->dictionary, prefix->rank);

        for (size_t from = 0; !err && view.count && from < prefix->rank;) {
            err = ny_exact_step(&worker->exact, &view, greedy->dictionary, prefix, from);
            from = ny_front_next(from, prefix->rank);
            seen.rank = from;
            drop_exact(greedy, &view, &worker->exact, first_row, &seen,
                       full && from == prefix->rank);
        }
        if (!err) err = ny_exact_keep(&worker->exact, &view, kept, prefix->rank);
        if (err) return err;
        for (size_t i = 0; i < view.count; i++)
            ny_front_move(front, kept++, first + i);
    }
    front->count = kept;
    return NY_OK;
}

/* An earlier run, against fewer landmarks, measured no more than ε, or decided. */
static bool known(const struct ny_greedy *greedy, uint64_t row)
{
    return row < greedy->decided || (double)greedy->residuals[row] <= greedy->limits.tolerance;
}

bool ny_greedy_skip(void *arg, uint64_t unit)
{
    const struct ny_greedy *greedy = arg;
    uint64_t first = greedy->here.first + unit * NY_UNIT_ROWS, end = greedy->here.end, row = first;

    while (row < end && row < first + NY_UNIT_ROWS && known(greedy, row))
        row++;
    return row > first && (row == end || row == first + NY_UNIT_ROWS);
}

static void drop_known(const struct ny_greedy *greedy, struct ny_front *front, uint64_t first_row)
{
    size_t kept = 0;

    for (size_t i = 0; i < front->count; i++)
        if (!known(greedy, first_row + front->index[i])) ny_front_move(front, kept++, i);
    front->count = kept;
}

int ny_greedy_screen_unit(void *arg, const struct ny_tile *tile)
{
    struct ny_greedy *greedy = arg;
    struct ny_greedy_worker *worker = &greedy->worker[tile->worker];
    const struct ny_prefix *prefix = ny_prefix_of(&greedy->prefixes, tile->unit);
    struct ny_front *front = &worker->front;
    uint64_t first_row = greedy->here.first + tile->first_row;
    size_t landmarks = prefix->rank + (greedy->dictionary->options.affine && prefix->started);
    bool full =
        prefix->started && landmarks >= greedy->limits.landmarks_max && !greedy->limits.stops;
    int err;

    front->flops = worker->exact.flops = 0;
    err = ny_front_load(front, greedy->dictionary, worker->workspace, tile, 0);
    if (err || !prefix->started) return err;
    drop_known(greedy, front, first_row);
    err = ny_front_begin(front, greedy->dictionary);
    if (err) return err;
    if (ny_greedy_needs_f64(greedy, front, prefix->largest))
        return screen_exact(greedy, worker, first_row, prefix, full);
    err = ny_front_reserve(front, prefix->rank);
    if (err) return err;
    ny_greedy_screen(greedy, front, first_row, prefix, full);
    if (full || front->count > NY_EARLY_ROWS) return NY_OK;
    return screen_exact(greedy, worker, first_row, prefix, full);
}
