/* results/shards.h: results of all shards of a store, made by one fit over them or shard by shard.
 * A fit over all shards leaves a field "sharded" in their records, which is put there here. */
#include "base/memory.h"
#include "results/shards.h"
#include "shards/open.h"
#include "support/api_case.h"
#include "support/options.h"
#include "support/results.h"

enum { SHARDS = 3, COLUMNS = 4, COMPONENTS = 2 };
static const uint64_t rows_of[SHARDS] = {2048, 30, 500};
enum { ROWS = 2048 + 30 + 500 };

static float values[ROWS * COLUMNS];
static double labels[ROWS];

static char *shard_path(unsigned k)
{
    static char path[200];

    snprintf(path, sizeof(path), "%s/shard-%05u", in.store, k);
    return path;
}

static void works(int status)
{
    if (status) fail_msg("%s", ny_context_message(in.ctx));
}

static void append(unsigned k, uint64_t first)
{
    const struct ny_table table = {.struct_bytes = sizeof(table),
                                   .dtype = NY_F32,
                                   .rows = rows_of[k],
                                   .columns = COLUMNS,
                                   .values = values + first * COLUMNS,
                                   .labels = labels + first};
    OWNED(ny_options) *options = options_with(in.ctx, "shard=%u/%d", k, SHARDS);

    works(ny_append(in.ctx, in.store, &table, options, NULL));
}

/* Rows in shards, and under "map" their places by the model of a fit of the first. */
static void start(void)
{
    char model[160];
    uint64_t first = 0;

    api_case_begin("big");
    for (size_t i = 0; i < ROWS; i++) {
        labels[i] = (double)(i % 3);
        for (size_t j = 0; j < COLUMNS; j++)
            values[i * COLUMNS + j] = (float)sin((double)(i * (j + 3)));
    }
    for (unsigned k = 0; k < SHARDS; first += rows_of[k++])
        append(k, first);
    must_fit(in.ctx, shard_path(0), "fit", NULL, "landmarks=20 gamma=0.3");
    snprintf(model, sizeof(model), "%s/m.nym", in.folder);
    works(ny_export(in.ctx, shard_path(0), "fit", "model", model));
    for (unsigned k = 0; k < SHARDS; k++)
        must_fit(in.ctx, shard_path(k), "map", NULL, "model=%s", model);
}

static void stop(void)
{
    assert_true(ny_memory_used(in.ctx) == 0);
    api_case_end();
}

/* Makes the records those of one fit over all shards, whose figures are the whole's. */
static void make_sharded(void)
{
    uint64_t first = 0;

    for (unsigned k = 0; k < SHARDS; first += rows_of[k++]) {
        OWNED(ny_store) *store = NULL;
        OWNED(json_t) *record = NULL;

        works(ny_store_open(&store, in.ctx, shard_path(k)));
        works(ny_record_load(store, "map", &record));
        ny_field_set_json(record, "sharded",
                          json_pack("{s:i, s:i, s:I, s:I}", "shard", (int)k, "shards", SHARDS,
                                    "first", (json_int_t)first, "rows", (json_int_t)ROWS));
        ny_field_set_text(record, "id", "0123456789abcdef");
        ny_field_set_number(json_object_get(record, "report"), "trace_error", 0.25);
        ny_field_set_number(json_object_get(record, "report"), "seconds", 1 + k);
        works(ny_record_save(store, "map", record));
    }
}

static double figure(const char *key)
{
    OWNED(ny_report) *report = NULL;
    double value = NAN;

    works(ny_result_report(in.ctx, in.store, "map", &report));
    assert_string_equal(ny_report_text(report, "status"), "done");
    (void)ny_report_number(report, key, &value);
    return value;
}

TEST(figures_are_the_wholes)
{
    assert_true(figure("n") == ROWS);
    assert_true(figure("gamma") > 0.29 && figure("gamma") < 0.31);
    assert_true(isnan(figure("rows_read"))); /* each shard has its own */
    make_sharded();
    assert_true(figure("n") == ROWS);
    assert_true(figure("trace_error") == 0.25);
    assert_true(figure("seconds") == SHARDS); /* that of the last shard's record, for the whole */
    case_remove(shard_path(1));
    assert_true(figure("n") == ROWS);
}

/* Clusters of each shard are its own, unless an evaluation of all shards has found them. */
TEST(clusters_are_read_where_they_are_of_all)
{
    OWNED(ny_options) *options = options_with(in.ctx, "measures=clusters clusters=3");
    char *output = lend_text("%s/c.npy", in.folder);

    for (unsigned k = 0; k < SHARDS; k++)
        works(ny_evaluate(in.ctx, shard_path(k), "map", options, NULL));
    assert_int_equal(ny_export(in.ctx, in.store, "map", "clusters", output), NY_EUSAGE);
    make_sharded();
    assert_int_equal(ny_export(in.ctx, in.store, "map", "clusters", output), NY_EUSAGE);
    works(ny_evaluate(in.ctx, in.store, "map", options, NULL));
    works(ny_export(in.ctx, in.store, "map", "clusters", output));
    works(ny_evaluate(in.ctx, shard_path(1), "map", options, NULL));
    assert_int_equal(ny_export(in.ctx, in.store, "map", "clusters", output), NY_EUSAGE);
}

/* Rows of the first shard are read, and then another evaluation of all shards takes place. */
TEST(clusters_of_two_evaluations_are_no_part)
{
    static uint64_t clusters[ROWS];
    const struct ny_result_part *part = ny_part_find("clusters");
    OWNED(ny_options) *options = options_with(in.ctx, "measures=clusters clusters=3");
    struct ny_result result;
    OWNED(ny_store) *store = NULL;

    make_sharded();
    works(ny_evaluate(in.ctx, in.store, "map", options, NULL));
    works(ny_shards_open(&store, in.ctx, in.store, NULL, NY_SHARDS_ALL));
    works(ny_result_open_any(&result, store, "map"));
    works(ny_part_fill(&result, part, 0, (size_t)rows_of[0], clusters));
    works(options_set(options, "clusters=4"));
    works(ny_evaluate(in.ctx, in.store, "map", options, NULL));
    assert_int_equal(ny_part_fill(&result, part, rows_of[0], (size_t)rows_of[1], clusters),
                     NY_EBUSY);
    ny_result_close_any(&result);
}

/* Sets the stage of the record of a shard. */
static void set_stage(unsigned k, const char *stage)
{
    OWNED(ny_store) *store = NULL;
    OWNED(json_t) *record = NULL;

    works(ny_store_open(&store, in.ctx, shard_path(k)));
    works(ny_record_load(store, "map", &record));
    ny_field_set_text(record, "stage", stage);
    works(ny_record_save(store, "map", record));
}

/* A failure of one call says nothing of the next one. */
TEST(a_shard_that_could_not_be_opened_is_opened_again)
{
    uint64_t rows[30];
    const struct ny_result_part *part = ny_part_find("rows");
    struct ny_result result;
    OWNED(ny_store) *store = NULL;

    works(ny_shards_open(&store, in.ctx, in.store, NULL, NY_SHARDS_ALL));
    works(ny_result_open_any(&result, store, "map"));
    set_stage(1, "project");
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(ny_part_fill(&result, part, rows_of[0], 30, rows), NY_EUSAGE);
        ny_error_clear(in.ctx);
    }
    set_stage(1, "done");
    works(ny_part_fill(&result, part, rows_of[0], 30, rows));
    assert_true(rows[0] == rows_of[0] && rows[29] == rows_of[0] + 29);
    ny_result_close_any(&result);
}

TEST(another_model_is_noticed)
{
    uint64_t n, p;

    must_fit(in.ctx, shard_path(1), "map", NULL, "landmarks=20 gamma=0.3 restart=yes");
    assert_int_equal(ny_embedding_shape(in.ctx, in.store, "map", &n, &p), NY_EUSAGE);
}

AROUND_EACH(start, stop)
