/* The errors of components from sums over check rows (fit/check_errors.c) that are made up. */

#include "support/context.h"

#include "fit/checks.h"
#include "records/record.h"

enum { R = 4, N = 100 };

static const double value = 2, norm = 400, y[R] = {1, -2, 0.5, 1.5}, w[R] = {1, 0.5, 0.25, 2};
static const double r[R] = {0.1, -0.3, 0.2, 0.15}, degree[R] = {1.1, 3.2, 16, 0.35};

/* Returns the report on R rows that were drawn alike, of a pair with the residuals r. */
static json_t *report_of(enum ny_normalisation normalisation)
{
    double probability[R], shift[R] = {0}, values[] = {value}, *sums;
    struct ny_checks checks = {.R = R,
                               .p = 1,
                               .candidates = N,
                               .probability = probability,
                               .shift = shift,
                               .values = values};
    struct ny_check_places at = ny_check_places(&checks);
    const struct ny_fit_settings settings = {.normalisation = normalisation};
    OWNED(json_t) *record = json_pack("{s:{s:[f]}}", "report", "eigenvalues", value);
    struct ny_fit fit = {.job = {.ctx = ctx,
                                 .record = ny_record_of(record),
                                 .state = ny_state_of(ny_record_of(record))},
                         .settings = &settings};

    checks.sums = sums = lend_zeros(at.count * sizeof(*sums));
    sums[at.v + 1] = N;
    sums[at.q] = norm;
    for (size_t s = 0; s < R; s++) {
        probability[s] = (double)R / N;
        sums[2 * s] = (r[s] + value * y[s]) / w[s];
        sums[2 * s + 1] = degree[s];
        sums[at.Y + s] = y[s];
        sums[at.w + s] = w[s];
        sums[at.a + s] = 1;
    }
    CHECK(ny_checks_report(&checks, &fit));
    fit.job.record.ops->put(fit.job.record, &fit.job.state);
    return json_incref(json_object_get(record, "report"));
}

static double number_of(const json_t *report, const char *key)
{
    const json_t *number = json_object_get(report, key);

    return json_number_value(json_is_array(number) ? json_array_get(number, 0) : number);
}

/* A sample of R out of N without replacement has the variance N(N − R)/R of its squares. */
TEST(errors_are_those_of_a_random_sample)
{
    OWNED(json_t) *report = report_of(NY_RAW);
    double total = 0, mean = 0, variance = 0, product = 0, rho;

    for (int s = 0; s < R; s++) {
        total += r[s] * r[s] * N / R;
        mean += r[s] * r[s] / R;
        product += y[s] * r[s] * N / R;
    }
    for (int s = 0; s < R; s++)
        variance += pow(r[s] * r[s] - mean, 2) / (R - 1);
    rho = sqrt(total / norm) / value;
    variance *= (double)N * (N - R) / R;
    assert_near(number_of(report, "component_errors"), rho, 1e-14);
    assert_near(number_of(report, "component_errors_se"),
                sqrt(variance) / (2 * rho * value * value * norm), 1e-14);
    assert_near(number_of(report, "eigenvalues_corrected"), value + product / norm, 1e-14);
    assert_null(json_object_get(report, "degrees_error"));
}

/* A row of weight w has the degree 1/w² in the fit; half of the rows are off by 0.2 at most. */
TEST(degrees_are_compared_with_those_of_the_fit)
{
    OWNED(json_t) *report = report_of(NY_DIVIDED_IMPLICIT);

    assert_near(number_of(report, "degrees_error"), 0.2, 1e-14);
    assert_near(number_of(report, "degrees_error_95"), 0.4, 1e-14);
}

AROUND_ALL(start, stop)
