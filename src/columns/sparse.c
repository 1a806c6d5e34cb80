/* Sparse rows: strips, and exact values in f64. Nothing here is a GEMM; each entry is summed in f64
 * whatever the tile's precision, by the index of the landmarks. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "columns/columns_private.h"

/* Rows first … end−1 of the index that begin at `first` and are in one panel. */
static size_t piece_of(size_t first, size_t end)
{
    size_t next = (first / NY_INDEX_ROWS + 1) * NY_INDEX_ROWS;

    return (end < next ? end : next) - first;
}

/* 1/‖x‖‖y‖ where rows are scaled to unit length; 0 for a zero row. */
static double unit_scale(const struct ny_sparse_norms *x, const struct ny_sparse_norms *y)
{
    double product = sqrt(x->square) * sqrt(y->square);

    return product > 0 ? 1 / product : 0;
}

void ny_sparse_strip_base(const struct ny_columns *columns, const struct ny_strip *strip,
                          size_t first, struct ny_matrix32 K)
{
    const struct ny_sparse_preparation in = {&columns->spec, &columns->preparation};
    bool unit = columns->spec.kernel->unit_rows;
    double base[NY_INDEX_ROWS];

    for (size_t i = 0; i < strip->count; i++) {
        struct ny_sparse_point x =
            ny_sparse_point_of(&in, (const char *)strip->raw + i * columns->row_bytes);

        for (size_t at = 0, piece; at < K.cols; at += piece) {
            const struct ny_sparse_norms *y = columns->index.norms + first + at;
            float *out = K.at + i * K.stride + at;

            piece = piece_of(first + at, first + K.cols);
            ny_sparse_base(&columns->index, &in, &x, first + at, piece, base);
            for (size_t j = 0; j < piece; j++)
                out[j] = (float)(unit ? base[j] * unit_scale(&x.norms, &y[j]) : base[j]);
        }
    }
}

/* ---- f64 ----------------------------------------------------------------------------------- */

/* K = k(X, indexed rows from `first` on), of which `y` are the raw ones. */
struct job {
    struct ny_sparse_preparation in;
    const struct ny_sparse_index *index;
    const char *x, *y;
    size_t row_bytes, first;
    bool lower; /* only columns up to the row's own number */
    bool whole; /* half chords alone: rows are whole numbers */
    struct ny_matrix K;
};

static void exact_piece(const struct job *job, const struct ny_sparse_point *x, size_t first,
                        size_t count, double *out)
{
    const struct ny_kernel *kernel = job->in.spec->kernel;
    const struct ny_sparse_norms *y = job->index->norms + first;
    double y_norms[NY_INDEX_ROWS];

    ny_sparse_base(job->index, &job->in, x, first, count, out);
    for (size_t j = 0; j < count; j++) {
        y_norms[j] = y[j].square;
        if (kernel->base == NY_BASE_SQUARE &&
            out[j] < NY_CANCELLATION * (x->norms.square + y_norms[j]))
            out[j] = ny_sparse_pair(&job->in, x->raw, job->y + (first + j) * job->row_bytes);
    }
    kernel->apply(&job->in.preparation->params, x->norms.square, y_norms, out, count);
    for (size_t j = 0; kernel->half_chord && j < count; j++)
        if (ny_chord_is_lost(out[j], x->norms.square, y_norms[j], job->whole))
            out[j] = ny_sparse_chord(&job->in, x, job->y + (first + j) * job->row_bytes) / 2;
}

static int exact_rows(void *arg, size_t first, size_t count)
{
    const struct job *job = arg;

    for (size_t i = first; i < first + count; i++) {
        struct ny_sparse_point x = ny_sparse_point_of(&job->in, job->x + i * job->row_bytes);
        size_t cols = job->lower ? i + 1 : job->K.cols;

        for (size_t at = 0, piece; at < cols; at += piece) {
            piece = piece_of(job->first + at, job->first + cols);
            exact_piece(job, &x, job->first + at, piece, job->K.at + i * job->K.stride + at);
        }
    }
    return NY_OK;
}

int ny_sparse_exact(const struct ny_columns *columns, const void *rows, size_t count, size_t first,
                    struct ny_matrix K)
{
    struct job job = {.in = {&columns->spec, &columns->preparation},
                      .index = &columns->index,
                      .x = rows,
                      .y = (const char *)columns->raw,
                      .row_bytes = columns->row_bytes,
                      .whole =
                          columns->spec.kernel->half_chord && ny_unscaled_integers(&columns->spec),
                      .first = first,
                      .K = K};

    return exact_rows(&job, 0, count);
}

int ny_sparse_exact_square(const struct ny_columns *columns, const void *rows, size_t count,
                           struct ny_matrix K)
{
    struct ny_sparse_index index = {0};
    struct job job = {.in = {&columns->spec, &columns->preparation},
                      .index = &index,
                      .x = rows,
                      .y = rows,
                      .row_bytes = columns->row_bytes,
                      .whole =
                          columns->spec.kernel->half_chord && ny_unscaled_integers(&columns->spec),
                      .lower = true,
                      .K = K};
    const double small = 1e6; /* products that are not worth a thread */
    double work = (double)count * (double)count * (double)columns->spec.slots;
    int err = ny_sparse_index_extend(&index, &job.in, rows, count);

    if (!err)
        err = work < small ? exact_rows(&job, 0, count)
                           : ny_parallel_ranges(columns->spec.ctx, count, exact_rows, &job);
    if (!err) ny_mirror_lower(K);
    ny_sparse_index_release(&index, columns->spec.ctx);
    return err;
}

int ny_sparse_diagonals(const struct ny_columns *columns, const void *rows, size_t count,
                        double *diagonal)
{
    const struct ny_sparse_preparation in = {&columns->spec, &columns->preparation};

    for (size_t i = 0; i < count; i++) {
        struct ny_sparse_point x =
            ny_sparse_point_of(&in, (const char *)rows + i * columns->row_bytes);

        diagonal[i] = ny_sparse_diagonal(&in, &x.norms);
    }
    return NY_OK;
}
