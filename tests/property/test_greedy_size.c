/*
 * select/greedy without a tolerance: against Algorithm 2 of Ouimet & Bengio (2005) written with
 * plain loops in f64, one row at a time.
 */
#include "property/greedy_case.h"

static void copy(struct dictionary *to, const struct dictionary *from)
{
    memcpy(to->rows, from->rows, from->m * sizeof(*to->rows));
    memcpy(to->L, from->L, from->rank * from->capacity * sizeof(*to->L));
    to->m = from->m;
    to->rank = from->rank;
}

/* Algorithm 2 for m = kind->cap, line by line; *epsilon: what its residuals keep. */
static struct dictionary algorithm2(const struct sought *kind, const struct rows *r,
                                    double *epsilon)
{
    size_t m = kind->cap;
    struct dictionary D = no_dictionary(m + 1), run = no_dictionary(m + 1);
    double low = kind->low, high = kind->high > 0 ? kind->high : 1; /* 2, 3 */

    for (;; low = high, high *= 10) { /* 8–10 */
        run.m = run.rank = 0;
        algorithm1_from(&run, kind, r, high, m + 1); /* 4 */
        if (run.m <= m) break;
    }
    copy(&D, &run); /* 12 */
    while (D.m < m) {
        for (int i = 0; D.m < m && i < 40; i++) { /* 14 */
            double middle = low + (high - low) / 2;

            copy(&run, &D);
            algorithm1_from(&run, kind, r, middle, m + 1); /* 16 */
            if (run.m > m) {
                low = middle; /* 20 */
                continue;
            }
            high = middle; /* 22; and 18, when there are m */
            copy(&D, &run);
        }
        if (D.m == m) break;
        algorithm1_from(&D, kind, r, low, m); /* 25 */
        if (D.m == m || low <= 0) break;
        high = low; /* too few even so: D has grown since ε⁺ was too small for it */
        low = 0;
    }
    *epsilon = high;
    return D;
}

/* Checks for the same rows in the same order, the same ε, every bound above the brute-force δ on
 * the dictionary, and no residual above ε. */
static void check_search(const struct sought *kind, const struct rows *r)
{
    double epsilon, *z = lend((kind->cap + 1) * sizeof(*z));
    struct dictionary D = algorithm2(kind, r, &epsilon);
    OWNED(ny_selection) selection;

    run(kind, r, 2, NULL, &selection);
    for (size_t i = 0; i < D.m && i < selection.m; i++)
        if (selection.rows[i] != D.rows[i])
            fail_msg("landmark %zu is row %zu, not %zu", i, (size_t)selection.rows[i], D.rows[i]);
    assert_int_equal(selection.m, D.m);
    /* Halving ends where rounding begins, which the loops do not know. */
    if (D.m == kind->cap)
        assert_true(selection.tolerance == epsilon);
    else
        assert_true(selection.tolerance >= epsilon && selection.tolerance <= 1e-10);
    epsilon = selection.tolerance;
    for (size_t i = 0; i < r->n; i++) {
        double scale = plain_kernel(&kind->kind, r, i, i), bound = (double)selection.residuals[i];
        double delta = substitute(&D, kind, r, i, z);

        if (!(bound >= delta - 1e-11 * scale))
            fail_msg("row %zu: bound %g below δ = %g", i, bound, delta);
        assert_true(bound <= epsilon * (1 + 1e-6) + 1e-11 * scale);
    }
    assert_true(selection.residual_max <= epsilon * (1 + 1e-6) + 1e-10);
    assert_true(selection.rows_read <= selection.passes * r->n);
}

TEST(finds_the_dictionary_of_algorithm_2)
{
    static const struct sought kinds[] = {
        {{"rbf", {.gamma = 0.3}}, false, NAN, 100, 0, 0},
        {{"rbf", {.gamma = 0.3}}, true, NAN, 100, 0, 0},
        {{"rbf", {.gamma = 0.3}}, true, NAN, 61, 0.55, 0.3},
        {{"rbf", {.gamma = 0.3}}, false, NAN, 100, 0.55, 0.54}, /* an ε⁺ that is too large */
        {{"rbf", {.gamma = 0.3}}, false, NAN, 61, 1e-3, 0},     /* has to be raised, three times */
        {{"rbf", {.gamma = 0.01}}, true, NAN, 90, 2e-3, 0},
        {{"rbf", {.gamma = 0.003}}, false, NAN, 70, 0, 0}, /* ends where all is f64 */
        {{"laplacian", {.gamma = 0.05}}, false, NAN, 80, 0, 0},
        {{"linear", {.gamma = 1}}, false, NAN, 5, 0, 0},
        {{"polynomial", {.gamma = 0.2, .first = 1, .second = 3}}, true, NAN, 60, 0, 0},
        {{"polynomial", {.gamma = 0.2, .first = 1, .second = 3}}, false, NAN, 25, 7, 0},
        {{"rbf", {.gamma = 0.3}}, true, NAN, 1, 0, 0},
        {{"rbf", {.gamma = 0.3}}, false, NAN, 2, 0, 0},
    };
    struct rows r = blobs(4500, 6, 0.3, 0);

    for (size_t c = 0; c < sizeof(kinds) / sizeof(kinds[0]); c++)
        check_search(&kinds[c], &r);
}

/* Four points at equal distances, many times each: one joins, or all. */
TEST(finds_it_where_halving_does_not)
{
    const struct sought kinds[] = {{{"rbf", {.gamma = 1}}, false, NAN, 3, 0, 0},
                                   {{"rbf", {.gamma = 1}}, true, NAN, 3, 0, 0}};
    struct rows r = {.n = 5000, .d = 4, .x = lend_zeros(5000 * 4 * sizeof(float))};

    for (size_t i = 0; i < r.n; i++)
        r.x[i * 4 + ny_hash64(5, NY_STREAM_DATA, i) % 4] = 1;
    for (size_t c = 0; c < 2; c++)
        check_search(&kinds[c], &r);
}

/* With fewer directions than landmarks, all of them are taken, and no row twice. */
TEST(ends_at_the_rank_of_the_kernel_matrix)
{
    static const struct sought kinds[] = {
        {{"linear", {.gamma = 1}}, false, NAN, 40, 0, 0},
        {{"linear", {.gamma = 1}}, true, NAN, 40, 0.1, 0},
        {{"polynomial", {.gamma = 0.2, .first = 1, .second = 2}}, false, NAN, 60, 0, 0},
    };
    static const size_t rank[] = {6, 7, 28};
    struct rows r = blobs(4500, 6, 0.3, 2);

    for (size_t c = 0; c < 3; c++) {
        OWNED(ny_selection) selection;

        check_search(&kinds[c], &r);
        run(&kinds[c], &r, 1, NULL, &selection);
        assert_int_equal(selection.m, rank[c]);
    }
}

/* Rows whose bounds are small enough are not read again; here, most of the units. */
TEST(reads_only_what_may_join)
{
    const struct sought kind = {{"rbf", {.gamma = 0.3}}, false, NAN, 60, 0, 0};
    struct rows r = blobs(4000, 6, 0.3, 0);
    struct rows more = {.n = 40000, .d = 6, .x = lend(40000 * 6 * sizeof(float))};
    OWNED(ny_selection) selection;

    /* copies follow the first 4,000 rows */
    for (size_t i = 0; i < more.n; i++)
        memcpy(more.x + i * 6, r.x + i % 4000 * 6, 6 * sizeof(float));
    run(&kind, &more, 2, NULL, &selection);
    assert_int_equal(selection.m, 60);
    assert_true(selection.passes > 4);
    assert_true(selection.rows_read < selection.passes * more.n / 2);
}

/* --certify: δ of each row on the final dictionary, by brute force. */
TEST(certified_residuals_are_exact)
{
    const struct sought kind = {{"rbf", {.gamma = 0.3}}, true, NAN, 50, 0, 0};
    struct rows r = blobs(3000, 6, 0.3, 0);
    double epsilon, z[51], sum = 0, largest = 0;
    struct dictionary D = algorithm2(&kind, &r, &epsilon);
    OWNED(ny_selection) selection;

    certifies = true;
    run(&kind, &r, 2, NULL, &selection);
    certifies = false;
    for (size_t i = 0; i < r.n; i++) {
        double delta = fmax(substitute(&D, &kind, &r, i, z), 0);

        assert_true(fabs((double)selection.residuals[i] - delta) < 1e-6);
        sum += delta;
        largest = fmax(largest, delta);
    }
    assert_true(fabs(selection.residual_mean - sum / (double)r.n) < 1e-7);
    assert_true(fabs(selection.residual_max - largest) < 1e-7 && largest <= epsilon);
}

TEST(same_bytes_for_any_workers_and_budget)
{
    const struct sought kind = {{"rbf", {.gamma = 0.3}}, true, NAN, 270, 0.4, 0};
    struct rows r = blobs(10500, 6, 0.4, 0);

    check_workers(&kind, &r);
}

/* Within a run and between two, from too large ones too, and while the rank is being filled. */
TEST(resumes_to_the_same_bytes)
{
    static const struct sought kinds[] = {
        {{"rbf", {.gamma = 0.3}}, true, NAN, 90, 0, 0},
        {{"linear", {.gamma = 1}}, false, NAN, 9, 0, 0},
    };
    struct rows r = blobs(4500, 6, 0.4, 0);

    for (size_t c = 0; c < 2; c++)
        check_resumes(&kinds[c], &r, 3);
}

AROUND_EACH(make_folder, remove_folder)
