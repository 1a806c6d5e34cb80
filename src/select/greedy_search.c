/*
 * Algorithm 2 of Ouimet & Bengio (2005): a dictionary of m landmarks with an almost minimal ε. ε⁻
 * gives too few landmarks, ε⁺ too many; the bracket is halved until a run of Algorithm 1 stops at m
 * exactly. Each run starts from D, the last dictionary that was too small, and only adds to it; a
 * run that was too large is thrown away, with the bounds that it measured.
 *
 * Numbers in brackets are the paper's lines. Bounds against D make later runs cheap: rows, and
 * whole units unread, whose residual was ε or less before cannot join (greedy_screen.c).
 *
 * The search gives exactly m. The paper's line 25 may leave fewer, because the dictionary has grown
 * since ε⁺ was found too small: the search then goes on below it.
 *
 * The first bracket comes from a pilot on hashed rows (greedy_estimate.c), of many points one in
 * 256; `--no-pilot` starts at ε⁻ = 1 instead. A pilot has to be that large: of 31 million windows
 * of an ECG one of 2,000 rows foretold ε too small, and the search took 15 readings of the points,
 * not 9.
 */
#include "select/greedy.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "select/rules_private.h"

enum ny_greedy_step {
    BRACKET, /* [4–13] */
    HALVE,   /* [14–24] */
    FILL,    /* [25] */
    FOUND
};

enum { HALVINGS_MAX = 40 };

/* Tells whether a search that was stored can be one under way, which comes to an end. */
static bool is_plausible(const struct ny_greedy_search *search)
{
    return search->step < FOUND && isfinite(search->low) && isfinite(search->high) &&
           isfinite(search->epsilon) && search->low >= 0 && search->high > 0 &&
           (search->epsilon > 0 || (search->epsilon >= 0 && search->step == FILL));
}

/* Sets the first bracket, and its upper end as the first ε. */
static void start_search(struct ny_greedy *greedy, const struct ny_greedy_bracket *pilot)
{
    struct ny_greedy_search *search = &greedy->search;

    *search = (struct ny_greedy_search){
        .low = 0, .high = 1, .pilot_low = NAN, .pilot_high = NAN}; /* [2, 3] */
    if (pilot && pilot->high > 0) {
        search->low = search->pilot_low = pilot->low;
        search->high = search->pilot_high = pilot->high;
    }
    search->epsilon = search->high;
}

/* Keeps the dictionary of this run as D. */
static void keep_dictionary(struct ny_greedy *greedy)
{
    memcpy(greedy->kept, greedy->residuals, greedy->n * sizeof(*greedy->kept));
    greedy->search.landmarks = greedy->dictionary->count;
    greedy->search.largest = greedy->dictionary->largest;
}

/* Returns to the dictionary D. */
static int return_to_kept(struct ny_greedy *greedy)
{
    memcpy(greedy->residuals, greedy->kept, greedy->n * sizeof(*greedy->kept));
    return ny_dictionary_truncate(greedy->dictionary, (size_t)greedy->search.landmarks,
                                  greedy->search.largest);
}

/* Returns the ε below which no δ can be told from 0, so that halving leads nowhere. */
static double least_tolerance(const struct ny_greedy *greedy)
{
    return ((double)greedy->dictionary->rank + 16) * 0x1p-52 * greedy->dictionary->largest;
}

/* Draws the conclusion of the run that has ended, and sets ε of the next one. */
static int conclude(struct ny_greedy *greedy)
{
    struct ny_greedy_search *search = &greedy->search;
    bool exactly = !greedy->too_large && ny_greedy_full(greedy);
    int err = NY_OK;

    search->runs++;
    if (exactly || (search->step == FILL && search->low <= 0)) { /* [5, 17, 26] */
        if (search->step != FILL) search->high = search->epsilon;
        search->step = FOUND;
        return NY_OK;
    }
    if (greedy->too_large) { /* [7–10, 19–20] */
        search->low = search->epsilon;
        if (search->step == BRACKET) search->high = 10 * search->epsilon;
        err = return_to_kept(greedy);
    } else { /* [11–13, 21–22] */
        search->high = search->epsilon;
        keep_dictionary(greedy);
        if (search->step == FILL) {
            /* ε⁺ gave too many from an older D, which had fewer; from this one it does not. The
             * paper has no line for that: the search goes on below. */
            search->low = 0;
            search->halvings = 0;
        }
        search->step = HALVE;
    }
    if (search->step == BRACKET)
        search->epsilon = search->high; /* [4] */
    else if (search->step == HALVE && search->halvings++ < HALVINGS_MAX &&
             search->high > least_tolerance(greedy))
        search->epsilon = search->low + (search->high - search->low) / 2; /* [15] */
    else {
        search->step = FILL;
        search->epsilon = search->low; /* [25] */
    }
    return err;
}

/* Prepares the run that comes, which goes on from D. */
static int begin_run(struct ny_greedy *greedy)
{
    const struct ny_selection_request *request = greedy->request;
    int err = ny_prefixes_begin(&greedy->prefixes, greedy->dictionary);

    /* Runs may be shorter than the time between two checkpoints of a pass. */
    if (!err && request->checkpoint.save && greedy->search.runs &&
        ny_now() - greedy->checkpoint_s >= ny_context_checkpoint_s(greedy->ctx) / 2)
        err = ny_greedy_checkpoint(greedy, 0);
    return err;
}

/* Tells in the log what was found, and warns where the rank of K ended the search. */
static void log_result(const struct ny_greedy *greedy)
{
    const struct ny_greedy_search *search = &greedy->search;
    size_t m = ny_dictionary_size(greedy->dictionary);

    if (!ny_greedy_full(greedy))
        ny_log(greedy->ctx, NY_LOG_WARNING,
               "%zu landmarks span all rows, up to rounding: the rank of K does not allow %zu", m,
               greedy->request->landmarks);
    ny_log(greedy->ctx, NY_LOG_DETAIL, "%zu landmarks: tolerance %.6g, found in %llu runs", m,
           search->high, (unsigned long long)search->runs);
}

int ny_greedy_search(struct ny_greedy *greedy, const struct ny_greedy_bracket *pilot,
                     struct ny_source *source, uint64_t first_unit)
{
    struct ny_greedy_search *search = &greedy->search;
    struct ny_greedy_limits limits = ny_greedy_limits_of(greedy->request);
    bool resumed = greedy->resumed;
    int err = NY_OK;

    if (resumed && !is_plausible(search)) return ny_fail_damaged(greedy->request->ctx, NULL, NULL);
    if (!resumed) {
        start_search(greedy, pilot);
        keep_dictionary(greedy);
    }
    greedy->checkpoint_s = ny_now();
    while (!err && search->step != FOUND) {
        limits.tolerance = search->epsilon;
        limits.stops = search->step != FILL;
        if (!resumed) err = begin_run(greedy);
        if (!err) /* [4, 16, 25] */
            err = ny_greedy_run_all(greedy, &limits, source, resumed ? first_unit : 0,
                                    greedy->request->checkpoint.save != NULL);
        resumed = false;
        if (!err && !greedy->too_large && !ny_dictionary_size(greedy->dictionary))
            return NY_OK; /* all k(x,x) = 0 */
        if (!err) err = conclude(greedy);
    }
    if (!err) log_result(greedy);
    return err;
}
