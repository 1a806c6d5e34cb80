/*
 * Eigenvalues that are small beside the largest, of exact fits of linear and cosine kernels in all
 * three ways, against the singular values of the rows by one-sided Jacobi rotations: each reported
 * value is as near to the true one, relative to itself, as --tol asks (1e-4), or it is null. In f64
 * none is null down to 1e-12 of the largest.
 *
 * The grid: ratios of the first two singular values from 1 to 1e8 × more rows or more columns ×
 * dense and sparse × f32 and f64 × maps × kernels × ways.
 */
#include "base/random.h"
#include "property/factored_case.h"
#include "support/brute.h"
#include "support/results.h"

enum { LONG = 260, SHORT = 40, P = 6 };

/* ---- the true values ------------------------------------------------------------------------- */

/* Rotates columns j and k of A until they are orthogonal; returns the cosine that they had. */
static double rotate(double *A, size_t rows, size_t columns, size_t j, size_t k)
{
    double a = 0, b = 0, dot = 0, t, cosine;

    for (size_t i = 0; i < rows; i++) {
        a += A[i * columns + j] * A[i * columns + j];
        b += A[i * columns + k] * A[i * columns + k];
        dot += A[i * columns + j] * A[i * columns + k];
    }
    if (!(a > 0 && b > 0) || fabs(dot) <= 1e-17 * sqrt(a) * sqrt(b)) return 0;
    t = (b - a) / (2 * dot);
    t = copysign(1, t) / (fabs(t) + sqrt(1 + t * t));
    cosine = 1 / sqrt(1 + t * t);
    for (size_t i = 0; i < rows; i++) {
        double x = A[i * columns + j], y = A[i * columns + k];

        A[i * columns + j] = cosine * (x - t * y);
        A[i * columns + k] = cosine * (y + t * x);
    }
    return fabs(dot) / (sqrt(a) * sqrt(b));
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* The squared singular values of Z (n × d), descending: those of its smaller side. */
static void singular_squares(const double *Z, size_t n, size_t d, double *squares)
{
    size_t rows = n > d ? n : d, columns = n > d ? d : n;
    double *A = lend_zeros(n * d * sizeof(double)), most = 1;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            A[n > d ? i * d + j : j * n + i] = Z[i * d + j];
    for (int sweep = 0; sweep < 40 && most > 1e-15; sweep++) {
        most = 0;
        for (size_t j = 0; j < columns; j++)
            for (size_t k = j + 1; k < columns; k++)
                most = fmax(most, rotate(A, rows, columns, j, k));
    }
    for (size_t j = 0; j < columns; j++) {
        squares[j] = 0;
        for (size_t i = 0; i < rows; i++)
            squares[j] += A[i * columns + j] * A[i * columns + j];
    }
    qsort(squares, columns, sizeof(double), descending);
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* X = U diag(ratio · 5, 5, 4, 3.2, …) Vᵀ: no column is smaller than the others. */
static void fill_turned(struct stored_points *p, double ratio)
{
    double *U = lend_zeros(p->n * SHORT * sizeof(double)),
           *V = lend_zeros(p->d * SHORT * sizeof(double));

    ny_gaussian(7, 1, 0, U, p->n * SHORT);
    ny_gaussian(7, 2, 0, V, p->d * SHORT);
    brute_orthonormalise(U, p->n, SHORT);
    brute_orthonormalise(V, p->d, SHORT);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->d; j++)
            for (size_t k = 0; k < SHORT; k++) {
                double size = 5 * (k ? pow(0.8, (double)k - 1) : ratio);

                p->X[i * p->d + j] += size * U[i * SHORT + k] * V[j * SHORT + k];
            }
}

/* Positive values, half of them 0, in columns of falling size, and one column of large values. */
static void fill_positive(struct stored_points *p, double ratio)
{
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->d; j++) {
            double size = j ? pow(0.9, (double)(j % SHORT)) : ratio;

            if (j && ny_hash01(3, 1, i * p->d + j) < 0.5) continue;
            p->X[i * p->d + j] = size * (0.5 + ny_hash01(3, 2, i * p->d + j));
        }
}

/* The true eigenvalues of the matrix that the map decomposes, ZZᵀ. */
static void true_values(const struct stored_points *p, const char *map, bool cosine, double *values)
{
    double *Z = lend(p->n * p->d * sizeof(double));

    memcpy(Z, p->X, p->n * p->d * sizeof(double));
    map_rows(Z, p->n, p->d, map, cosine);
    singular_squares(Z, p->n, p->d, values);
}

/* ---- a fit ----------------------------------------------------------------------------------- */

struct fit {
    const char *map;
    bool cosine, products;
};

static void run(const struct stored_points *p, const struct fit *fit, const char *name)
{
    must_fit(in.ctx, in.store, name, NULL, "map=%s %s approx=exact components=6 precision=%s %s",
             fit->map,
             strcmp(fit->map, "pca") == 0 ? ""
             : fit->cosine                ? "kernel=cosine"
                                          : "kernel=linear",
             p->f64 ? "f64" : "f32", fit->products ? "tol=1e-4" : "");
}

/* The smallest share of the largest value that has to be told: rows in f32 have coordinates that
 * are rounded by 2⁻²⁴ of the largest, or of its root where products with the rows make them. */
static double told(const struct stored_points *p, const char *way)
{
    if (p->f64) return 1.05e-12;
    return strcmp(way, "krylov") == 0 ? 0x1p-33 : 0x1p-19;
}

static void check(const struct stored_points *p, const struct fit *fit, const char *name,
                  double ratio, const double *truth)
{
    const double exact = 1e-4;
    size_t pairs = P + (strcmp(fit->map, "laplacian") == 0);
    double *found = part_of_result(in.ctx, in.store, name, "eigenvalues", pairs, 1);
    OWNED(ny_report) *report = NULL;
    const char *way;

    assert_int_equal(ny_result_report(in.ctx, in.store, name, &report), NY_OK);
    way = ny_report_text(report, "way");
    for (size_t k = 0; k < pairs; k++) {
        bool lost = isnan(found[k]) && truth[k] < told(p, way) * truth[0];

        if (!lost && !(fabs(found[k] - truth[k]) <= exact * truth[k]))
            fail_msg("%zu × %zu %s %s %s %s %s, ratio %g: value %zu is %.10g, not %.10g (%g)", p->n,
                     p->d, p->sparse ? "sparse" : "dense", p->f64 ? "f64" : "f32", fit->map,
                     fit->cosine ? "cosine" : "linear", way, ratio, k, found[k], truth[k],
                     truth[k] / truth[0]);
    }
}

static void try_points(struct stored_points *p, double ratio, bool positive)
{
    static const struct fit fits[] = {
        {"svd", false, false},       {"svd", false, true},       {"pca", false, false},
        {"pca", false, true},        {"kpca", false, false},     {"svd", true, true},
        {"laplacian", false, false}, {"laplacian", false, true}, {"laplacian", true, true}};
    double truth[SHORT];
    char name[16];

    start();
    p->X = lend_zeros(p->n * p->d * sizeof(double));
    if (positive)
        fill_positive(p, ratio);
    else
        fill_turned(p, ratio);
    for (size_t e = 0; e < p->n * p->d && !p->f64; e++)
        p->X[e] = (double)(float)p->X[e];
    append_points(p);
    for (size_t f = 0; f < sizeof(fits) / sizeof(fits[0]); f++) {
        if (!positive && strcmp(fits[f].map, "laplacian") == 0) continue;
        snprintf(name, sizeof(name), "f%zu", f);
        run(p, &fits[f], name);
        if (!f || strcmp(fits[f].map, fits[f - 1].map) || fits[f].cosine != fits[f - 1].cosine)
            true_values(p, fits[f].map, fits[f].cosine, truth);
        check(p, &fits[f], name, ratio, truth);
    }
    api_case_end();
}

/* The layouts and types of a shape. */
static void try_shape(size_t n, size_t d)
{
    for (int power = 0; power <= 8; power++)
        for (int kind = 0; kind < 6; kind++) {
            struct stored_points p = {.n = n, .d = d, .sparse = kind / 2 == 2, .f64 = kind % 2};

            try_points(&p, pow(10, power), kind / 2 > 0);
        }
}

TEST(more_rows_and_more_columns)
{
    try_shape(LONG, SHORT);
    try_shape(SHORT, LONG);
}
