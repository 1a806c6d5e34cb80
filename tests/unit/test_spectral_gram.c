/* spectral/gram.c: W by plain loops, of data where the answer is known from measurements. */
#include "base/random.h"
#include "spectral/method.h"
#include "support/context.h"

/* exp(−γ‖x−y‖²), γ = 1 / (width · mean squared distance). */
static double *gaussian_kernel(const double *x, size_t m, size_t d, double width)
{
    double *w = lend(m * m * sizeof(*w)), mean = 0;

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            w[i * m + j] = 0;
            for (size_t k = 0; k < d; k++)
                w[i * m + j] += pow(x[i * d + k] - x[j * d + k], 2);
            mean += w[i * m + j] / (double)(m * m);
        }
    for (size_t i = 0; i < m * m; i++)
        w[i] = exp(-w[i] / (width * mean));
    return w;
}

static double *points(size_t m, size_t d)
{
    double *x = lend(m * d * sizeof(*x));

    ny_gaussian(3, NY_STREAM_DATA, 0, x, m * d);
    return x;
}

/* Chooses with a = column means, and checks that W is kept. */
static struct ny_gram_choice choose(double *w, size_t m, double mean_diagonal)
{
    double *a = lend_zeros(m * sizeof(*a)), *before = lend(m * m * sizeof(*before));
    struct ny_gram_choice choice;

    for (size_t i = 0; i < m * m; i++)
        a[i % m] += w[i] / (double)m;
    memcpy(before, w, m * m * sizeof(*w));
    assert_int_equal(ny_gram_choose(ctx, ny_matrix(w, m, m), a, mean_diagonal, &choice), NY_OK);
    assert_memory_equal(w, before, m * m * sizeof(*w));
    return choice;
}

/* High-dimensional data: W decays slowly, at every width, so f32 tile Grams are good. */
TEST(spread_out_data_take_f32)
{
    enum { LANDMARKS = 300, D = 500 };
    static const double widths[] = {1, 10, 100};

    for (size_t k = 0; k < 3; k++) {
        double *x = points(LANDMARKS, D), *w = gaussian_kernel(x, LANDMARKS, D, widths[k]);
        struct ny_gram_choice choice = choose(w, LANDMARKS, 1);

        assert_int_equal(choice.precision, NY_GRAM_F32);
        assert_true(choice.eta <= 2e-5 && choice.eta > 0);
        assert_false(choice.cut);
        assert_int_equal(choice.rank, LANDMARKS);
    }
}

/* 3-D points, some twice: W decays fast and is singular. */
TEST(duplicates_in_three_dimensions_take_f64)
{
    enum { LANDMARKS = 200, D = 3, TWICE = 40 };
    double *x = points(LANDMARKS, D), *w;
    struct ny_gram_choice choice;

    memcpy(x + (LANDMARKS - TWICE) * D, x, TWICE * D * sizeof(*x));
    w = gaussian_kernel(x, LANDMARKS, D, 1);
    choice = choose(w, LANDMARKS, 1);
    assert_int_equal(choice.precision, NY_GRAM_F64);
    assert_true(choice.eta > 2e-5);
    assert_true(choice.cut);
    assert_true(choice.rank >= 20 && choice.rank <= LANDMARKS - TWICE);
}

/* Diagonal W: every number of the formula is known. With shift 0, ‖W_shifted‖₂ is σ₁ = 1 and what
 * is ≤ 2⁻²² is cut. The third case is just above, where the eigenvalues decide. */
TEST(diagonal_matrices_give_the_formula)
{
    enum { LANDMARKS = 50 };
    static const double last[] = {0.5, 1e-3, 0x1p-22 * 1.1, 0x1p-22 * 0.9, 0};

    for (size_t c = 0; c < 5; c++) {
        double w[LANDMARKS * LANDMARKS] = {0}, a[LANDMARKS] = {0}, sum = 0, eta;
        struct ny_gram_choice choice;
        bool cut = c >= 3;

        for (size_t i = 0; i < LANDMARKS; i++) {
            double value = i == 0 ? 1 : i >= LANDMARKS - 2 ? last[c] : 0.75;
            w[i * LANDMARKS + i] = value;
            if (!cut || i < LANDMARKS - 2) sum += 1 / (value * value);
        }
        CHECK(ny_gram_choose(ctx, ny_matrix(w, LANDMARKS, LANDMARKS), a, 2, &choice));
        eta = 0x1p-24 * (1.0 / LANDMARKS) * sqrt(sum) / 2;
        assert_int_equal(choice.cut, cut);
        assert_int_equal(choice.rank, cut ? LANDMARKS - 2 : LANDMARKS);
        assert_near(choice.inverse_norm, sqrt(sum), 1e-9 * sqrt(sum));
        assert_near(choice.eta, eta, 1e-9 * eta);
        assert_int_equal(choice.precision, eta <= 2e-5 ? NY_GRAM_F32 : NY_GRAM_F64);
    }
}

/* W = I − (1 − ε)uuᵀ, eigenvalues 1 (m − 1 times) and ε: ‖W⁻¹‖_F² = m − 1 + 1/ε², whether u is
 * spread over all rows or is one of them. Near the threshold the norm must be exact; away from it
 * within a factor of 2, and the decision right everywhere. */
TEST(the_norm_of_the_inverse_is_known)
{
    enum { LANDMARKS = 50 };
    static const double small[] = {0.9, 1e-2, 1e-3, 9e-5, 6.2e-5, 5.8e-5, 3.3e-5, 1.5e-5, 5e-6};

    for (size_t c = 0; c < 2 * sizeof(small) / sizeof(small[0]); c++) {
        double w[LANDMARKS * LANDMARKS], a[LANDMARKS] = {0}, u[LANDMARKS] = {1}, length = 0;
        double epsilon = small[c / 2], spread = 0, norm, eta;
        struct ny_gram_choice choice;

        if (c % 2) ny_gaussian(c, NY_STREAM_DATA, 0, u, LANDMARKS);
        for (size_t i = 0; i < LANDMARKS; i++)
            length += u[i] * u[i];
        for (size_t j = 0; j < LANDMARKS; j++) {
            double square = 0;

            for (size_t i = 0; i < LANDMARKS; i++) {
                double value = (i == j) - (1 - epsilon) * u[i] * u[j] / length;

                w[i * LANDMARKS + j] = value;
                square += value * value / LANDMARKS;
            }
            spread = square > spread ? square : spread;
        }
        CHECK(ny_gram_choose(ctx, ny_matrix(w, LANDMARKS, LANDMARKS), a, 1, &choice));
        norm = sqrt(LANDMARKS - 1 + 1 / (epsilon * epsilon));
        eta = 0x1p-24 * spread * norm;
        assert_near(choice.inverse_norm / norm, 1, eta > 1.4e-5 && eta < 2.8e-5 ? 1e-9 : 0.5);
        assert_near(choice.eta / (0x1p-24 * spread * choice.inverse_norm), 1, 1e-12);
        assert_int_equal(choice.precision, eta <= 2e-5 ? NY_GRAM_F32 : NY_GRAM_F64);
        assert_false(choice.cut);
        assert_int_equal(choice.rank, LANDMARKS);
    }
}

/* The shift counts, not W: W = 1 + small has ‖W_shifted‖₂ far below σ₁ = m. */
TEST(the_cut_is_relative_to_the_shifted_matrix)
{
    enum { LANDMARKS = 40 };
    double w[LANDMARKS * LANDMARKS];
    struct ny_gram_choice choice;

    for (size_t i = 0; i < LANDMARKS; i++)
        for (size_t j = 0; j < LANDMARKS; j++)
            w[i * LANDMARKS + j] = 1 + (i == j ? 1e-6 : 0);
    choice = choose(w, LANDMARKS, 1);
    assert_false(choice.cut); /* 1e-6 < 2⁻²² · 40 = 9.5e-6 */
    assert_int_equal(choice.precision, NY_GRAM_F32);
}

TEST(degenerate_matrices_take_f64)
{
    double zero[9] = {0}, one[1] = {4}, a[3] = {0}, bad[4] = {1, NAN, NAN, 1};
    struct ny_gram_choice choice;

    assert_int_equal(ny_gram_choose(ctx, ny_matrix(zero, 3, 3), a, 0, &choice), NY_OK);
    assert_int_equal(choice.precision, NY_GRAM_F64);
    assert_int_equal(choice.rank, 0);
    assert_true(choice.cut);
    assert_int_equal(ny_gram_choose(ctx, ny_matrix(one, 1, 1), a, 4, &choice), NY_OK);
    assert_int_equal(choice.rank, 1);
    assert_near(choice.inverse_norm, 0.25, 1e-15);
    assert_int_equal(choice.precision, NY_GRAM_F32);
    REFUSED(ny_gram_choose(ctx, ny_matrix(bad, 2, 2), a, 1, &choice), NY_ENUMERIC);
}

TEST(workspace_is_what_was_announced)
{
    enum { LANDMARKS = 200, D = 3 };
    double *x = points(LANDMARKS, D), *w = gaussian_kernel(x, LANDMARKS, D, 10), a[LANDMARKS] = {0};
    uint64_t limit = ny_context_memory(ctx);
    struct ny_gram_choice choice;
    struct ny_layout counted = {0};

    ny_gram_choose_count(&counted, LANDMARKS);
    ny_context_set_memory(ctx, ny_layout_most(&counted) + 1024);
    assert_int_equal(ny_gram_choose(ctx, ny_matrix(w, LANDMARKS, LANDMARKS), a, 1, &choice), NY_OK);
    assert_true(choice.cut); /* so the eigenvalues were needed */
    ny_context_set_memory(ctx, LANDMARKS * LANDMARKS * 8);
    REFUSED(ny_gram_choose(ctx, ny_matrix(w, LANDMARKS, LANDMARKS), a, 1, &choice), NY_EBUDGET);
    ny_context_set_memory(ctx, limit);
}

AROUND_ALL(start, stop)
