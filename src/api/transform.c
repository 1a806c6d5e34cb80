/*
 * Places new rows by a result or by a model: ny_place, of which ny_transform and ny_transform_model
 * are short forms, and ny_place_rows for rows in memory; and finds their neighbours by a graph:
 * ny_place, ny_neighbors_of; and their clusters: ny_place, ny_clusters_of. Models in memory:
 * api/model.c.
 *
 * A result is asked first whether its new rows get neighbours, or are placed by a map of a graph,
 * by all points of the store, or by its model. Of a model, the drift of the new rows is measured on
 * the way (place/drift.h).
 */
#include <math.h>

#include "maps/graph_map.h"
#include "place/drift.h"
#include "place/landmarks.h"
#include "place/points.h"
#include "model/extension.h"
#include "model/landmark_points.h"
#include "results/graphs.h"
#include "results/stored_model.h"

#include "api/call.h"
#include "api/new_rows.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/clock.h"
#include "base/command.h"
#include "base/memory.h"
#include "io/memory.h"
#include "io/output.h"
#include "io/writer.h"
#include "shards/open.h"

/* One transform: the request, and its findings. */
struct run {
    struct ny_context *ctx;
    const struct ny_placing *placing;
    const char *from; /* where the rows come from, for messages */
    struct ny_reader_options reading;
    struct ny_read_rows rows;
    struct ny_placed placed;
    struct ny_new_neighbors new; /* neighbors 0: rows got coordinates */
    struct ny_cluster_finder finder;
    size_t clusters; /* that it knew; 0: it was not asked */
};

/* Transforms by the model of the result, once it has learnt how the rows of the fit lie. */
static int by_own_model(struct run *run, struct ny_store *store)
{
    static const struct ny_drift_how how = {.tolerance = NAN};
    struct ny_model *model = NULL;
    int err = ny_model_of_result(&model, store, run->placing->name);

    if (!err && !ny_store_set(store)) err = ny_store_skip_lost(store); /* a set has lost none */
    if (!err) err = ny_transform_learn(model, ny_store_rows(store), &how);
    if (!err) err = ny_transform_rows(model, &run->rows.base, &run->placed);
    ny_model_free(model);
    return err;
}

/* Writes the neighbours of the rows by a graph. */
static int by_graph(struct run *run, struct ny_store *store)
{
    struct ny_new_neighbors *new = &run->new;
    struct ny_neighbor_lists lists;
    int err;

    if (run->reading.nan_kept) return ny_fail_idle(run->ctx, "nan", "a graph");
    if (run->rows.with.ids || run->rows.with.labels || run->rows.with.header)
        return ny_fail_idle(run->ctx, "with", "a graph");
    if (run->rows.finder) return ny_fail_idle(run->ctx, "clusters", "a graph");
    lists = (struct ny_neighbor_lists){
        .rows = run->rows,
        .distances_output = run->placing->distances,
        .found = {.neighbors = run->placing->neighbors, .recall = run->placing->recall}};
    err = ny_neighbor_lists_find(&lists, store, run->placing->name);
    *new = lists.found;
    run->rows.placed = lists.rows.placed;
    run->rows.left_out = lists.rows.left_out;
    if (!err && new->drawn)
        ny_log(run->ctx, NY_LOG_NOTE,
               "recall %.4f (95 %% interval %.4f to %.4f), measured on %llu of the new rows",
               new->found.share, new->found.low, new->found.high, (unsigned long long)new->drawn);
    return err;
}

/* Refuses options that only graphs have, for a result that gives coordinates. */
static int check_coordinates(const struct run *run)
{
    const struct ny_placing *placing = run->placing;
    const char *option = placing->distances     ? "distances"
                         : placing->neighbors   ? "neighbors"
                         : placing->recall != 0 ? "recall"
                                                : NULL;

    return option ? ny_fail_only(run->ctx, option, "the name of a graph") : NY_OK;
}

/* Transforms by the graph of the result, or by all points. */
static int by_rows(struct run *run, struct ny_store *store)
{
    const char *name = run->placing->name;
    struct ny_named_graph other = {.record.of = NULL};
    struct ny_fitted fitted;
    bool of_graph;
    int err = ny_fitted_open(&fitted, store, name);

    of_graph = !err && ny_graph_map_of(ny_map_of(fitted.record));
    if (of_graph) err = ny_graph_need_of(store, name, ny_record_json(fitted.record), &other);
    if (!err)
        err = of_graph
                  ? ny_graph_transform(&fitted, other.record.of ? &other : NULL, &run->rows.base)
                  : ny_transform_points(&fitted, &run->rows.base);
    ny_record_free(other.record);
    ny_record_free(fitted.record);
    return err;
}

/* Transforms by the graph of the result, by all points, or by its model; by a graph that has no
 * map, new rows get neighbours. */
static int by_result(struct run *run, struct ny_store *store)
{
    const char *name = run->placing->name;
    json_t *record = NULL;
    bool is_graph, by_points;
    int err = ny_record_need_done(store, name, &record);

    if (err) return err;
    is_graph = ny_field_is(record, "kind", "graph");
    by_points = ny_result_needs_points(ny_record_of(record));
    json_decref(record);
    if (is_graph && run->rows.output) return by_graph(run, store);
    err = check_coordinates(run);
    if (!err && run->rows.finder) err = ny_cluster_finder_open(run->rows.finder, store, name);
    if (err) return err;
    return by_points ? by_rows(run, store) : by_own_model(run, store);
}

/* Opens the store for a result that is named. */
static int by_store(struct run *run)
{
    struct ny_store *store = NULL;
    int err =
        ny_shards_open(&store, run->ctx, run->placing->path, run->placing->name, NY_SHARDS_SOME);

    run->rows.like = store;
    if (err == NY_OK) err = by_result(run, store);
    ny_store_close(store);
    return err;
}

/* Transforms by a model that is in a file of its own. It does not know the rows of its fit. */
static int by_file(struct run *run)
{
    struct ny_model *model = NULL;
    int err = check_coordinates(run);

    if (!err && run->rows.finder) err = ny_fail_idle(run->ctx, "clusters", "a model");
    if (err == NY_OK) err = ny_model_of_file(&model, run->ctx, run->placing->path);
    if (err == NY_OK) err = ny_transform_rows(model, &run->rows.base, &run->placed);
    ny_model_free(model);
    return err;
}

/* Reports how neighbours were found, and how many of them; null of coordinates. */
static void describe_neighbors(const struct run *run, json_t *object)
{
    const struct ny_new_neighbors *new = &run->new;
    bool measured = new->drawn > 0;

    ny_field_set_json(object, "neighbors",
                      new->neighbors ? json_integer((json_int_t) new->neighbors) : json_null());
    ny_field_set_json(object, "knn", new->way ? json_string(new->way) : json_null());
    ny_field_set_number(object, "recall", new->neighbors ? new->found.share : NAN);
    ny_field_set_json(object, "recall_interval",
                      measured ? json_pack("[ff]", new->found.low, new->found.high) : json_null());
    ny_field_set_json(object, "recall_rows",
                      measured ? json_integer((json_int_t) new->drawn) : json_null());
}

/* Reports how many rows were placed and their drift; a drift that is not known is null. */
static int describe(const struct run *run, double seconds, struct ny_report **report)
{
    json_t *object;

    if (!report) return NY_OK;
    object = json_object();
    ny_field_set_json(object, "rows", json_integer((json_int_t)run->rows.placed));
    describe_neighbors(run, object);
    ny_field_set_json(object, "clusters",
                      run->rows.finder ? json_integer((json_int_t)run->clusters) : json_null());
    ny_field_set_number(object, "drift", run->placed.drift.distance);
    ny_field_set_number(object, "drift_trace_error", run->placed.drift.share);
    ny_field_set_number(object, "drift_trace_error_fitted", run->placed.drift.fitted);
    ny_field_set_json(object, "drift_rows", json_integer((json_int_t)run->placed.drift.rows));
    ny_field_set_count(object, "values_left_out", run->rows.left_out);
    ny_field_set_number(object, "seconds", seconds);
    return ny_report_of_json(report, run->ctx, object);
}

/* Places the rows by what the request names, and looks at their drift. */
static int place(struct run *run)
{
    int err = ny_call_begin(run->ctx);

    if (err) return err;
    err = run->placing->name ? by_store(run) : by_file(run);
    run->clusters = run->finder.k;
    ny_cluster_finder_close(&run->finder);
    if (err == NY_OK) ny_drift_tell(run->ctx, run->from, &run->placed.drift, "");
    ny_call_end(run->ctx);
    return err;
}

/* Checks the name of the second file, of distances or of clusters. */
static int check_beside(struct ny_context *ctx, const struct ny_placing *placing, const char *file)
{
    int err = ny_writer_apart(ctx, file, placing->input);

    if (!err && ny_output_is_same(file, placing->output))
        err = ny_fail(ctx, NY_EUSAGE, "two outputs both go to %s", placing->output);
    return err ? err : ny_output_check(ctx, file, NY_OUTPUT_TABLE);
}

/* Reads what is to stand before the coordinates. */
static int read_with(struct run *run)
{
    struct ny_beside *with = &run->rows.with;
    int err = ny_beside_parse(with, run->ctx, run->placing->with, run->placing->output);

    if (err) return err;
    if (with->clusters) return ny_fail_both(run->ctx, "with clusters", "clusters");
    if ((with->ids || with->labels) && run->reading.nan_kept)
        return ny_fail_both(run->ctx, "with", "nan keep");
    return NY_OK;
}

int ny_place(struct ny_context *context, const struct ny_placing *placing,
             struct ny_report **report)
{
    struct run run = {.ctx = context, .placing = placing, .placed = {.drift = ny_drift_unknown}};
    double started_s = ny_now();
    int err = NY_GIVEN(context, placing);

    if (report) *report = NULL;
    if (!err) err = NY_GIVEN(context, placing->path, placing->input, placing->output);
    if (!err) err = ny_writer_apart(context, placing->output, placing->input);
    if (!err && placing->distances) err = check_beside(context, placing, placing->distances);
    if (!err && placing->clusters) err = check_beside(context, placing, placing->clusters);
    if (!err && !placing->name) err = ny_writer_apart(context, placing->output, placing->path);
    if (!err) err = ny_output_check(context, placing->output, NY_OUTPUT_TABLE);
    if (err) return err;
    run.from = placing->input;
    run.reading = ny_settings_reader(placing->import);
    if (run.reading.nan_drop && !run.reading.nan_kept)
        return ny_fail(context, NY_EUSAGE, "--nan drop is not for transform; give --nan keep");
    run.rows =
        (struct ny_read_rows){.base = {.ops = &ny_read_rows_ops, .keeps = run.reading.nan_kept},
                              .input = placing->input,
                              .options = &run.reading,
                              .output = placing->output};
    run.finder.output = placing->clusters;
    if (placing->clusters) run.rows.finder = &run.finder;
    err = read_with(&run);
    if (!err) err = place(&run);
    return err ? err : describe(&run, ny_now() - started_s, report);
}

int ny_transform(struct ny_context *context, const char *path, const char *name, const char *input,
                 const char *output, const struct ny_options *import)
{
    const struct ny_placing placing = {
        .path = path, .name = name, .input = input, .output = output, .import = import};
    int err = NY_GIVEN(context, path, name, input, output);

    return err ? err : ny_place(context, &placing, NULL);
}

int ny_transform_model(struct ny_context *context, const char *model, const char *input,
                       const char *output, const struct ny_options *import)
{
    const struct ny_placing placing = {
        .path = model, .input = input, .output = output, .import = import};
    int err = NY_GIVEN(context, model, input, output);

    return err ? err : ny_place(context, &placing, NULL);
}

int ny_place_rows(struct ny_context *context, const char *path, const char *name,
                  const struct ny_table *table, const struct ny_places_room *room)
{
    const struct ny_placing placing = {.path = path, .name = name};
    struct run run = {.ctx = context, .placing = &placing, .placed = {.drift = ny_drift_unknown}};
    struct ny_table rows;
    int err = NY_GIVEN(context, path, name, table, room);

    if (!err) err = NY_GIVEN(context, room->values);
    if (!err) err = ny_given_table(context, table, &rows);
    if (err || !rows.rows) return err;
    run.from = ny_memory_name(&rows);
    run.rows = (struct ny_read_rows){
        .base.ops = &ny_read_rows_ops,
        .table = &rows,
        .room = {room->values, (enum ny_dtype)room->dtype, 0, room->components}};
    return place(&run);
}

int ny_clusters_of(struct ny_context *context, const char *path, const char *name,
                   const struct ny_table *table, uint64_t *clusters)
{
    const struct ny_placing placing = {.path = path, .name = name};
    struct run run = {.ctx = context,
                      .placing = &placing,
                      .placed = {.drift = ny_drift_unknown},
                      .finder = {.number = clusters}};
    struct ny_table rows;
    int err = NY_GIVEN(context, path, name, table, clusters);

    if (!err) err = ny_given_table(context, table, &rows);
    if (err || !rows.rows) return err;
    run.from = ny_memory_name(&rows);
    run.rows =
        (struct ny_read_rows){.base.ops = &ny_read_rows_ops, .table = &rows, .finder = &run.finder};
    return place(&run);
}

int ny_neighbors_of(struct ny_context *context, const char *path, const char *name,
                    const struct ny_table *table, struct ny_neighbors_room *room)
{
    struct ny_neighbor_lists lists;
    struct ny_store *store = NULL;
    struct ny_table rows;
    int err = NY_GIVEN(context, path, name, table, room);

    if (!err) err = NY_GIVEN(context, room->numbers);
    if (!err) err = ny_given_table(context, table, &rows);
    if (!err && !room->neighbors) err = ny_fail_value(context, "neighbors", "at least 1", "0");
    if (!err) room->found = 1;
    if (err || !rows.rows) return err;
    lists =
        (struct ny_neighbor_lists){.rows = {.table = &rows},
                                   .numbers = room->numbers,
                                   .distances = room->distances,
                                   .found = {.neighbors = room->neighbors, .recall = room->recall}};
    err = ny_call_open(&store, context, path, name);
    if (!err) err = ny_neighbor_lists_find(&lists, store, name);
    if (!err) room->found = lists.found.found.share;
    ny_call_close(store);
    return err;
}
