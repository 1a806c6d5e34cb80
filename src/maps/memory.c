/* Memory of a fit of a graph's map, and the workers for which there is enough. */
#include "base/budget.h"
#include "base/memory.h"
#include "maps/graph_map.h"

static const size_t small_bytes = 512 << 10;

struct ny_edges ny_map_graph(const struct ny_map_sizes *f, struct ny_pages *pages)
{
    return ny_edges_planned(f->nodes, f->edges, f->paged ? pages : NULL);
}

static void count_process(struct ny_layout *l, const struct ny_map_sizes *f)
{
    ny_layout_add(l, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    ny_layout_add(l, NY_MEM_OTHER, small_bytes);
    ny_layout_add(l, NY_MEM_STORE, f->reading_bytes);
}

void ny_map_common(struct ny_layout *l, const struct ny_map_sizes *f)
{
    struct ny_edges graph = {.n = (uint32_t)f->nodes};

    count_process(l, f);
    if (f->paged)
        ny_pages_lay(l, &graph, f->n);
    else
        ny_edges_lay(l, &graph, f->n, f->edges);
}

/* Fills in what all stages hold, in the way that the sizes name, and tells whether all fit. */
static bool fits(const struct ny_map_sizes *f, unsigned workers, size_t limit,
                 struct ny_course_bytes *bytes)
{
    struct ny_layout l = {0};
    bool fit;

    ny_plan_stage_bytes(&f->job, workers, limit, bytes);
    if (f->job.job) {
        ny_map_common(&l, f);
    } else {
        count_process(&l, f);
        if (f->paged)
            ny_stored_pages_count(&l, &f->graph);
        else
            ny_stored_edges_count(&l, &f->graph);
    }
    bytes->before = l.most;
    fit = ny_charges_total(&bytes->before) <= limit;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        fit &= ny_charges_total(&bytes->of[stage]) <= limit;
    return fit;
}

/* The ways, the fastest first. */
static const struct way {
    bool paged;
    size_t lanes;
} ways[] = {{false, NY_LANES}, {false, NY_HALF_LANES}, {false, NY_FEW_LANES}, {false, 1},
            {true, NY_LANES},  {true, NY_HALF_LANES},  {true, NY_FEW_LANES},  {true, 1}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static bool may_be(const struct ny_map_sizes *f, size_t way)
{
    return (f->ways & NY_MAP_FEW_LANES || ways[way].lanes == NY_LANES) &&
           (f->ways & NY_MAP_PAGED || !ways[way].paged);
}

void ny_map_way(struct ny_map_sizes *f, size_t limit)
{
    struct ny_course_bytes bytes;

    f->kept = 0;
    for (size_t way = 0; way < WAYS; way++) {
        if (!may_be(f, way)) continue;
        f->paged = ways[way].paged;
        f->lanes = ways[way].lanes;
        if (fits(f, 1, limit, &bytes)) return;
    }
}

void ny_map_keep(struct ny_map_sizes *f, unsigned workers, size_t limit)
{
    struct ny_course_bytes bytes;

    f->kept = 0;
    /* All nodes as landmarks need no second sweep. */
    if (!(f->ways & NY_MAP_KEPT) || f->lanes != NY_LANES || f->m == f->nodes) return;
    f->kept = (size_t)ny_sweep_bytes(f->nodes, f->m);
    if (f->kept > limit || !fits(f, workers, limit, &bytes)) f->kept = 0;
}

void ny_map_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes)
{
    struct ny_map_sizes f = *ny_map_sizes_of(sizes);

    ny_map_way(&f, limit);
    ny_map_keep(&f, workers, limit);
    (void)fits(&f, workers, limit, bytes);
    bytes->cache = f.kept;
}

struct ny_map_sizes ny_map_sizes_make(const struct ny_graph_map *map,
                                      const struct ny_fit_settings *settings,
                                      const struct ny_rows_info *points,
                                      const struct ny_stored_graph *graph)
{
    struct ny_map_sizes sizes = {
        .job = {.ctx = graph->keep.ctx, .course = map->course, .threads = settings->threads},
        .map = map,
        .settings = settings,
        .graph = *graph,
        .n = graph->n,
        .nodes = graph->largest,
        .edges = graph->largest_edges,
        .reading_bytes = 2 * points->reader_bytes,
        .m = settings->landmarks,
        .ways = map->ways ? map->ways(settings) : 0};

    if (sizes.m > sizes.nodes) sizes.m = (size_t)sizes.nodes;
    if (graph->given) sizes.ways &= ~(unsigned)NY_MAP_PAGED;
    return sizes;
}

static void count_stage(struct ny_layout *l, const void *sizes, unsigned workers, size_t limit)
{
    ny_job_stage(((const struct ny_job_sizes *)sizes)->job)->count(l, sizes, workers, limit);
}

/* Returns how fast so many workers find paths with so many lanes each, of no more workers than
 * there are batches. */
static double speed(const struct ny_map_sizes *f, unsigned workers)
{
    size_t batches = (f->m + f->lanes - 1) / f->lanes;

    if (batches && workers > batches) workers = (unsigned)batches;
    return workers * ny_paths_rate(f->lanes);
}

/* Returns the sizes of a fit whose graph is open, in the way of the stage under way. */
static struct ny_map_sizes sizes_of(const struct ny_graph_fit *fit)
{
    const struct ny_job *job = &fit->base.job;
    const struct ny_edges *edges = &fit->edges;
    return (struct ny_map_sizes){
        .job = {job->ctx, job->course, job, fit->base.settings->threads},
        .map = fit->map,
        .settings = fit->base.settings,
        .n = job->points.n,
        .nodes = edges->n,
        .edges = ny_edges_count(edges),
        .reading_bytes = 2 * job->points.reader_bytes,
        .m = fit->base.m,
        .paged = !!edges->pages,
        .lanes = fit->lanes,
        .ways = fit->ways,
        .kept = fit->kept_bytes,
    };
}

int ny_graph_fit_workers(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    struct ny_map_sizes sizes = sizes_of(fit);
    double fastest = 0;

    job->workers = 0;
    for (size_t way = 0; way < WAYS; way++) {
        unsigned workers;

        if (!may_be(&sizes, way) || ways[way].paged != sizes.paged) continue;
        sizes.lanes = ways[way].lanes;
        workers =
            ny_budget_workers(count_stage, &sizes, sizes.job.threads, ny_memory_limit(job->ctx));
        if (!workers || speed(&sizes, workers) <= fastest) continue;
        fastest = speed(&sizes, workers);
        fit->lanes = sizes.lanes;
        job->workers = workers;
    }
    if (!job->workers)
        return ny_budget_refuse(job->ctx, "fit", ny_plan_memory_least(&sizes.job), "", "");
    ny_context_set_crew(job->ctx, job->workers);
    return NY_OK;
}

int ny_graph_fit_keep(struct ny_graph_fit *fit)
{
    struct ny_job *job = &fit->base.job;
    struct ny_map_sizes sizes = sizes_of(fit);

    ny_map_keep(&sizes, job->workers, ny_memory_limit(job->ctx));
    if (!sizes.kept) return NY_OK;
    fit->kept = ny_alloc(job->ctx, NY_MEM_TILES, sizes.kept);
    fit->kept_bytes = sizes.kept;
    job->state.report.columns_kept_bytes = sizes.kept;
    return fit->kept ? NY_OK : NY_EBUDGET;
}

void ny_graph_fit_drop_kept(struct ny_graph_fit *fit)
{
    ny_free(fit->base.job.ctx, fit->kept);
    fit->kept = NULL;
    fit->kept_bytes = 0;
}
