/* --update full, of every map, method and selection: what a fit from scratch of all rows gives,
 * with the γ of the first fit; also after a frozen update. */
#include "property/update_case.h"

/* Full, after each of two appends. */
static void check_full(struct update_case test)
{
    const char *store = path_of("grown.nys");
    struct ny_report *report;
    double total = 0, joined = 0;

    add_rows(&test, store, 0, FIRST);
    report = fit_well(&test, store, NULL);
    total = number_of(report, "rows_read");
    ny_report_free(report);
    for (int i = 1; i < 3; i++) {
        add_rows(&test, store, ends[i - 1], ends[i]);
        report = fit_well(&test, store, "full");
        total += number_of(report, "rows_read");
        joined += number_of(report, "landmarks_added");
        assert_true(number_of(report, "n") == (double)ends[i]);
        assert_true(number_of(report, "updates") == i);
        assert_true(number_of(report, "total_rows_read") == total);
        assert_string_equal(ny_report_text(report, "mode"), "full");
        check_from_scratch(&test, store, report, ends[i]);
        ny_report_free(report);
    }
    if (test.grows != (joined > 0)) fail_msg("%s: %g landmarks joined", test.name, joined);
    case_remove(store);
}

/* Frozen, then full of the frozen rows and more. */
static void check_frozen_then_full(struct update_case test)
{
    const char *store = path_of("grown.nys");
    uint64_t n, p, now;
    struct ny_report *report;
    float *before, *after;

    add_rows(&test, store, 0, FIRST);
    ny_report_free(fit_well(&test, store, NULL));
    before = embedding_of(store, &n, &p);
    add_rows(&test, store, FIRST, SECOND);
    report = fit_well(&test, store, "frozen");
    assert_true(number_of(report, "n") == SECOND);
    assert_true(number_of(report, "landmarks_added") == 0);
    assert_true(number_of(report, "rows_read") <= 2 * (SECOND - FIRST) + 1);
    after = embedding_of(store, &now, &p);
    assert_int_equal(now, SECOND);
    assert_memory_equal(before, after, (size_t)(n * p) * sizeof(float));
    ny_report_free(report);
    add_rows(&test, store, SECOND, THIRD);
    report = fit_well(&test, store, "full");
    check_from_scratch(&test, store, report, THIRD);
    ny_report_free(report);
    case_remove(store);
}

static void check_both(struct update_case test)
{
    check_full(test);
    check_frozen_then_full(test);
}

/* ---- maps and methods ---------------------------------------------------------------------- */

TEST(updates_are_fits_of_all_rows)
{
    static const struct update_case cases[] = {
        /* projected, of each map */
        {"svd, uniform", "map=svd select=uniform landmarks=60 precision=f64", 1e-5, 0, false, true},
        {"kpca, implicit, uniform", "map=kpca select=uniform landmarks=60 precision=f64", 1e-5, 0,
         false, true},
        {"kpca over landmarks, uniform",
         "map=kpca averages=landmarks select=uniform landmarks=60 precision=f64", 1e-5, 0, false,
         true},
        {"kpca, f32", "map=kpca select=uniform landmarks=60", 1e-3, 0, false, true},
        {"laplacian", "map=laplacian select=uniform landmarks=60 precision=f64", 1e-5, 0, false,
         true},
        {"diffusion over landmarks",
         "map=diffusion averages=landmarks select=uniform landmarks=60 precision=f64", 1e-5, 0,
         false, true},
        {"pca", "map=pca select=uniform landmarks=20 precision=f64", 1e-5, 0, false, true},
        /* other methods */
        {"nystrom, svd", "map=svd approx=nystrom landmarks=60 precision=f64", 1e-5, 0, false, true},
        {"nystrom, certified", "approx=nystrom certify=yes landmarks=60 precision=f64", 1e-5, 0,
         false, true},
        {"column", "approx=column landmarks=60 precision=f64", 1e-5, 0, false, true},
        {"orthonystrom", "approx=orthonystrom landmarks=60 precision=f64", 1e-5, 0, false, true},
        {"ensemble", "approx=ensemble select=uniform landmarks=80 experts=4 rank=10 precision=f64",
         1e-5, 0, false, true},
        {"ensemble, ridge",
         "approx=ensemble select=uniform landmarks=120 experts=4 rank=10 weights=ridge "
         "precision=f64",
         1e-5, 0, false, true},
        {"probe", "approx=column landmarks=60 precision=f64 probe=50", 1e-5, 0, false, true},
        /* a dictionary that goes on */
        {"greedy, affine", "select=greedy tolerance=0.2 precision=f64", 1e-5, 0.1, false, true},
        {"greedy, span", "select=greedy tolerance=0.1 map=svd precision=f64", 1e-5, 0.1, false,
         true},
        {"greedy, f32", "select=greedy tolerance=0.2", 1e-3, 0.1, false, true},
        {"greedy with a cap", "select=greedy tolerance=0.01 landmarks=25 precision=f64", 1e-5, 0.1,
         false, false},
        {"greedy, certified", "select=greedy tolerance=0.2 certify=yes precision=f64", 1e-5, 0.1,
         false, true},
        {"greedy of a wide kernel", "select=greedy tolerance=0.3 precision=f64", 1e-5, 0.001, false,
         false},
        /* rules that select again */
        {"rpcholesky", "select=rpcholesky landmarks=60 precision=f64", 1e-5, 0, false, true},
        {"greedy of a size", "select=greedy landmarks=40 precision=f64", 1e-5, 0, false, true},
        {"weighted", "select=weighted landmarks=60 precision=f64", 1e-5, 0, false, true},
        /* sparse rows */
        {"sparse, greedy", "select=greedy tolerance=0.2 precision=f64", 1e-5, 0.1, true, true},
        {"sparse, uniform", "select=uniform landmarks=60", 1e-3, 0, true, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_both(cases[i]);
}

/* The columns are about a mean that is no longer that of the rows, and of the rows and of their
 * negatives one has its columns turned round. */
TEST(exact_pca_adds_rows_to_its_sums)
{
    const struct update_case test = {
        "pca, exact", "map=pca approx=exact precision=f64", 1e-5, 0, false, false};

    for (turned = 1; turned >= -1; turned -= 2)
        check_both(test);
    turned = 1;
}

TEST(methods_of_all_rows_are_fitted_again)
{
    static const struct update_case cases[] = {
        {"randomized", "approx=randomized precision=f64 map=svd", 1e-5, 0, false, false},
        {"gaussian, laplacian", "approx=gaussian landmarks=20 precision=f64 map=laplacian", 1e-5, 0,
         false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct update_case test = cases[i];
        struct ny_report *report;
        const char *store = path_of("grown.nys");

        add_rows(&test, store, 0, FIRST);
        ny_report_free(fit_well(&test, store, NULL));
        add_rows(&test, store, FIRST, SECOND);
        report = fit_well(&test, store, "full");
        check_from_scratch(&test, store, report, SECOND);
        ny_report_free(report);
        add_rows(&test, store, SECOND, THIRD);
        assert_int_equal(fit(&test, store, "frozen", &report), NY_EUSAGE);
        case_remove(store);
    }
}

TEST(given_landmarks_stay)
{
    const char *path = path_of("given.csv");
    const char *options = lend_text("landmarks-file=%s precision=f64", path);
    struct update_case test = {"given", options, 1e-5, 0, false, false};

    write_numbers(path, 70, 37, 5);
    check_both(test);
}

AROUND_EACH(new_folder, remove_folder)
