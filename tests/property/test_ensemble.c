/* spectral/ensemble*.c: K̃ = Σ μ_r K̃_r by plain loops, its weights, and its eigenpairs by Jacobi. */
#include "spectral/ensemble.h"
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/wanted.h"

enum { N = 70, D = 4, M = 12, S = 20, EXPERTS_MAX = 6 };

static const double tolerances[SMALL_TILES] = {1e-5, 1e-6, 1e-9};
static const enum ny_normalisation normalisations[] = {
    NY_RAW, NY_CENTRED_LANDMARKS, NY_CENTRED_IMPLICIT, NY_DIVIDED_LANDMARKS, NY_DIVIDED_IMPLICIT};
enum { NORMALISATIONS = 5 };
/* An ensemble by brute force: experts are slices of the first m landmarks. */
struct experts {
    const struct small *set;
    const struct wanted *w; /* its C and W */
    enum ny_normalisation normalisation;
    size_t count, m, rank;
    enum ny_weights weights;
    double *K[EXPERTS_MAX]; /* n × n: K̃_r */
    double weight[EXPERTS_MAX];
    double error[EXPERTS_MAX]; /* ‖K_S − K̃_r,S‖_F on the first set of samples */
};

/* K̃_r = C_r W_r⁺ C_rᵀ of the normalised kernel. */
static void make_experts(struct experts *e)
{
    const struct wanted *w = e->w;

    for (size_t r = 0; r < e->count; r++) {
        size_t first = r * e->m / e->count, m = (r + 1) * e->m / e->count - first, rank;
        double W[M * M], B[M * M], *F = lend_zeros(N * M * sizeof(*F));

        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++)
                W[i * m + j] = w->W[(first + i) * w->m + first + j];
        rank = brute_inverse_root(W, m, w->cut, e->rank, B);
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < rank; k++)
                for (size_t j = 0; j < m; j++)
                    F[i * M + k] += w->C[i * w->m + first + j] * B[k * m + j];
        e->K[r] = lend_zeros(N * N * sizeof(double));
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                for (size_t k = 0; k < rank; k++)
                    e->K[r][i * N + j] += F[i * M + k] * F[j * M + k];
    }
}

/* ⟨X_S, Y_S⟩ over the samples from `first` on, columns less their means with implicit averages.
 * X_S = K_S where r is the number of experts, else K̃_r,S. */
static double inner_product(const struct experts *e, size_t first, size_t q, size_t r)
{
    const struct small *set = e->set;
    const struct wanted *w = e->w;
    double sum = 0;

    for (size_t s = first; s < first + S; s++) {
        double mean_x = 0, mean_y = 0, dot = 0;

        for (size_t i = 0; i < N; i++) {
            double x = q < e->count ? e->K[q][i * N + set->D[s]] : w->C[i * w->m + s];
            double y = r < e->count ? e->K[r][i * N + set->D[s]] : w->C[i * w->m + s];

            mean_x += x / N;
            mean_y += y / N;
            dot += x * y;
        }
        sum += dot - (e->normalisation == NY_CENTRED_IMPLICIT ? N * mean_x * mean_y : 0);
    }
    return sum;
}

/* ‖K_S − Σ μ_r K̃_r,S‖_F² of one set of samples. */
struct form {
    double A[EXPERTS_MAX * EXPERTS_MAX], b[EXPERTS_MAX], norm;
};

static double error_of(const struct experts *e, const struct form *form, const double *weight)
{
    double error = form->norm;

    for (size_t q = 0; q < e->count; q++) {
        error -= 2 * weight[q] * form->b[q];
        for (size_t r = 0; r < e->count; r++)
            error += weight[q] * form->A[q * e->count + r] * weight[r];
    }
    return error;
}

static void make_form(struct form *form, const struct experts *e, size_t first)
{
    form->norm = inner_product(e, first, e->count, e->count);
    for (size_t q = 0; q < e->count; q++) {
        form->b[q] = inner_product(e, first, q, e->count);
        for (size_t r = 0; r < e->count; r++)
            form->A[q * e->count + r] = inner_product(e, first, q, r);
    }
}

/* (A + λI)⁻¹b through the eigenpairs of A. */
static void regress(const struct experts *e, const struct form *form, double ridge, double *weight)
{
    double values[EXPERTS_MAX], V[EXPERTS_MAX * EXPERTS_MAX];

    brute_eigen(form->A, e->count, values, V);
    memset(weight, 0, e->count * sizeof(*weight));
    for (size_t k = 0; k < e->count; k++) {
        double dot = 0;

        for (size_t r = 0; r < e->count; r++)
            dot += V[k * e->count + r] * form->b[r];
        for (size_t r = 0; r < e->count; r++)
            weight[r] += V[k * e->count + r] * dot / (values[k] + ridge);
    }
}

static void make_weights(struct experts *e)
{
    struct form fit, choice;
    double least = INFINITY, sum = 0, mean = 0, best = INFINITY, weight[EXPERTS_MAX];

    for (size_t r = 0; r < e->count; r++)
        e->weight[r] = 1 / (double)e->count;
    if (e->weights == NY_WEIGHTS_UNIFORM) return;
    make_form(&fit, e, e->m);
    for (size_t r = 0; r < e->count; r++) {
        double one[EXPERTS_MAX] = {0};

        one[r] = 1;
        e->error[r] = sqrt(error_of(e, &fit, one));
        least = fmin(least, e->error[r]);
        mean += fit.A[r * e->count + r] / (double)e->count;
    }
    for (size_t r = 0; r < e->count; r++)
        sum += exp(-e->error[r] / least);
    for (size_t r = 0; r < e->count; r++)
        e->weight[r] = exp(-e->error[r] / least) / sum;
    if (e->weights == NY_WEIGHTS_EXPONENTIAL) return;
    make_form(&choice, e, e->m + S);
    for (int power = -8; power <= 0; power++) {
        regress(e, &fit, mean * pow(10, power), weight);
        if (error_of(e, &choice, weight) >= best) continue;
        best = error_of(e, &choice, weight);
        memcpy(e->weight, weight, sizeof(weight));
    }
    /* better than the experts are on average */
    assert_true(error_of(e, &fit, e->weight) <= fit.norm);
    mean = 0;
    for (size_t r = 0; r < e->count; r++)
        mean += e->error[r] / (double)e->count;
    assert_true(sqrt(fmax(error_of(e, &fit, e->weight), 0)) <= mean);
}

/* Sets w to the result wanted of Σ μ_r K̃_r, with implicit averages taken. */
static void sum_up(struct wanted *w, const struct experts *e)
{
    double degree[N] = {0};

    memset(w->K, 0, N * N * sizeof(double));
    for (size_t r = 0; r < e->count; r++)
        for (size_t i = 0; i < N * N; i++)
            w->K[i] += e->weight[r] * e->K[r][i];
    if (e->normalisation == NY_CENTRED_IMPLICIT) brute_centre(w->K, N);
    for (size_t i = 0; i < N * N; i++)
        degree[i / N] += w->K[i];
    for (size_t i = 0; i < N * N && e->normalisation == NY_DIVIDED_IMPLICIT; i++)
        w->K[i] /= sqrt(degree[i / N] * degree[i % N]);
    brute_eigen(w->K, N, w->values, w->V);
}

/* Returns how many eigenvalues of K̃ are negative. */
static size_t check(const struct small *set, enum small_tiles tiles,
                    enum ny_normalisation normalisation, struct experts e)
{
    struct ny_problem problem = {.ctx = ctx,
                                 .normalisation = normalisation,
                                 .components = P,
                                 .rank = e.rank,
                                 .experts = e.count,
                                 .weights = e.weights};
    double U[N * P], tolerance = tolerances[tiles];
    struct ny_solution solution;
    struct wanted w = wanted_of(set, normalisation, false, set->m, tiles != SMALL_F64);
    size_t count = 0, negative = 0;

    e.m = set->m - S * (size_t)e.weights;
    if (!e.rank) e.rank = M;
    e.set = set;
    e.w = &w;
    e.normalisation = normalisation;
    make_experts(&e);
    make_weights(&e);
    sum_up(&w, &e);
    assert_int_equal(small_solve(set, &ny_method_ensemble, tiles, &problem, &solution, U), NY_OK);
    while (count < P && w.values[count] > 1e-8 * w.values[0])
        count++;
    for (size_t k = 0; k < N; k++)
        negative += w.values[k] < -1e-9 * w.values[0];
    if (e.weights == NY_WEIGHTS_RIDGE) tolerance *= 100; /* of A in the regression */
    for (size_t k = count; k < P; k++) { /* rounding, or nearly */
        assert_true(solution.values[k] <= 1e-7 * w.values[0]);
        solution.values[k] = 0;
        for (size_t i = 0; i < N; i++)
            U[i * P + k] = 0;
    }
    check_pairs(set, &w, solution.values, U, count, tolerance);
    check_orthonormal(&w, U, N, count, tolerance);
    assert_int_equal(solution.negative, negative);
    assert_int_equal(solution.negative_weights, negative > 0);
    assert_true(isnan(solution.trace) && isnan(solution.trace_approx)); /* K̃ need not be below K */
    assert_false(solution.inaccurate);
    ny_solution_release(&solution, ctx);
    return negative;
}

/* Slices of one landmark up to all; ranks below and of the whole slice. */
TEST(uniform_weights)
{
    static const size_t counts[] = {1, 3, 5};

    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = small_of((enum small_kernel)kernel, N, D, M);

        for (size_t c = 0; c < NORMALISATIONS; c++)
            for (size_t k = 0; k < 3; k++)
                for (size_t rank = 0; rank < 3; rank += 2) {
                    struct experts e = {.count = counts[k], .rank = rank};

                    if (rank * counts[k] < P && rank) continue;
                    /* skips degrees of values of either sign, or of K̃ where it is far from K */
                    if (ny_divided(normalisations[c]) && kernel != SMALL_RBF &&
                        kernel != SMALL_WIDE && kernel != SMALL_DUPLICATES)
                        continue;
                    check(&set, SMALL_F64, normalisations[c], e);
                    check(&set, SMALL_F32_GRAM64, normalisations[c], e);
                }
    }
}

TEST(fitted_weights)
{
    static const enum small_kernel kernels[] = {SMALL_RBF, SMALL_NARROW, SMALL_POLYNOMIAL};

    for (size_t k = 0; k < 3; k++)
        for (size_t c = 0; c < NORMALISATIONS - 1; c++)
            for (int weights = NY_WEIGHTS_EXPONENTIAL; weights <= NY_WEIGHTS_RIDGE; weights++) {
                struct experts e = {.count = 4, .weights = (enum ny_weights)weights};
                struct small set = small_of(kernels[k], N, D, M + S * (size_t)weights);

                check(&set, SMALL_F64, normalisations[c], e);
                check(&set, SMALL_F32_GRAM64, normalisations[c], e);
            }
}

/* Three groups of rows; experts that see the first and second group, the second and third, and the
 * second alone, so that K is the first two less the third. */
TEST(a_negative_weight)
{
    static const size_t landmarks[M] = {0, 3, 1, 4, 7, 10, 2, 5, 13, 16, 19, 22};
    struct experts e = {.count = 3, .weights = NY_WEIGHTS_RIDGE};
    size_t negative = 0;
    struct small set = small_of(SMALL_RBF, N, D, M + 2 * S);

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            set.K[i * N + j] = 0.2 * set.K[i * N + j] + (i % 3 == j % 3);
    for (size_t j = 0; j < set.m; j++)
        set.D[j] = j < M ? landmarks[j] : 15 + j;
    for (size_t j = 0; j < set.m; j++) {
        set.a[j] = 0;
        for (size_t i = 0; i < set.m; i++)
            set.a[j] += set.K[set.D[i] * N + set.D[j]] / (double)set.m;
    }
    for (size_t c = 0; c < 3; c++)
        negative += check(&set, SMALL_F64, normalisations[c], e);
    assert_true(negative > 0);
}

/* ⌈m / max(rank, 100)⌉ of them, with contiguous slices of all but the samples. */
TEST(how_many_experts)
{
    static const struct {
        size_t m, rank, wanted;
        enum ny_weights weights;
        size_t experts, columns, width, rank_of;
    } cases[] = {
        {1000, 0, 0, NY_WEIGHTS_UNIFORM, 10, 1000, 100, 100},
        {1000, 50, 0, NY_WEIGHTS_UNIFORM, 10, 1000, 100, 50},
        {1000, 300, 0, NY_WEIGHTS_UNIFORM, 4, 1000, 250, 250},
        {1001, 0, 0, NY_WEIGHTS_UNIFORM, 11, 1001, 91, 91},
        {1000, 0, 7, NY_WEIGHTS_EXPONENTIAL, 7, 980, 140, 140},
        {1000, 5, 0, NY_WEIGHTS_RIDGE, 10, 960, 96, 5},
        {30, 0, 99, NY_WEIGHTS_UNIFORM, 30, 30, 1, 1},
        {40, 0, 0, NY_WEIGHTS_RIDGE, 0, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ny_problem problem = {.m = cases[i].m,
                                     .rank = cases[i].rank,
                                     .experts = cases[i].wanted,
                                     .weights = cases[i].weights};
        struct ny_ensemble ensemble = ny_ensemble_shape(&problem);

        assert_int_equal(ensemble.experts, cases[i].experts);
        assert_int_equal(ensemble.columns, cases[i].columns);
        assert_int_equal(ensemble.width, cases[i].width);
        assert_int_equal(ensemble.rank, cases[i].rank_of);
        for (size_t r = 0; r < ensemble.experts; r++)
            assert_in_range(ny_ensemble_first(&ensemble, r + 1) - ny_ensemble_first(&ensemble, r),
                            ensemble.width - 1, ensemble.width);
        if (ensemble.experts)
            assert_int_equal(ny_ensemble_first(&ensemble, ensemble.experts), ensemble.columns);
    }
}

AROUND_ALL(start, stop)
