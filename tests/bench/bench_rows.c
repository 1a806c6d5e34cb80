/*
 * Rows for plans and fits to be timed on: clusters that are wide in a few directions, with noise in
 * all of them, so that kernels decay, rules have something to choose from and tests of nearness
 * leave rows early, as they do on measured data.
 *
 *   bench_rows u8|i16|f32|f64 N D OUT.npy [CLUSTERS]      (12)
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { DIRECTIONS = 5 };

/* A number of about unit variance in so many steps of one hash. */
static double normal(uint64_t seed, uint64_t index)
{
    double sum = 0;

    for (uint64_t i = 0; i < 3; i++)
        sum += ny_hash01(seed, NY_STREAM_SAMPLE, 3 * index + i) - 0.5;
    return 2 * sum;
}

/* Noise is cheap: one step of a linear generator for each value. */
static double noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 40) / (1 << 24) - 0.5;
}

static size_t put(char *at, char kind, size_t size, double value)
{
    float f32 = (float)value;
    uint8_t u8 = (uint8_t)fmin(fmax(rint(128 + 36 * value), 0), 255);
    int16_t i16 = (int16_t)fmin(fmax(rint(4000 * value), -32768), 32767);

    memcpy(at,
           kind == 'u'   ? (void *)&u8
           : kind == 'i' ? (void *)&i16
           : size == 4   ? (void *)&f32
                         : (void *)&value,
           size);
    return size;
}

static void head(FILE *out, const char *dtype, unsigned long long n, unsigned long long d)
{
    char text[118];
    int length =
        snprintf(text, sizeof(text),
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%llu, %llu), }", dtype, n, d);
    const uint8_t magic[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};

    memset(text + length, ' ', sizeof(text) - (size_t)length);
    text[sizeof(text) - 1] = '\n';
    fwrite(magic, 1, sizeof(magic), out);
    fwrite(text, 1, sizeof(text), out);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"u8", "i16", "f32", "f64"};
    static const char *const types[] = {"|u1", "<i2", "<f4", "<f8"};
    static const size_t sizes[] = {1, 2, 4, 8};
    uint64_t n, d, clusters, state = 1;
    double *axes, way[DIRECTIONS];
    char *row;
    FILE *out;
    int kind = 0;

    if (argc != 5 && argc != 6) return 2;
    while (kind < 4 && strcmp(argv[1], names[kind]) != 0)
        kind++;
    n = strtoull(argv[2], NULL, 10), d = strtoull(argv[3], NULL, 10);
    clusters = argc == 6 ? strtoull(argv[5], NULL, 10) : 12;
    out = kind < 4 && n && d && clusters ? fopen(argv[4], "wb") : NULL;
    axes = malloc((clusters + DIRECTIONS) * d * sizeof(double));
    row = malloc(d * sizeof(double));
    if (!out || !axes || !row) return 1;
    for (uint64_t k = 0; k < (clusters + DIRECTIONS) * d; k++)
        axes[k] = normal(1, k);
    head(out, types[kind], n, d);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t cluster = (uint64_t)(ny_hash01(2, NY_STREAM_SAMPLE, i) * (double)clusters);
        const double *centre = axes + (DIRECTIONS + cluster) * d;
        size_t bytes = 0;

        for (uint64_t q = 0; q < DIRECTIONS; q++)
            way[q] = normal(3, i * DIRECTIONS + q) / (double)(q + 1);
        for (uint64_t j = 0; j < d; j++) {
            double value = centre[j] + 0.5 * noise(&state);

            for (uint64_t q = 0; q < DIRECTIONS; q++)
                value += way[q] * axes[q * d + j];
            bytes += put(row + bytes, types[kind][1], sizes[kind], value);
        }
        fwrite(row, 1, bytes, out);
    }
    free(row), free(axes);
    return fclose(out) != 0;
}
