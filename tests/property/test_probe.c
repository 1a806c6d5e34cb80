/*
 * Tests fit --probe: ‖K − K̃‖_F/‖K‖_F of every method and map. From all columns it is exact,
 * compared with plain loops over K, normalised here with the averages that the fit is to use, and
 * with the exported pairs; from some columns it is as near as its standard error says.
 */

#include "base/random.h"
#include "support/brute.h"
#include "support/options.h"
#include "support/results.h"
#include "support/folder.h"

enum { ROWS = 130, MANY = 2100, D = 5, M = 24, P = 3 };

static char few[160], many[160];
static float *points;

struct fit {
    const char *approx, *map, *averages; /* averages NULL: of all points */
    const char *option[2];
};

static void import(const char *path, size_t rows)
{
    assert_int_equal(ny_append_rows(ctx, path, points, rows, D, NULL), NY_OK);
}

static void start(void)
{
    new_folder();
    ny_context_set_threads(ctx, 2);
    ny_context_set_memory(ctx, (uint64_t)1 << 30);
    points = lend((size_t)MANY * D * sizeof(*points));
    for (size_t i = 0; i < (size_t)MANY * D; i++)
        points[i] = (float)(ny_hash01(21, NY_STREAM_DATA, i) + (i % 7 == 0 ? 0.5 : 0));
    snprintf(few, sizeof(few), "%s/few.nys", directory);
    snprintf(many, sizeof(many), "%s/many.nys", directory);
    import(few, ROWS);
    import(many, MANY);
}

static void set(struct ny_options *options, const char *name, const char *value)
{
    CHECK(ny_options_set(options, name, value));
}

/* Fits under the name x; what it says of the probe, γ, and of the error of each pair. */
struct said {
    double columns, error, spread, gamma, rho[P + 1], se[P + 1], value[P + 1];
};

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static bool divided(const struct fit *fit)
{
    return is(fit->map, "laplacian") || is(fit->map, "diffusion");
}

/* Tells whether the errors of pairs are measured in the pass that embeds. */
static bool checks_rows(const struct fit *fit)
{
    bool whole = is(fit->approx, "randomized") || is(fit->approx, "gaussian");
    bool of_another = is(fit->option[0], "affine") && is(fit->map, "svd"); /* translated K */

    return !whole && !is(fit->approx, "exact") && !of_another;
}

/* Tells whether the products of the fit tell the errors exactly. */
static bool knows_errors(const struct fit *fit)
{
    return is(fit->approx, "randomized") || is(fit->option[0], "check-rows");
}

static void numbers_of(const struct ny_report *report, const char *key, size_t count, double *out)
{
    OWNED(json_t) *json = json_loads(ny_report_json(report), 0, NULL);
    const json_t *array = json_object_get(json, key);

    assert_int_equal(json_array_size(array), count);
    for (size_t k = 0; k < count; k++)
        out[k] = json_number_value(json_array_get(array, k));
}

static struct said run(const char *store, const struct fit *fit, const char *precision,
                       const char *probe, unsigned seed)
{
    OWNED(ny_options) *options = NULL;
    OWNED(ny_report) *report = NULL;
    struct said said = {0};

    options =
        options_with(ctx, "approx=%s map=%s components=3 precision=%s probe=%s seed=%u restart=yes",
                     fit->approx, fit->map, precision, probe, seed);
    if (checks_rows(fit)) set(options, "check-rows", probe);
    if (fit->averages) set(options, "averages", fit->averages);
    if (strcmp(fit->approx, "randomized") != 0 && strcmp(fit->approx, "exact") != 0)
        set(options, "landmarks", "24");
    /* pca has fewer independent columns than landmarks: rpcholesky would find no more. */
    if (strcmp(fit->approx, "projected") == 0 || strcmp(fit->approx, "ensemble") == 0)
        set(options, "select", "uniform");
    if (fit->option[0]) set(options, fit->option[0], fit->option[1]);
    if (ny_fit(ctx, store, "x", options, &report))
        fail_msg("%s %s: %s", fit->approx, fit->map, ny_context_message(ctx));
    said.columns = number_of(report, "probe_columns");
    said.error = number_of(report, "probe_error");
    if (!ny_report_number(report, "probe_standard_error", &said.spread)) said.spread = NAN;
    if (!ny_report_number(report, "gamma", &said.gamma)) said.gamma = 0;
    if (knows_errors(fit)) numbers_of(report, "component_errors", P + divided(fit), said.rho);
    if (checks_rows(fit)) {
        size_t pairs = P + divided(fit);

        numbers_of(report, "component_errors", pairs, said.rho);
        numbers_of(report, "component_errors_se", pairs, said.se);
        numbers_of(report, "eigenvalues_corrected", pairs, said.value);
    }
    return said;
}

static double *part_of(const char *store, const char *part, size_t rows, size_t cols)
{
    return part_of_result(ctx, store, "x", part, rows, cols);
}

/* ---- K, normalised by plain loops ---------------------------------------------------------- */

/* Returns K of a linear kernel about the mean, or of rbf. */
static double *kernel_of(const struct fit *fit, double gamma, size_t n)
{
    double *K = lend(n * n * sizeof(*K)), mean[D] = {0};

    for (size_t i = 0; i < n * D && is(fit->map, "pca"); i++)
        mean[i % D] += (double)points[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double dot = 0, square = 0;

            for (size_t l = 0; l < D; l++) {
                double x = (double)points[i * D + l], y = (double)points[j * D + l];

                dot += (x - mean[l]) * (y - mean[l]);
                square += (x - y) * (x - y);
            }
            K[i * n + j] = is(fit->map, "pca") ? dot : exp(-gamma * square);
        }
    return K;
}

/* k(x,y) − k(x,x₁) − k(x₁,y) + k(x₁,x₁) */
static void translate(double *K, size_t n, size_t first)
{
    double *column = lend(n * sizeof(*column));

    for (size_t i = 0; i < n; i++)
        column[i] = K[i * n + first];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            K[i * n + j] += column[first] - column[i] - column[j];
}

/* Σ_j k̃_ij of K̃ = Σ_r μ C_r W_r⁺ C_rᵀ: of one expert, or of `experts` with the same weight. */
static void implicit_sums(const double *K, size_t n, const double *landmarks, size_t experts,
                          double *sums)
{
    size_t m = M / experts;

    memset(sums, 0, n * sizeof(*sums));
    for (size_t r = 0; r < experts; r++) {
        double W[M * M], B[M * M], s[M] = {0}, z[M];
        size_t rank;

        for (size_t a = 0; a < m; a++) {
            size_t row = (size_t)landmarks[r * m + a];

            for (size_t b = 0; b < m; b++)
                W[a * m + b] = K[row * n + (size_t)landmarks[r * m + b]];
            for (size_t i = 0; i < n; i++)
                s[a] += K[i * n + row];
        }
        rank = brute_inverse_root(W, m, 1e-12 * brute_trace(W, m), m, B);
        for (size_t k = 0; k < rank; k++) {
            z[k] = 0;
            for (size_t a = 0; a < m; a++)
                z[k] += B[k * m + a] * s[a] / (double)experts;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < rank; k++)
                for (size_t a = 0; a < m; a++)
                    sums[i] += K[i * n + (size_t)landmarks[r * m + a]] * B[k * m + a] * z[k];
    }
}

/* Sums each row of K over all points, as the fit is to know it. */
static void sums_of(const struct fit *fit, const double *K, size_t n, const double *landmarks,
                    double *sums)
{
    memset(sums, 0, n * sizeof(*sums));
    if (is(fit->averages, "implicit")) {
        implicit_sums(K, n, landmarks, is(fit->approx, "ensemble") ? 2 : 1, sums);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n && !fit->averages; j++)
            sums[i] += K[i * n + j];
        for (size_t a = 0; a < M && fit->averages; a++)
            sums[i] += K[i * n + (size_t)landmarks[a]] * (double)n / M;
    }
}

static void normalise(const struct fit *fit, double *K, size_t n, const double *landmarks)
{
    double *sums = lend(n * sizeof(*sums)), mean = 0;
    bool over_landmarks = is(fit->averages, "landmarks");

    if (is(fit->option[0], "affine")) translate(K, n, (size_t)landmarks[0]);
    sums_of(fit, K, n, landmarks, sums);
    for (size_t i = 0; i < (over_landmarks ? M : n); i++)
        mean += over_landmarks ? sums[(size_t)landmarks[i]] / (double)n / M
                               : sums[i] / (double)(n * n);
    for (size_t i = 0; i < n && !is(fit->map, "svd"); i++)
        for (size_t j = 0; j < n; j++) {
            if (divided(fit))
                K[i * n + j] /= sqrt(sums[i] * sums[j]);
            else
                K[i * n + j] += mean - (sums[i] + sums[j]) / (double)n;
        }
}

/* ‖K − ÛΛ̂Ûᵀ‖_F/‖K‖_F of what x holds. */
static double wanted(const char *store, const struct fit *fit, double gamma, size_t n)
{
    bool whole = is(fit->approx, "randomized") || is(fit->approx, "gaussian");
    size_t pairs = P + divided(fit);
    double *K = kernel_of(fit, gamma, n), error = 0, norm = 0;
    double *U = part_of(store, "eigenvectors", n, pairs);
    double *values = part_of(store, "eigenvalues", pairs, 1);
    double *landmarks =
        whole || is(fit->approx, "exact") ? NULL : part_of(store, "landmarks", M, 1);

    normalise(fit, K, n, landmarks);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double k = K[i * n + j], rest = k;

            for (size_t l = 0; l < pairs; l++)
                rest -= U[i * pairs + l] * values[l] * U[j * pairs + l];
            error += rest * rest;
            norm += k * k;
        }
    return sqrt(error / norm);
}

/* Compares the errors of all pairs with ‖Au − λu‖/λ, and uᵀAu, of the u and λ that are stored. */
static void check_pairs(const char *store, size_t n, const struct fit *fit, double tolerance,
                        const struct said *said)
{
    size_t pairs = P + divided(fit);
    double *A = kernel_of(fit, said->gamma, n), *r = lend(n * sizeof(*r));
    double *U = part_of(store, "eigenvectors", n, pairs);
    double *values = part_of(store, "eigenvalues", pairs, 1);
    double *landmarks = knows_errors(fit) ? NULL : part_of(store, "landmarks", M, 1);
    bool centred = is(fit->map, "kpca") || is(fit->map, "pca");

    if (centred)
        brute_centre(A, n); /* of all rows, whatever averages the fit has */
    else
        normalise(fit, A, n, landmarks);
    for (size_t k = 0; k < pairs; k++) {
        double mean = 0, norm = 0, square = 0, value = 0;

        for (size_t i = 0; i < n && centred; i++)
            mean += U[i * pairs + k] / (double)n;
        for (size_t i = 0; i < n; i++) {
            double u = U[i * pairs + k] - mean, sum = 0;

            for (size_t j = 0; j < n; j++)
                sum += A[i * n + j] * (U[j * pairs + k] - mean);
            norm += u * u;
            value += u * sum;
            r[i] = sum - values[k] * u;
        }
        for (size_t i = 0; i < n; i++)
            square += r[i] * r[i] / norm;
        if (centred && checks_rows(fit)) square *= (double)n / (double)(n - 1); /* of a sample */
        assert_true(said->se[k] == 0);
        if (fabs(said->rho[k] - sqrt(square) / values[k]) > tolerance * (1 + said->rho[k]) ||
            (checks_rows(fit) && fabs(said->value[k] - value / norm) > tolerance * values[k]))
            fail_msg("%s %s %s, pair %zu: error %.12g, eigenvalue %.12g; they are %.12g, %.12g",
                     fit->approx, fit->map, fit->averages ? fit->averages : "true", k, said->rho[k],
                     said->value[k], sqrt(square) / values[k], value / norm);
    }
}

static void check(const char *store, size_t n, const struct fit *fit, const char *precision)
{
    double tolerance = is(precision, "f64") ? 1e-8 : 2e-5, error;
    struct said said;

    said = run(store, fit, precision, "100000", 1);
    error = wanted(store, fit, said.gamma, n);
    assert_true(said.columns == (double)n && said.spread == 0);
    if (!(fabs(said.error - error) <= tolerance * error))
        fail_msg("%s %s %s %s, %s: probe error %.12g, it is %.12g", fit->approx, fit->map,
                 fit->averages ? fit->averages : "true", fit->option[0] ? fit->option[0] : "",
                 precision, said.error, error);
    if (checks_rows(fit) || knows_errors(fit)) check_pairs(store, n, fit, 5 * tolerance, &said);
}

/* ---- tests --------------------------------------------------------------------------------- */

TEST(all_columns_are_exact)
{
    static const char *const maps[] = {"svd", "kpca", "pca", "laplacian", "diffusion"};
    static const struct fit methods[] = {
        {"nystrom", NULL, "landmarks", {NULL}},
        {"column", NULL, "landmarks", {NULL}},
        {"orthonystrom", NULL, "landmarks", {NULL}},
        {"projected", NULL, "landmarks", {NULL}},
        {"projected", NULL, "implicit", {NULL}},
        {"ensemble", NULL, "landmarks", {"experts", "2"}},
        {"ensemble", NULL, "implicit", {"experts", "2"}},
        {"exact", NULL, NULL, {NULL}},
        {"randomized", NULL, NULL, {NULL}},
        {"gaussian", NULL, NULL, {NULL}},
    };

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        for (size_t j = 0; j < sizeof(maps) / sizeof(maps[0]); j++) {
            struct fit fit = methods[i];

            fit.map = maps[j];
            if (is(fit.map, "svd")) fit.averages = NULL;
            check(few, ROWS, &fit, "f64");
            check(few, ROWS, &fit, "f32");
        }
}

TEST(other_forms_of_the_maps)
{
    static const struct fit fits[] = {
        {"projected", "kpca", "implicit", {"affine", "yes"}},
        {"projected", "svd", NULL, {"affine", "yes"}},
        {"nystrom", "diffusion", "landmarks", {"normalize", "asymmetric"}},
        {"gaussian", "diffusion", NULL, {"normalize", "asymmetric"}},
        {"projected", "laplacian", "implicit", {"row-normalize", "yes"}},
        {"ensemble", "kpca", "landmarks", {"weights", "exponential"}},
    };

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
        check(few, ROWS, &fits[i], "f64");
}

/* Units are 2,048 rows. */
TEST(sums_go_over_units)
{
    static const struct fit fits[] = {{"projected", "kpca", "implicit", {NULL}},
                                      {"gaussian", "laplacian", NULL, {NULL}}};

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
        check(many, MANY, &fits[i], "f32");
}

/* All kernel values are 1 but for 1e-6, of which f32 has seven digits only where they are shifted.
 */
TEST(errors_of_a_wide_kernel_keep_their_digits)
{
    const struct fit fit = {"projected", "kpca", "implicit", {"gamma", "1e-6"}};
    const struct said said = run(few, &fit, "f32", "130", 1);

    check_pairs(few, ROWS, &fit, 1e-5, &said);
}

/* So many random columns tell them to a hundredth. */
TEST(errors_of_gaussian_are_those_of_its_pairs)
{
    static const char *const maps[] = {"svd", "kpca", "laplacian"};

    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        const struct fit fit = {"gaussian", maps[i], NULL, {"check-rows", "10000"}};
        const struct said said = run(few, &fit, "f64", "130", 1);

        print_message("%s: %.3g, %.3g, %.3g\n", maps[i], said.rho[0], said.rho[1], said.rho[2]);
        check_pairs(few, ROWS, &fit, 0.004, &said);
    }
}

/* Tests over seeds, each with its own landmarks and columns. */
TEST(the_standard_error_covers)
{
    enum { SEEDS = 20 };
    static const struct fit fits[] = {{"column", "kpca", "landmarks", {NULL}},
                                      {"gaussian", "laplacian", NULL, {NULL}}};

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        int within_one = 0, within_two = 0;

        for (unsigned seed = 0; seed < SEEDS; seed++) {
            double truth = run(few, &fits[i], "f64", "130", seed).error;
            struct said said = run(few, &fits[i], "f64", "40", seed);

            assert_true(said.columns == 40 && said.spread > 0 && said.spread < said.error / 4);
            within_one += fabs(said.error - truth) <= said.spread;
            within_two += fabs(said.error - truth) <= 2 * said.spread;
        }
        print_message("%s %s: %d of %d within one standard error, %d within two\n",
                      fits[i].approx, fits[i].map, within_one, SEEDS, within_two);
        assert_in_range(within_one, 7, 19); /* 14 expected */
        assert_in_range(within_two, 16, SEEDS);
    }
}

/* Rows that no other is near hold most of the norm of a divided kernel, each in one entry of its
 * diagonal. Columns drawn alike mostly miss them, and their spread does not tell. */
TEST(few_entries_that_hold_the_norm_are_met)
{
    enum { CROWD = 240, ALONE = 10, ALL = CROWD + ALONE, SEEDS = 120 };
    static const struct fit fits[] = {{"exact", "laplacian", NULL, {"gamma", "1"}},
                                      {"exact", "diffusion", NULL, {"gamma", "1"}},
                                      {"gaussian", "laplacian", NULL, {"gamma", "1"}}};
    static float rows[ALL * D];
    char *store = lend_text("%s/alone.nys", directory);

    for (size_t i = 0; i < ALL * D; i++)
        rows[i] = (float)ny_hash01(22, NY_STREAM_DATA, i) * 0.5f +
                  (i / D % 25 == 7 ? 0.9f * (float)(1 + i / D / 25) : 0);
    assert_int_equal(ny_append_rows(ctx, store, rows, ALL, D, NULL), NY_OK);
    for (size_t f = 0; f < sizeof(fits) / sizeof(fits[0]); f++) {
        double truth = run(store, &fits[f], "f64", "250", 1).error, mean = 0, sum = 0;
        unsigned seeds = f < 2 ? SEEDS : SEEDS / 4, far = 0;

        for (unsigned seed = 0; seed < seeds; seed++) {
            double own = f < 2 ? truth : run(store, &fits[f], "f64", "250", seed).error;
            struct said said = run(store, &fits[f], "f64", "25", seed);

            far += fabs(said.error - own) > 3 * said.spread;
            mean += said.error * said.error / (own * own) / seeds;
            sum += said.spread / own / seeds;
        }
        print_message("%s %s: %u of %u beyond three standard errors of %.2g; mean square %.3f\n",
                      fits[f].approx, fits[f].map, far, seeds, sum, mean);
        assert_in_range(far, 0, 2);
        assert_true(fabs(mean - 1) < 0.1);
    }
}

/* Counts errors of pairs that are within two standard errors of the truth. */
TEST(errors_of_pairs_are_covered)
{
    enum { SEEDS = 20 };
    static const struct fit fits[] = {{"projected", "kpca", "implicit", {NULL}},
                                      {"column", "svd", NULL, {NULL}},
                                      {"projected", "laplacian", "implicit", {NULL}}};

    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
        size_t first = divided(&fits[i]); /* behind the trivial pair, whose error is rounding */
        int within = 0, all = 0;

        for (unsigned seed = 0; seed < SEEDS; seed++) {
            struct said truth = run(few, &fits[i], "f64", "130", seed);
            struct said said = run(few, &fits[i], "f64", "40", seed);

            for (size_t k = first; k < P + first; k++, all++) {
                assert_true(said.se[k] > 0 && said.rho[k] > 0.4 * truth.rho[k]);
                within += fabs(said.rho[k] - truth.rho[k]) <= 2 * said.se[k];
            }
        }
        print_message("%s %s: %d of %d within two standard errors\n", fits[i].approx, fits[i].map,
                      within, all);
        assert_in_range(within, all * 85 / 100, all);
    }
}

/* One column says nothing of the others' spread; no probe, nothing. */
TEST(one_column_has_no_standard_error)
{
    const struct fit fit = {"nystrom", "svd", NULL, {NULL}};
    struct said said;

    said = run(few, &fit, "f64", "1", 3);
    assert_true(said.columns == 1 && said.error > 0 && isnan(said.spread));
}

AROUND_ALL(start, remove_folder)
