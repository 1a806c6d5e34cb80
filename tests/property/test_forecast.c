/*
 * A sample of many rows foretells errors (api/forecast.h), which are compared with those of fits of
 * all rows with as many landmarks. Rows of landmarks are exact, and these are twice as large a part of the sample:
 * its errors are 6 % too small where that is not counted.
 */
#include "api/forecast.h"
#include "api/settings.h"
#include "property/made_up_rows.h"
#include "support/options.h"
#include "support/results.h"
#include "support/store_folder.h"

enum { N = 34000, D = 5 };

static void import(void)
{
    float *X = lend((size_t)N * D * sizeof(*X));

    for (size_t i = 0; i < (size_t)N * D; i++)
        X[i] = (float)uniform(i / D, i % D, 7);
    CHECK(ny_append_rows(ctx, path, X, N, D, NULL));
}

/* Returns the trace error of a fit of all rows. */
static double error_of_all(const char *words, size_t m)
{
    OWNED(ny_report) *report = NULL;

    must_fit(ctx, path, "x", &report, "landmarks=%zu %s", m, words);
    return number_of(report, "trace_error");
}

TEST(the_error_of_a_sample_is_that_of_all_rows)
{
    static const char words[] = "gamma=8 components=3 select=uniform restart=yes";
    OWNED(ny_options) *options = options_with(ctx, "trace-error=0.05 %s", words);
    struct ny_owned_settings settings = {0};
    struct ny_curve curve = {0};
    struct ny_store *store;
    struct ny_attempt last;
    double truth;

    import();
    CHECK(ny_store_open(&store, ctx, path));
    CHECK(ny_settings_new(&settings, store, options, NY_GROUP_FIT, NULL));
    ny_accuracy_take(&settings.fit, options);
    CHECK(ny_forecast(store, options, &settings.fit, &curve));
    ny_settings_release(&settings, ctx);
    ny_store_close(store);
    assert_true(curve.count > 1);
    last = curve.at[curve.count - 1];
    truth = error_of_all(words, (size_t)last.m);
    print_message("%g landmarks: %.4g, it is %.4g\n", last.m, last.error, truth);
    assert_true(last.m > 1000 && last.error <= 0.05);
    assert_true(last.error > 0.97 * truth && last.error < 1.04 * truth);
}

AROUND_EACH(make_folder, remove_folder)
