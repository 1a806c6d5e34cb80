#include "fit/signs.h"

#include <math.h>

/* Û = (C − 1aᵀ)P + 1qᵀ of the sampled rows, a strip at a time. */
static int eigenvectors_of(const struct ny_fit *fit, const struct ny_solution *solution,
                           const char *raw, struct ny_matrix U)
{
    size_t row_bytes = (size_t)fit->job.points.d * ny_dtype_size(fit->job.points.dtype);
    double *at = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, NY_STRIP_ROWS, fit->m * sizeof(double));
    int err = at ? NY_OK : NY_EBUDGET;

    for (size_t first = 0; first < U.rows && !err; first += NY_STRIP_ROWS) {
        size_t count = U.rows - first < NY_STRIP_ROWS ? U.rows - first : NY_STRIP_ROWS;
        struct ny_matrix C = ny_matrix(at, count, fit->m);

        err = ny_columns_exact(fit->columns, ny_raw_rows(raw + first * row_bytes), count, 0, C);
        if (err) break;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < fit->m; j++)
                C.at[i * C.stride + j] -= fit->a[j];
        ny_gemm(1, C, solution->P, 0, ny_rows(U, first, count));
    }
    for (size_t i = 0; i < U.rows && !err; i++)
        for (size_t k = 0; k < U.cols; k++)
            U.at[i * U.stride + k] += solution->q[k];
    ny_free(fit->job.ctx, at);
    return err;
}

/* Columns of which the largest entries are found together, row by row. */
enum { TOGETHER = 64 };

/* Tells of so many columns at most. */
static void find_signs(struct ny_matrix U, bool *negative)
{
    const double tie = 1 - 1e-6;
    double least[TOGETHER] = {0};
    size_t left = U.cols;

    for (size_t i = 0; i < U.rows; i++)
        for (size_t k = 0; k < U.cols; k++) {
            double size = tie * fabs(U.at[i * U.stride + k]);

            least[k] = size > least[k] ? size : least[k];
        }
    for (size_t k = 0; k < U.cols; k++)
        negative[k] = false;
    for (size_t i = 0; i < U.rows && left; i++)
        for (size_t k = 0; k < U.cols; k++)
            if (fabs(U.at[i * U.stride + k]) >= least[k]) {
                negative[k] = U.at[i * U.stride + k] < 0;
                least[k] = NAN; /* later rows do not count */
                left--;
            }
}

void ny_signs_find(struct ny_matrix U, bool *negative)
{
    for (size_t first = 0; first < U.cols; first += TOGETHER) {
        size_t left = U.cols - first;

        find_signs(ny_cols(U, first, left < TOGETHER ? left : TOGETHER), negative + first);
    }
}

bool ny_signs_negative(struct ny_matrix U, size_t k)
{
    bool negative;

    find_signs(ny_cols(U, k, 1), &negative);
    return negative;
}

void ny_signs_turn(struct ny_solution *solution, struct ny_matrix U)
{
    for (size_t k = 0; k < solution->p; k++) {
        if (!ny_signs_negative(U, k)) continue;
        solution->q[k] = -solution->q[k];
        for (size_t j = 0; j < solution->P.rows; j++)
            solution->P.at[j * solution->P.stride + k] *= -1;
    }
}

int ny_signs_rows(const struct ny_fit *fit, const struct ny_edges *graph,
                  struct ny_selection *chosen)
{
    struct ny_selection_request request = {
        .ctx = fit->job.ctx,
        .X = fit->job.X,
        .n = fit->job.points.n,
        .seed = 0, /* whatever that of the fit is: what is exact does not depend on it */
        .landmarks = graph && graph->n < NY_SIGN_ROWS ? graph->n : NY_SIGN_ROWS,
        .candidates = {.valid = graph ? ny_edges_has : NULL, .valid_arg = graph}};

    return ny_rule_find("uniform")->select(&request, chosen);
}

/* Lays out raw rows, which it returns, and their eigenvectors U. */
static void *lay(struct ny_layout *l, size_t rows, size_t d, enum ny_dtype dtype, size_t p,
                 struct ny_matrix *U)
{
    *U = ny_lay_matrix(l, NY_MEM_SOLVE, rows, p);
    return ny_lay(l, NY_MEM_SOLVE, rows, d * ny_dtype_size(dtype));
}

int ny_signs_fix(struct ny_fit *fit, struct ny_solution *solution)
{
    struct ny_layout l = {.ctx = fit->job.ctx};
    struct ny_selection sample = {0};
    size_t p = solution->p;
    struct ny_matrix U;
    void *raw = NULL;
    int err = ny_signs_rows(fit, NULL, &sample);

    if (!err) raw = lay(&l, sample.m, (size_t)fit->job.points.d, fit->job.points.dtype, p, &U);
    if (!err) err = l.err;
    if (!err) err = fit->job.X->ops->gather(fit->job.X, 0, sample.rows, sample.m, raw);
    if (!err && p) err = eigenvectors_of(fit, solution, raw, U); /* other shards wanted the rows */
    if (!err && p) ny_signs_turn(solution, U);
    ny_layout_free(&l);
    ny_selection_release(&sample, fit->job.ctx);
    return err;
}

void ny_signs_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m, size_t p)
{
    struct ny_matrix U;

    lay(l, NY_SIGN_ROWS, spec->geometry->d, spec->dtype, p, &U);
    ny_lay(l, NY_MEM_SOLVE, NY_SIGN_ROWS, 3 * sizeof(uint64_t)); /* the selection */
    ny_lay(l, NY_MEM_SOLVE, NY_STRIP_ROWS, m * sizeof(double));
    ny_columns_exact_count(l, spec, 1);
}
