/*
 * Exact fits killed at their checkpoints: on the side of the rows in both passes of a product, and
 * over shards, one of which has come less far. The same command goes on to the bytes of a fit that
 * was not killed.
 */
#include "support/killed.h"
#include "support/results.h"

#include "base/context.h"
#include "base/random.h"
#include "support/store_case.h"

/* Three units of rows, and more columns or fewer. */
enum { ROWS = 4200, WIDE = 4300, NARROW = 430, VALUES = 6, P = 3 };

static struct ny_context *ctx;
static char folder[128], before[160], now[160];

/* Fits with a checkpoint behind each unit. */
static int job(struct ny_context *own)
{
    static const char *const chosen[][2] = {{"map", "kpca"},     {"kernel", "cosine"},
                                            {"approx", "exact"}, {"components", "3"},
                                            {"tol", "0.2"},      {"max-passes", "2"}};
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, own);

    ny_context_set_checkpoint(own, 0);
    for (size_t i = 0; !err && i < sizeof(chosen) / sizeof(chosen[0]); i++)
        err = ny_options_set(options, chosen[i][0], chosen[i][1]);
    if (!err) err = ny_fit(own, now, "m", options, NULL);
    return err;
}

static uint32_t first[ROWS + 1], column[ROWS * VALUES];
static float value[ROWS * VALUES];
static size_t columns;

/* A row has values in each of six ranges. */
static void make_rows(void)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        first[i + 1] = (i + 1) * VALUES;
        for (uint32_t k = 0; k < VALUES; k++) {
            uint64_t hash = ny_hash64(1, NY_STREAM_DATA, i * VALUES + k), near = i % 5 * 100;

            column[i * VALUES + k] = (uint32_t)((k * 700 + near + hash % 100) / (WIDE / columns));
            value[i * VALUES + k] = (float)(1 + hash / 128 % 8);
        }
    }
}

/* Puts some of the rows into the store, or into one of its shards. */
static int append(uint64_t row, uint64_t rows, const char *shard)
{
    const struct ny_table table = {.struct_bytes = sizeof(table),
                                   .dtype = NY_F32,
                                   .rows = rows,
                                   .columns = columns,
                                   .values = value,
                                   .index_bytes = sizeof(uint32_t),
                                   .row_start = first + row,
                                   .column = column,
                                   .entries = ROWS * VALUES};
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (!err) err = ny_options_set(options, "layout", "sparse");
    if (!err && shard) err = ny_options_set(options, "shard", shard);
    if (!err) err = ny_append(ctx, before, &table, options, NULL);
    return err;
}

static int begin(size_t d)
{
    columns = d;
    make_rows();
    if (ny_context_new(&ctx)) return -1;
    case_directory(folder);
    snprintf(before, sizeof(before), "%s/before", folder);
    snprintf(now, sizeof(now), "%s/now", folder);
    return 0;
}

static void stop(void)
{
    case_remove(folder);
    ny_context_free(ctx);
}

static double *embedding(void)
{
    return part_of_result(ctx, now, "m", "embedding", ROWS, P);
}

/* The trace of all rows, which the first pass counts. */
static double trace_of(const char *side)
{
    OWNED(ny_report) *report = NULL;

    assert_int_equal(ny_result_report(ctx, now, "m", &report), NY_OK);
    assert_string_equal(ny_report_text(report, "side"), side);
    return number_of(report, "trace");
}

/* Kills at each of the first syncs, and then at every third, and compares what the same command
 * then makes. */
static void kill_all(const char *side, long first_ones, unsigned least)
{
    double *whole, *again, trace;
    unsigned kills = 0;

    case_copy(before, now);
    if (job(ctx)) fail_msg("%s", ny_context_message(ctx));
    trace = trace_of(side);
    whole = embedding();
    for (long at = 3;; at += at < first_ones ? 1 : 3, kills++) {
        case_remove(now);
        case_copy(before, now);
        if (!killed_at_sync(at, job)) break;
        if (job(ctx)) fail_msg("sync %ld: %s", at, ny_context_message(ctx));
        again = embedding();
        assert_int_equal(memcmp(again, whole, ROWS * P * sizeof(float)), 0);
        assert_true(trace_of(side) == trace);
    }
    print_message("counted: %u kills\n", kills);
    assert_true(kills >= least);
}

TEST(both_passes_go_on_where_they_were)
{
    assert_int_equal(begin(WIDE) || append(0, ROWS, NULL), 0);
    kill_all("rows", 0, 6);
}

/* Two shards, which have their checkpoints each at a time of its own. */
TEST(shards_go_on_together)
{
    assert_int_equal(begin(NARROW) || append(0, 2048, "0/2") || append(2048, ROWS - 2048, "1/2"),
                     0);
    kill_all("columns", 24, 20); /* in the first pass, too, which counts the rows */
}

AROUND_EACH(NULL, stop)
