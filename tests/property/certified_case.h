/* Certificates are tried on made-up rows, each of them a trap for rounding, and on a grid of
 * kernels, widths, maps and approximations. */
#ifndef TESTS_PROPERTY_CERTIFIED_CASE_H
#define TESTS_PROPERTY_CERTIFIED_CASE_H

#include "property/made_up_rows.h"
#include "support/certified.h"
#include "support/files.h"
#include "support/store_folder.h"

/* Six clusters of 8-bit values. */
static double bytes(size_t row, size_t column)
{
    size_t cluster = (size_t)(6 * uniform(row, 0, 1));
    double x = 40 + 170 * uniform(cluster, column, 2) + 18 * normal(row, column);

    return floor(fmin(fmax(x, 0), 255));
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

/* ---- the grid ----------------------------------------------------------------------------- */

static const struct kernel {
    const char *name;
    enum certified_kernel kernel;
    bool width, positive;
} kernels[] = {
    {"rbf", CERTIFIED_RBF, true, true},
    {"laplacian", CERTIFIED_LAPLACIAN, true, true},
    {"polynomial", CERTIFIED_POLYNOMIAL, true, false},
    {"cosine", CERTIFIED_COSINE, false, false},
    {"linear", CERTIFIED_LINEAR, false, false},
};
enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static const double widths[] = {1, 1e-4, 1e-3, 1e-2, 0.1, 10};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

static const struct map {
    const char *name;
    bool centred, divided;
} maps[] = {
    {"svd", false, false},      {"kpca", true, false},      {"pca", true, false},
    {"laplacian", false, true}, {"diffusion", false, true},
};
enum { MAPS = sizeof(maps) / sizeof(maps[0]) };

static const struct way {
    const char *name;
    const char *options;
    enum certified_values values;
    bool landmarks; /* averages are those over the landmarks */
    bool affine;
    bool bound;   /* trace_error is an upper bound */
    bool updated; /* the second half of the rows comes with --update full */
    bool leading; /* K̃ is its leading eigenpairs alone */
    size_t experts;
} ways[] = {
    {.name = "projected", .options = "approx=projected"},
    {.name = "projected f64", .options = "approx=projected precision=f64"},
    {.name = "projected, uniform", .options = "approx=projected select=uniform"},
    {.name = "projected over D",
     .options = "approx=projected averages=landmarks",
     .landmarks = true},
    {.name = "projected, rank 9", .options = "approx=projected rank=9"},
    {.name = "affine", .options = "approx=projected affine=yes", .affine = true},
    {.name = "krylov",
     .options = "approx=projected inner=randomized oversample=12 power=4",
     .leading = true},
    {.name = "online",
     .options = "approx=projected online=yes select=greedy tolerance=1e-3 affine=no",
     .bound = true},
    {.name = "updated", .options = "approx=projected select=uniform", .updated = true},
    {.name = "nystrom",
     .options = "approx=nystrom inner=exact",
     .values = CERTIFIED_OF_NYSTROM,
     .landmarks = true},
    {.name = "nystrom, certified",
     .options = "approx=nystrom inner=exact rank=12 certify=yes",
     .values = CERTIFIED_OF_NYSTROM,
     .landmarks = true},
    {.name = "column",
     .options = "approx=column",
     .values = CERTIFIED_OF_COLUMN,
     .landmarks = true},
    {.name = "ensemble", .options = "approx=ensemble experts=2", .experts = 2},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static const struct kernel *kernel_named(const char *name)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static const struct way *way_named(const char *name)
{
    for (size_t i = 0; i < WAYS; i++)
        if (strcmp(ways[i].name, name) == 0) return &ways[i];
    fail_msg("no way %s", name);
    return NULL;
}

#endif
