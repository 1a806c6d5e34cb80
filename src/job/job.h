/*
 * A job: stats → select → (degrees →) accumulate → solve → project → (probe →) done, resumed at its
 * last checkpoint.
 *
 * Everything a later stage needs from an earlier one is stored when the earlier one ends, in the
 * same transaction as the record that says so (results/record.h). An update of a result (full:
 * select → … → done; frozen: accumulate → solve, which only measures → project → done) writes to
 * parts of its own beside those of the result, and takes its place in one transaction at the end:
 * update/update.h. Parts of a NAME:
 *
 *   job          the record
 *   update       the record of an update under way
 *   geometry     centre[d], factor[d]: frozen in stage stats
 *   select.0/1   image of a selection under way, two slots in turn
 *   landmarks    m row numbers, in order of selection
 *   residuals    n upper bounds of δ_i, f32 (greedy, rpcholesky)
 *   sums.0/1     image of the sums of the degrees' pass, two slots in turn
 *   degrees      v[m] and their mean: implicit degrees d_i = c_i·v
 *   gram.0/1     image of the accumulator, two slots in turn; the last one stays with the model
 *                (online: beside that of the selection)
 *   late.0/1     the same, while columns of landmarks that joined are added over earlier rows
 *   krylov.0/1   instead, of projected's randomized solver: its state (spectral/krylov.h)
 *   model        results/model.h
 *   embedding    chunks of whole rows, f32 or f64
 *   centring     u[m], for a probe: averages ρ_i = c_i·u
 *   averages     n, for a probe: ρ_i, or 1/√d_i; gone when the job is done
 *   probe.0/1    image of the sums of a probe, two slots in turn; gone likewise
 *
 * Of methods that work on all of K, which have no landmarks (whole/products.h), instead of gram and
 * model:
 *
 *   products.0/1 image of the products under way; gone when the job is done
 *   map          r × p: the embedding is the basis times this
 *   extension    what places new points (results/extension.h)
 */
#ifndef NY_JOB_JOB_H
#define NY_JOB_JOB_H

#include "results/degrees.h"
#include "results/record.h"
#include "fit/settings.h"
#include "update/update.h"

enum ny_stage {
    NY_STAGE_STATS,
    NY_STAGE_SELECT,
    NY_STAGE_DEGREES,
    NY_STAGE_ACCUMULATE,
    NY_STAGE_SOLVE,
    NY_STAGE_PROJECT,
    NY_STAGE_PROBE,
    NY_STAGE_NEIGHBORS, /* of a graph (neighbors/job.h) */
    NY_STAGE_GRAPH,
    NY_STAGE_DONE
};

/* Begins the course of a job (base/progress.h) by its plan; ny_course_end() when it is over. */
struct ny_plan;
void ny_job_course(struct ny_context *ctx, const struct ny_plan *plan);
const char *ny_stage_name(enum ny_stage stage);
enum ny_stage ny_stage_parse(const char *name);

struct ny_reader;
struct ny_krylov;
struct ny_online;

struct ny_job {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    const struct ny_fit_settings *settings;
    enum ny_stage until;          /* NY_STAGE_DONE, or NY_STAGE_SELECT for a dictionary alone */
    const struct ny_plan *plan;   /* NULL for a dictionary alone */
    json_t *record;               /* borrowed: loaded or new */
    struct ny_update update;      /* mode NONE: a fit */
    struct ny_points_info points; /* points.n = rows of the job, as recorded */
    enum ny_stage stage; /* under way */
    unsigned workers;
    size_t blas_bytes; /* reserved: what OpenBLAS keeps of its buffers */
    double marked_s; /* since when the stage under way is not yet in the report's stages */

    struct ny_geometry *geometry;
    struct ny_kernel_params params; /* γ decided */
    size_t m;
    uint64_t *rows; /* landmarks */
    struct ny_columns *columns;
    struct ny_matrix W;
    double *a; /* shift: column means of W */
    struct ny_degrees degrees; /* v = NULL: K is not divided */
    enum ny_gram_precision gram;
    double tile_noise; /* root mean square of f32 tiles' errors, measured on landmarks */
    bool coarse; /* the solve stage is at its second attempt (spectral/method.h) */
    struct ny_accumulator *acc;
    struct ny_krylov *krylov; /* projected with its randomized solver, instead of acc */
    struct ny_online *online; /* while stage select sums up too (fit/online.h) */
    struct ny_model *model;
    double *state; /* of a method on all of K (whole/products.h) */
    struct ny_reader *columns_reader; /* of a precomputed kernel, while a pass runs */
};

/* A new record: stage stats, n and d as of now, everything else in the report null. `options` is
 * taken over. */
json_t *ny_job_record_new(const struct ny_points_info *points, json_t *options, const char *kind);

/* Puts version, BLAS and CPU of this run into a report. */
void ny_job_describe_machine(json_t *report);

/* Runs from the record's stage to the end; the caller holds the NAME's lock. `record` is brought up
 * to date. `plan`: of the same settings; NULL for a dictionary alone.
 * Passes: those of the selection, one to accumulate, one to project. */
int ny_job_run(struct ny_store *store, const char *name, const struct ny_fit_settings *settings,
               json_t *record, const struct ny_plan *plan);

/* ---- between the stages (fit) ------------------------------------------------- */

json_t *ny_job_report(const struct ny_job *job);
json_t *ny_job_checkpoint(const struct ny_job *job);
/* Parts of the result, under the name that they have now; one that is put is one of this job. */
int ny_job_put_part(struct ny_job *job, const char *part, const void *data, size_t bytes);
int ny_job_get_part(const struct ny_job *job, const char *part, void *data, size_t bytes);
int ny_job_delete_part(const struct ny_job *job, struct ny_batch *batch, const char *part);
/* Adds the time since the last call to the seconds of the stage under way; notes the most that was
 * charged in it. */
void ny_job_mark_time(struct ny_job *job);
/* Puts the record, with the stage that comes next, in a batch, and commits it. */
int ny_job_commit(struct ny_job *job, struct ny_batch *batch, enum ny_stage stage);
int ny_job_save(struct ny_job *job, enum ny_stage stage);
/* Like ny_job_save(), and drops parts that served the stages before; their list ends with NULL. */
int ny_job_save_without(struct ny_job *job, enum ny_stage stage, const char *const *parts);
/* Stages from the record's on to `end`: `run` does job->stage and moves the record on. */
int ny_job_run_stages(struct ny_job *job, enum ny_stage end, int (*run)(void *arg), void *arg);
/* Writes an image to the slot not in use and makes it current in the record: the checkpoint of
 * `stage` after `units` units. */
int ny_job_checkpoint_image(struct ny_job *job, enum ny_stage stage, const char *part,
                            const void *image, size_t bytes, uint64_t units);
int ny_job_checkpoint_pieces(struct ny_job *job, enum ny_stage stage, const char *part,
                             const struct ny_pieces *image, uint64_t units);
/* The size that an image must have, and the most units that it may cover. */
struct ny_image_shape {
    size_t bytes;
    uint64_t units;
};
/* The current image of `part` (ny_free() it) and its units; *image = NULL when there is none, and
 * after an error. NY_ESTORE where it has another shape: what is stored may be anybody's. */
int ny_job_load_image(struct ny_job *job, const char *part, const struct ny_image_shape *shape,
                      void **image, uint64_t *units);
/* Loads the current image of `part` without checking its size: its format carries its own. */
int ny_job_load_any_image(struct ny_job *job, const char *part, void **image, size_t *bytes);
/* NY_ESTORE: the record is not one of such a job. */
int ny_job_no_such_stage(const struct ny_job *job);
/* NY_ESTORE: the stage under way cannot have written this checkpoint. */
int ny_job_not_its_checkpoint(const struct ny_job *job);
/* Loads an image of exactly `bytes` bytes into `image`. *found false: there is none. */
int ny_job_load_image_at(struct ny_job *job, const char *part, void *image, size_t bytes,
                         bool *found);
/* A second image of the same checkpoint: put before the other one, in its slot. */
int ny_job_put_beside(struct ny_job *job, const char *part, const struct ny_pieces *image);
int ny_job_get_beside(struct ny_job *job, const char *part, void *image, size_t bytes);
void ny_job_count_flops(struct ny_job *job, double flops);
void ny_job_count_pass(struct ny_job *job, uint64_t rows, double flops);
/* Counts several passes, in which so many rows were read in all. */
void ny_job_count_passes(struct ny_job *job, uint64_t passes, uint64_t rows, double flops);

int ny_stage_stats(struct ny_job *job);
/* γ, in all of its spellings. */
void ny_job_report_width(struct ny_job *job, double gamma);
/* Loads the geometry and width, which stage stats froze, and makes the kernel with them. */
int ny_job_load_frozen(struct ny_job *job);
struct ny_columns_spec ny_job_spec(const struct ny_job *job);
int ny_stage_select(struct ny_job *job);
/* Computes W, the shift a and the tile Gram's precision again from the landmarks, as they are not
 * stored; also W where a pass had no room for it. */
int ny_job_prepare(struct ny_job *job);
/* Measures f32 tiles on the landmarks (tile_noise). NY_ENUMERIC where they are not W − 1aᵀ: huge
 * offsets, outliers, underflow. */
int ny_job_check_tiles(struct ny_job *job);
size_t ny_job_check_tiles_bytes(const struct ny_columns_spec *spec, size_t m);
/* Gives W, a, degrees, columns and rows back. */
void ny_job_drop_landmarks(struct ny_job *job);
/* Reserves what OpenBLAS will keep with m landmarks. */
int ny_job_reserve_blas(struct ny_job *job, size_t m);
/* Sets job->workers to the most with which the pass that comes fits the budget, which may be
 * without W: then that is given back; NY_EBUDGET when not even one does. */
int ny_job_fit_workers(struct ny_job *job);
int ny_stage_degrees(struct ny_job *job);
int ny_stage_accumulate(struct ny_job *job);
/* Loads job->acc from the last checkpoint, if the job has a pass 1. */
int ny_job_load_accumulator(struct ny_job *job);
/* The small problem of the job as it is prepared. */
struct ny_problem ny_job_problem(const struct ny_job *job);
/* Gives back what a small problem has used up; sums come again from their checkpoint. */
void ny_job_drop_problem(struct ny_job *job);
int ny_stage_solve(struct ny_job *job);
int ny_stage_project(struct ny_job *job);
/* Returns the stage after project: the probe if one is asked for, else the end. */
enum ny_stage ny_job_after_project(const struct ny_job *job);
int ny_stage_probe(struct ny_job *job);
/* Eigenvalues and certificate; what is known when the last stage ends. */
struct ny_solution;
void ny_job_report_solution(struct ny_job *job, const struct ny_solution *solution);
/* Computes the factors of Û in the map: Λ̂^½ goes into the stored rows themselves, diffusion's λ̂^t
 * into the coordinates. *scale: the factors, which `coordinates` borrows for diffusion; ny_free()
 * it; NULL: 1. */
struct ny_coordinates;
int ny_job_scale(const struct ny_job *job, const struct ny_solution *solution, double **scale,
                 struct ny_coordinates *coordinates);
void ny_job_report_end(struct ny_job *job);
void ny_job_report_resources(struct ny_job *job);

#endif
