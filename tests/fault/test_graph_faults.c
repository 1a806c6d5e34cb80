/* Calls that fail below graphs and their maps (fault/api_faults.h). */
#include "fault/api_faults.h"

enum { NODES = 300 };

static struct bytes exact, forest, eigenmaps, placed;
static double length; /* of the path */

/* The graph has a limit, so that distances are read, too; its parts are joined. */
#define GRAPH "neighbors", "3", "max-distance", "9", "connect", "yes"

static int graph_with(struct ny_context *ctx, const char *name, const char *const *set)
{
    struct ny_options *options = NULL;
    int err = options_with(&options, ctx, set);

    if (err == NY_OK) err = ny_graph(ctx, store, name, options, NULL);
    ny_options_free(options);
    return err;
}

static int graph_exact(struct ny_context *ctx)
{
    return graph_with(ctx, "new", SET(GRAPH));
}

static void check_exact(void)
{
    check_first(&exact, store, "new", "neighbors");
}

static int graph_forest(struct ny_context *ctx)
{
    return graph_with(ctx, "new", SET(GRAPH, "knn", "forest", "leaf", "64"));
}

static void check_forest(void)
{
    check_first(&forest, store, "new", "neighbors");
}

static int isomap_as(struct ny_context *ctx, const char *name)
{
    return fit_with(ctx, store, name, SET("map", "isomap", "graph", "near", "landmarks", "40"));
}

static int isomap_new(struct ny_context *ctx)
{
    return isomap_as(ctx, "new");
}

static void check_isomap(void)
{
    check_first(&whole, store, "new", "embedding");
}

static int eigenmaps_new(struct ny_context *ctx)
{
    return fit_with(ctx, store, "new", SET("map", "eigenmaps", "graph", "near"));
}

static void check_eigenmaps(void)
{
    check_first(&eigenmaps, store, "new", "embedding");
}

static int path_near(struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    struct ny_options *options = NULL;
    int err = options_with(&options, ctx, SET("from", "0", "to", "299"));

    if (err == NY_OK) err = ny_path(ctx, store, "near", options, &report);
    if (err == NY_OK) ny_report_number(report, "length", &length);
    ny_report_free(report);
    ny_options_free(options);
    return err;
}

static void check_path(void)
{
    static double first;

    if (first == 0) first = length;
    assert_true(length > 0 && length == first);
}

static int transform_more(struct ny_context *ctx)
{
    return transform_rows(ctx, more);
}

static void check_placed(void)
{
    check_output(&placed);
}

static int prepare(struct ny_context *ctx)
{
    int err = graph_with(ctx, "near", SET(GRAPH));

    if (err == NY_OK) err = isomap_as(ctx, "old");
    if (err == NY_OK) err = transform_more(ctx);
    if (err == NY_OK) keep_output(&placed);
    return err;
}

int main(void)
{
    static const struct work list[] = {
        {"graph", graph_exact, check_exact, undo_new, 16},
        {"forest", graph_forest, check_forest, undo_new, 256},
        {"isomap", isomap_new, check_isomap, undo_new, 16},
        {"eigenmaps", eigenmaps_new, check_eigenmaps, undo_new, 16},
        {"path", path_near, check_path, nothing, 16},
        {"transform by isomap", transform_more, check_placed, undo_output, 16},
    };
    static const struct suite faults = {"faults below graphs", list,
                                        sizeof(list) / sizeof(list[0]), NODES, prepare};

    return run_faults(&faults);
}
