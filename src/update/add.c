/*
 * Stage accumulate of an update: the sums of the result, moved to the present landmarks and their
 * shift, take in the columns that joined, over the rows of before, and then the new rows.
 */
#include "base/peers.h"
#include "fit/gram_noise.h"
#include "fit/shards.h"
#include "fit/sums.h"
#include "model/model.h"
#include "update/update.h"

/* Tells whether there are earlier sums that have the precision that is asked for now: in all
 * shards. */
static int find_sums(const struct ny_fit *fit, bool *found)
{
    bool f64 = ny_is(fit->job.state.old_sums.precision, "f64");
    uint64_t here = ny_earlier_has_sums(fit) && (f64 || fit->gram != NY_GRAM_F64);
    int err = ny_peers_least(ny_context_peers(fit->job.ctx), &here);

    *found = here;
    return err;
}

/* Tells whether the earlier sums can be used: no more than half of the landmarks joined since,
 * which would cost as much as all of them. Columns that join meet f32 tiles that were rounded about
 * another shift. G loses no more by that than by an f32 tile Gram, and it is allowed where that is
 * (spectral/gram.c). */
static bool keeps_sums(const struct ny_fit *fit, const struct ny_matched *matched)
{
    bool coarse = fit->settings->precision == NY_PRECISION_F32 && fit->gram == NY_GRAM_F64;

    if (matched->joined_count && coarse) return false;
    return 2 * matched->joined_count <= fit->m;
}

/* Sets delta to the growth of the shift of each of the `before` columns that were there. */
static int shift_of(struct ny_fit *fit, const struct ny_matched *matched, size_t before,
                    double *delta)
{
    size_t bytes = (size_t)fit->job.state.update.model_bytes;
    void *image = ny_alloc(fit->job.ctx, NY_MEM_MODEL, bytes);
    struct ny_model *model = NULL;
    int err = image ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_earlier_get(fit, fit->job.state.old_parts.model, image, bytes);
    if (!err) err = ny_model_read(&model, fit->job.ctx, image, bytes, fit->job.keep.name);
    if (!err && model->m != before)
        err = ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
    for (size_t j = 0; !err && j < model->m; j++)
        if (matched->place[j] != SIZE_MAX)
            delta[matched->place[j]] = fit->a[matched->place[j]] - model->a[j];
    ny_model_free(model);
    ny_free(fit->job.ctx, image);
    return err;
}

/* Loads fit->acc from them: moves columns to their places, and to the present shift. */
static int load_sums(struct ny_fit *fit, const struct ny_matched *matched)
{
    size_t before = fit->rows ? (size_t)fit->job.state.update.landmarks : fit->m;
    size_t bytes = ny_accumulator_image_bytes(before, true);
    double *delta = ny_calloc(fit->job.ctx, NY_MEM_GRAM, fit->m, sizeof(double));
    void *image = ny_alloc(fit->job.ctx, NY_MEM_GRAM, bytes);
    int err = delta && image ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_earlier_get(fit, fit->job.state.old_parts.sums, image, bytes);
    if (!err) ny_accumulator_restore_placed(fit->acc, image, before, matched->place);
    ny_free(fit->job.ctx, image);
    if (!err && !matched->same) err = shift_of(fit, matched, before, delta);
    if (!err && !matched->same) ny_accumulator_shift(fit->acc, delta);
    if (!matched->same && fit->acc->watched) fit->acc->rounded = true;
    ny_free(fit->job.ctx, delta);
    return err;
}

static int save(struct ny_fit *fit, enum ny_stage_id next, uint64_t units)
{
    return ny_fit_save_sums(fit, "gram", next, units);
}

static int save_joined(struct ny_fit *fit, enum ny_stage_id next, uint64_t units)
{
    return ny_fit_save_sums(fit, "late", next, units);
}

/* Sums the columns that joined over the rows before, from a checkpoint or from the earlier sums. */
static int add_columns(struct ny_fit *fit, const struct ny_matched *matched)
{
    struct ny_accumulate joined = {.gram = fit->gram,
                                   .acc = fit->acc,
                                   .matched = matched,
                                   .end_row =
                                       fit->job.points.here.first + fit->job.state.update.rows,
                                   .rows = ny_earlier_rows(fit),
                                   .save = save_joined};
    bool begun;
    int err = ny_fit_restore_sums(fit, "late", &joined.first_unit, &begun);

    if (!err && !begun) err = load_sums(fit, matched);
    if (err || !matched->joined_count) return err;
    err = ny_accumulate_pass(fit, &joined);
    if (err) return err;
    ny_job_mark_time(&fit->job);
    return save(fit, NY_STAGE_ACCUMULATE, fit->job.state.update.rows / NY_UNIT_ROWS);
}

/* Updates sums that are kept: adds the new columns, then all columns over the new rows. */
static int accumulate_new(struct ny_fit *fit, const struct ny_matched *matched)
{
    struct ny_accumulate pass = {.gram = fit->gram,
                                 .first_row = fit->job.state.update.rows,
                                 .rows = fit->job.points.n - ny_earlier_rows(fit),
                                 .save = save};
    bool summed;
    int err = ny_accumulator_new(&fit->acc, fit->job.ctx, fit->m);

    if (!err) ny_shards_watch(fit);
    if (!err) err = ny_fit_restore_sums(fit, "gram", &pass.first_unit, &summed);
    if (!err && !summed) {
        err = add_columns(fit, matched);
        pass.first_unit = pass.first_row / NY_UNIT_ROWS;
    }
    pass.acc = fit->acc;
    return err ? err : ny_accumulate_pass(fit, &pass);
}

/* Makes all sums; those of before may have been rounded. */
static int accumulate_all(struct ny_fit *fit)
{
    if (!ny_job_has_image(&fit->job, "gram")) fit->job.state.record.rounded = false;
    return ny_fit_sum_all(fit);
}

/* Sums that can be used are taken up; else all are made. */
static int accumulate(struct ny_fit *fit)
{
    struct ny_matched matched = {0};
    bool found;
    int err = find_sums(fit, &found);

    if (!err && found) err = ny_earlier_match(&matched, fit, fit->rows, fit->m);
    if (!err)
        err = found && keeps_sums(fit, &matched) ? accumulate_new(fit, &matched)
                                                 : accumulate_all(fit);
    ny_matched_release(&matched, fit->job.ctx);
    return err;
}

static int run_full(struct ny_job *job)
{
    return ny_fit_run_sums(ny_fit_of(job), ny_fit_measure_gram, accumulate);
}

/* The sums keep the precision that they have. */
static int run_frozen(struct ny_job *job)
{
    return ny_fit_run_sums(ny_fit_of(job), NULL, accumulate);
}

const struct ny_stage ny_stage_add_full = {
    .id = NY_STAGE_ACCUMULATE, .run = run_full, .count = ny_accumulate_count};
const struct ny_stage ny_stage_add_frozen = {
    .id = NY_STAGE_ACCUMULATE, .run = run_frozen, .count = ny_accumulate_count};
