/* The greedy selection, literally: data, kernels and Algorithm 1 with plain loops in f64. */
#ifndef TESTS_PROPERTY_GREEDY_CASE_H
#define TESTS_PROPERTY_GREEDY_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "select/greedy.h"

/* ---- data ----------------------------------------------------------------------------------- */

struct rows {
    size_t n, d;
    float *x;
};

/* Clusters of Gaussian points, with every seventh row a copy of an earlier one. */
static struct rows blobs(size_t n, size_t d, double spread, double offset)
{
    struct rows r = {n, d, malloc(n * d * sizeof(float))};
    double centre[64 * 32], noise[32];

    ny_gaussian(1, NY_STREAM_DATA, 0, centre, 64 * d);
    for (size_t i = 0; i < n; i++) {
        size_t cluster = ny_hash64(2, NY_STREAM_DATA, i) % 64;

        ny_gaussian(3, NY_STREAM_DATA, i * d, noise, d);
        for (size_t k = 0; k < d; k++)
            r.x[i * d + k] = (float)(offset + centre[cluster * d + k] + spread * noise[k]);
        if (i % 7 == 6) memcpy(r.x + i * d, r.x + (i / 2) * d, d * sizeof(float));
    }
    return r;
}

/* ---- a case, and what must come out --------------------------------------------------------- */

struct kind {
    const char *kernel;
    struct ny_kernel_params params;
    bool affine;
    double tolerance;
    size_t cap;
};

static double power(double x, unsigned degree)
{
    double y = 1;

    while (degree--)
        y *= x;
    return y;
}

static double plain_kernel(const struct kind *kind, const struct rows *r, size_t i, size_t j)
{
    double dot = 0, square = 0, absolute = 0;

    for (size_t k = 0; k < r->d; k++) {
        double x = (double)r->x[i * r->d + k], y = (double)r->x[j * r->d + k];
        dot += x * y;
        square += (x - y) * (x - y);
        absolute += fabs(x - y);
    }
    if (!strcmp(kind->kernel, "rbf")) return exp(-kind->params.gamma * square);
    if (!strcmp(kind->kernel, "laplacian")) return exp(-kind->params.gamma * absolute);
    if (!strcmp(kind->kernel, "polynomial"))
        return power(kind->params.gamma * dot + kind->params.coef0, kind->params.degree);
    return dot;
}

/* The kernel that the selection is about: translated by row `origin` when affine. */
static double kernel_of(const struct kind *kind, const struct rows *r, size_t i, size_t j,
                        size_t origin)
{
    if (!kind->affine) return plain_kernel(kind, r, i, j);
    return (plain_kernel(kind, r, i, j) - plain_kernel(kind, r, i, origin)) -
           (plain_kernel(kind, r, origin, j) - plain_kernel(kind, r, origin, origin));
}

struct dictionary {
    size_t m, rank, capacity; /* rows, and rows of L */
    size_t *rows;
    double *L; /* capacity² */
};

static double substitute(const struct dictionary *D, const struct kind *kind, const struct rows *r,
                         size_t i, double *z)
{
    size_t first = D->m - D->rank;
    double delta = kernel_of(kind, r, i, i, D->rows[0]);

    for (size_t a = 0; a < D->rank; a++) {
        z[a] = kernel_of(kind, r, i, D->rows[first + a], D->rows[0]);
        for (size_t b = 0; b < a; b++)
            z[a] -= D->L[a * D->capacity + b] * z[b];
        z[a] /= D->L[a * D->capacity + a];
        delta -= z[a] * z[a];
    }
    return delta;
}

static struct dictionary algorithm1(const struct kind *kind, const struct rows *r, size_t capacity)
{
    struct dictionary D = {.capacity = capacity,
                           .rows = malloc(capacity * sizeof(size_t)),
                           .L = calloc(capacity * capacity, sizeof(double))};
    double *z = malloc(capacity * sizeof(*z));

    for (size_t i = 0; i < r->n && D.m < kind->cap; i++) {
        if (!D.m) {
            double k = plain_kernel(kind, r, i, i);
            if (!(k > 0)) continue;
            D.rows[D.m++] = i;
            if (kind->affine) continue;
            D.L[0] = sqrt(k);
            D.rank = 1;
            continue;
        }
        double delta = substitute(&D, kind, r, i, z);
        if (delta <= kind->tolerance) continue;
        assert_true(D.m < capacity);
        memcpy(D.L + D.rank * capacity, z, D.rank * sizeof(*z));
        D.L[D.rank * capacity + D.rank] = sqrt(delta);
        D.rows[D.m++] = i;
        D.rank++;
    }
    free(z);
    return D;
}

static void free_dictionary(struct dictionary *D)
{
    free(D->rows);
    free(D->L);
}

#endif
