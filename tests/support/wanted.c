#include "support/wanted.h"

#include "support/brute.h"
#include "support/test.h"

struct ny_problem wanted_problem(struct ny_context *ctx, enum ny_normalisation centring,
                                 size_t rank)
{
    return (struct ny_problem){.ctx = ctx,
                               .normalisation = centring,
                               .components = P,
                               .rank = rank,
                               .inner = NY_INNER_EXACT,
                               .randomized = {.oversample = 5, .power = 2, .seed = 1}};
}

/* K_ij/√(d_i d_j). */
static void divide(double *K, size_t n, const double *d)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            K[i * n + j] /= sqrt(d[i] * d[j]);
}

/* Normalises K entry by entry: translated by the first landmark x₁, k(x,y) − k(x,x₁) − k(x₁,y) +
 * k(x₁,x₁); or less its averages over D, k(x,y) − r(x) − r(y) + w̄; or divided by degrees over D,
 * d(x) = (n/m) Σ_D k(x,y). */
static double *normalised(const struct small *set, enum ny_normalisation centring, bool affine)
{
    size_t n = set->n, m = set->m;
    double *K = lend(n * n * sizeof(*K)), *r = lend_zeros(n * sizeof(*r)), grand = 0;

    if (centring == NY_CENTRED_LANDMARKS) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                r[i] += set->K[i * n + set->D[j]] / (double)m;
        for (size_t j = 0; j < m; j++)
            grand += r[set->D[j]] / (double)m;
    } else if (affine) {
        for (size_t i = 0; i < n; i++)
            r[i] = set->K[i * n + set->D[0]];
        grand = r[set->D[0]];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            K[i * n + j] = set->K[i * n + j] - r[i] - r[j] + grand;
    if (centring == NY_DIVIDED_LANDMARKS) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < m; j++)
                r[i] += set->K[i * n + set->D[j]] * (double)n / (double)m;
        divide(K, n, r);
    }
    return K;
}

/* max(m·2⁻⁵³‖W‖₂, with f32 tiles 2⁻²²‖HW‖₂) of W as it is, or both divided by degrees over D. */
static double cut_of(const struct small *set, bool divided, bool f32)
{
    size_t m = set->m;
    double *W = lend(m * m * sizeof(*W)), *HW = lend(m * m * sizeof(*HW)), cut;
    double *S = lend(m * m * sizeof(*S));
    double *values = lend(m * sizeof(*values)), *V = lend(m * m * sizeof(*V));

    for (size_t j = 0; j < m; j++) {
        double mean = 0;

        for (size_t i = 0; i < m; i++) {
            W[i * m + j] = set->K[set->D[i] * set->n + set->D[j]];
            mean += W[i * m + j] / (double)m;
        }
        for (size_t i = 0; i < m; i++)
            HW[i * m + j] = W[i * m + j] - mean;
    }
    for (size_t j = 0; j < m && divided; j++)
        for (size_t i = 0; i < m; i++) {
            double scale = sqrt(set->a[i] * set->a[j]) * (double)set->n; /* d_j = n a_j */

            W[i * m + j] /= scale;
            HW[i * m + j] /= scale;
        }
    brute_eigen(W, m, values, V);
    cut = (double)m * 0x1p-53 * fmax(values[0], -values[m - 1]);
    brute_multiply_t(HW, HW, S, m, m, m);
    brute_eigen(S, m, values, V);
    if (f32) cut = fmax(cut, 0x1p-22 * sqrt(values[0]));
    return cut;
}

struct wanted wanted_of(const struct small *set, enum ny_normalisation centring, bool affine,
                        size_t rank, bool f32)
{
    bool translated = affine && centring != NY_CENTRED_LANDMARKS;
    size_t n = set->n, first = translated ? 1 : 0, m = set->m - first;
    double *K = normalised(set, centring, affine), *B = lend(m * m * sizeof(*B)), *F;
    struct wanted w = {.m = m};

    w.C = lend(n * m * sizeof(double));
    w.W = lend(m * m * sizeof(double));
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++)
            w.C[i * m + j] = K[i * n + set->D[first + j]];
        for (size_t i = 0; i < m; i++)
            w.W[i * m + j] = K[set->D[first + i] * n + set->D[first + j]];
    }
    w.cut = cut_of(set, centring == NY_DIVIDED_LANDMARKS, f32);
    w.rank = brute_inverse_root(w.W, m, w.cut, rank, B);
    F = lend_zeros(n * (w.rank + 1) * sizeof(*F));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < w.rank; k++)
            for (size_t j = 0; j < m; j++)
                F[i * w.rank + k] += w.C[i * m + j] * B[k * m + j];
    w.K = lend_zeros(n * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < w.rank; k++)
                w.K[i * n + j] += F[i * w.rank + k] * F[j * w.rank + k];
    if (centring == NY_DIVIDED_IMPLICIT) { /* by the degrees of K̃ */
        double *d = lend_zeros(n * sizeof(*d));

        for (size_t i = 0; i < n * n; i++)
            d[i / n] += w.K[i];
        divide(K, n, d);
        divide(w.K, n, d);
    }
    w.trace = brute_trace(K, n);
    if (centring == NY_CENTRED_IMPLICIT) { /* K̃ loses its mean, and K as much as K̃ does */
        w.trace -= brute_trace(w.K, n);
        brute_centre(w.K, n);
        w.trace += brute_trace(w.K, n);
    }
    w.trace_approx = brute_trace(w.K, n);
    if (centring == NY_CENTRED_IMPLICIT) brute_centre(K, n);
    w.error = 0;
    for (size_t i = 0; i < n * n; i++)
        w.error += pow(K[i] - w.K[i], 2);
    w.error = sqrt(w.error);
    w.values = lend(n * sizeof(double));
    w.V = lend(n * n * sizeof(double));
    brute_eigen(w.K, n, w.values, w.V);
    return w;
}

double sign_of(const struct small *set, const double *u, size_t stride)
{
    double largest = 0;

    for (size_t j = 0; j < set->m; j++)
        largest = fmax(largest, fabs(u[set->D[j] * stride]));
    for (size_t j = 0; j < set->m; j++)
        if (fabs(u[set->D[j] * stride]) >= (1 - 1e-6) * largest)
            return u[set->D[j] * stride] < 0 ? -1 : 1;
    return 1;
}

void check_column(const struct small *set, const double *U, size_t k, const double *u,
                         double tolerance)
{
    double sign = sign_of(set, u, 1), error = 0;

    for (size_t i = 0; i < set->n; i++)
        error += pow(U[i * P + k] - sign * u[i], 2);
    if (!(sqrt(error) <= tolerance)) fail_msg("column %zu: %g > %g", k, sqrt(error), tolerance);
}

/* The noise that the Gram's relative error may leave in eigenvector k, relative to the first. */
static double noise_of(const struct wanted *w, size_t k)
{
    return sqrt(w->values[0] / w->values[k]);
}

void check_orthonormal(const struct wanted *w, const double *U, size_t n, size_t count,
                              double tolerance)
{
    double UU[P * P];

    brute_multiply_t(U, U, UU, n, P, P);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            if (i < count && j < count)
                assert_near(UU[i * P + j], i == j, tolerance * noise_of(w, i) * noise_of(w, j));
            else
                assert_near(UU[i * P + j], 0, 0);
}

void check_pairs(const struct small *set, const struct wanted *w, const double *values,
                        const double *U, size_t count, double tolerance)
{
    size_t n = set->n;
    double *KU = lend(n * P * sizeof(*KU)), scale = w->values[0];

    brute_multiply(w->K, U, KU, n, n, P);
    for (size_t k = 0; k < P; k++) {
        double gap, residual = 0, allowed = tolerance * scale * noise_of(w, k);

        assert_near(values[k], k < count ? w->values[k] : 0, k < count ? tolerance * scale : 0);
        if (k >= count) continue;
        for (size_t i = 0; i < n; i++)
            residual += pow(KU[i * P + k] - values[k] * U[i * P + k], 2);
        assert_true(sqrt(residual) <= allowed);
        gap = w->values[k] - w->values[k + 1];
        if (k > 0) gap = fmin(gap, w->values[k - 1] - w->values[k]);
        if (gap > 0.01 * w->values[k]) check_column(set, U, k, w->V + k * n, 4 * allowed / gap);
        assert_true(sign_of(set, U + k, P) > 0);
    }
}

void check_trace(const struct wanted *w, const struct ny_solution *solution,
                        enum ny_normalisation centring, double tolerance)
{
    assert_near(solution->trace, w->trace, tolerance * w->trace);
    assert_near(solution->trace_approx, w->trace_approx, tolerance * w->trace);
    assert_true(w->error <= solution->trace - solution->trace_approx + tolerance * w->trace);
    assert_string_equal(solution->trace_of, centring == NY_RAW       ? "raw"
                                            : ny_divided(centring) ? "normalised"
                                                                   : "centred");
}
