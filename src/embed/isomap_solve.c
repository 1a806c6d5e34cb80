/* Stage solve of isomap: W = −½Δ(D, D)² → P. */
#include "embed/isomap_private.h"

#include <math.h>
#include <string.h>

/* W, in order of selection, and its column means. A path's f32 sum depends on the end where it
 * begins: W takes the mean of both. */
static int make_square(const struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->job;
    size_t m = map->m, width = m + map->samples;
    float longest = 0;

    job->W = ny_matrix(ny_calloc(job->ctx, NY_MEM_SOLVE, m, m * sizeof(double)), m, m);
    job->a = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m, sizeof(double));
    if (!job->W.at || !job->a) return NY_EBUDGET;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            float there = map->state[i * width + j], back = map->state[j * width + i];
            size_t row = map->source[i].landmark, col = map->source[j].landmark;

            longest = there > longest ? there : longest;
            job->W.at[row * m + col] =
                -((double)there * (double)there + (double)back * (double)back) / 4;
        }
    if (!(longest > 0))
        return ny_fail(job->ctx, NY_EDATA,
                       "all %zu landmarks are equal, at a distance of 0 from one another: nothing "
                       "to embed",
                       m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            job->a[i] += job->W.at[i * m + j] / (double)m;
    return NY_OK;
}

/* The whole spectrum of HWH, of which the solver finds its top alone. */
static int count_negative(const struct ny_isomap *map, struct ny_solution *solution)
{
    struct ny_job *job = &map->fit->job;
    size_t m = map->m;
    double *values = ny_calloc(job->ctx, NY_MEM_SOLVE, m, sizeof(double));
    struct ny_matrix A =
        ny_matrix(ny_calloc(job->ctx, NY_MEM_SOLVE, m, m * sizeof(double)), m, m);
    double mean = 0, sum = 0, negative = 0, cut;
    int err = values && A.at ? NY_OK : NY_EBUDGET;

    for (size_t i = 0; i < m && err == NY_OK; i++)
        mean += job->a[i] / (double)m;
    for (size_t i = 0; i < m && err == NY_OK; i++)
        for (size_t j = 0; j < m; j++)
            A.at[i * m + j] = job->W.at[i * m + j] - job->a[i] - job->a[j] + mean;
    ny_blas_parallel(job->ctx, m);
    if (err == NY_OK) err = ny_eigenvalues(job->ctx, A, values);
    ny_blas_serial();
    if (err) goto done;
    cut = 0x1p-22 * fmax(fabs(values[0]), fabs(values[m - 1]));
    solution->negative = 0;
    for (size_t j = 0; j < m; j++) {
        sum += fabs(values[j]);
        if (values[j] >= -cut) continue;
        solution->negative++;
        negative -= values[j];
    }
    solution->negative_share = negative / sum;
done:
    ny_free(job->ctx, A.at);
    ny_free(job->ctx, values);
    return err;
}

/* P, scaled to coordinates, with the row that the shift a becomes. */
static int save_map(const struct ny_isomap *map, const struct ny_solution *solution)
{
    struct ny_job *job = &map->fit->job;
    size_t m = map->m, p = map->p;
    double *image = ny_calloc(job->ctx, NY_MEM_SOLVE, m + 1, p * sizeof(double));
    int err;

    if (!image) return NY_EBUDGET;
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j < m; j++) {
            double scaled = solution->P.at[j * solution->P.stride + k] * sqrt(solution->values[k]);

            image[(j + 1) * p + k] = scaled;
            image[k] -= job->a[j] * scaled;
        }
    err = ny_job_put_part(job, "map", image, (m + 1) * p * sizeof(double));
    ny_free(job->ctx, image);
    return err;
}

/* What of the sample is not known again in stage project. */
static int save_sample(const struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->job;
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
    struct ny_job *job = &map->fit->job;
    struct ny_solution counted = {0};
    struct ny_problem problem;
    bool column = ny_isomap_keeps_columns(job->settings); /* singular values of C: none */
    int err = column ? ny_isomap_gram(map) : count_negative(map, &counted);

    if (err) return err;
    ny_blas_parallel(job->ctx, map->m);
    problem = ny_job_problem(job);
    problem.n = map->fit->edges.n;
    problem.f32_tiles = true; /* Δ is f32 in any precision */
    err = job->settings->method->solve(&problem, solution);
    ny_blas_serial();
    solution->negative = counted.negative;
    solution->negative_share = counted.negative_share;
    return err;
}

int ny_isomap_solve(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->job;
    struct ny_solution solution = {0};
    struct ny_isomap map;
    uint64_t batches;
    int err = ny_isomap_open(&map, fit);

    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) err = ny_job_reserve_blas(job, map.m);
    if (err == NY_OK) err = ny_isomap_load_state(&map, &batches);
    if (err == NY_OK) err = make_square(&map);
    if (err == NY_OK) err = save_sample(&map);
    if (err) goto done;
    ny_free(job->ctx, map.state);
    map.state = NULL;
    err = solve_problem(&map, &solution);
    if (err == NY_OK) err = save_map(&map, &solution);
    if (err) goto done;
    solution.trace = solution.trace_approx = NAN; /* what is dropped is not only above K */
    ny_job_report_solution(job, &solution);
    json_object_clear(ny_job_checkpoint(job));
    ny_job_mark_time(job);
    err = ny_job_save(job, NY_STAGE_PROJECT);
done:
    ny_job_drop_problem(job);
    ny_solution_release(&solution, job->ctx);
    ny_isomap_close(&map);
    return err;
}

