/*
 * The reduction goes from the last row of A to the first, in panels of 32 rows. Row i loses what is
 * left of its diagonal to a reflection Hᵢ, that is, to two rows v and w by which the triangle above
 * changes: A ← A − vwᵀ − wvᵀ. The rows of a panel wait for each other's changes; the triangle above
 * the panel gets them all in one product. But w begins with A times v, a product with the whole
 * triangle for each row, and that is half of the work.
 *
 * Workers go through the steps of a row together. Each step is cut in pieces of columns, or strips
 * of rows, that are always the same worker's, whose share of the triangle stays in its cache.
 */
#include "linalg/tridiagonal.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "linalg/blas.h"
#include "linalg/parts.h"
#include "linalg/strip.h"

NY_CPU_FAMILIES(ny_strip_fn, ny_strip)

/* Reflections of a panel; rows of a strip; columns of a piece. */
enum { PANEL = 32, STRIP = 64, PIECE = 128 };
/* Reflections that are applied as one, and rows that they are applied to at a time. */
enum { BLOCK = 64, LINES = 32 };

/* Returns the columns, from *first on, that a piece has of 0 … end−1; none where it is another
 * worker's. */
static size_t piece_of(const struct ny_worker *worker, size_t piece, size_t end, size_t *first)
{
    *first = piece * PIECE;
    return ny_part_is_mine(worker, piece) ? ny_smaller(end - *first, PIECE) : 0;
}

/* ---- reduction ------------------------------------------------------------------------------- */

/* The state of a reduction. V and W of a panel stand below one another, and in the other order, so
 * that the change of the triangle, VᵀW + WᵀV, is one product. */
struct reduction {
    struct ny_matrix A;
    double *d, *e, *tau;
    struct ny_matrix VW, WV; /* 2·PANEL × m */
    struct ny_matrix parts;  /* strips × m: the share of each strip in Av */
    double *dots;            /* 2·PANEL: (V;W)·v */
    double *sums;            /* of each piece */
};

static void lay_reduction(struct ny_layout *l, struct reduction *r, size_t m)
{
    size_t strips = ny_parts_of(m, STRIP);

    r->VW = ny_lay_matrix(l, NY_MEM_SOLVE, 2 * PANEL, m);
    r->WV = ny_lay_matrix(l, NY_MEM_SOLVE, 2 * PANEL, m);
    r->parts = ny_lay_matrix(l, NY_MEM_SOLVE, strips, m);
    r->dots = ny_lay(l, NY_MEM_SOLVE, 2 * PANEL, sizeof(double));
    r->sums = ny_lay(l, NY_MEM_SOLVE, ny_parts_of(m, PIECE), sizeof(double));
}

static double *row_of(struct ny_matrix A, size_t i)
{
    return A.at + i * A.stride;
}

/* Σ of the pieces of columns 0 … count−1. */
static double total(const struct reduction *r, size_t count)
{
    double sum = 0;

    for (size_t piece = 0; piece < ny_parts_of(count, PIECE); piece++)
        sum += r->sums[piece];
    return sum;
}

/* y ← y − Σ (wₖ fₖ + vₖ f_{PANEL+k}) for columns first … first+count−1 of the panel's first
 * `done` reflections. */
static void subtract_panel(const struct reduction *r, size_t done, const double *f, size_t first,
                           size_t count, double *y)
{
    struct ny_matrix W = ny_cols(ny_rows(r->WV, 0, done), first, count);
    struct ny_matrix V = ny_cols(ny_rows(r->VW, 0, done), first, count);

    if (!done) return;
    ny_gemv(-1, ny_t(W), f, 1, y);
    ny_gemv(-1, ny_t(V), f + PANEL, 1, y);
}

/* The factors for row i of the triangle. */
static void factors_of(const struct reduction *r, size_t done, size_t i, double *f)
{
    for (size_t k = 0; k < done; k++) {
        f[k] = row_of(r->VW, k)[i];
        f[PANEL + k] = row_of(r->WV, k)[i];
    }
}

/* Brings row i of A up to date, and sums the squares of what its reflection is to remove. */
static void update_row(struct reduction *r, const struct ny_worker *worker, size_t i, size_t done)
{
    double f[2 * PANEL], *a = row_of(r->A, i);

    factors_of(r, done, i, f);
    for (size_t piece = 0; piece < ny_parts_of(i + 1, PIECE); piece++) {
        size_t first, count = piece_of(worker, piece, i + 1, &first);
        size_t removed = i - 1 > first ? ny_smaller(i - 1 - first, PIECE) : 0;

        if (!count) continue;
        subtract_panel(r, done, f, first, count, a + first);
        r->sums[piece] = ny_dot(a + first, a + first, removed);
    }
}

/* Hᵢ, which takes row i's x, of i elements, to (0, …, 0, e): v = x/scale, but for its last
 * element, 1. */
struct reflection {
    double e, tau, scale;
};

/* A smaller sum of squares has lost digits to underflow, and H would not be orthogonal. The row is
 * taken as it is then: what is left out is below 2⁻⁴⁸⁰, and A has an element of 2⁻⁴⁰¹ or more. */
static const double least_squares = 0x1p-960;

static struct reflection reflection_of(double squares, double last)
{
    struct reflection h = {last, 0, 1};

    if (squares > least_squares) {
        h.e = -copysign(sqrt(last * last + squares), last);
        h.tau = (h.e - last) / h.e;
        h.scale = last - h.e;
    }
    return h;
}

/* v in the panel. */
static void write_reflection(struct reduction *r, const struct ny_worker *worker, size_t i,
                             size_t k, double scale)
{
    const double *x = row_of(r->A, i);
    double *v = row_of(r->VW, k);

    for (size_t piece = 0; piece < ny_parts_of(i, PIECE); piece++) {
        size_t first, count = piece_of(worker, piece, i, &first);

        for (size_t j = first; j < first + count; j++)
            v[j] = j + 1 == i ? 1 : x[j] / scale;
    }
}

/* The products with v: of the triangle, strip by strip, and of the panel. v is kept in A, too. */
static void multiply(struct reduction *r, const struct ny_worker *worker, size_t i, size_t k)
{
    const double *v = row_of(r->VW, k);

    for (size_t strip = 0; strip < ny_parts_of(i, STRIP); strip++) {
        size_t first = strip * STRIP, rows = ny_smaller(i - first, STRIP);
        double *y = row_of(r->parts, strip);

        if (!ny_part_is_mine(worker, strip)) continue;
        memset(y, 0, (first + rows) * sizeof(*y));
        ny_strip_families[ny_cpu_family()](r->A.at, r->A.stride, first, rows, v, y);
        memcpy(row_of(r->A, i) + first, v + first, rows * sizeof(*v));
    }
    for (size_t j = 0; j < k; j++) {
        if (!ny_part_is_mine(worker, j)) continue;
        r->dots[j] = ny_dot(row_of(r->VW, j), v, i);
        r->dots[PANEL + j] = ny_dot(row_of(r->WV, j), v, i);
    }
}

/* w = τ (A − VᵀW − WᵀV) v, and the sums of w·v. */
static void gather(struct reduction *r, const struct ny_worker *worker, size_t i, size_t k,
                   double tau)
{
    const double *v = row_of(r->VW, k);
    double *w = row_of(r->WV, k);

    for (size_t piece = 0; piece < ny_parts_of(i, PIECE); piece++) {
        size_t first, count = piece_of(worker, piece, i, &first);

        if (!count) continue;
        memset(w + first, 0, count * sizeof(*w));
        for (size_t strip = first / STRIP; strip < ny_parts_of(i, STRIP); strip++) {
            size_t end = ny_smaller(first + count, ny_smaller(i, (strip + 1) * STRIP));

            for (size_t j = first; j < end; j++)
                w[j] += row_of(r->parts, strip)[j];
        }
        subtract_panel(r, k, r->dots, first, count, w + first);
        for (size_t j = first; j < first + count; j++)
            w[j] *= tau;
        r->sums[piece] = ny_dot(w + first, v + first, count);
    }
}

/* w ← w − ½ τ (w·v) v; both rows where the product of the panel finds them. */
static void finish(struct reduction *r, const struct ny_worker *worker, size_t i, size_t k,
                   double half)
{
    const double *v = row_of(r->VW, k);
    double *w = row_of(r->WV, k);

    for (size_t piece = 0; piece < ny_parts_of(i, PIECE); piece++) {
        size_t first, count = piece_of(worker, piece, i, &first);

        if (!count) continue;
        for (size_t j = first; j < first + count; j++)
            w[j] -= half * v[j];
        memcpy(row_of(r->VW, PANEL + k) + first, w + first, count * sizeof(*w));
        memcpy(row_of(r->WV, PANEL + k) + first, v + first, count * sizeof(*v));
    }
}

/* Reduces row i, the panel's k-th. */
static void reduce_row(struct reduction *r, const struct ny_worker *worker, size_t i, size_t k)
{
    struct reflection h;

    update_row(r, worker, i, k);
    ny_team_meet(worker);
    h = reflection_of(total(r, i + 1), row_of(r->A, i)[i - 1]);
    write_reflection(r, worker, i, k, h.scale);
    if (worker->index == 0) {
        r->d[i] = row_of(r->A, i)[i];
        r->e[i - 1] = h.e;
        r->tau[i] = h.tau;
    }
    ny_team_meet(worker);
    multiply(r, worker, i, k);
    ny_team_meet(worker);
    gather(r, worker, i, k, h.tau);
    ny_team_meet(worker);
    finish(r, worker, i, k, h.tau / 2 * total(r, i));
    ny_team_meet(worker);
}

/* d₀, which no reflection touches any more. */
static void finish_corner(struct reduction *r, size_t done)
{
    double f[2 * PANEL];

    factors_of(r, done, 0, f);
    r->d[0] = r->A.at[0];
    subtract_panel(r, done, f, 0, 1, r->d);
}

/* A ← A − VᵀW − WᵀV in the triangle of the first `order` rows. */
static void update_triangle(struct reduction *r, const struct ny_worker *worker, size_t order)
{
    for (size_t strip = 0; strip < ny_parts_of(order, STRIP); strip++) {
        size_t first = strip * STRIP, rows = ny_smaller(order - first, STRIP);
        struct ny_matrix A = ny_rows(r->A, first, rows);

        if (!ny_part_is_mine(worker, strip)) continue;
        ny_gemm(-1, ny_t(ny_cols(r->VW, first, rows)), ny_cols(r->WV, 0, first), 1,
                ny_cols(A, 0, first));
        ny_gram_crossed(-1, ny_cols(ny_rows(r->VW, 0, PANEL), first, rows),
                        ny_cols(ny_rows(r->WV, 0, PANEL), first, rows), ny_cols(A, first, rows));
    }
    ny_team_meet(worker);
}

static int reduce(void *arg, const struct ny_worker *worker)
{
    struct reduction *r = arg;
    size_t left = r->A.rows, done = 0; /* row 0 needs no reflection */
    int err = NY_OK;

    while (left > 1 && !err) {
        done = ny_smaller(left - 1, PANEL);
        for (size_t k = 0; k < done; k++)
            reduce_row(r, worker, left - 1 - k, k);
        left -= done;
        if (left > 1) update_triangle(r, worker, left);
        err = ny_team_check(worker);
    }
    if (worker->index == 0) finish_corner(r, done);
    return err;
}

int ny_tridiagonal_reduce(struct ny_context *ctx, struct ny_matrix A, double *d, double *e,
                          double *tau)
{
    struct ny_layout l = {.ctx = ctx};
    struct reduction r = {.A = A, .d = d, .e = e, .tau = tau};
    int err;

    assert(A.rows == A.cols && A.rows && !A.transposed);
    lay_reduction(&l, &r, A.rows);
    err = l.err ? l.err : ny_parts_run(ctx, A.rows, reduce, &r);
    ny_layout_free(&l);
    return err;
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* Reflections 1 + b·BLOCK … of block b are one: I − VᵀTV, T lower triangular (Schreiber & Van Loan
 * 1989). The last columns of V, up to BLOCK, are a triangle; what A holds beside it is not V's. */
struct application {
    struct ny_matrix A, Z;
    const double *tau;
    double *T, *tail; /* of each block, BLOCK × BLOCK */
    double *lines;    /* of each part of Z, LINES × 2·BLOCK */
};

static size_t reflections_of(const struct application *of, size_t block)
{
    return ny_smaller(of->A.rows - 1 - block * BLOCK, BLOCK);
}

/* V's columns in front of its triangle, and the triangle. */
static struct ny_matrix front_of(const struct application *of, size_t block)
{
    return ny_cols(ny_rows(of->A, 1 + block * BLOCK, reflections_of(of, block)), 0, block * BLOCK);
}

static struct ny_matrix tail_of(const struct application *of, size_t block)
{
    size_t count = reflections_of(of, block);

    return ny_matrix(of->tail + block * BLOCK * BLOCK, count, count);
}

/* T's row of each reflection: −τ (v Vᵀ) T for those before it, then τ. */
static void join(const struct application *of, size_t block)
{
    size_t first = block * BLOCK, count = reflections_of(of, block);
    struct ny_matrix tail = tail_of(of, block);
    struct ny_matrix T = ny_matrix(of->T + first * BLOCK, count, count);
    double S[BLOCK * BLOCK];

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            row_of(tail, i)[j] = j > i ? 0 : row_of(of->A, 1 + first + i)[first + j];
    ny_gram(ny_t(front_of(of, block)), 0, ny_matrix(S, count, count));
    ny_gram(ny_t(tail), 1, ny_matrix(S, count, count));
    for (size_t i = 0; i < count; i++) {
        double tau = of->tau[1 + first + i], *t = row_of(T, i);

        for (size_t j = 0; j < count; j++)
            t[j] = j == i ? tau : 0;
        for (size_t k = 0; k < i; k++)
            for (size_t j = 0; j <= k; j++)
                t[j] -= tau * S[i * count + k] * row_of(T, k)[j];
    }
}

/* Z ← Z − ((ZVᵀ)Tᵀ)V for the rows of one part, block by block. */
static void reflect(const struct application *of, size_t part)
{
    size_t m = of->A.rows;
    struct ny_matrix Z = ny_rows(of->Z, part * LINES, ny_smaller(of->Z.rows - part * LINES, LINES));
    double *at = of->lines + part * LINES * 2 * BLOCK;

    for (size_t block = 0; block < ny_parts_of(m - 1, BLOCK); block++) {
        size_t count = reflections_of(of, block), first = block * BLOCK;
        struct ny_matrix Y = ny_matrix(at, Z.rows, count), YT = Y;
        struct ny_matrix front = ny_cols(Z, 0, first), tail = ny_cols(Z, first, count);

        YT.at += LINES * BLOCK;
        ny_gemm(1, tail, ny_t(tail_of(of, block)), 0, Y);
        ny_gemm(1, front, ny_t(front_of(of, block)), 1, Y);
        ny_gemm(1, Y, ny_t(ny_matrix(of->T + first * BLOCK, count, count)), 0, YT);
        ny_gemm(-1, YT, front_of(of, block), 1, front);
        ny_gemm(-1, YT, tail_of(of, block), 1, tail);
    }
}

static int apply(void *arg, const struct ny_worker *worker)
{
    struct application *of = arg;

    for (size_t block = 0; block < ny_parts_of(of->A.rows - 1, BLOCK); block++)
        if (ny_part_is_mine(worker, block)) join(of, block);
    ny_team_meet(worker);
    for (size_t part = 0; part < ny_parts_of(of->Z.rows, LINES); part++)
        if (ny_part_is_mine(worker, part)) reflect(of, part);
    return NY_OK;
}

static void lay_application(struct ny_layout *l, struct application *of, size_t m, size_t count)
{
    size_t blocks = ny_parts_of(m, BLOCK), parts = ny_parts_of(count, LINES);

    of->T = ny_lay(l, NY_MEM_SOLVE, blocks, BLOCK * BLOCK * sizeof(double));
    of->tail = ny_lay(l, NY_MEM_SOLVE, blocks, BLOCK * BLOCK * sizeof(double));
    of->lines = ny_lay(l, NY_MEM_SOLVE, parts, LINES * 2 * BLOCK * sizeof(double));
}

int ny_tridiagonal_apply(struct ny_context *ctx, struct ny_matrix A, const double *tau,
                         struct ny_matrix Z)
{
    struct ny_layout l = {.ctx = ctx};
    struct application of = {.A = A, .Z = Z, .tau = tau};
    int err;

    assert(Z.cols == A.rows && !Z.transposed && !A.transposed);
    lay_application(&l, &of, A.rows, Z.rows);
    err = l.err ? l.err : ny_parts_run(ctx, A.rows, apply, &of);
    ny_layout_free(&l);
    return err;
}

void ny_tridiagonal_count(struct ny_layout *l, size_t m, size_t count)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    lay_reduction(l, &(struct reduction){0}, m);
    ny_layout_back(l, &mark);
    lay_application(l, &(struct application){0}, m, count);
    ny_layout_back(l, &mark);
}
