/* Stage solve of isomap: W = −½HΔ(D, D)²H → P, by eqs. 6 and 7, or 8 and 9, of Talwalkar, Kumar &
 * Rowley 2008. */
#include "maps/isomap_private.h"

#include <math.h>
#include <string.h>

#include "linalg/eigen_few.h"

/* A ← (A + Aᵀ)/2, by squares that stay in cache. */
static void average_ends(struct ny_matrix A)
{
    enum { SIDE = 64 };

    for (size_t top = 0; top < A.rows; top += SIDE)
        for (size_t left = 0; left <= top; left += SIDE)
            for (size_t i = top; i < A.rows && i < top + SIDE; i++)
                for (size_t j = left; j < i && j < left + SIDE; j++) {
                    double *there = &A.at[i * A.stride + j], *back = &A.at[j * A.stride + i];

                    *there = *back = (*there + *back) / 2;
                }
}

static int load_state(struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->base.job;
    size_t bytes = ny_isomap_state_bytes(map->m);

    map->state = ny_alloc(job->ctx, NY_MEM_OTHER, bytes);
    return map->state ? ny_job_get_part(job, "geodesics", map->state, bytes) : NY_EBUDGET;
}

/* −½Δ(D, D)² and its column means; the method's basis makes HWH of it (spectral/basis.h). A path's
 * f32 sum depends on the end where it begins: W takes the mean of both. */
static int make_square(const struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->base.job;
    size_t m = map->m, width = m + map->samples;
    float longest = 0;

    map->fit->base.W = ny_matrix(ny_calloc(job->ctx, NY_MEM_SOLVE, m, m * sizeof(double)), m, m);
    map->fit->base.a = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m, sizeof(double));
    if (!map->fit->base.W.at || !map->fit->base.a) return NY_EBUDGET;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) {
            float path = map->state[i * width + j];

            longest = path > longest ? path : longest;
            map->fit->base.W.at[i * m + j] = -(double)path * (double)path / 2; /* −½Δ² */
        }
    }
    if (!(longest > 0))
        return ny_fail(job->ctx, NY_EDATA,
                       "all %zu landmarks are equal, at a distance of 0 from one another: nothing "
                       "to embed",
                       m);
    if (!(longest < INFINITY)) return ny_isomap_not_reached(map);
    average_ends(map->fit->base.W);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++)
            map->fit->base.a[i] += map->fit->base.W.at[i * m + j];
        map->fit->base.a[i] /= (double)m;
    }
    return NY_OK;
}

/* Sums up the whole spectrum of HWH, left in W by the solver, whose own pairs do not tell it. */
static int sum_up_spectrum(const struct ny_isomap *map, double cut, struct ny_solution *solution)
{
    struct ny_job *job = &map->fit->base.job;
    double *values = ny_calloc(job->ctx, NY_MEM_SOLVE, map->m, sizeof(double));
    int err = values ? ny_eigenvalues(job->ctx, map->fit->base.W, values) : NY_EBUDGET;

    if (err == NY_OK) ny_solution_count(solution, values, map->m, cut);
    ny_free(job->ctx, values);
    return err;
}

/* Tells whether negative eigenvalues are only counted: where few pairs of many were found, the
 * whole spectrum would take several times as long as they did, and seconds. */
static bool is_counted(size_t m, size_t p)
{
    return m > NY_BLAS_SERIAL_ORDER && ny_eigen_is_few(m, p);
}

/* Counts the eigenvalues that are negative beyond rounding; of a small matrix it sums them up, too.
 */
static int count_negative(const struct ny_isomap *map, struct ny_solution *solution)
{
    struct ny_job *job = &map->fit->base.job;
    double cut = 0x1p-22 * solution->values[0] * (double)map->m / (double)map->fit->edges.n;

    solution->negative = 0;
    solution->negative_share = NAN;
    if (!is_counted(map->m, map->p)) return sum_up_spectrum(map, cut, solution);
    return ny_eigen_count_below(job->ctx, map->fit->base.W, -cut, &solution->negative);
}

/* Saves P, scaled to coordinates, in order of selection, after the row that the shift a becomes. */
static int save_map(const struct ny_isomap *map, const struct ny_solution *solution)
{
    struct ny_job *job = &map->fit->base.job;
    size_t m = map->m, p = map->p;
    double *image = ny_calloc(job->ctx, NY_MEM_SOLVE, m + 1, p * sizeof(double));
    int err;

    if (!image) return NY_EBUDGET;
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j < m; j++) {
            /* Y = ÛΛ̂^½, eq. 1, of Û = C′P + 1qᵀ */
            double scaled = solution->P.at[j * solution->P.stride + k] * sqrt(solution->values[k]);

            image[((size_t)map->landmark[j] + 1) * p + k] = scaled;
            image[k] -= map->fit->base.a[j] * scaled;
        }
    err = ny_job_put_part(job, "map", image, (m + 1) * p * sizeof(double));
    ny_free(job->ctx, image);
    return err;
}

/* Paths of the sample, for stage project: of landmarks that are all nodes, where it is one of any
 * two nodes. */
static int save_sample(const struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->base.job;
    size_t q = map->samples, width = map->m + q;
    float *sample = ny_calloc(job->ctx, NY_MEM_SOLVE, map->m, q * sizeof(float));
    int err;

    if (!sample) return NY_EBUDGET;
    for (size_t i = 0; i < map->m; i++)
        memcpy(sample + i * q, map->state + i * width + map->m, q * sizeof(float));
    err = ny_job_put_part(job, "sample", sample, map->m * q * sizeof(float));
    ny_free(job->ctx, sample);
    return err;
}

static int solve_problem(struct ny_isomap *map, struct ny_solution *solution)
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_problem problem;
    bool column =
        ny_isomap_keeps_columns(map->fit->base.settings); /* singular values of C: none negative */
    int err = column ? ny_isomap_gram(map) : NY_OK;

    if (err) return err;
    ny_blas_parallel(job->ctx, map->m);
    problem = ny_fit_problem(&map->fit->base);
    problem.n = map->fit->edges.n;
    problem.f32_tiles = true; /* Δ is f32 in any precision */
    err = map->fit->base.settings->method->solve(&problem, solution);
    if (err == NY_OK && !column) err = count_negative(map, solution);
    ny_blas_serial();
    return err;
}

/* Returns the workers whose BLAS buffers are taken, and held in the stage after this one as well.
 */
static unsigned solvers(const struct ny_fit_settings *settings, unsigned workers)
{
    return ny_isomap_keeps_columns(settings) ? workers : 1;
}

static int solve(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct ny_solution solution = {0};
    struct ny_isomap map;
    int err = ny_isomap_open(&map, fit, false);

    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) job->workers = solvers(fit->base.settings, job->workers);
    if (err == NY_OK) err = ny_fit_reserve_blas(&fit->base, map.m);
    if (err == NY_OK) err = load_state(&map);
    if (err == NY_OK) err = make_square(&map);
    if (err == NY_OK && map.m == fit->edges.n) err = save_sample(&map);
    if (err) goto done;
    ny_free(job->ctx, map.state);
    map.state = NULL;
    err = solve_problem(&map, &solution);
    if (err == NY_OK) err = save_map(&map, &solution);
    if (err) goto done;
    solution.trace = solution.trace_approx = NAN; /* what is dropped is not only above K */
    ny_fit_report_solution(&fit->base, &solution);
    ny_job_clear_checkpoint(job);
    ny_job_mark_time(job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_fit_drop_problem(&fit->base);
    ny_solution_release(&solution, job->ctx);
    ny_isomap_close(&map);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Counts what solves the problem, and then counts eigenvalues, beside the solution. */
static void count_problem(struct ny_layout *l, const struct ny_map_sizes *f)
{
    size_t m = f->m, p = f->settings->components;
    struct ny_problem problem = ny_settings_problem(f->settings, m);
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_SOLVE, m, p * sizeof(double));
    mark = ny_layout_mark(l);
    f->settings->method->count(l, &problem, p);
    ny_layout_back(l, &mark);
    if (is_counted(m, p)) {
        ny_eigen_below_count(l, m);
    } else {
        ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
        ny_eigen_top_count(l, m, 1);
    }
}

static void count_solve(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t m = f->m, map = (m + 1) * f->settings->components * sizeof(double);
    size_t blas = ny_blas_bytes(f->job.threads, solvers(f->settings, workers), m);
    struct ny_layout_mark mark;

    ny_isomap_common(l, f);
    ny_layout_add(l, NY_MEM_PROCESS, blas);
    ny_lay(l, NY_MEM_SOLVE, m, m * sizeof(double));
    ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(double));
    ny_lay(l, NY_MEM_TILES, f->kept, 1);
    mark = ny_layout_mark(l);
    ny_lay(l, NY_MEM_OTHER, ny_isomap_state_bytes(m), 1);
    ny_lay(l, NY_MEM_SOLVE, m, ny_isomap_samples(m) * sizeof(float));
    ny_batch_count(l, NY_MEM_STORE, limit, m * ny_isomap_samples(m) * sizeof(float));
    ny_layout_back(l, &mark);
    if (ny_isomap_keeps_columns(f->settings)) ny_isomap_gram_count(l, m, workers, limit);
    count_problem(l, f);
    ny_lay(l, NY_MEM_SOLVE, map, 1);
    ny_batch_count(l, NY_MEM_STORE, limit, map);
}

static void solve_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    double n = (double)f->nodes, m = (double)f->m, p = (double)f->settings->components;
    bool counted = is_counted(f->m, f->settings->components);
    double cubes = counted ? 1.0 / 3 : 8.0 / 3;
    double slower = counted ? 0.75 : 1.5; /* than the small problem that is measured */
    double small = cubes * m * m * m + 2 * m * m * p;

    plan->flops += small;
    plan->stage_s[NY_STAGE_SOLVE] += slower * small / plan->rates.eigen;
    if (!ny_isomap_keeps_columns(f->settings)) return;
    plan->flops += n * m * m;
    plan->stage_s[NY_STAGE_SOLVE] += n * m * m / plan->rates.gram64;
}

const struct ny_stage ny_stage_isomap_solve = {NY_STAGE_SOLVE, solve, count_solve, solve_work};
