/*
 * A job: the record of a NAME, its checkpoints and times, and the running of its stages, which it
 * resumes at its last checkpoint.
 *
 * A job is a record and parts. What a stage leaves is committed in the same LMDB transaction as
 * the record that says so (job/record.h, job/state.h): everything that a later stage needs from an
 * earlier one is stored when the earlier one ends. A resumed job reads the record and goes on. The
 * images of checkpoints alternate between two slots, "part.0" and "part.1": a kill while one is
 * being written leaves the other one, which the record still names.
 *
 * A job knows no stage: what the stages of a kind of job hold is in a struct of their own, which
 * begins with the job: fit/fit.h, neighbors/job.h.
 */
#ifndef NY_JOB_JOB_H
#define NY_JOB_JOB_H

#include "job/keep.h"
#include "job/record.h"
#include "job/stage.h"
#include "stream/rows.h"

struct ny_job {
    struct ny_context *ctx;
    struct ny_rows *X;
    struct ny_keep keep;
    struct ny_record record;    /* borrowed: loaded or new */
    struct ny_state state;      /* what stages read of it and write to it, until a commit */
    struct ny_rows_info points; /* points.n = rows of the job, as recorded */
    const struct ny_course *course;
    enum ny_stage_id after; /* what the record has when the course is over: NY_STAGE_DONE, or the
                             * first stage of another job of the NAME */
    enum ny_stage_id stage; /* under way */
    unsigned workers;
    size_t blas_bytes; /* reserved: what OpenBLAS keeps of its buffers */
    double marked_s;   /* from then on, time is not yet in the report's stages */
    /* Called with the batch of the last commit, before the record is put. NULL: nothing is. */
    int (*at_end)(struct ny_job *job, struct ny_batch *batch);
};

/* Returns how many rows a job is of, where the store has n: those that its record counts, unless
 * there is none, or it is still in stage stats: nothing is made of them before. A count of 0, which
 * no record has, stays what it is. */
uint64_t ny_job_rows(const struct ny_state *state, uint64_t n);
/* Makes the job count the rows that ny_job_rows() tells, and says so where they are others. */
void ny_job_count_anew(struct ny_job *job);

/* Returns how many eigenvalues the job has found, and the k-th of them; 0: there is none. */
size_t ny_job_eigenvalues(const struct ny_job *job);
double ny_job_eigenvalue(const struct ny_job *job, size_t k);
/* An estimate of the error of a pair, its standard error, and the eigenvalue that follows; NaN: not
 * known. */
struct ny_pair_error {
    double rho, se, value;
};
/* Begins the errors of the components in the report, estimated with so many check rows. */
void ny_job_begin_errors(struct ny_job *job, size_t check_rows);
/* Adds that of the next pair. */
void ny_job_add_error(struct ny_job *job, struct ny_pair_error error);
/* Forgets the checkpoint, as of a stage that begins. */
void ny_job_clear_checkpoint(struct ny_job *job);
/* Stores a part of the result, under the name of a part that this job has made. */
int ny_job_put_part(struct ny_job *job, const char *part, const void *data, size_t bytes);
/* Reads a part of exactly `bytes` bytes, under the name that it has now. */
int ny_job_get_part(const struct ny_job *job, const char *part, void *data, size_t bytes);
/* Deletes a part in the batch; one that is not there is fine. */
int ny_job_delete_part(const struct ny_job *job, struct ny_batch *batch, const char *part);
/* Adds the time since the last call to the seconds of the stage under way; notes the most that was
 * charged in it. */
void ny_job_mark_time(struct ny_job *job);
/* Returns the seconds of a stage so far. */
double ny_job_seconds(const struct ny_job *job, enum ny_stage_id stage);
/* Puts the record, with the stage that comes next, in a batch, and commits it. */
int ny_job_commit(struct ny_job *job, struct ny_batch *batch, enum ny_stage_id stage);
/* Commits the record, with the stage that comes next, in a batch of its own. */
int ny_job_save(struct ny_job *job, enum ny_stage_id stage);
/* Like ny_job_save(), and drops parts that served the stages before; their list ends with NULL. */
int ny_job_save_without(struct ny_job *job, enum ny_stage_id stage, const char *const *parts);
/* Runs the course from the record's stage to its end. NY_ESTORE where the record has a stage that
 * the course has not, or skips. */
int ny_job_run(struct ny_job *job);
/* Returns the stage under way. */
const struct ny_stage *ny_job_stage(const struct ny_job *job);
/* Returns the stage that follows the one under way: the next one of the course, or job->after. */
enum ny_stage_id ny_job_next(const struct ny_job *job);
/* Writes an image to the slot not in use and makes it current in the record: the checkpoint of
 * `stage` after `units` units. */
int ny_job_checkpoint_image(struct ny_job *job, enum ny_stage_id stage, const char *part,
                            const void *image, size_t bytes, uint64_t units);
/* Writes such an image piece by piece, so that memory never holds all of it. */
int ny_job_checkpoint_pieces(struct ny_job *job, enum ny_stage_id stage, const char *part,
                             const struct ny_pieces *image, uint64_t units);
/* Tells whether the current checkpoint is an image of `part`. */
bool ny_job_has_image(const struct ny_job *job, const char *part);
/* The shape of an image: the size that it must have, or NY_IMAGE_ANY where its format carries its
 * own, which is then put here; and the most units that it may cover. */
#define NY_IMAGE_ANY SIZE_MAX
struct ny_image_shape {
    size_t bytes;
    uint64_t units;
};
/* Loads the current image of `part`, which ny_free() frees, and its units; *image = NULL when there
 * is none, and after an error. NY_ESTORE where it has another shape: what is stored is not
 * believed. */
int ny_job_load_image(const struct ny_job *job, const char *part, struct ny_image_shape *shape,
                      void **image, uint64_t *units);
/* Reads the image `part` of the current checkpoint, or its second image, of exactly `bytes`
 * bytes. */
int ny_job_read_image(const struct ny_job *job, const char *part, void *image, size_t bytes);
/* Fails with NY_ESTORE: the stage under way cannot have written this checkpoint. */
int ny_job_not_its_checkpoint(const struct ny_job *job);
/* Fails with NY_ESTORE: the job has no state of these stages, as an earlier version began it with
 * others. */
int ny_job_begun_otherwise(const struct ny_job *job);
/* Puts a second image of the same checkpoint, in the slot of the other one and before it. */
int ny_job_put_beside(struct ny_job *job, const char *part, const struct ny_pieces *image);
/* Adds flops to those of the report. */
void ny_job_count_flops(struct ny_job *job, double flops);
/* Counts one pass over `rows` rows, their bytes and its flops in the report. */
void ny_job_count_pass(struct ny_job *job, uint64_t rows, double flops);
/* Counts several passes, in which so many rows were read in all. */
void ny_job_count_passes(struct ny_job *job, uint64_t passes, uint64_t rows, double flops);

#endif
