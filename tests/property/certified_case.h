/* The rows that certificates are tried on: made up, each of them a trap for rounding. */
#ifndef TESTS_PROPERTY_CERTIFIED_CASE_H
#define TESTS_PROPERTY_CERTIFIED_CASE_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/random.h"
#include "support/store_folder.h"

static double uniform(size_t row, size_t column, uint64_t purpose)
{
    return ny_hash01(purpose, NY_STREAM_DATA, row * 64 + column);
}

/* Nearly normal: twelve uniform numbers. */
static double normal(size_t row, size_t column)
{
    double sum = -6;

    for (uint64_t k = 0; k < 12; k++)
        sum += uniform(row, column, 100 + k);
    return sum;
}

/* Six clusters of 8-bit values. */
static double bytes(size_t row, size_t column)
{
    size_t cluster = (size_t)(6 * uniform(row, 0, 1));
    double x = 40 + 170 * uniform(cluster, column, 2) + 18 * normal(row, column);

    return floor(fmin(fmax(x, 0), 255));
}

static double blobs(size_t row, size_t column)
{
    return 4 * uniform((size_t)(5 * uniform(row, 0, 1)), column, 2) + 0.3 * normal(row, column);
}

static double mixed(size_t row, size_t column)
{
    return (normal(row, column) + 2) * pow(10, (double)(column % 4) - 1);
}

/* Pixels of three bytes, most of which come several times. */
static double duplicates(size_t row, size_t column)
{
    size_t pixel = (size_t)(400 * uniform(row, 0, 3) * uniform(row, 0, 4));

    return floor(128 + 30 * normal(pixel, 0) + 8 * normal(pixel, column + 1));
}

static double far_away(size_t row, size_t column)
{
    return 1e6 + 5 * normal(row, column);
}

static double heavy_tails(size_t row, size_t column)
{
    double x = normal(row, column);

    return x * exp(1.5 * fabs(normal(row, column + 30)));
}

static const struct data {
    const char *name, *dtype;
    double (*value)(size_t row, size_t column);
    size_t d;
} datas[] = {
    {"8-bit", "|u1", bytes, 36},        {"blobs", "<f4", blobs, 8},
    {"mixed scales", "<f4", mixed, 12}, {"duplicates", "|u1", duplicates, 3},
    {"offset 1e6", "<f8", far_away, 4}, {"heavy tails", "<f4", heavy_tails, 10},
};
enum { DATAS = sizeof(datas) / sizeof(datas[0]) };

static void write_npy(const char *file, const char *dtype, const double *X, size_t n, size_t d)
{
    FILE *out = fopen(file, "wb");
    char header[118] = "";

    assert_non_null(out);
    snprintf(header, sizeof(header),
             "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, %zu), }", dtype, n, d);
    fprintf(out, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    for (size_t i = 0; i < n * d; i++) {
        unsigned char byte = (unsigned char)X[i];
        float single = (float)X[i];

        if (dtype[2] == '1') assert_int_equal(fwrite(&byte, 1, 1, out), 1);
        if (dtype[2] == '4') assert_int_equal(fwrite(&single, 4, 1, out), 1);
        if (dtype[2] == '8') assert_int_equal(fwrite(&X[i], 8, 1, out), 1);
    }
    assert_int_equal(fclose(out), 0);
}

#endif
