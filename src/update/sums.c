#include "update/sums.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/model.h"

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

int ny_update_get(const struct ny_fit *fit, const char *part, void *data, size_t bytes)
{
    const char *stored = ny_field_text(json_object_get(fit->update.stored, "parts"), part);

    if (stored && *stored) return ny_blob_get(fit->job.store, fit->job.name, stored, data, bytes);
    return ny_fail(fit->job.ctx, NY_ESTORE,
                   "the update of '%s' in %s does not say where its %s are; fit it again with "
                   "--restart",
                   fit->job.name, ny_store_path(fit->job.store), part);
}

static int load_before(const struct ny_fit *fit, uint64_t **rows)
{
    size_t bytes = fit->update.landmarks * sizeof(uint64_t);

    *rows = ny_alloc(fit->job.ctx, NY_MEM_DICTIONARY, bytes);
    if (!*rows) return NY_EBUDGET;
    return ny_update_get(fit, "landmarks", *rows, bytes);
}

static void identity(struct ny_matched *matched, size_t before)
{
    for (size_t j = 0; j < before; j++)
        matched->place[j] = j;
    matched->same = true;
}

static void match(struct ny_matched *matched, const uint64_t *before, size_t count,
                  struct numbered *now, size_t m, const uint64_t *rows)
{
    size_t found = 0;

    for (size_t j = 0; j < m; j++)
        now[j] = (struct numbered){rows[j], j};
    qsort(now, m, sizeof(*now), by_row);
    for (size_t j = 0; j < m; j++)
        matched->late[j] = 0;
    for (size_t j = 0; j < count; j++) {
        struct numbered key = {.row = before[j]}, *at = bsearch(&key, now, m, sizeof(*now), by_row);

        matched->place[j] = at ? at->place : SIZE_MAX;
        if (at) matched->late[at->place] = 1;
    }
    for (size_t j = 0; j < m; j++) { /* flags of those that were found → places of the others */
        bool was_there = matched->late[j];

        if (!was_there) matched->late[found++] = j;
    }
    matched->late_count = found;
    matched->same = count == m && memcmp(before, rows, m * sizeof(*rows)) == 0;
}

int ny_update_match(struct ny_matched *matched, struct ny_fit *fit, const uint64_t *rows, size_t m)
{
    size_t before = rows ? fit->update.landmarks : m;
    struct numbered *now = NULL;
    uint64_t *old = NULL;
    int err = NY_EBUDGET;

    *matched = (struct ny_matched){0};
    matched->place = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, before, sizeof(size_t));
    matched->late = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, m, sizeof(size_t));
    if (!matched->place || !matched->late) goto done;
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
    ny_free(ctx, matched->late);
    *matched = (struct ny_matched){0};
}

/* ---- sums ---------------------------------------------------------------------------------- */

bool ny_update_has_sums(const struct ny_fit *fit)
{
    const json_t *sums = json_object_get(fit->update.stored, "sums");

    return fit->update.mode && ny_update_adds_sums(fit->settings) && json_is_object(sums) &&
           ny_field_count(sums, "rows", 0) == fit->update.rows;
}

bool ny_update_keeps_sums(const struct ny_fit *fit, const struct ny_matched *matched)
{
    const json_t *sums = json_object_get(fit->update.stored, "sums");
    bool f64 = ny_field_is(sums, "precision", "f64");
    bool coarse = fit->settings->precision == NY_PRECISION_F32 && fit->gram == NY_GRAM_F64;

    if (matched->late_count && coarse) return false;
    return ny_update_has_sums(fit) && (f64 || fit->gram != NY_GRAM_F64) &&
           2 * matched->late_count <= fit->m;
}

size_t ny_update_partial_bytes(const struct ny_fit_settings *settings, size_t m,
                               enum ny_gram_precision gram)
{
    size_t all = ny_partial_bytes(m, gram);
    size_t late = settings->updates ? ny_late_partial_bytes(m, m / 2, gram) : 0;

    return late > all ? late : all;
}

/* Sets delta to the growth of the shift of each of the `before` columns that were there. */
static int shift_of(struct ny_fit *fit, const struct ny_matched *matched, size_t before,
                    double *delta)
{
    size_t bytes = (size_t)ny_field_count(fit->update.stored, "model_bytes", 0);
    void *image = ny_alloc(fit->job.ctx, NY_MEM_MODEL, bytes);
    struct ny_model *model = NULL;
    int err = image ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_update_get(fit, "model", image, bytes);
    if (!err) err = ny_model_load(&model, fit->job.ctx, image, bytes, fit->job.name);
    if (!err && model->m != before)
        err = ny_fail(fit->job.ctx, NY_ESTORE,
                      "the model of '%s' in %s has other landmarks than its record says; fit it "
                      "again with --restart",
                      fit->job.name, ny_store_path(fit->job.store));
    for (size_t j = 0; !err && j < model->m; j++)
        if (matched->place[j] != SIZE_MAX)
            delta[matched->place[j]] = fit->a[matched->place[j]] - model->a[j];
    ny_model_free(model);
    ny_free(fit->job.ctx, image);
    return err;
}

int ny_update_load_sums(struct ny_fit *fit, const struct ny_matched *matched)
{
    size_t before = fit->settings->method->coordinates ? fit->m : fit->update.landmarks;
    size_t bytes = ny_accumulator_gram_image_bytes(before);
    double *delta = ny_calloc(fit->job.ctx, NY_MEM_GRAM, fit->m, sizeof(double));
    void *image = ny_alloc(fit->job.ctx, NY_MEM_GRAM, bytes);
    int err = delta && image ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_update_get(fit, "sums", image, bytes);
    if (!err) ny_accumulator_restore_placed(fit->acc, image, before, matched->place);
    ny_free(fit->job.ctx, image);
    if (!err && !matched->same) err = shift_of(fit, matched, before, delta);
    if (!err && !matched->same) ny_accumulator_shift(fit->acc, delta);
    ny_free(fit->job.ctx, delta);
    return err;
}
