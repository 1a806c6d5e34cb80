/* spectral/gram_noise.c: what it says of units must be what their f32 tile Grams lose. */
#include "base/random.h"
#include "spectral/gram_noise.h"
#include "stream/source.h"
#include "support/context.h"

enum { UNITS = 24, D = 6, M_MAX = 150 };

/* Landmarks, their kernel and what is made of it. */
struct setting {
    size_t m;
    double width, y[M_MAX * D], *L, *inverse, a[M_MAX], spread[M_MAX];
};

static double kernel(const double *x, const double *y, double width)
{
    double square = 0;

    for (size_t k = 0; k < D; k++)
        square += (x[k] - y[k]) * (x[k] - y[k]);
    return exp(-square / (width * 2 * D));
}

static struct setting *setting_new(size_t m, double width)
{
    struct setting *set = lend_zeros(sizeof(*set));

    set->m = m;
    set->width = width;
    set->L = lend(m * m * sizeof(double));
    set->inverse = lend_zeros(m * m * sizeof(double));
    ny_gaussian(4, NY_STREAM_DATA, 0, set->y, m * D);
    for (size_t i = 0; i < m * m; i++) {
        set->L[i] = kernel(set->y + i / m * D, set->y + i % m * D, width);
        set->a[i % m] += set->L[i] / (double)m;
    }
    for (size_t i = 0; i < m * m; i++)
        set->spread[i % m] += pow(set->L[i] - set->a[i % m], 2) / (double)m;
    assert_int_equal(ny_cholesky(ny_matrix(set->L, m, m)), 0);
    for (size_t i = 0; i < m; i++)
        set->inverse[i * (m + 1)] = 1;
    ny_solve_lower(ny_matrix(set->L, m, m), ny_matrix(set->inverse, m, m));
    ny_solve_lower_t(ny_matrix(set->L, m, m), ny_matrix(set->inverse, m, m));
    return set;
}

/* Rows of unit u, or the same row again and again. */
static void fill(const struct setting *set, size_t u, bool equal, float *C)
{
    for (size_t i = 0; i < NY_UNIT_ROWS; i++) {
        double x[D];

        ny_gaussian(5, NY_STREAM_DATA, equal ? 0 : (u * NY_UNIT_ROWS + i) * D, x, D);
        for (size_t j = 0; j < set->m; j++)
            C[i * set->m + j] = (float)(kernel(x, set->y + j * D, set->width) - set->a[j]);
    }
}

/* Returns tr W⁺(G32 − G64) of a whole unit, as a pass has it. */
static double loss_of(const struct setting *set, const float *C)
{
    size_t m = set->m;
    float *tile = lend(NY_UNIT_ROWS * m * sizeof(*tile));
    struct ny_layout l = {.ctx = ctx};
    struct ny_partial *part[2];
    double loss = 0;

    for (int f64 = 0; f64 < 2; f64++) {
        memcpy(tile, C, NY_UNIT_ROWS * m * sizeof(*tile));
        part[f64] = ny_partial_lay(&l, m, f64 ? NY_GRAM_F64 : NY_GRAM_F32);
        assert_non_null(part[f64]);
        ny_partial_set(part[f64], ny_matrix32(tile, NY_UNIT_ROWS, m),
                       &(struct ny_tile_rows){.count = NY_UNIT_ROWS});
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            loss += (i == j ? 1 : 2) * set->inverse[i * m + j] *
                    ((double)part[0]->G32[i * m + j] - part[1]->G64[i * m + j]);
    ny_layout_free(&l);
    return loss;
}

/* `looked_at` of the units are measured; *all: what all of them lose. */
static struct ny_gram_noise measure(const struct setting *set, size_t looked_at, bool equal,
                                    double *square, double *all)
{
    struct ny_layout l = {.ctx = ctx};
    struct ny_gram_meter meter;
    struct ny_gram_sample *sample;
    struct ny_gram_noise noise;
    float *C = lend(NY_UNIT_ROWS * set->m * sizeof(*C));

    ny_gram_meter_lay(&l, &meter, set->m);
    sample = ny_gram_sample_lay(&l, &meter);
    assert_non_null(sample);
    CHECK(ny_gram_meter_begin(&meter, &l, ny_matrix(set->L, set->m, set->m), set->a, set->spread));
    *square = *all = 0;
    for (size_t u = 0; u < UNITS; u++) {
        double loss;

        fill(set, u, equal, C);
        loss = loss_of(set, C);
        *square += loss * loss / UNITS;
        *all += loss;
        if (u >= looked_at) continue;
        ny_gram_sample_set(sample, ny_matrix32(C, NY_UNIT_ROWS, set->m),
                           &(struct ny_tile_rows){.count = NY_UNIT_ROWS});
        ny_gram_meter_add(&meter, sample);
    }
    noise = ny_gram_meter_read(&meter);
    ny_layout_free(&l);
    return noise;
}

/* 60 landmarks are looked at whole, of 150 only 64 rows of the Gram. */
TEST(two_units_foretell_the_noise)
{
    static const struct {
        size_t m;
        double width;
    } cases[] = {{60, 1}, {60, 10}, {150, 1}, {150, 30}};

    for (size_t c = 0; c < 4; c++) {
        struct setting *set = setting_new(cases[c].m, cases[c].width);
        double square, all;
        struct ny_gram_noise noise = measure(set, 2, false, &square, &all);

        /* two units tell it to 1.7 with the worst products of six processors */
        if (!(noise.trace > sqrt(square) / 2 && noise.trace < sqrt(square) * 2))
            fail_msg("m = %zu, width %g: %g where units lose %g", set->m, set->width, noise.trace,
                     sqrt(square));
        /* by chance: up to 0.31 of the products of six processors; equal rows have 1 */
        if (cases[c].width <= 10) assert_true(noise.coherent < 0.5);
        assert_true(fabs(all) <= ny_gram_loss(&noise, UNITS));
    }
}

/* Rows that are all the same lose the same in each unit, and that adds up. */
TEST(equal_rows_are_coherent)
{
    struct setting *set = setting_new(60, 1);
    double square, all;
    struct ny_gram_noise noise = measure(set, 2, true, &square, &all);

    assert_true(noise.coherent > 0.99);
    assert_true(fabs(all) <= ny_gram_loss(&noise, UNITS));
    assert_true(ny_gram_loss(&noise, UNITS) > 15 * noise.trace * sqrt(UNITS));
}

TEST(a_hundredth_of_what_is_left_is_too_much)
{
    struct ny_gram_noise noise = {.trace = 1e-3};

    assert_false(ny_gram_blurs(&noise, 100, 4.1)); /* 4 · 10 · 1e-3 is below 0.041 */
    assert_true(ny_gram_blurs(&noise, 100, 3.9));
    assert_true(ny_gram_blurs(&noise, 100, -1));
    noise.coherent = 1;
    assert_true(ny_gram_blurs(&noise, 100, 39));
    assert_false(ny_gram_blurs(&noise, 100, 41));
    assert_true(ny_gram_blurs(&(struct ny_gram_noise){.trace = NAN}, 1, 1)); /* not measured */
}

TEST(a_thousandth_of_an_eigenvalue_is_too_much)
{
    const double gram[] = {100, 100};
    double p[] = {0.1, 0, 0, 0.1};
    struct ny_gram_noise noise = {.diagonal = 1e-8};

    /* p² g = 1: each unit of 100 moves it by 1e-4 / 100, all of them by 1e-5 */
    assert_false(ny_gram_blurs_values(&noise, 100, gram, ny_matrix(p, 2, 2)));
    noise.diagonal = 1e-4; /* all of them move it by 1e-3: four times that is too much */
    assert_true(ny_gram_blurs_values(&noise, 100, gram, ny_matrix(p, 2, 2)));
    noise = (struct ny_gram_noise){.others = 1};
    assert_false(ny_gram_blurs_values(&noise, 100, gram, ny_matrix(p, 2, 2)));
    p[1] = p[2] = 0.1;
    assert_true(ny_gram_blurs_values(&noise, 100, gram, ny_matrix(p, 2, 2)));
}

AROUND_ALL(start, stop)
