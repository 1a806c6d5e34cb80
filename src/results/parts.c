/*
 * The table of the parts that a finished result can have, and a result opened for reading.
 *
 * Each line of the table says what its elements are, how many rows and columns this result has of
 * it, how a range of rows is read, and how many rows are damaged together. Exports, pictures,
 * reports and evaluation read through it, and know no part by itself. ny_result_open() reads the
 * record and decides, once, how stored rows become coordinates (model/coordinates.h), and
 * refuses a result of more rows than points/ has: then points/ is from an older copy. A part that
 * the result does not have has count 0, and is refused.
 */
#include "results/parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "results/axes.h"
#include "model/choice.h"
#include "results/clusters.h"
#include "results/current.h"
#include "model/landmark_points.h"
#include "model/map.h"
#include "results/keep.h"
#include "results/stored_model.h"
#include "results/whole.h"

/* Returns the bytes of an element of the embedding, which is f64 only for a fit in that
 * precision. */
static size_t element_of(const struct ny_result *result)
{
    return result->f64 ? sizeof(double) : sizeof(float);
}

static int fill_embedding(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    const struct ny_coordinates *how = &result->coordinates;
    bool plain = ny_coordinates_plain(how);
    void *rows = plain ? out : result->stored; /* which may be `out`, too */
    int err = ny_embedding_rows(&result->keep, &result->layout, first, count, rows);

    if (err == NY_OK && !plain) ny_coordinates_apply(how, result->f64, rows, count, out);
    return err;
}

/* Û: what is stored, or Y Λ̂^-½. */
static int fill_eigenvectors(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    size_t pairs = result->coordinates.pairs, width = ny_coordinates_width(&result->coordinates);
    int err = ny_embedding_rows(&result->keep, &result->layout, first, count, result->stored);

    for (size_t i = 0; err == NY_OK && i < count; i++)
        for (size_t k = 0; k < pairs; k++) {
            double factor = result->inverse ? result->inverse[k] : 1;
            size_t from = i * width + k, to = i * pairs + k;

            if (result->f64)
                ((double *)out)[to] = ((double *)result->stored)[from] * factor;
            else
                ((float *)out)[to] = (float)((double)((float *)result->stored)[from] * factor);
        }
    return err;
}

/* Fills in numbers of a list of the report. */
static void fill_figures(const struct ny_result *result, const char *key, uint64_t first,
                         size_t count, double *out, size_t stride)
{
    const json_t *values = json_object_get(result->report, key);

    for (size_t k = 0; k < count; k++) {
        const json_t *value = json_array_get(values, (size_t)first + k);

        out[k * stride] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
}

static int fill_eigenvalues(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    fill_figures(result, "eigenvalues", first, count, out, 1);
    return NY_OK;
}

/* The error of each pair, its standard error, and the eigenvalue corrected by it. */
static int fill_errors(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    fill_figures(result, "component_errors", first, count, out, 3);
    fill_figures(result, "component_errors_se", first, count, (double *)out + 1, 3);
    fill_figures(result, "eigenvalues_corrected", first, count, (double *)out + 2, 3);
    return NY_OK;
}

static size_t columns_of_errors(const struct ny_result *result)
{
    (void)result;
    return 3;
}

/* Counts the landmarks, be they rows or points that were given. */
static size_t count_landmarks(const struct ny_result *result)
{
    return (size_t)ny_field_count(result->report, "landmarks", 0);
}

static bool has_points(const struct ny_result *result)
{
    return ny_landmark_points_of(ny_record_of(result->record)).count > 0;
}

static size_t count_landmark_rows(const struct ny_result *result)
{
    return has_points(result) ? 0 : count_landmarks(result);
}

/* Returns the type in which the landmarks are read: f64 where they are. */
static enum ny_dtype landmark_dtype(const struct ny_result *result)
{
    struct ny_landmark_points given = ny_landmark_points_of(ny_record_of(result->record));
    struct ny_rows_info info;

    if (given.count) return given.dtype == NY_F64 ? NY_F64 : NY_F32;
    return ny_points_info(result->store, &info) == NY_OK && info.dtype == NY_F64 ? NY_F64 : NY_F32;
}

static size_t columns_of_points(const struct ny_result *result)
{
    struct ny_rows_info info;

    return ny_points_info(result->store, &info) == NY_OK ? (size_t)info.d : 0;
}

/* A blob of one item a row, read piece by piece like an embedding. */
static int fill_from_blob(struct ny_result *result, const char *part, size_t item_bytes,
                          uint64_t first, size_t count, void *out)
{
    struct ny_embedding_layout layout = {ny_record_part(ny_record_of(result->record), part),
                                         result->n, item_bytes, NY_CHUNK_BYTES / item_bytes};

    return ny_embedding_rows(&result->keep, &layout, first, count, out);
}

static int fill_landmarks(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    uint64_t *rows = out;
    int err = fill_from_blob(result, "landmarks", sizeof(uint64_t), first, count, out);

    for (size_t i = 0; err == NY_OK && i < count; i++)
        rows[i] = ny_result_rows_place(&result->rows, rows[i]);
    return err;
}

/* Counts axes: a row for each column of the points. */
static size_t count_axes(const struct ny_result *result)
{
    return ny_record_has_axes(result->record) ? columns_of_points(result) : 0;
}

static int find_axes(struct ny_result *result)
{
    struct ny_model *model = NULL;
    int err = ny_model_of_result(&model, result->store, result->name);

    if (!err && (model->p != result->coordinates.pairs || model->d != columns_of_points(result)))
        err = ny_fail_damaged(ny_store_context(result->store), result->name,
                              ny_store_path(result->store));
    if (err) goto done;
    result->axes = ny_calloc(result->ctx, NY_MEM_MODEL, model->d, (model->p + 1) * sizeof(double));
    err = result->axes ? ny_model_axes(model, result->axes) : NY_EBUDGET;
    if (!err) err = ny_axes_sharpen(result->report, result->axes, model);
    if (err) goto done;
    result->mean = result->axes + model->d * model->p;
    memcpy(result->mean, model->spec.geometry->centre, model->d * sizeof(double));
done:
    ny_model_free(model);
    return err;
}

static int fill_axes(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    size_t p = result->coordinates.pairs;

    memcpy(out, result->axes + first * p, count * p * sizeof(double));
    return NY_OK;
}

static int fill_mean(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    memcpy(out, result->mean + first, count * sizeof(double));
    return NY_OK;
}

/* Counts the columns that were chosen: none where all of them count. */
static size_t count_features(const struct ny_result *result)
{
    return ny_stored_choice_count(ny_record_of(result->record));
}

static int fill_features(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    struct ny_embedding_layout layout = {ny_part_of("features", 0), count_features(result),
                                         sizeof(uint64_t), NY_CHUNK_BYTES / sizeof(uint64_t)};

    return ny_embedding_rows(&result->keep, &layout, first, count, out);
}

/* Reads landmarks: the points that were given, or rows of the store. */
static int fill_landmark_points(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    const struct ny_landmark_points as = {count, landmark_dtype(result), 0, result->d};
    uint64_t *rows;
    int err;

    if (has_points(result))
        return ny_landmark_points_get(&result->keep, ny_record_of(result->record), &as, first, out);
    if (json_object_get(result->record, "sharded")) /* they are in all shards */
        return ny_model_landmarks(result->store, result->name, &as, first, out);
    rows = ny_calloc(result->ctx, NY_MEM_IO, count, sizeof(*rows));
    err = rows ? fill_landmarks(result, first, count, rows) : NY_EBUDGET;
    if (err == NY_OK) err = ny_landmark_points_gather(ny_store_rows(result->store), &as, rows, out);
    ny_free(result->ctx, rows);
    return err;
}

/* Returns the type in which points are written: f64 where they are. */
static enum ny_dtype points_dtype(const struct ny_result *result)
{
    return result->dtype == NY_F64 ? NY_F64 : NY_F32;
}

/* Reads the rows of the result as fits see them. */
static int fill_points(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    const struct ny_landmark_points as = {count, points_dtype(result), 0, result->d};
    uint64_t *rows = ny_calloc(result->ctx, NY_MEM_IO, count, sizeof(*rows));
    int err = rows ? ny_result_rows_numbers(&result->rows, first, count, rows) : NY_EBUDGET;

    if (err == NY_OK) err = ny_landmark_points_gather(ny_store_rows(result->store), &as, rows, out);
    ny_free(result->ctx, rows);
    return err;
}

/* Reads them as they are stored. */
static int fill_raw_points(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    int err;

    ny_rows_raw(ny_store_rows(result->store), true);
    err = fill_points(result, first, count, out);
    ny_rows_raw(ny_store_rows(result->store), false);
    return err;
}

/* Returns how many of the first rows the selection has looked at. That of a fit over shards has
 * looked at those of all of them. */
static uint64_t count_measured(const struct ny_result *result)
{
    const json_t *sharded = json_object_get(result->record, "sharded");
    uint64_t before = ny_field_count(sharded, "first", 0);
    uint64_t selected = ny_field_count(result->record, "selected", before + result->n);

    return selected > before ? selected - before : 0;
}

/* Reads residuals. Rows that a frozen update has placed were never measured, which takes as long as
 * a selection does: theirs are not known. */
static int fill_residuals(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    uint64_t measured = count_measured(result);
    size_t known = first + count <= measured ? count
                   : first < measured        ? (size_t)(measured - first)
                                             : 0;

    for (size_t i = known; i < count; i++)
        ((float *)out)[i] = NAN;
    return known ? fill_from_blob(result, "residuals", sizeof(float), first, known, out) : NY_OK;
}

static int fill_labels(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    return ny_result_rows_labels(&result->rows, first, count, out);
}

static int fill_source(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    return ny_result_rows_source(&result->rows, first, count, out);
}

/* Fills in the numbers of the rows; for a graph, of those of the largest component. */
static int fill_rows(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    if (result->only_graph)
        return ny_stored_largest(&result->graph, &result->walk, first, count, out);
    return ny_result_rows_numbers(&result->rows, first, count, out);
}

static size_t count_eigenvalues(const struct ny_result *result)
{
    return json_array_size(json_object_get(result->report, "eigenvalues"));
}

static size_t count_errors(const struct ny_result *result)
{
    return json_array_size(json_object_get(result->report, "component_errors"));
}

/* Counts residuals: one for each row, if the selection has measured them and told the largest. */
static size_t count_residuals(const struct ny_result *result)
{
    return json_is_number(json_object_get(result->report, "residual_max")) ? (size_t)result->n : 0;
}

static size_t count_labels(const struct ny_result *result)
{
    struct ny_stored_points points;

    if (ny_points_stored(result->store, &points) || !points.labels) return 0;
    return (size_t)result->rows.count;
}

static size_t count_result_rows(const struct ny_result *result)
{
    return (size_t)result->rows.count;
}

/* Counts the rows of the store that the result has: none where it is of nodes. */
static size_t count_points(const struct ny_result *result)
{
    return ny_of_nodes(result->record) ? 0 : count_result_rows(result);
}

static size_t count_landmark_points(const struct ny_result *result)
{
    return ny_of_nodes(result->record) ? 0 : count_landmarks(result);
}

static size_t count_rows(const struct ny_result *result)
{
    return (size_t)(result->only_graph ? result->graph.largest : result->rows.count);
}

/* Counts rows with coordinates: none where these went to the memory of the fit's caller. */
static size_t count_embedded(const struct ny_result *result)
{
    bool elsewhere = json_is_true(json_object_get(result->record, "rows_elsewhere"));

    return result->coordinates.pairs && !elsewhere ? count_result_rows(result) : 0;
}

static size_t grain_of_rows(const struct ny_result *result)
{
    return result->layout.chunk_rows;
}

static size_t grain_of_landmarks(const struct ny_result *result)
{
    (void)result;
    return NY_CHUNK_BYTES / sizeof(uint64_t);
}

static size_t grain_of_residuals(const struct ny_result *result)
{
    (void)result;
    return NY_CHUNK_BYTES / sizeof(float);
}

static size_t grain_of_points(const struct ny_result *result)
{
    struct ny_rows_info info;

    return ny_points_info(result->store, &info) == NY_OK ? (size_t)info.block_rows : 1;
}

static size_t pairs_of(const struct ny_result *result)
{
    return result->coordinates.pairs;
}

static size_t components_of(const struct ny_result *result)
{
    return ny_coordinates_count(&result->coordinates);
}

static size_t neighbors_of(const struct ny_result *result)
{
    return result->graph.neighbors;
}

static size_t count_listed(const struct ny_result *result)
{
    return result->graph.neighbors ? (size_t)result->n : 0;
}

static size_t count_nodes(const struct ny_result *result)
{
    return ny_stored_graph_any(&result->graph) ? (size_t)result->n : 0;
}

static int fill_distances(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    return ny_stored_distances(&result->graph, first, count, result->stored, out);
}

static int fill_neighbors(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    return ny_stored_neighbors(&result->graph, first, count, result->stored, out);
}

static int fill_components(struct ny_result *result, uint64_t first, size_t count, void *out)
{
    return ny_stored_components(&result->graph, first, count, out);
}

static size_t count_clusters(const struct ny_result *result)
{
    return ny_stored_clusters(result) ? (size_t)result->rows.count : 0;
}

/* The parts: name, element, columns (NULL: one item a row), how rows are read, how many there
 * are, and how many are damaged together (NULL: a damage ends the export), and whether there is one
 * for each row. */
static const struct ny_result_part parts[] = {
    {"embedding", NY_OUT_F32, components_of, fill_embedding, count_embedded, grain_of_rows, true},
    {"eigenvectors", NY_OUT_F32, pairs_of, fill_eigenvectors, count_embedded, grain_of_rows, true},
    {"eigenvalues", NY_OUT_F64, NULL, fill_eigenvalues, count_eigenvalues, NULL, false},
    {"errors", NY_OUT_F64, columns_of_errors, fill_errors, count_errors, NULL, false},
    {"landmarks", NY_OUT_U64, NULL, fill_landmarks, count_landmark_rows, grain_of_landmarks, false},
    {"landmark-points", NY_OUT_F32, columns_of_points, fill_landmark_points, count_landmark_points,
     NULL, false},
    {"axes", NY_OUT_F64, pairs_of, fill_axes, count_axes, NULL, false},
    {"mean", NY_OUT_F64, NULL, fill_mean, count_axes, NULL, false},
    {"features", NY_OUT_U64, NULL, fill_features, count_features, NULL, false},
    {"residuals", NY_OUT_F32, NULL, fill_residuals, count_residuals, grain_of_residuals, true},
    {"labels", NY_OUT_F64, NULL, fill_labels, count_labels, grain_of_points, true},
    {"source", NY_OUT_U64, NULL, fill_source, count_points, grain_of_points, true},
    {"rows", NY_OUT_U64, NULL, fill_rows, count_rows, NULL, true},
    {"neighbors", NY_OUT_U64, neighbors_of, fill_neighbors, count_listed, NULL, false},
    {"distances", NY_OUT_F32, neighbors_of, fill_distances, count_listed, NULL, false},
    {"components", NY_OUT_U64, NULL, fill_components, count_nodes, NULL, false},
    {"clusters", NY_OUT_I64, NULL, ny_stored_clusters_get, count_clusters, NULL, true},
    {"points", NY_OUT_F32, columns_of_points, fill_points, count_points, grain_of_points, true},
    {"raw-points", NY_OUT_F32, columns_of_points, fill_raw_points, count_points, grain_of_points,
     true},
};

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* Names of all parts for callers. The model, the graph (results/graph_export.c) and names
 * (results/names.c) are no tables of numbers, and therefore not among the parts above. */
static const char *const names[] = {
    "embedding", "eigenvectors", "eigenvalues", "errors",     "landmarks", "landmark-points",
    "axes",      "mean",         "features",    "residuals",  "labels",    "source",
    "rows",      "neighbors",    "distances",   "components", "graph",     "clusters",
    "points",    "raw-points",   "ids",         "columns",    "classes",   "model",
    NULL};

const char *const *ny_parts(void)
{
    return names;
}

const struct ny_result_part *ny_part_find(const char *name)
{
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(parts[i].name, name) == 0) return &parts[i];
    return NULL;
}

/* ---- a result opened for reading ---------------------------------------------------------- */

/* Tells whether the eigenvectors are of more rows than the store has: of those of all shards, or of
 * those of a model from elsewhere. */
static bool has_pairs_of_others(const json_t *record)
{
    return json_object_get(record, "sharded") || json_is_true(json_object_get(record, "placed"));
}

int ny_result_open(struct ny_result *result, struct ny_store *store, const char *name)
{
    struct ny_rows_info points;
    json_t *record;
    int err;

    *result = (struct ny_result){.ctx = ny_store_context(store),
                                 .store = store,
                                 .name = name,
                                 .keep = ny_store_keep(store, name)};
    (void)ny_results_moved(store, &result->commits);
    result->clusters_commits = result->commits;
    err = ny_record_need_done(store, name, &record);
    if (err) return err;
    result->record = record;
    result->report = json_object_get(record, "report");
    result->map = ny_map_of(ny_record_of(record));
    result->n = ny_field_count(result->report, "n", 0);
    err = ny_points_info(store, &points);
    if (err == NY_OK && result->n > points.n && ny_record_rows_here(record))
        err = ny_fail(
            result->ctx, NY_ESTORE,
            "'%s' has more rows than points/ of %s, which is an older copy: put the newer one "
            "back, or make '%s' again with --restart",
            name, ny_store_path(store), name);
    /* unless rows were cut off */
    if (err) return ny_keep_current(&result->keep, ny_record_of(record), err);
    result->d = (size_t)points.d;
    result->dtype = points.dtype;
    err = ny_result_rows_of(&result->rows, store, name, record);
    if (err) return err;
    if (ny_stored_graph_of(&result->graph, ny_store_rows(store), &result->keep,
                           ny_record_of(record))) {
        err = ny_stored_graph_check(&result->graph);
        if (err) return err;
        result->only_graph = !result->rows.component;
    }
    if (result->only_graph) {
        if (!result->graph.given)
            result->layout = ny_graph_layout("neighbors", result->n, result->graph.stored);
        return NY_OK;
    }
    err = ny_coordinates_parse(&result->coordinates, result->ctx, ny_record_of(record));
    if (err) return err;
    if (result->coordinates.pairs > result->rows.count && !has_pairs_of_others(record))
        return ny_fail_damaged(ny_store_context(result->store), name, ny_store_path(result->store));
    result->f64 = ny_field_is(result->report, "precision", "f64");
    if (result->coordinates.pairs)
        result->layout = ny_embedding_layout(
            result->rows.count, ny_coordinates_width(&result->coordinates), element_of(result));
    result->layout.part = ny_record_part(ny_record_of(record), "embedding");
    return NY_OK;
}

void ny_result_close(struct ny_result *result)
{
    ny_result_rows_release(&result->rows);
    ny_free(result->ctx, result->inverse);
    ny_free(result->ctx, result->stored);
    ny_free(result->ctx, result->axes);
    ny_coordinates_release(&result->coordinates, result->ctx);
    json_decref((json_t *)result->record);
}

/* Computes Λ̂^-½ for maps whose kernel is not divided: they store ÛΛ̂^½, and eigenvectors are
 * asked for. */
static int invert_eigenvalues(struct ny_result *result)
{
    const json_t *values = json_object_get(result->report, "eigenvalues");

    if (result->coordinates.skip) return NY_OK;
    result->inverse =
        ny_calloc(result->ctx, NY_MEM_OTHER, result->coordinates.pairs, sizeof(double));
    if (!result->inverse) return NY_EBUDGET;
    for (size_t k = 0; k < result->coordinates.pairs; k++) {
        double value = json_number_value(json_array_get(values, k));

        result->inverse[k] = value > 0 ? 1 / sqrt(value) : 0;
    }
    return NY_OK;
}

/* Allocates room for `count` rows as they are stored: of the embedding, or of the lists of a
 * graph. */
static int reserve_stored(struct ny_result *result, size_t count)
{
    size_t listed = result->graph.stored * sizeof(uint32_t), row = result->layout.row_bytes;

    result->stored = ny_calloc(result->ctx, NY_MEM_IO, count, row > listed ? row : listed);
    return result->stored ? NY_OK : NY_EBUDGET;
}

/* Tells whether the rows of a part are points, whose type is not that of the fit. */
static bool of_points(const struct ny_result_part *part)
{
    return part->fill == fill_points || part->fill == fill_raw_points;
}

int ny_result_prepare(struct ny_result *result, const struct ny_result_part *part, size_t rows)
{
    if (part->count(result) == 0) return ny_result_lacks(result->store, result->name, part->name);
    if (part->fill == fill_eigenvectors && !result->inverse && invert_eigenvalues(result))
        return NY_EBUDGET;
    if (part->count == count_axes) return result->axes ? NY_OK : find_axes(result);
    return part->columns && part->fill != fill_landmark_points && !of_points(part) &&
                   !result->stored
               ? reserve_stored(result, rows)
               : NY_OK;
}

bool ny_result_as_stored(const struct ny_result *result, const struct ny_result_part *part)
{
    return part->fill == fill_embedding && !result->span &&
           ny_coordinates_plain(&result->coordinates);
}

enum ny_element ny_result_element(const struct ny_result *result, const struct ny_result_part *part)
{
    if (part->fill == fill_landmark_points)
        return landmark_dtype(result) == NY_F64 ? NY_OUT_F64 : NY_OUT_F32;
    if (of_points(part)) return points_dtype(result) == NY_F64 ? NY_OUT_F64 : NY_OUT_F32;
    if (part->fill == fill_embedding || part->fill == fill_eigenvectors)
        return result->f64 ? NY_OUT_F64 : NY_OUT_F32;
    return part->element;
}
