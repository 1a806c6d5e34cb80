/*
 * Makes the codes of a sieve (nearest/sieve.h): rows are prepared in f64, divided by the fine step,
 * multiplied with the directions in f32, and rounded to whole numbers. Bytes of a code have even
 * steps near 0, and grow as a logarithm farther out, so that they suit rows of any size.
 *
 * The error of a code is how far it is from the product of numbers, in steps: what rounding to
 * whole numbers has changed, which is measured, and the most that f32 may have. A part beyond the
 * range is cut first; two parts are no farther apart then, and no farther by their logarithms.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "columns/kernels.h"
#include "columns/vector.h"
#include "nearest/sieve_private.h"

void ny_sieve_codes_lay(struct ny_layout *l, struct ny_sieve_codes *codes,
                        const struct ny_sieve *sieve, size_t count)
{
    codes->count = count;
    codes->code = ny_lay(l, NY_MEM_TILES, count, sieve->columns);
    if (!codes->fine) codes->fine = ny_lay(l, NY_MEM_TILES, count, sieve->fine * sizeof(int16_t));
    codes->error = ny_lay(l, NY_MEM_TILES, count, sizeof(double));
    codes->fine_error = ny_lay(l, NY_MEM_TILES, count, sizeof(double));
}

/* Returns the number on a scale, before it is rounded, of a part in its steps. */
static inline float number_of(float part, float even, float end)
{
    float size = fabsf(part);

    if (size > even) size = even * (1 + logf(size / even));
    return copysignf(size < end ? size : end, part);
}

/* Rounds parts, each of `steps` steps, to numbers of a scale: bytes, from 1 on, or fine ones.
 * Returns the error in steps: what rounding has changed, and the logarithms of f32. */
static double round_parts(const float *parts, size_t count, double steps,
                          const struct ny_sieve_scale *scale, uint8_t *bytes, int16_t *fine)
{
    float even = (float)scale->even, end = (float)scale->end;
    double square = 0;

    for (size_t k = 0; k < count; k++) {
        float number = number_of((float)steps * parts[k], even, end), whole = rintf(number);

        if (bytes)
            bytes[k] = (uint8_t)(whole + NY_SIEVE_END + 1);
        else
            fine[k] = (int16_t)whole;
        square += (double)(number - whole) * (double)(number - whole);
    }
    return sqrt(square) * (1 + 1e-6) + 1e-6 * scale->end * sqrt((double)count);
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
    const struct ny_sieve_scale *byte = &sieve->scale, *fine = &sieve->fine_scale;
    const double steps = byte->step / fine->step; /* fine ones of a step */
    double size[NY_SIEVE_STRIP];

    memset(worker->narrow + out->count * d, 0, (NY_SIEVE_STRIP - out->count) * d * sizeof(float));
    for (size_t i = 0; i < out->count; i++) {
        double scale = 1 / byte->step;

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
        out->error[i] = rounding + round_parts(parts, sieve->columns, 1, byte,
                                               out->code + i * sieve->columns, NULL);
        out->fine_error[i] =
            steps * rounding + round_parts(parts, q, steps, fine, NULL, out->fine + i * q);
    }
}
