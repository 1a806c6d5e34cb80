/*
 * Each pass deals out blocks of rows (linalg/parts.h): a matrix of 10,000 rows is 800 MB. Sums of
 * eight rows go side by side, since an addition waits for the one before it.
 */
#include "linalg/square.h"

#include <stdatomic.h>

#include "linalg/parts.h"

/* Rows of a part; those of a mirror are what ny_mirror_rows() does at a time. Rows of a product,
 * which may be columns in memory. */
enum { PART = 32, SIDE = 8, STRIP = 128 };

struct pass {
    struct ny_matrix A;
    double alpha;
    const double *x;
    bool lower;   /* the triangle that is copied */
    double *sums; /* or what else there is for each row */
    atomic_bool not_finite;
    /* Does its work with some rows of A, from row `first` on. */
    void (*part)(struct pass *pass, struct ny_matrix rows, size_t first);
};

static int run_parts(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, PART); i++)
        if (ny_part_is_mine(worker, i))
            pass->part(pass, ny_rows(pass->A, i * PART, ny_smaller(pass->A.rows - i * PART, PART)),
                       i * PART);
    return NY_OK;
}

static void mirror(struct pass *pass, struct ny_matrix rows, size_t first)
{
    ny_mirror_rows(pass->A, first, rows.rows, pass->lower);
}

/* Σ of up to SIDE rows. */
static void sum_rows(struct ny_matrix rows, double *sums)
{
    double sum[SIDE] = {0};

    for (size_t j = 0; j < rows.cols; j++)
        for (size_t i = 0; i < rows.rows; i++)
            sum[i] += rows.at[i * rows.stride + j];
    for (size_t i = 0; i < rows.rows; i++)
        sums[i] = sum[i];
}

static void sum(struct pass *pass, struct ny_matrix rows, size_t first)
{
    for (size_t k = 0; k < rows.rows; k += SIDE)
        sum_rows(ny_rows(rows, k, ny_smaller(rows.rows - k, SIDE)), pass->sums + first + k);
}

static void look(struct pass *pass, struct ny_matrix rows, size_t first)
{
    (void)first;
    for (size_t k = 0; k < rows.rows; k++)
        if (ny_first_not_finite(rows.at + k * rows.stride, rows.cols))
            atomic_store(&pass->not_finite, true);
}

static void measure(struct pass *pass, struct ny_matrix rows, size_t first)
{
    for (size_t k = 0; k < rows.rows; k++)
        pass->sums[first + k] = ny_length(rows.at + k * rows.stride, rows.cols);
}

static void average(struct pass *pass, struct ny_matrix rows, size_t first)
{
    for (size_t k = 0; k < rows.rows; k++)
        pass->sums[first + k] = ny_sum(rows.at + k * rows.stride, rows.cols) / (double)rows.cols;
}

/* a_ij += alpha − sums_i − sums_j of the lower triangle. */
static void shift(struct pass *pass, struct ny_matrix rows, size_t first)
{
    const double *mean = pass->sums;

    for (size_t i = first; i < first + rows.rows; i++)
        for (size_t j = 0; j <= i; j++)
            pass->A.at[i * pass->A.stride + j] += pass->alpha - mean[i] - mean[j];
}

static int multiply(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, STRIP); i++) {
        size_t first = i * STRIP, count = ny_smaller(pass->A.rows - first, STRIP);
        struct ny_matrix rows = pass->A.transposed ? ny_t(ny_cols(ny_t(pass->A), first, count))
                                                   : ny_rows(pass->A, first, count);

        if (ny_part_is_mine(worker, i)) ny_gemv(pass->alpha, rows, pass->x, 0, pass->sums + first);
    }
    return NY_OK;
}

int ny_square_mirror_lower(struct ny_context *ctx, struct ny_matrix A)
{
    struct pass pass = {.A = A, .lower = true, .part = mirror};

    return ny_parts_run(ctx, A.rows, run_parts, &pass);
}

int ny_square_mirror_upper(struct ny_context *ctx, struct ny_matrix A)
{
    struct pass pass = {.A = A, .part = mirror};

    return ny_parts_run(ctx, A.rows, run_parts, &pass);
}

int ny_square_sums(struct ny_context *ctx, struct ny_matrix A, double *sums)
{
    struct pass pass = {.A = A, .sums = sums, .part = sum};

    return ny_parts_run(ctx, A.rows, run_parts, &pass);
}

int ny_square_centre(struct ny_context *ctx, struct ny_matrix A, double *mean)
{
    struct pass pass = {.A = A, .sums = mean, .part = average};
    int err = ny_parts_run(ctx, A.rows, run_parts, &pass);

    for (size_t i = 0; i < A.rows; i++)
        pass.alpha += mean[i] / (double)A.rows;
    pass.part = shift;
    if (!err) err = ny_parts_run(ctx, A.rows, run_parts, &pass);
    return err ? err : ny_square_mirror_lower(ctx, A);
}

int ny_square_finite(struct ny_context *ctx, struct ny_matrix A, bool *finite)
{
    struct pass pass = {.A = A, .part = look};
    int err = ny_parts_run(ctx, A.rows, run_parts, &pass);

    *finite = !pass.not_finite;
    return err;
}

int ny_gemv_lanes(struct ny_context *ctx, double alpha, struct ny_matrix A, const double *x,
                  double *y)
{
    struct pass pass = {.A = A, .alpha = alpha, .x = x, .sums = y};

    return ny_parts_run(ctx, A.rows, multiply, &pass);
}

int ny_lengths_lanes(struct ny_context *ctx, struct ny_matrix A, double *lengths)
{
    struct pass pass = {.A = A, .sums = lengths, .part = measure};

    return ny_parts_run(ctx, A.rows, run_parts, &pass);
}
