/* The draw of check rows (fit/check_draw.h). */
#include "fit/check_draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "fit/drawn_rows.h"
#include "model/model.h"
#include "select/draws.h"

struct candidate {
    uint64_t row;
    bool first; /* in S anyway */
    double g;
    double key; /* g/u */
};

struct draw {
    struct ny_layout own;
    struct ny_fit *fit;
    struct ny_projector *projector;
    size_t N, m, p, block;        /* candidates, landmarks, pairs, rows that are placed at a time */
    struct candidate *candidates; /* by row number while they are placed */
    uint64_t *rows;               /* of the candidates; then of a block */
    double *beta;                 /* N */
    double *squares;              /* N × 2p: (β y)², y² */
    double *diagonal;             /* m: k_jj */
    void *raw;                    /* rows of a block */
};

static void lay(struct ny_layout *l, struct draw *draw, const struct ny_rows_info *points)
{
    size_t N = draw->N;

    draw->block = ny_smaller(N, NY_STRIP_ROWS);
    draw->candidates = ny_lay(l, NY_MEM_DICTIONARY, N, sizeof(*draw->candidates));
    draw->rows = ny_lay(l, NY_MEM_DICTIONARY, N, sizeof(*draw->rows));
    draw->beta = ny_lay(l, NY_MEM_DICTIONARY, N, sizeof(double));
    draw->squares = ny_lay(l, NY_MEM_DICTIONARY, N, 2 * draw->p * sizeof(double));
    draw->diagonal = ny_lay(l, NY_MEM_DICTIONARY, draw->m, sizeof(double));
    draw->raw = ny_lay(l, NY_MEM_DICTIONARY, draw->block, ny_rows_row_bytes(points));
}

void ny_check_draw_count(struct ny_layout *l, const struct ny_rows_info *points, size_t R, size_t m,
                         size_t p)
{
    struct draw draw = {.N = (size_t)ny_check_candidates(R, points->n), .m = m, .p = p};
    struct ny_layout counted = {0};

    lay(&counted, &draw, points);
    ny_layout_add(l, NY_MEM_DICTIONARY, ny_layout_most(&counted) + draw.N * sizeof(struct ny_draw));
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

    return x == y ? by_row(a, b) : (x < y) - (x > y);
}

/* Lists N rows of smallest hash, of which the first `first` are in S. */
static int list(struct draw *draw, size_t first)
{
    int err = ny_draw_rows(draw->fit, NY_STREAM_CHECKS, draw->N, draw->rows);

    for (size_t i = 0; i < draw->N && !err; i++)
        draw->candidates[i] = (struct candidate){.row = draw->rows[i], .first = i < first};
    qsort(draw->candidates, draw->N, sizeof(*draw->candidates), by_row);
    return err;
}

/* Returns b of row i of the projector's tile. */
static double bound(const struct draw *draw, size_t i)
{
    const struct ny_tiles *tiles = &draw->projector->tiles;
    const double *a = draw->projector->model->a;
    double own = ny_projector_diagonal(draw->projector, 0)[i], most = 0;
    const float *c32 = NULL;
    const double *c64 = NULL;

    if (tiles->precision == NY_PRECISION_F64)
        c64 = ny_rows(ny_tiles_c64(tiles, 0), i, 1).at;
    else
        c32 = ny_rows32(ny_tiles_c32(tiles, 0), i, 1).at;
    for (size_t j = 0; j < draw->m; j++) {
        double k = (c64 ? c64[j] : (double)c32[j]) + a[j];

        if (draw->diagonal[j] > 0) most = fmax(most, k * k / draw->diagonal[j]);
    }
    return fmax(own - most, 0);
}

/* Finds β, (β y)² and y² of `count` candidates from this one on, which the projector has placed. */
static void weigh(struct draw *draw, size_t first, size_t count)
{
    const struct ny_projector *projector = draw->projector;

    for (size_t i = 0; i < count; i++) {
        double root = projector->model->degrees.v ? projector->roots[i] : 1;
        double *squares = draw->squares + (first + i) * 2 * draw->p, beta;

        if (isnan(root)) continue; /* no landmark reaches it: no pair has it */
        beta = root * root * bound(draw, i);
        draw->beta[first + i] = beta;
        for (size_t k = 0; k < draw->p; k++) {
            size_t at = i * projector->width + k;
            double y = projector->Y64 ? projector->Y64[at] : (double)projector->Y32[at];

            squares[k] = beta * y * (beta * y);
            squares[draw->p + k] = y * y;
        }
    }
}

/* Reads `count` candidates from this one on, and places them. */
static int place(struct draw *draw, size_t first, size_t count)
{
    struct ny_fit *fit = draw->fit;
    const struct ny_rows_info *points = &fit->job.points;
    const struct ny_raw_shape shape = {points->dtype, count, (size_t)points->d,
                                       (size_t)points->row_slots};
    struct ny_source *source = NULL;
    int err;

    for (size_t i = 0; i < count; i++)
        draw->rows[i] = draw->candidates[first + i].row;
    err = ny_rows_gather_wide(fit->job.X, points->dtype, shape.slots, draw->rows, count, draw->raw);
    if (!err) err = ny_source_of_raw(&source, fit->job.ctx, ny_raw_rows(draw->raw), &shape);
    if (!err)
        err =
            ny_projector_tile(draw->projector, &(struct ny_tile){.source = source, .rows = count});
    if (!err) weigh(draw, first, count);
    ny_source_free(source);
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
    const double least = 0.01;

    for (size_t i = 0; i < draw->N; i++)
        draw->candidates[i].g = least / (double)draw->N;
    add_shares(draw, draw->beta, 1, 1);
    for (size_t k = 0; k < 2 * draw->p; k++)
        add_shares(draw, draw->squares + k, 2 * draw->p, 1 / (double)draw->p);
    for (size_t i = 0; i < draw->N; i++) {
        struct candidate *c = &draw->candidates[i];
        double u = 1 - ny_hash01(draw->fit->settings->seed, NY_STREAM_CHOICE, c->row);

        c->key = c->first ? INFINITY : c->g / u;
    }
}

/* Takes S: the candidates of largest keys. */
static void take(struct draw *draw, size_t R, size_t first, uint64_t *rows, double *probability)
{
    double N = (double)draw->N, n = (double)draw->fit->job.points.n, sure = (double)first / N;
    double tau;

    qsort(draw->candidates, draw->N, sizeof(*draw->candidates), by_key);
    tau = R < draw->N ? draw->candidates[R].key : 0;
    for (size_t s = 0; s < R; s++) {
        double g = draw->candidates[s].g;

        rows[s] = draw->candidates[s].row;
        probability[s] = N / n * (g < tau ? sure + (1 - sure) * g / tau : 1);
    }
}

int ny_check_draw(struct ny_fit *fit, struct ny_projector *projector, size_t R, uint64_t *rows,
                  double *probability)
{
    const struct ny_columns *landmarks = projector->columns;
    size_t first = (R + 1) / 2;
    struct draw draw = {.own.ctx = fit->job.ctx,
                        .fit = fit,
                        .projector = projector,
                        .N = (size_t)ny_check_candidates(R, fit->job.points.n),
                        .m = fit->m,
                        .p = projector->model->p};
    int err;

    lay(&draw.own, &draw, &fit->job.points);
    err = draw.own.err;
    if (!err) err = list(&draw, first);
    if (!err)
        err = ny_columns_diagonal(landmarks, ny_columns_rows(landmarks), draw.m, draw.diagonal);
    for (size_t at = 0; at < draw.N && !err; at += draw.block)
        err = place(&draw, at, ny_smaller(draw.N - at, draw.block));
    if (!err) {
        find_importance(&draw);
        take(&draw, R, first, rows, probability);
    }
    ny_layout_free(&draw.own);
    return err;
}
