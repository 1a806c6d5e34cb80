/* Calls that fail below graphs and their maps (fault/api_faults.h). */
#include "fault/api_faults.h"

enum { NODES = 300, FEW = 20, NEAREST = 4 };

static char apart[200], edges[200], written[200]; /* files of distances, and of edges */
static struct bytes exact, given, edges_of_near, eigenmaps, path, placed, numbers,
    distances, near, many;
static struct {
    uint64_t rows[NODES * NEAREST];
    double at[NODES * NEAREST]; /* how far they are */
} found;
static double length; /* of the path */

/* The graph has a limit, so that distances are read, too; its parts are joined. */
#define ISOMAP SET("map", "isomap", "graph", "near", "landmarks", "40")
#define GRAPH "neighbors", "3", "max-distance", "9", "connect", "yes"

static int graph_with(struct ny_context *ctx, const char *where, const char *name,
                      const char *const *set)
{
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, set);

    if (err == NY_OK) err = ny_graph(ctx, where, name, options, NULL);
    return err;
}

static int graph_new(struct ny_context *ctx)
{
    return graph_with(ctx, store, "new", at_work->set);
}

/* A graph of the edges in a file, which begins a store of its own. */
static int graph_given(struct ny_context *ctx)
{
    return graph_with(ctx, fresh, "new", SET("edges", edges));
}

static int graph_to_file(struct ny_context *ctx)
{
    return ny_export(ctx, store, "near", "graph", written);
}

static void check_written(void)
{
    assert_int_equal(rename(written, output), 0);
    check_output(&edges_of_near);
}

static void undo_written(void)
{
    unlink(written);
}

static int path_near(struct ny_context *ctx)
{
    OWNED(ny_report) *report = NULL;
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("from", "0", "to", "299"));

    if (err == NY_OK) err = ny_path(ctx, store, "near", options, &report);
    if (err == NY_OK) assert_true(ny_report_number(report, "length", &length) && length > 0);
    return err;
}

/* ---- neighbors of new rows ----------------------------------------------------------------- */

/* Writes the neighbors of `more` and their distances into two files. */
static int neighbors_of_file(struct ny_context *ctx)
{
    struct ny_placing placing = {.path = store,
                                 .name = "near",
                                 .input = more,
                                 .output = output,
                                 .distances = apart,
                                 .neighbors = NEAREST};
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("label-column", "class"));

    placing.import = options;
    if (err == NY_OK) err = ny_place(ctx, &placing, NULL);
    return err;
}

static void check_files(void)
{
    check_output(&numbers);
    assert_int_equal(rename(apart, output), 0);
    check_output(&distances);
}

/* The numbers come last: where they are, so are the distances. */
static void undo_files(void)
{
    if (access(output, F_OK) == 0) assert_int_equal(access(apart, F_OK), 0);
    unlink(output);
    unlink(apart);
}

/* Finds the neighbors of so many rows by a graph. */
static int neighbors_by(struct ny_context *ctx, const char *graph, int count)
{
    static float values[NODES * D];
    const struct ny_table rows = {.struct_bytes = sizeof(rows),
                                  .dtype = NY_F32,
                                  .rows = (uint64_t)count,
                                  .columns = D,
                                  .values = values};
    struct ny_neighbors_room room = {
        .neighbors = NEAREST, .numbers = found.rows, .distances = found.at, .recall = 0.9};
    int err;

    for (int i = 0; i < count * D; i++)
        values[i] = (float)(i * 7 % 13) + (float)(i % 29) / 29;
    memset(&found, 255, sizeof(found));
    err = ny_neighbors_of(ctx, store, graph, &rows, &room);
    for (int i = 0; !err && i < count * NEAREST; i++)
        assert_true(found.rows[i] < NODES && found.at[i] >= 0);
    return err;
}

static int neighbors_of_rows(struct ny_context *ctx)
{
    return neighbors_by(ctx, "near", FEW);
}

/* By a sieve, which a cosine has for rows of any number of columns. */
static int neighbors_of_many(struct ny_context *ctx)
{
    return neighbors_by(ctx, "angles", NODES);
}

static int prepare(struct ny_context *ctx)
{
    static const struct work placing = {.input = more};
    int err = graph_with(ctx, store, "near", SET(GRAPH));

    if (err == NY_OK) err = graph_with(ctx, store, "angles", SET("metric", "cosine"));

    snprintf(edges, sizeof(edges), "%s/edges.npz", directory);
    snprintf(written, sizeof(written), "%s/written.npz", directory);
    if (err == NY_OK) err = ny_export(ctx, store, "near", "graph", edges);
    if (err == NY_OK) err = graph_to_file(ctx);
    if (err == NY_OK && rename(written, output) == 0) keep_output(&edges_of_near);
    if (err == NY_OK) err = fit_with(ctx, store, "old", ISOMAP);
    at_work = &placing;
    if (err == NY_OK) err = transform_rows(ctx);
    if (err == NY_OK) keep_output(&placed);
    snprintf(apart, sizeof(apart), "%s/distances.npy", directory);
    if (err == NY_OK) err = neighbors_of_file(ctx);
    if (err == NY_OK) keep_output(&numbers);
    if (err == NY_OK && rename(apart, output) == 0) keep_output(&distances);
    return err;
}

static const struct work list[] = {
    {"graph", graph_new, undo_new, 16, &exact, store, "new", .part = "neighbors",
     .set = SET(GRAPH)},
    {"tree", graph_new, undo_new, 16, &exact, store, "new", .part = "neighbors",
     .set = SET(GRAPH, "knn", "tree")},
    {"sieve", graph_new, undo_new, 16, &exact, store, "new", .part = "neighbors",
     .set = SET(GRAPH, "knn", "sieve", "recall", "1")},
    {"graph of edges", graph_given, undo_fresh, 16, &given, fresh, "new", .part = "components"},
    {"graph to a file", graph_to_file, undo_written, 1, .check = check_written},
    {"isomap", fit_new, undo_new, 16, &whole, store, "new", .part = "embedding", .set = ISOMAP},
    {"eigenmaps", fit_new, undo_new, 16, &eigenmaps, store, "new", .part = "embedding",
     .set = SET("map", "eigenmaps", "graph", "near")},
    {"path", path_near, nothing, 16, &path, .memory = &length, .bytes = sizeof(length)},
    {"transform by isomap", transform_rows, undo_output, 16, .first = &placed, .input = more},
    {"neighbors of a file", neighbors_of_file, undo_files, 1, .check = check_files},
    {"neighbors of rows", neighbors_of_rows, nothing, 1, &near, .memory = &found,
     .bytes = sizeof(found)},
    {"neighbors by a sieve", neighbors_of_many, nothing, 1, &many, .memory = &found,
     .bytes = sizeof(found)},
};

static const struct suite suite = {list, sizeof(list) / sizeof(list[0]), NODES, prepare};
