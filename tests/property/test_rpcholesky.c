/* select/rpcholesky: against the probabilities of randomly pivoted Cholesky (Chen, Epperly, Tropp &
 * Webber 2023), and residuals recomputed row by row. */
#include "property/selection_case.h"

/* ---- residuals ------------------------------------------------------------------------------ */

/* Bounds are above δ; exact: they are δ. */
static void check_residuals(const struct kind *kind, const struct rows *r,
                            const struct ny_selection *selection, bool exact)
{
    const double rounding = 1e-10; /* of this factor, whose pivots come as they come */
    size_t m = selection->m;
    const struct sought sought = {.kind = *kind};
    struct dictionary D = factor_of(&sought, r, selection->rows, m);
    double *z = lend(m * sizeof(double)), largest = 0, sum = 0;

    assert_non_null(selection->residuals);
    for (size_t i = 0; i < r->n; i++) {
        double bound = (double)selection->residuals[i], k = plain_kernel(kind, r, i, i);
        double delta = substitute(&D, &sought, r, i, z);

        if (!(bound >= delta - rounding * k))
            fail_msg("row %zu: bound %g below δ = %g", i, bound, delta);
        if (exact && !(bound <= delta * (1 + 1e-6) + rounding * k))
            fail_msg("row %zu: %g is not δ = %g", i, bound, delta);
        largest = bound > largest ? bound : largest;
        sum += bound;
    }
    assert_true(selection->residual_max == largest);
    assert_true(fabs(selection->residual_mean * (double)r->n - sum) <= 1e-12 * sum);
}

/* ---- the distribution ----------------------------------------------------------------------- */

enum { POINTS = 6, CELLS = POINTS * POINTS * POINTS };

/* δ of all rows after the `m` first of D; returns their sum. */
static double residuals(const struct kind *kind, const struct rows *r, const uint64_t *D, size_t m,
                        double delta[POINTS])
{
    const struct sought sought = {.kind = *kind};
    struct dictionary f = factor_of(&sought, r, D, m);
    double sum = 0, z[3];

    for (size_t i = 0; i < POINTS; i++) {
        delta[i] = substitute(&f, &sought, r, i, z);
        for (size_t a = 0; a < m; a++)
            if (D[a] == i) delta[i] = 0;
        sum += delta[i];
    }
    return sum;
}

/* P(a, b, c) of the first three landmarks. */
static void exact_probabilities(const struct kind *kind, const struct rows *r, double P[CELLS])
{
    double d0[POINTS], d1[POINTS], d2[POINTS];
    double sum0 = residuals(kind, r, NULL, 0, d0);

    for (uint64_t a = 0; a < POINTS; a++) {
        double sum1 = residuals(kind, r, (uint64_t[]){a}, 1, d1);

        for (uint64_t b = 0; b < POINTS; b++) {
            double sum2 = b == a ? 1 : residuals(kind, r, (uint64_t[]){a, b}, 2, d2);

            for (size_t c = 0; c < POINTS; c++)
                P[(a * POINTS + b) * POINTS + c] =
                    b == a ? 0 : d0[a] / sum0 * (d1[b] / sum1) * (d2[c] / sum2);
        }
    }
}

/* Pearson's χ² of `draws` selections with as many seeds; cells that expect fewer than five are one.
 * The bound is that of one in ten thousand (Wilson & Hilferty). */
static void check_distribution(const struct kind *kind, const struct rows *r, size_t draws,
                               unsigned passes_least)
{
    double P[CELLS], rest = 0, square = 0, degrees = -1, root;
    size_t seen[CELLS] = {0}, seen_rest = 0;
    unsigned most = 0;

    exact_probabilities(kind, r, P);
    for (size_t seed = 0; seed < draws; seed++) {
        const struct ny_selection_request request = {.seed = seed, .landmarks = 3};
        OWNED(ny_selection) s = must_run("rpcholesky", kind, r, request);

        assert_int_equal(s.m, 3);
        seen[(s.rows[0] * POINTS + s.rows[1]) * POINTS + s.rows[2]]++;
        if (s.passes > most) most = s.passes;
    }
    assert_true(most >= passes_least);
    for (size_t i = 0; i < CELLS; i++) {
        double expected = P[i] * (double)draws;

        if (expected < 5) {
            rest += expected;
            seen_rest += seen[i];
            if (P[i] == 0) assert_int_equal(seen[i], 0);
            continue;
        }
        square += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
        degrees++;
    }
    if (rest >= 5) {
        square += ((double)seen_rest - rest) * ((double)seen_rest - rest) / rest;
        degrees++;
    }
    assert_true(degrees > 5);
    root = 1 - 2 / (9 * degrees) + 3.72 * sqrt(2 / (9 * degrees));
    if (square > degrees * root * root * root)
        fail_msg("%s: χ² = %g with %g degrees of freedom", kind->kernel, square, degrees);
}

TEST(landmarks_have_the_papers_distribution)
{
    static const struct {
        struct kind kind;
        double spread;
        size_t draws;
        unsigned passes; /* in some selection: the rejections were too many */
    } cases[] = {
        {{"rbf", {.gamma = 0.3}}, 0.5, 1500, 0},
        {{"polynomial", {.gamma = 0.3, .first = 1, .second = 2}}, 0.5, 1500, 1},
        {{"rbf", {.gamma = 1e-4}}, 0.5, 250, 1}, /* δ is measured in f32 */
        {{"rbf", {.gamma = 1e-6}}, 0.5, 250, 1}, /* in f64 */
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        OWNED(rows) r = blobs(POINTS, 3, cases[c].spread, 0);

        keep_rows(&r);
        check_distribution(&cases[c].kind, &r, cases[c].draws, cases[c].passes);
    }
}

/* Uses a large set, so that landmarks are drawn across units. */
TEST(the_first_landmark_follows_the_diagonal)
{
    enum { N = 10000, DRAWS = 600, PARTS = 10 };
    const struct kind kind = {"linear", {.gamma = 1}};
    OWNED(rows) r = blobs(N, 2, 0.5, 1);
    double share[PARTS] = {0}, sum = 0, square = 0;
    size_t seen[PARTS] = {0};

    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < r.d; k++)
            r.x[i * r.d + k] *= (float)(1 + (double)(i / 1000));
    keep_rows(&r);
    for (size_t i = 0; i < N; i++) {
        share[i / 1000] += plain_kernel(&kind, &r, i, i);
        sum += plain_kernel(&kind, &r, i, i);
    }
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        struct ny_selection s =
            must_run("rpcholesky", &kind, &r,
                     (struct ny_selection_request){.seed = seed, .landmarks = 1, .workers = 1});

        seen[s.rows[0] / 1000]++;
        ny_selection_release(&s, ctx);
    }
    for (size_t p = 0; p < PARTS; p++) {
        double expected = share[p] / sum * DRAWS, off = (double)seen[p] - expected;

        square += off * off / expected;
    }
    assert_true(square < 33.7); /* one in ten thousand, nine degrees of freedom */
}

/* ---- bounds --------------------------------------------------------------------------------- */

TEST(residuals_are_bounds_and_exact_when_certified)
{
    static const struct {
        struct kind kind;
        size_t n, d, m;
        unsigned passes;
    } cases[] = {
        {{"rbf", {.gamma = 0.3}}, 6500, 4, 300, 1},  /* in f32 */
        {{"rbf", {.gamma = 0.01}}, 6500, 4, 100, 2}, /* and in f64 */
        {{"polynomial", {.gamma = 0.01, .first = 1, .second = 3}}, 6500, 4, 30, 2},
        /* rows of more than 16 KB are looked at a strip at a time */
        {{"polynomial", {.gamma = 1e-5, .first = 1, .second = 3}}, 1200, 4100, 20, 1},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct ny_selection_request request = {.landmarks = cases[c].m, .workers = 2};
        OWNED(rows) r = blobs(cases[c].n, cases[c].d, 0.2, 0);
        OWNED(ny_selection) plain, certified;

        keep_rows(&r);
        plain = must_run("rpcholesky", &cases[c].kind, &r, request);
        assert_int_equal(plain.m, cases[c].m);
        assert_true(plain.passes >= cases[c].passes);
        assert_true(plain.rows_read > 0 && plain.rows_read <= plain.passes * r.n);
        assert_true(plain.flops > 0);
        if (r.n > 2048) /* else no pass over the bounds pays */
            check_residuals(&cases[c].kind, &r, &plain, false);
        request.certify = true;
        certified = must_run("rpcholesky", &cases[c].kind, &r, request);
        assert_int_equal(certified.passes, plain.passes + 1);
        assert_memory_equal(certified.rows, plain.rows, plain.m * sizeof(*plain.rows));
        check_residuals(&cases[c].kind, &r, &certified, true);
    }
}

/* Landmarks that no dictionary chose, copies of one another among them. */
TEST(any_landmarks_can_be_certified)
{
    static const char *const rules[] = {"uniform", "weighted"};
    static const struct kind kinds[] = {
        {"rbf", {.gamma = 0.3}},
        {"rbf", {.gamma = 0.003}},
        {"linear", {.gamma = 1}}, /* rank 4 */
        {"polynomial", {.gamma = 0.05, .first = 1, .second = 2}},
    };
    OWNED(rows) r = blobs(5000, 4, 0.2, 0);

    keep_rows(&r);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (size_t i = 0; i < 2; i++) {
            struct ny_selection_request request = {.landmarks = 400, .workers = 2};
            OWNED(ny_selection) plain = must_run(rules[i], &kinds[k], &r, request), certified;

            request.certify = true;
            certified = must_run(rules[i], &kinds[k], &r, request);
            assert_true(!plain.residuals && certified.residuals);
            assert_int_equal(certified.m, plain.m);
            assert_memory_equal(certified.rows, plain.rows, plain.m * sizeof(*plain.rows));
            assert_int_equal(certified.passes, plain.passes + 1);
            assert_int_equal(certified.rows_read, plain.rows_read + r.n);
            check_residuals(&kinds[k], &r, &certified, true);
        }
}

/* If only k(x,x) is known, residuals are not. */
TEST(residuals_are_not_known_without_a_pass)
{
    const struct kind kind = {"rbf", {.gamma = 3}};
    OWNED(rows) r = blobs(3000, 4, 0.5, 0);
    OWNED(ny_selection) s;

    keep_rows(&r);
    s = must_run("rpcholesky", &kind, &r,
                 (struct ny_selection_request){.landmarks = 20, .workers = 2});
    assert_true(s.passes == 0 && !s.residuals && isnan(s.residual_max) && isnan(s.residual_mean) &&
                isnan(s.tolerance));
}

TEST(same_bytes_for_any_workers_budget_and_kill)
{
    static const struct {
        struct kind kind;
        size_t m;
        bool certify;
    } cases[] = {
        {{"rbf", {.gamma = 0.5}}, 350, false},
        {{"rbf", {.gamma = 0.01}}, 60, true},
        {{"polynomial", {.gamma = 0.2, .first = 1, .second = 3}}, 40, false},
    };
    OWNED(rows) r = blobs(9000, 4, 0.2, 0);

    keep_rows(&r);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        check_bytes("rpcholesky", &cases[c].kind, &r,
                    (struct ny_selection_request){
                        .landmarks = cases[c].m, .certify = cases[c].certify, .seed = 3});
}

/* ---- edges ---------------------------------------------------------------------------------- */

TEST(ends_at_the_rank_of_K)
{
    const struct kind linear = {"linear", {.gamma = 1}}, rbf = {"rbf", {.gamma = 0.5}};
    struct ny_selection_request request = {.landmarks = 50, .workers = 2};
    struct rows r = blobs(5000, 4, 0.5, 0);
    struct ny_selection s;

    memset(r.x + 7 * r.d, 0, 100 * r.d * sizeof(float)); /* k(x,x) = 0: never chosen */
    keep_rows(&r);
    s = must_run("rpcholesky", &linear, &r, request);
    assert_int_equal(s.m, 4);
    for (size_t i = 0; i < s.m; i++)
        assert_true(s.rows[i] < 7 || s.rows[i] >= 107);
    assert_true(s.residual_max == 0);
    ny_selection_release(&s, ctx);
    free_rows(&r);
    r = blobs(3000, 4, 0.5, 0);
    for (size_t i = 10; i < r.n; i++) /* ten different rows */
        memcpy(r.x + i * r.d, r.x + i % 6 * r.d, r.d * sizeof(float));
    keep_rows(&r);
    s = must_run("rpcholesky", &rbf, &r, request);
    assert_int_equal(s.m, 9); /* blobs(): row 6 is a copy of row 3 */
    ny_selection_release(&s, ctx);
    free_rows(&r);
}

/* A plan counts with shares that go on by the slope of the sample, but not past the rank. */
TEST(no_residual_is_foretold_past_the_rank)
{
    enum { RANK = 40, KNOWN = 30, WANTED = 400 };
    const struct ny_geometry geometry = {.d = RANK};
    const struct ny_columns_spec spec = {.kernel = ny_kernel_find("linear"), .geometry = &geometry};
    const struct ny_selection_request request = {.n = 1000000, .spec = &spec};
    const struct ny_rule *rule = ny_rule_find("rpcholesky");
    double share[KNOWN];
    struct ny_decay any = {.share = share, .count = KNOWN}, ends = any;

    for (int i = 0; i < KNOWN; i++)
        share[i] = 1 / (1.0 + i);
    assert_true(ny_decay_at(&any, WANTED) > 0);
    for (ends.rank = RANK; ends.rank > 5; ends.rank /= 2) { /* of the sample and beyond it */
        assert_true(ny_decay_at(&ends, ends.rank - 1) > 0);
        assert_true(ny_decay_at(&ends, ends.rank) == 0);
        assert_true(ny_decay_at(&ends, WANTED) == 0);
    }
    ends = (struct ny_decay){.share = share, .count = KNOWN, .rank = RANK};
    assert_true(rule->work(&request, WANTED, &any).passes == 0);
    assert_true(rule->work(&request, WANTED, &ends).passes == 2); /* they show that it is reached */
    ends.count = any.count = 0;
    assert_true(ny_decay_at(&any, RANK) > 0);
    assert_true(ny_decay_at(&ends, RANK) == 0);
}

TEST(refuses_what_it_cannot_select_from)
{
    const struct kind linear = {"linear", {.gamma = 1}};
    const struct kind negative = {"polynomial", {.gamma = 1, .first = -300, .second = 1}};
    const struct kind indefinite = {"polynomial", {.gamma = 1, .first = -1, .second = 2}};
    struct ny_selection_request request = {.landmarks = 50, .workers = 2};
    struct rows r = blobs(3000, 4, 0.5, 3);
    struct ny_selection s;

    keep_rows(&r);
    assert_int_equal(run_rule("rpcholesky", &negative, &r, request, &s), NY_ENUMERIC);
    assert_non_null(strstr(ny_context_message(ctx), "row 0 has a residual"));
    ny_error_clear(ctx);
    assert_int_equal(run_rule("rpcholesky", &indefinite, &r, request, &s), NY_ENUMERIC);
    assert_non_null(strstr(ny_context_message(ctx), "not positive semi-definite"));
    ny_error_clear(ctx);
    free_rows(&r);
    r = blobs(3000, 4, 0.5, 3);
    memset(r.x, 0, r.n * r.d * sizeof(float));
    keep_rows(&r);
    request.landmarks = 5;
    REFUSED(run_rule("rpcholesky", &linear, &r, request, &s), NY_EDATA);
    free_rows(&r);
}

AROUND_ALL(make_folder, remove_folder)
