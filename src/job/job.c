/*
 * The walk over a course, and the record, parts and checkpoints that a job leaves (job/job.h).
 *
 * ny_job_run() reads the stage from the record, runs it, and goes on until the record has the
 * stage behind the course. A stage ends by a commit of the record with the stage that comes next,
 * so that the walk needs no state of its own: a job that was killed is resumed by the same
 * function. Stages call the rest: ny_job_put_part() for what stays, ny_job_checkpoint_image() for
 * what is needed only until the stage ends, ny_job_save() at its end, ny_job_mark_time() and
 * ny_job_count_pass() for the report.
 *
 * A stage may load what anybody has written: an image of another size, or of more units than there
 * are, is NY_ESTORE with the advice to begin anew with --restart.
 */
#include "job/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/peers.h"
#include "base/progress.h"
#include "linalg/blas.h"
#include "stream/source.h"

uint64_t ny_job_rows(const struct ny_state *state, uint64_t n)
{
    const char *stage = state->record.stage;
    uint64_t then = state->report.n;

    return !stage || (then && ny_is(stage, ny_stage_name(NY_STAGE_STATS))) ? n : then;
}

void ny_job_count_anew(struct ny_job *job)
{
    uint64_t then = job->state.report.n, now = ny_job_rows(&job->state, job->points.n);

    if (now == then) return;
    ny_log(job->ctx, NY_LOG_NOTE,
           "'%s' was stopped before it had made anything from %llu rows, and starts over with the "
           "%llu rows that %s has now",
           job->keep.name, (unsigned long long)then, (unsigned long long)now, job->keep.place);
    job->state.report.n = now;
}

size_t ny_job_eigenvalues(const struct ny_job *job)
{
    return job->record.ops->count(job->record, NY_LIST_EIGENVALUES);
}

double ny_job_eigenvalue(const struct ny_job *job, size_t k)
{
    double value = job->record.ops->at(job->record, NY_LIST_EIGENVALUES, k);

    return isnan(value) ? 0 : value;
}

void ny_job_begin_errors(struct ny_job *job, size_t check_rows)
{
    job->state.report.check_rows = check_rows;
    job->record.ops->begin_list(job->record, NY_LIST_ERRORS);
    job->record.ops->begin_list(job->record, NY_LIST_ERRORS_SE);
    job->record.ops->begin_list(job->record, NY_LIST_CORRECTED);
}

void ny_job_add_error(struct ny_job *job, struct ny_pair_error error)
{
    job->record.ops->append(job->record, NY_LIST_ERRORS, error.rho);
    job->record.ops->append(job->record, NY_LIST_ERRORS_SE, error.se);
    job->record.ops->append(job->record, NY_LIST_CORRECTED, error.value);
}

void ny_job_clear_checkpoint(struct ny_job *job)
{
    job->state.at = ny_state_none().at;
    job->state.at.there = true;
}

int ny_job_put_part(struct ny_job *job, const char *part, const void *data, size_t bytes)
{
    ny_record_renew(job->record, part);
    return ny_keep_put(&job->keep, ny_record_part(job->record, part).name, data, bytes);
}

int ny_job_get_part(const struct ny_job *job, const char *part, void *data, size_t bytes)
{
    return job->keep.ops->get(&job->keep, ny_record_part(job->record, part).name, data, bytes);
}

int ny_job_delete_part(const struct ny_job *job, struct ny_batch *batch, const char *part)
{
    return job->keep.ops->drop(&job->keep, batch, ny_record_part(job->record, part).name);
}

/* Adds to a number of the report, which begins with none. */
static void add(double *sum, double more)
{
    *sum = (isnan(*sum) ? 0 : *sum) + more;
}

double ny_job_seconds(const struct ny_job *job, enum ny_stage_id stage)
{
    return job->state.stage_s[stage];
}

void ny_job_mark_time(struct ny_job *job)
{
    struct ny_state *state = &job->state;
    double now_s = ny_now(), elapsed_s = now_s - job->marked_s;
    double network_s = ny_peers_network_s(ny_context_peers(job->ctx));

    job->marked_s = now_s;
    state->stage_s[job->stage] += elapsed_s;
    add(&state->report.seconds, elapsed_s);
    state->report.network_seconds += network_s;
    if (state->stage_bytes[job->stage] < ny_memory_peak(job->ctx))
        state->stage_bytes[job->stage] = ny_memory_peak(job->ctx);
}

/* Adds up the totals of all runs that made the result; an update begins with those before it. */
static void add_totals(struct ny_state_report *report)
{
    ny_index_add(&report->total_rows_read, report->rows_read == NY_NONE ? 0 : report->rows_read);
    add(&report->total_flops, isnan(report->flops) ? 0 : report->flops);
    add(&report->total_seconds, isnan(report->seconds) ? 0 : report->seconds);
}

/* Puts into the report what the whole run took of memory and disk. */
static void report_resources(struct ny_job *job)
{
    struct ny_state_report *report = &job->state.report;
    size_t peak = ny_rss_peak_bytes();

    report->peak_rss_bytes = peak ? peak : NY_NONE;
    report->memory_budget_bytes = ny_memory_whole(job->ctx);
    report->store_bytes = job->keep.ops->bytes(&job->keep);
}

int ny_job_commit(struct ny_job *job, struct ny_batch *batch, enum ny_stage_id stage)
{
    int err = NY_OK;

    job->state.record.stage = ny_stage_name(stage);
    if (stage == NY_STAGE_DONE) {
        add_totals(&job->state.report);
        report_resources(job);
    }
    job->record.ops->put(job->record, &job->state);
    if (stage == NY_STAGE_DONE && job->at_end) err = job->at_end(job, batch);
    if (err == NY_OK) err = job->record.ops->save(&job->keep, batch, job->record);
    if (err) {
        job->keep.ops->cancel(batch);
        return err;
    }
    return job->keep.ops->commit(batch);
}

int ny_job_save(struct ny_job *job, enum ny_stage_id stage)
{
    struct ny_batch *batch;
    int err = job->keep.ops->begin(&job->keep, &batch);

    return err ? err : ny_job_commit(job, batch, stage);
}

int ny_job_save_without(struct ny_job *job, enum ny_stage_id stage, const char *const *parts)
{
    struct ny_batch *batch;
    int err = job->keep.ops->begin(&job->keep, &batch);

    if (err) return err;
    for (; *parts && err == NY_OK; parts++)
        err = ny_job_delete_part(job, batch, *parts);
    if (err) {
        job->keep.ops->cancel(batch);
        return err;
    }
    return ny_job_commit(job, batch, stage);
}

/* Names one of the two slots of a checkpoint. A new image goes into the slot that the record
 * does not name, so that a kill while it is written leaves the old one. */
static void slot_name(char *text, size_t size, const char *part, uint64_t slot)
{
    snprintf(text, size, "%s.%llu", part, (unsigned long long)slot);
}

static uint64_t other_slot(const struct ny_job *job)
{
    return job->state.at.slot == 0;
}

int ny_job_checkpoint_image(struct ny_job *job, enum ny_stage_id stage, const char *part,
                            const void *image, size_t bytes, uint64_t units)
{
    struct ny_pieces pieces = ny_pieces_of(image, bytes);

    return ny_job_checkpoint_pieces(job, stage, part, &pieces, units);
}

int ny_job_checkpoint_pieces(struct ny_job *job, enum ny_stage_id stage, const char *part,
                             const struct ny_pieces *image, uint64_t units)
{
    struct ny_state_at *at = &job->state.at;
    uint64_t slot = other_slot(job);
    char name[32];
    int err;

    slot_name(name, sizeof(name), part, slot);
    ny_record_renew(job->record, name);
    err = job->keep.ops->put_pieces(&job->keep, ny_record_part(job->record, name).name, image);
    if (err) return err;
    at->part = part;
    at->slot = slot;
    at->bytes = image->bytes;
    at->units = units;
    at->rows = units * NY_UNIT_ROWS;
    ny_job_mark_time(job);
    return ny_job_save(job, stage);
}

bool ny_job_has_image(const struct ny_job *job, const char *part)
{
    return ny_is(job->state.at.part, part);
}

int ny_job_read_image(const struct ny_job *job, const char *part, void *image, size_t bytes)
{
    char name[32];

    slot_name(name, sizeof(name), part, job->state.at.slot);
    return ny_job_get_part(job, name, image, bytes);
}

int ny_job_put_beside(struct ny_job *job, const char *part, const struct ny_pieces *image)
{
    char name[32];

    slot_name(name, sizeof(name), part, other_slot(job));
    ny_record_renew(job->record, name);
    return job->keep.ops->put_pieces(&job->keep, ny_record_part(job->record, name).name, image);
}

int ny_job_not_its_checkpoint(const struct ny_job *job)
{
    return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
}

int ny_job_begun_otherwise(const struct ny_job *job)
{
    return ny_fail(job->ctx, NY_ESTORE,
                   "'%s' in %s was begun in another way, by an earlier version; begin it anew with "
                   "--restart",
                   job->keep.name, job->keep.place);
}

int ny_job_load_image(const struct ny_job *job, const char *part, struct ny_image_shape *shape,
                      void **image, uint64_t *units)
{
    size_t bytes = (size_t)job->state.at.bytes;
    int err;

    *image = NULL;
    *units = 0;
    if (!ny_job_has_image(job, part)) return NY_OK;
    *units = job->state.at.units;
    if (shape->bytes == NY_IMAGE_ANY) shape->bytes = bytes;
    if (bytes != shape->bytes || *units > shape->units) return ny_job_not_its_checkpoint(job);
    *image = ny_alloc(job->ctx, NY_MEM_OTHER, bytes);
    if (!*image) return NY_EBUDGET;
    err = ny_job_read_image(job, part, *image, bytes);
    if (err == NY_OK) return NY_OK;
    ny_free(job->ctx, *image);
    *image = NULL;
    return err;
}

void ny_job_count_flops(struct ny_job *job, double flops)
{
    add(&job->state.report.flops, flops);
}

void ny_job_count_pass(struct ny_job *job, uint64_t rows, double flops)
{
    ny_job_count_passes(job, 1, rows, flops);
}

void ny_job_count_passes(struct ny_job *job, uint64_t passes, uint64_t rows, double flops)
{
    uint64_t here = ny_rows_here(&job->points); /* the others' rows take as many */
    double row_bytes = (double)job->points.kept_bytes / (double)(here ? here : 1);

    ny_index_add(&job->state.report.passes, passes);
    ny_index_add(&job->state.report.rows_read, rows);
    ny_index_add(&job->state.report.bytes_read, (uint64_t)(row_bytes * (double)rows));
    ny_job_count_flops(job, flops);
}

/* Tells whether the course leaves the stage out for this job. */
static bool is_skipped(const struct ny_job *job, const struct ny_stage *stage)
{
    return job->course->skips && job->course->skips(job, stage->id);
}

/* Returns where the course has a stage, or NULL. */
static const struct ny_stage *const *place_of(const struct ny_job *job, enum ny_stage_id id)
{
    const struct ny_stage *const *at = job->course->stages;

    while (*at && (*at)->id != id)
        at++;
    return *at ? at : NULL;
}

/* Tells whether all stages from a place on are skipped. */
static bool is_over(const struct ny_job *job, const struct ny_stage *const *at)
{
    while (*at && is_skipped(job, *at))
        at++;
    return !*at;
}

const struct ny_stage *ny_job_stage(const struct ny_job *job)
{
    return *place_of(job, job->stage);
}

enum ny_stage_id ny_job_next(const struct ny_job *job)
{
    const struct ny_stage *const *at = place_of(job, job->stage);

    return at && !is_over(job, at + 1) ? at[1]->id : job->after;
}

/* Runs the stage that the record has. The record passes those that are skipped, too. */
static int run_stage(struct ny_job *job, enum ny_stage_id id)
{
    const struct ny_stage *const *at = place_of(job, id);
    int err;

    if (!at || is_over(job, at)) return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    job->stage = id;
    ny_progress_stage(job->ctx, ny_stage_rank(id), ny_stage_name(id));
    err = ny_check_interrupt(job->ctx);
    ny_memory_peak_reset(job->ctx);
    ny_blas_serial(); /* but around small problems, whatever ran before in this process */
    ny_context_set_crew(job->ctx, job->workers);
    if (!err) err = ny_blas_make_room(job->ctx, job->workers);
    if (err) return err;
    return is_skipped(job, *at) ? ny_job_save(job, ny_job_next(job)) : (*at)->run(job);
}

int ny_job_run(struct ny_job *job)
{
    int err = NY_OK;

    while (err == NY_OK) {
        const char *word = job->state.record.stage;
        enum ny_stage_id recorded = ny_stage_parse(word);

        if (recorded == job->after && ny_is(word, ny_stage_name(recorded))) break;
        err = recorded == NY_STAGE_DONE ? ny_fail_damaged(job->ctx, job->keep.name, job->keep.place)
                                        : run_stage(job, recorded);
    }
    ny_context_set_crew(job->ctx, 0);
    return err;
}
