/*
 * Stage accumulate of an update: the sums of the result, moved to the present landmarks and their
 * shift, take in the columns that joined, over the rows of before, and then the new rows.
 */
#include "update/sums.h"

#include "fit/gram_noise.h"

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
                                   .end_row = fit->earlier.rows,
                                   .save = save_joined};
    bool begun;
    int err = ny_fit_restore_sums(fit, "late", &joined.first_unit, &begun);

    if (!err && !begun) err = ny_update_load_sums(fit, matched);
    if (err || !matched->joined_count) return err;
    err = ny_accumulate_pass(fit, &joined);
    if (err) return err;
    ny_job_mark_time(&fit->job);
    return save(fit, NY_STAGE_ACCUMULATE, fit->earlier.rows / NY_UNIT_ROWS);
}

/* Updates sums that are kept: adds the new columns, then all columns over the new rows. */
static int accumulate_new(struct ny_fit *fit, const struct ny_matched *matched)
{
    struct ny_accumulate pass = {.gram = fit->gram, .first_row = fit->earlier.rows, .save = save};
    bool summed;
    int err = ny_accumulator_new(&fit->acc, fit->job.ctx, fit->m);

    if (!err) err = ny_fit_restore_sums(fit, "gram", &pass.first_unit, &summed);
    if (!err && !summed) {
        err = add_columns(fit, matched);
        pass.first_unit = pass.first_row / NY_UNIT_ROWS;
    }
    pass.acc = fit->acc;
    return err ? err : ny_accumulate_pass(fit, &pass);
}

/* Sums that can be used are taken up; else all are made. */
static int accumulate(struct ny_fit *fit)
{
    struct ny_matched matched = {0};
    int err = NY_OK;

    if (ny_earlier_has_sums(fit)) err = ny_earlier_match(&matched, fit, fit->rows, fit->m);
    if (!err)
        err = ny_update_keeps_sums(fit, &matched) ? accumulate_new(fit, &matched)
                                                  : ny_fit_sum_all(fit);
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
    .id = NY_STAGE_ACCUMULATE, .run = run_full, .bytes = ny_accumulate_bytes};
const struct ny_stage ny_stage_add_frozen = {
    .id = NY_STAGE_ACCUMULATE, .run = run_frozen, .bytes = ny_accumulate_bytes};
