/*
 * Data that numerics stumble over, through every method of the table and every dense map: results
 * are finite, orthonormal where that is promised, of a rank that is reported — or there is none,
 * and a sentence that says why. Never a NaN.
 */
#include "base/random.h"
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/files.h"
#include "support/options.h"
#include "support/results.h"
#include "support/store_folder.h"

enum { N = 240, D_MAX = 8, M = 40 /* as "landmarks" says */, P = 5 };

static char store[160];
static unsigned stores;

/* ---- data --------------------------------------------------------------------------------- */

static double noise(size_t row, size_t column)
{
    return ny_hash01(9, NY_STREAM_DATA, row * D_MAX + column) - 0.5;
}

static double plain(size_t row, size_t column)
{
    return noise(row, column);
}

static double duplicates(size_t row, size_t column)
{
    return noise(row % 10, column);
}

static double mostly_equal(size_t row, size_t column)
{
    return row % 24 == 5 ? noise(row, column) : 0.25;
}

static double pairs(size_t row, size_t column)
{
    return noise(row / 2, column) + (row % 2 ? 1e-7 : 0);
}

static double huge(size_t row, size_t column)
{
    return 1e30 * noise(row, column);
}

static double minute(size_t row, size_t column)
{
    return 1e-30 * noise(row, column);
}

static double constant_columns(size_t row, size_t column)
{
    return column % 2 ? 3 : noise(row, column);
}

static double far_away(size_t row, size_t column)
{
    return 1e6 + 4 * noise(row, column);
}

static double outlier(size_t row, size_t column)
{
    return row == 17 ? 1e12 : noise(row, column);
}

static const struct data {
    const char *name;
    double (*value)(size_t row, size_t column);
    size_t d;
    const char *options;
    size_t rank; /* of K at most */
    bool void_of; /* the matrix of a map may be nothing but rounding: NY_ENUMERIC then */
} data[] = {
    {"plain", plain, 5, "", M, false},
    {"duplicates", duplicates, 5, "", 10, false},
    {"mostly equal", mostly_equal, 5, "", 11, false},
    {"pairs 1e-7 apart", pairs, 5, "", M, false},
    {"less rank than landmarks", plain, 3, "kernel=linear", 3, true},
    {"polynomial of low rank", plain, 2, "kernel=polynomial degree=2", 6, false},
    {"tiny width", plain, 5, "gamma=1e9", M, true},
    {"huge width", plain, 5, "gamma=1e-14", M, true},
    {"wide", plain, 5, "gamma=1e-4", M, false},
    {"1e30", huge, 5, "", M, false},
    {"1e-30", minute, 5, "", M, false},
    {"1e30 linear", huge, 5, "kernel=linear", 5, true},
    {"1e-30 linear", minute, 5, "kernel=linear", 5, true},
    {"1e30 laplacian", huge, 5, "kernel=laplacian", M, false},
    {"constant columns", constant_columns, 6, "scale=standard", M, false},
    {"constant columns, by range", constant_columns, 6, "scale=unit", M, false},
    {"far away", far_away, 3, "", M, false},
    {"an outlier", outlier, 5, "", M, true},
};

static void import_values(const float *x, size_t d)
{
    snprintf(store, sizeof(store), "%s/%u.nys", directory, stores++);
    CHECK(ny_append_rows(ctx, store, x, N, d, NULL));
}

static void import_rows(const struct data *set)
{
    float *x = lend(sizeof(*x) * N * set->d);

    for (size_t i = 0; i < N * set->d; i++)
        x[i] = (float)set->value(i / set->d, i % set->d);
    import_values(x, set->d);
}

/* ---- fits --------------------------------------------------------------------------------- */

static void set_option(struct ny_options *options, const char *name, const char *value)
{
    CHECK(ny_options_set(options, name, value));
}

struct fitted {
    const struct data *set;
    const char *method, *map, *precision;
    size_t rank;
};

/* landmarks: false for methods that have none. */
static struct ny_options *options_of(const struct fitted *fit, bool landmarks)
{
    struct ny_options *options =
        options_with(ctx, "approx=%s map=%s precision=%s components=%d %s", fit->method, fit->map,
                     fit->precision, P, fit->set->options);

    if (landmarks) set_option(options, "landmarks", "40");
    return options;
}

static double *part(const char *name, size_t rows, size_t columns)
{
    return part_of_result(ctx, store, "fit", name, rows, columns);
}

static void wrong(const struct fitted *fit, const char *what, double value)
{
    fail_msg("%s, %s, %s, %s: %s %g", fit->set->name, fit->method, fit->map, fit->precision, what,
             value);
}

/* Û is orthonormal as far as the rank goes; beyond it is zero. */
static void check_orthonormal(const struct fitted *fit, const double *U, size_t cols)
{
    double tolerance = strcmp(fit->precision, "f64") == 0 ? 1e-5 : 5e-3;

    for (size_t a = 0; a < cols; a++)
        for (size_t b = 0; b <= a; b++) {
            double off = brute_dot(U, N, cols, a, b) - (a == b && a < fit->rank);

            if (!(fabs(off) <= tolerance)) wrong(fit, "u·u", off);
        }
}

static void check_result(struct fitted *fit, const struct ny_report *report)
{
    size_t pairs_found = P + (strcmp(fit->map, "laplacian") == 0);
    double *Y = part("embedding", N, P), *U = part("eigenvectors", N, pairs_found), rank;
    double *values = part("eigenvalues", pairs_found, 1);

    if (!ny_report_number(report, "rank_effective", &rank)) wrong(fit, "no rank_effective", 0);
    if (!(rank >= 1 && rank <= (double)fit->set->rank)) wrong(fit, "rank_effective", rank);
    fit->rank = (size_t)rank;
    for (size_t i = 0; i < N * P; i++)
        if (!isfinite(Y[i])) wrong(fit, "y", Y[i]);
    for (size_t i = 0; i < N * pairs_found; i++)
        if (!isfinite(U[i])) wrong(fit, "u", U[i]);
    if (strcmp(fit->method, "nystrom") != 0) check_orthonormal(fit, U, pairs_found);
    for (size_t k = 0; k < pairs_found; k++)
        if (!(isfinite(values[k]) && (k == 0 || values[k] <= values[k - 1])))
            wrong(fit, "eigenvalue", values[k]);
}

static void check_fit(struct fitted *fit)
{
    struct ny_options *options = options_of(fit, true);
    OWNED(ny_report) *report = NULL;
    int err = ny_fit(ctx, store, "fit", options, &report);

    if (err == NY_EUSAGE) {
        ny_options_free(options);
        options = options_of(fit, false);
        err = ny_fit(ctx, store, "fit", options, &report);
    }
    if (err == NY_OK) {
        check_result(fit, report);
        assert_int_equal(ny_remove(ctx, store, "fit"), NY_OK);
    } else if (err != NY_ENUMERIC || !fit->set->void_of) {
        fail_msg("%s, %s, %s, %s: %s", fit->set->name, fit->method, fit->map, fit->precision,
                 ny_context_message(ctx));
    }
    ny_options_free(options);
}

TEST(every_method_on_awkward_data)
{
    static const char *const maps[] = {"svd", "kpca", "kpca", "laplacian"};
    static const char *const precisions[] = {"f32", "f32", "f64", "f32"};
    const struct ny_method *method;

    for (size_t set = 0; set < sizeof(data) / sizeof(data[0]); set++) {
        import_rows(&data[set]);
        for (size_t i = 0; (method = ny_method_at(i)); i++)
            for (size_t k = 0; k < 4; k++) {
                struct fitted fit = {&data[set], method->name, maps[k], precisions[k], 0};

                check_fit(&fit);
            }
    }
}

/* ---- near-duplicates ---------------------------------------------------------------------- */

enum { SAME, NEAR, NONE, TWINS };

/* Row N−1 is row 0, or is 1e-7 away from it; both are landmarks, or only row 0 is. */
static double *fit_twins(const char *method, const char *map, int twins)
{
    const struct data set = {"twins", plain, 4, "", M, false};
    const struct fitted fit = {&set, method, map, "f32", 0};
    OWNED(ny_options) *options = options_of(&fit, false);
    float x[N * 4];
    double *Y = NULL, numbers[M];
    char *list = lend_text("%s/landmarks.txt", directory);

    for (size_t i = 0; i < N * set.d; i++)
        x[i] = (float)plain(i / set.d, i % set.d);
    for (size_t k = 0; k < set.d; k++)
        x[(N - 1) * set.d + k] = (float)((double)x[k] + (twins == NEAR ? 1e-7 : 0));
    import_values(x, set.d);
    for (int j = 0; j < M; j++)
        numbers[j] = j < M - 1 ? j : N - 1;
    write_csv(list, numbers, twins == NONE ? M - 1 : M, 1);
    set_option(options, "landmarks-file", list);
    if (ny_fit(ctx, store, "fit", options, NULL) == NY_OK)
        Y = part("embedding", N, P);
    else if (ny_context_error(ctx)->status != NY_EUSAGE)
        fail_msg("%s, %s: %s", method, map, ny_context_message(ctx));
    return Y;
}

static void same_embedding(const double *X, const double *Y, const char *method, const char *map)
{
    double largest = 0;

    for (size_t i = 0; i < N * P; i++)
        largest = fmax(largest, fabs(X[i]));
    for (size_t i = 0; i < N * P; i++)
        if (!(fabs(X[i] - Y[i]) <= 1e-3 * largest))
            fail_msg("%s, %s: row %zu, component %zu: %g and %g", method, map, i / P, i % P, X[i],
                     Y[i]);
}

/* A landmark as good as twice there is no more than twice there; and where W is inverted, no more
 * than once. */
TEST(near_duplicates_wreck_nothing)
{
    static const char *const maps[] = {"svd", "kpca", "laplacian"};
    const struct ny_method *method;
    size_t tried = 0;

    for (size_t i = 0; (method = ny_method_at(i)); i++)
        for (size_t k = 0; k < 3; k++) {
            double *Y[TWINS];

            for (int twins = 0; twins < TWINS; twins++)
                Y[twins] = fit_twins(method->name, maps[k], twins);
            if (Y[SAME]) same_embedding(Y[SAME], Y[NEAR], method->name, maps[k]);
            if (strcmp(method->name, "projected") == 0)
                same_embedding(Y[NONE], Y[NEAR], method->name, maps[k]);
            tried += Y[SAME] != NULL;
        }
    assert_true(tried >= 12);
}

AROUND_ALL(make_folder, remove_folder)
