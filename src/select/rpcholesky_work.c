/*
 * Estimates the work of a randomly pivoted selection for a plan: its windows and passes are played
 * through with the residuals that a sample foretells, without looking at a row.
 *
 * Residuals beyond the sample's last landmark go on falling by the power law of its second half.
 * The play stops where residuals are rounding errors, since two passes then show that the rank is
 * reached.
 */
#include <math.h>

#include "select/rpcholesky.h"
#include "select/rules_private.h"

double ny_decay_at(const struct ny_decay *decay, double landmarks)
{
    size_t last = decay->count ? decay->count - 1 : 0, half = last / 2, at = (size_t)landmarks;
    double slope;

    if (decay->rank > 0 && landmarks >= decay->rank) return 0;
    if (last < 8) return 1 / (1 + landmarks / 16); /* that of nothing in particular */
    if (at < last) return decay->share[at];
    if (!(decay->share[last] > 0)) return 0;
    slope = log(decay->share[half] / decay->share[last]) / log((double)last / (double)half);
    return decay->share[last] * pow(landmarks / (double)last, -fmin(slope, 40));
}

/* The state of a selection that is played through. */
struct play {
    const struct ny_decay *decay;
    struct ny_pivot_pace pace;
    double bound;  /* mean of the bounds, as a share of k(x,x) */
    double looked; /* landmarks that a candidate meets before it is rejected */
    struct ny_selection_work work;
};

/* Plays a window: candidates until as many landmarks more are accepted or the window ends. A
 * candidate is rejected as soon as its residual is below the share of its bound that was drawn for
 * it. */
static void play_window(struct play *play)
{
    const double steps = 8;
    struct ny_pivot_pace *pace = &play->pace;
    double begin = pace->count, left = NY_PIVOT_WINDOW, candidates = 0;

    for (int i = 0; i < (int)steps && pace->count < pace->m; i++) {
        double share = fmin(ny_decay_at(play->decay, pace->count) / play->bound, 1);
        double some = fmin(left / steps, (pace->m - pace->count) / fmax(share, 1e-9));

        play->looked += fmin(share * some, pace->m - pace->count) * share;
        pace->count += share * some;
        candidates += some;
        play->work.alone += some * fmax(play->looked, share * pace->count);
        play->work.alone_flops += some * fmax(play->looked, share * pace->count) *
                                  fmax(play->looked, share * pace->count);
    }
    play->work.gathered += candidates;
    play->work.visits++;
    pace->share = (pace->count - begin) / fmax(candidates, 1);
}

/* Plays a pass over all rows, in f32 or, where residuals are small, in f64. */
static void play_pass(struct play *play)
{
    const double exact_below = 1e-3, fresh = 2;
    double count = play->pace.count, entries = play->pace.n * count;
    double tau = ny_decay_at(play->decay, count);

    play->work.passes++;
    if (tau < exact_below) {
        play->work.exact += entries;
        play->work.exact_flops += entries * count;
    } else {
        play->work.entries += entries;
        play->work.flops += entries * count;
    }
    play->bound = fmax(fmin(fresh * tau, play->bound), 1e-300);
    play->pace.measured_at = count;
    play->looked = count; /* what is left of them is hardly told apart before */
}

struct ny_selection_work ny_rpcholesky_work(const struct ny_selection_request *request, size_t m,
                                            const struct ny_decay *decay)
{
    enum { WINDOWS_MAX = 100000 };
    struct play play = {
        .decay = decay,
        .pace = {.n = (double)request->n, .m = (double)m, .d = ny_entry_products(request->spec)},
        .bound = 1};

    for (int i = 0; i < WINDOWS_MAX && play.pace.count < play.pace.m; i++) {
        play_window(&play);
        if (!(ny_decay_at(decay, play.pace.count) > (double)m * 0x1p-50)) {
            play_pass(&play); /* the rank is reached, which two passes show */
            play_pass(&play);
            break;
        }
        if (play.pace.count < play.pace.m &&
            play.pace.share * NY_PIVOT_WINDOW < NY_PIVOT_ACCEPTED_LEAST &&
            ny_pivot_pass_due(&play.pace))
            play_pass(&play);
    }
    if (request->certify) play_pass(&play);
    return play.work;
}
