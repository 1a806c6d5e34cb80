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
#include "spectral/methods.h"

static const char *const mode_names[] = {"none", "frozen", "full"};

const char *ny_update_mode_name(enum ny_update_mode mode)
{
    return mode_names[mode];
}

struct ny_earlier ny_earlier_of(const json_t *record)
{
    const json_t *stored = json_object_get(record, "update");
    const char *mode = ny_field_text(stored, "mode");

    if (!mode) return (struct ny_earlier){.mode = NY_UPDATE_NONE};
    return (struct ny_earlier){.mode =
                                   strcmp(mode, "frozen") == 0 ? NY_UPDATE_FROZEN : NY_UPDATE_FULL,
                               .rows = ny_field_count(stored, "rows", 0),
                               .selected = ny_field_count(stored, "selected", 0),
                               .landmarks = (size_t)ny_field_count(stored, "landmarks", 0),
                               .stored = stored};
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
    return fit->earlier.mode == NY_UPDATE_FROZEN;
}

uint64_t ny_earlier_kept_rows(const struct ny_fit *fit)
{
    const struct ny_earlier *update = &fit->earlier;
    bool same = json_is_true(json_object_get(update->stored, "same_landmarks"));

    if (update->mode == NY_UPDATE_FROZEN) return update->rows;
    return update->mode == NY_UPDATE_FULL && same && rows_of_landmarks(fit->settings) ? update->rows
                                                                                      : 0;
}

bool ny_earlier_has_sums(const struct ny_fit *fit)
{
    const json_t *sums = json_object_get(fit->earlier.stored, "sums");

    return fit->earlier.mode && ny_earlier_adds_sums(fit->settings) && json_is_object(sums) &&
           ny_field_count(sums, "rows", 0) == fit->earlier.rows;
}

size_t ny_earlier_partial_bytes(const struct ny_fit_settings *settings, size_t m,
                                enum ny_gram_precision gram)
{
    size_t all = ny_partial_bytes(m, gram);
    size_t joined = settings->updates ? ny_joined_partial_bytes(m, m / 2, gram) : 0;

    return joined > all ? joined : all;
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

int ny_earlier_get(const struct ny_fit *fit, const char *part, void *data, size_t bytes)
{
    const char *stored = ny_field_text(json_object_get(fit->earlier.stored, "parts"), part);

    if (stored && *stored) return fit->job.keep.ops->get(&fit->job.keep, stored, data, bytes);
    return ny_fail(fit->job.ctx, NY_ESTORE,
                   "the update of '%s' in %s does not say where its %s are; fit it again with "
                   "--restart",
                   fit->job.keep.name, fit->job.keep.place, part);
}

/* Loads the row numbers of the earlier landmarks; ny_free() them. */
static int load_before(const struct ny_fit *fit, uint64_t **rows)
{
    size_t bytes = fit->earlier.landmarks * sizeof(uint64_t);

    *rows = ny_alloc(fit->job.ctx, NY_MEM_DICTIONARY, bytes);
    if (!*rows) return NY_EBUDGET;
    return ny_earlier_get(fit, "landmarks", *rows, bytes);
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
    size_t before = rows ? fit->earlier.landmarks : m;
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

    return ny_earlier_get(fit, "residuals", residuals,
                          (size_t)fit->earlier.selected * sizeof(float));
}

int ny_earlier_selection(struct ny_fit *fit, struct ny_selected *earlier)
{
    *earlier = (struct ny_selected){.n = fit->earlier.selected,
                                    .m = fit->earlier.landmarks,
                                    .residuals = load_residuals,
                                    .arg = fit};
    if (fit->earlier.mode == NY_UPDATE_NONE || !ny_earlier_starts_selection(fit->settings))
        return NY_OK;
    return load_before(fit, &earlier->rows);
}

int ny_earlier_compare(struct ny_fit *fit, const uint64_t *rows, size_t m)
{
    struct ny_matched matched;
    int err;

    if (fit->earlier.mode == NY_UPDATE_NONE) return NY_OK;
    err = ny_earlier_match(&matched, fit, rows, m);
    if (!err) {
        ny_field_set_count(ny_job_report(&fit->job), "landmarks_added", matched.joined_count);
        ny_field_set_json(json_object_get(fit->job.record, "update"), "same_landmarks",
                          json_boolean(matched.same));
    }
    ny_matched_release(&matched, fit->job.ctx);
    return err;
}
