/* Checks that f32 is wide enough for tiles of these points. */
#include "fit/fit.h"

#include <math.h>

#include "stream/source.h"

/* The room of the check. */
struct room {
    struct ny_matrix32 C; /* NY_STRIP_ROWS × m */
    struct ny_columns_workspace *workspace;
};

static struct room lay(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m)
{
    float *C = ny_lay(l, NY_MEM_TILES, NY_STRIP_ROWS, m * sizeof(float));

    return (struct room){ny_matrix32(C, NY_STRIP_ROWS, m),
                         ny_columns_workspace_lay(l, spec, NY_STRIP_ROWS)};
}

/* The first landmarks against all of them, in f32 as a tile has them. */
static int compute(struct ny_fit *fit, const struct room *room, size_t rows)
{
    const struct ny_columns_spec *spec = ny_columns_of(fit->columns);
    struct ny_source *source = NULL;
    const struct ny_raw_shape shape = {spec->dtype, rows, spec->geometry->d, spec->slots};
    int err = ny_source_of_raw(&source, fit->job.ctx, ny_columns_rows(fit->columns), &shape);

    if (err == NY_OK)
        err = ny_columns_tile_strip(fit->columns, room->workspace,
                                    &(struct ny_tile){.source = source, .rows = rows}, 0, room->C,
                                    NULL);
    ny_source_free(source);
    return err;
}

/* The distance of f32 values from W − 1aᵀ. */
struct difference {
    double rms;   /* root of the mean square */
    double share; /* mean |f32 − f64| over the mean of the diagonal that is decomposed; not finite
                   * where f32 is not */
};

static bool centred(const struct ny_fit *fit)
{
    return fit->m > 1 && ny_centred(fit->settings->normalisation);
}

/* Mean of w_ii; of a centred map, of HWH's. a has the means of W's rows. */
static double mean_diagonal(const struct ny_fit *fit)
{
    double sum = 0, all = 0, m = (double)fit->m;

    for (size_t i = 0; i < fit->m; i++) {
        sum += fabs(fit->W.at[i * fit->m + i]) / m;
        if (centred(fit)) all += fit->a[i] / m;
    }
    return sum - all;
}

/* Adds up the errors of a row, and their squares, in four sums each, as ny_sum() does. */
static void add_errors(const struct ny_fit *fit, const float *c, const double *w, double *sum,
                       double *squares)
{
    double sums[4] = {0}, sums2[4] = {0};

    for (size_t j = 0; j < fit->m; j++) {
        double error = fabs((double)c[j] - (w[j] - fit->a[j]));

        sums[j % 4] += error;
        sums2[j % 4] += error * error;
    }
    *sum += ny_sum(sums, 4);
    *squares += ny_sum(sums2, 4);
}

static struct difference compare(const struct ny_fit *fit, struct ny_matrix32 C, size_t rows)
{
    double sum = 0, squares = 0, count = (double)rows * (double)fit->m;
    double diagonal = mean_diagonal(fit);

    for (size_t i = 0; i < rows; i++)
        add_errors(fit, C.at + i * C.stride, fit->W.at + i * fit->m, &sum, &squares);
    return (struct difference){sqrt(squares / count), diagonal > 0 ? sum / count / diagonal : 0};
}

void ny_fit_check_tiles_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m)
{
    lay(l, spec, m);
}

int ny_fit_check_tiles(struct ny_fit *fit, double most)
{
    size_t rows = fit->m < NY_STRIP_ROWS ? fit->m : NY_STRIP_ROWS;
    struct ny_layout l = {.ctx = fit->job.ctx};
    struct difference off = {0};
    struct room room;
    int err;

    if (fit->settings->precision == NY_PRECISION_F64) return NY_OK;
    room = lay(&l, ny_columns_of(fit->columns), fit->m);
    ny_blas_serial();
    err = l.err ? l.err : compute(fit, &room, rows);
    if (!err) off = compare(fit, room.C, rows);
    ny_layout_free(&l);
    fit->tile_noise = off.rms;
    if (err || off.share <= most) return err;
    return ny_fail(fit->job.ctx, NY_ENUMERIC,
                   "f32 cannot tell these points apart: kernel values are off by %.2g of "
                   "k(x,x)%s; give --precision f64, rescale the data (--scale unit), or "
                   "leave out rows with huge values",
                   off.share, centred(fit) ? " about their mean" : "");
}
