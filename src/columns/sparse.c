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

/* Rounds base quantities to f32; rows of unit length where the kernel asks for that, and a zero row
 * has the product 0. */
static void narrow(const struct ny_columns *columns, const struct ny_sparse_norms *x,
                   const struct ny_sparse_norms *y, const double *base, size_t count, float *out)
{
    bool unit = columns->spec.kernel->unit_rows;

    for (size_t j = 0; j < count; j++) {
        double lengths = unit ? x->length * y[j].length : 1;

        out[j] = (float)(lengths > 0 ? base[j] * (1 / lengths) : 0);
    }
}

void ny_sparse_strip_base(const struct ny_columns *columns, const struct ny_strip *strip,
                          size_t first, struct ny_matrix32 K)
{
    const struct ny_sparse_preparation in = {&columns->spec, &columns->preparation};
    double few[NY_INDEX_ROWS], *sums = strip->sums ? strip->sums : few;
    size_t room = strip->sums ? NY_SPARSE_SUMS : NY_INDEX_ROWS;
    struct ny_sparse_point x[NY_SPARSE_GROUP];

    for (size_t at = 0, piece; at < K.cols; at += piece) {
        const struct ny_sparse_norms *y = columns->index.norms + first + at;
        size_t group;

        piece = piece_of(first + at, first + K.cols);
        group = room / piece < NY_SPARSE_GROUP ? room / piece : NY_SPARSE_GROUP;
        for (size_t i = 0; i < strip->count; i += group) {
            size_t left = strip->count - i, rows = left < group ? left : group;

            for (size_t r = 0; r < rows; r++)
                x[r] = ny_sparse_point_of(&in, strip->raw.list[i + r]);
            ny_sparse_base(&columns->index, &in, x, first + at, ny_matrix(sums, rows, piece));
            for (size_t r = 0; r < rows; r++)
                narrow(columns, &x[r].norms, y, sums + r * piece, piece,
                       K.at + (i + r) * K.stride + at);
        }
    }
}

/* ---- f64 ----------------------------------------------------------------------------------- */

/* K = k(X, indexed rows from `first` on), of which `y` are the raw ones. */
struct job {
    struct ny_sparse_preparation in;
    const struct ny_sparse_index *index;
    struct ny_raw_rows x, y;
    size_t first;
    bool lower; /* columns behind the row's own number are not wanted */
    bool whole; /* half chords alone: rows are whole numbers */
    struct ny_matrix K;
};

/* Indexed row j. */
static struct ny_sparse indexed(const struct job *job, size_t j)
{
    return ny_sparse_row(job->in.spec, job->y, j);
}

/* Turns base quantities of x and indexed rows `first` … into kernel values. */
static void finish(const struct job *job, const struct ny_sparse_point *x, size_t first,
                   size_t count, double *out)
{
    const struct ny_kernel *kernel = job->in.spec->kernel;
    const struct ny_sparse_norms *y = job->index->norms + first;
    double y_norms[NY_INDEX_ROWS];

    for (size_t j = 0; j < count; j++) {
        y_norms[j] = y[j].square;
        if (kernel->base == NY_BASE_SQUARE &&
            out[j] < NY_CANCELLATION * (x->norms.square + y_norms[j]))
            out[j] = ny_sparse_pair(&job->in, x->row, indexed(job, first + j));
    }
    kernel->apply(&job->in.preparation->params, x->norms.square, y_norms, out, count);
    for (size_t j = 0; kernel->half_chord && j < count; j++)
        if (ny_chord_is_lost(out[j], x->norms.square, y_norms[j], job->whole))
            out[j] = ny_sparse_chord(&job->in, x, indexed(job, first + j)) / 2;
}

/* Rows first … first+count−1, at most NY_SPARSE_GROUP. */
static void exact_group(const struct job *job, size_t first, size_t count)
{
    size_t cols = job->lower ? first + count : job->K.cols;
    struct ny_sparse_point x[NY_SPARSE_GROUP];

    for (size_t i = 0; i < count; i++)
        x[i] = ny_sparse_point_of(&job->in, ny_sparse_row(job->in.spec, job->x, first + i));
    for (size_t at = 0, piece; at < cols; at += piece) {
        struct ny_matrix K;

        piece = piece_of(job->first + at, job->first + cols);
        K = ny_cols(ny_rows(job->K, first, count), at, piece);
        ny_sparse_base(job->index, &job->in, x, job->first + at, K);
        for (size_t i = 0; i < count; i++)
            finish(job, &x[i], job->first + at, piece, K.at + i * K.stride);
    }
}

/* A square is stopped on request; rows against landmarks are part of a pass, which looks itself. */
static int exact_rows(void *arg, size_t first, size_t count)
{
    const struct job *job = arg;
    int err = NY_OK;

    for (size_t i = 0; i < count && !err; i += NY_SPARSE_GROUP) {
        if (job->lower) err = ny_check_interrupt(job->in.spec->ctx);
        if (!err)
            exact_group(job, first + i, count - i < NY_SPARSE_GROUP ? count - i : NY_SPARSE_GROUP);
    }
    return err;
}

/* Describes kernel values against rows that are indexed. */
static struct job job_of(const struct ny_columns *columns, const struct ny_sparse_index *index,
                         struct ny_raw_rows x, struct ny_raw_rows y, struct ny_matrix K)
{
    return (struct job){.in = {&columns->spec, &columns->preparation},
                        .index = index,
                        .x = x,
                        .y = y,
                        .whole = columns->spec.kernel->half_chord &&
                                 ny_unscaled_integers(&columns->spec),
                        .K = K};
}

int ny_sparse_exact(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                    size_t first, struct ny_matrix K)
{
    struct job job = job_of(columns, &columns->index, rows, ny_columns_rows(columns), K);

    job.first = first;
    return exact_rows(&job, 0, count);
}

/* The square of indexed rows: on all threads, where it is worth them. */
static int square(const struct ny_columns *columns, struct job *job, size_t count)
{
    const double small = 1e6; /* products that are not worth a thread */
    double work = (double)count * (double)count * (double)columns->spec.slots;
    int err;

    job->lower = true;
    err = work < small ? exact_rows(job, 0, count)
                       : ny_parallel_ranges(columns->spec.ctx, count, exact_rows, job);
    if (!err) ny_mirror_lower(job->K);
    return err;
}

int ny_sparse_exact_square(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                           struct ny_matrix K)
{
    struct ny_sparse_index index = {0};
    struct job job = job_of(columns, &index, rows, rows, K);
    int err = ny_sparse_index_extend(&index, &job.in, rows, count);

    if (!err) err = square(columns, &job, count);
    ny_sparse_index_release(&index, columns->spec.ctx);
    return err;
}

int ny_sparse_square(const struct ny_columns *columns, struct ny_matrix W)
{
    struct ny_raw_rows rows = ny_columns_rows(columns);
    struct job job = job_of(columns, &columns->index, rows, rows, W);

    return square(columns, &job, columns->count);
}

int ny_sparse_diagonals(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                        double *diagonal)
{
    const struct ny_sparse_preparation in = {&columns->spec, &columns->preparation};

    for (size_t i = 0; i < count; i++) {
        struct ny_sparse_point x = ny_sparse_point_of(&in, ny_sparse_row(&columns->spec, rows, i));

        diagonal[i] = ny_sparse_diagonal(&in, &x.norms);
    }
    return NY_OK;
}
