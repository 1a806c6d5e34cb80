/* Stage project of isomap: sweep 2, Y += C′P. P holds Λ̂^½ of eq. 1
 * already (Talwalkar, Kumar & Rowley 2008); C = −½Δ² (section 4.4). */
#include "maps/isomap_private.h"

#include <string.h>

#include "graph/batches.h"

/* Y += CP for a batch of columns; −aᵀP, of the shift, is in the first row of the map. */
static int add_columns(void *arg, size_t first, size_t count, const float *distances)
{
    struct ny_isomap *map = arg;
    size_t n = map->Y.rows, p = map->p;
    struct ny_matrix C = ny_matrix(map->tile, NY_UNIT_ROWS, NY_LANES);
    double *P = map->tile + NY_UNIT_ROWS * NY_LANES;

    memset(P, 0, NY_LANES * p * sizeof(double));
    for (size_t l = 0; l < count; l++)
        memcpy(P + l * p, map->P.at + map->landmark[first + l] * p, p * sizeof(double));
    for (size_t row = 0; row < n; row += NY_UNIT_ROWS) {
        size_t rows = n - row < NY_UNIT_ROWS ? n - row : NY_UNIT_ROWS;
        const float *d = distances + row * NY_LANES;

        for (size_t i = 0; i < rows * NY_LANES; i++)
            C.at[i] = i % NY_LANES < count ? -0.5 * (double)d[i] * (double)d[i] : 0;
        ny_gemm(1, ny_rows(C, 0, rows), ny_matrix(P, NY_LANES, p), 1, ny_rows(map->Y, row, rows));
    }
    return NY_OK;
}

static int save_columns(void *arg, uint64_t batches)
{
    struct ny_isomap *map = arg;

    return ny_job_checkpoint_image(&map->fit->base.job, NY_STAGE_PROJECT, "columns", map->Y.at,
                                   map->Y.rows * map->Y.cols * sizeof(double), batches);
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
static int open_columns(struct ny_isomap *map, uint64_t *batches)
{
    struct ny_job *job = &map->fit->base.job;
    size_t n = map->fit->edges.n, p = map->p;
    struct ny_image_shape shape = {n * p * sizeof(double), ny_sweep_batches(map->m)};
    void *image;
    int err = ny_job_load_image(job, "columns", &shape, &image, batches);

    map->Y = ny_matrix(image, n, p);
    map->tile = ny_calloc(job->ctx, NY_MEM_TILES, NY_UNIT_ROWS + p, NY_LANES * sizeof(double));
    if (err == NY_OK) err = map->tile ? ny_isomap_load_map(map) : NY_EBUDGET;
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
    const json_t *values = json_object_get(ny_job_report(&map->fit->base.job), "eigenvalues");

    for (size_t i = 0; i < map->m; i++)
        for (size_t k = 0; k < map->p; k++)
            map->Y.at[(size_t)map->nodes[i] * map->p + k] =
                map->P.at[map->landmark[i] * map->p + k] *
                json_number_value(json_array_get(values, k));
}

static int finish(struct ny_job *job)
{
    static const char *const parts[] = {"geodesics.0", "geodesics.1", "columns.0", "columns.1",
                                        "sample",      "paths",       "geodesics", "gram.0",
                                        "gram.1",      "sources",     NULL};

    ny_job_mark_time(job);
    json_object_clear(ny_job_checkpoint(job));
    return ny_job_save_without(job, ny_job_next(job), parts);
}

static int project(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct ny_isomap map;
    uint64_t batches;
    int err = ny_isomap_open(&map, fit, false);

    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) err = ny_fit_reserve_blas(&fit->base, map.p);
    if (err == NY_OK) err = open_columns(&map, &batches);
    if (err) goto done;
    if (ny_isomap_keeps_columns(fit->base.settings))
        err = ny_isomap_replay(&map, add_columns);
    else if (map.m == fit->edges.n)
        take_all(&map);
    else
        err = ny_isomap_sweep(&map, batches, add_columns, save_columns);
    if (err == NY_OK) err = ny_isomap_measure(&map);
    if (err == NY_OK) err = ny_graph_embed(fit, map.Y);
    if (err == NY_OK) err = finish(job);
done:
    ny_isomap_close(&map);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static struct ny_stage_bytes project_bytes(const struct ny_job_sizes *sizes, unsigned workers,
                                           size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    struct ny_stage_bytes bytes = ny_isomap_common(f);
    size_t n = (size_t)f->nodes, m = f->m, p = f->settings->components;
    size_t columns = n * p * sizeof(double), map = (m + 1) * p * sizeof(double);
    size_t sweep = ny_sweep_bytes(n, workers), batches = ny_batches_bytes(n, ny_isomap_sources(n));
    size_t during = ny_batch_put_bytes(limit, columns);
    size_t after = ny_graph_embed_bytes(f, limit); /* the sweep is gone by then */

    if (batches > sweep) sweep = batches; /* the sources of pairs come before their sweep */
    after = after > sweep ? after - sweep : 0;
    bytes.by_purpose[NY_MEM_PROCESS] += ny_blas_bytes(f->job.threads, workers, m);
    bytes.by_purpose[NY_MEM_TILES] += sweep + (NY_UNIT_ROWS + p) * NY_LANES * sizeof(double);
    bytes.by_purpose[NY_MEM_OTHER] += columns;
    bytes.by_purpose[NY_MEM_SOLVE] += map + m * ny_isomap_samples(m) * sizeof(float);
    bytes.by_purpose[NY_MEM_STORE] += during > after ? during : after;
    return bytes;
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
        *seconds += ny_isomap_sweep_s(f, ny_isomap_sources(f->nodes));
        plan->disk_bytes += 2 * f->nodes * f->settings->components * sizeof(double);
    }
    if (!all || keeps) *seconds += 2 * n * m * p / plan->rates.gemm64;
    if (!all && !keeps) *seconds += ny_isomap_sweep_s(f, f->m);
}

const struct ny_stage ny_stage_isomap_unfold = {NY_STAGE_PROJECT, project, project_bytes,
                                                project_work};
