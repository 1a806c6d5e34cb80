/*
 * Fits by features against plain loops over the columns that hold values: eigenvalues,
 * eigenvectors, traces, probes and placed rows, of all maps and both kernels, dense and sparse.
 * Exact ones on the side of the rows and on that of the columns; after updates, and rows without a
 * value. And `randomized` and `gaussian` with more columns than K has ranks, so that they find its
 * own pairs.
 */
#include "base/random.h"
#include "property/factored_case.h"
#include "support/brute.h"
#include "support/results.h"

/* ROWS rows, of which EARLY are there first. Values are in ACTIVE columns, far apart in WIDE ones
 * and side by side in NARROW ones; rows i = EMPTY (mod ROWS) have none. */
enum { ROWS = 2600, EARLY = 2300, ACTIVE = 24, WIDE = 2800, NARROW = 40, P = 6, EMPTY = 700 };

/* ---- the rows -------------------------------------------------------------------------------- */

struct points {
    size_t d, stride;
    bool sparse, empty;
    double *active; /* ROWS × ACTIVE */
    float *dense;
    uint32_t *start, *column;
    float *value;
};

static struct points make_points(size_t d, bool sparse, bool empty)
{
    struct points p = {.d = d, .stride = d / ACTIVE, .sparse = sparse, .empty = empty};
    uint32_t at = 0;

    p.active = lend_zeros(ROWS * ACTIVE * sizeof(double));
    p.dense = lend_zeros(ROWS * d * sizeof(float));
    p.start = lend_zeros((ROWS + 1) * sizeof(uint32_t));
    p.column = lend_zeros(ROWS * ACTIVE * sizeof(uint32_t));
    p.value = lend_zeros(ROWS * ACTIVE * sizeof(float));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < ACTIVE; j++) {
            double share = 0.15 + 0.03 * (double)(j % 7), size = pow(0.85, (double)j);
            float value = (float)(size * (0.5 + 2 * ny_hash01(3, 1, i * ACTIVE + j)));
            bool group = (i + j) % 3 == 0;

            if (ny_hash01(3, 2, i * ACTIVE + j) > share + 0.4 * group) continue;
            if (empty && i == EMPTY) continue;
            p.active[i * ACTIVE + j] = (double)value;
            p.dense[i * d + j * p.stride] = value;
            p.column[at] = (uint32_t)(j * p.stride);
            p.value[at++] = value;
        }
        p.start[i + 1] = at;
    }
    return p;
}

/* A table of some of the rows; the entries of sparse ones stay where they are. */
static struct ny_table table_of(const struct points *p, size_t first, size_t rows)
{
    struct ny_table table = {.struct_bytes = sizeof(table), .dtype = NY_F32, .rows = rows};

    table.columns = p->d;
    table.values = p->sparse ? (const void *)p->value : (const void *)(p->dense + first * p->d);
    if (!p->sparse) return table;
    table.index_bytes = sizeof(uint32_t);
    table.row_start = p->start + first;
    table.column = p->column;
    table.entries = p->start[ROWS];
    return table;
}

static void append(const struct points *p, size_t first, size_t rows)
{
    struct ny_table table = table_of(p, first, rows);
    OWNED(ny_options) *options =
        options_with(in.ctx, "%s %s", first ? "append=yes" : "", p->sparse ? "layout=sparse" : "");

    assert_int_equal(ny_append(in.ctx, in.store, &table, options, NULL), NY_OK);
}

/* ---- by plain loops -------------------------------------------------------------------------- */

/* Z (n × ACTIVE) with ZZᵀ = the matrix that the map decomposes; 0 for rows without degree. */
static double *features_of(const struct points *p, size_t n, const char *map, bool cosine)
{
    double *Z = lend(n * ACTIVE * sizeof(double));

    memcpy(Z, p->active, n * ACTIVE * sizeof(double));
    map_rows(Z, n, ACTIVE, map, cosine);
    return Z;
}

static double *part(const char *name, const char *what, size_t n, size_t count)
{
    return part_of_result(in.ctx, in.store, name, what, n, count);
}

static void near(double found, double wanted, double tolerance, const char *what)
{
    if (!(fabs(found - wanted) <= tolerance)) /* NaN is not near */
        fail_msg("%s: %.12g where %.12g was expected", what, found, wanted);
}

static void check_orthonormal(const double *U, size_t n, size_t pairs)
{
    double *G = lend_zeros(pairs * pairs * sizeof(double));

    brute_multiply_t(U, U, G, n, pairs, pairs);
    for (size_t k = 0; k < pairs; k++)
        for (size_t l = 0; l <= k; l++)
            near(G[l * pairs + k], l == k, 2e-5, "ÛᵀÛ");
}

/* KÛ = ÛΛ̂ by one product with Z and one with Zᵀ; and ÛᵀÛ = I. */
static void check_vectors(const double *Z, size_t n, const double *U, size_t pairs,
                          const double *values)
{
    double *S = lend_zeros(ACTIVE * pairs * sizeof(double));

    check_orthonormal(U, n, pairs);
    brute_multiply_t(Z, U, S, n, ACTIVE, pairs);
    for (size_t k = 0; k < pairs; k++) {
        double square = 0;

        for (size_t i = 0; i < n; i++) {
            double sum = 0, x;

            for (size_t j = 0; j < ACTIVE; j++)
                sum += Z[i * ACTIVE + j] * S[j * pairs + k];
            x = sum / values[k] - U[i * pairs + k];
            square += x * x;
        }
        near(sqrt(square), 0, 1e-2, "KÛ − ÛΛ̂");
    }
}

/* The Frobenius error of the pairs, over the norm of ZZᵀ: from the eigenvalues of ZᵀZ. */
static double error_of(const double *values, size_t pairs)
{
    double left = 0, all = 0;

    for (size_t k = 0; k < ACTIVE; k++) {
        all += values[k] * values[k];
        if (k >= pairs) left += values[k] * values[k];
    }
    return sqrt(left / all);
}

static void check_placed(const struct points *p, const char *name, size_t n)
{
    struct ny_table table = table_of(p, 0, n);
    double *Y = part(name, "embedding", n, P), *placed = lend_zeros(n * P * sizeof(double));
    OWNED(ny_model) *model = NULL;

    assert_int_equal(ny_model_open(&model, in.ctx, in.store, name), NY_OK);
    assert_int_equal(ny_model_place(model, &table, NY_F64, placed, 0), NY_OK);
    for (size_t i = 0; i < n * P; i++)
        near(placed[i], Y[i], 0, "a placed row");
}

static void check_result(const struct points *p, const char *name, size_t n, const char *map,
                         bool cosine)
{
    bool divided = strstr(map, "lap") || strstr(map, "diff");
    size_t pairs = P + divided;
    double *Z = features_of(p, n, map, cosine), *A = lend_zeros(ACTIVE * ACTIVE * sizeof(double)),
           *V = lend_zeros(ACTIVE * ACTIVE * sizeof(double)), values[ACTIVE];
    double *found = part(name, "eigenvalues", pairs, 1), *U = part(name, "eigenvectors", n, pairs),
           trace = 0, kept = 0, error, sd;
    OWNED(ny_report) *report = NULL;

    brute_multiply_t(Z, Z, A, n, ACTIVE, ACTIVE);
    brute_eigen(A, ACTIVE, values, V);
    for (size_t k = 0; k < ACTIVE; k++)
        trace += values[k];
    for (size_t k = 0; k < pairs; k++) {
        kept += values[k];
        near(found[k], values[k], 1e-4 * values[k], "an eigenvalue");
    }
    check_vectors(Z, n, U, pairs, values);
    assert_int_equal(ny_result_report(in.ctx, in.store, name, &report), NY_OK);
    assert_string_equal(ny_report_text(report, "way"), "krylov");
    assert_string_equal(ny_report_text(report, "side"), n < p->d ? "rows" : "columns");
    near(number_of(report, "trace"), trace, 1e-5 * trace, "trace");
    near(number_of(report, "trace_error"), 0, 0, "trace error");
    near(number_of(report, "variance_kept"), (kept - divided) / trace, 1e-5,
         "variance kept"); /* the trivial pair is left out */
    near(number_of(report, "converged"), (double)pairs, 0, "pairs that are found");
    near(number_of(report, "rows_empty"), p->empty, 0, "empty rows");
    error = number_of(report, "probe_error");
    sd = number_of(report, "probe_standard_error");
    near(error, error_of(values, pairs), 6 * sd + 1e-6, "probe");
    check_placed(p, name, n);
}

/* The kernel as an option; pca has one alone. */
static const char *kernel_of(const char *map, bool cosine)
{
    return strcmp(map, "pca") == 0 ? "" : cosine ? "kernel=cosine" : "kernel=linear";
}

static void fit(const char *name, const char *map, bool cosine, const char *update)
{
    if (update)
        must_fit(in.ctx, in.store, name, NULL, "update=%s", update);
    else
        must_fit(in.ctx, in.store, name, NULL, "map=%s %s approx=exact components=6 probe=60", map,
                 kernel_of(map, cosine));
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void try_points(size_t d, bool sparse, bool empty)
{
    static const char *const maps[] = {"svd", "pca", "kpca", "laplacian", "diffusion"};
    struct points p = make_points(d, sparse, empty);

    append(&p, 0, ROWS);
    for (size_t m = 0; m < sizeof(maps) / sizeof(maps[0]); m++)
        for (int cosine = 0; cosine < 2; cosine++) {
            bool pca = strcmp(maps[m], "pca") == 0;
            char name[32];

            if (pca && (cosine || (!sparse && d <= 8192))) continue; /* by its scatter matrix */
            snprintf(name, sizeof(name), "%s-%d", maps[m], cosine);
            fit(name, maps[m], cosine, NULL);
            check_result(&p, name, ROWS, maps[m], cosine);
        }
    case_remove(in.store);
}

TEST(fits_on_the_side_of_rows_and_of_columns)
{
    try_points(WIDE, true, true);
    try_points(NARROW, true, true);
    try_points(WIDE, false, false);
    try_points(NARROW, false, false);
}

/* ---- randomized and gaussian ----------------------------------------------------------------- */

/* Fits with a method on all of K, and checks the passes: two a block of a product. */
static void fit_sketch(const char *approx, const char *map, bool cosine, const char *precision)
{
    bool gaussian = strcmp(approx, "gaussian") == 0;
    bool divided = strstr(map, "lap") || strstr(map, "diff");
    OWNED(ny_report) *report = NULL;

    must_fit(in.ctx, in.store, "sketch", &report,
             "map=%s %s approx=%s components=6 precision=%s %s probe=60 restart=yes", map,
             kernel_of(map, cosine), approx, precision,
             gaussian ? "landmarks=140" : "oversample=26");
    near(number_of(report, "passes"), 1 + (gaussian ? 4 : 6) + 2 * divided, 0, "passes");
}

static void check_sketch(const struct points *p, const char *map, bool cosine, double tolerance)
{
    bool divided = strstr(map, "lap") || strstr(map, "diff");
    size_t pairs = P + divided;
    double *Z = features_of(p, ROWS, map, cosine), A[ACTIVE * ACTIVE], V[ACTIVE * ACTIVE],
           values[ACTIVE];
    double *found = part("sketch", "eigenvalues", pairs, 1),
           *U = part("sketch", "eigenvectors", ROWS, pairs);
    OWNED(ny_report) *report = NULL;

    brute_multiply_t(Z, Z, A, ROWS, ACTIVE, ACTIVE);
    brute_eigen(A, ACTIVE, values, V);
    for (size_t k = 0; k < pairs; k++)
        near(found[k], values[k], tolerance * values[0], "an eigenvalue");
    check_vectors(Z, ROWS, U, pairs, values);
    assert_int_equal(ny_result_report(in.ctx, in.store, "sketch", &report), NY_OK);
    near(number_of(report, "probe_error"), error_of(values, pairs),
         6 * number_of(report, "probe_standard_error") + 1e-6, "probe");
}

static void try_sketches(size_t d, bool sparse)
{
    static const char *const maps[] = {"svd", "pca", "kpca", "laplacian", "diffusion"};
    struct points p = make_points(d, sparse, false);

    append(&p, 0, ROWS);
    for (size_t m = 0; m < 5; m++)
        for (int cosine = 0; cosine < 2 && !(cosine && strcmp(maps[m], "pca") == 0); cosine++) {
            fit_sketch("randomized", maps[m], cosine, "f64");
            check_sketch(&p, maps[m], cosine, 1e-10);
            fit_sketch("randomized", maps[m], cosine, "f32");
            check_sketch(&p, maps[m], cosine, 1e-6);
            fit_sketch("gaussian", maps[m], cosine, "f64");
            check_sketch(&p, maps[m], cosine, 1e-9);
        }
    case_remove(in.store);
}

TEST(sketches)
{
    try_sketches(WIDE, true);
    try_sketches(NARROW, true);
    try_sketches(NARROW, false);
}

/* ---- more of exact fits ---------------------------------------------------------------------- */

/* Unit rows are placed at the vectors of the columns, whose largest entry is positive. */
static void check_signs(const struct points *p, const char *name, size_t count)
{
    struct ny_table table = {.struct_bytes = sizeof(table), .dtype = NY_F32, .rows = ACTIVE};
    float *rows = lend_zeros(ACTIVE * p->d * sizeof(float));
    double *V = lend_zeros(ACTIVE * count * sizeof(double));
    OWNED(ny_model) *model = NULL;

    for (size_t j = 0; j < ACTIVE; j++)
        rows[j * p->d + j * p->stride] = 1;
    table.columns = p->d;
    table.values = rows;
    assert_int_equal(ny_model_open(&model, in.ctx, in.store, name), NY_OK);
    assert_int_equal(ny_model_place(model, &table, NY_F64, V, 0), NY_OK);
    for (size_t k = 0; k < count; k++) {
        size_t largest = 0;

        for (size_t j = 0; j < ACTIVE; j++)
            if (fabs(V[j * count + k]) > fabs(V[largest * count + k])) largest = j;
        assert_true(V[largest * count + k] > 0);
    }
}

/* Vectors are ZV/√λ of the vectors V (rows) of ZᵀZ, to the rounding of f32 in which they are
 * kept: those of small values, too. */
static void check_directions(const double *Z, const double *U, size_t pairs, const double *V,
                             const double *values)
{
    for (size_t k = 0; k < pairs; k++) {
        double dot = 0, square = 0, sign;
        double *u = lend_zeros(ROWS * sizeof(double));

        for (size_t i = 0; i < ROWS; i++) {
            for (size_t j = 0; j < ACTIVE; j++)
                u[i] += Z[i * ACTIVE + j] * V[k * ACTIVE + j] / sqrt(values[k]);
            dot += u[i] * U[i * pairs + k];
        }
        sign = dot > 0 ? 1 : -1;
        for (size_t i = 0; i < ROWS; i++)
            square += (u[i] - sign * U[i * pairs + k]) * (u[i] - sign * U[i * pairs + k]);
        near(sqrt(square), 0, 2e-7, "a vector less its own");
    }
}

/* Eigenvalues are as near as --tol says, beyond what products in f32 can tell; of values that fall
 * to a hundred thousandth of the first. */
TEST(the_error_that_was_asked_for)
{
    static const char *const tolerances[] = {"1e-2", "1e-5", "1e-7", "1e-10"};
    struct points p = make_points(WIDE, true, false);
    double *Z, A[ACTIVE * ACTIVE], V[ACTIVE * ACTIVE], values[ACTIVE];

    for (size_t i = 0; i < ROWS * ACTIVE; i++) {
        p.active[i] *= pow(0.6, (double)(i % ACTIVE));
        p.active[i] = (double)(float)p.active[i];
    }
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t e = p.start[i]; e < p.start[i + 1]; e++)
            p.value[e] = (float)p.active[i * ACTIVE + p.column[e] / p.stride];
    append(&p, 0, ROWS);
    Z = features_of(&p, ROWS, "svd", false);
    brute_multiply_t(Z, Z, A, ROWS, ACTIVE, ACTIVE);
    brute_eigen(A, ACTIVE, values, V);
    for (size_t t = 0; t < 4; t++) {
        double *found, *U, tolerance = strtod(tolerances[t], NULL);

        must_fit(in.ctx, in.store, tolerances[t], NULL,
                 "map=svd kernel=linear approx=exact components=9 tol=%s", tolerances[t]);
        check_signs(&p, tolerances[t], 9);
        U = part(tolerances[t], "eigenvectors", ROWS, 9);
        check_orthonormal(U, ROWS, 9);
        if (tolerance < 1e-4) check_vectors(Z, ROWS, U, 9, values);
        if (tolerance < 1e-9) check_directions(Z, U, 9, V, values);
        found = part(tolerances[t], "eigenvalues", 9, 1);
        for (size_t k = 0; k < 9; k++)
            near(found[k], values[k], tolerance * values[k], tolerances[t]);
    }
}

/* Values of 300 ± 3, whose products in f32 hold the means to seven digits: centring is not lost. */
TEST(rows_far_from_zero_are_centred)
{
    struct points p = make_points(NARROW, true, false);
    double *Z, *found, A[ACTIVE * ACTIVE], V[ACTIVE * ACTIVE], values[ACTIVE];

    for (uint32_t e = 0; e < ROWS * ACTIVE; e++) {
        size_t j = e % ACTIVE;

        p.value[e] = (float)(300 + 6 * pow(0.9, (double)j) * (ny_hash01(3, 3, e) - 0.5));
        p.active[e] = (double)p.value[e];
        p.column[e] = (uint32_t)(j * p.stride);
        p.start[e / ACTIVE + 1] = e + 1;
    }
    append(&p, 0, ROWS);
    Z = features_of(&p, ROWS, "kpca", false);
    brute_multiply_t(Z, Z, A, ROWS, ACTIVE, ACTIVE);
    brute_eigen(A, ACTIVE, values, V);
    fit("far", "kpca", false, NULL);
    found = part("far", "eigenvalues", P, 1);
    for (size_t k = 0; k < P; k++)
        near(found[k], values[k], 1e-4 * values[k], "an eigenvalue");
}

/* A full update finds what a fit of all rows does; a frozen one places the new rows. */
TEST(updates)
{
    static const char *const maps[] = {"pca", "kpca", "laplacian"};
    struct points p = make_points(WIDE, true, false);

    append(&p, 0, EARLY);
    for (size_t m = 0; m < 3; m++) {
        fit(maps[m], maps[m], strcmp(maps[m], "pca") != 0, NULL);
        check_result(&p, maps[m], EARLY, maps[m], strcmp(maps[m], "pca") != 0);
    }
    append(&p, EARLY, ROWS - EARLY);
    for (size_t m = 0; m < 3; m++) {
        fit(maps[m], maps[m], false, "frozen");
        check_placed(&p, maps[m], ROWS);
        fit(maps[m], maps[m], false, "full");
        check_result(&p, maps[m], ROWS, maps[m], strcmp(maps[m], "pca") != 0);
    }
}

AROUND_EACH(start, api_case_end)
