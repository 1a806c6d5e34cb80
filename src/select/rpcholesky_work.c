/* What a randomly pivoted selection is likely to take: its windows and passes, played through with
 * the residuals that a sample foretells. */
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

/* Where a selection is. */
struct play {
    const struct ny_decay *decay;
    double n, m, d;
    double count;  /* landmarks so far */
    double bound;  /* mean of the bounds, as a share of k(x,x) */
    double looked; /* landmarks that a candidate meets before it is rejected */
    double measured_at;
    struct ny_selection_work work;
};

/* As is_pass_due() of rpcholesky.c has it. */
static double row_cost(const struct play *play, double landmarks)
{
    return landmarks * (landmarks + 2 * play->d);
}

static bool is_pass_due(const struct play *play, double share)
{
    const double dearer = 4;
    double missing = play->m - play->count, apart = fmax(play->count - play->measured_at, 1);
    double now = row_cost(play, play->count), growth = row_cost(play, play->count + 1) / now - 1;

    if (dearer * missing * row_cost(play, play->count + missing / 2) < share * play->n * now)
        return false;
    return share * play->n * (1 / apart - growth) < dearer;
}

/* Candidates until as many landmarks more are accepted, or a window ends; they are rejected as soon
 * as their residual is below the share of their bound that was drawn for them. */
static double play_window(struct play *play)
{
    const double steps = 8;
    double begin = play->count, left = NY_PIVOT_WINDOW, candidates = 0;

    for (int i = 0; i < (int)steps && play->count < play->m; i++) {
        double share = fmin(ny_decay_at(play->decay, play->count) / play->bound, 1);
        double some = fmin(left / steps, (play->m - play->count) / fmax(share, 1e-9));

        play->looked += fmin(share * some, play->m - play->count) * share;
        play->count += share * some;
        candidates += some;
        play->work.alone += some * fmax(play->looked, share * play->count);
        play->work.alone_flops += some * fmax(play->looked, share * play->count) *
                                  fmax(play->looked, share * play->count);
    }
    play->work.gathered += candidates;
    play->work.visits++;
    return (play->count - begin) / fmax(candidates, 1);
}

/* All rows; where residuals are small, f64 decides. */
static void play_pass(struct play *play)
{
    const double exact_below = 1e-3, fresh = 2;
    double tau = ny_decay_at(play->decay, play->count), entries = play->n * play->count;

    play->work.passes++;
    if (tau < exact_below) {
        play->work.exact += entries;
        play->work.exact_flops += entries * play->count;
    } else {
        play->work.entries += entries;
        play->work.flops += entries * play->count;
    }
    play->bound = fmax(fmin(fresh * tau, play->bound), 1e-300);
    play->measured_at = play->count;
    play->looked = play->count; /* what is left of them is hardly told apart before */
}

struct ny_selection_work ny_rpcholesky_work(const struct ny_selection_request *request, size_t m,
                                            const struct ny_decay *decay)
{
    enum { WINDOWS_MAX = 100000 };
    struct play play = {.decay = decay,
                        .n = (double)request->n,
                        .m = (double)m,
                        .d = ny_entry_products(request->spec),
                        .bound = 1};

    for (int i = 0; i < WINDOWS_MAX && play.count < play.m; i++) {
        double share = play_window(&play);

        if (!(ny_decay_at(decay, play.count) > (double)m * 0x1p-50)) {
            play_pass(&play); /* the rank is reached, which two passes show */
            play_pass(&play);
            break;
        }
        if (play.count < play.m && share * NY_PIVOT_WINDOW < NY_PIVOT_ACCEPTED_LEAST &&
            is_pass_due(&play, share))
            play_pass(&play);
    }
    if (request->certify) play_pass(&play);
    return play.work;
}
