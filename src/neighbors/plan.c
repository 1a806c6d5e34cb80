/* Memory, disk and work of a graph job. */
#include <math.h>
#include <string.h>

#include "columns/pairs.h"
#include "results/embedding.h"
#include "neighbors/job.h"
#include "graph/bridges.h"
#include "graph/forest.h"

static const size_t small_bytes = 512 << 10;

struct sizes {
    const struct ny_graph_settings *settings;
    const struct ny_points_info *points;
    struct ny_knn knn;
    size_t limit;     /* the budget */
    size_t held_rows; /* exact: all points, or 0 */
};

/* Returns the bytes of ny_batch_bytes_max() (store.h) for a budget of `limit`. */
size_t ny_graph_batch_bytes(size_t limit)
{
    const size_t most = (size_t)64 << 20, least = 2 * NY_CHUNK_BYTES;
    size_t bytes = limit / 8 < most ? limit / 8 : most;

    return bytes > least ? bytes : least;
}

size_t ny_graph_put_bytes(size_t limit, size_t bytes)
{
    size_t chunks = (bytes / NY_CHUNK_BYTES + 1) * NY_CHUNK_BYTES;

    return chunks < ny_graph_batch_bytes(limit) ? chunks : ny_graph_batch_bytes(limit);
}

static size_t common(const struct sizes *s, unsigned workers)
{
    return NY_PROCESS_BYTES + small_bytes + 8 * (size_t)s->points->d * sizeof(double) +
           ny_blas_bytes(s->settings->threads, workers, ny_panel_rows(s->points->n)) +
           ny_reading_bytes(workers + 2);
}

/* The geometry. */
static size_t stats_bytes(const struct sizes *s, unsigned workers)
{
    return common(s, workers) + 2 * NY_CHUNK_BYTES;
}

/* Batch for the lists and for the two parts that are made of them; a forest also has its links. */
static size_t neighbors_batch(const struct sizes *s)
{
    size_t n = (size_t)s->points->n, lists = ny_neighbors_bytes(n, ny_knn_width(&s->knn));
    size_t parts = 2 * (n * s->settings->stored * sizeof(uint32_t) + NY_CHUNK_BYTES);

    if (s->settings->forest) return ny_graph_batch_bytes(s->limit);
    return ny_graph_put_bytes(s->limit, lists > parts ? lists : parts);
}

static size_t writing_bytes(const struct sizes *s)
{
    size_t t = s->settings->stored;
    struct ny_embedding_layout layout = ny_graph_layout("neighbors", s->points->n, t);

    return 2 * ny_embedding_writer_bytes(&layout, ny_graph_batch_bytes(s->limit)) +
           NY_MEASURE_ROWS * t * 2 * sizeof(double);
}

/* A pass over pairs, then the candidates of some rows, both beside the lists of a range. */
static size_t neighbors_bytes(const struct sizes *s, unsigned workers, uint64_t panels)
{
    uint64_t range = panels * NY_UNIT_ROWS;
    size_t rows = (size_t)(range < s->points->n ? range : s->points->n);
    size_t width = ny_knn_width(&s->knn);
    size_t lists = ny_neighbors_bytes(rows, width) + neighbors_batch(s);
    size_t source = s->held_rows ? ny_held_bytes(s->knn.spec, s->held_rows, s->held_rows, workers)
                                 : ny_source_of_points_bytes(s->points, workers);
    size_t pass = ny_knn_pass_bytes(s->knn.spec, s->points->n, workers);
    size_t measure = ny_knn_measure_bytes(&s->knn, NY_MEASURE_ROWS) +
                     2 * ny_points_block_bytes(s->points) + writing_bytes(s);

    return common(s, workers) + source + lists + (pass > measure ? pass : measure);
}

/* A forest, with a sample of the recall or what is written. */
static size_t forest_bytes(const struct sizes *s, unsigned workers, size_t held)
{
    struct ny_knn knn = s->knn;
    size_t sample, writing = writing_bytes(s);

    knn.workers = workers;
    sample = ny_recall_sample_bytes(&knn);
    return common(s, workers) + ny_source_of_points_bytes(s->points, workers) + neighbors_batch(s) +
           2 * workers * ny_points_block_bytes(s->points) +
           ny_forest_bytes(&knn, s->settings->leaf, held) + (sample > writing ? sample : writing);
}

/* Bytes of stage connect, which may have as many components as rows. */
static size_t connect_bytes(const struct sizes *s, unsigned workers)
{
    struct ny_knn knn = s->knn;
    size_t image = 2 * (size_t)s->points->n * sizeof(struct ny_bridge);

    if (!s->settings->connect) return 0;
    knn.neighbors = 1;
    knn.workers = workers;
    return image + ny_bridges_compare_bytes(&knn) +
           ny_source_of_points_bytes(s->points, workers) + ny_graph_put_bytes(s->limit, image);
}

static size_t graph_bytes(const struct sizes *s, unsigned workers)
{
    size_t n = (size_t)s->points->n, t = s->settings->stored;
    size_t items = ny_graph_limited(s->settings) ? 3 : 1; /* distances, and a copy to sort */

    return common(s, workers) + connect_bytes(s, workers) + n * t * items * sizeof(float) +
           n * sizeof(uint32_t) + ny_components_bytes(s->points->n) + 2 * NY_CHUNK_BYTES +
           ny_graph_put_bytes(s->limit, n * sizeof(uint32_t));
}

/* `part`: panels whose lists are held, or in a forest rows that are. */
static void bill(const struct sizes *s, unsigned workers, uint64_t part,
                 size_t stage_bytes[NY_STAGE_DONE])
{
    stage_bytes[NY_STAGE_STATS] = stats_bytes(s, workers);
    stage_bytes[NY_STAGE_NEIGHBORS] = s->settings->forest ? forest_bytes(s, workers, (size_t)part)
                                                          : neighbors_bytes(s, workers, part);
    stage_bytes[NY_STAGE_GRAPH] = graph_bytes(s, workers);
}

static size_t peak(const struct sizes *s, unsigned workers, uint64_t part)
{
    size_t stage_bytes[NY_STAGE_DONE] = {0}, most = 0;

    bill(s, workers, part, stage_bytes);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        if (stage_bytes[stage] > most) most = stage_bytes[stage];
    return most;
}

static uint64_t least_part(const struct sizes *s)
{
    return s->settings->forest ? ny_forest_held_least(&s->knn, s->settings->leaf) : 1;
}

/* Peak with one worker and the least part. A few points take less held than a block read. */
static size_t least_peak(struct sizes *s)
{
    uint64_t part = least_part(s);
    size_t held, read = peak(s, 1, part);

    if (s->settings->forest || part < ny_units_of(s->points->n)) return read;
    s->held_rows = (size_t)s->points->n;
    held = peak(s, 1, part);
    s->held_rows = 0;
    return held < read ? held : read;
}

/* The least budget that holds it, batches growing with it. */
static size_t least(struct sizes *s)
{
    size_t low = 1, high = SIZE_MAX / 4;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        s->limit = middle;
        if (least_peak(s) <= middle)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Takes as many workers as fit, then as large a part: two ranges of panels cost half as much again
 * as one, and a forest whose points are not all held reads them several times for each tree. Then
 * holds the points, which the pass over pairs would decode again for each panel. */
static void fit_in(struct sizes *s, size_t limit, struct ny_graph_plan *plan)
{
    uint64_t n = s->points->n, low = least_part(s), high = s->settings->forest ? n : ny_units_of(n);
    unsigned workers = s->settings->threads;

    while (workers > 1 && peak(s, workers, low) > limit)
        workers--;
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;

        if (peak(s, workers, middle) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    s->held_rows = !s->settings->forest && low == ny_units_of(n) ? (size_t)n : 0;
    if (s->held_rows) {
        size_t held = peak(s, workers, low);

        s->held_rows = 0;
        if (held <= limit || held < peak(s, workers, low)) s->held_rows = (size_t)n;
    }
    plan->workers = workers;
    plan->range_panels = low;
    plan->held_rows = s->settings->forest ? (size_t)low : s->held_rows;
    plan->memory_bytes = peak(s, workers, low);
    bill(s, workers, low, plan->stage_bytes);
    plan->fits = plan->memory_bytes <= limit;
}

/* A forest's are of a common case: 8 trees, and a round over 10 links. */
static void plan_work(const struct sizes *s, struct ny_graph_plan *plan)
{
    double n = (double)s->points->n;

    plan->forest = s->settings->forest;
    plan->way = ny_way_of(s->knn.spec);
    plan->value_bytes = (double)ny_dtype_size(s->points->dtype);
    plan->pairs = plan->forest ? n * (4.0 * (double)s->settings->leaf + 75)
                               : ny_knn_pass_pairs(&s->knn, ny_units_of(s->points->n));
    plan->flops = 2 * plan->pairs * ny_entry_products(s->knn.spec);
    plan->entries = n * (double)s->settings->stored;
    plan->measured = n * (double)ny_knn_width(&s->knn) * ny_entry_products(s->knn.spec);
    plan->result_bytes = s->points->n * (s->settings->stored * 8 + 4);
    plan->disk_bytes = plan->result_bytes +
                       2 * s->points->n * (4 + 8 * ny_knn_width(&s->knn));
}

int ny_graph_plan_make(struct ny_store *store, const struct ny_graph_settings *settings,
                       struct ny_graph_plan *plan)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_points_info points;
    struct ny_columns_spec spec = {.ctx = ctx, .kernel = settings->metric, .params = {.gamma = 1}};
    struct ny_geometry *geometry = NULL;
    struct sizes s = {.settings = settings, .points = &points};
    size_t limit = ny_memory_limit(ctx);
    int err = ny_points_info(store, &points);

    *plan = (struct ny_graph_plan){0};
    if (err) return err;
    err = ny_geometry_new(&geometry, store, settings->scale, false);
    if (err) return err;
    spec.geometry = geometry;
    spec.dtype = points.dtype;
    spec.slots = (size_t)points.row_slots;
    spec.row_nnz = (double)points.nnz / (double)points.n;
    s.knn = (struct ny_knn){
        .spec = &spec, .n = points.n, .neighbors = settings->stored, .workers = 1};
    plan->memory_min_bytes = least(&s);
    s.limit = limit;
    fit_in(&s, limit, plan);
    plan_work(&s, plan);
    ny_geometry_free(geometry, ctx);
    return NY_OK;
}

/* Seconds that pairs take besides their products, counted in exponentials: finding the place in a
 * list, and for all pairs comparisons of vectors. A forest's rows are gathered from all over the
 * memory, and sorted into its trees. */
static double pairs_s(const struct ny_graph_plan *graph, const struct ny_calibration *rates)
{
    const double compare = 6, list = 40, gather = 8, scattered = 150, exact_ns = 3, byte_ns = 0.6;
    /* Candidates are measured again in f64, on rows that are read one by one. */
    double exact_s = (exact_ns + byte_ns * graph->value_bytes) * 1e-9 * 3.27e9 * graph->measured /
                     rates->exp32;

    if (graph->forest)
        return (graph->way == NY_WAY_SPARSE ? scattered : gather) * graph->flops / rates->gemm32 +
               list * graph->pairs / rates->exp32 + exact_s;
    return graph->flops / ny_calibration_tile(rates, graph->way, false) +
           compare * graph->pairs / rates->exp32 + exact_s;
}

void ny_graph_plan_add(const struct ny_graph_plan *graph, struct ny_plan *plan)
{
    const double components_s = 5e-8; /* an entry of the lists */

    plan->fits = plan->fits && graph->fits;
    if (plan->memory_min_bytes < graph->memory_min_bytes)
        plan->memory_min_bytes = graph->memory_min_bytes;
    if (plan->memory_bytes < graph->memory_bytes) {
        plan->memory_bytes = graph->memory_bytes;
        memset(plan->by_purpose, 0, sizeof(plan->by_purpose));
        plan->by_purpose[NY_MEM_PROCESS] = NY_PROCESS_BYTES;
        plan->by_purpose[NY_MEM_DICTIONARY] = graph->memory_bytes - NY_PROCESS_BYTES;
    }
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        if (graph->stage_bytes[stage]) plan->stage_bytes[stage] = graph->stage_bytes[stage];
    plan->stage_s[NY_STAGE_NEIGHBORS] = pairs_s(graph, &plan->rates);
    plan->stage_s[NY_STAGE_GRAPH] = components_s * graph->entries;
    plan->disk_bytes += graph->disk_bytes;
    plan->result_bytes += graph->result_bytes;
    plan->loose = plan->loose || graph->forest;
    plan->flops += graph->flops;
    plan->passes++;
}
