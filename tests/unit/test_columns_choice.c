/* Columns that are chosen, against plain loops over the same rows; ties; refusals. */
#include <unistd.h>

#include "unit/folder_case.h"

enum { ROWS = 900, D = 40, BINS = 20, EMPTY = 11, SAME = 4, TWIN = 29 };

/* Counts: column TWIN is column SAME again, EMPTY has none. */
static struct data counts(void)
{
    struct data data = data_empty(NY_U8, ROWS, D);

    for (size_t i = 0; i < ROWS * D; i++) {
        size_t k = i % D == TWIN ? SAME : i % D;
        double u = ny_hash01(8, NY_STREAM_DATA, i / D * D + k);

        data_set(&data, i, k == EMPTY ? 0 : floor(-log(u) * (double)(1 + k * k % 7) / 2));
    }
    return data;
}

/* Mean and variance (n − 1) of a column, of rows scaled to a sum; total 0: as they are. */
static void moments(const struct data *data, size_t k, double total, double *mean, double *variance)
{
    double x[ROWS];

    *mean = *variance = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;

        for (size_t j = 0; j < D; j++)
            sum += data->values[i * D + j];
        x[i] = data->values[i * D + k];
        if (total > 0) x[i] = sum > 0 ? x[i] * total / sum : 0;
        *mean += x[i] / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++)
        *variance += pow(x[i] - *mean, 2) / (ROWS - 1);
}

/* The score of column k by its definition, with all dispersions and ln(1 + mean). */
static double plain_score(const double *dispersion, const double *mean, size_t k)
{
    double low = INFINITY, high = -INFINITY, sum = 0, squares = 0, count = 0, width;
    int bin;

    for (size_t j = 0; j < D; j++) {
        low = fmin(low, mean[j]);
        high = fmax(high, mean[j]);
    }
    width = (high - low) / BINS;
    bin = (int)fmax(ceil((mean[k] - low) / width), 1); /* open below, closed above */
    for (size_t j = 0; j < D; j++) {
        if ((int)fmax(ceil((mean[j] - low) / width), 1) != bin || isnan(dispersion[j])) continue;
        sum += dispersion[j];
        count++;
    }
    for (size_t j = 0; j < D; j++)
        if ((int)fmax(ceil((mean[j] - low) / width), 1) == bin && !isnan(dispersion[j]))
            squares += pow(dispersion[j] - sum / count, 2);
    if (isnan(dispersion[k]) || count > 1)
        return (dispersion[k] - sum / count) / sqrt(squares / (count - 1));
    return 1;
}

TEST(scores_are_those_of_the_definition)
{
    static const struct ny_prepared how[] = {{NY_ROWS_NONE, NY_VALUES_RAW, 0},
                                             {NY_ROWS_TOTAL, NY_VALUES_RAW, 50},
                                             {NY_ROWS_TOTAL, NY_VALUES_LOG1P, 50},
                                             {NY_ROWS_NONE, NY_VALUES_SQRT, 0}};
    struct data data = counts();

    for (size_t p = 0; p < sizeof(how) / sizeof(how[0]); p++) {
        struct ny_store *store = store_of(&data, how[p]);
        double score[D], mean[D], dispersion[D];
        struct ny_rows_stats stats;
        size_t known = 0;

        assert_int_equal(ROWS_OF(store, stats, &stats), NY_OK);
        assert_int_equal(ny_dispersion_scores(ny_store_rows(store), &stats, score), NY_OK);
        for (size_t k = 0; k < D; k++) {
            moments(&data, k, how[p].total, &mean[k], &dispersion[k]);
            dispersion[k] = k == EMPTY ? NAN : log(dispersion[k] / mean[k]);
            mean[k] = log1p(k == EMPTY ? 1e-12 : mean[k]);
        }
        for (size_t k = 0; k < D; k++) {
            double want = plain_score(dispersion, mean, k);

            assert_int_equal(isnan(score[k]) != 0, isnan(want) != 0);
            if (isnan(want)) continue;
            assert_entry(score[k], want, 1e-4, "score");
            known++;
        }
        assert_true(known >= D - 3);
        ny_rows_stats_release(&stats, ctx);
        ny_store_close(store);
    }
}

/* Returns the chosen columns as bits. */
static uint64_t choice_of(struct ny_store *store, enum ny_choice_rule rule, size_t number,
                          unsigned workers)
{
    const struct ny_column_choice choice = {.rule = rule, .number = number};
    unsigned char chosen[D];
    struct ny_rows_stats stats;
    uint64_t bits = 0;

    assert_int_equal(ROWS_OF(store, stats, &stats), NY_OK);
    CHECK(ny_choose_columns(&choice, ny_store_rows(store), &stats, workers, chosen));
    ny_rows_stats_release(&stats, ctx);
    for (size_t k = 0; k < D; k++)
        bits |= (uint64_t)chosen[k] << k;
    return bits;
}

TEST(of_equal_columns_the_lower_is_chosen)
{
    static const enum ny_choice_rule rules[] = {NY_CHOOSE_VARIANCE, NY_CHOOSE_VARIABLE};
    const uint64_t same = (uint64_t)1 << SAME, twin = (uint64_t)1 << TWIN;
    struct data data = counts();
    OWNED(ny_store) *store = store_of(&data, (struct ny_prepared){0});

    for (size_t r = 0; r < 2; r++) {
        size_t number = 1;

        while (!(choice_of(store, rules[r], number, 1) & (same | twin)))
            number++;
        assert_true((choice_of(store, rules[r], number, 1) & (same | twin)) == same);
        assert_true((~choice_of(store, rules[r], number + 1, 1) & (same | twin)) == 0);
    }
}

TEST(rows_are_counted_where_the_plan_only_guesses)
{
    struct data data = counts();
    OWNED(ny_store) *store = store_of(&data, (struct ny_prepared){0});
    uint64_t want = 0, all = ((uint64_t)1 << D) - 1;

    for (size_t k = 0; k < D; k++) {
        size_t rows = 0;

        for (size_t i = 0; i < ROWS; i++)
            rows += data.values[i * D + k] > 0;
        want |= (uint64_t)(rows >= 500) << k;
    }
    assert_true(want && want != all);
    for (unsigned workers = 1; workers <= 3; workers++)
        assert_true(choice_of(store, NY_CHOOSE_MIN_ROWS, 500, workers) == want);
    assert_true(choice_of(store, NY_CHOOSE_MIN_ROWS, 500, 0) == (all & ~((uint64_t)1 << EMPTY)));
}

/* Columns that are not chosen weigh +0, and by rarity those that no row has weigh −0. */
TEST(factors_tell_columns_without_values_from_those_not_chosen)
{
    const uint64_t listed[] = {0, SAME, EMPTY};
    const struct ny_geometry_wish wish = {
        .scale = NY_SCALE_IDF, .choice = {.rule = NY_CHOOSE_LISTED, .number = 3, .listed = listed}};
    struct data data = counts();
    OWNED(ny_store) *store = store_of(&data, (struct ny_prepared){0});
    struct ny_geometry *g;

    assert_int_equal(ny_geometry_new(&g, ny_store_rows(store), &wish), NY_OK);
    for (size_t k = 0; k < D; k++) {
        assert_true((g->factor[k] > 0) == (k == 0 || k == SAME));
        assert_int_equal(signbit(g->factor[k]) != 0, k == EMPTY);
    }
    ny_geometry_free(g, ctx);
}

AROUND_ALL(start_folder, stop_folder)
