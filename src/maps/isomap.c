/*
 * Isomap (Tenenbaum, de Silva & Langford 2000) with landmarks (Talwalkar, Kumar & Rowley 2008,
 * sections 2.1, 4.3 and 4.4, whose equations are meant below). K = −½HΔ²H, H = I − 11ᵀ/n, Δ the
 * lengths of shortest paths between the nodes of the graph, and Y = Λ^½Uᵀ of its largest eigenpairs
 * (eq. 1). These are approximated from the columns of the landmarks D: Λ̂ and Û by eqs. 6 and 7
 * (nystrom) or 8 and 9 (column), of W = −½HΔ(D, D)²H, H = I − 11ᵀ/m, and C centred over D likewise
 * (section 4.4). Stages:
 *
 *   select      landmarks among the nodes
 *   accumulate  sweep 1: paths from each landmark → Δ(D, D), and Δ of a sample of pairs
 *   solve       W → P: its negative eigenvalues are dropped and counted
 *   project     sweep 2: the same paths again → Y += C′P, a batch of columns at a time, so that C,
 *               nodes × m, need not be there; nothing of that where all nodes are landmarks. Where
 *               the budget has room for Δ(nodes, D), it is kept from sweep 1 and takes its place
 *
 * Landmarks are sources in an order in which those of a batch are near one another.
 * Parts of the NAME beside those of maps/graph_map.h:
 *
 *   landmarks     m row numbers, in order of selection
 *   sources       m indices of them: their order in the sweeps; gone when done
 *   sweep.0/1     image of sweep 1, two slots in turn; geodesics: the whole; gone when done
 *   sample        m × q distances of the sample: pairs of nodes, where all are landmarks
 *   map           q, then P, in order of selection: y = Σ_j k(x, j) P_j + q
 *   sums.0/1      image of Y in sweep 2, two slots in turn; gone when done
 *   paths         Δ(nodes, D) of --approx column (maps/isomap_columns.c); gone when done
 *   gram.0/1      its G, as long as it is summed; gone when done
 */
#include "maps/graph_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "maps/isomap_private.h"
#include "graph/batches.h"
#include "graph/buckets.h"

/* ---- select --------------------------------------------------------------------------------- */

/* Refuses more components than landmarks were found, and warns of fewer landmarks than typed. */
static int check_selection(const struct ny_graph_fit *fit, const struct ny_selection *selection)
{
    const struct ny_fit_settings *settings = fit->base.settings;

    if (selection->m < settings->components)
        return ny_fail_most(fit->base.job.ctx, "components", settings->components, selection->m,
                            "landmarks");
    if (selection->m < settings->landmarks && settings->landmarks_typed && !settings->rule->all)
        ny_log(fit->base.job.ctx, NY_LOG_WARNING,
               "--landmarks %zu is more than the %u rows of the largest component; all of them are "
               "taken",
               settings->landmarks, fit->edges.n);
    return NY_OK;
}

/* The state of maxmin: which nodes are landmarks, and the paths from the nearest of them. */
struct spread {
    const struct ny_edges *edges;
    struct ny_buckets *buckets;
    float *near; /* nodes */
    bool *taken; /* nodes */
};

static void lay_spread(struct ny_layout *l, struct spread *spread, const struct ny_edges *edges)
{
    spread->edges = edges;
    spread->buckets = ny_buckets_lay(l, edges);
    spread->near = ny_lay(l, NY_MEM_TILES, edges->n, sizeof(float));
    spread->taken = ny_lay(l, NY_MEM_TILES, edges->n, sizeof(bool));
    for (uint32_t v = 0; v < edges->n && spread->near; v++)
        spread->near[v] = INFINITY;
}

/* Returns the first of equally far rows; never a landmark, even if all distances are 0. */
static uint64_t farthest(void *arg, uint64_t landmark)
{
    const struct spread *spread = arg;
    const struct ny_edges *edges = spread->edges;
    const struct ny_reach reach = {.distance = spread->near, .stride = 1};
    const float *near = spread->near;
    float most = -1;
    uint32_t row = 0;

    if (ny_buckets_run(spread->buckets, &reach, edges->node[landmark])) return 0;
    spread->taken[edges->node[landmark]] = true;
    for (uint32_t v = 0; v < edges->n; v++) {
        if (spread->taken[v] || near[v] < most || (near[v] <= most && edges->row[v] > row))
            continue;
        most = near[v];
        row = edges->row[v];
    }
    return row;
}

/* Selects landmarks by the rule, and checks that their number can be used. */
static int select_by_rule(struct ny_graph_fit *fit, struct ny_selection *selection)
{
    struct ny_job *job = &fit->base.job;
    const struct ny_fit_settings *settings = fit->base.settings;
    size_t m = settings->landmarks < fit->edges.n || settings->named_landmarks ? settings->landmarks
                                                                               : fit->edges.n;
    struct ny_layout l = {.ctx = job->ctx};
    struct spread spread;
    const struct ny_selection_request request = {.ctx = job->ctx,
                                                 .X = job->X,
                                                 .n = job->points.n,
                                                 .seed = settings->seed,
                                                 .landmarks = m,
                                                 .named_landmarks = settings->named_landmarks,
                                                 .candidates = {.valid = ny_edges_has,
                                                                .valid_arg = &fit->edges,
                                                                .farthest = farthest,
                                                                .farthest_arg = &spread}};
    int err;

    if (settings->rule->paths) lay_spread(&l, &spread, &fit->edges);
    err = l.err ? l.err : settings->rule->select(&request, selection);
    ny_layout_free(&l);
    return err ? err : check_selection(fit, selection);
}

/* Stores the order of the landmarks in the sweeps, in which those of a batch are near one another.
 */
static int put_sources(struct ny_graph_fit *fit, const struct ny_selection *selection)
{
    struct ny_job *job = &fit->base.job;
    size_t m = selection->m;
    uint32_t *order = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m, sizeof(uint32_t));
    int err = order ? ny_isomap_order(fit, selection->rows, m, order) : NY_EBUDGET;

    if (err == NY_OK) err = ny_job_put_part(job, "sources", order, m * sizeof(uint32_t));
    ny_free(job->ctx, order);
    return err;
}

/* Runs stage select: the landmarks D, and their order as sources. */
static int select_landmarks(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct ny_selection selection = {0};
    int err = select_by_rule(fit, &selection);

    if (err == NY_OK)
        err = ny_job_put_part(job, "landmarks", selection.rows, selection.m * sizeof(uint64_t));
    if (err == NY_OK) err = put_sources(fit, &selection);
    if (err) goto done;
    job->state.report.landmarks = selection.m;
    ny_job_clear_checkpoint(job);
    ny_job_mark_time(job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_selection_release(&selection, job->ctx);
    return err;
}

static void count_select(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                         size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    struct ny_pages pages;
    struct ny_edges graph = ny_map_graph(f, &pages);
    struct ny_layout_mark mark;
    struct spread spread;

    (void)workers, (void)limit;
    ny_map_common(l, f);
    ny_lay(l, NY_MEM_DICTIONARY, f->m, 2 * sizeof(uint64_t)); /* the selection */
    mark = ny_layout_mark(l);
    if (f->settings->rule->paths) lay_spread(l, &spread, &graph);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_DICTIONARY, f->m, 2 * sizeof(uint32_t)); /* nodes and their order */
    ny_batches_lay(l, &graph, f->m);
}

static const struct ny_stage stage_landmarks = {NY_STAGE_SELECT, select_landmarks, count_select,
                                                NULL};

/* ---- accumulate: sweep 1 -------------------------------------------------------------------- */

/* Takes a batch of paths into the state: Δ(D, D), and Δ of the sampled pairs; the `fold` of
 * sweep 1. Those that a later stage needs are kept. */
static int take_distances(void *arg, const struct ny_swept *batch)
{
    struct ny_isomap *map = arg;
    size_t width = map->m + map->samples, lanes = batch->lanes;

    for (size_t l = 0; l < batch->count; l++) {
        size_t source = batch->first + l;
        float *row = map->state + source * width;

        for (size_t j = 0; j < map->m; j++)
            row[j] = batch->distances[(size_t)map->nodes[j] * lanes + l];
        for (size_t s = 0; s < map->samples; s++)
            row[map->m + s] =
                batch->distances[(size_t)ny_isomap_sampled(map, source, s) * lanes + l];
    }
    if (ny_isomap_keeps_columns(map->fit->base.settings))
        return ny_isomap_keep(map, batch->first / NY_LANES, batch->distances);
    if (map->fit->kept)
        memcpy(map->fit->kept + batch->first * map->fit->edges.n, batch->distances,
               (size_t)map->fit->edges.n * NY_LANES * sizeof(float));
    return NY_OK;
}

static int save_distances(void *arg, uint64_t sources)
{
    struct ny_isomap *map = arg;

    return ny_job_checkpoint_image(&map->fit->base.job, NY_STAGE_ACCUMULATE, "sweep", map->state,
                                   ny_isomap_state_bytes(map->m), sources);
}

/* Loads sweep 1 as the last checkpoint has it. */
static int load_state(struct ny_isomap *map, uint64_t *sources)
{
    struct ny_job *job = &map->fit->base.job;
    struct ny_image_shape shape = {ny_isomap_state_bytes(map->m), map->m};
    void *image;
    int err = ny_job_load_image(job, "sweep", &shape, &image, sources);

    map->state = image;
    if (err || image) return err;
    map->state = ny_calloc(job->ctx, NY_MEM_OTHER, 1, shape.bytes);
    return map->state ? NY_OK : NY_EBUDGET;
}

/* Makes sweep 1, which gives Δ(D, D), from which W = −½HΔ(D, D)²H is made (section 4.4). */
static int accumulate(struct ny_job *job)
{
    struct ny_graph_fit *fit = ny_graph_fit_of(job);
    struct ny_isomap map;
    uint64_t sources;
    int err = ny_isomap_open(&map, fit, false);

    if (err == NY_OK) err = ny_graph_fit_workers(fit);
    if (err == NY_OK) err = load_state(&map, &sources);
    if (err == NY_OK && sources == 0 && ny_isomap_keeps_columns(fit->base.settings))
        err = ny_isomap_check_room(&map);
    if (err == NY_OK && sources == 0) err = ny_graph_fit_keep(fit);
    if (err == NY_OK) err = ny_isomap_sweep(&map, sources, take_distances, save_distances);
    if (err == NY_OK)
        err = ny_job_put_part(job, "geodesics", map.state, ny_isomap_state_bytes(map.m));
    ny_isomap_close(&map);
    if (err) return err;
    ny_job_clear_checkpoint(job);
    ny_job_mark_time(job);
    return ny_job_save(job, ny_job_next(job));
}

static void count_accumulate(struct ny_layout *l, const struct ny_job_sizes *sizes,
                             unsigned workers, size_t limit)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);
    size_t n = (size_t)f->nodes, state = ny_isomap_state_bytes(f->m);
    struct ny_pages pages;
    struct ny_edges graph = ny_map_graph(f, &pages);

    ny_isomap_common(l, f);
    ny_sweep_lay(l, &graph, f->lanes, workers);
    ny_lay(l, NY_MEM_TILES, f->kept, 1);
    ny_lay(l, NY_MEM_OTHER, state, 1);
    ny_batch_count(l, NY_MEM_STORE, limit, state);
    if (ny_isomap_keeps_columns(f->settings))
        ny_batch_count(l, NY_MEM_STORE, limit, n * NY_LANES * sizeof(float));
}

static void accumulate_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_map_sizes *f = ny_map_sizes_of(sizes);

    plan->stage_s[NY_STAGE_ACCUMULATE] += ny_isomap_sweep_s(f, &plan->rates, f->m);
    plan->disk_bytes += 2 * ny_isomap_state_bytes(f->m);
    if (ny_isomap_keeps_columns(f->settings)) plan->disk_bytes += ny_sweep_bytes(f->nodes, f->m);
}

static const struct ny_stage stage_sweep = {NY_STAGE_ACCUMULATE, accumulate, count_accumulate,
                                            accumulate_work};

/* ---- the whole ------------------------------------------------------------------------------ */

/* Column sampling has Δ on disk, by batches of NY_LANES; maxmin looks for rows of nodes. */
static unsigned ways(const struct ny_fit_settings *settings)
{
    return (ny_isomap_keeps_columns(settings) ? 0 : NY_MAP_FEW_LANES | NY_MAP_KEPT) |
           (settings->rule->paths ? 0 : NY_MAP_PAGED);
}

static const struct ny_stage *const stages[] = {
    &stage_landmarks, &stage_sweep, &ny_stage_isomap_solve, &ny_stage_isomap_unfold, NULL};
static const struct ny_course course = {.stages = stages, .bytes = ny_map_course_bytes};

const struct ny_graph_map ny_graph_map_isomap = {
    .map = &ny_map_isomap, .course = &course, .ways = ways, .transform = ny_isomap_transform};
