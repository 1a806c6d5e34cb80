/* Stage project of isomap: sweep 2, Y += C′P. P holds Λ̂^½ of eq. 1
 * already (Talwalkar, Kumar & Rowley 2008); C = −½Δ² (section 4.4). */
#include "maps/isomap_private.h"

#include <string.h>

#include "graph/batches.h"

/* Nodes whose columns are added up at a time. */
enum { STRIP_NODES = 128 };

/* Y += CP for a strip of nodes, column by column, so that the sums are the same however many
 * columns a batch has. */
static void add_strip(struct ny_isomap *map, const struct ny_swept *batch, size_t node)
{
    size_t p = map->p, left = map->Y.rows - node, nodes = left < STRIP_NODES ? left : STRIP_NODES;
    const float *d = batch->distances + node * batch->lanes;
    double C[NY_LANES][STRIP_NODES], y[STRIP_NODES];
    double *Y = map->Y.at + node * p;

    for (size_t i = 0; i < nodes; i++)
        for (size_t l = 0; l < batch->count; l++) {
            double path = (double)d[i * batch->lanes + l];

            C[l][i] = -0.5 * path * path;
        }
    for (size_t k = 0; k < p; k++) {
        for (size_t i = 0; i < nodes; i++)
            y[i] = Y[i * p + k];
        for (size_t l = 0; l < batch->count; l++) {
            double P = map->P.at[map->landmark[batch->first + l] * p + k];

            for (size_t i = 0; i < nodes; i++)
                y[i] += C[l][i] * P;
        }
        for (size_t i = 0; i < nodes; i++)
            Y[i * p + k] = y[i];
    }
}

/* Y += CP for a batch of columns; −aᵀP, of the shift, is in the first row of the map. */
static int add_columns(void *arg, const struct ny_swept *batch)
{
    struct ny_isomap *map = arg;

    for (size_t node = 0; node < map->Y.rows; node += STRIP_NODES)
        add_strip(map, batch, node);
    return NY_OK;
}

static int save_columns(void *arg, uint64_t sources)
{
    struct ny_isomap *map = arg;

    return ny_job_checkpoint_image(&map->fit->base.job, NY_STAGE_PROJECT, "sums", map->Y.at,
                                   map->Y.rows * map->Y.cols * sizeof(double), sources);
}

int ny_isomap_load_map(struct ny_isomap *map)
{
    struct ny_job *job = &map->fit->base.job;
    size_t p = map->p;

    map->map = ny_calloc(job->ctx, NY_MEM_SOLVE, map->m + 1, p * sizeof(double));
    if (!map->map) return NY_EBUDGET;
    map->P = ny_matrix(map->map + p, map->m, p);
    return ny_job_get_part(job, "map", map->map, (map->m + 1) * p * sizeof(double));
}

/* Loads Y from the last checkpoint, or before the first batch sets it to the map's constant row. */
static int open_columns(struct ny_isomap *map, uint64_t *sources)
{
    struct ny_job *job = &map->fit->base.job;
    size_t n = map->fit->edges.n, p = map->p;
    struct ny_image_shape shape = {n * p * sizeof(double), map->m};
    void *image;
    int err = ny_job_load_image(job, "sums", &shape, &image, sources);

    map->Y = ny_matrix(image, n, p);
    if (err == NY_OK) err = ny_isomap_load_map(map);
    if (err) return err;
    if (image) return NY_OK;
    map->Y.at = ny_calloc(job->ctx, NY_MEM_OTHER, n, p * sizeof(double));
    for (size_t i = 0; map->Y.at && i < n; i++)
        memcpy(map->Y.at + i * p, map->map, p * sizeof(double));
    return map->Y.at ? NY_OK : NY_EBUDGET;
}

/* Fills Y when every node is a landmark: Y = UΛ^½ = P·Λ, as P = UΛ^-½ is scaled. */
static void take_all(struct ny_isomap *map)
{
    for (size_t i = 0; i < map->m; i++)
        for (size_t k = 0; k < map->p; k++)
            map->Y.at[(size_t)map->nodes[i] * map->p + k] =
                map->P.at[map->landmark[i] * map->p + k] *
                ny_job_eigenvalue(&map->fit->base.job, k);
}

/* Makes sweep 2. A job that went on after sweep 1 has nothing any more of what that kept. */
static int sweep_again(struct ny_isomap *map, uint64_t sources)
{
    map->fit->base.job.state.report.columns_kept_bytes = NY_NONE;
    return ny_isomap_sweep(map, sources, add_columns, save_columns);
}

static int finish(struct ny_job *job)
{
    static const char *const parts[] = {"geodesics", "sweep.0", "sweep.1", "sums.0",
                                        "sums.1",    "sample",  "paths",   "gram.0",
                                        "gram.1",    "sources", NULL};

    ny_job_mark_time(job);
    ny_job_clear_checkpoint(job);
    return ny_job_save_without(job, ny_job_next(job), parts);
}

static int project(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct ny_isomap map;
    uint64_t sources;
    int err = ny_isomap_open(&map, fit, false);

    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) err = ny_fit_reserve_blas(&fit->base, map.p);
    if (err == NY_OK) err = open_columns(&map, &sources);
    if (err) goto done;
    if (fit->kept || ny_isomap_keeps_columns(fit->base.settings))
        err = ny_isomap_replay(&map, add_columns);
    else if (map.m == fit->edges.n)
        take_all(&map);
    else
        err = sweep_again(&map, sources);
    if (err == NY_OK && ny_first_not_finite(map.Y.at, map.Y.rows * map.p))
        err = ny_isomap_not_reached(&map);
    if (err == NY_OK) err = ny_isomap_measure(&map);
    if (err == NY_OK) err = ny_graph_embed(fit, map.Y);
    if (err == NY_OK) err = finish(job);
done:
    ny_isomap_close(&map);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void count_project(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                          size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t n = (size_t)f->nodes, m = f->m, row_bytes = f->settings->components * sizeof(double);
    struct ny_pages pages;
    struct ny_edges graph = ny_map_graph(f, &pages);
    struct ny_layout_mark mark;

    ny_isomap_common(l, f);
    ny_layout_add(l, NY_MEM_PROCESS, ny_blas_bytes(f->job.threads, workers, m));
    ny_lay(l, NY_MEM_OTHER, n, row_bytes);
    ny_lay(l, NY_MEM_SOLVE, m + 1, row_bytes);
    mark = ny_layout_mark(l);
    ny_sweep_lay(l, &graph, f->lanes, workers);
    ny_batch_count(l, NY_MEM_STORE, limit, n * row_bytes);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_TILES, f->kept, 1); /* in the place of that sweep */
    ny_layout_back(l, &mark);
    ny_batches_lay(l, &graph, ny_isomap_sources(n)); /* before the sweep of pairs … */
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_SOLVE, m, ny_isomap_samples(m) * sizeof(float)); /* … or a sample of them */
    ny_layout_back(l, &mark);
    ny_graph_embed_count(l, f, limit);
}

/* Nothing is swept where all nodes are landmarks, or all columns are kept; but the pairs that
 * distances are compared over are. */
static void project_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    double n = (double)f->nodes, m = (double)f->m, p = (double)f->settings->components;
    bool keeps = ny_isomap_keeps_columns(f->settings), all = f->m == f->nodes;
    double *seconds = &plan->stage_s[NY_STAGE_PROJECT];

    plan->flops += 2 * n * m * p;
    if (!all) {
        *seconds += ny_isomap_sweep_s(f, &plan->rates, ny_isomap_sources(f->nodes));
        plan->disk_bytes += 2 * f->nodes * f->settings->components * sizeof(double);
    }
    if (!all || keeps) *seconds += 2 * n * m * p / plan->rates.gemm64;
    if (!all && !keeps && !f->kept) *seconds += ny_isomap_sweep_s(f, &plan->rates, f->m);
}

const struct ny_stage ny_stage_isomap_unfold = {NY_STAGE_PROJECT, project, count_project,
                                                project_work};
