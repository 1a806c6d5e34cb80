#include "fit/drawn_rows.h"

#include "select/draws.h"

int ny_draw_rows(const struct ny_fit *fit, uint64_t stream, size_t count, uint64_t *rows)
{
    enum { CHECK_ROWS = 1 << 20 };
    struct ny_context *ctx = fit->job.ctx;
    struct ny_draws draws = {.m = count};
    int err = NY_OK;

    draws.heap = ny_calloc(ctx, NY_MEM_DICTIONARY, count, sizeof(*draws.heap));
    if (!draws.heap) err = NY_EBUDGET;
    for (uint64_t row = 0; row < fit->job.points.n && err == NY_OK; row++) {
        double hash = ny_hash01(fit->settings->seed, stream, row);

        ny_draws_offer(&draws, (struct ny_draw){hash, row});
        if (row % CHECK_ROWS == 0) err = ny_check_interrupt(ctx);
    }
    if (err == NY_OK) ny_draws_take(&draws, rows);
    ny_free(ctx, draws.heap);
    return err;
}

/* Reads rows in the type of points that were given for landmarks. */
static int append_widened(struct ny_fit *fit, const uint64_t *rows, size_t count,
                          struct ny_columns *columns)
{
    const struct ny_rows_info *points = &fit->job.points;
    void *raw = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, count, ny_rows_row_bytes(points));
    int err = raw ? NY_OK : NY_EBUDGET;

    if (err == NY_OK)
        err = ny_rows_gather_wide(fit->job.X, points->dtype, (size_t)points->row_slots, rows, count,
                                  raw);
    if (err == NY_OK) err = ny_columns_append(columns, ny_raw_rows(raw), count);
    ny_free(fit->job.ctx, raw);
    return err;
}

int ny_fit_gather_columns(struct ny_fit *fit, const struct ny_columns_spec *spec,
                          const uint64_t *rows, size_t count, struct ny_columns **columns)
{
    int err = ny_columns_new(columns, spec);

    if (err) return err;
    return fit->settings->landmark_points.count
               ? append_widened(fit, rows, count, *columns)
               : ny_columns_gather(*columns, fit->job.X, rows, count);
}
