/* select/weighted: weights recomputed with plain loops, their order, and the probabilities of
 * sampling without replacement. */
#include "property/selection_case.h"

/* r_i of every row over the pilot, and w̄. */
static double pilot_means(const struct kind *kind, const struct rows *r, uint64_t seed, size_t m,
                          double *mean)
{
    const struct ny_selection_request request = {.seed = seed, .landmarks = m};
    OWNED(ny_selection) pilot = must_run("uniform", kind, r, request);
    double whole = 0;

    for (size_t i = 0; i < r->n; i++) {
        mean[i] = 0;
        for (size_t j = 0; j < m; j++)
            mean[i] += plain_kernel(kind, r, i, (size_t)pilot.rows[j]) / (double)m;
    }
    for (size_t j = 0; j < m; j++)
        whole += mean[pilot.rows[j]] / (double)m;
    return whole;
}

static double *plain_weights(const struct kind *kind, const struct rows *r,
                             const struct ny_selection_request *request)
{
    double *weights = lend(r->n * sizeof(double)), *mean = lend(r->n * sizeof(double));
    double whole = pilot_means(kind, r, request->seed, request->landmarks, mean);

    for (size_t i = 0; i < r->n; i++) {
        double k = plain_kernel(kind, r, i, i);

        weights[i] = request->diagonal == NY_DIAGONAL_RAW        ? k
                     : request->diagonal == NY_DIAGONAL_CENTRED ? k - 2 * mean[i] + whole
                                                                 : k / mean[i];
    }
    return weights;
}

static double key(const double *weights, uint64_t seed, uint64_t row)
{
    return -log(ny_hash01(seed, NY_STREAM_WEIGHTED, row)) / weights[row];
}

/* Rows in ascending order of −ln h/w, and no row outside with a smaller one. */
TEST(takes_the_smallest_keys_in_order)
{
    static const struct kind kinds[] = {
        {"rbf", {.gamma = 0.3}},
        {"rbf", {.gamma = 1e-4}}, /* all entries near 1: weights are differences */
        {"linear", {.gamma = 1}},
        {"polynomial", {.gamma = 0.2, .first = 1, .second = 2}},
    };
    static const enum ny_diagonal diagonals[] = {NY_DIAGONAL_RAW, NY_DIAGONAL_CENTRED,
                                                 NY_DIAGONAL_DIVIDED};
    OWNED(rows) r = blobs(4500, 4, 0.5, 2);

    keep_rows(&r);
    for (size_t c = 0; c < sizeof(kinds) / sizeof(kinds[0]); c++)
        for (size_t d = 0; d < 3; d++) {
            struct ny_selection_request request = {
                .seed = c, .landmarks = 40, .diagonal = diagonals[d], .workers = 2};
            OWNED(ny_selection) s = {0};
            double *weights, last;
            size_t below = 0;

            if (d == 0 && c < 2) continue; /* uniform: below */
            s = must_run("weighted", &kinds[c], &r, request);
            weights = plain_weights(&kinds[c], &r, &request);
            assert_int_equal(s.m, 40);
            assert_true(s.passes == 1 && s.rows_read == r.n && !s.residuals);
            assert_true((s.flops > 0) == (d > 0));
            last = key(weights, c, s.rows[s.m - 1]);
            for (size_t i = 1; i < s.m; i++)
                assert_true(key(weights, c, s.rows[i - 1]) <=
                            key(weights, c, s.rows[i]) * (1 + 1e-4));
            for (uint64_t i = 0; i < r.n; i++)
                below += key(weights, c, i) < last * (1 - 1e-4);
            assert_in_range(below, s.m - 3, s.m - 1);
        }
}

/* P(a, b) = w_a/Σw · w_b/(Σw − w_a) of the first two. */
TEST(landmarks_have_their_distribution)
{
    enum { POINTS = 6, DRAWS = 3000 };
    const struct kind kind = {"linear", {.gamma = 1}};
    OWNED(rows) r = blobs(POINTS, 3, 0.5, 0.5);
    double weights[POINTS], sum = 0, square = 0;
    size_t seen[POINTS][POINTS] = {{0}}, degrees = 0;

    keep_rows(&r);
    for (size_t i = 0; i < POINTS; i++)
        sum += weights[i] = plain_kernel(&kind, &r, i, i);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        const struct ny_selection_request request = {.seed = seed, .landmarks = 2, .workers = 1};
        OWNED(ny_selection) s = must_run("weighted", &kind, &r, request);

        seen[s.rows[0]][s.rows[1]]++;
    }
    for (size_t a = 0; a < POINTS; a++)
        for (size_t b = 0; b < POINTS; b++) {
            double expected =
                a == b ? 0 : DRAWS * weights[a] / sum * weights[b] / (sum - weights[a]);
            double off = (double)seen[a][b] - expected;

            if (a == b) assert_int_equal(seen[a][b], 0);
            if (expected < 5) continue;
            square += off * off / expected;
            degrees++;
        }
    assert_in_range(degrees, 15, 30);
    assert_true(square < 65); /* one in ten thousand, at 29 degrees of freedom */
}

TEST(is_uniform_where_all_weights_are_equal)
{
    const struct kind kind = {"rbf", {.gamma = 0.3}};
    const struct ny_selection_request request = {.seed = 5, .landmarks = 70, .workers = 2};
    OWNED(rows) r = blobs(3000, 4, 0.5, 0);
    OWNED(ny_selection) a, b;

    keep_rows(&r);
    a = must_run("weighted", &kind, &r, request);
    b = must_run("uniform", &kind, &r, request);
    assert_same_selection(&a, &b, r.n);
}

TEST(same_bytes_for_any_workers_budget_and_kill)
{
    const struct kind kind = {"rbf", {.gamma = 0.3}};
    OWNED(rows) r = blobs(9000, 4, 0.5, 0);

    keep_rows(&r);
    for (int d = NY_DIAGONAL_CENTRED; d <= NY_DIAGONAL_DIVIDED; d++)
        check_bytes("weighted", &kind, &r,
                    (struct ny_selection_request){
                        .landmarks = 200, .diagonal = (enum ny_diagonal)d, .seed = 3});
}

TEST(rows_without_weight_are_not_taken)
{
    const struct kind kind = {"linear", {.gamma = 1}};
    struct ny_selection_request request = {.landmarks = 50, .workers = 2};
    struct rows r = blobs(3000, 4, 0.5, 1);
    struct ny_selection s;

    memset(r.x + 20 * r.d, 0, (r.n - 20) * r.d * sizeof(float));
    keep_rows(&r);
    s = must_run("weighted", &kind, &r, request);
    assert_int_equal(s.m, 20);
    for (size_t i = 0; i < s.m; i++)
        assert_true(s.rows[i] < 20);
    ny_selection_release(&s, ctx);
    request.landmarks = 0;
    REFUSED(run_rule("weighted", &kind, &r, request, &s), NY_EUSAGE);
    free_rows(&r);
    r = blobs(100, 4, 0.5, 1);
    memset(r.x, 0, r.n * r.d * sizeof(float));
    keep_rows(&r);
    request.landmarks = 5;
    REFUSED(run_rule("weighted", &kind, &r, request, &s), NY_EDATA);
    free_rows(&r);
}

AROUND_ALL(make_folder, remove_folder)
