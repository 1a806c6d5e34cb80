/* The errors of components from what pass 2 has summed up for the check rows (fit/checks.h). */
#include <math.h>
#include <stdlib.h>

#include "base/peers.h"
#include "fit/checks.h"

/* r_s of pair k of all check rows: Aũ − λũ, with y in the place of ũ. */
static void residuals(const struct ny_checks *checks, enum ny_normalisation normalisation, size_t k,
                      double value, double *r)
{
    struct ny_check_places at = ny_check_places(checks);
    const double *sums = checks->sums, *v = sums + at.v;
    double n = v[checks->p], mean = ny_centred(normalisation) ? v[k] / n : 0;
    double sum_r = 0, rows = 0; /* estimates of Σ_i r_i, and of n */
    size_t R = checks->R, p = checks->p;

    for (size_t s = 0; s < R; s++) {
        const double *B = sums + s * (p + 1);
        double Kv = B[k] + checks->shift[s] * v[k] - mean * (B[p] + checks->shift[s] * n);
        double y = sums[at.Y + s * p + k] - mean;

        r[s] = sums[at.w + s] * Kv - value * y;
        sum_r += r[s] / checks->probability[s];
        rows += 1 / checks->probability[s];
    }
    for (size_t s = 0; s < R && ny_centred(normalisation); s++)
        r[s] -= sum_r / rows;
}

/* Sums over S of x_s = r_s² − z_s². */
struct squares {
    double total;    /* Σ x/π: an estimate of that of all rows */
    double variance; /* of it */
    double seen;     /* Σ r_s²: what that of all rows is at least */
};

/* Returns the variance of Σ x/π: that of the draw of N candidates out of n rows, and that of S out
 * of these (Deville's approximation for unequal probabilities, Hájek's weights 1 − π). */
static double variance_of(const struct ny_checks *checks, const double *x, double n)
{
    double N = (double)checks->candidates, R = (double)checks->R, sum = 0, squares = 0;
    double open = 0, mean = 0, spread = 0; /* of shares t = x/π, weighted by what may not be in S */

    for (size_t s = 0; s < checks->R; s++) {
        double among = checks->probability[s] * n / N; /* π of S out of the candidates */

        sum += x[s] / among / N;
        squares += x[s] * x[s] / among / N;
        open += 1 - among;
        mean += (1 - among) * x[s] / among;
    }
    mean = open > 0 ? mean / open : 0;
    for (size_t s = 0; s < checks->R; s++) {
        double among = checks->probability[s] * n / N, t = x[s] / among - mean;

        spread += (1 - among) * t * t;
    }
    return n * n / (N * N) * R / (R - 1) * spread +
           n * n / N * (1 - N / n) * fmax(squares - sum * sum, 0);
}

/* Returns them for pair k; `x` has room for R numbers. */
static struct squares squares_of(const struct ny_checks *checks, size_t k, double n,
                                 const double *r, double *x)
{
    struct ny_check_places at = ny_check_places(checks);
    struct squares squares = {0};

    for (size_t s = 0; s < checks->R; s++) {
        double y = checks->sums[at.Y + s * checks->p + k], square = r[s] * r[s];

        x[s] = square - ny_check_own_square(checks, checks->sums[at.a + s], y, k);
        squares.seen += square;
        squares.total += x[s] / checks->probability[s];
    }
    squares.variance = variance_of(checks, x, n);
    return squares;
}

/* Returns how many rows would have been drawn uniformly for a mean as certain as that over S. */
static double rows_worth(const struct ny_checks *checks)
{
    double sum = 0, squares = 0;

    for (size_t s = 0; s < checks->R; s++) {
        double weight = 1 / checks->probability[s];

        sum += weight;
        squares += weight * weight;
    }
    return sum * sum / squares;
}

/* Returns the error of pair k from its residuals; `x` has room for R numbers. */
static struct ny_pair_error error_of(const struct ny_checks *checks,
                                     enum ny_normalisation normalisation, size_t k, double value,
                                     const double *r, double *x)
{
    struct ny_check_places at = ny_check_places(checks);
    const double *v = checks->sums + at.v;
    double n = v[checks->p], worth = rows_worth(checks), mean = 0, product = 0, total;
    double norm = checks->sums[at.q + k]; /* ‖y‖² */
    struct squares squares = squares_of(checks, k, n, r, x);
    struct ny_pair_error error = {NAN, NAN, NAN};

    if (ny_centred(normalisation)) {
        mean = v[k] / n;
        norm -= n * mean * mean;
        squares.total *= worth / (worth - 1); /* the mean of r is theirs */
    }
    if (!(value > 0) || !(norm > 0) || checks->R < 2) return error;
    for (size_t s = 0; s < checks->R; s++)
        product += (checks->sums[at.Y + s * checks->p + k] - mean) * r[s] / checks->probability[s];
    total = fmax(checks->sums[at.e + k] + squares.total, squares.seen);
    error.rho = sqrt(total / norm) / value;
    error.se = error.rho > 0 ? sqrt(squares.variance) / (2 * error.rho * value * value * norm) : 0;
    error.value = value + product / norm;
    return error;
}

/* The error of a degree, and of how many rows it is an example. */
struct example {
    double error, rows;
};

static int by_error(const void *a, const void *b)
{
    double x = ((const struct example *)a)->error, y = ((const struct example *)b)->error;

    return (x > y) - (x < y);
}

/* Returns the error that this share of all rows has at most. */
static double quantile(const struct example *examples, size_t count, double share)
{
    double all = 0, sum = 0;
    size_t i = 0;

    for (size_t s = 0; s < count; s++)
        all += examples[s].rows;
    for (; i + 1 < count && sum + examples[i].rows <= share * all; i++)
        sum += examples[i].rows;
    return examples[i].error;
}

/* Reports how far the degrees of the fit are from those of K, Σ_i k(s, x_i), at most of the rows.
 */
static int report_degrees(const struct ny_checks *checks, struct ny_job *job)
{
    struct ny_check_places at = ny_check_places(checks);
    const double *sums = checks->sums;
    size_t p = checks->p, reached = 0;
    struct example *examples = ny_calloc(job->ctx, NY_MEM_SOLVE, checks->R, sizeof(*examples));

    if (!examples) return NY_EBUDGET;
    for (size_t s = 0; s < checks->R; s++) {
        double w = sums[at.w + s];
        double degree = sums[s * (p + 1) + p] + checks->shift[s] * sums[at.v + p];

        if (w > 0)
            examples[reached++] =
                (struct example){fabs(degree * w * w - 1), 1 / checks->probability[s]};
    }
    if (reached) {
        qsort(examples, reached, sizeof(*examples), by_error);
        job->state.report.degrees_error = quantile(examples, reached, 0.5);
        job->state.report.degrees_error_95 = quantile(examples, reached, 0.95);
    }
    ny_free(job->ctx, examples);
    return NY_OK;
}

int ny_checks_report(struct ny_checks *checks, struct ny_fit *fit)
{
    enum ny_normalisation normalisation = fit->settings->normalisation;
    double *r = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, checks->R + 1, 2 * sizeof(double));
    int err = r ? NY_OK : NY_EBUDGET;

    if (!err && checks->R)
        err = ny_peers_fold(ny_context_peers(fit->job.ctx), checks->sums,
                            ny_check_places(checks).summed);
    if (!err && checks->R) ny_job_begin_errors(&fit->job, checks->R);
    for (size_t k = 0; k < checks->p && checks->R && !err; k++) {
        double value = ny_job_eigenvalue(&fit->job, k);

        residuals(checks, normalisation, k, value, r);
        ny_job_add_error(&fit->job, error_of(checks, normalisation, k, value, r, r + checks->R));
    }
    if (!err && checks->R && ny_divided(normalisation)) err = report_degrees(checks, &fit->job);
    ny_free(fit->job.ctx, r);
    return err;
}
