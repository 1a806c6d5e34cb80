/* Calls that fail below fits, their updates and their judges (fault/api_faults.h). */
#include <sys/stat.h>

#include "fault/api_faults.h"

enum { FEW = 400 };

static char grown[160]; /* the store, with rows appended since */
static char scratch[160]; /* folder for the stores of one call */
static float coordinates[FEW * 2], replaced[FEW * 2];
static struct bytes by_points, full, frozen, clusters, online, embedded, summed;

/* Fits by landmarks that are points in memory, and removes the result: they are kept with it. */
static int fit_points(struct ny_context *ctx)
{
    static const float values[2][D] = {{0.5F}, {1.5F, 2}};
    const struct ny_table given = {
        .struct_bytes = sizeof(given), .dtype = NY_F32, .rows = 2, .columns = D, .values = values};
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("components", "1", "gamma", "0.1"));

    if (err == NY_OK) err = ny_options_set_table(options, "landmarks-points", &given);
    if (err == NY_OK) err = ny_fit(ctx, store, "new", options, NULL);
    return err;
}

/* Updates a copy of a store that has grown since its result was made. */
static int update(struct ny_context *ctx)
{
    if (access(fresh, F_OK) != 0) case_copy(grown, fresh);
    return fit_with(ctx, fresh, "old", at_work->set);
}

static int embed_online(struct ny_context *ctx)
{
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx,
                           SET("online", "yes", "tolerance", "0.05", "label-column", "class"));

    if (err == NY_OK) err = ny_embed_file(ctx, table, output, options, NULL);
    return err;
}

/* Embeds rows in memory, and places them again by the model. */
static int embed_rows(struct ny_context *ctx)
{
    static double values[FEW * D];
    const struct ny_table rows = {
        .struct_bytes = sizeof(rows), .dtype = NY_F64, .rows = FEW, .columns = D, .values = values};
    const struct ny_dense_room room = {NY_F32, coordinates};
    OWNED(ny_options) *options = NULL;
    OWNED(ny_report) *report = NULL;
    OWNED(ny_model) *model = NULL;
    int err =
        options_with(&options, ctx, SET("landmarks", "20", "components", "2", "tmpdir", scratch));

    for (int i = 0; i < FEW * D; i++)
        values[i] = i * 31 % 17;
    memset(coordinates, 0, sizeof(coordinates));
    if (err == NY_OK) err = ny_embed(ctx, &rows, options, &room, &model, &report);
    if (err == NY_OK) err = ny_model_place(model, &rows, NY_F32, replaced, 0);
    if (err == NY_OK) assert_memory_equal(replaced, coordinates, sizeof(coordinates));
    if (err && !model) assert_null(report);
    return err;
}

/* No store of one call is left, however the call ended. */
static void undo_embedded(void)
{
    if (rmdir(scratch)) fail_msg("%s is not empty", scratch);
    assert_int_equal(mkdir(scratch, 0777), 0);
}

/* Sums of two batches, as bytes and back, solved; `coordinates` are then those of the model. */
static int sum_rows(struct ny_context *ctx)
{
    static double values[FEW * D];
    struct ny_table rows = {
        .struct_bytes = sizeof(rows), .dtype = NY_F64, .rows = 20, .columns = D, .values = values};
    OWNED(ny_options) *options = NULL;
    OWNED(ny_sums) *sums = NULL, *copy = NULL;
    OWNED(ny_model) *model = NULL;
    const void *image;
    size_t bytes;
    int err;

    for (int i = 0; i < FEW * D; i++)
        values[i] = i * 31 % 17 + 0.1 * i;
    err = options_with(&options, ctx, SET("gamma", "0.1", "tmpdir", scratch));
    if (err == NY_OK) err = ny_options_set_table(options, "landmarks-points", &rows);
    if (err == NY_OK) err = ny_sums_new(&sums, ctx, options);
    if (err == NY_OK) err = ny_sums_add(sums, &rows);
    rows.rows = FEW;
    if (err == NY_OK) err = ny_sums_add(sums, &rows);
    if (err == NY_OK) err = ny_sums_image(sums, &image, &bytes);
    if (err == NY_OK) err = ny_sums_load(&copy, ctx, image, bytes);
    if (err == NY_OK) err = ny_sums_solve(copy, &model, NULL);
    if (err == NY_OK) err = ny_model_place(model, &rows, NY_F32, coordinates, 0);
    return err;
}

static int prepare(struct ny_context *ctx)
{
    int err = fit_with(ctx, store, "old", ALL_STAGES);

    snprintf(scratch, sizeof(scratch), "%s/scratch", directory);
    assert_int_equal(mkdir(scratch, 0777), 0);
    snprintf(grown, sizeof(grown), "%s/grown.nys", directory);
    if (err == NY_OK) err = append_fresh(ctx);
    if (err == NY_OK) case_copy(fresh, grown);
    undo_fresh();
    return err;
}

static const struct work list[] = {
    {"fit", fit_new, undo_new, 8, &whole, store, "new", .part = "embedding", .set = ALL_STAGES},
    {"fit by points", fit_points, undo_new, 8, &by_points, store, "new", .part = "landmark-points"},
    {"update in full", update, undo_fresh, 16, &full, fresh, "old", .part = "embedding",
     .set = SET("update", "full", "memory", "200M")},
    {"frozen update", update, undo_fresh, 16, &frozen, fresh, "old", .part = "embedding",
     .set = SET("update", "frozen", "memory", "200M")},
    {"evaluate", evaluate_old, nothing, 16, &clusters, store, "old", .part = "clusters"},
    {"online embedding", embed_online, undo_output, 16, .first = &online},
    {"embed rows", embed_rows, undo_embedded, 4, &embedded, .memory = coordinates,
     .bytes = sizeof(coordinates)},
    {"sum up rows", sum_rows, undo_embedded, 8, &summed, .memory = coordinates,
     .bytes = sizeof(coordinates)},
};

static const struct suite suite = {list, sizeof(list) / sizeof(list[0]), ROWS, prepare};
