/* The draw of check rows (fit/check_draw.h). */
#include "fit/check_draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/peers.h"
#include "base/random.h"
#include "base/thread.h"
#include "fit/drawn_rows.h"
#include "model/model.h"
#include "select/draws.h"
#include "spectral/ensemble.h"
#include "spectral/methods.h"

/* Bytes of rows that are placed at a time, about: the fullest of sparse ones decides. Of dense rows
 * as many as there are check rows fit, which are held next. */
enum { BLOCK_BYTES = 1 << 20 };

struct candidate {
    uint64_t row;
    double g;
    double p;   /* its probability to be in S */
    double key; /* that decides */
};

struct draw {
    struct ny_layout own;
    struct ny_fit *fit;
    struct ny_projector *projector;
    struct ny_ensemble shape; /* of methods other than ensemble: one expert */
    size_t R, N, m, p;        /* check rows, candidates, landmarks, pairs */
    size_t block;             /* rows that a worker places at a time */
    unsigned workers;
    struct candidate *candidates; /* by row number while they are placed */
    uint64_t *rows;               /* of the candidates, as they were drawn; then by number */
    double *beta;                 /* N */
    double *squares;              /* N × 2p: (β y)², y² */
    double *diagonal;             /* m: k_jj */
    char *raw;                    /* workers × block rows */
};

static void lay(struct ny_layout *l, struct draw *draw, const struct ny_rows_info *points)
{
    size_t N = draw->N, row_bytes = ny_rows_row_bytes(points), rows = 1 + BLOCK_BYTES / row_bytes;

    if (!points->row_slots && rows < draw->R) rows = draw->R;
    draw->block = ny_smaller(N, ny_smaller(NY_STRIP_ROWS, rows));
    draw->candidates = ny_lay(l, NY_MEM_DICTIONARY, N, sizeof(*draw->candidates));
    draw->rows = ny_lay(l, NY_MEM_DICTIONARY, N, sizeof(*draw->rows));
    draw->beta = ny_lay(l, NY_MEM_DICTIONARY, N, sizeof(double));
    draw->squares = ny_lay(l, NY_MEM_DICTIONARY, N, 2 * draw->p * sizeof(double));
    draw->diagonal = ny_lay(l, NY_MEM_DICTIONARY, draw->m, sizeof(double));
    draw->raw = ny_lay(l, NY_MEM_DICTIONARY, draw->workers * draw->block, row_bytes);
}

void ny_check_draw_count(struct ny_layout *l, const struct ny_rows_info *points, size_t R, size_t m,
                         size_t p, unsigned workers)
{
    struct draw draw = {
        .R = R, .N = (size_t)ny_check_candidates(R, points->n), .m = m, .p = p, .workers = workers};

    lay(l, &draw, points);
    ny_lay(l, NY_MEM_DICTIONARY, draw.N, sizeof(struct ny_draw));
}

/* ---- candidates ---------------------------------------------------------------------------- */

static int by_row(const void *a, const void *b)
{
    uint64_t x = ((const struct candidate *)a)->row, y = ((const struct candidate *)b)->row;

    return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b)
{
    double x = ((const struct candidate *)a)->key, y = ((const struct candidate *)b)->key;

    return x == y ? by_row(a, b) : (x > y) - (x < y);
}

/* Lists N rows of smallest hash. */
static int list(struct draw *draw)
{
    int err = ny_draw_rows(draw->fit, NY_STREAM_CHECKS, draw->N, draw->rows);

    for (size_t i = 0; i < draw->N && !err; i++)
        draw->candidates[i] = (struct candidate){.row = draw->rows[i]};
    qsort(draw->candidates, draw->N, sizeof(*draw->candidates), by_row);
    for (size_t i = 0; i < draw->N; i++)
        draw->rows[i] = draw->candidates[i].row;
    return err;
}

/* Returns max_j k_ij²/k_jj over the landmarks of an expert, for row i of a worker's tile. */
static double most_explained(const struct draw *draw, unsigned worker, size_t i, size_t expert)
{
    const struct ny_tiles *tiles = &draw->projector->tiles;
    const double *a = draw->projector->model->a;
    size_t first = ny_ensemble_first(&draw->shape, expert);
    size_t end = first + ny_ensemble_width(&draw->shape, expert);
    const float *c32 = NULL;
    const double *c64 = NULL;
    double most = 0;

    if (tiles->precision == NY_PRECISION_F64)
        c64 = ny_rows(ny_tiles_c64(tiles, worker), i, 1).at;
    else
        c32 = ny_rows32(ny_tiles_c32(tiles, worker), i, 1).at;
    for (size_t j = first; j < end; j++) {
        double k = (c64 ? c64[j] : (double)c32[j]) + a[j];

        if (draw->diagonal[j] > 0) most = fmax(most, k * k / draw->diagonal[j]);
    }
    return most;
}

/* Returns b of row i of a worker's tile. */
static double bound(const struct draw *draw, unsigned worker, size_t i)
{
    double own = ny_projector_diagonal(draw->projector, worker)[i], sum = 0;

    for (size_t e = 0; e < draw->shape.experts; e++)
        sum += fmax(own - most_explained(draw, worker, i, e), 0);
    return sum / (double)draw->shape.experts;
}

/* Finds β, (β y)² and y² of `count` candidates from this one on, which the worker has placed. */
static void weigh(const struct draw *draw, unsigned worker, size_t first, size_t count)
{
    const struct ny_projector *projector = draw->projector;

    for (size_t i = 0; i < count; i++) {
        double root = ny_projector_weight(projector, worker, i);
        double *squares = draw->squares + (first + i) * 2 * draw->p, beta;

        if (isnan(root)) continue; /* no landmark reaches it: no pair has it */
        beta = root * root * bound(draw, worker, i);
        draw->beta[first + i] = beta;
        for (size_t k = 0; k < draw->p; k++) {
            double y = ny_projector_number(projector, worker, i, k);

            squares[k] = beta * y * (beta * y);
            squares[draw->p + k] = y * y;
        }
    }
}

/* Reads `count` candidates from this one on, and places them. */
static int place(const struct draw *draw, unsigned worker, size_t first, size_t count)
{
    struct ny_fit *fit = draw->fit;
    const struct ny_rows_info *points = &fit->job.points;
    const struct ny_raw_shape shape = {points->dtype, count, (size_t)points->d,
                                       (size_t)points->row_slots};
    char *raw = draw->raw + worker * draw->block * ny_rows_row_bytes(points);
    struct ny_tile tile = {.rows = count, .worker = worker};
    int err =
        ny_rows_gather_wide(fit->job.X, points->dtype, shape.slots, draw->rows + first, count, raw);

    if (!err) err = ny_source_of_raw(&tile.source, fit->job.ctx, ny_raw_rows(raw), &shape);
    if (!err) err = ny_projector_tile(draw->projector, &tile);
    if (!err) weigh(draw, worker, first, count);
    ny_source_free(tile.source);
    return err;
}

/* Places every workers-th block. */
static int place_blocks(void *arg, unsigned worker)
{
    const struct draw *draw = arg;
    int err = NY_OK;

    for (size_t at = worker * draw->block; at < draw->N && !err; at += draw->workers * draw->block)
        err = place(draw, worker, at, ny_smaller(draw->N - at, draw->block));
    return err;
}

/* ---- importance ---------------------------------------------------------------------------- */

/* Adds x_i/Σx, or nothing where all are zero, times `share`, to g; x is `stride` apart. */
static void add_shares(struct draw *draw, const double *x, size_t stride, double share)
{
    double sum = 0;

    for (size_t i = 0; i < draw->N; i++)
        sum += x[i * stride];
    for (size_t i = 0; i < draw->N && sum > 0; i++)
        draw->candidates[i].g += share * (x[i * stride] / sum);
}

static void find_importance(struct draw *draw)
{
    size_t p = draw->p;

    add_shares(draw, draw->beta, 1, 1);
    for (size_t k = 0; k < 2 * p; k++)
        add_shares(draw, draw->squares + k, 2 * p, 1 / (double)p);
    for (size_t i = 0; i < draw->N; i++)
        draw->candidates[i].g += 3 / (double)draw->N; /* uniformly: half of all */
}

/* Sets p_i = min(1, c g_i), with c such that they add up to R. */
static void find_probabilities(struct draw *draw, size_t R)
{
    size_t sure = 0, before = SIZE_MAX; /* rows of p = 1 */

    while (sure != before) {
        double sum = 0, c;

        for (size_t i = 0; i < draw->N; i++)
            sum += draw->candidates[i].p < 1 ? draw->candidates[i].g : 0;
        c = (double)(R - sure) / sum;
        before = sure;
        sure = 0;
        for (size_t i = 0; i < draw->N; i++) {
            struct candidate *candidate = &draw->candidates[i];

            if (candidate->p < 1) candidate->p = fmin(c * candidate->g, 1);
            sure += candidate->p >= 1;
        }
    }
}

/* Takes S: the R candidates of smallest keys. */
static void take(struct draw *draw, size_t R, uint64_t *rows, double *probability)
{
    for (size_t i = 0; i < draw->N; i++) {
        struct candidate *c = &draw->candidates[i];
        double u = ny_hash01(draw->fit->settings->seed, NY_STREAM_CHOICE, c->row);

        c->key = u * (1 - c->p) / ((1 - u) * c->p);
    }
    qsort(draw->candidates, draw->N, sizeof(*draw->candidates), by_key);
    for (size_t s = 0; s < R; s++) {
        rows[s] = draw->candidates[s].row;
        probability[s] = (double)draw->N / (double)draw->fit->job.points.n * draw->candidates[s].p;
    }
}

int ny_check_draw(struct ny_fit *fit, struct ny_projector *projector, size_t R, uint64_t *rows,
                  double *probability)
{
    const struct ny_columns *landmarks = projector->columns;
    struct draw draw = {.own.ctx = fit->job.ctx,
                        .fit = fit,
                        .projector = projector,
                        .R = R,
                        .N = (size_t)ny_check_candidates(R, fit->job.points.n),
                        .m = fit->m,
                        .p = projector->model->p,
                        .workers = fit->job.workers};
    struct ny_problem problem = ny_fit_problem(fit);
    int err;

    if (fit->settings->method == &ny_method_ensemble)
        draw.shape = ny_ensemble_shape(&problem);
    else
        draw.shape = (struct ny_ensemble){.experts = 1, .columns = draw.m};
    if (ny_context_peers(fit->job.ctx)) draw.workers = 1; /* they read the rows together */
    lay(&draw.own, &draw, &fit->job.points);
    err = draw.own.err;
    if (!err) err = list(&draw);
    if (!err)
        err = ny_columns_diagonal(landmarks, ny_columns_rows(landmarks), draw.m, draw.diagonal);
    if (!err) err = ny_parallel(fit->job.ctx, draw.workers, place_blocks, &draw);
    if (!err) {
        find_importance(&draw);
        find_probabilities(&draw, R);
        take(&draw, R, rows, probability);
    }
    ny_layout_free(&draw.own);
    return err;
}
