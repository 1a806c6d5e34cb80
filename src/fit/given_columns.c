#include "fit/given_columns.h"

/* Takes d and type of the file's rows for those of the points, and refuses another n or m. */
int ny_given_columns_shape(struct ny_context *ctx, const struct ny_fit_settings *settings,
                           struct ny_rows_info *points)
{
    struct ny_rows *C = settings->columns;
    struct ny_rows_info info;
    int err = C ? C->ops->info(C, &info) : NY_OK;

    if (err || !C) return err;
    if (info.d != settings->landmarks)
        err = ny_fail_at(
            ctx, NY_EDATA, C->name, NY_NO_LINE,
            "%s has %llu columns, but there are %zu landmarks; give one column for each landmark",
            C->name, (unsigned long long)info.d, settings->landmarks);
    else if (info.n != UINT64_MAX && info.n != points->n)
        err = ny_fail_at(ctx, NY_EDATA, C->name, NY_NO_LINE,
                         "%s has %llu rows, but the store has %llu", C->name,
                         (unsigned long long)info.n, (unsigned long long)points->n);
    points->d = info.d;
    points->dtype = info.dtype;
    points->row_slots = 0;
    points->block_rows = info.block_rows;
    points->block_bytes = (size_t)points->block_rows * ny_rows_row_bytes(points);
    return err;
}

int ny_given_columns_gather(struct ny_fit *fit, void *rows)
{
    struct ny_rows *C = fit->settings->columns;
    int err = C->ops->gather(C, 0, fit->rows, fit->m, rows);

    return err ? err : ny_given_columns_shape(fit->job.ctx, fit->settings, &fit->job.points);
}

int ny_fit_pass(struct ny_fit *fit, uint64_t rows, struct ny_pass pass,
                const struct ny_pass_work *work, void *arg)
{
    struct ny_rows *X = fit->settings->columns ? fit->settings->columns : fit->job.X;
    unsigned workers = fit->job.workers;
    int err = ny_rows_source(X, rows, (size_t)fit->job.points.row_slots, workers, &pass.source);

    if (!err) err = ny_source_widen(&pass.source, pass.source, fit->job.points.dtype, workers);
    pass.stage = ny_stage_name(fit->job.stage);
    if (!pass.workers) pass.workers = workers;
    if (!err) err = ny_pass_run(&pass, work, arg);
    ny_source_free(pass.source);
    return err;
}
