/* spectral/krylov.c, the projected problem without its Gram: eigenpairs of K̃ by brute force, for
 * every normalisation and kernel; what it says of its residuals; W that is rank deficient. */
#include "spectral/krylov.h"
#include "spectral/methods.h"
#include "support/brute.h"
#include "support/context.h"
#include "support/wanted.h"

OWNS(ny_solution, ny_solution_release(at, ctx))

enum { N = 90, D = 4, M = 24, LARGE = 70 };

static const double tolerances[SMALL_TILES] = {2e-5, 1e-6, 1e-9};

static struct ny_problem problem_of(enum ny_normalisation normalisation, bool affine,
                                    size_t oversample, unsigned power)
{
    return (struct ny_problem){.ctx = ctx,
                               .normalisation = normalisation,
                               .affine = affine,
                               .components = P,
                               .inner = NY_INNER_RANDOMIZED,
                               .randomized = {.oversample = oversample, .power = power, .seed = 3}};
}

/* Σ of the pairs that are kept stands for tr K̃. */
static void check_certificate(const struct wanted *w, const struct ny_solution *solution,
                              size_t count, double tolerance)
{
    double sum = 0;

    for (size_t k = 0; k < count; k++)
        sum += w->values[k];
    assert_near(solution->trace, w->trace, tolerance * w->trace);
    assert_near(solution->trace_approx, sum, tolerance * w->trace);
    assert_true(solution->trace - solution->trace_approx >= -tolerance * w->trace);
}

static void check_exact(const struct small *set, enum small_tiles tiles,
                        enum ny_normalisation normalisation, bool affine, unsigned power)
{
    /* blocks of all of space, or so many of P + 3 columns that they fill it */
    struct ny_problem problem = problem_of(normalisation, affine, power ? 3 : M, power);
    double tolerance = tolerances[tiles], U[N * P];
    OWNED(ny_solution) solution;
    struct wanted w = wanted_of(set, normalisation, affine, M, tiles != SMALL_F64);
    size_t count = 0;

    if (ny_divided(normalisation) && tiles != SMALL_F64) tolerance *= 10;
    assert_int_equal(small_solve(set, &ny_method_krylov, tiles, &problem, &solution, U), NY_OK);
    while (count < P && w.values[count] > 1e-9 * w.values[0])
        count++;
    if (power == 0) {
        check_pairs(set, &w, solution.values, U, count, tolerance);
        check_orthonormal(&w, U, N, count, tolerance);
        check_certificate(&w, &solution, count, tolerance);
        assert_int_equal(small_steps, 1);
    }
    for (size_t k = 0; k < count && power; k++)
        assert_near(solution.values[k], w.values[k], 1e-3 * w.values[0]);
    assert_int_equal(solution.rank_effective, w.rank);
}

static const enum ny_normalisation all[] = {NY_RAW, NY_CENTRED_LANDMARKS, NY_CENTRED_IMPLICIT,
                                            NY_DIVIDED_LANDMARKS, NY_DIVIDED_IMPLICIT};

TEST(a_block_of_all_space_gives_the_exact_pairs)
{
    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        struct small set = small_of((enum small_kernel)kernel, N, D, M);

        for (size_t c = 0; c < sizeof(all) / sizeof(all[0]); c++)
            for (int affine = 0; affine < 2 && !(affine && ny_divided(all[c])); affine++) {
                check_exact(&set, SMALL_F64, all[c], affine, 0);
                check_exact(&set, SMALL_F32_GRAM64, all[c], affine, 0);
                if (kernel == SMALL_RBF || kernel == SMALL_NARROW)
                    check_exact(&set, SMALL_F32, all[c], affine, 0);
            }
    }
}

/* ‖Av − λv‖ of v with û = ΦBv/√λ: Φ B takes it to K̃û − λû. */
static double residual_of(const struct wanted *w, const double *U, size_t k, double value)
{
    double sum = 0, *difference = lend(N * sizeof(double));

    for (size_t i = 0; i < N; i++) {
        difference[i] = -value * U[i * P + k];
        for (size_t j = 0; j < N; j++)
            difference[i] += w->K[i * N + j] * U[j * P + k];
    }
    for (size_t q = 0; q < N && w->values[q] > 1e-10 * w->values[0]; q++) {
        double dot = 0;

        for (size_t i = 0; i < N; i++)
            dot += w->V[q * N + i] * difference[i];
        sum += dot * dot / w->values[q];
    }
    return sqrt(value * sum);
}

/* Ritz values are below the eigenvalues and grow with the passes; û are orthonormal whatever the
 * accuracy; the residual is what it is said to be, and ends the passes where it is small. */
TEST(residuals_are_what_is_reported)
{
    for (size_t c = 0; c < sizeof(all) / sizeof(all[0]); c++) {
        double last[P] = {0}, first_residual = 0;
        struct small set = small_of(SMALL_RBF, N, D, LARGE);
        struct wanted w = wanted_of(&set, all[c], false, LARGE, false);

        for (unsigned power = 0; power < 3; power++) {
            struct ny_problem problem = problem_of(all[c], false, 1, power);
            OWNED(ny_solution) solution;
            double U[N * P], worst = 0;

            CHECK(small_solve(&set, &ny_method_krylov, SMALL_F64, &problem, &solution, U));
            assert_true(small_steps <= power + 1);
            check_orthonormal(&w, U, N, P, 1e-9);
            for (size_t k = 0; k < P; k++) {
                assert_true(solution.values[k] <= w.values[k] * (1 + 1e-10));
                assert_true(solution.values[k] >= last[k] * (1 - 1e-10));
                last[k] = solution.values[k];
                worst = fmax(worst, residual_of(&w, U, k, solution.values[k]) / solution.values[k]);
            }
            assert_near(small_residual, worst, 1e-6 * worst + 1e-9);
            if (power == 0) first_residual = worst;
            if (power == 2) assert_true(worst < first_residual / 5);
            if (small_steps <= power) assert_true(worst <= 1e-2);
        }
        assert_true(first_residual > 1e-2); /* the first pass alone is not good enough */
    }
}

/* Blocks that may fill all of space, the last one narrower, also where W or A has less. */
TEST(the_last_block_fills_what_is_left)
{
    struct small set;

    for (int kernel = 0; kernel < SMALL_KERNELS; kernel++) {
        set = small_of((enum small_kernel)kernel, N, D, M);
        check_exact(&set, SMALL_F64, NY_RAW, false, 9);
        check_exact(&set, SMALL_F64, NY_CENTRED_IMPLICIT, false, 9);
    }
}

/* --rank k: K̃ is C W_k⁺ Cᵀ. */
TEST(of_a_rank)
{
    struct small set = small_of(SMALL_RBF, N, D, M);

    for (size_t c = 0; c < 3; c++) { /* of what is not divided */
        struct ny_problem problem = problem_of(all[c], false, M, 0);
        OWNED(ny_solution) solution;
        struct wanted w = wanted_of(&set, all[c], false, 8, false);
        double U[N * P];

        problem.rank = 8;
        CHECK(small_solve(&set, &ny_method_krylov, SMALL_F64, &problem, &solution, U));
        check_pairs(&set, &w, solution.values, U, P, 1e-9);
        check_certificate(&w, &solution, P, 1e-9);
        assert_int_equal(solution.rank_effective, 8);
    }
}

/* Averages over D leave a W̃ of rank M − 1, which Cholesky whitens all the same; not duplicates. */
TEST(eigenvectors_of_W_are_for_deficient_ranks)
{
    static const enum small_kernel kernels[] = {SMALL_RBF, SMALL_DUPLICATES};

    for (size_t k = 0; k < 2; k++) {
        struct ny_problem problem = problem_of(NY_CENTRED_LANDMARKS, false, 3, 1);
        struct ny_krylov krylov;
        struct small set = small_of(kernels[k], N, D, M);
        double W[M * M];

        for (size_t i = 0; i < M * M; i++)
            W[i] = set.K[set.D[i / M] * N + set.D[i % M]];
        problem.m = M;
        problem.n = N;
        problem.a = set.a;
        problem.W = ny_matrix(W, M, M);
        assert_int_equal(ny_krylov_new(&krylov, &problem, NULL, 0), NY_OK);
        assert_int_equal(krylov.B.at != NULL, kernels[k] == SMALL_DUPLICATES);
        ny_krylov_release(&krylov);
    }
}

AROUND_ALL(start, stop)
