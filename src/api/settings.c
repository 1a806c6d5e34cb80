/*
 * Translates the options in force into what a file, a graph or a fit is asked for: words become
 * table entries and places in enums, texts become numbers.
 *
 * Fit, select and update call ny_settings_new(). The rules between options alone are checked
 * before (ny_options_check()); what follows from the wishes and the points is decided after
 * (fit/wishes.h).
 */
#include "api/settings.h"

#include "io/file_rows.h"

#include <math.h>
#include <string.h>

#include "api/option_tables.h"
#include "base/memory.h"
#include "columns/kernels.h"
#include "fit/wishes.h"
#include "results/graphs.h"
#include "results/record.h"

static double number_of(const struct ny_options *options, const char *name, double fallback)
{
    double value;

    return ny_options_number(options, name, &value) ? value : fallback;
}

int ny_settings_preparation(struct ny_context *ctx, const struct ny_options *options,
                            struct ny_prepared *how)
{
    const char *rows = ny_options_get(options, "rows");

    if (ny_prepared_parse(how, rows, ny_options_get(options, "values"))) return NY_OK;
    return ny_fail_value(ctx, "rows", "none, unit, or total:S with a number S above 0", rows);
}

enum ny_reading ny_settings_layout(const struct ny_options *options)
{
    const char *layout = ny_options_get(options, "layout");

    if (strcmp(layout, "auto") == 0) return NY_READ_AUTO;
    return strcmp(layout, "sparse") == 0 ? NY_READ_SPARSE : NY_READ_DENSE;
}

struct ny_reader_options ny_settings_reader(const struct ny_options *options)
{
    const char *format, *dtype, *nan;
    struct ny_reader_options reader = {0};

    if (!options) return reader;
    format = ny_options_get(options, "format");
    dtype = ny_options_get(options, "dtype");
    nan = ny_options_get(options, "nan");
    if (format && strcmp(format, "auto") != 0) reader.format = format;
    reader.header = (enum ny_csv_header)ny_options_choice(options, "header");
    reader.decimal = (enum ny_csv_decimal)ny_options_choice(options, "decimal");
    if (dtype) reader.dtype = ny_dtype_parse(dtype);
    reader.label_column = ny_options_get(options, "label-column");
    reader.id_column = ny_options_get(options, "id-column");
    reader.columns = ny_options_get(options, "columns");
    reader.drop_columns = ny_options_get(options, "drop-columns");
    reader.column_names = ny_options_get(options, "column-names");
    reader.new_columns_drop = ny_options_choice(options, "new-columns") > 0;
    reader.labels_file = ny_options_get(options, "labels");
    reader.matrix = ny_options_get(options, "matrix");
    reader.transpose = ny_options_flag(options, "transpose");
    reader.dims = ny_options_count(options, "dims", 0);
    reader.nan_kept = nan && strcmp(nan, "keep") == 0;
    reader.nan_drop = reader.nan_kept || (nan && strcmp(nan, "drop") == 0);
    return reader;
}

struct ny_graph_settings ny_settings_graph(const struct ny_options *options,
                                           const struct ny_context *ctx)
{
    struct ny_graph_settings graph = {
        .metric = ny_options_choice(options, "metric") ? &ny_kernel_angular : &ny_kernel_euclidean,
        .scale = (enum ny_scale)ny_options_choice(options, "scale"),
        .scale_typed = ny_options_is_set(options, "scale"),
        .neighbors = ny_options_count(options, "neighbors", 0),
        .max_distance = number_of(options, "max-distance", INFINITY),
        .distance_quantile = number_of(options, "distance-quantile", NAN),
        .mutual = ny_options_flag(options, "mutual"),
        .connect = ny_options_flag(options, "connect"),
        .way = (enum ny_knn_way)ny_options_choice(options, "knn"),
        .threads = ny_context_threads(ctx)};

    graph.recall = number_of(options, "recall", 1);
    return graph;
}

/* Sets the kernel with its parameters; γ is left to stage stats where it is not given. */
static void read_kernel(const struct ny_options *options, struct ny_wishes *wishes)
{
    const char *name = ny_options_get(options, "kernel");
    struct ny_fit_settings *plain = &wishes->plain;
    const struct ny_param *param;

    if (!name) return; /* a graph's map without one */
    plain->kernel = ny_kernel_find(name);
    plain->params = NY_KERNEL_PARAMS;
    for (size_t i = 0; (param = ny_kernel_number(plain->kernel, i)); i++)
        ny_options_number(options, param->name, ny_param_value(param, &plain->params));
    plain->gamma_auto =
        plain->kernel->auto_gamma && !ny_options_number(options, "gamma", &plain->params.gamma);
    plain->scale = (enum ny_scale)ny_options_choice(options, "scale");
    plain->scale_typed = ny_options_is_set(options, "scale");
}

/* Sets what a selection of landmarks by a kernel takes besides their number. */
static void read_selection(const struct ny_options *options, struct ny_wishes *wishes)
{
    wishes->plain.dictionary.tolerance = number_of(options, "tolerance", NAN);
    wishes->plain.pilot = ny_options_flag(options, "pilot");
    wishes->affine_typed = ny_options_is_set(options, "affine");
    wishes->plain.affine = ny_options_flag(options, "affine");
    wishes->plain.online = ny_options_flag(options, "online");
}

/* Sets what a fit takes, whether its map is one of a kernel or of a graph. */
static void read_fit(const struct ny_options *options, struct ny_wishes *wishes)
{
    const char *approx = ny_options_get(options, "approx");
    struct ny_fit_settings *plain = &wishes->plain;

    plain->method = approx ? ny_method_find(approx) : NULL;
    plain->precision = (enum ny_precision)ny_options_choice(options, "precision");
    plain->components = ny_options_count(options, "components", 2);
    plain->asymmetric = ny_options_choice(options, "normalize");
    plain->time = number_of(options, "time", 1);
    plain->until_sums = ny_options_choice(options, "until");
}

/* Sets what a map of a kernel takes besides. */
static void read_kernel_map(const struct ny_options *options, struct ny_wishes *wishes)
{
    struct ny_fit_settings *plain = &wishes->plain;

    wishes->implicit = ny_options_choice(options, "averages");
    plain->probes = ny_options_count(options, "probe", 0);
    wishes->oversample_typed = ny_options_is_set(options, "oversample");
    wishes->power_typed = ny_options_is_set(options, "power");
    plain->check_rows = ny_options_count(options, "check-rows", 0);
    plain->row_normalize = ny_options_flag(options, "row-normalize");
    plain->inner = (enum ny_inner)ny_options_choice(options, "inner");
    plain->randomized.oversample = ny_options_count(options, "oversample", 5);
    plain->randomized.power = (unsigned)ny_options_count(options, "power", 2);
    plain->randomized.seed = plain->seed;
    wishes->products =
        ny_options_is_set(options, "tol") || ny_options_is_set(options, "max-passes");
    plain->tol = number_of(options, "tol", 1e-4);
    plain->max_passes = (unsigned)ny_options_count(options, "max-passes", 60);
    plain->certify = ny_options_flag(options, "certify");
    plain->rank = ny_options_count(options, "rank", 0);
    plain->experts = ny_options_count(options, "experts", 0);
    plain->weights = (enum ny_weights)ny_options_choice(options, "weights");
}

/* Sets what a map of a graph takes besides, and the graph where the fit makes it. */
static void read_graph_map(const struct ny_options *options, struct ny_context *ctx,
                           struct ny_wishes *wishes)
{
    struct ny_fit_settings *plain = &wishes->plain;

    plain->graph_name = ny_options_get(options, "graph");
    plain->largest_alone = ny_options_flag(options, "largest");
    plain->edge_weights = (enum ny_edge_weights)ny_options_choice(options, "edge-weights");
    plain->edge_weights_typed = ny_options_is_set(options, "edge-weights");
    wishes->sweep = ny_options_get(options, "sweep");
    if (!plain->graph_name) plain->graph = ny_settings_graph(options, ctx);
}

/* Translates the options of a fit or a selection. A selection alone is one for kpca, and what
 * takes no landmarks has the first rule, which nobody asks. */
static struct ny_wishes read_wishes(const struct ny_options *options, struct ny_context *ctx,
                                    unsigned groups)
{
    const char *select = ny_options_get(options, "select");
    bool embeds = groups & NY_GROUP_FIT;
    struct ny_wishes wishes = {
        .plain = {.landmarks = ny_options_count(options, "landmarks", SIZE_MAX),
                  .map = embeds ? ny_options_map(options) : ny_map_find("kpca"),
                  .rule = select ? ny_rule_find(select) : ny_rule_at(0),
                  .landmarks_typed = ny_options_is_set(options, "landmarks"),
                  .seed = ny_options_count(options, "seed", 0),
                  .threads = ny_context_threads(ctx)}};

    read_kernel(options, &wishes);
    if (embeds) read_fit(options, &wishes);
    if (wishes.plain.map->graph)
        read_graph_map(options, ctx, &wishes);
    else {
        read_selection(options, &wishes);
        if (embeds) read_kernel_map(options, &wishes);
    }
    return wishes;
}

/* Takes the nodes of a graph for the points of a store that has none: a map of it needs no more. */
static int take_nodes(struct ny_store *store, const char *name, struct ny_rows_info *points)
{
    struct ny_named_graph graph;
    int err = ny_graph_need(store, name, &graph);

    if (!err && ny_state_of(graph.record).record.nodes) points->n = graph.graph.n;
    ny_record_free(graph.record);
    return err;
}

/* Reads the shape of the points without the rows that are lost, and refuses too few to fit. `rows`
 * stands for their number, unless it is 0. */
static int need_points(struct ny_store *store, const struct ny_options *options, uint64_t rows,
                       struct ny_rows_info *points)
{
    /* One row can be summed up, or placed by a model, but not fitted. */
    bool one = ny_options_choice(options, "until") || ny_options_is_set(options, "model");
    uint64_t least = one ? 1 : 2;
    const char *graph = ny_options_get(options, "graph");
    int err = ny_store_skip_lost(store);

    if (err == NY_OK) err = ny_points_info(store, points);
    if (err == NY_OK && rows) points->n = rows;
    if (err == NY_OK && points->n == 0 && graph) err = take_nodes(store, graph, points);
    if (err || points->n >= least) return err;
    err = ny_refuse_nodes(store);
    if (err) return err;
    return ny_fail_few(ny_store_context(store), ny_store_path(store));
}

/* Takes the landmarks that were read. Those of a map of a graph are nodes of it, whatever another
 * result may have. */
static int take_landmarks(struct ny_context *ctx, const struct ny_given_landmarks *given,
                          struct ny_wishes *wishes)
{
    size_t points = given->points.count;

    if (!given->named) return NY_OK;
    if (points && wishes->plain.map->graph)
        return ny_fail_idle(ctx, "landmarks-from", "points as landmarks of this map");
    wishes->plain.landmarks = points ? points : given->count;
    wishes->plain.named_landmarks = given->rows;
    wishes->plain.landmark_points = given->points;
    return NY_OK;
}

int ny_settings_new(struct ny_owned_settings *settings, struct ny_store *store,
                    const struct ny_options *options, unsigned groups,
                    const struct ny_own_landmarks *own)
{
    const char *columns = ny_options_get(options, "columns-file");
    struct ny_rows_info points;
    struct ny_wishes wishes;
    int err;

    *settings = (struct ny_owned_settings){0};
    err = ny_options_check(options, groups);
    if (!err) err = need_points(store, options, own ? own->rows : 0, &points);
    if (err) return err;
    wishes = read_wishes(options, ny_store_context(store), groups);
    wishes.plain.table_bytes = ny_options_table_bytes(options);
    err = ny_given_choice_read(&settings->given_choice, store, options, own);
    wishes.plain.choice = settings->given_choice.choice;
    wishes.plain.graph.choice = settings->given_choice.choice;
    if (settings->given_choice.columns)
        wishes.plain.table_bytes += settings->given_choice.choice.number * sizeof(uint64_t);
    if (!err) err = ny_landmarks_read(&settings->given, store, options, own);
    if (!err) err = take_landmarks(ny_store_context(store), &settings->given, &wishes);
    if (err) return err;
    wishes.plain.updates = own && own->done;
    if (columns) err = ny_rows_of_file(&wishes.plain.columns, ny_store_context(store), columns);
    if (err) return err;
    settings->fit.columns = wishes.plain.columns;
    return ny_settings_decide(&settings->fit, ny_store_context(store), ny_store_rows(store),
                              &points, &wishes);
}

int ny_settings_of_points(struct ny_fit_settings *settings, struct ny_context *ctx,
                          const struct ny_options *options, const struct ny_rows_info *points,
                          const struct ny_landmark_points *landmarks)
{
    struct ny_wishes wishes;
    int err = ny_options_check(options, NY_GROUP_FIT);

    if (err) return err;
    wishes = read_wishes(options, ctx, NY_GROUP_FIT);
    if (landmarks->count) wishes.plain.landmarks = landmarks->count;
    wishes.plain.landmark_points = *landmarks;
    return ny_settings_decide(settings, ctx, NULL, points, &wishes);
}

void ny_settings_release(struct ny_owned_settings *settings, struct ny_context *ctx)
{
    ny_landmarks_release(&settings->given, ctx);
    ny_given_choice_release(&settings->given_choice, ctx);
    ny_rows_of_file_free(settings->fit.columns);
}
