/*
 * Holds what all stages of isomap share (maps/isomap_private.h): the landmarks in the order in
 * which paths are found from them, the hashed nodes that each is paired with, at least 20,000 pairs
 * in all, and the sweep. All that is loaded from the store is checked: it may not be ours.
 */
#include <float.h>

#include "base/random.h"
#include "graph/batches.h"
#include "maps/isomap_private.h"

/* Pairs of a landmark and a hashed node, at least so many. */
enum { SAMPLE_PAIRS = 20000 };

int ny_isomap_order(struct ny_graph_fit *fit, const uint64_t *rows, size_t m, uint32_t *order)
{
    struct ny_context *ctx = fit->base.job.ctx;
    uint32_t *nodes = ny_calloc(ctx, NY_MEM_DICTIONARY, m, sizeof(uint32_t));
    int err;

    if (!nodes) return NY_EBUDGET;
    for (size_t j = 0; j < m; j++)
        nodes[j] = fit->edges.node[rows[j]];
    err = ny_batches_form(&fit->edges, nodes, m, order);
    ny_free(ctx, nodes);
    return err;
}

/* Loads the rows of the landmarks, all of which have to be nodes. */
static int load_landmarks(const struct ny_isomap *map, uint64_t *rows)
{
    const struct ny_job *job = &map->fit->base.job;
    int err = ny_job_get_part(job, "landmarks", rows, map->m * sizeof(uint64_t));

    for (size_t j = 0; j < map->m && err == NY_OK; j++)
        if (rows[j] >= job->points.n || map->fit->edges.node[rows[j]] == NY_NO_ROW)
            err = ny_fail(job->ctx, NY_ESTORE,
                          "the landmarks of '%s' are not in its graph; fit it again with --restart",
                          job->keep.name);
    return err;
}

/* Loads part sources, the order in which paths are found; each has to be one of the landmarks. */
static int load_order(struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->base.job;
    int err = ny_job_get_part(job, "sources", map->landmark, map->m * sizeof(uint32_t));

    for (size_t i = 0; i < map->m && err == NY_OK; i++)
        if (map->landmark[i] >= map->m)
            err = ny_fail(job->ctx, NY_ESTORE,
                          "the sources of '%s' are not its landmarks; fit it again with --restart",
                          job->keep.name);
    return err;
}

int ny_isomap_open(struct ny_isomap *map, struct ny_graph_fit *fit, bool finished)
{
    struct ny_job *job = &fit->base.job;
    size_t m = (size_t)ny_field_count(ny_job_report(job), "landmarks", 0);
    uint64_t *rows = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m, sizeof(uint64_t));
    int err = NY_EBUDGET;

    *map = (struct ny_isomap){
        .fit = fit, .m = m, .p = (size_t)ny_field_count(ny_job_report(job), "components", 0)};
    fit->base.m = m;
    if (!m || m > fit->edges.n || !map->p || map->p > m) {
        err = ny_fail(job->ctx, NY_ESTORE,
                      "'%s' cannot have %zu landmarks and %zu components; fit it again with "
                      "--restart",
                      job->keep.name, m, map->p);
        goto done;
    }
    map->samples = ny_isomap_samples(m);
    map->landmark = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m, sizeof(uint32_t));
    map->nodes = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m, sizeof(uint32_t));
    if (!rows || !map->landmark || !map->nodes) goto done;
    err = load_landmarks(map, rows);
    if (err == NY_OK)
        err = finished ? ny_isomap_order(fit, rows, m, map->landmark) : load_order(map);
    for (size_t i = 0; i < m && err == NY_OK; i++)
        map->nodes[i] = fit->edges.node[rows[map->landmark[i]]];
done:
    ny_free(job->ctx, rows);
    return err;
}

void ny_isomap_close(struct ny_isomap *map)
{
    struct ny_context *ctx = map->fit->base.job.ctx;

    ny_free(ctx, map->landmark);
    ny_free(ctx, map->nodes);
    ny_free(ctx, map->state);
    ny_free(ctx, map->map);
    ny_free(ctx, map->Y.at);
}

int ny_isomap_not_reached(const struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->base.job;
    const struct ny_edges *edges = &map->fit->edges;
    double all = edges->mean_length * (double)ny_edges_count(edges);

    if (all <= (double)FLT_MAX)
        return ny_fail(job->ctx, NY_ESTORE,
                       "the edges of the graph of '%s' do not join its largest component; make it "
                       "again with --restart",
                       job->keep.name);
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "paths between rows of '%s' are longer than %.2g, the most that a graph can "
                   "hold; make the graph from lengths in a larger unit",
                   job->keep.name, (double)FLT_MAX);
}

size_t ny_isomap_samples(size_t m)
{
    return (SAMPLE_PAIRS + m - 1) / m;
}

/* The s-th node that is paired with source i. */
uint32_t ny_isomap_sampled(const struct ny_isomap *map, size_t i, size_t s)
{
    return (uint32_t)(ny_hash64(map->fit->base.settings->seed, NY_STREAM_PAIRS,
                                map->landmark[i] * map->samples + s) %
                      map->fit->edges.n);
}

int ny_isomap_sweep(struct ny_isomap *map, size_t first,
                    int (*fold)(void *, const struct ny_swept *),
                    int (*checkpoint)(void *, uint64_t))
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_sweep sweep = {.graph = &map->fit->edges,
                             .sources = map->nodes,
                             .count = map->m,
                             .stage = ny_stage_name(job->stage),
                             .workers = job->workers,
                             .lanes = map->fit->lanes,
                             .first = first,
                             .checkpoint_s = ny_context_checkpoint_s(job->ctx),
                             .fold = fold,
                             .checkpoint = checkpoint,
                             .arg = map};

    return ny_sweep_run(&sweep);
}

size_t ny_isomap_state_bytes(size_t m)
{
    return m * (m + ny_isomap_samples(m)) * sizeof(float);
}

/* ---- the plan ------------------------------------------------------------------------------- */

struct ny_stage_bytes ny_isomap_common(const struct ny_map_sizes *f)
{
    struct ny_stage_bytes bytes = ny_map_common(f);

    bytes.by_purpose[NY_MEM_DICTIONARY] +=
        f->m * (2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + sizeof(double));
    return bytes;
}

double ny_isomap_sweep_s(const struct ny_map_sizes *f, size_t sources)
{
    /* nodes a source and a thread: bench_paths; a part of the time of pages is for reading them */
    const double paths_per_s = (f->paged ? 3e7 : 4e7) * ny_paths_rate(f->lanes);

    return (double)sources * (double)f->nodes / (paths_per_s * f->job.threads);
}
