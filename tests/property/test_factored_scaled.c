/*
 * Exact fits of linear and cosine kernels whose columns are scaled, against plain loops in f64 over
 * all columns: every --scale, sparse and dense rows, more rows than columns and fewer, and every
 * map that such a fit has. The rows that the loops decompose are made from the values alone.
 */
#include "base/random.h"
#include "property/factored_case.h"
#include "support/brute.h"
#include "support/results.h"

/* Each shape is one of n and d, and the other is the other. Two columns are special: FULL has a
 * value in every row, and EMPTY has none. */
enum { LONG = 210, SHORT = 44, P = 4, FULL = 5, EMPTY = 9, MOST = LONG * SHORT };

/* ---- the rows ------------------------------------------------------------------------------- */

/* Values that are not negative, a third of them there, in columns of different sizes and means. */
static void make_values(const struct stored_points *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->d; j++) {
            uint64_t at = i * s->d + j;
            bool group = (i + j) % 4 == 0;
            double size = pow(0.93, (double)(j % SHORT)) * (1 + 3 * ny_hash01(5, 1, j));

            s->X[at] = 0;
            if (j == EMPTY || (j != FULL && ny_hash01(5, 2, at) > 0.2 + 0.4 * group)) continue;
            s->X[at] = (double)(float)(size * (0.5 + ny_hash01(5, 3, at) + ny_hash01(5, 4, i)));
        }
}

/* ---- by plain loops ------------------------------------------------------------------------- */

/* Returns the factor of column j; *mean: what is taken off before. Both follow from what the guide
 * says about --scale. */
static double factor_of(const struct stored_points *s, const char *scale, size_t j, double *mean)
{
    double sum = 0, square = 0, least = INFINITY, most = -INFINITY, n = (double)s->n, df = 0;

    for (size_t i = 0; i < s->n; i++) {
        double x = s->X[i * s->d + j];

        sum += x;
        df += x != 0;
        least = fmin(least, x);
        most = fmax(most, x);
    }
    for (size_t i = 0; i < s->n; i++)
        square += pow(s->X[i * s->d + j] - sum / n, 2);
    *mean = 0;
    if (strcmp(scale, "idf") == 0) return df > 0 ? log(n / df) : 0;
    if (strcmp(scale, "idf-smooth") == 0) return log((1 + n) / (1 + df)) + 1;
    if (strcmp(scale, "none") == 0) return 1;
    if (!s->sparse) *mean = sum / n;
    if (!(most > least)) return 0;
    return strcmp(scale, "unit") == 0 ? 1 / (most - least) : 1 / sqrt(square / n);
}

/* Z (n × d) with ZZᵀ = the matrix that the map decomposes. */
static double *rows_of(const struct stored_points *s, const char *scale, const char *map,
                       bool cosine)
{
    double *Z = lend(s->n * s->d * sizeof(double));

    for (size_t j = 0; j < s->d; j++) {
        double mean, factor = factor_of(s, scale, j, &mean);

        for (size_t i = 0; i < s->n; i++)
            Z[i * s->d + j] = (s->X[i * s->d + j] - mean) * factor;
    }
    map_rows(Z, s->n, s->d, map, cosine);
    return Z;
}

/* The eigenvalues of ZZᵀ, from the smaller of ZZᵀ and ZᵀZ. */
static void eigenvalues_of(const struct stored_points *s, const double *Z, double found[SHORT])
{
    static double T[MOST], A[SHORT * SHORT], V[SHORT * SHORT];

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->d; j++)
            T[j * s->n + i] = Z[i * s->d + j];
    if (s->n < s->d)
        brute_multiply_t(T, T, A, s->d, s->n, s->n);
    else
        brute_multiply_t(Z, Z, A, s->n, s->d, s->d);
    brute_eigen(A, SHORT, found, V);
}

/* ---- what a fit finds ------------------------------------------------------------------------ */

static double *part(const char *what, size_t rows, size_t columns)
{
    return part_of_result(in.ctx, in.store, "f", what, rows, columns);
}

/* Fits in f64, in which nothing but the products' own rounding is lost. */
static void fit(const char *scale, const char *map, const char *kernel)
{
    bool pca = strcmp(map, "pca") == 0; /* which has one kernel alone */

    must_fit(in.ctx, in.store, "f", NULL,
             "map=%s %s%s scale=%s components=4 approx=exact precision=f64 tol=1e-10 restart=yes",
             map, pca ? "" : "kernel=", pca ? "" : kernel, scale);
}

/* ‖KÛ − ÛΛ̂‖ of one pair, by a product with Zᵀ and one with Z; K is large where λ is. */
static double residual_of(const struct stored_points *s, const double *Z, const double *U,
                          size_t pairs, size_t k, double value)
{
    double left = 0, *t = lend_zeros(s->d * sizeof(double));

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->d; j++)
            t[j] += Z[i * s->d + j] * U[i * pairs + k];
    for (size_t i = 0; i < s->n; i++) {
        double sum = 0;

        for (size_t j = 0; j < s->d; j++)
            sum += Z[i * s->d + j] * t[j];
        left += pow(sum / value - U[i * pairs + k], 2);
    }
    return sqrt(left);
}

/* Eigenvalues, eigenvectors, and the coordinates of svd and pca, which are Û√Λ̂. */
static void check(const struct stored_points *s, const char *scale, const char *map,
                  const char *kernel)
{
    bool divided = strcmp(map, "laplacian") == 0;
    size_t pairs = P + divided;
    double *Z = rows_of(s, scale, map, strcmp(kernel, "cosine") == 0), wanted[SHORT];
    double *found, *U, *Y;

    fit(scale, map, kernel);
    found = part("eigenvalues", pairs, 1);
    U = part("eigenvectors", s->n, pairs);
    Y = part("embedding", s->n, P);
    eigenvalues_of(s, Z, wanted);
    for (size_t k = 0; k < pairs; k++) {
        double square = 0;

        if (!(fabs(found[k] - wanted[k]) <= 1e-8 * wanted[k]))
            fail_msg("%s %s %s, %zu × %zu%s: eigenvalue %.12g where %.12g was expected", map,
                     kernel, scale, s->n, s->d, s->sparse ? " sparse" : "", found[k], wanted[k]);
        for (size_t i = 0; i < s->n; i++)
            square += U[i * pairs + k] * U[i * pairs + k];
        assert_true(fabs(square - 1) < 1e-8);
        if (!(residual_of(s, Z, U, pairs, k, wanted[k]) < 1e-5))
            fail_msg("%s %s %s, %zu × %zu%s: vector %zu is none of K", map, kernel, scale, s->n,
                     s->d, s->sparse ? " sparse" : "", k);
        for (size_t i = 0; i < s->n && !divided; i++)
            assert_true(fabs(Y[i * P + k] - U[i * P + k] * sqrt(wanted[k])) <
                        1e-6 * sqrt(wanted[0]));
    }
}

/* Tells whether the scale makes values negative, which have no degrees. */
static bool is_centred(const struct stored_points *s, const char *scale)
{
    return !s->sparse && (strcmp(scale, "standard") == 0 || strcmp(scale, "unit") == 0);
}

static void try_shape(size_t n, size_t d, bool sparse)
{
    static const char *const scales[] = {"none", "standard", "unit", "idf", "idf-smooth"};
    static const char *const fits[][2] = {{"pca", "linear"},
                                          {"svd", "linear"},
                                          {"svd", "cosine"},
                                          {"kpca", "cosine"},
                                          {"laplacian", "linear"}};
    const struct stored_points s = {n, d, sparse, false, lend(n * d * sizeof(double))};

    start();
    make_values(&s);
    append_points(&s);
    for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++)
        for (size_t m = 0; m < sizeof(fits) / sizeof(fits[0]); m++)
            if (strcmp(fits[m][0], "laplacian") != 0 || !is_centred(&s, scales[k]))
                check(&s, scales[k], fits[m][0], fits[m][1]);
    api_case_end();
}

TEST(many_and_few_rows_sparse_and_dense)
{
    try_shape(LONG, SHORT, true);
    try_shape(SHORT, LONG, true);
    try_shape(LONG, SHORT, false);
    try_shape(SHORT, LONG, false);
}
