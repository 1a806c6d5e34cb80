/* Calls that fail below imports into shards, and below what reads shards as one store
 * (fault/api_faults.h). */
#include "fault/api_faults.h"

static char big[160], model[160];
static struct bytes places;

/* Imports the table as one of two shards. */
static int import_shard(struct ny_context *ctx, const char *path, const char *const *set)
{
    const char *files[] = {table};
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, set);

    if (err == NY_OK) err = ny_import(ctx, path, files, 1, options, NULL);
    return err;
}

static int import_one(struct ny_context *ctx)
{
    return import_shard(ctx, fresh, at_work->set);
}

/* Deals two tables out, which are one after the other. Where a call failed behind the last commit,
 * to be told again that all rows are there is the end, too. */
static int import_dealt(struct ny_context *ctx)
{
    const char *files[] = {table, table};
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("label-column", "class", "shards", "2"));

    if (err == NY_OK) err = ny_import(ctx, fresh, files, 2, options, NULL);
    if (err == NY_EUSAGE && strstr(ny_context_message(ctx), "has all of its shards")) err = NY_OK;
    return err;
}

/* Checks that the store has a report with these words. */
static void check_report(const char *words)
{
    OWNED(ny_context) *ctx = new_context();
    OWNED(ny_report) *report = NULL;

    assert_int_equal(ny_store_report(ctx, fresh, &report), NY_OK);
    assert_non_null(strstr(ny_report_json(report), words));
}

static void check_whole(void)
{
    check_report("\"missing\": []");
}

static void check_classes(void)
{
    check_report("\"classes\": 2");
}

static int export_big(struct ny_context *ctx)
{
    return ny_export(ctx, big, "map", "embedding", output);
}

static int report_big(struct ny_context *ctx)
{
    OWNED(ny_report) *of_store = NULL, *of_result = NULL;
    int err = ny_store_report(ctx, big, &of_store);

    if (err == NY_OK) err = ny_result_report(ctx, big, "map", &of_result);
    return err;
}

static int verify_big(struct ny_context *ctx)
{
    return ny_verify(ctx, big, NULL);
}

static int prepare(struct ny_context *ctx)
{
    int err = fit_with(ctx, store, "old", ALL_STAGES);

    snprintf(big, sizeof(big), "%s/big", directory);
    snprintf(model, sizeof(model), "%s/old.nym", directory);
    if (err == NY_OK) err = ny_export(ctx, store, "old", "model", model);
    for (int k = 0; k < 2 && err == NY_OK; k++) {
        char shard[4] = {(char)('0' + k), '/', '2', '\0'}, path[180];

        snprintf(path, sizeof(path), "%s/shard-0000%d", big, k);
        err = import_shard(ctx, big, SET("label-column", "class", "shard", shard));
        if (err == NY_OK) err = fit_with(ctx, path, "map", SET("model", model));
    }
    if (err == NY_OK) err = export_big(ctx);
    if (err == NY_OK) keep_output(&places);
    return err;
}

static const struct work list[] = {
    {"import of a shard", import_one, undo_fresh, 1, .rows = ROWS, .check = check_classes,
     .set = SET("label-column", "class", "shard", "1/2")},
    {"import that is dealt out", import_dealt, undo_fresh, 1, .rows = 2 * ROWS,
     .check = check_whole},
    {"import like other shards", import_one, undo_fresh, 1, .rows = ROWS, .check = check_classes,
     .set = SET("label-column", "class", "shard", "0/2", "like", big)},
    {"export of shards", export_big, undo_output, 1, .first = &places},
    {"report of shards", report_big, nothing, .stride = 1},
    {"verify of shards", verify_big, nothing, .stride = 1},
};

static const struct suite suite = {list, sizeof(list) / sizeof(list[0]), ROWS, prepare};
