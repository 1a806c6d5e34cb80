/* spectral/exact.c against Jacobi on K, and every other method against it. */
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/wanted.h"

OWNS(ny_solution, ny_solution_release(at, ctx))

enum { N = 60, D = 3 };

static const struct ny_method *const methods[] = {
    &ny_method_nystrom,   &ny_method_column,   &ny_method_orthonystrom,
    &ny_method_projected, &ny_method_ensemble, &ny_method_exact};
enum { METHODS = 6 };

/* Every row a landmark, in order. */
static struct small all_rows(enum small_kernel kernel)
{
    struct small set = small_of(kernel, N, D, N);

    memset(set.a, 0, sizeof(set.a));
    for (size_t j = 0; j < N; j++) {
        set.D[j] = j;
        for (size_t i = 0; i < N; i++)
            set.a[j] += set.K[i * N + j] / N;
    }
    return set;
}

/* K normalised by its true averages. */
static double *normalised(const struct small *set, enum ny_normalisation normalisation)
{
    double *K = lend(N * N * sizeof(*K)), d[N] = {0};

    memcpy(K, set->K, N * N * sizeof(*K));
    if (normalisation == NY_CENTRED_LANDMARKS || normalisation == NY_CENTRED_IMPLICIT)
        brute_centre(K, N);
    for (size_t i = 0; i < N * N; i++)
        d[i / N] += K[i];
    for (size_t i = 0; i < N * N && ny_divided(normalisation); i++)
        K[i] /= sqrt(d[i / N] * d[i % N]);
    return K;
}

static const char *trace_of(enum ny_normalisation normalisation)
{
    if (ny_divided(normalisation)) return "normalised";
    return normalisation == NY_RAW ? "raw" : "centred";
}

static void check_exact(const struct small *set, enum small_tiles tiles,
                        enum ny_normalisation normalisation)
{
    struct ny_problem problem = {.ctx = ctx, .normalisation = normalisation, .components = P};
    double values[N], *V = lend(N * N * sizeof(*V)), *K = normalised(set, normalisation);
    double U[N * P], trace = brute_trace(K, N), kept = 0;
    struct ny_solution solution;

    brute_eigen(K, N, values, V);
    assert_int_equal(small_solve(set, &ny_method_exact, tiles, &problem, &solution, U), NY_OK);
    for (size_t k = 0; k < P; k++) {
        double gap = values[k] - values[k + 1];

        if (k > 0) gap = fmin(gap, values[k - 1] - values[k]);
        if (k >= solution.rank_effective) {
            assert_true(values[k] < 1e-6 * values[0]);
            continue;
        }
        kept += values[k];
        assert_near(solution.values[k], values[k], 1e-12 * values[0]);
        if (gap > 1e-6 * values[0])
            check_column(set, U, k, V + k * N, 1e-12 * values[0] / gap * values[0] / values[k]);
        assert_true(sign_of(set, U + k, P) > 0);
    }
    assert_near(solution.trace, trace, 1e-12 * trace);
    assert_near(solution.trace_approx, kept, 1e-6 * trace);
    assert_string_equal(solution.trace_of, trace_of(normalisation));
    ny_solution_release(&solution, ctx);
}

TEST(eigenpairs_of_k)
{
    static const enum ny_normalisation normalisations[] = {NY_RAW, NY_CENTRED_LANDMARKS,
                                                           NY_DIVIDED_LANDMARKS};

    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = all_rows((enum small_kernel)kernel);

        for (size_t c = 0; c < 3; c++) {
            check_exact(&set, SMALL_F64, normalisations[c]);
            check_exact(&set, SMALL_F32, normalisations[c]);
        }
    }
}

/* At full rank no pair is left out, so that there is no error. */
TEST(no_error_at_full_rank)
{
    struct ny_problem problem = {.ctx = ctx, .normalisation = NY_RAW, .components = N};
    double *U = lend(N * N * sizeof(*U));
    OWNED(ny_solution) solution;
    struct small set = all_rows(SMALL_NARROW);

    assert_int_equal(small_solve(&set, &ny_method_exact, SMALL_F64, &problem, &solution, U), NY_OK);
    assert_int_equal(solution.rank_effective, N);
    assert_near(solution.trace - solution.trace_approx, 0, 1e-13 * solution.trace);
}

/* With every row a landmark there is nothing to approximate. */
TEST(every_method_is_exact_over_all_rows)
{
    static const enum ny_normalisation normalisations[] = {NY_RAW, NY_CENTRED_LANDMARKS,
                                                           NY_CENTRED_IMPLICIT};
    struct small set = all_rows(SMALL_NARROW);

    for (size_t c = 0; c < 3; c++) {
        double values[N], *V = lend(N * N * sizeof(*V)), *K = normalised(&set, normalisations[c]);

        brute_eigen(K, N, values, V);
        for (size_t i = 0; i < METHODS; i++) {
            struct ny_problem problem = {.ctx = ctx,
                                         .normalisation = normalisations[c],
                                         .components = P,
                                         .inner = NY_INNER_EXACT,
                                         .experts = 1};
            struct ny_solution solution;
            double U[N * P];

            if (normalisations[c] == NY_CENTRED_IMPLICIT && !methods[i]->implicit) continue;
            CHECK(small_solve(&set, methods[i], SMALL_F64, &problem, &solution, U));
            for (size_t k = 0; k < P; k++) {
                assert_near(solution.values[k], values[k], 1e-8 * values[0]);
                check_column(&set, U, k, V + k * N, 1e-6);
            }
            ny_solution_release(&solution, ctx);
        }
    }
}

/* ‖K − ÛΛ̂Ûᵀ‖_F */
static double error_of(const double *K, const double *U, const double *values)
{
    double error = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double entry = K[i * N + j];

            for (size_t k = 0; k < P; k++)
                entry -= U[i * P + k] * values[k] * U[j * P + k];
            error += entry * entry;
        }
    return sqrt(error);
}

/* No error is below the best of rank P, which exact has; with most rows as landmarks none is far
 * above. */
TEST(errors_against_exact)
{
    static const size_t sizes[] = {20, 50};
    double errors[2][METHODS], best = 0;

    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < METHODS; i++) {
            struct ny_problem problem = {.ctx = ctx,
                                         .normalisation = NY_RAW,
                                         .components = P,
                                         .inner = NY_INNER_EXACT,
                                         .experts = 2};
            OWNED(ny_solution) solution;
            struct small set = small_of(SMALL_RBF, N, D, sizes[s]);
            double U[N * P];

            if (methods[i]->all_rows) {
                set = all_rows(SMALL_RBF);
            }
            CHECK(small_solve(&set, methods[i], SMALL_F64, &problem, &solution, U));
            errors[s][i] = error_of(set.K, U, solution.values);
            if (methods[i]->all_rows) {
                double values[N], *V = lend(N * N * sizeof(*V)), rest = 0;

                brute_eigen(set.K, N, values, V);
                for (size_t k = P; k < N; k++)
                    rest += values[k] * values[k];
                best = sqrt(rest);
                assert_near(errors[s][i], best, 1e-10 * values[0]);
            }
        }
    for (size_t i = 0; i < METHODS; i++) {
        assert_true(errors[0][i] >= best * (1 - 1e-9));
        assert_true(errors[1][i] >= best * (1 - 1e-9));
        assert_true(errors[1][i] <= 1.5 * best);
        assert_true(errors[1][i] <= errors[0][i] + 1e-9 * best);
    }
}

AROUND_ALL(start, stop)
