/* place/spread.h: how far new rows spread beside those of an exact fit, and from where on it is
 * told. */
#include "support/context.h"

#include <math.h>

#include "place/spread.h"

enum { MOST = 100, COMPONENTS = 2 };

static double factors[3] = {2, 2, 2};
static struct ny_geometry geometry = {.d = 3, .factor = factors};

/* Returns the drift of rows of three columns by a model of two components, whose third column is
 * what these leave out. The mean squares of the fit are 4, 1 and `left`; it had so many rows. */
static struct ny_drift drift_of(double rows[][3], size_t count, double left, double fitted)
{
    double spread[] = {4, 1}, diagonal[MOST], y[MOST][COMPONENTS], sums[NY_SUMS] = {0};
    struct ny_model model = {
        .precision = NY_PRECISION_F64, .d = 3, .p = COMPONENTS, .fitted = {.distance = 5 + left}};
    struct ny_projector projector = {
        .model = &model, .width = COMPONENTS, .Y64 = y[0], .diagonal = diagonal, .sums = sums};
    struct ny_tile tile = {.rows = count};
    struct ny_spread summed;

    model.spec.geometry = &geometry;
    model.fitted.spread = spread;
    model.fitted.rows = fitted;
    model.fitted.left = left / (5 + left);
    for (size_t i = 0; i < count; i++) {
        double *row = rows[i];

        y[i][0] = row[0];
        y[i][1] = row[1];
        sums[NY_SUM_SQUARES] += row[0] * row[0] + row[1] * row[1];
        diagonal[i] = row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    ny_spread_begin(&summed, &model);
    ny_spread_take(&summed, &projector, &tile);
    return ny_spread_drift(&summed);
}

/* Makes rows whose mean squares are these times 4, 1 and 0.01, with some variation. */
static void make_rows(double rows[][3], size_t count, double first, double second, double third)
{
    for (size_t i = 0; i < count; i++) {
        double by = i % 2 ? 1.2 : sqrt(2 - 1.44);

        rows[i][0] = by * sqrt(4 * first);
        rows[i][1] = by * sqrt(second);
        rows[i][2] = by * sqrt(0.01 * third);
    }
}

static void test_rows_like_those_of_the_fit_are_not_wide(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 1, 1, 1);
    drift = drift_of(rows, MOST, 0.01, 1e6);
    assert_true(fabs(drift.ratio - 1) < 1e-3 && drift.ratio_error > 0.01);
    assert_true(fabs(drift.distance - 1) < 1e-9 && fabs(drift.share - drift.fitted) < 1e-9);
    assert_false(ny_drift_is_wide(&drift));
}

static void test_rows_that_spread_beside_the_components_are_told(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 1, 1, 5);
    drift = drift_of(rows, MOST, 0.01, 1e6);
    assert_true(drift.beside && fabs(drift.ratio - 5) < 1e-3);
    assert_true(drift.distance < 1.01); /* their lengths are as before */
    assert_true(ny_drift_is_wide(&drift));
    drift = drift_of(rows, MOST, 0, 1e6); /* nothing is left out of the rows of the fit */
    assert_true(drift.beside && ny_drift_is_wide(&drift));
    make_rows(rows, MOST, 1, 1, 1e-3); /* rounding, beside that */
    drift = drift_of(rows, MOST, 0, 1e6);
    assert_false(ny_drift_is_wide(&drift));
}

static void test_rows_that_spread_along_the_components_are_told(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 0.25, 9, 1); /* the two have changed places */
    drift = drift_of(rows, MOST, 0.01, 1e6);
    assert_true(!drift.beside && fabs(drift.ratio - 9.25 / 2) < 1e-3);
    assert_true(ny_drift_is_wide(&drift));
    make_rows(rows, MOST, 0.25, 9, 0);
    drift = drift_of(rows, MOST, 0, 1e6);
    assert_true(!drift.beside && ny_drift_is_wide(&drift));
}

static void test_one_row_alone_is_not_wide(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 1, 1, 1);
    rows[7][2] = 1e3;
    drift = drift_of(rows, MOST, 0.01, 1e6);
    assert_true(drift.share > 0.9 && drift.ratio > 0);
    assert_false(ny_drift_is_wide(&drift));
}

static void test_few_rows_tell_nothing(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 9, 9, 9);
    drift = drift_of(rows, 16, 0.01, 1e6);
    assert_true(isnan(drift.ratio) && isnan(drift.ratio_error) && drift.share > 0);
    assert_false(ny_drift_is_wide(&drift));
    drift = drift_of(rows, 17, 0.01, 1e6);
    assert_true(ny_drift_is_wide(&drift));
}

/* New rows spread more than those that the components were fitted to: 11/(11 − 2 − 1), and the
 * square of it. */
static void test_a_fit_of_few_rows_expects_more(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 8, 8, 0);
    drift = drift_of(rows, MOST, 0, 11);
    assert_true(!drift.beside && fabs(drift.ratio - 8 / (11.0 / 8)) < 1e-6);
    make_rows(rows, MOST, 1, 1, 8);
    drift = drift_of(rows, MOST, 0.01, 11);
    assert_true(drift.beside && fabs(drift.ratio - 8 / (11.0 / 8 * 11 / 8)) < 1e-6);
    drift = drift_of(rows, MOST, 0.01, 3);
    assert_true(isnan(drift.ratio));
}

/* A column with one value among few rows of a fit gets a large factor, by which others are far. */
static void test_few_rows_of_scaled_columns_tell_nothing(void **state)
{
    double rows[MOST][3];
    struct ny_drift drift;

    (void)state;
    make_rows(rows, MOST, 9, 9, 9);
    factors[1] = 0; /* it is not chosen */
    drift = drift_of(rows, MOST, 0.01, 999);
    assert_true(ny_drift_is_wide(&drift));
    factors[1] = 100;
    drift = drift_of(rows, MOST, 0.01, 999);
    assert_false(ny_drift_is_wide(&drift));
    drift = drift_of(rows, MOST, 0.01, 1000);
    assert_true(ny_drift_is_wide(&drift));
    factors[1] = factors[0];
}

/* A component that no row of the fit has a value in counts as left out. */
static void test_components_without_variance_do_not_count(void **state)
{
    double spread[] = {4, 0};
    struct ny_model model = {
        .spec.geometry = &geometry, .p = 2, .fitted = {.distance = 4.01, .spread = spread}};
    struct ny_spread summed;

    (void)state;
    ny_spread_begin(&summed, &model);
    assert_int_equal(summed.counted, 1);
    assert_true(fabs(summed.left - 0.01) < 1e-9);
    spread[0] = 0;
    ny_spread_begin(&summed, &model);
    assert_int_equal(summed.counted, 0);
    model.fitted.spread = NULL; /* the result does not say */
    ny_spread_begin(&summed, &model);
    assert_int_equal(summed.counted, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_like_those_of_the_fit_are_not_wide),
        cmocka_unit_test(test_rows_that_spread_beside_the_components_are_told),
        cmocka_unit_test(test_rows_that_spread_along_the_components_are_told),
        cmocka_unit_test(test_one_row_alone_is_not_wide),
        cmocka_unit_test(test_few_rows_tell_nothing),
        cmocka_unit_test(test_a_fit_of_few_rows_expects_more),
        cmocka_unit_test(test_few_rows_of_scaled_columns_tell_nothing),
        cmocka_unit_test(test_components_without_variance_do_not_count),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
