/*
 * Makes the codes of a sieve (graph/sieve.h): rows are prepared in f64, divided by the step,
 * multiplied with the directions in f32, and rounded to bytes.
 *
 * The error of a code is how far it is from the product of numbers, in steps: what rounding to
 * whole numbers has changed, which is measured, and the most that f32 may have. A part beyond the
 * range is cut first; two parts are no farther apart then.
 */
#include <math.h>
#include <string.h>

#include "columns/kernels.h"
#include "columns/vector.h"
#include "graph/sieve_private.h"

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

void ny_sieve_strip(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_columns *columns, struct ny_raw_rows rows,
                    const struct ny_sieve_codes *out)
{
    const struct ny_columns_spec *spec = ny_columns_of(columns);
    size_t d = spec->geometry->d, q = sieve->columns;
    const double f32 = sqrt((double)q) * (double)(d + 8) * 0x1p-23;
    double size[NY_SIEVE_STRIP];

    memset(worker->narrow, 0, NY_SIEVE_STRIP * d * sizeof(float));
    for (size_t i = 0; i < out->count; i++) {
        double square, scale = 1 / sieve->step;

        ny_columns_prepare(columns, ny_raw_rows_from(spec, rows, i), 1, worker->prepared);
        square = ny_vector()->prepare->dot(worker->prepared, worker->prepared, d);
        if (spec->kernel == &ny_kernel_angular && square > 0) scale /= sqrt(square);
        size[i] = sqrt(square) * scale;
        (void)ny_vector()->prepare->narrow(worker->prepared, scale, d, worker->narrow + i * d);
    }
    ny_gemm32(1, ny_matrix32(worker->narrow, NY_SIEVE_STRIP, d), ny_matrix32(sieve->basis, d, q), 0,
              ny_matrix32(worker->parts, NY_SIEVE_STRIP, q));
    for (size_t i = 0; i < out->count; i++) {
        const float *parts = worker->parts + i * q;

        out->error[i] = round_parts(parts, q, out->code + i * q) + f32 * size[i] + 1e-6;
        /* beyond f32 a code tells nothing */
        if (!(size[i] < 1e30) || ny_first_not_finite32(parts, q)) out->error[i] = INFINITY;
    }
}
