/* Fixes signs by the rows of smallest hash (fit/signs.h), from tiles or from features. */
#include "fit/signs.h"

#include <math.h>

#include "columns/features.h"

/* U = (C − 1aᵀ)P of the sampled rows, a strip at a time. */
static int tiles_times(const struct ny_fit *fit, const struct ny_solution *solution,
                       const char *raw, struct ny_matrix U)
{
    size_t row_bytes = ny_points_row_bytes(&fit->job.points);
    double *at = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, NY_STRIP_ROWS, fit->m * sizeof(double));
    int err = at ? NY_OK : NY_EBUDGET;

    for (size_t first = 0; first < U.rows && !err; first += NY_STRIP_ROWS) {
        size_t count = U.rows - first < NY_STRIP_ROWS ? U.rows - first : NY_STRIP_ROWS;
        struct ny_matrix C = ny_matrix(at, count, fit->m);

        err = ny_columns_exact(fit->columns, raw + first * row_bytes, count, 0, C);
        if (err) break;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < fit->m; j++)
                C.at[i * C.stride + j] -= fit->a[j];
        ny_gemm(1, C, solution->P, 0, ny_rows(U, first, count));
    }
    ny_free(fit->job.ctx, at);
    return err;
}

/* U = ΦP of the sampled rows, one after another. */
static int features_times(const struct ny_fit *fit, const struct ny_solution *solution,
                          const char *raw, struct ny_matrix U)
{
    struct ny_columns_spec spec = ny_fit_spec(fit);
    size_t row_bytes = ny_points_row_bytes(&fit->job.points);
    struct ny_features *features;
    int err = ny_features_new(&features, &spec, NY_PRECISION_F64);

    for (size_t i = 0; i < U.rows && !err; i++) {
        ny_features_use(features, raw + i * row_bytes);
        ny_features_row_times(features, solution->P, U.at + i * U.stride);
    }
    ny_features_free(features);
    return err;
}

/* Û = CP + 1qᵀ of the sampled rows. */
static int eigenvectors_of(const struct ny_fit *fit, const struct ny_solution *solution,
                           const char *raw, struct ny_matrix U)
{
    int err = fit->settings->kernel->features ? features_times(fit, solution, raw, U)
                                              : tiles_times(fit, solution, raw, U);

    for (size_t i = 0; i < U.rows && !err; i++)
        for (size_t k = 0; k < U.cols; k++)
            U.at[i * U.stride + k] += solution->q[k];
    return err;
}

bool ny_signs_negative(struct ny_matrix U, size_t k)
{
    const double tie = 1 - 1e-6;
    double largest = 0;

    for (size_t i = 0; i < U.rows; i++)
        largest = fmax(largest, fabs(U.at[i * U.stride + k]));
    for (size_t i = 0; i < U.rows; i++)
        if (fabs(U.at[i * U.stride + k]) >= tie * largest) return U.at[i * U.stride + k] < 0;
    return false;
}

int ny_signs_rows(const struct ny_fit *fit, const struct ny_edges *graph,
                  struct ny_selection *chosen)
{
    struct ny_selection_request request = {
        .ctx = fit->job.ctx,
        .store = fit->job.store,
        .n = fit->job.points.n,
        .seed = fit->settings->seed,
        .landmarks = graph && graph->n < NY_SIGN_ROWS ? graph->n : NY_SIGN_ROWS,
        .candidates = {.valid = graph ? ny_edges_has : NULL, .valid_arg = graph}};

    return ny_rule_find("uniform")->select(&request, chosen);
}

/* Rows of the sample that are in memory together: one full row makes all of them large. */
static size_t rows_at_once(size_t row_bytes)
{
    const size_t most_bytes = (size_t)32 << 20;
    size_t rows = most_bytes / row_bytes / NY_STRIP_ROWS * NY_STRIP_ROWS;

    if (row_bytes * NY_SIGN_ROWS <= most_bytes) return NY_SIGN_ROWS;
    return rows ? rows : most_bytes / row_bytes ? most_bytes / row_bytes : 1;
}

/* Û of the sampled rows (m × p), which are gathered some at a time. */
static int sample_eigenvectors(struct ny_fit *fit, const struct ny_solution *solution,
                               const struct ny_selection *sample, struct ny_matrix U)
{
    size_t row_bytes = ny_points_row_bytes(&fit->job.points), most = rows_at_once(row_bytes);
    char *raw;
    int err = NY_OK;

    if (most > sample->m) most = sample->m;
    raw = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, most, row_bytes);
    if (!raw) return NY_EBUDGET;
    for (size_t first = 0; first < sample->m && !err; first += most) {
        size_t count = sample->m - first < most ? sample->m - first : most;

        err = ny_points_gather(fit->job.store, (size_t)fit->job.points.row_slots,
                               sample->rows + first, count, raw);
        if (!err) err = eigenvectors_of(fit, solution, raw, ny_rows(U, first, count));
    }
    ny_free(fit->job.ctx, raw);
    return err;
}

int ny_signs_fix(struct ny_fit *fit, struct ny_solution *solution)
{
    struct ny_context *ctx = fit->job.ctx;
    struct ny_selection sample = {0};
    size_t p = solution->p;
    double *at = NULL;
    int err;

    err = ny_signs_rows(fit, NULL, &sample);
    if (err) goto done;
    at = ny_calloc(ctx, NY_MEM_SOLVE, sample.m, p * sizeof(double));
    err = NY_EBUDGET;
    if (!at) goto done;
    err = sample_eigenvectors(fit, solution, &sample, ny_matrix(at, sample.m, p));
    if (err) goto done;
    for (size_t k = 0; k < p; k++) {
        if (!ny_signs_negative(ny_matrix(at, sample.m, p), k)) continue;
        solution->q[k] = -solution->q[k];
        for (size_t j = 0; j < solution->P.rows; j++)
            solution->P.at[j * solution->P.stride + k] *= -1;
    }
done:
    ny_free(ctx, at);
    ny_selection_release(&sample, ctx);
    return err;
}

size_t ny_signs_bytes(const struct ny_columns_spec *spec, size_t m, size_t p)
{
    size_t selection = 3 * sizeof(uint64_t), row = ny_raw_bytes(spec);
    size_t held = rows_at_once(row) * row + NY_SIGN_ROWS * (p * sizeof(double) + selection);

    if (spec->kernel->features) return held + ny_features_bytes(spec, NY_PRECISION_F64);
    return held + NY_STRIP_ROWS * m * sizeof(double) + ny_columns_exact_bytes(spec, 1);
}
