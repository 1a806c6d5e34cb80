/*
 * select/greedy: against Algorithm 1 of Ouimet & Bengio (2005) written with plain loops in f64, one
 * row at a time. Kernels are recomputed here from the raw rows.
 */
#include "property/greedy_case.h"

static struct dictionary algorithm1(const struct sought *kind, const struct rows *r,
                                    size_t capacity)
{
    struct dictionary D = no_dictionary(capacity);

    algorithm1_from(&D, kind, r, kind->tolerance, kind->cap);
    return D;
}

/* Checks for the same rows in the same order, and for bounds above the truth and not far above ε
 * where the row was rejected. */
static void check(const struct sought *kind, const struct rows *r, size_t m_least, size_t m_most)
{
    struct dictionary D = algorithm1(kind, r, m_most + 1);
    double *z = lend((m_most + 1) * sizeof(*z)), largest = 0;
    OWNED(ny_selection) selection = {0};

    if (D.m < m_least || D.m > m_most) fail_msg("a test with m = %zu says nothing", D.m);
    run(kind, r, 2, NULL, &selection);
    for (size_t i = 0; i < D.m && i < selection.m; i++)
        if (selection.rows[i] != D.rows[i])
            fail_msg("landmark %zu is row %zu, not %zu", i, (size_t)selection.rows[i], D.rows[i]);
    assert_int_equal(selection.m, D.m);
    for (size_t i = 0; i < r->n; i++) {
        double bound = (double)selection.residuals[i], scale = plain_kernel(&kind->kind, r, i, i);

        if (bound > largest) largest = bound;
        if (i % 5) continue;
        double delta = substitute(&D, kind, r, i, z);
        if (!(bound >= delta - 1e-11 * scale))
            fail_msg("row %zu: bound %g below δ = %g", i, bound, delta);
        if (D.m < kind->cap) assert_true(bound <= kind->tolerance * (1 + 1e-6) + 1e-11 * scale);
    }
    assert_true(selection.residual_max == largest);
    assert_true(selection.residual_mean >= 0 && selection.residual_mean <= largest);
    assert_true(D.m == 1 || selection.flops > 0);
    assert_true(selection.passes == 1 && selection.rows_read == r->n);
}

/* ---- tests ---------------------------------------------------------------------------------- */

TEST(finds_the_dictionary_of_algorithm_1)
{
    static const struct {
        struct sought kind;
        double offset;
        size_t m_least, m_most;
    } cases[] = {
        {{{"rbf", {.gamma = 0.3}}, false, 0.5, SIZE_MAX, 0, 0}, 0, 30, 250},
        {{{"rbf", {.gamma = 0.3}}, true, 0.5, SIZE_MAX, 0, 0}, 0, 30, 250},
        {{{"rbf", {.gamma = 0.01}}, false, 1e-3, SIZE_MAX, 0, 0}, 0, 30, 250},
        {{{"rbf", {.gamma = 0.01}}, true, 1e-3, SIZE_MAX, 0, 0}, 3, 30, 250},
        {{{"rbf", {.gamma = 0.003}}, false, 1e-6, SIZE_MAX, 0, 0}, 0, 30, 400},
        {{{"rbf", {.gamma = 0.003}}, true, 1e-6, SIZE_MAX, 0, 0}, 0, 30, 400},
        {{{"rbf", {.gamma = 10}}, false, 1e-9, 300, 0, 0}, 0, 300, 300},
        {{{"laplacian", {.gamma = 0.05}}, false, 0.1, SIZE_MAX, 0, 0}, 0, 30, 300},
        {{{"linear", {.gamma = 1}}, false, 0.05, SIZE_MAX, 0, 0}, 0, 6, 6},
        {{{"linear", {.gamma = 1}}, true, 0.05, SIZE_MAX, 0, 0}, 40, 7, 7},
        {{{"linear", {.gamma = 1}}, false, 1e-7, SIZE_MAX, 0, 0}, 0, 6, 6},
        {{{"polynomial", {0.2, 1, 3}}, false, 0.02, SIZE_MAX, 0, 0}, 0, 20, 84},
        {{{"polynomial", {0.2, 1, 3}}, true, 0.02, SIZE_MAX, 0, 0}, 0, 20, 84},
        {{{"polynomial", {0.2, 1, 2}}, false, 3, SIZE_MAX, 0, 0}, 0, 5, 28},
        {{{"rbf", {.gamma = 0.3}}, false, 0.3, 40, 0, 0}, 0, 40, 40},
        {{{"rbf", {.gamma = 0.3}}, true, 0.3, 41, 0, 0}, 0, 41, 41},
        {{{"rbf", {.gamma = 0.3}}, true, 0.3, 1, 0, 0}, 0, 1, 1},
        {{{"rbf", {.gamma = 0.3}}, false, 2, SIZE_MAX, 0, 0}, 0, 1, 1},
    };

    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct rows r = blobs(10700, 6, 0.3, cases[c].offset);

        check(&cases[c].kind, &r, cases[c].m_least, cases[c].m_most);
    }
}

/* Three panels of L, and blocks whose rows mostly join; of few dimensions, and of more than direct
 * loops are used for. */
TEST(finds_it_across_panels)
{
    const struct sought few = {{"rbf", {.gamma = 0.5}}, false, 0.65, SIZE_MAX, 0, 0};
    const struct sought many = {{"rbf", {.gamma = 0.01}}, false, 0.035, SIZE_MAX, 0, 0};
    struct rows r = blobs(10500, 6, 0.5, 0);

    check(&few, &r, 520, 1000);
    r = blobs(10500, 24, 0.5, 0);
    check(&many, &r, 520, 1000);
}

/* Ouimet & Bengio, eqs. 8 and 9 as printed (eq. 9 with the unconstrained residual, without which
 * M·M⁻¹ is not I): the affine selection without the translated kernel. */
TEST(affine_is_the_papers_residual)
{
    enum { MOST = 200 };
    const struct sought kind = {{"rbf", {.gamma = 0.1}}, true, 0.2, SIZE_MAX, 0, 0};
    const struct sought plain = {{"rbf", {.gamma = 0.1}}, false, 0.2, SIZE_MAX, 0, 0};
    struct rows r = blobs(3000, 6, 0.3, 0);
    double *inverse = lend_zeros(MOST * MOST * sizeof(double)), k[MOST], a[MOST];
    size_t D[MOST], m = 1;
    OWNED(ny_selection) selection = {0};

    D[0] = 0;
    inverse[0] = 1;
    for (size_t i = 1; i < r.n; i++) {
        double alpha = 1, beta = 0, delta = 1;

        for (size_t p = 0; p < m; p++)
            k[p] = plain_kernel(&plain.kind, &r, i, D[p]);
        for (size_t p = 0; p < m; p++) {
            a[p] = 0;
            for (size_t q = 0; q < m; q++) {
                a[p] += inverse[p * MOST + q] * k[q];
                beta += inverse[p * MOST + q];
            }
            alpha -= a[p];
            delta -= k[p] * a[p];
        }
        if (delta + alpha * alpha / beta <= kind.tolerance) continue;
        assert_true(m < MOST);
        a[m] = -1;
        for (size_t p = 0; p <= m; p++)
            for (size_t q = 0; q <= m; q++)
                inverse[p * MOST + q] += a[p] * a[q] / delta;
        D[m++] = i;
    }
    assert_in_range(m, 20, MOST - 1);
    run(&kind, &r, 2, NULL, &selection);
    assert_int_equal(selection.m, m);
    for (size_t p = 0; p < m; p++)
        assert_int_equal(selection.rows[p], D[p]);
}

TEST(same_bytes_for_any_workers_and_budget)
{
    static const struct sought kinds[] = {
        {{"rbf", {.gamma = 0.3}}, false, 0.2, SIZE_MAX, 0, 0},
        {{"rbf", {.gamma = 0.3}}, true, 0.2, 300, 0, 0},
        {{"rbf", {.gamma = 0.003}}, false, 1e-6, SIZE_MAX, 0, 0},
        {{"polynomial", {.gamma = 0.2, .first = 1, .second = 3}}, true, 0.02, SIZE_MAX, 0, 0},
    };
    struct rows r = blobs(12500, 6, 0.4, 0);

    for (size_t c = 0; c < sizeof(kinds) / sizeof(kinds[0]); c++)
        check_workers(&kinds[c], &r);
}

TEST(resumes_to_the_same_bytes)
{
    static const struct sought kinds[] = {
        {{"rbf", {.gamma = 0.3}}, false, 0.15, SIZE_MAX, 0, 0},
        {{"rbf", {.gamma = 0.3}}, true, 0.2, 270, 0, 0},
        {{"rbf", {.gamma = 0.003}}, true, 1e-6, SIZE_MAX, 0, 0},
    };
    struct rows r = blobs(12500, 6, 0.4, 0);

    for (size_t c = 0; c < sizeof(kinds) / sizeof(kinds[0]); c++)
        check_resumes(&kinds[c], &r, 1);
}

TEST(refuses_an_image_of_another_selection)
{
    struct sought kind = {{"rbf", {.gamma = 0.3}}, false, 0.5, SIZE_MAX, 0, 0};
    struct rows r = blobs(5000, 6, 0.4, 0);
    struct images images = {0};
    struct ny_selection selection;

    run(&kind, &r, 1, &images, &selection);
    ny_selection_release(&selection, ctx);
    kind.tolerance = 0.4;
    assert_int_equal(run_from(&kind, &r, 1, NULL, &images.image[1], &selection), NY_ESTORE);
    kind.tolerance = 0.5;
    kind.cap = 100;
    assert_int_equal(run_from(&kind, &r, 1, NULL, &images.image[1], &selection), NY_ESTORE);
    kind.tolerance = NAN; /* Algorithm 2 */
    assert_int_equal(run_from(&kind, &r, 1, NULL, &images.image[1], &selection), NY_ESTORE);
    kind.tolerance = 0.5;
    kind.cap = SIZE_MAX;
    images.image[1].bytes -= 4;
    assert_int_equal(run_from(&kind, &r, 1, NULL, &images.image[1], &selection), NY_ESTORE);
    images.image[1].bytes = 3;
    assert_int_equal(run_from(&kind, &r, 1, NULL, &images.image[1], &selection), NY_ESTORE);
    free_images(&images);
}

/* Proposition 1: every entry of K − C W⁺ Cᵀ is within ε; of the translated kernel when affine. */
TEST(bounds_every_entry_of_the_kernel_matrix)
{
    static const struct sought kinds[] = {
        {{"rbf", {.gamma = 0.3}}, false, 0.3, SIZE_MAX, 0, 0},
        {{"rbf", {.gamma = 0.3}}, true, 0.3, SIZE_MAX, 0, 0},
        {{"rbf", {.gamma = 0.01}}, true, 1e-3, SIZE_MAX, 0, 0},
        {{"rbf", {.gamma = 0.01}}, false, 1e-6, SIZE_MAX, 0, 0},
        {{"linear", {.gamma = 1}}, true, 3, SIZE_MAX, 0, 0},
        {{"polynomial", {.gamma = 0.2, .first = 1, .second = 2}}, true, 0.5, SIZE_MAX, 0, 0},
    };
    struct rows r = blobs(700, 6, 0.4, 0);

    for (size_t c = 0; c < sizeof(kinds) / sizeof(kinds[0]); c++) {
        OWNED(ny_selection) selection = {0};
        double *Z = lend_zeros(r.n * r.n * sizeof(double)), worst = 0;

        run(&kinds[c], &r, 2, NULL, &selection);
        struct dictionary D = factor_of(&kinds[c], &r, selection.rows, selection.m);
        for (size_t i = 0; i < r.n; i++)
            substitute(&D, &kinds[c], &r, i, Z + i * r.n);
        for (size_t i = 0; i < r.n; i++)
            for (size_t j = 0; j <= i; j++) {
                double e = kernel_of(&kinds[c], &r, i, j, D.rows[0]);
                for (size_t a = 0; a < D.rank; a++)
                    e -= Z[i * r.n + a] * Z[j * r.n + a];
                if (fabs(e) > worst) worst = fabs(e);
            }
        assert_true(worst <= kinds[c].tolerance);
        assert_true(worst <= selection.residual_max * (1 + 1e-6));
        /* Other kernels are of low rank here: the dictionary spans all. */
        assert_true(worst > 0.1 * kinds[c].tolerance || strcmp(kinds[c].kind.kernel, "rbf"));
    }
}

TEST(skips_zero_rows_at_the_begin)
{
    struct sought kind = {{"linear", {.gamma = 1}}, false, 0.05, SIZE_MAX, 0, 0};
    struct rows r = blobs(3000, 6, 0.4, 1);
    struct ny_selection selection;

    memset(r.x, 0, 2100 * r.d * sizeof(float)); /* the whole first unit */
    run(&kind, &r, 2, NULL, &selection);
    assert_int_equal(selection.rows[0], 2100);
    assert_true(selection.residuals[0] == 0 && selection.residuals[2099] == 0);
    ny_selection_release(&selection, ctx);
    kind.affine = true;
    run(&kind, &r, 2, NULL, &selection);
    assert_int_equal(selection.rows[0], 2100);
    /* 0 is ‖x₁‖² from the affine hull of x₁ alone. */
    assert_true((double)selection.residuals[7] >= plain_kernel(&kind.kind, &r, 2100, 2100));
    ny_selection_release(&selection, ctx);
    memset(r.x, 0, r.n * r.d * sizeof(float));
    assert_int_equal(run_from(&kind, &r, 2, NULL, NULL, &selection), NY_EDATA);
    assert_null(selection.rows);
}

TEST(refuses_a_kernel_that_is_not_psd)
{
    const struct sought kind = {
        {"polynomial", {.gamma = 1, .first = -3, .second = 1}}, false, 0.05, SIZE_MAX, 0, 0};
    struct rows r = blobs(3000, 6, 0.4, 2);
    struct ny_selection selection;

    for (unsigned workers = 1; workers <= 2; workers++) {
        assert_int_equal(run_from(&kind, &r, workers, NULL, NULL, &selection), NY_ENUMERIC);
        assert_non_null(strstr(ny_context_message(ctx), "row "));
        ny_error_clear(ctx);
    }
}

TEST(refuses_a_tolerance_that_is_none)
{
    static const double bad[] = {0, -1, INFINITY};
    struct sought kind = {{"linear", {.gamma = 1}}, false, 0, SIZE_MAX, 0, 0};
    struct rows r = blobs(10, 6, 0.4, 2);
    struct ny_selection selection;

    for (size_t i = 0; i < 3; i++) {
        kind.tolerance = bad[i];
        REFUSED(run_from(&kind, &r, 1, NULL, NULL, &selection), NY_EUSAGE);
    }
}

TEST(says_how_far_the_budget_went)
{
    const struct sought kind = {{"rbf", {.gamma = 5}}, false, 0.01, SIZE_MAX, 0, 0};
    struct rows r = blobs(9000, 6, 0.6, 0);
    struct ny_selection selection;

    ny_context_set_memory(ctx, ny_memory_used(ctx) + (40u << 20));
    assert_int_equal(run_from(&kind, &r, 2, NULL, NULL, &selection), NY_EBUDGET);
    assert_non_null(strstr(ny_context_message(ctx), "landmarks after about"));
    assert_non_null(strstr(ny_context_message(ctx), "of 9000 rows"));
    ny_context_set_memory(ctx, 0);
    ny_error_clear(ctx);
}

AROUND_EACH(make_folder, remove_folder)
