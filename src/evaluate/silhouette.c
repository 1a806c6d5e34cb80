/*
 * Silhouettes (Rousseeuw 1987), for the measure clusters (evaluate/clusters.c). That of a row is
 * (b − a)/max(a, b): a is its mean distance to the other rows of its cluster, b the least mean
 * distance to those of another one. A row that is alone in its cluster has 0.
 *
 * The mean over all rows would take n² distances. A hashed sample of s rows stands for them. Each
 * row in it is measured against all n rows, so that a silhouette in the sample is exact, and only
 * the choice of rows is left to chance: the standard error is √((1 − s/n)·variance/s). Where there
 * are no more than s rows it is the figure itself.
 *
 * Distances of 64 rows of the sample to 256 others come from one product, ‖x‖² + ‖y‖² − 2xy, in
 * f64. Threads share the sample, and each adds up distances in the order of the rows, so that
 * neither they nor the budget change a bit. What is kept is a sum for each row of the sample and
 * each cluster.
 */
#include "evaluate/silhouette.h"

#include <math.h>

#include "base/layout.h"
#include "base/progress.h"
#include "base/thread.h"
#include "evaluate/nearest.h"
#include "evaluate/sample.h"
#include "linalg/matrix.h"

enum { BLOCK_ROWS = 64, BLOCK_OTHERS = 256, PIECE_ROWS = 1 << 14 };

/* A square that is less than this share of the squared norms is what rounding leaves of 0. */
static const double nothing = 1e-14;

struct silhouettes {
    struct ny_context *ctx;
    size_t s, k, p;
    uint64_t *rows;          /* numbers of the sample's rows */
    double *x, *x_norms;     /* s × p; s */
    double *sums;            /* s × k: distances to the rows of each cluster */
    uint64_t *sizes;         /* k */
    uint64_t *list;          /* numbers of the rows of a piece, which they are measured against, */
    float *read;             /* piece × p: as the cloud hands them out, */
    double *y, *y_norms;     /* and in f64 */
    size_t piece;            /* rows that there are in it now */
    const uint32_t *cluster; /* one for each row of the piece */
};

/* Rows that the sample is measured against at a time, at most. */
static size_t piece_of(size_t p)
{
    size_t rows = ny_cloud_piece(p);

    return rows < PIECE_ROWS ? rows : PIECE_ROWS;
}

/* Widens some rows, and computes their squared norms. */
static void widen(const float *from, size_t rows, size_t p, double *to, double *norms)
{
    for (size_t i = 0; i < rows; i++) {
        norms[i] = 0;
        for (size_t c = 0; c < p; c++) {
            double value = (double)from[i * p + c];

            to[i * p + c] = value;
            norms[i] += value * value;
        }
    }
}

/* Adds the distances of row i of the sample to rows first … first + count − 1 of the piece, which
 * take the place of −2xy in `product`. */
static void add_distances(const struct silhouettes *at, size_t i, double *product, size_t first,
                          size_t count)
{
    const uint32_t *cluster = at->cluster + first;
    double *sums = at->sums + i * at->k;

    ny_nearest_loops()->lengths(product, at->x_norms[i], at->y_norms + first, count, nothing);
    for (size_t j = 0; j < count; j++)
        sums[cluster[j]] += product[j];
}

/* Measures some blocks of the sample against the piece. */
static int measure_blocks(void *arg, size_t first, size_t count)
{
    const struct silhouettes *at = arg;
    double *room = ny_calloc(at->ctx, NY_MEM_TILES, BLOCK_ROWS * BLOCK_OTHERS, sizeof(double));

    if (!room) return NY_EBUDGET;
    for (size_t row = first * BLOCK_ROWS; row < at->s && row < (first + count) * BLOCK_ROWS;
         row += BLOCK_ROWS) {
        size_t rows = at->s - row < BLOCK_ROWS ? at->s - row : BLOCK_ROWS;
        struct ny_matrix X = ny_matrix(at->x + row * at->p, rows, at->p);

        for (size_t other = 0; other < at->piece; other += BLOCK_OTHERS) {
            size_t others = at->piece - other < BLOCK_OTHERS ? at->piece - other : BLOCK_OTHERS;
            struct ny_matrix Y = ny_matrix(at->y + other * at->p, others, at->p);

            ny_gemm(-2, X, ny_t(Y), 0, ny_matrix(room, rows, others));
            for (size_t i = 0; i < rows; i++)
                add_distances(at, row + i, room + i * others, other, others);
        }
    }
    ny_free(at->ctx, room);
    return NY_OK;
}

/* One pass over all rows, in pieces whose size depends on p alone. */
static int measure_all(struct ny_evaluation *run, struct silhouettes *at)
{
    size_t rows = piece_of(at->p), blocks = (at->s + BLOCK_ROWS - 1) / BLOCK_ROWS;
    struct ny_meter meter;
    int err = NY_OK;

    ny_blas_serial();
    ny_meter_start(&meter, run->ctx, "silhouette", 0, run->n);
    for (uint64_t first = 0; !err && first < run->n; first += rows) {
        at->piece = run->n - first < rows ? (size_t)(run->n - first) : rows;
        at->cluster = run->cluster + first;
        for (size_t i = 0; i < at->piece; i++) {
            at->list[i] = first + i;
            at->sizes[at->cluster[i]]++;
        }
        err = ny_check_interrupt(run->ctx);
        if (!err) err = ny_cloud_gather(&run->cloud, at->list, at->piece, at->read);
        if (err) break;
        widen(at->read, at->piece, at->p, at->y, at->y_norms);
        err = ny_parallel_ranges(run->ctx, blocks, measure_blocks, at);
        ny_meter_add(&meter, at->piece, 0, 2 * (double)at->piece * (double)(at->s * at->p));
    }
    ny_meter_finish(&meter);
    return err;
}

/* The silhouette of row i of the sample, which is in a cluster. */
static double silhouette_of(const struct silhouettes *at, size_t i, uint32_t own)
{
    const double *sums = at->sums + i * at->k;
    double a, b = INFINITY;

    if (at->sizes[own] == 1) return 0;
    a = sums[own] / (double)(at->sizes[own] - 1);
    for (size_t c = 0; c < at->k; c++)
        if (c != own && at->sizes[c]) b = fmin(b, sums[c] / (double)at->sizes[c]);
    return a > 0 || b > 0 ? (b - a) / fmax(a, b) : 0;
}

/* The mean of the sample; x_norms, which are done with, become the silhouettes. */
static void summarise(const struct ny_evaluation *run, const struct silhouettes *at,
                      struct ny_silhouette *out)
{
    double s = (double)at->s, squares = 0;
    size_t used = 0;

    for (size_t c = 0; c < at->k; c++)
        used += at->sizes[c] > 0;
    *out = (struct ny_silhouette){used < 2 ? (double)NAN : 0, 0, at->s};
    if (used < 2) return;
    for (size_t i = 0; i < at->s; i++) {
        at->x_norms[i] = silhouette_of(at, i, run->cluster[at->rows[i]]);
        out->mean += at->x_norms[i] / s;
    }
    out->mean = fmin(out->mean, 1); /* the shares that were added may be above by rounding */
    for (size_t i = 0; i < at->s; i++)
        squares += (at->x_norms[i] - out->mean) * (at->x_norms[i] - out->mean);
    if (at->s < run->n)
        out->standard_error = sqrt((1 - s / (double)run->n) * squares / (s * fmax(s - 1, 1)));
}

static void lay(struct ny_layout *l, struct silhouettes *at)
{
    size_t piece = piece_of(at->p), longest = at->s > piece ? at->s : piece;

    at->rows = ny_lay(l, NY_MEM_OTHER, at->s, sizeof(*at->rows));
    at->x = ny_lay(l, NY_MEM_OTHER, at->s, at->p * sizeof(double));
    at->x_norms = ny_lay(l, NY_MEM_OTHER, at->s, sizeof(double));
    at->sums = ny_lay(l, NY_MEM_OTHER, at->s, at->k * sizeof(double));
    at->sizes = ny_lay(l, NY_MEM_OTHER, at->k, sizeof(*at->sizes));
    at->list = ny_lay(l, NY_MEM_OTHER, piece, sizeof(*at->list));
    at->read = ny_lay(l, NY_MEM_OTHER, longest, at->p * sizeof(float));
    at->y = ny_lay(l, NY_MEM_OTHER, piece, at->p * sizeof(double));
    at->y_norms = ny_lay(l, NY_MEM_OTHER, piece, sizeof(double));
}

int ny_silhouette_measure(struct ny_evaluation *run, struct ny_silhouette *out)
{
    struct ny_context *ctx = run->ctx;
    struct ny_layout l = {.ctx = ctx};
    struct silhouettes at = {.ctx = ctx, .k = run->clusters, .p = run->cloud.p};
    int err;

    at.s = ny_sample_size(run);
    lay(&l, &at);
    err = l.err;
    if (!err) err = ny_cloud_sample(ctx, run->n, at.s, run->settings->seed, at.rows);
    if (!err) err = ny_cloud_gather(&run->cloud, at.rows, at.s, at.read);
    if (err) goto done;
    widen(at.read, at.s, at.p, at.x, at.x_norms);
    err = measure_all(run, &at);
    if (!err) summarise(run, &at, out);
done:
    ny_layout_free(&l);
    return err;
}

void ny_silhouette_count(struct ny_layout *l, const struct ny_evaluation *run, size_t k)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct silhouettes at = {
        .p = ny_coordinates_count(&run->result.coordinates), .s = ny_sample_size(run), .k = k};

    lay(l, &at);
    ny_lay(l, NY_MEM_OTHER, k, sizeof(*at.sizes) + sizeof(double));
    ny_cloud_sample_count(l, at.s);
    for (unsigned w = 0; w < run->workers; w++)
        ny_lay(l, NY_MEM_TILES, BLOCK_ROWS * BLOCK_OTHERS, sizeof(double));
    ny_layout_back(l, &mark);
}
