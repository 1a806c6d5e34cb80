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
};

/* Rows of part i. */
static struct ny_matrix rows_of(const struct pass *pass, size_t i)
{
    size_t first = i * PART, left = pass->A.rows - first;

    return ny_rows(pass->A, first, left < PART ? left : PART);
}

static int mirror(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, PART); i++)
        if (ny_part_is_mine(worker, i))
            ny_mirror_rows(pass->A, i * PART, rows_of(pass, i).rows, pass->lower);
    return NY_OK;
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

static int sum(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, PART); i++) {
        struct ny_matrix rows = rows_of(pass, i);

        if (!ny_part_is_mine(worker, i)) continue;
        for (size_t k = 0; k < rows.rows; k += SIDE)
            sum_rows(ny_rows(rows, k, rows.rows - k < SIDE ? rows.rows - k : SIDE),
                     pass->sums + i * PART + k);
    }
    return NY_OK;
}

static int look(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, PART); i++) {
        struct ny_matrix rows = rows_of(pass, i);

        if (!ny_part_is_mine(worker, i)) continue;
        for (size_t k = 0; k < rows.rows; k++)
            if (ny_first_not_finite(rows.at + k * rows.stride, rows.cols))
                atomic_store(&pass->not_finite, true);
    }
    return NY_OK;
}

static int multiply(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, STRIP); i++) {
        size_t first = i * STRIP, left = pass->A.rows - first, count = left < STRIP ? left : STRIP;
        struct ny_matrix rows = pass->A.transposed ? ny_t(ny_cols(ny_t(pass->A), first, count))
                                                   : ny_rows(pass->A, first, count);

        if (ny_part_is_mine(worker, i)) ny_gemv(pass->alpha, rows, pass->x, 0, pass->sums + first);
    }
    return NY_OK;
}

static int measure(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, PART); i++) {
        struct ny_matrix rows = rows_of(pass, i);

        for (size_t k = 0; k < rows.rows && ny_part_is_mine(worker, i); k++)
            pass->sums[i * PART + k] = ny_length(rows.at + k * rows.stride, rows.cols);
    }
    return NY_OK;
}

static int average(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;

    for (size_t i = 0; i < ny_parts_of(pass->A.rows, PART); i++) {
        struct ny_matrix rows = rows_of(pass, i);

        for (size_t k = 0; k < rows.rows && ny_part_is_mine(worker, i); k++)
            pass->sums[i * PART + k] =
                ny_sum(rows.at + k * rows.stride, rows.cols) / (double)rows.cols;
    }
    return NY_OK;
}

/* a_ij += alpha − sums_i − sums_j of the lower triangle. */
static int shift(void *arg, const struct ny_worker *worker)
{
    struct pass *pass = arg;
    const double *mean = pass->sums;

    for (size_t part = 0; part < ny_parts_of(pass->A.rows, PART); part++) {
        struct ny_matrix rows = rows_of(pass, part);

        for (size_t k = 0; k < rows.rows && ny_part_is_mine(worker, part); k++) {
            double *a = rows.at + k * rows.stride;
            size_t i = part * PART + k;

            for (size_t j = 0; j <= i; j++)
                a[j] += pass->alpha - mean[i] - mean[j];
        }
    }
    return NY_OK;
}

int ny_square_mirror_lower(struct ny_context *ctx, struct ny_matrix A)
{
    struct pass pass = {.A = A, .lower = true};

    return ny_parts_run(ctx, A.rows, mirror, &pass);
}

int ny_square_mirror_upper(struct ny_context *ctx, struct ny_matrix A)
{
    struct pass pass = {.A = A};

    return ny_parts_run(ctx, A.rows, mirror, &pass);
}

int ny_square_sums(struct ny_context *ctx, struct ny_matrix A, double *sums)
{
    struct pass pass = {.A = A, .sums = sums};

    return ny_parts_run(ctx, A.rows, sum, &pass);
}

int ny_square_centre(struct ny_context *ctx, struct ny_matrix A, double *mean)
{
    struct pass pass = {.A = A, .sums = mean};
    int err = ny_parts_run(ctx, A.rows, average, &pass);

    for (size_t i = 0; i < A.rows; i++)
        pass.alpha += mean[i] / (double)A.rows;
    if (!err) err = ny_parts_run(ctx, A.rows, shift, &pass);
    return err ? err : ny_square_mirror_lower(ctx, A);
}

int ny_square_finite(struct ny_context *ctx, struct ny_matrix A, bool *finite)
{
    struct pass pass = {.A = A};
    int err = ny_parts_run(ctx, A.rows, look, &pass);

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
    struct pass pass = {.A = A, .sums = lengths};

    return ny_parts_run(ctx, A.rows, measure, &pass);
}
