/*
 * Hands out the rows of an embedding to the measures (evaluate/cloud.h). ny_evaluate_run() opens
 * one cloud for all measures, and decides by the budget whether its rows are held in memory.
 *
 * Opening takes two sweeps in the order of rows: one for the mean of each column and the largest
 * entry, one for the sum of squares. Rows are then (y − mean)·2⁻ᵉ, where 2ᵉ exceeds twice the
 * largest entry, so that squares neither overflow nor vanish. Held rows are shifted once; others
 * are read in pieces of about 4 MiB and shifted by the worker that asks for them. Both ways give
 * the same bits.
 */
#include "evaluate/cloud.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/random.h"
#include "linalg/matrix.h"
#include "select/draws.h"

enum { PIECE_BYTES = 4 << 20 };

/* ---- the source ---------------------------------------------------------------------------- */

size_t ny_cloud_piece(size_t p)
{
    size_t units = PIECE_BYTES / (NY_UNIT_ROWS * p * sizeof(float));

    return (units ? units : 1) * NY_UNIT_ROWS;
}

/* Reads the piece that begins with the unit of a row, as it is stored: passes want whole units. */
static int load_piece(struct ny_cloud *cloud, uint64_t row)
{
    uint64_t first = row / NY_UNIT_ROWS * NY_UNIT_ROWS, left = cloud->n - first;
    int err;

    cloud->piece_first = first;
    cloud->piece_count = left < cloud->piece_rows ? (size_t)left : cloud->piece_rows;
    err = cloud->reader.read(cloud->reader.arg, first, cloud->piece_count, cloud->piece);
    if (err) cloud->piece_count = 0;
    return err;
}

/* Finds a row in the piece that is in memory; NULL where it is in another one. */
static const float *in_piece(const struct ny_cloud *cloud, uint64_t row)
{
    bool inside = row >= cloud->piece_first && row - cloud->piece_first < cloud->piece_count;

    return inside ? cloud->piece + (row - cloud->piece_first) * cloud->p : NULL;
}

static float *unit_of(const struct ny_cloud *cloud, unsigned worker)
{
    return cloud->units + (size_t)worker * NY_UNIT_ROWS * cloud->p;
}

/* Hands out the next unit. Reading is done here, in order; shifting is left to ny_cloud_unit(). */
static int take(struct ny_source *source, struct ny_tile *tile)
{
    struct ny_cloud *cloud = (struct ny_cloud *)source;
    uint64_t left;
    int err = NY_OK;

    if (tile->first_row >= cloud->n) return NY_END;
    left = cloud->n - tile->first_row;
    tile->rows = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
    if (cloud->held) return NY_OK;
    if (!in_piece(cloud, tile->first_row)) err = load_piece(cloud, tile->first_row);
    if (err == NY_OK)
        memcpy(unit_of(cloud, tile->worker), in_piece(cloud, tile->first_row),
               tile->rows * cloud->p * sizeof(float));
    return err;
}

/* Subtracts the mean and divides by the power of two. */
static void shift(const struct ny_cloud *cloud, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < cloud->p; k++) {
            float *y = &values[i * cloud->p + k];

            *y = (float)(((double)*y - cloud->mean[k]) * cloud->scale);
        }
}

const float *ny_cloud_unit(const struct ny_cloud *cloud, const struct ny_tile *tile)
{
    float *unit;

    if (cloud->held) return cloud->held + (size_t)tile->first_row * cloud->p;
    unit = unit_of(cloud, tile->worker);
    shift(cloud, unit, tile->rows);
    return unit;
}

/* ---- mean, scale, squares ------------------------------------------------------------------ */

/* Adds to the means and to the largest entry; `first` is for the message. */
static int look(struct ny_cloud *cloud, const float *values, uint64_t first, size_t count,
                double *largest)
{
    size_t bad = ny_first_not_finite32(values, count * cloud->p);

    if (bad) return ny_fail_infinite(cloud->source.ctx, "embedding", first + (bad - 1) / cloud->p);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < cloud->p; k++) {
            double y = (double)values[i * cloud->p + k];

            cloud->mean[k] += y;
            if (fabs(y) > *largest) *largest = fabs(y);
        }
    return NY_OK;
}

/* The sum of squares of a piece, row by row, so that how rows are cut does not matter. */
static void add_squares(struct ny_cloud *cloud, const float *values, size_t count)
{
    for (size_t i = 0; i < count * cloud->p; i++)
        cloud->squares += (double)values[i] * (double)values[i];
}

/* One sweep over all rows, as they are read (raw) or as they are handed out. */
static int sweep(struct ny_cloud *cloud, bool raw, double *largest)
{
    int err = NY_OK;

    for (uint64_t first = 0; first < cloud->n && err == NY_OK; first += cloud->piece_rows) {
        uint64_t left = cloud->n - first;
        size_t count = left < cloud->piece_rows ? (size_t)left : cloud->piece_rows;
        float *values = cloud->held ? cloud->held + (size_t)first * cloud->p : cloud->piece;

        err = ny_check_interrupt(cloud->source.ctx);
        if (err == NY_OK && (raw || !cloud->held))
            err = cloud->reader.read(cloud->reader.arg, first, count, values);
        if (err) break;
        if (raw) {
            err = look(cloud, values, first, count, largest);
        } else {
            shift(cloud, values, count);
            add_squares(cloud, values, count);
        }
    }
    return err;
}

/* Finds mean and scale, then the sum of squares, which also shifts rows that are held. */
static int measure(struct ny_cloud *cloud)
{
    double largest = 0;
    int exponent = 0, err = sweep(cloud, true, &largest);

    if (err) return err;
    for (size_t k = 0; k < cloud->p; k++)
        cloud->mean[k] /= (double)cloud->n;
    if (largest > 0) frexp(2 * largest, &exponent);
    cloud->scale = ldexp(1, -exponent);
    return sweep(cloud, false, NULL);
}

void ny_cloud_lay(struct ny_layout *l, struct ny_cloud *cloud, unsigned workers, bool hold)
{
    size_t row = cloud->p * sizeof(float);

    cloud->mean = ny_lay(l, NY_MEM_TILES, cloud->p, sizeof(double));
    if (hold) {
        cloud->held = ny_lay(l, NY_MEM_TILES, (size_t)cloud->n, row);
        return;
    }
    cloud->piece = ny_lay(l, NY_MEM_IO, cloud->piece_rows, row);
    cloud->units = ny_lay(l, NY_MEM_TILES, workers, NY_UNIT_ROWS * row);
}

int ny_cloud_open(struct ny_cloud *cloud, struct ny_context *ctx,
                  const struct ny_cloud_reader *reader, unsigned workers, bool hold)
{
    static const struct ny_source_ops ops = {.take = take};
    size_t p = reader->p;

    *cloud = (struct ny_cloud){
        .source = {.ops = &ops,
                   .ctx = ctx,
                   .dtype = NY_F32,
                   .d = p,
                   .n = reader->n,
                   .stored_bytes_per_row = hold ? 0 : (double)(p * sizeof(float))},
        .own.ctx = ctx,
        .reader = *reader,
        .n = reader->n,
        .p = p,
        .piece_rows = ny_cloud_piece(p)};
    ny_cloud_lay(&cloud->own, cloud, workers, hold);
    return cloud->own.err ? cloud->own.err : measure(cloud);
}

void ny_cloud_close(struct ny_cloud *cloud)
{
    ny_layout_free(&cloud->own);
    *cloud = (struct ny_cloud){0};
}

/* ---- some of them -------------------------------------------------------------------------- */

int ny_cloud_gather(struct ny_cloud *cloud, const uint64_t *list, size_t count, float *out)
{
    int err = NY_OK;

    for (size_t i = 0; i < count && err == NY_OK; i++) {
        float *to = out + i * cloud->p;

        if (cloud->held) {
            memcpy(to, cloud->held + (size_t)list[i] * cloud->p, cloud->p * sizeof(float));
            continue;
        }
        if (!in_piece(cloud, list[i])) {
            err = ny_check_interrupt(cloud->source.ctx);
            if (err == NY_OK) err = load_piece(cloud, list[i]);
            if (err) break;
        }
        memcpy(to, in_piece(cloud, list[i]), cloud->p * sizeof(float));
        shift(cloud, to, 1);
    }
    return err;
}

void ny_cloud_sample_count(struct ny_layout *l, size_t count)
{
    ny_lay_peak(l, NY_MEM_OTHER, count, sizeof(struct ny_draw));
}

int ny_cloud_sample(struct ny_context *ctx, uint64_t n, size_t count, uint64_t seed, uint64_t *list)
{
    enum { CHECK_ROWS = 1 << 20 };
    struct ny_draws draws = {.m = count};
    int err = NY_OK;

    if (n <= count) {
        for (uint64_t row = 0; row < n; row++)
            list[row] = row;
        return NY_OK;
    }
    draws.heap = ny_calloc(ctx, NY_MEM_OTHER, count, sizeof(*draws.heap));
    if (!draws.heap) return NY_EBUDGET;
    for (uint64_t row = 0; row < n && err == NY_OK; row++) {
        ny_draws_offer(&draws, (struct ny_draw){ny_hash01(seed, NY_STREAM_SAMPLE, row), row});
        if (row % CHECK_ROWS == 0) err = ny_check_interrupt(ctx);
    }
    ny_draws_take(&draws, list);
    qsort(list, count, sizeof(*list), ny_compare_rows);
    ny_free(ctx, draws.heap);
    return err;
}
