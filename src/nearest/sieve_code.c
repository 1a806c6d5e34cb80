/*
 * Makes the codes of a sieve (nearest/sieve.h): rows are prepared in f64, divided by the step,
 * multiplied with the directions in f32, and rounded to bytes.
 *
 * The error of a code is how far it is from the product of numbers, in steps: what rounding to
 * whole numbers has changed, which is measured, and the most that f32 may have. A part beyond the
 * range is cut first; two parts are no farther apart then.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "columns/kernels.h"
#include "columns/vector.h"
#include "nearest/sieve_private.h"

int ny_sieve_codes_new(struct ny_sieve_codes *codes, const struct ny_sieve *sieve, size_t count)
{
    struct ny_context *ctx = sieve->spec->ctx;

    *codes = (struct ny_sieve_codes){
        .count = count,
        .code = ny_calloc(ctx, NY_MEM_TILES, count, sieve->columns),
        .fine = ny_calloc(ctx, NY_MEM_TILES, count, sieve->fine * sizeof(int16_t)),
        .error = ny_calloc(ctx, NY_MEM_TILES, count, sizeof(double)),
        .fine_error = ny_calloc(ctx, NY_MEM_TILES, count, sizeof(double))};
    return codes->code && codes->fine && codes->error && codes->fine_error ? NY_OK : NY_EBUDGET;
}

void ny_sieve_codes_release(struct ny_sieve_codes *codes, struct ny_context *ctx)
{
    ny_free(ctx, codes->code);
    ny_free(ctx, codes->fine);
    ny_free(ctx, codes->error);
    ny_free(ctx, codes->fine_error);
}

/* Rounds the parts of a row to bytes; returns the error. */
static double round_parts(const float *parts, size_t columns, uint8_t *code)
{
    double square = 0;

    for (size_t k = 0; k < columns; k++) {
        float part = parts[k] > -128 ? parts[k] : -128, whole;

        part = part < 127 ? part : 127;
        whole = rintf(part);
        code[k] = (uint8_t)(whole + 128);
        square += (double)(part - whole) * (double)(part - whole);
    }
    return sqrt(square) * (1 + 1e-6);
}

/* Rounds them to a fine code, likewise. Squares of differences add up to less than 2³¹. */
static double round_finely(const float *parts, size_t columns, int16_t *fine)
{
    const float end = 126;
    double square = 0;

    for (size_t k = 0; k < columns; k++) {
        float part = parts[k] > -end ? parts[k] : -end, whole;

        part = NY_SIEVE_PARTS * (part < end ? part : end);
        whole = rintf(part);
        fine[k] = (int16_t)whole;
        square += (double)(part - whole) * (double)(part - whole);
    }
    return sqrt(square) / NY_SIEVE_PARTS * (1 + 1e-6);
}

/* Returns the scale that gives a row that length; a zero row keeps its own. */
static double unit_scale(const double *row, size_t d, double length)
{
    double square = ny_vector()->prepare->dot(row, row, d);

    return square > 0 ? length / sqrt(square) : length;
}

void ny_sieve_strip(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_columns *columns, struct ny_raw_rows rows,
                    const struct ny_sieve_codes *out)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    size_t d = spec->geometry->d, q = sieve->fine;
    const double f32 = sqrt((double)q) * (double)(d + 8) * 0x1p-23;
    double size[NY_SIEVE_STRIP];

    memset(worker->narrow + out->count * d, 0, (NY_SIEVE_STRIP - out->count) * d * sizeof(float));
    for (size_t i = 0; i < out->count; i++) {
        double scale = 1 / sieve->step;

        ny_columns_prepare(columns, ny_raw_rows_from(spec, rows, i), 1, worker->prepared);
        if (spec->kernel == &ny_kernel_angular) scale = unit_scale(worker->prepared, d, scale);
        size[i] =
            sqrt(ny_vector()->prepare->narrow(worker->prepared, scale, d, worker->narrow + i * d));
    }
    ny_gemm32(1, ny_matrix32(worker->narrow, NY_SIEVE_STRIP, d), ny_matrix32(sieve->basis, d, q), 0,
              ny_matrix32(worker->parts, NY_SIEVE_STRIP, q));
    for (size_t i = 0; i < out->count; i++) {
        const float *parts = worker->parts + i * q;
        double rounding = f32 * size[i] + 1e-6;

        /* beyond f32 a code tells nothing */
        if (!(size[i] < 1e30) || ny_first_not_finite32(parts, q)) rounding = INFINITY;
        out->error[i] =
            round_parts(parts, sieve->columns, out->code + i * sieve->columns) + rounding;
        out->fine_error[i] = round_finely(parts, q, out->fine + i * q) + rounding;
    }
}
