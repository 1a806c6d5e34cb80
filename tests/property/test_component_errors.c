/*
 * The errors that fits report of their components from 64 check rows, over data, kernels, widths,
 * maps and methods, beside those from all rows, which test_probe compares with plain loops: nearly
 * all are within 0.6 to 1.6 of them, and most within two standard errors. (tests/long has a larger
 * grid, with rows of real sets.) NYSTREAM_FEW_FAULTS: one of three sets of rows.
 */

#include "property/made_up_rows.h"
#include "support/options.h"
#include "support/results.h"
#include "support/store_folder.h"

enum { N = 1200, D = 4, P = 6 };

/* ---- rows ---------------------------------------------------------------------------------- */

/* Most rows come several times. */
static double duplicates(size_t row, size_t column)
{
    size_t pixel = (size_t)(400 * uniform(row, 0, 3) * uniform(row, 0, 4));

    return floor(128 + 30 * normal(pixel, 0) + 8 * normal(pixel, column + 1));
}

static double far_away(size_t row, size_t column)
{
    return 1e6 + 400 * uniform(row, column, 5);
}

/* The farther from the middle, the fewer rows are near. */
static double scattered(size_t row, size_t column)
{
    return 5 * normal(row, column);
}

/* One row holds nearly all of tr K where k(x,x) grows with x. */
static size_t giant;

static double with_a_giant(size_t row, size_t column)
{
    return blobs(row, column) * (row == giant ? 1000 : 1);
}

/* Makes a store of these rows. */
static void import(double (*value)(size_t row, size_t column))
{
    float *X = lend((size_t)N * D * sizeof(*X));

    for (size_t i = 0; i < (size_t)N * D; i++)
        X[i] = (float)value(i / D, i % D);
    case_remove(path);
    CHECK(ny_append_rows(ctx, path, X, N, D, NULL));
}

/* ---- fits ---------------------------------------------------------------------------------- */

/* ρ of each component and its standard error, without the trivial pair. */
struct errors {
    double rho[P], se[P];
};

static void numbers_of(const json_t *report, const char *key, double out[P])
{
    const json_t *array = json_object_get(report, key);
    size_t trivial = (size_t)json_integer_value(json_object_get(report, "eigenvalues_trivial"));

    assert_int_equal(json_array_size(array), P + trivial);
    for (size_t k = 0; k < P; k++)
        out[k] = json_number_value(json_array_get(array, k + trivial));
}

static double gamma_of(const char *kernel)
{
    OWNED(ny_report) *report = NULL;

    must_fit(ctx, path, "x", &report,
             "kernel=%s map=svd approx=nystrom landmarks=3 components=1 restart=yes", kernel);
    return number_of(report, "gamma");
}

static struct errors errors_of(const char *words, size_t check_rows)
{
    OWNED(ny_report) *report = NULL;
    struct errors errors;
    OWNED(json_t) *json = NULL;

    must_fit(ctx, path, "x", &report, "components=%d check-rows=%zu seed=3 restart=yes %s", P,
             check_rows, words);
    json = json_loads(ny_report_json(report), 0, NULL);
    numbers_of(json, "component_errors", errors.rho);
    numbers_of(json, "component_errors_se", errors.se);
    return errors;
}

/* ---- what is compared ---------------------------------------------------------------------- */

struct counts {
    size_t check_rows;
    size_t cases, all, near, covered;
    double least, most; /* shares of the truth */
    char worst[160];
};

static void add(struct counts *counts, const char *data, const char *words)
{
    struct errors told = errors_of(words, counts->check_rows), true_ones = errors_of(words, N);

    counts->cases++;
    for (size_t k = 0; k < P; k++) {
        double share = told.rho[k] / true_ones.rho[k];

        if (!(true_ones.rho[k] > 1e-5)) continue;
        counts->all++;
        counts->near += share >= 0.6 && share <= 1.6;
        counts->covered += fabs(told.rho[k] - true_ones.rho[k]) <= 2 * told.se[k];
        counts->most = fmax(counts->most, share);
        if (share >= counts->least) continue;
        counts->least = share;
        snprintf(counts->worst, sizeof(counts->worst), "%s %s, component %zu: %.2g, it is %.2g",
                 data, words, k + 1, told.rho[k], true_ones.rho[k]);
    }
}

static void print(const struct counts *counts)
{
    print_message("%zu cases, %zu components: %.1f %% within 0.6 to 1.6, %.1f %% within two "
                  "standard errors; shares are up to %.2f, and down to %.2f: %s\n",
                  counts->cases, counts->all, 100.0 * (double)counts->near / (double)counts->all,
                  100.0 * (double)counts->covered / (double)counts->all, counts->most,
                  counts->least, counts->worst);
}

/* ---- tests --------------------------------------------------------------------------------- */

TEST(errors_of_check_rows_are_near)
{
    static const struct {
        const char *name;
        double (*value)(size_t row, size_t column);
    } datas[] = {{"blobs", blobs}, {"duplicates", duplicates}, {"offset", far_away}};
    static const char *const kernels[] = {"rbf", "laplacian"};
    static const char *const fits[] = {
        "map=svd landmarks=60",
        "map=kpca landmarks=60",
        "map=kpca landmarks=60 precision=f64",
        "map=kpca landmarks=60 approx=nystrom",
        "map=svd landmarks=60 approx=column",
        "map=kpca landmarks=60 approx=orthonystrom",
        "map=kpca landmarks=60 approx=ensemble experts=2",
        "map=laplacian landmarks=60",
        "map=diffusion landmarks=60 approx=column",
        "map=laplacian landmarks=60 approx=ensemble experts=2 precision=f64",
        "map=kpca landmarks=60 approx=gaussian",
    };
    const size_t sets = getenv("NYSTREAM_FEW_FAULTS") ? 1 : sizeof(datas) / sizeof(datas[0]);
    struct counts counts = {.check_rows = 64, .least = INFINITY};

    for (size_t i = 0; i < sets; i++) {
        import(datas[i].value);
        for (size_t j = 0; j < sizeof(kernels) / sizeof(kernels[0]); j++) {
            double gamma = gamma_of(kernels[j]);

            for (size_t k = 0; k < sizeof(fits) / sizeof(fits[0]); k++) {
                static const double narrower[] = {1, 0.1, 10};
                double by = narrower[(i + j + k) % (strstr(fits[k], "kpca") ? 3 : 2)];
                char *words = lend_text("kernel=%s gamma=%.6g %s", kernels[j], gamma * by, fits[k]);

                add(&counts, datas[i].name, words);
            }
        }
    }
    print(&counts);
    assert_true(counts.cases == 22 * sets && counts.all > 100 * sets);
    assert_true((double)counts.near >= 0.99 * (double)counts.all);
    assert_true((double)counts.covered >= 0.9 * (double)counts.all);
    assert_true(counts.least >= 0.5 && counts.most <= 2);
}

/* Rows that no landmark represents have degrees below what they are, and most of the residual. */
TEST(artefacts_that_no_check_row_meets_are_counted)
{
    static const char *const fits[] = {
        "map=laplacian landmarks=60",
        "map=laplacian landmarks=60 precision=f64",
        "map=diffusion landmarks=90 approx=ensemble experts=3",
    };
    static const char *const kernels[] = {"rbf", "laplacian"};
    struct counts counts = {.check_rows = 64, .least = INFINITY};

    import(scattered);
    for (size_t i = 0; i < 6; i++) {
        char words[200];

        snprintf(words, sizeof(words), "kernel=%s gamma=%.6g %s", kernels[i / 3],
                 10 * gamma_of(kernels[i / 3]), fits[i % 3]);
        add(&counts, "scattered", words);
    }
    print(&counts);
    assert_true(counts.all == 36 && counts.near >= 34 && counts.least >= 0.5);
}

/* Components are far from those of K if the giant is no landmark, and 16 check rows are drawn from
 * 512 candidates. */
TEST(a_row_of_which_no_sample_knows_is_counted)
{
    static const char *const fits[] = {
        "kernel=polynomial gamma=0.1 map=svd landmarks=40 approx=column select=uniform",
        "kernel=polynomial gamma=0.1 map=kpca landmarks=40 approx=nystrom select=uniform",
        "kernel=polynomial gamma=0.1 map=svd landmarks=40 approx=ensemble experts=2",
    };
    struct counts counts = {.check_rows = 16, .least = INFINITY};

    for (giant = 100; giant < N; giant += 300) {
        import(with_a_giant);
        for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
            add(&counts, "a giant", fits[i]);
    }
    print(&counts);
    assert_true(counts.all > 25 && counts.near == counts.all);
}

AROUND_ALL(make_folder, remove_folder)
