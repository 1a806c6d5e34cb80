/* Checks, on a few rows, that f32 is wide enough for products with tiles of K. */
#include "fit/drawn_rows.h"
#include "linalg/square.h"
#include "whole/products_private.h"

int ny_products_check(struct ny_fit *fit)
{
    enum { ROWS = 64 };
    const struct ny_columns_spec spec = ny_fit_spec(fit);
    struct ny_context *ctx = fit->job.ctx;
    struct ny_fit of = *fit; /* as if these rows were its landmarks */
    uint64_t rows[ROWS];
    int err;

    if (fit->settings->precision == NY_PRECISION_F64) return NY_OK;
    of.m = fit->job.points.n < ROWS ? (size_t)fit->job.points.n : ROWS;
    of.columns = NULL;
    of.a = ny_calloc(ctx, NY_MEM_TILES, of.m, sizeof(double));
    of.W = ny_matrix(ny_calloc(ctx, NY_MEM_TILES, of.m, of.m * sizeof(double)), of.m, of.m);
    err = of.a && of.W.at ? ny_draw_rows(fit, NY_STREAM_SAMPLE, of.m, rows) : NY_EBUDGET;
    if (!err) err = ny_fit_gather_columns(&of, &spec, rows, of.m, &of.columns);
    if (!err) err = ny_columns_square(of.columns, of.W);
    if (!err) err = ny_square_sums(ctx, of.W, of.a);
    if (err) goto done;
    for (size_t i = 0; i < of.m; i++)
        of.a[i] /= (double)of.m;
    err = ny_columns_set_shift(of.columns, of.a);
    if (!err) err = ny_fit_check_tiles(&of, NY_TILES_OFF);
done:
    ny_columns_free(of.columns);
    ny_free(ctx, of.W.at);
    ny_free(ctx, of.a);
    return err;
}
