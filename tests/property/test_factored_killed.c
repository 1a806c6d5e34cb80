/*
 * Exact fits on the side of the rows, whose products are two passes, killed at their checkpoints in
 * both of them: the same command goes on to the bytes of one that was not killed.
 */
#include "support/killed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/random.h"
#include "nystream_memory.h"
#include "support/store_case.h"

/* Three units of rows, and more columns; a row has as many values. */
enum { ROWS = 4200, COLUMNS = 4300, VALUES = 6, P = 3 };

static struct ny_context *ctx;
static char folder[128], before[160], now[160];

/* Fits with a checkpoint behind each unit. */
static int job(struct ny_context *own)
{
    static const char *const chosen[][2] = {{"map", "kpca"},     {"kernel", "cosine"},
                                            {"approx", "exact"}, {"components", "3"},
                                            {"tol", "0.2"},      {"max-passes", "2"}};
    struct ny_options *options;
    int err = ny_options_new(&options, own);

    ny_context_set_checkpoint(own, 0);
    for (size_t i = 0; !err && i < sizeof(chosen) / sizeof(chosen[0]); i++)
        err = ny_options_set(options, chosen[i][0], chosen[i][1]);
    if (!err) err = ny_fit(own, now, "m", options, NULL);
    ny_options_free(options);
    return err;
}

static int start(void **state)
{
    static uint32_t first[ROWS + 1], column[ROWS * VALUES];
    static float value[ROWS * VALUES];
    struct ny_table table = {.struct_bytes = sizeof(table),
                             .dtype = NY_F32,
                             .rows = ROWS,
                             .columns = COLUMNS,
                             .values = value,
                             .index_bytes = sizeof(uint32_t),
                             .row_start = first,
                             .column = column,
                             .entries = ROWS * VALUES};
    struct ny_options *options;

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        first[i + 1] = (i + 1) * VALUES;
        for (uint32_t k = 0; k < VALUES; k++) { /* ascending, in six ranges */
            uint64_t hash = ny_hash64(1, NY_STREAM_DATA, i * VALUES + k), near = i % 5 * 100;

            column[i * VALUES + k] = (uint32_t)(k * 700 + near + hash % 100);
            value[i * VALUES + k] = (float)(1 + hash / 128 % 8);
        }
    }
    if (ny_context_new(&ctx)) return -1;
    case_directory(folder);
    snprintf(before, sizeof(before), "%s/before", folder);
    snprintf(now, sizeof(now), "%s/now", folder);
    return ny_options_new(&options, ctx) || ny_options_set(options, "layout", "sparse") ||
           ny_append(ctx, before, &table, options, NULL) || (ny_options_free(options), 0);
}

static int stop(void **state)
{
    (void)state;
    case_remove(folder);
    ny_context_free(ctx);
    return 0;
}

static double *embedding(void)
{
    double *values = malloc(ROWS * P * sizeof(double));
    struct ny_view *view;

    assert_int_equal(ny_view_open(&view, ctx, now, "m"), NY_OK);
    assert_int_equal(ny_view_read(view, "embedding", 0, ROWS, values), NY_OK);
    ny_view_free(view);
    return values;
}

/* Kills at every third sync, where two are those of a checkpoint. */
static void both_passes_go_on_where_they_were(void **state)
{
    double *whole, *again;
    struct ny_report *report;
    unsigned kills = 0;

    (void)state;
    case_copy(before, now);
    assert_int_equal(job(ctx), NY_OK);
    assert_int_equal(ny_result_report(ctx, now, "m", &report), NY_OK);
    assert_string_equal(ny_report_text(report, "side"), "rows");
    ny_report_free(report);
    whole = embedding();
    for (long at = 3;; at += 3, kills++) {
        case_remove(now);
        case_copy(before, now);
        if (!killed_at_sync(at, job)) break;
        assert_int_equal(job(ctx), NY_OK);
        again = embedding();
        assert_int_equal(memcmp(again, whole, ROWS * P * sizeof(float)), 0);
        free(again);
    }
    print_message("counted: %u kills\n", kills);
    assert_true(kills >= 6);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_passes_go_on_where_they_were, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
