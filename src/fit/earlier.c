/*
 * Answers the stages of a fit that run in an update: which of the earlier result can be kept
 * (fit/earlier.h).
 *
 * The mode of a fit is NY_UPDATE_NONE: there are no sums to add to, and no rows stay, so that
 * stages need not ask whether they are in an update. In an update, select asks whether it may
 * start with the earlier landmarks, accumulate whether there are sums to add to, and project which
 * rows stay. ny_earlier_match() finds the landmarks of before among those of now by their row
 * numbers: sums are moved column by column, and only those that joined are computed over the
 * earlier rows.
 */
#include "fit/earlier.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "fit/shards.h"
#include "spectral/methods.h"

static const char *const mode_names[] = {"none", "frozen", "full"};

const char *ny_update_mode_name(enum ny_update_mode mode)
{
    return mode_names[mode];
}

enum ny_update_mode ny_update_mode_of(struct ny_record record)
{
    const char *mode = ny_state_of(record).update.mode;

    if (!mode) return NY_UPDATE_NONE;
    return ny_is(mode, mode_names[NY_UPDATE_FROZEN]) ? NY_UPDATE_FROZEN : NY_UPDATE_FULL;
}

/* ---- what can be kept ---------------------------------------------------------------------- */

bool ny_earlier_starts_selection(const struct ny_fit_settings *settings)
{
    return settings->rule->by_tolerance && settings->dictionary.tolerance > 0;
}

bool ny_earlier_adds_sums(const struct ny_fit_settings *settings)
{
    return !settings->method->whole && ny_settings_forms_gram(settings) &&
           !ny_divided(settings->normalisation);
}

/* Y = C U Σ^-½ of W alone: n is only in its eigenvalues. */
static bool rows_of_landmarks(const struct ny_fit_settings *settings)
{
    return settings->method == &ny_method_nystrom && !settings->probes &&
           (settings->normalisation == NY_RAW || settings->normalisation == NY_CENTRED_LANDMARKS);
}

bool ny_earlier_keeps_precision(const struct ny_fit *fit)
{
    return fit->mode == NY_UPDATE_FROZEN;
}

uint64_t ny_earlier_kept_rows(const struct ny_fit *fit)
{
    const struct ny_state_update *update = &fit->job.state.update;

    if (fit->mode == NY_UPDATE_NONE) return 0;
    return fit->mode == NY_UPDATE_FROZEN ||
                   (update->same_landmarks && rows_of_landmarks(fit->settings))
               ? update->rows
               : 0;
}

uint64_t ny_earlier_rows(const struct ny_fit *fit)
{
    const struct ny_state_update *update = &fit->job.state.update;

    return update->rows_all ? update->rows_all : update->rows;
}

bool ny_earlier_has_sums(const struct ny_fit *fit)
{
    const struct ny_state_old_sums *sums = &fit->job.state.old_sums;

    return fit->mode && ny_earlier_adds_sums(fit->settings) && sums->there &&
           sums->rows == fit->job.state.update.rows;
}

/* ---- landmarks of before and now ----------------------------------------------------------- */

struct numbered {
    uint64_t row;
    size_t place;
};

static int by_row(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

int ny_earlier_get(const struct ny_fit *fit, const char *stored, void *data, size_t bytes)
{
    if (stored && *stored) return fit->job.keep.ops->get(&fit->job.keep, stored, data, bytes);
    return ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
}

/* Loads the row numbers that the earlier landmarks have now; ny_free() them. */
static int load_before(const struct ny_fit *fit, uint64_t **rows)
{
    const struct ny_state_update *update = &fit->job.state.update;
    size_t m = (size_t)update->landmarks;
    int err;

    *rows = ny_alloc(fit->job.ctx, NY_MEM_DICTIONARY, m * sizeof(uint64_t));
    if (!*rows) return NY_EBUDGET;
    err = ny_earlier_get(fit, fit->job.state.old_parts.landmarks, *rows, m * sizeof(uint64_t));
    return err ? err : ny_shards_rows_now(fit->job.ctx, update->first, &fit->job.points, *rows, m);
}

static void identity(struct ny_matched *matched, size_t before)
{
    for (size_t j = 0; j < before; j++)
        matched->place[j] = j;
    matched->same = true;
}

/* Fills `matched`. Both lists are in any order, so that those of now are sorted for the search. */
static void match(struct ny_matched *matched, const uint64_t *before, size_t count,
                  struct numbered *now, size_t m, const uint64_t *rows)
{
    size_t found = 0;

    for (size_t j = 0; j < m; j++)
        now[j] = (struct numbered){rows[j], j};
    qsort(now, m, sizeof(*now), by_row);
    for (size_t j = 0; j < m; j++)
        matched->joined[j] = 0;
    for (size_t j = 0; j < count; j++) {
        struct numbered key = {.row = before[j]}, *at = bsearch(&key, now, m, sizeof(*now), by_row);

        matched->place[j] = at ? at->place : SIZE_MAX;
        if (at) matched->joined[at->place] = 1;
    }
    for (size_t j = 0; j < m; j++) { /* flags of those that were found → places of the others */
        bool was_there = matched->joined[j];

        if (!was_there) matched->joined[found++] = j;
    }
    matched->joined_count = found;
    matched->same = count == m && memcmp(before, rows, m * sizeof(*rows)) == 0;
}

int ny_earlier_match(struct ny_matched *matched, struct ny_fit *fit, const uint64_t *rows, size_t m)
{
    size_t before = rows ? (size_t)fit->job.state.update.landmarks : m;
    struct numbered *now = NULL;
    uint64_t *old = NULL;
    int err = NY_EBUDGET;

    *matched = (struct ny_matched){0};
    matched->place = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, before, sizeof(size_t));
    matched->joined = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, m, sizeof(size_t));
    if (!matched->place || !matched->joined) goto done;
    err = NY_OK;
    if (!rows) {
        identity(matched, before);
        goto done;
    }
    err = load_before(fit, &old);
    if (err) goto done;
    now = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, m, sizeof(*now));
    err = NY_EBUDGET;
    if (!now) goto done;
    match(matched, old, before, now, m, rows);
    err = NY_OK;
done:
    ny_free(fit->job.ctx, now);
    ny_free(fit->job.ctx, old);
    return err;
}

void ny_matched_release(struct ny_matched *matched, struct ny_context *ctx)
{
    ny_free(ctx, matched->place);
    ny_free(ctx, matched->joined);
    *matched = (struct ny_matched){0};
}

/* ---- the selection ------------------------------------------------------------------------- */

static int load_residuals(void *arg, float *residuals)
{
    const struct ny_fit *fit = arg;

    return ny_earlier_get(fit, fit->job.state.old_parts.residuals, residuals,
                          (size_t)fit->job.state.update.selected * sizeof(float));
}

int ny_earlier_selection(struct ny_fit *fit, struct ny_selected *earlier)
{
    *earlier = (struct ny_selected){.n = fit->job.state.update.selected,
                                    .m = (size_t)fit->job.state.update.landmarks,
                                    .residuals = load_residuals,
                                    .arg = fit};
    if (fit->mode == NY_UPDATE_NONE || !ny_earlier_starts_selection(fit->settings)) return NY_OK;
    if (ny_context_peers(fit->job.ctx)) return NY_OK; /* new rows lie between those of before */
    return load_before(fit, &earlier->rows);
}

int ny_earlier_compare(struct ny_fit *fit, const uint64_t *rows, size_t m)
{
    struct ny_matched matched;
    int err;

    if (fit->mode == NY_UPDATE_NONE) return NY_OK;
    err = ny_earlier_match(&matched, fit, rows, m);
    if (!err) {
        fit->job.state.report.landmarks_added = matched.joined_count;
        fit->job.state.update.same_landmarks = matched.same;
    }
    ny_matched_release(&matched, fit->job.ctx);
    return err;
}
