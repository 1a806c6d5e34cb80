/*
 * k in f64, without cancellation. Pairs of rows go in blocks of a fixed shape, cut by row number
 * alone, so that neither threads nor the other rows of a call change a bit (of a square, threads
 * alone).
 */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "columns/columns_private.h"
#include "linalg/square.h"

/* Rows of Y in a block; rows of X, where X is not Y: few rows are asked for at a time. Few rows of
 * Y, and the square of few rows, go in short blocks, which pad less. */
enum { BLOCK_ROWS = 256, SHORT_ROWS = 32, FEW_ROWS = 4 * SHORT_ROWS };

/* The source of base quantities. PANELS: direct loops against panels of Y, where there is no GEMM,
 * or it would be narrow (up to NY_EXACT_DIRECT columns). PAIRS: direct sums over two long rows, for
 * a single one in Y, such as the origin of a hull. GIVEN: a row is its own kernel values. */
enum base { GEMM, PANELS, PAIRS, GIVEN };

/* K = k(X, Y); symmetric: Y is X, and only the lower triangle is computed. */
struct job {
    const struct ny_columns *columns;
    const unsigned char *x, *y;
    const void *const *x_rows_at; /* or, if not NULL, where each row of X is */
    size_t x_count, y_count, x_rows, y_rows;
    bool symmetric, whole; /* whole: rows are whole numbers */
    enum base base;
    const double *near;           /* one for each row of Y, or NULL: ny_columns_set_near() */
    struct ny_columns_room *room; /* NULL: one of its own */
    struct ny_matrix K;
};

struct ny_columns_room {
    double *x, *y; /* x_rows × d, y_rows × d (PANELS: panels of d × NY_PANEL) */
    double *base;  /* x_rows × y_rows; GEMM: dot products */
    double *x_norms, *y_norms;
    double *row; /* d */
};

/* Lays out room for blocks of so many rows of X and of Y. Sparse rows need none of it. */
static void lay_room(struct ny_layout *l, struct ny_columns_room *s,
                     const struct ny_columns_spec *spec, size_t x_rows, size_t y_rows)
{
    size_t row_bytes = spec->geometry->d * sizeof(double);

    *s = (struct ny_columns_room){0};
    if (spec->slots) return;
    s->x = ny_lay(l, NY_MEM_DICTIONARY, x_rows, row_bytes);
    s->y = ny_lay(l, NY_MEM_DICTIONARY, y_rows, row_bytes);
    s->base = ny_lay(l, NY_MEM_DICTIONARY, x_rows * y_rows, sizeof(double));
    s->x_norms = ny_lay(l, NY_MEM_DICTIONARY, x_rows, sizeof(double));
    s->y_norms = ny_lay(l, NY_MEM_DICTIONARY, y_rows, sizeof(double));
    s->row = ny_lay(l, NY_MEM_DICTIONARY, 1, row_bytes);
}

static size_t rows_of_y(size_t cols)
{
    return cols <= SHORT_ROWS ? SHORT_ROWS : BLOCK_ROWS;
}

struct ny_columns_room *ny_columns_room_lay(struct ny_layout *l, const struct ny_columns_spec *spec,
                                            size_t cols)
{
    struct ny_columns_room spare;
    struct ny_columns_room *room = ny_lay_struct(l, NY_MEM_DICTIONARY, sizeof(spare), &spare);

    lay_room(l, room, spec, SHORT_ROWS, rows_of_y(cols));
    return ny_laid(l, room);
}

/* Rows of a block of a square. */
static size_t square_rows(size_t m)
{
    return m <= FEW_ROWS ? SHORT_ROWS : BLOCK_ROWS;
}

void ny_columns_exact_count(struct ny_layout *l, const struct ny_columns_spec *spec,
                            unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        lay_room(l, &(struct ny_columns_room){0}, spec, SHORT_ROWS, BLOCK_ROWS);
}

void ny_columns_square_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m,
                             unsigned threads)
{
    if (spec->slots) ny_sparse_index_count(l, spec, m);
    for (unsigned i = 0; i < threads; i++)
        lay_room(l, &(struct ny_columns_room){0}, spec, square_rows(m), square_rows(m));
}

static size_t blocks_of(size_t count, size_t rows)
{
    return count / rows + (count % rows != 0);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Tells whether squares of rows are needed: for distances by a GEMM, and for dot products. */
static bool needs_norms(const struct job *job)
{
    return job->base == GEMM || job->columns->spec.kernel->base == NY_BASE_DOT;
}

/* Prepares row i of those at `raw`. */
static void load_row(const struct job *job, const unsigned char *raw, size_t i, double *out,
                     double *norms)
{
    const struct ny_columns *columns = job->columns;
    size_t d = columns->spec.geometry->d;

    ny_preparation_row(&columns->preparation, &columns->spec, raw + i * columns->row_bytes, out);
    if (needs_norms(job)) norms[i] = ny_vector()->prepare->dot(out, out, d);
}

/* Pads `count` prepared rows with zero rows to `rows`, for a GEMM or panels. */
static void pad_rows(const struct job *job, size_t count, size_t rows, double *out, double *norms)
{
    size_t d = job->columns->spec.geometry->d;

    if (job->base == PAIRS) return;
    memset(out + count * d, 0, (rows - count) * d * sizeof(double));
    memset(norms + count, 0, (rows - count) * sizeof(double));
}

/* `count` raw rows, prepared and padded. */
static void load_rows(const struct job *job, const unsigned char *raw, size_t count, size_t rows,
                      double *out, double *norms)
{
    size_t d = job->columns->spec.geometry->d;

    for (size_t i = 0; i < count; i++)
        load_row(job, raw, i, out + i * d, norms);
    pad_rows(job, count, rows, out, norms);
}

/* Prepares rows of Y as panels of NY_PANEL lanes; lanes past the last row are zero. */
static void load_panels(const struct job *job, const unsigned char *raw, size_t count,
                        struct ny_columns_room *s)
{
    size_t d = job->columns->spec.geometry->d, lanes = blocks_of(count, NY_PANEL) * NY_PANEL;

    for (size_t i = 0; i < lanes; i++) {
        double *lane = s->y + i / NY_PANEL * d * NY_PANEL + i % NY_PANEL;

        if (i < count) load_row(job, raw, i, s->row, s->y_norms);
        for (size_t k = 0; k < d; k++)
            lane[k * NY_PANEL] = i < count ? s->row[k] : 0;
    }
}

/* Prepares the block of X that begins at row `first`. */
static void load_x(const struct job *job, size_t first, struct ny_columns_room *s)
{
    size_t left = job->x_count - first, count = left < job->x_rows ? left : job->x_rows;
    size_t d = job->columns->spec.geometry->d;

    if (!job->x_rows_at) {
        load_rows(job, job->x + first * job->columns->row_bytes, count, job->x_rows, s->x,
                  s->x_norms);
        return;
    }
    for (size_t i = 0; i < count; i++)
        load_row(job, job->x_rows_at[first + i], 0, s->x + i * d, s->x_norms + i);
    pad_rows(job, count, job->x_rows, s->x, s->x_norms);
}

/* Prepares the block of Y that begins at row `first`; given rows need nothing. */
static void load_y(const struct job *job, size_t first, struct ny_columns_room *s)
{
    const unsigned char *raw = job->y + first * job->columns->row_bytes;
    size_t left = job->y_count - first, count = left < job->y_rows ? left : job->y_rows;

    if (job->base == PANELS)
        load_panels(job, raw, count, s);
    else if (job->base != GIVEN)
        load_rows(job, raw, count, job->y_rows, s->y, s->y_norms);
}

void ny_columns_prepare(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                        double *out)
{
    const unsigned char *raw = rows.at;

    for (size_t i = 0; i < count; i++)
        ny_preparation_row(&columns->preparation, &columns->spec, raw + i * columns->row_bytes,
                           out + i * columns->spec.geometry->d);
}

void ny_columns_set_near(struct ny_columns *columns, const double *near)
{
    columns->near = near;
}

double ny_columns_gamma(const struct ny_columns *columns)
{
    return columns->preparation.params.gamma;
}

/* ---- base quantities ------------------------------------------------------------------------ */

/* Returns the base quantity of two prepared rows from their differences or products, in one sum. */
static double pair(const struct ny_columns *columns, const double *x, const double *y)
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

/* Returns the f64 loop of a base quantity. */
static ny_direct64_fn *direct_of(enum ny_base_quantity base)
{
    const struct ny_direct_ops *ops = ny_vector()->direct;

    if (base == NY_BASE_DOT) return ops->dot64;
    return base == NY_BASE_SQUARE ? ops->square64 : ops->absolute64;
}

/* Computes the base quantity of `rows` × `cols` pairs, and of more, up to whole groups. */
static void base_panels(const struct job *job, const struct ny_columns_room *s, size_t rows,
                        size_t cols)
{
    ny_direct64_fn *direct = direct_of(job->columns->spec.kernel->base);
    size_t d = job->columns->spec.geometry->d;

    for (size_t j = 0; j < cols; j += NY_PANEL)
        for (size_t i = 0; i < rows; i += NY_DIRECT64_ROWS) {
            const double *group[NY_DIRECT64_ROWS];

            for (size_t r = 0; r < NY_DIRECT64_ROWS; r++)
                group[r] = s->x + (i + r) * d;
            direct(group, d, s->y + j * d, s->base + i * job->y_rows + j, job->y_rows);
        }
}

/* Computes the base quantities of a block by the source that was chosen; a GEMM leaves dot
 * products. */
static void base_block(const struct job *job, const struct ny_columns_room *s, size_t rows,
                       size_t cols)
{
    size_t d = job->columns->spec.geometry->d;

    if (job->base == PANELS)
        base_panels(job, s, rows, cols);
    else if (job->base == GEMM)
        ny_gemm(1, ny_matrix(s->x, job->x_rows, d), ny_t(ny_matrix(s->y, job->y_rows, d)), 0,
                ny_matrix(s->base, job->x_rows, job->y_rows));
    for (size_t i = 0; job->base == PAIRS && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            s->base[i * job->y_rows + j] = pair(job->columns, s->x + i * d, s->y + j * d);
}

/* ‖x − y‖² from dot products, in place: row i of the block against landmarks y_first … of Y. */
static void squares_of(const struct job *job, const struct ny_columns_room *s, size_t i,
                       size_t y_first, struct ny_matrix row)
{
    const double *near = job->near ? job->near + y_first : NULL;
    double gamma = job->columns->preparation.params.gamma;
    size_t d = job->columns->spec.geometry->d;
    double rounding = 0x1p-50 * (double)(d + 8); /* error of products, as a share of the norms */

    for (size_t j = 0; j < row.cols; j++) {
        double norms = s->x_norms[i] + s->y_norms[j], square = norms - 2 * row.at[j];
        bool summed = square < NY_CANCELLATION * norms ||
                      (near && square - rounding * norms <= near[j] / gamma);

        row.at[j] = summed ? pair(job->columns, s->x + i * d, s->y + j * d) : square;
    }
}

/* ½‖x/‖x‖ − y/‖y‖‖² of row i of the block and row j of Y. */
static double half_chord(const struct job *job, const struct ny_columns_room *s, size_t i, size_t j)
{
    size_t d = job->columns->spec.geometry->d, step = job->base == PANELS ? NY_PANEL : 1;
    const double *x = s->x + i * d, *y = s->y + j * d;
    double x_length = sqrt(s->x_norms[i]), y_length = sqrt(s->y_norms[j]), sum = 0;

    if (job->base == PANELS) y = s->y + j / NY_PANEL * d * NY_PANEL + j % NY_PANEL;
    for (size_t k = 0; k < d; k++) {
        double difference = x[k] / x_length - y[k * step] / y_length;

        sum += difference * difference;
    }
    return sum / 2;
}

/* Sums again the values of row i of the block that dot products have lost. */
static void restore_chords(const struct job *job, const struct ny_columns_room *s, size_t i,
                           size_t count, double *out)
{
    for (size_t j = 0; j < count; j++)
        if (ny_chord_is_lost(out[j], s->x_norms[i], s->y_norms[j], job->whole))
            out[j] = half_chord(job, s, i, j);
}

static void block(const struct job *job, const struct ny_columns_room *s, size_t x_first,
                  size_t y_first)
{
    const struct ny_columns *columns = job->columns;
    const struct ny_kernel *kernel = columns->spec.kernel;
    size_t x_left = job->x_count - x_first, y_left = job->y_count - y_first;
    size_t rows = x_left < job->x_rows ? x_left : job->x_rows;
    size_t cols = y_left < job->y_rows ? y_left : job->y_rows;

    base_block(job, s, rows, cols);
    for (size_t i = 0; i < rows; i++) {
        double *out = job->K.at + (x_first + i) * job->K.stride + y_first;
        size_t diagonal = x_first + i - y_first; /* of a square: its own column */
        size_t count = job->symmetric && diagonal < cols ? diagonal + 1 : cols;
        const double *base = job->base == GIVEN ? s->x + i * columns->spec.geometry->d + y_first
                                                : s->base + i * job->y_rows;

        memcpy(out, base, count * sizeof(*out));
        if (job->base == GEMM && kernel->base == NY_BASE_SQUARE)
            squares_of(job, s, i, y_first, ny_matrix(out, 1, count));
        if (job->symmetric && diagonal < cols && kernel->base == NY_BASE_DOT)
            out[diagonal] = s->x_norms[i];
        kernel->apply(&columns->preparation.params, s->x_norms[i], s->y_norms, out, count);
        if (kernel->half_chord) restore_chords(job, s, i, count, out);
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Each block of Y against all of X: a few rows at a time are prepared again and again. */
static int run_blocks(const struct job *job)
{
    const struct ny_columns_spec *spec = &job->columns->spec;
    struct ny_layout l = {.ctx = spec->ctx};
    struct ny_columns_room own, *s = job->room ? job->room : &own;

    if (!job->room) lay_room(&l, s, spec, job->x_rows, job->y_rows);
    for (size_t y_first = 0; !l.err && y_first < job->y_count; y_first += job->y_rows) {
        load_y(job, y_first, s);
        for (size_t x_first = 0; x_first < job->x_count; x_first += job->x_rows) {
            load_x(job, x_first, s);
            block(job, s, x_first, y_first);
        }
    }
    return ny_layout_end(&l);
}

/* For a square, the items are the blocks of its lower triangle, row by row of blocks. */
static int run_items(const struct job *job, size_t first, size_t count)
{
    size_t bi = 0, bj = first, loaded = SIZE_MAX;
    const struct ny_columns_spec *spec = &job->columns->spec;
    struct ny_layout l = {.ctx = spec->ctx};
    struct ny_columns_room own;

    lay_room(&l, &own, spec, job->x_rows, job->y_rows);
    for (; bj > bi; bi++)
        bj -= bi + 1;
    for (; !l.err && count; count--) {
        if (loaded != bi) load_x(job, bi * job->x_rows, &own);
        loaded = bi;
        load_y(job, bj * job->y_rows, &own);
        block(job, &own, bi * job->x_rows, bj * job->y_rows);
        if (++bj <= bi) continue;
        bj = 0;
        bi++;
    }
    return ny_layout_end(&l);
}

/* The blocks of a square, which are taken as they come: those on its diagonal are half as much. */
struct square {
    const struct job *job;
    size_t items;
    atomic_size_t next;
};

static int run_square(void *arg, unsigned worker)
{
    const size_t taken = 8;
    struct square *square = arg;
    size_t first;
    int err = NY_OK;

    (void)worker;
    while (!err && (first = atomic_fetch_add(&square->next, taken)) < square->items) {
        size_t left = square->items - first;

        err = ny_check_interrupt(square->job->columns->spec.ctx); /* K of many rows is minutes */
        if (!err) err = run_items(square->job, first, left < taken ? left : taken);
    }
    return err;
}

static enum base base_of(const struct ny_columns *columns)
{
    if (columns->preparation.way == NY_WAY_GIVEN) return GIVEN;
    return columns->spec.kernel->base == NY_BASE_ABSOLUTE ||
                   columns->spec.geometry->d <= NY_EXACT_DIRECT
               ? PANELS
               : GEMM;
}

/* Tells whether half chords are those of rows of whole numbers. */
static bool chord_of_whole(const struct ny_columns *columns)
{
    return columns->spec.kernel->half_chord && ny_unscaled_integers(&columns->spec);
}

/* Makes the job of `count` rows against K.cols landmarks from `first` on. */
static struct job job_of(struct ny_columns_room *room, const struct ny_columns *columns,
                         size_t count, size_t first, struct ny_matrix K)
{
    struct job job = {.columns = columns,
                      .y = columns->raw ? columns->raw + first * columns->row_bytes : NULL,
                      .x_count = count,
                      .y_count = K.cols,
                      .x_rows = SHORT_ROWS,
                      .y_rows = rows_of_y(K.cols),
                      .base = base_of(columns),
                      .whole = chord_of_whole(columns),
                      .near = columns->near ? columns->near + first : NULL,
                      .room = room,
                      .K = K};

    if (K.cols == 1 && job.base != GIVEN && columns->spec.geometry->d > NY_EXACT_DIRECT) {
        job.base = PAIRS;
        job.y_rows = 1;
    }
    return job;
}

/* Runs on the calling thread alone: its callers are the workers of a team. */
int ny_columns_exact_in(struct ny_columns_room *room, const struct ny_columns *columns,
                        struct ny_raw_rows rows, size_t count, size_t first, struct ny_matrix K)
{
    struct job job = job_of(room, columns, count, first, K);

    if (columns->spec.slots) return ny_sparse_exact(columns, rows, count, first, K);
    job.x = rows.at;
    return run_blocks(&job);
}

int ny_columns_exact_at(struct ny_columns_room *room, const struct ny_columns *columns,
                        const void *const *rows, struct ny_matrix K)
{
    struct job job = job_of(room, columns, K.rows, 0, K);

    job.x_rows_at = rows;
    return run_blocks(&job);
}

int ny_columns_exact(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                     size_t first, struct ny_matrix K)
{
    return ny_columns_exact_in(NULL, columns, rows, count, first, K);
}

int ny_columns_exact_square(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                            struct ny_matrix K)
{
    size_t block_rows = square_rows(count);
    struct job job = {.columns = columns,
                      .x = rows.at,
                      .y = rows.at,
                      .x_count = count,
                      .y_count = count,
                      .x_rows = block_rows,
                      .y_rows = block_rows,
                      .symmetric = true,
                      .whole = chord_of_whole(columns),
                      .base = base_of(columns),
                      .K = K};
    const double small = 1e7; /* multiply-adds that are not worth a thread */
    size_t down = blocks_of(count, block_rows), items = down * (down + 1) / 2;
    struct square square = {.job = &job, .items = items};
    double work =
        (double)items * (double)block_rows * (double)block_rows * (double)columns->spec.geometry->d;
    int err;

    if (columns->spec.slots) return ny_sparse_exact_square(columns, rows, count, K);
    if (!items) return NY_OK;
    if (work < small) {
        err = run_items(&job, 0, items);
        if (!err) ny_mirror_lower(K);
        return err;
    }
    err = ny_parallel(columns->spec.ctx, ny_context_crew(columns->spec.ctx), run_square, &square);
    return err ? err : ny_square_mirror_lower(columns->spec.ctx, K);
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
    if (columns->spec.slots) return ny_sparse_square(columns, W);
    return ny_columns_exact_square(columns, ny_columns_rows(columns), columns->count, W);
}
