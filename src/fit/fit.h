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
 *   landmark-points  instead, the landmarks themselves where they are given by their coordinates
 *                (model/landmark_points.h)
 *   residuals    n upper bounds of δ_i, f32 (greedy, rpcholesky)
 *   sums.0/1     image of the sums of the degrees' pass, two slots in turn
 *   degrees      v[m] and their mean: implicit degrees d_i = c_i·v
 *   gram.0/1     image of the accumulator, two slots in turn; the last one stays with the model
 *                (online: beside that of the selection)
 *   late.0/1     the same, while columns of landmarks that joined are added over earlier rows
 *   krylov.0/1   instead, of projected's randomized solver: its state (spectral/krylov.h)
 *   model        model/model.h
 *   embedding    chunks of whole rows, f32 or f64
 *   centring     u[m], for a probe: averages ρ_i = c_i·u
 *   averages     n, for a probe: ρ_i, or 1/√d_i; gone when the job is done
 *   probe.0/1    image of the sums of a probe, two slots in turn; gone likewise
 *
 * Methods that work on all of K, which have no landmarks (whole/products.h), have instead of gram
 * and model:
 *
 *   products.0/1 image of the products under way; gone when the job is done
 *   map          r × p: the embedding is the basis times this
 *   extension    what places new points (model/extension.h)
 */
#ifndef NY_FIT_FIT_H
#define NY_FIT_FIT_H

#include "fit/earlier.h"
#include "fit/settings.h"
#include "job/job.h"
#include "model/degrees.h"

struct ny_krylov;
struct ny_online;
struct ny_plan;

struct ny_fit {
    struct ny_job job; /* record, checkpoints and times */
    const struct ny_fit_settings *settings;
    const struct ny_course
        *planned; /* the course of a new fit with these settings, by which memory is planned */
    const struct ny_plan *plan; /* NULL for a dictionary alone */
    enum ny_update_mode mode;   /* of job.state.update; NONE: this is a fit */
    struct ny_geometry *geometry;
    struct ny_kernel_params params; /* of the kernel, with γ as stage stats has decided it */
    size_t m;
    uint64_t *rows; /* m row numbers of the landmarks; NULL: they are no rows */
    struct ny_columns *columns;
    struct ny_matrix W;
    double *a;                 /* shift: column means of W */
    struct ny_degrees degrees; /* v = NULL: K is not divided */
    enum ny_gram_precision gram;
    double tile_noise;           /* root mean square of f32 tiles' errors, measured on landmarks */
    bool coarse;                 /* the solve stage is at its second attempt (spectral/method.h) */
    struct ny_tile_cache *cache; /* tiles that later passes copy; NULL: none */
    struct ny_accumulator *acc;
    struct ny_krylov *krylov; /* projected with its randomized solver, instead of acc */
    struct ny_online *online; /* set while stage select also sums up (fit/online.c) */
    struct ny_model *model;
    double *state; /* products of a method that needs all of K (whole/products.h) */
};

/* Returns the fit that begins with this job. */
static inline struct ny_fit *ny_fit_of(struct ny_job *job)
{
    return (struct ny_fit *)job;
}

/* Returns m, or the size in its place. */
static inline size_t ny_fit_order(const struct ny_fit *fit)
{
    if (fit->planned->order) return fit->planned->order(fit->settings, fit->job.points.n);
    return ny_state_landmarks(&fit->job.state);
}

/* Runs the course of fit->job, whose ctx, store, name, record and workers are set, as are settings,
 * planned, plan, params and earlier (update/courses.h does). Releases what the stages hold. */
int ny_fit_run(struct ny_fit *fit);
/* Frees all that stages hold; not the record, which is the caller's. */
void ny_fit_release(struct ny_fit *fit);

/* ---- what stages share ---------------------------------------------------------------------- */

/* Puts γ into the report, and σ and ε that are the same width in other words. */
void ny_fit_report_width(struct ny_fit *fit, double gamma);
/* Loads the geometry and width, which stage stats froze, and makes the kernel with them. */
int ny_fit_load_frozen(struct ny_fit *fit);
/* Returns the kernel and the rows that C is made of, as they were frozen by stage stats. */
struct ny_columns_spec ny_fit_spec(const struct ny_fit *fit);
/* Reserves what OpenBLAS will keep with m landmarks. */
int ny_fit_reserve_blas(struct ny_fit *fit, size_t m);
/* Sets job.workers to the most with which the pass that comes fits the budget, which may be without
 * W: then that is given back; NY_EBUDGET when not even one does. */
int ny_fit_lower_workers(struct ny_fit *fit);

/* Computes W, the shift a and the tile Gram's precision again from the landmarks, as they are not
 * stored; also W where a pass had no room for it. */
int ny_fit_prepare(struct ny_fit *fit);
/* Loads landmarks that are points, in the type and slots that the job reads rows in. */
int ny_fit_load_points(const struct ny_fit *fit, void *raw);
/* Measures f32 tiles on the landmarks (tile_noise). NY_ENUMERIC where they are off W − 1aᵀ by more
 * than this share of the diagonal: huge offsets, outliers, underflow. */
#define NY_TILES_OFF 1e-3
int ny_fit_check_tiles(struct ny_fit *fit, double most);
/* Returns the bytes that ny_fit_check_tiles() holds besides the landmarks. */
void ny_fit_check_tiles_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m);
/* Frees the state of the randomized solver. */
void ny_fit_drop_krylov(struct ny_fit *fit);
/* Frees what a small problem has used up: landmarks, W and the sums, which are loaded again from
 * their checkpoint. */
void ny_fit_drop_problem(struct ny_fit *fit);
/* Loads fit->acc from the last checkpoint, if the fit has a pass 1. */
int ny_fit_load_accumulator(struct ny_fit *fit);

/* Returns the small problem of a fit that ny_fit_prepare() has prepared. */
struct ny_problem ny_fit_problem(const struct ny_fit *fit);
struct ny_solution;
/* Has the sums made again in f64, or the problem solved with a higher cut, where a solution was too
 * coarse. Fails with NY_ENUMERIC where that was done before. */
int ny_fit_try_again(struct ny_fit *fit);
/* Solves the small problem: W, s, G → P, q. *coarse: the sums have lost what the solution needs,
 * which is then none. The sums are destroyed. */
int ny_fit_solve_problem(struct ny_fit *fit, struct ny_solution *solution, bool *coarse);
/* Reads the model that stage solve has left, and makes sure that it is of these points; *model,
 * which is NULL before, is to be freed after a failure, too. */
int ny_fit_read_model(const struct ny_fit *fit, struct ny_model **model);
/* Makes fit->model from the solution. */
int ny_fit_make_model(struct ny_fit *fit, const struct ny_solution *solution);
/* Puts eigenvalues and certificate into the report. */
void ny_fit_report_solution(struct ny_fit *fit, const struct ny_solution *solution);
/* Puts them into the report, and stores the model. */
int ny_fit_conclude(struct ny_fit *fit, const struct ny_solution *solution);
/* Runs stage solve: the small problem, its eigenvectors' signs by `fix_signs` (NULL: the method has
 * fixed them), the model. */
int ny_fit_run_solve(struct ny_fit *fit, int (*fix_signs)(struct ny_fit *, struct ny_solution *));
/* Computes the factors of Û in the map: Λ̂^½ goes into the stored rows themselves, diffusion's λ̂^t
 * into the coordinates. *scale: the factors, which `coordinates` borrows for diffusion; ny_free()
 * it; NULL: 1. */
struct ny_coordinates;
int ny_fit_scale(const struct ny_fit *fit, const struct ny_solution *solution, double **scale,
                 struct ny_coordinates *coordinates);
/* Tells the bytes of a stage that solves the small problem and makes the model. */
ny_stage_count_fn ny_solve_count;
/* Adds what such a stage takes to a plan. */
void ny_solve_work(const struct ny_job_sizes *sizes, struct ny_plan *plan);

#endif
