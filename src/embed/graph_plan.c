/* Memory, disk and work of a graph job. */
#include <math.h>

#include "columns/pairs.h"
#include "embed/embedding.h"
#include "embed/graph_job.h"
#include "graph/components.h"
#include "graph/knn.h"

static const size_t small_bytes = 512 << 10;

struct sizes {
    const struct ny_graph_settings *settings;
    const struct ny_points_info *points;
    struct ny_knn knn;
    size_t batch; /* dirty pages of LMDB between two commits, under the budget */
};

/* As the store decides it (store.h: ny_batch_bytes_max). */
size_t ny_graph_batch_bytes(size_t limit)
{
    const size_t most = (size_t)64 << 20, least = 2 * NY_CHUNK_BYTES;
    size_t bytes = limit / 8 < most ? limit / 8 : most;

    return bytes > least ? bytes : least;
}

static size_t common(const struct sizes *s, unsigned workers)
{
    return NY_PROCESS_BYTES + small_bytes + 8 * (size_t)s->points->d * sizeof(double) +
           ny_blas_bytes(s->settings->threads, workers, ny_panel_rows(s->points->n)) +
           ny_reading_bytes(workers + 2);
}

/* A pass over pairs, then the candidates of some rows, both beside the lists of a range. */
static size_t neighbors_bytes(const struct sizes *s, unsigned workers, uint64_t panels)
{
    uint64_t range = panels * NY_UNIT_ROWS;
    size_t rows = (size_t)(range < s->points->n ? range : s->points->n);
    size_t t = s->settings->stored, width = ny_knn_width(&s->knn);
    size_t lists = ny_neighbors_bytes(rows, width) + s->batch;
    size_t source = ny_source_of_points_bytes(s->points, workers);
    size_t pass = ny_knn_pass_bytes(s->knn.spec, s->points->n, workers);
    struct ny_embedding_layout layout = ny_graph_layout("neighbors", s->points->n, t);
    size_t measure = ny_knn_measure_bytes(&s->knn, NY_MEASURE_ROWS) +
                     2 * ny_points_block_bytes(s->points) +
                     2 * ny_embedding_writer_bytes(&layout, s->batch) +
                     NY_MEASURE_ROWS * t * 2 * sizeof(double);

    return common(s, workers) + source + lists + (pass > measure ? pass : measure);
}

static size_t graph_bytes(const struct sizes *s)
{
    size_t n = (size_t)s->points->n, t = s->settings->stored;
    size_t items = ny_graph_limited(s->settings) ? 3 : 1; /* distances, and a copy to sort */

    return common(s, 1) + n * t * items * sizeof(float) + n * sizeof(uint32_t) +
           ny_components_bytes(s->points->n) + 2 * NY_CHUNK_BYTES + s->batch;
}

static size_t peak(const struct sizes *s, unsigned workers, uint64_t panels)
{
    size_t neighbors = neighbors_bytes(s, workers, panels), graph = graph_bytes(s);

    return neighbors > graph ? neighbors : graph;
}

/* The least budget that holds one worker and one panel, its batch growing with it. */
static size_t least(struct sizes *s)
{
    size_t low = 1, high = SIZE_MAX / 4;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        s->batch = ny_graph_batch_bytes(middle);
        if (peak(s, 1, 1) <= middle)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* As many workers as fit, then as long a range: two ranges cost half as much again as one. */
static void fit_in(struct sizes *s, size_t limit, struct ny_graph_plan *plan)
{
    uint64_t low = 1, high = ny_units_of(s->points->n);
    unsigned workers = s->settings->threads;

    while (workers > 1 && peak(s, workers, 1) > limit)
        workers--;
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;

        if (peak(s, workers, middle) <= limit)
            low = middle;
        else
            high = middle - 1;
    }
    plan->workers = workers;
    plan->range_panels = low;
    plan->memory_bytes = peak(s, workers, low);
    plan->fits = plan->memory_bytes <= limit;
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
    s.knn = (struct ny_knn){
        .spec = &spec, .n = points.n, .neighbors = settings->stored, .workers = 1};
    plan->memory_min_bytes = least(&s);
    s.batch = ny_graph_batch_bytes(limit);
    fit_in(&s, limit, plan);
    plan->disk_bytes = points.n * (settings->stored * 8 + 4) +
                       2 * points.n * (4 + 8 * ny_knn_width(&s.knn));
    plan->flops = ny_knn_pass_flops(&s.knn, ny_units_of(points.n));
    ny_geometry_free(geometry, ctx);
    return NY_OK;
}
