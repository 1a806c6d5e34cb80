#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "columns/kernels.h"
#include "columns/pairs.h"
#include "results/embedding.h"
#include "neighbors/job_private.h"
#include "results/geometry.h"
#include "graph/components.h"

void ny_graph_facts_begin(json_t *facts, const struct ny_graph_settings *settings)
{
    static const char *const keys[] = {"distance_limit",  "edges",         "components",
                                       "largest",         "largest_share", "largest_edges",
                                       "isolated",        "degree_mean",   "degree_max",
                                       "remeasured",      "sweep",         "recall",
                                       "recall_interval", "trees",         "rounds",
                                       "distances_per_point", "bridges",
                                       "bridge_shortest", "bridge_longest"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ny_field_set_json(facts, keys[i], json_null());
    ny_field_set_count(facts, "neighbors", settings->neighbors);
    ny_field_set_count(facts, "neighbors_stored", settings->stored);
    ny_field_set_text(facts, "metric",
                      settings->metric == &ny_kernel_angular ? "cosine" : "euclidean");
    ny_field_set_text(facts, "knn", settings->forest ? "forest" : "exact");
}

/* ---- stats: the geometry, and γ: a power of two that makes distances about 1 ----------------- */

static double unit_gamma(const struct ny_geometry *geometry, const struct ny_points_stats *stats)
{
    double spread = 0;

    for (size_t k = 0; k < geometry->d; k++)
        spread += 2 * stats->variance[k] * geometry->factor[k] * geometry->factor[k];
    return spread > 0 && isfinite(spread) ? ldexp(1, -2 * (int)lrint(log2(spread) / 2)) : 1;
}

static int stage_stats(struct ny_job *job)
{
    struct ny_graph_job *g = (struct ny_graph_job *)job;
    bool centred = g->settings->metric->base == NY_BASE_SQUARE && !job->points.row_slots;
    struct ny_points_stats stats = {0};
    double gamma;
    int err = ny_geometry_new(&g->geometry, job->store, g->settings->scale, centred);

    if (err) goto done;
    err = ny_points_stats(job->store, &stats);
    if (err) goto done;
    gamma = unit_gamma(g->geometry, &stats);
    err = ny_stored_geometry_put(job->store, job->name, "geometry", g->geometry, &gamma);
    if (err) goto done;
    ny_job_mark_time(job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_geometry_free(g->geometry, job->ctx);
    g->geometry = NULL;
    ny_points_stats_release(&stats, job->ctx);
    return err;
}

static int load_spec(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    double gamma = 1;
    int err = ny_stored_geometry(&g->geometry, job->store, job->name, "geometry",
                                 (size_t)job->points.d, &gamma);

    g->spec = (struct ny_columns_spec){.ctx = job->ctx,
                                       .kernel = g->settings->metric,
                                       .params = {.gamma = gamma},
                                       .geometry = g->geometry,
                                       .dtype = job->points.dtype,
                                       .slots = (size_t)job->points.row_slots};
    if (job->points.row_slots)
        g->spec.row_nnz = (double)job->points.nnz / (double)job->points.n;
    g->knn = (struct ny_knn){.spec = &g->spec,
                             .store = job->store,
                             .n = job->points.n,
                             .neighbors = g->settings->stored,
                             .workers = g->plan.workers,
                             .checkpoint_s = ny_context_checkpoint_s(job->ctx)};
    return err;
}

/* ---- neighbors ------------------------------------------------------------------------------ */

static int checkpoint(void *arg, uint64_t tiles_done)
{
    struct ny_graph_job *g = arg;
    struct ny_pieces pieces = {ny_neighbors_piece, &g->lists, ny_neighbors_image_bytes(&g->lists)};

    return ny_job_checkpoint_pieces(&g->job, NY_STAGE_NEIGHBORS, "lists", &pieces, tiles_done);
}

/* The range under way: that of the checkpoint, whatever the budget was then, or the next. */
static int open_range(struct ny_graph_job *g, uint64_t *first_tile)
{
    struct ny_job *job = &g->job;
    json_t *at = ny_job_checkpoint(job);
    uint64_t first = ny_field_count(at, "first_row", 0);
    uint64_t rows = ny_field_count(at, "range_rows", 0), left = job->points.n - first;
    struct ny_image_shape shape;
    void *image;
    int err;

    if (first >= job->points.n || first % NY_UNIT_ROWS || rows > left)
        return ny_job_not_its_checkpoint(job);
    if (!rows) {
        rows = g->plan.range_panels * NY_UNIT_ROWS;
        if (rows > left) rows = left;
        ny_field_set_count(at, "range_rows", rows);
    }
    err = ny_neighbors_new(&g->lists, job->ctx, first, (size_t)rows, ny_knn_width(&g->knn));
    if (err) return err;
    shape = (struct ny_image_shape){ny_neighbors_image_bytes(&g->lists), UINT64_MAX};
    err = ny_job_load_image(job, "lists", &shape, &image, first_tile);
    if (err == NY_OK && image) ny_neighbors_restore(&g->lists, image);
    ny_free(job->ctx, image);
    if (err || ny_rows_below(g->lists.row, g->lists.rows * g->lists.width, job->points.n))
        return err;
    return ny_job_not_its_checkpoint(job);
}

static int measure(struct ny_graph_job *g, uint64_t first, size_t count, struct ny_measured *out)
{
    return ny_knn_measure(&g->knn, &g->lists, first, count, out);
}

/* All points in memory, where the plan has room for them. */
static int hold(struct ny_graph_job *g, struct ny_held *held)
{
    if (!g->plan.held_rows) return NY_OK;
    g->knn.held = held;
    return ny_held_new(held, g->job.store, &g->spec, g->knn.n, (size_t)g->knn.n, g->knn.workers);
}

static int run_range(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    json_t *at = ny_job_checkpoint(job), *facts = ny_graph_facts(job->record);
    struct ny_held held = {.ctx = job->ctx};
    uint64_t first_tile, next;
    int err = open_range(g, &first_tile);

    next = g->lists.first + g->lists.rows;
    if (err == NY_OK) err = hold(g, &held);
    if (err == NY_OK && !json_is_number(json_object_get(at, "measured"))) {
        err = ny_knn_pass(&g->knn, &g->lists, first_tile, checkpoint, g);
        if (err == NY_OK) {
            ny_job_count_pass(job, g->lists.rows,
                              2 * ny_knn_pass_pairs(&g->knn, ny_units_of(g->lists.rows)) *
                                  ny_entry_products(&g->spec));
            ny_field_set_count(at, "measured", g->lists.first);
            err = checkpoint(g, 0);
        }
    }
    if (err == NY_OK) err = ny_graph_write(g, measure, g->lists.first, next);
    ny_neighbors_release(&g->lists);
    ny_held_release(&held);
    g->knn.held = NULL;
    if (err) return err;
    ny_field_set_count(facts, "remeasured", ny_field_count(facts, "remeasured", 0) + g->again);
    g->again = 0;
    json_object_clear(at);
    ny_field_set_count(at, "first_row", next);
    ny_field_set_count(at, "rows", next);
    return ny_job_save(job, next < job->points.n ? NY_STAGE_NEIGHBORS : ny_job_next(job));
}

/* ---- graph ---------------------------------------------------------------------------------- */

/* All lists in memory, with the distances where there is a limit. */
static int load_lists(struct ny_graph_job *g, struct ny_lists *lists, uint32_t **rows, float **far)
{
    struct ny_job *job = &g->job;
    uint64_t n = job->points.n;
    size_t t = g->settings->stored;
    struct ny_embedding_layout layout = ny_graph_layout("neighbors", n, t);
    int err;

    *rows = ny_calloc(job->ctx, NY_MEM_DICTIONARY, (size_t)n, t * sizeof(uint32_t));
    if (!*rows) return NY_EBUDGET;
    err = ny_embedding_rows(job->store, job->name, &layout, 0, (size_t)n, *rows);
    if (err == NY_OK && !ny_rows_below(*rows, (size_t)n * t, n))
        err = ny_fail(job->ctx, NY_ESTORE,
                      "the neighbors of '%s' in %s are not rows of it; make it again with "
                      "--restart",
                      job->name, ny_store_path(job->store));
    *lists = (struct ny_lists){.n = n,
                               .stored = t,
                               .t = g->settings->neighbors,
                               .row = *rows,
                               .limit = g->settings->max_distance,
                               .mutual = g->settings->mutual};
    if (err || !ny_graph_limited(g->settings)) return err;
    *far = ny_calloc(job->ctx, NY_MEM_DICTIONARY, (size_t)n, t * sizeof(float));
    if (!*far) return NY_EBUDGET;
    layout = ny_graph_layout("distances", n, t);
    lists->distance = *far;
    return ny_embedding_rows(job->store, job->name, &layout, 0, (size_t)n, *far);
}

/* The limit in force: the quantile is that of the distances of the t nearest. */
static int decide_limit(struct ny_graph_job *g, struct ny_lists *lists)
{
    size_t n = (size_t)lists->n, t = lists->t;
    double q = g->settings->distance_quantile;
    float *values;

    if (isnan(q)) return NY_OK;
    values = ny_calloc(g->job.ctx, NY_MEM_DICTIONARY, n, t * sizeof(float));
    if (!values) return NY_EBUDGET;
    for (size_t i = 0; i < n; i++)
        memcpy(values + i * t, lists->distance + i * lists->stored, t * sizeof(float));
    lists->limit = ny_quantile(values, n * t, q);
    ny_free(g->job.ctx, values);
    return NY_OK;
}

/* One line of the table: t neighbours, with the limit or without it. */
static int sweep_line(struct ny_graph_job *g, struct ny_lists lists, size_t t, bool limited)
{
    struct ny_components components;
    json_t *line = json_object();
    int err;

    lists.t = t;
    if (!limited) lists.limit = INFINITY;
    err = ny_components_find(&components, g->job.ctx, &lists);
    if (err) {
        json_decref(line);
        return err;
    }
    ny_field_set_count(line, "neighbors", t);
    ny_field_set_number(line, "distance_limit", limited ? lists.limit : INFINITY);
    ny_field_set_count(line, "components", components.count);
    ny_field_set_number(line, "largest_share", (double)components.largest / (double)lists.n);
    ny_field_append(json_object_get(ny_graph_facts(g->job.record), "sweep"), line);
    ny_components_release(&components);
    return NY_OK;
}

static int sweep(struct ny_graph_job *g, const struct ny_lists *lists)
{
    bool limited = ny_graph_limited(g->settings);
    int err = NY_OK;

    ny_field_set_json(ny_graph_facts(g->job.record), "sweep", json_array());
    for (size_t k = 0; k < g->settings->sweeps && err == NY_OK; k++) {
        err = sweep_line(g, *lists, g->settings->sweep[k], false);
        if (err == NY_OK && limited) err = sweep_line(g, *lists, g->settings->sweep[k], true);
        if (err == NY_OK) err = ny_check_interrupt(g->job.ctx);
    }
    return err;
}

static int describe(struct ny_graph_job *g, const struct ny_lists *lists,
                    const struct ny_components *components)
{
    json_t *facts = ny_graph_facts(g->job.record);
    uint32_t *degree = ny_calloc(g->job.ctx, NY_MEM_DICTIONARY, (size_t)lists->n, sizeof(*degree));
    uint64_t edges, isolated = 0, ends = 0; /* of edges of the largest component */
    uint32_t most = 0;

    if (!degree) return NY_EBUDGET;
    edges = ny_lists_degrees(lists, degree);
    for (uint64_t i = 0; i < lists->n; i++) {
        isolated += degree[i] == 0;
        if (components->of[i] == 0) ends += degree[i];
        if (degree[i] > most) most = degree[i];
    }
    ny_free(g->job.ctx, degree);
    ny_field_set_number(facts, "distance_limit", lists->limit);
    ny_field_set_count(facts, "edges", edges);
    ny_field_set_number(facts, "degree_mean", 2 * (double)edges / (double)lists->n);
    ny_field_set_count(facts, "degree_max", most);
    ny_field_set_count(facts, "isolated", isolated);
    ny_field_set_count(facts, "components", components->count);
    ny_field_set_count(facts, "largest", components->largest);
    ny_field_set_number(facts, "largest_share",
                        (double)components->largest / (double)lists->n);
    ny_field_set_count(facts, "largest_edges", ends / 2);
    if (edges == 0)
        return ny_fail(g->job.ctx, NY_EDATA,
                       "no two rows are neighbours within a distance of %g; raise --max-distance "
                       "or --distance-quantile%s",
                       lists->limit, lists->mutual ? ", or leave --mutual out" : "");
    /* A fit tells what its map leaves out. */
    if (components->count > 1 && g->job.after == NY_STAGE_DONE)
        ny_log(g->job.ctx, NY_LOG_WARNING,
               "the graph has %llu components; the largest holds %.2f %% of the rows; raise "
               "--neighbors or give --connect to join them",
               (unsigned long long)components->count,
               100 * (double)components->largest / (double)lists->n);
    return NY_OK;
}

static int stage_graph(struct ny_job *job)
{
    struct ny_graph_job *g = (struct ny_graph_job *)job;
    static const char *const images[] = {"lists.0", "lists.1", "joins.0", "joins.1", NULL};
    struct ny_components components = {.ctx = job->ctx};
    struct ny_lists lists;
    uint32_t *rows = NULL;
    float *far = NULL;
    int err = g->geometry ? NY_OK : load_spec(g);

    if (err == NY_OK) err = load_lists(g, &lists, &rows, &far);
    if (err == NY_OK) err = decide_limit(g, &lists);
    if (err) goto done;
    err = sweep(g, &lists);
    if (err) goto done;
    err = ny_components_find(&components, job->ctx, &lists);
    if (err == NY_OK && g->settings->connect) err = ny_graph_connect(g, &lists, &components);
    if (err) goto done;
    err = describe(g, &lists, &components);
    if (err) goto done;
    err = ny_blob_put(job->store, job->name, "components", components.of,
                      (size_t)lists.n * sizeof(uint32_t));
    if (err) goto done;
    ny_job_mark_time(job);
    json_object_clear(ny_job_checkpoint(job));
    err = ny_job_save_without(job, ny_job_next(job), images);
done:
    ny_components_release(&components);
    ny_free(job->ctx, g->bridge);
    ny_free(job->ctx, far);
    ny_free(job->ctx, rows);
    return err;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int stage_neighbors(struct ny_job *job)
{
    struct ny_graph_job *g = (struct ny_graph_job *)job;
    int err = g->geometry ? NY_OK : load_spec(g);

    if (err) return err;
    return g->settings->forest ? ny_graph_grow(g) : run_range(g);
}

static const struct ny_stage stats = {.id = NY_STAGE_STATS, .run = stage_stats};
static const struct ny_stage neighbors = {.id = NY_STAGE_NEIGHBORS, .run = stage_neighbors};
static const struct ny_stage graph = {.id = NY_STAGE_GRAPH, .run = stage_graph};
static const struct ny_stage *const stages[] = {&stats, &neighbors, &graph, NULL};
static const struct ny_course course = {.stages = stages};

int ny_graph_job_run(struct ny_store *store, const char *name,
                     const struct ny_graph_settings *settings, json_t *record,
                     enum ny_stage_id after)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_graph_job g = {.job = {.ctx = ctx,
                                     .store = store,
                                     .name = name,
                                     .record = record,
                                     .course = &course,
                                     .after = after,
                                     .marked_s = ny_now()},
                             .settings = settings};
    uint64_t n = ny_field_count(json_object_get(record, "report"), "n", 0);
    size_t blas_bytes = 0;
    int err = ny_graph_plan_make(store, settings, &g.plan);

    if (err == NY_OK) err = ny_points_info(store, &g.job.points);
    if (err == NY_OK && (n < 2 || n > g.job.points.n))
        err = ny_fail(ctx, NY_ESTORE, "%s has %llu rows, but '%s' was begun on %llu",
                      ny_store_path(store), (unsigned long long)g.job.points.n, name,
                      (unsigned long long)n);
    if (err) return err;
    g.job.points.n = n;
    g.job.workers = g.plan.workers;
    blas_bytes = ny_blas_bytes(settings->threads, g.plan.workers, ny_panel_rows(g.job.points.n));
    err = ny_reserve(ctx, NY_MEM_PROCESS, blas_bytes);
    if (err) return err;
    err = ny_job_run(&g.job);
    ny_geometry_free(g.geometry, ctx);
    ny_unreserve(ctx, NY_MEM_PROCESS, blas_bytes);
    return err;
}
