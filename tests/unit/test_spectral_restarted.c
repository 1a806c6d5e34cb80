/* The restarted block Krylov iteration on matrices whose eigenpairs are known. */
#include "base/random.h"
#include "spectral/restarted.h"
#include "support/brute.h"
#include "support/context.h"

/* A = diag(λ), λ descending: the start is random, so that no direction is special. */
static void multiply(const double *lambda, struct ny_restarted *it)
{
    struct ny_matrix Q = ny_cols(it->V, it->used - it->count, it->count);

    for (size_t i = 0; i < Q.rows; i++)
        for (size_t k = 0; k < Q.cols; k++)
            it->H.at[i * it->H.stride + k] += lambda[i] * Q.at[i * Q.stride + k];
}

struct found {
    unsigned steps;
    size_t converged;
    double *values, *residuals, *vectors;
};

/* A pair whose residual is as small as asked counts as found, however near the next value is; and
 * none counts whose value is further off than that. */
static void check_count(const double *lambda, const struct ny_restarted *it)
{
    size_t small = 0, near = 0, pairs = it->how.shape.pairs;

    for (size_t k = 0; k < pairs; k++) {
        double size = it->how.tolerance * fmax(it->values[k], 0x1p-20 * it->values[0]);

        small += it->residuals[k] <= size;
        near += fabs(it->values[k] - lambda[k]) <= size;
    }
    assert_in_range(it->converged, small, near);
}

/* The iteration to its end; `stop_at` > 0: it is saved after so many steps, and a new one goes on;
 * `check`: called after each step at which the pairs were looked at. */
static struct found iterate(const double *lambda, const struct ny_restarted_how *how,
                            unsigned stop_at,
                            void (*check)(const double *lambda, const struct ny_restarted *it))
{
    const struct ny_restarted_shape *shape = &how->shape;
    double *state = ny_alloc(ctx, NY_MEM_SOLVE, ny_restarted_state_bytes(shape));
    struct ny_restarted it;
    struct found found = {0};
    bool done = false;

    assert_non_null(state);
    ny_blas_serial(); /* sums are shared out by lanes */
    assert_int_equal(ny_restarted_begin(&it, ctx, how, state, false), NY_OK);
    while (!done) {
        size_t before = ny_memory_used(ctx);
        struct ny_layout counted = {0};

        if (stop_at && it.step == stop_at) {
            ny_restarted_save(&it);
            assert_int_equal(ny_restarted_begin(&it, ctx, how, state, true), NY_OK);
            stop_at = 0;
        }
        multiply(lambda, &it);
        ny_memory_peak_reset(ctx);
        assert_int_equal(ny_restarted_next(&it, &done), NY_OK);
        ny_restarted_count(&counted, shape);
        assert_true(ny_memory_peak(ctx) - before <= ny_layout_most(&counted) + 1024);
        if (!done && check && it.looked == it.step) check(lambda, &it);
    }
    found.steps = it.step;
    found.converged = it.converged;
    found.values = lend_zeros(2 * shape->pairs * sizeof(double));
    found.residuals = found.values + shape->pairs;
    found.vectors = lend_zeros(shape->order * shape->pairs * sizeof(double));
    memcpy(found.values, it.values, shape->pairs * sizeof(double));
    memcpy(found.residuals, it.residuals, shape->pairs * sizeof(double));
    ny_restarted_vectors(&it, ny_matrix(found.vectors, shape->order, shape->pairs));
    ny_free(ctx, state);
    return found;
}

static struct found solve(const double *lambda, const struct ny_restarted_shape *shape,
                          double tolerance, unsigned stop_at, unsigned steps_most)
{
    const struct ny_restarted_how how = {
        .shape = *shape, .tolerance = tolerance, .steps_most = steps_most, .seed = 3};

    return iterate(lambda, &how, stop_at, NULL);
}

/* Solves with the count checked where it is made; and a step earlier, where all pairs are looked
 * at, as it is the last, not all of them are found. */
static void solve_counting(const double *lambda, const struct ny_restarted_shape *shape,
                           double tolerance)
{
    struct ny_restarted_how how = {
        .shape = *shape, .tolerance = tolerance, .steps_most = 60, .seed = 3};
    struct found found = iterate(lambda, &how, 0, check_count), before;

    assert_int_equal(found.converged, shape->pairs);
    how.steps_most = found.steps - 1;
    before = iterate(lambda, &how, 0, check_count);
    assert_true(before.converged < shape->pairs);
}

/* Every value is as near as was asked, or below rounding; vectors are orthonormal, and their
 * Rayleigh quotients are the values. */
static void check(const double *lambda, const struct ny_restarted_shape *shape,
                  const struct found *found, double tolerance)
{
    size_t n = shape->order, p = shape->pairs;

    for (size_t k = 0; k < p; k++) {
        double least = fmax(lambda[k], 0x1p-20 * lambda[0]), quotient = 0;

        if (!(fabs(found->values[k] - lambda[k]) <= tolerance * least))
            fail_msg("value %zu of %zu is %.12g, not %.12g", k, p, found->values[k], lambda[k]);
        for (size_t j = 0; j <= k; j++)
            assert_true(fabs(brute_dot(found->vectors, n, p, j, k) - (j == k)) < 1e-10);
        for (size_t i = 0; i < n; i++)
            quotient += lambda[i] * found->vectors[i * p + k] * found->vectors[i * p + k];
        assert_true(fabs(quotient - found->values[k]) <= 1e-12 * lambda[0]);
    }
}

/* Solves, with few columns of the basis as well, so that it restarts. */
static void try(const double *lambda, size_t n, size_t pairs, double tolerance)
{
    for (int small = 0; small < 2; small++) {
        struct ny_restarted_shape shape = ny_restarted_shape(n, pairs, 10);
        struct found found;

        if (small && 3 * shape.width < shape.most) shape.most = 3 * shape.width;
        found = solve(lambda, &shape, tolerance, 0, 200);
        assert_int_equal(found.converged, pairs);
        check(lambda, &shape, &found, tolerance);
    }
}

enum { N = 4500 };
static double lambda[N];

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

static void decay(double rate)
{
    for (size_t i = 0; i < N; i++)
        lambda[i] = pow(rate, (double)i) + 1e-9;
}

TEST(values_that_fall_are_found)
{
    decay(0.9);
    try(lambda, N, 10, 1e-4);
    try(lambda, N, 25, 1e-10);
}

/* Values far below the largest are found relative to themselves: the large ones are locked, in
 * several rounds where values fall all the way. What is below the reach is left, and where the rank
 * is too small nothing is made up. */
TEST(small_values_are_found_behind_large_ones)
{
    const double tolerance = 1e-6, reach = 0x1p-40;
    const size_t pairs = 24;

    for (int kind = 0; kind < 4; kind++) {
        struct ny_restarted_how how = {.shape = ny_restarted_shape(N, pairs, 10),
                                       .tolerance = tolerance,
                                       .reach = reach,
                                       .steps_most = 200,
                                       .seed = 3};
        struct found found;

        for (size_t i = 0; i < N; i++)
            lambda[i] = kind == 0   ? (i ? pow(0.9, (double)i) : 5e11)
                        : kind == 1 ? pow(0.35, (double)i)
                        : kind == 2 ? (i < 12 ? 3e11 : 1 + 1 / (1 + (double)i))
                                    : (i < 12 ? pow(0.5, (double)i) : 0);
        found = iterate(lambda, &how, kind == 1 ? 9 : 0, NULL);
        assert_int_equal(found.converged, pairs);
        for (size_t k = 0; k < pairs; k++) {
            bool told = lambda[k] >= reach * lambda[0];
            double error = fabs(found.values[k] - lambda[k]);

            if (told ? error > tolerance * lambda[k] : found.values[k] > 2 * reach * lambda[0])
                fail_msg("kind %d: value %zu is %.12g, not %.12g", kind, k, found.values[k],
                         lambda[k]);
            if (kind == 3 && k >= 12) assert_true(found.values[k] < 1e-25);
        }
    }
}

TEST(an_eigenvalue_of_many_vectors_is_found)
{
    for (size_t i = 0; i < N; i++) /* 15 times the largest: more than the 12 that are wanted */
        lambda[i] = i < 15 ? 1 : 0.3 * ny_hash01(5, 0, i);
    qsort(lambda, N, sizeof(double), descending);
    try(lambda, N, 12, 1e-6);
    for (size_t i = 0; i < N; i++) /* and 40 times the third */
        lambda[i] = i == 0 ? 3 : i == 1 ? 2 : i < 42 ? 1 : 0.3 * ny_hash01(5, 1, i);
    qsort(lambda, N, sizeof(double), descending);
    try(lambda, N, 12, 1e-6);
}

/* More vectors of a value than the first block has columns, with wanted values below them: as many
 * times the same, or a little apart. */
TEST(copies_beyond_the_first_block_are_found)
{
    static const double apart[] = {0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.2};
    const size_t n = 700, copies = 40, pairs = copies + 20;

    assert_true(ny_restarted_shape(n, pairs, 10).start < copies);
    for (size_t a = 0; a < sizeof(apart) / sizeof(apart[0]); a++) {
        for (size_t i = 0; i < n; i++)
            lambda[i] = i < 3            ? 4 - 0.5 * (double)i
                        : i < copies + 3 ? 2 * (1 - apart[a] * ny_hash01(5, 3, i))
                                         : 1.5 * pow(0.95, (double)(i - copies - 3)) + 1e-9;
        qsort(lambda, n, sizeof(double), descending);
        try(lambda, n, pairs, 1e-4);
    }
    try(lambda, n, pairs, 1e-8);
}

/* The least wanted value and the next are a little apart, or the wanted ones are. */
TEST(pairs_count_as_soon_as_they_are_found)
{
    const size_t n = 700, pairs = 12;
    struct ny_restarted_shape shape = ny_restarted_shape(n, pairs, 10);

    for (unsigned a = 0; a < 40; a++) {
        double apart = pow(10, -0.1 * a), tolerance = a % 2 ? 1e-2 : 1e-4;

        for (size_t i = 0; i < n; i++)
            lambda[i] =
                i < pairs ? 1 + apart * (double)(pairs - i) : pow(0.97, (double)(i - pairs));
        solve_counting(lambda, &shape, tolerance);
    }
}

/* Values near the least wanted one, of which the first steps know too little to tell the gap. */
TEST(pairs_do_not_count_by_a_gap_that_is_not_known)
{
    static const struct {
        double apart, rate, top, tolerance;
        size_t near;
    } cases[] = {{0.481205, 0.951159, 1.35589, 0.0926189, 13},
                 {0.000927541, 0.907132, 8.7335, 0.0842071, 22},
                 {0.556607, 0.981801, 1.74406, 0.0436701, 32},
                 {0.0291649, 0.987787, 13.4967, 0.0117818, 18},
                 {0.736878, 0.933795, 20.6037, 0.011624, 19}};
    const size_t n = 700, pairs = 12;
    struct ny_restarted_shape shape = ny_restarted_shape(n, pairs, 10);

    for (size_t a = 0; a < sizeof(cases) / sizeof(cases[0]); a++) {
        double step = cases[a].apart / (double)(cases[a].near - pairs + 1);

        for (size_t i = 0; i < n; i++)
            lambda[i] = i + 1 < pairs ? 1 + cases[a].apart + cases[a].top * pow(0.8, (double)i)
                        : i < cases[a].near ? 1 + step * (double)(cases[a].near - i)
                                            : pow(cases[a].rate, (double)(i - cases[a].near + 1));
        solve_counting(lambda, &shape, cases[a].tolerance);
    }
}

/* Vectors of a matrix of centred rows have no mean, from the first block on. */
TEST(the_basis_of_a_centred_matrix_has_no_mean)
{
    const struct ny_restarted_how how = {.shape = ny_restarted_shape(600, 8, 10),
                                         .tolerance = 1e-8,
                                         .steps_most = 20,
                                         .centred = true,
                                         .seed = 3};
    double *image = ny_alloc(ctx, NY_MEM_SOLVE, ny_restarted_state_bytes(&how.shape));
    struct ny_restarted it;
    bool done = false;

    assert_non_null(image);
    decay(0.9);
    assert_int_equal(ny_restarted_begin(&it, ctx, &how, image, false), NY_OK);
    while (!done) {
        for (size_t k = 0; k < it.used; k++) {
            double sum = 0;

            for (size_t i = 0; i < it.V.rows; i++)
                sum += it.V.at[i * it.V.stride + k];
            assert_true(fabs(sum) < 1e-10);
        }
        multiply(lambda, &it);
        assert_int_equal(ny_restarted_next(&it, &done), NY_OK);
    }
    ny_free(ctx, image);
}

/* Pairs behind those that lie together do not count if the steps end before it is known that they
 * are right. */
TEST(pairs_that_may_be_wrong_do_not_count)
{
    const size_t n = 700, copies = 40, pairs = 60;
    struct ny_restarted_shape shape = ny_restarted_shape(n, pairs, 10);

    for (size_t i = 0; i < n; i++)
        lambda[i] = i < copies ? 2 : 1.5 * pow(0.8, (double)(i - copies)) + 1e-9;
    for (unsigned most = 4; most < 14; most++) {
        struct found found = solve(lambda, &shape, 1e-4, 0, most);

        for (size_t k = 0; k < pairs && found.converged == pairs; k++)
            assert_true(fabs(found.values[k] - lambda[k]) <= 1e-4 * lambda[k]);
    }
}

/* Steps end before the basis has as many columns as pairs are wanted: the others are 0. */
TEST(too_few_steps_find_what_they_can)
{
    const size_t n = 700, pairs = 60;
    struct ny_restarted_shape shape = ny_restarted_shape(n, pairs, 10);
    struct found found;

    assert_true(shape.start < pairs);
    decay(0.9);
    found = solve(lambda, &shape, 1e-4, 0, 1);
    assert_int_equal(found.steps, 1);
    assert_true(found.converged < pairs);
    for (size_t k = 0; k < pairs; k++) {
        double square = 0;

        for (size_t i = 0; i < n; i++)
            square += found.vectors[i * pairs + k] * found.vectors[i * pairs + k];
        assert_true(fabs(square - (k < shape.start)) < 1e-10);
        assert_int_equal(found.values[k] > 0, k < shape.start);
    }
}

TEST(a_flat_bulk_is_told_apart_as_far_as_asked)
{
    for (size_t i = 0; i < N; i++)
        lambda[i] = i < 12 ? 1 - 0.05 * (double)i : 0.04 * (1 + 0.1 * ny_hash01(5, 2, i));
    qsort(lambda, N, sizeof(double), descending);
    try(lambda, N, 12, 1e-8);
    try(lambda, N, 20, 1e-3);
}

TEST(less_than_was_wanted_is_there)
{
    struct ny_restarted_shape shape = ny_restarted_shape(N, 10, 10);
    struct found found;

    memset(lambda, 0, sizeof(lambda));
    lambda[0] = 5, lambda[1] = 4, lambda[2] = 3;
    found = solve(lambda, &shape, 1e-4, 0, 200);
    assert_int_equal(found.converged, 10);
    assert_true(found.steps <= 3);
    check(lambda, &shape, &found, 1e-8);
}

/* Orders below a block, of one block, of some, and one that is no multiple. */
TEST(small_orders_are_solved_whole)
{
    static const size_t orders[] = {1, 2, 5, 17, 40, 129};

    decay(0.97);
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        try(lambda, orders[i], 1, 1e-12);
        try(lambda, orders[i], orders[i] < 7 ? orders[i] : 7, 1e-12);
        try(lambda, orders[i], orders[i], 1e-12);
    }
}

TEST(the_same_with_any_threads_and_after_a_pause)
{
    struct ny_restarted_shape shape = ny_restarted_shape(N, 12, 10);
    struct found first, second;

    decay(0.995);
    shape.most = 3 * shape.width;
    ny_context_set_threads(ctx, 1);
    first = solve(lambda, &shape, 1e-6, 0, 200);
    assert_true(first.steps > 4); /* it has restarted */
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (unsigned pause = 0; pause <= 3; pause += 3) {
            ny_context_set_threads(ctx, threads);
            second = solve(lambda, &shape, 1e-6, pause, 200);
            assert_int_equal(second.steps, first.steps);
            assert_memory_equal(second.values, first.values, 24 * sizeof(double));
            assert_memory_equal(second.vectors, first.vectors, (size_t)N * 12 * sizeof(double));
        }
}

TEST(an_image_of_something_else_is_refused)
{
    const struct ny_restarted_how how = {.shape = ny_restarted_shape(N, 12, 10)};

    for (int which = 0; which < 3; which++) {
        struct ny_restarted it;
        double *image = ny_calloc(ctx, NY_MEM_SOLVE, 1, ny_restarted_state_bytes(&how.shape));

        assert_non_null(image);
        image[0] = which == 0 ? 1e6 : 32;
        image[1] = which == 1 ? 33 : 32;
        image[3] = which == 2 ? (double)NAN : 0;
        assert_int_equal(ny_restarted_begin(&it, ctx, &how, image, true), NY_ESTORE);
        ny_free(ctx, image);
    }
}

AROUND_EACH(start, stop)
