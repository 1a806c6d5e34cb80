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
static int load_landmarks(const struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->base.job;
    const uint64_t *rows = map->rows;
    int err = ny_job_get_part(job, "landmarks", map->rows, map->m * sizeof(uint64_t));

    for (size_t j = 0; j < map->m && err == NY_OK; j++)
        if (rows[j] >= job->points.n || map->fit->edges.node[rows[j]] == NY_NO_ROW)
            err = ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    return err;
}

/* Loads part sources, the order in which paths are found; each has to be one of the landmarks. */
static int load_order(struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->base.job;
    int err = ny_job_get_part(job, "sources", map->landmark, map->m * sizeof(uint32_t));

    for (size_t i = 0; i < map->m && err == NY_OK; i++)
        if (map->landmark[i] >= map->m)
            err = ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    return err;
}

static void lay(struct ny_layout *l, struct ny_isomap *map, size_t m)
{
    map->rows = ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(uint64_t));
    map->landmark = ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(uint32_t));
    map->nodes = ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(uint32_t));
}

int ny_isomap_open(struct ny_isomap *map, struct ny_graph_fit *fit, bool finished)
{
    struct ny_job *job = &fit->base.job;
    size_t m = ny_state_landmarks(&job->state);
    int err;

    *map = (struct ny_isomap){
        .fit = fit, .m = m, .p = (size_t)job->state.facts.components, .own.ctx = job->ctx};
    fit->base.m = m;
    if (!m || m > fit->edges.n || !map->p || map->p > m)
        return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
    map->samples = ny_isomap_samples(m);
    lay(&map->own, map, m);
    err = map->own.err ? map->own.err : load_landmarks(map);
    if (err == NY_OK)
        err = finished ? ny_isomap_order(fit, map->rows, m, map->landmark) : load_order(map);
    for (size_t i = 0; i < m && err == NY_OK; i++)
        map->nodes[i] = fit->edges.node[map->rows[map->landmark[i]]];
    return err;
}

void ny_isomap_close(struct ny_isomap *map)
{
    struct ny_context *ctx = map->fit->base.job.ctx;

    ny_layout_free(&map->own);
    ny_free(ctx, map->state);
    ny_free(ctx, map->map);
    ny_free(ctx, map->Y.at);
}

int ny_isomap_not_reached(const struct ny_isomap *map)
{
    const struct ny_job *job = &map->fit->base.job;
    const struct ny_edges *edges = &map->fit->edges;
    double all = edges->mean_length * (double)ny_edges_count(edges);

    if (all <= (double)FLT_MAX) return ny_fail_damaged(job->ctx, job->keep.name, job->keep.place);
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

void ny_isomap_common(struct ny_layout *l, const struct ny_map_sizes *f)
{
    struct ny_isomap map;

    ny_map_common(l, f);
    lay(l, &map, f->m);
}

double ny_isomap_sweep_s(const struct ny_map_sizes *f, const struct ny_calibration *rates,
                         size_t sources)
{
    /* beats of a node from one source: bench_paths; with pages, a part of them is for reading */
    const double path = (f->paged ? 33 : 25) / ny_paths_rate(f->lanes);

    return ny_calibration_beats(rates, path * (double)sources * (double)f->nodes);
}
