/* Whether f32 holds what tiles of these points need. */
#include "embed/job.h"

#include <math.h>

#include "stream/source.h"

/* The first landmarks against all of them, in f32 as a tile has them. K: NY_STRIP_ROWS × m. */
static int compute(struct ny_job *job, struct ny_matrix32 K, size_t rows)
{
    const struct ny_columns_spec *spec = ny_columns_of(job->columns);
    struct ny_columns_workspace *workspace = NULL;
    struct ny_source *source = NULL;
    struct ny_strip strip;
    int err = ny_source_of_memory(&source, job->ctx, ny_columns_raw(job->columns), spec->dtype,
                                  rows, spec->geometry->d);

    if (err == NY_OK) ny_source_of_memory_slots(source, spec->slots, false);
    if (err == NY_OK) err = ny_columns_workspace_new(&workspace, spec);
    if (err == NY_OK)
        err = ny_columns_strip(job->columns, workspace,
                               &(struct ny_tile){.source = source, .rows = rows}, 0, rows, &strip);
    if (err == NY_OK) ny_columns_block(job->columns, &strip, 0, K);
    ny_columns_workspace_free(workspace);
    ny_source_free(source);
    return err;
}

/* Mean |f32 − f64| over the mean of k(x,x); not finite where f32 is not. */
static double error_of(const struct ny_job *job, struct ny_matrix32 K, size_t rows)
{
    double error = 0, diagonal = 0;

    for (size_t i = 0; i < rows; i++) {
        const double *w = job->W.at + i * job->m;

        for (size_t j = 0; j < job->m; j++)
            error += fabs((double)K.at[i * K.stride + j] - w[j]) / (double)job->m;
        diagonal += fabs(w[i]);
    }
    return diagonal > 0 ? error / diagonal : 0;
}

size_t ny_job_check_tiles_bytes(const struct ny_columns_spec *spec, size_t m)
{
    return NY_STRIP_ROWS * m * sizeof(float) + ny_columns_workspace_bytes(spec) + 4096;
}

int ny_job_check_tiles(struct ny_job *job)
{
    const double most = 1e-3;
    size_t rows = job->m < NY_STRIP_ROWS ? job->m : NY_STRIP_ROWS;
    struct ny_matrix32 K;
    double error;
    int err;

    if (job->settings->precision == NY_PRECISION_F64) return NY_OK;
    K = ny_matrix32(ny_calloc(job->ctx, NY_MEM_TILES, NY_STRIP_ROWS, job->m * sizeof(float)),
                    NY_STRIP_ROWS, job->m);
    if (!K.at) return NY_EBUDGET;
    ny_blas_serial();
    err = compute(job, K, rows);
    error = err ? 0 : error_of(job, K, rows);
    ny_free(job->ctx, K.at);
    if (err || error <= most) return err;
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "f32 cannot tell these points apart: kernel values between landmarks are off by "
                   "%.2g of k(x,x); give --precision f64, rescale the data (--scale unit), or "
                   "leave out rows with huge values",
                   error);
}
