/*
 * k in f64, without cancellation. Pairs of rows go in blocks of a fixed shape, cut by row number
 * alone, so that neither threads nor the other rows of a call change a bit (of a square: threads).
 */
#include <string.h>

#include "base/thread.h"
#include "columns/columns_private.h"

/* Rows of Y in a block; rows of X, where X is not Y: few rows are asked for at a time. The square
 * of few rows goes in short blocks, which pad less. */
enum { BLOCK_ROWS = 256, SHORT_ROWS = 32, FEW_ROWS = 4 * SHORT_ROWS };

/* Below this share of ‖x‖² + ‖y‖², the ‖x − y‖² of a GEMM has lost too many digits. */
#define CANCELLATION 1e-6

/* K = k(X, Y); symmetric: Y is X, and only the lower triangle is computed. */
struct job {
    const struct ny_columns *columns;
    const unsigned char *x, *y;
    size_t x_count, y_count, x_rows, y_rows;
    bool symmetric, direct;
    struct ny_columns_room *room; /* NULL: one of its own */
    struct ny_matrix K;
};

struct ny_columns_room {
    double *x, *y, *dots; /* x_rows × d, y_rows × d, x_rows × y_rows */
    double *x_norms, *y_norms;
};

static void room_release(struct ny_columns_room *s, struct ny_context *ctx)
{
    ny_free(ctx, s->x);
    ny_free(ctx, s->y);
    ny_free(ctx, s->dots);
    ny_free(ctx, s->x_norms);
    ny_free(ctx, s->y_norms);
}

static int room_init(struct ny_columns_room *s, const struct ny_columns_spec *spec, size_t x_rows,
                     size_t y_rows)
{
    struct ny_context *ctx = spec->ctx;
    size_t d = spec->geometry->d, bytes;
    int err = ny_product(ctx, &bytes, y_rows, d, sizeof(double));

    if (err) return err;
    s->x = ny_alloc(ctx, NY_MEM_DICTIONARY, x_rows * d * sizeof(double));
    s->y = ny_alloc(ctx, NY_MEM_DICTIONARY, bytes);
    s->dots = ny_alloc(ctx, NY_MEM_DICTIONARY, x_rows * y_rows * sizeof(double));
    s->x_norms = ny_alloc(ctx, NY_MEM_DICTIONARY, x_rows * sizeof(double));
    s->y_norms = ny_alloc(ctx, NY_MEM_DICTIONARY, y_rows * sizeof(double));
    return s->x && s->y && s->dots && s->x_norms && s->y_norms ? NY_OK : NY_EBUDGET;
}

int ny_columns_room_new(struct ny_columns_room **out, const struct ny_columns_spec *spec)
{
    struct ny_columns_room *room = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, 1, sizeof(*room));
    int err = room ? room_init(room, spec, SHORT_ROWS, BLOCK_ROWS) : NY_EBUDGET;

    *out = room;
    if (err) ny_columns_room_free(room, spec->ctx);
    if (err) *out = NULL;
    return err;
}

void ny_columns_room_free(struct ny_columns_room *room, struct ny_context *ctx)
{
    if (!room) return;
    room_release(room, ctx);
    ny_free(ctx, room);
}

size_t ny_columns_room_bytes(const struct ny_columns_spec *spec)
{
    size_t rows = SHORT_ROWS + BLOCK_ROWS;

    return (rows * (spec->geometry->d + 1) + SHORT_ROWS * BLOCK_ROWS) * sizeof(double);
}

size_t ny_columns_exact_bytes(const struct ny_columns_spec *spec, unsigned threads)
{
    size_t rows = 2 * BLOCK_ROWS, d = spec->geometry->d;

    if (spec->slots) return 0;

    return threads * (rows * (d + 1) + BLOCK_ROWS * BLOCK_ROWS) * sizeof(double);
}

size_t ny_columns_square_bytes(const struct ny_columns_spec *spec, size_t m, unsigned threads)
{
    return spec->slots ? ny_sparse_index_bytes(spec, m) : ny_columns_exact_bytes(spec, threads);
}

/* `count` raw rows, prepared and padded with zero rows to `rows`. */
static void load_rows(const struct job *job, const unsigned char *raw, size_t count, size_t rows,
                      double *out, double *norms)
{
    const struct ny_columns *columns = job->columns;
    size_t d = columns->spec.geometry->d;

    for (size_t i = 0; i < count; i++) {
        ny_frame_row(&columns->frame, &columns->spec, raw + i * columns->row_bytes, out + i * d);
        norms[i] = ny_vector()->prepare->dot(out + i * d, out + i * d, d);
    }
    memset(out + count * d, 0, (rows - count) * d * sizeof(double));
    memset(norms + count, 0, (rows - count) * sizeof(double));
}

/* Where direct sums are used for all entries: there is no GEMM, or it would be small or narrow. */
static bool is_direct(const struct ny_columns *columns)
{
    return columns->spec.kernel->base == NY_BASE_ABSOLUTE ||
           columns->frame.way == NY_WAY_GIVEN ||
           columns->spec.geometry->d <= 2 * NY_DIRECT_COLUMNS;
}

static double direct_base(const struct ny_columns *columns, const double *x, const double *y)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    size_t d = columns->spec.geometry->d;

    switch (columns->spec.kernel->base) {
    case NY_BASE_SQUARE:
        return ops->square(x, y, d);
    case NY_BASE_ABSOLUTE:
        return ops->absolute(x, y, d);
    default:
        return ops->dot(x, y, d);
    }
}

static double base_of(const struct job *job, const struct ny_columns_room *s, size_t i, size_t j)
{
    const struct ny_columns *columns = job->columns;
    size_t d = columns->spec.geometry->d;
    const double *x = s->x + i * d, *y = s->y + j * d;
    double norms = s->x_norms[i] + s->y_norms[j], dot, square;

    if (job->direct) return direct_base(columns, x, y);
    dot = s->dots[i * job->y_rows + j];
    if (columns->spec.kernel->base == NY_BASE_DOT) return dot;
    square = norms - 2 * dot;
    return square < CANCELLATION * norms ? direct_base(columns, x, y) : square;
}

static void block(const struct job *job, const struct ny_columns_room *s, size_t x_first,
                  size_t y_first)
{
    const struct ny_columns *columns = job->columns;
    const struct ny_kernel *kernel = columns->spec.kernel;
    size_t d = columns->spec.geometry->d;
    size_t x_end = x_first + job->x_rows < job->x_count ? x_first + job->x_rows : job->x_count;
    size_t y_end = y_first + job->y_rows < job->y_count ? y_first + job->y_rows : job->y_count;

    if (!job->direct)
        ny_gemm(1, ny_matrix(s->x, job->x_rows, d), ny_t(ny_matrix(s->y, job->y_rows, d)), 0,
                ny_matrix(s->dots, job->x_rows, job->y_rows));
    for (size_t i = x_first; i < x_end; i++) {
        double *out = job->K.at + i * job->K.stride;

        for (size_t j = y_first; j < y_end && !(job->symmetric && j > i); j++) {
            size_t bi = i - x_first, bj = j - y_first;
            double base =
                columns->frame.way == NY_WAY_GIVEN ? s->x[bi * d + j] : base_of(job, s, bi, bj);

            if (job->symmetric && i == j && kernel->base == NY_BASE_DOT) base = s->x_norms[bi];
            out[j] = kernel->apply(&columns->frame.params, base, s->x_norms[bi], s->y_norms[bj]);
        }
    }
}

static size_t blocks_of(size_t count, size_t rows)
{
    return count / rows + (count % rows != 0);
}

/* Items are blocks: row by row of blocks, of the lower triangle when symmetric. */
static int run_items(void *arg, size_t first, size_t count)
{
    const struct job *job = arg;
    const struct ny_columns *columns = job->columns;
    size_t across = blocks_of(job->y_count, job->y_rows), bi = 0, bj = first;
    size_t loaded = SIZE_MAX, loaded_y = SIZE_MAX;
    struct ny_columns_room own = {0}, *s = job->room ? job->room : &own;
    int err = job->room ? NY_OK : room_init(s, &columns->spec, job->x_rows, job->y_rows);

    if (err) goto done;
    for (; bj >= (job->symmetric ? bi + 1 : across); bi++)
        bj -= job->symmetric ? bi + 1 : across;
    for (; count; count--) {
        size_t x_first = bi * job->x_rows, y_first = bj * job->y_rows;
        size_t x_left = job->x_count - x_first, y_left = job->y_count - y_first;

        if (loaded != bi)
            load_rows(job, job->x + x_first * columns->row_bytes,
                      x_left < job->x_rows ? x_left : job->x_rows, job->x_rows, s->x, s->x_norms);
        loaded = bi;
        if (loaded_y != bj && columns->landmark_bytes) /* else a row is its own kernel values */
            load_rows(job, job->y + y_first * columns->row_bytes,
                      y_left < job->y_rows ? y_left : job->y_rows, job->y_rows, s->y, s->y_norms);
        loaded_y = bj;
        block(job, s, x_first, y_first);
        if (++bj < (job->symmetric ? bi + 1 : across)) continue;
        bj = 0;
        bi++;
    }
done:
    room_release(&own, columns->spec.ctx);
    return err;
}

static size_t items_of(const struct job *job)
{
    size_t down = blocks_of(job->x_count, job->x_rows);

    return job->symmetric ? down * (down + 1) / 2 : down * blocks_of(job->y_count, job->y_rows);
}

/* On the calling thread alone: the callers are workers, one a thread. */
int ny_columns_exact_in(struct ny_columns_room *room, const struct ny_columns *columns,
                        const void *rows, size_t count, size_t first, struct ny_matrix K)
{
    struct job job = {.columns = columns,
                      .x = rows,
                      .y = columns->raw + first * columns->row_bytes,
                      .x_count = count,
                      .y_count = K.cols,
                      .x_rows = SHORT_ROWS,
                      .y_rows = K.cols == 1 ? 1 : BLOCK_ROWS, /* as for the origin of a hull */
                      .direct = K.cols == 1 || is_direct(columns),
                      .room = room,
                      .K = K};
    size_t items = items_of(&job);

    if (columns->spec.slots) return ny_sparse_exact(columns, rows, count, first, K);
    return items ? run_items(&job, 0, items) : NY_OK;
}

int ny_columns_exact(const struct ny_columns *columns, const void *rows, size_t count, size_t first,
                     struct ny_matrix K)
{
    return ny_columns_exact_in(NULL, columns, rows, count, first, K);
}

int ny_columns_exact_square(const struct ny_columns *columns, const void *rows, size_t count,
                            struct ny_matrix K)
{
    size_t block_rows = count <= FEW_ROWS ? SHORT_ROWS : BLOCK_ROWS;
    struct job job = {.columns = columns,
                      .x = rows,
                      .y = rows,
                      .x_count = count,
                      .y_count = count,
                      .x_rows = block_rows,
                      .y_rows = block_rows,
                      .symmetric = true,
                      .direct = is_direct(columns),
                      .K = K};
    const double small = 1e7; /* multiply-adds that are not worth a thread */
    size_t items = items_of(&job);
    double work = (double)items * (double)block_rows * (double)block_rows *
                  (double)columns->spec.geometry->d;
    int err;

    if (columns->spec.slots) return ny_sparse_exact_square(columns, rows, count, K);
    if (!items) return NY_OK;
    err = work < small ? run_items(&job, 0, items)
                       : ny_parallel_ranges(columns->spec.ctx, items, run_items, &job);
    if (!err) ny_mirror_lower(K);
    return err;
}

int ny_columns_square(const struct ny_columns *columns, struct ny_matrix W)
{
    ny_blas_serial();
    if (columns->spec.kernel->base == NY_BASE_COORDINATE) { /* of the unit vectors */
        for (size_t i = 0; i < W.rows; i++)
            for (size_t j = 0; j < W.cols; j++)
                W.at[i * W.stride + j] = i == j;
        return NY_OK;
    }
    return ny_columns_exact_square(columns, columns->raw, columns->count, W);
}
