/* Checks that f32 is wide enough for tiles of these points. */
#include "job/job.h"

#include <math.h>

#include "stream/source.h"

/* The first landmarks against all of them, in f32 as a tile has them. C: NY_STRIP_ROWS × m. */
static int compute(struct ny_job *job, struct ny_matrix32 C, size_t rows)
{
    const struct ny_columns_spec *spec = ny_columns_of(job->columns);
    struct ny_columns_workspace *workspace = NULL;
    struct ny_source *source = NULL;
    int err = ny_source_of_memory(&source, job->ctx, ny_columns_raw(job->columns), spec->dtype,
                                  rows, spec->geometry->d);

    if (err == NY_OK) ny_source_of_memory_slots(source, spec->slots, false);
    if (err == NY_OK) err = ny_columns_workspace_new(&workspace, spec, NY_STRIP_ROWS);
    if (err == NY_OK)
        err = ny_columns_tile_strip(job->columns, workspace,
                                    &(struct ny_tile){.source = source, .rows = rows}, 0, C);
    ny_columns_workspace_free(workspace);
    ny_source_free(source);
    return err;
}

/* The distance of f32 values from W − 1aᵀ. */
struct difference {
    double rms;   /* root of the mean square */
    double share; /* mean |f32 − f64| over the mean of the diagonal that is decomposed; not finite
                   * where f32 is not */
};

static bool centred(const struct ny_job *job)
{
    return job->m > 1 && ny_centred(job->settings->normalisation);
}

/* Mean of w_ii; of a centred map, of HWH's. */
static double mean_diagonal(const struct ny_job *job)
{
    double sum = 0, all = 0, m = (double)job->m;

    for (size_t i = 0; i < job->m; i++) {
        const double *w = job->W.at + i * job->m;

        sum += fabs(w[i]) / m;
        for (size_t j = 0; centred(job) && j < job->m; j++)
            all += w[j] / m / m;
    }
    return sum - all;
}

static struct difference compare(const struct ny_job *job, struct ny_matrix32 C, size_t rows)
{
    double sum = 0, squares = 0, count = (double)rows * (double)job->m;
    double diagonal = mean_diagonal(job);

    for (size_t i = 0; i < rows; i++) {
        const double *w = job->W.at + i * job->m;

        for (size_t j = 0; j < job->m; j++) {
            double error = fabs((double)C.at[i * C.stride + j] - (w[j] - job->a[j]));

            sum += error / count;
            squares += error * error / count;
        }
    }
    return (struct difference){sqrt(squares), diagonal > 0 ? sum / diagonal : 0};
}

size_t ny_job_check_tiles_bytes(const struct ny_columns_spec *spec, size_t m)
{
    return NY_STRIP_ROWS * m * sizeof(float) + ny_columns_workspace_bytes(spec, NY_STRIP_ROWS) +
           4096;
}

int ny_job_check_tiles(struct ny_job *job)
{
    const double most = 1e-3;
    size_t rows = job->m < NY_STRIP_ROWS ? job->m : NY_STRIP_ROWS;
    struct ny_matrix32 C;
    struct difference off = {0};
    int err;

    if (job->settings->precision == NY_PRECISION_F64) return NY_OK;
    C = ny_matrix32(ny_calloc(job->ctx, NY_MEM_TILES, NY_STRIP_ROWS, job->m * sizeof(float)),
                    NY_STRIP_ROWS, job->m);
    if (!C.at) return NY_EBUDGET;
    ny_blas_serial();
    err = compute(job, C, rows);
    if (!err) off = compare(job, C, rows);
    ny_free(job->ctx, C.at);
    job->tile_noise = off.rms;
    if (err || off.share <= most) return err;
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "f32 cannot tell these points apart: kernel values between landmarks are off by "
                   "%.2g of k(x,x)%s; give --precision f64, rescale the data (--scale unit), or "
                   "leave out rows with huge values",
                   off.share, centred(job) ? " about their mean" : "");
}
