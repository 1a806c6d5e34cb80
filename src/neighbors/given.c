/*
 * Makes a graph of the edges in a file (neighbors/given.h).
 *
 * The file is read twice. The first time, before the plan, nodes and entries are counted and every
 * line is judged, so that the plan is exact, a budget that is too small is refused with the least
 * one that works, and a wrong line leaves no NAME behind. The second time the entries come into
 * memory, 16 bytes each; whatever follows is done in their place.
 */
#include "neighbors/given.h"

#include <math.h>

#include "base/clock.h"
#include "base/text.h"
#include "graph/edge_list.h"
#include "neighbors/job_private.h"

enum { CHECK_ENTRIES = 1 << 16 }; /* between two looks at the interrupt */

/* ---- the first look ------------------------------------------------------------------------- */

/* Counts the entries of an open source, and its nodes where it does not say how many there are. */
static int count_entries(struct ny_context *ctx, struct ny_edge_source *edges,
                         struct ny_given_edges *given)
{
    struct ny_edge_entry entry;
    uint64_t last = 0;
    int err = NY_OK;

    while (!err && (err = edges->next(edges, &entry)) == NY_OK) {
        uint32_t node = entry.from > entry.to ? entry.from : entry.to;

        if (node >= last) last = (uint64_t)node + 1;
        if (given->entries++ % CHECK_ENTRIES == 0) err = ny_check_interrupt(ctx);
    }
    given->n = edges->nodes ? edges->nodes : last;
    return err == NY_END ? NY_OK : err;
}

int ny_given_edges_look(struct ny_context *ctx, struct ny_given_edges *given)
{
    size_t before = ny_memory_used(ctx);
    struct ny_edge_source *edges;
    int err = given->open(&edges, ctx, given->path, given->nodes);

    given->n = given->entries = 0;
    if (err) return err;
    err = count_entries(ctx, edges, given);
    given->reading_bytes = ny_memory_used(ctx) - before;
    edges->close(edges);
    if (err || given->entries) return err;
    return ny_fail_at(ctx, NY_EDATA, given->path, NY_NO_LINE,
                      "%s holds no edges; give a file of lines i j weight", given->path);
}

/* ---- the stage ------------------------------------------------------------------------------ */

struct given_job {
    struct ny_job job;
    const struct ny_given_edges *given;
};

/* Reads all entries into the list, of which there are as many as were counted. */
static int read_entries(const struct given_job *g, struct ny_edge_list *list)
{
    const struct ny_given_edges *given = g->given;
    struct ny_edge_source *edges;
    struct ny_edge_entry entry;
    uint64_t count = 0;
    int err = given->open(&edges, g->job.ctx, given->path, given->nodes);

    while (!err && (err = edges->next(edges, &entry)) == NY_OK) {
        if (++count > given->entries || entry.from >= given->n || entry.to >= given->n) break;
        ny_edge_list_add(list, entry.from, entry.to, entry.weight);
        if (count % CHECK_ENTRIES == 0) err = ny_check_interrupt(g->job.ctx);
    }
    if (edges) edges->close(edges);
    if (err && err != NY_END) return err;
    if (err == NY_END && count == given->entries) return NY_OK;
    return ny_fail_at(g->job.ctx, NY_EDATA, given->path, NY_NO_LINE,
                      "%s was changed while it was read; run the command again", given->path);
}

/* Tells what became of the entries, in the report and in notes. NY_EDATA where nothing is left. */
static int tell_entries(struct given_job *g, const struct ny_edge_list *list)
{
    struct ny_context *ctx = g->job.ctx;
    struct ny_state_graph *facts = &g->job.state.graph;

    facts->self_loops = list->loops;
    facts->repeats = list->repeats;
    if (list->affinities) facts->zero_affinities = list->zeros;
    if (!list->count)
        return ny_fail_at(ctx, NY_EDATA, g->given->path, NY_NO_LINE,
                          "%s joins no two nodes: all of its edges lead back to where they begin, "
                          "or have affinity 0",
                          g->given->path);
    if (list->loops || list->zeros)
        ny_log(ctx, NY_LOG_NOTE, "edges left out: %llu from a node to itself, %llu of affinity 0",
               (unsigned long long)list->loops, (unsigned long long)list->zeros);
    if (list->repeats)
        ny_log(ctx, NY_LOG_NOTE, "edges that are repeated: %llu; %s",
               (unsigned long long)list->repeats,
               list->affinities ? "their affinities are added" : "the shortest counts");
    return NY_OK;
}

/* Stores the components and describes them. */
static int put_components(struct given_job *g, const struct ny_lists *lists)
{
    struct ny_job *job = &g->job;
    struct ny_components components;
    int err = ny_components_find(&components, job->ctx, lists);

    if (err == NY_OK) err = ny_graph_describe(job, lists, &components);
    if (err == NY_OK)
        err = ny_keep_put(&job->keep, "components", components.of,
                          (size_t)lists->n * sizeof(uint32_t));
    if (err == NY_OK && components.count > 1)
        ny_log(job->ctx, NY_LOG_WARNING,
               "the graph has %llu components; the largest holds %.2f %% of the nodes, and maps of "
               "the graph use only these",
               (unsigned long long)components.count,
               100 * (double)components.largest / (double)lists->n);
    ny_components_release(&components);
    return err;
}

static int stage_given(struct ny_job *job)
{
    struct given_job *g = (struct given_job *)job;
    struct ny_edge_list list;
    struct ny_lists lists;
    int err = ny_edge_list_new(&list, job->ctx, (size_t)g->given->entries);

    list.affinities = g->given->affinities;
    if (err == NY_OK) err = read_entries(g, &list);
    if (err == NY_OK) err = ny_edge_list_settle(&list);
    if (err == NY_OK) err = tell_entries(g, &list);
    if (err) goto done;
    err = ny_keep_put(&job->keep, "edges", list.edge, list.count * sizeof(*list.edge));
    if (err) goto done;
    lists = (struct ny_lists){
        .n = job->points.n, .limit = INFINITY, .bridge = list.edge, .bridges = list.count};
    err = put_components(g, &lists);
    if (err) goto done;
    ny_job_mark_time(job);
    err = ny_job_save(job, ny_job_next(job));
done:
    ny_edge_list_release(&list);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

struct given_sizes {
    struct ny_job_sizes job;
    const struct ny_given_edges *given;
};

static void count_given(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                        size_t limit)
{
    const struct ny_given_edges *given = ((const struct given_sizes *)sizes)->given;
    const size_t small_bytes = 512 << 10;
    size_t n = (size_t)given->n, entries = (size_t)given->entries;

    (void)workers;
    ny_layout_add(l, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    ny_layout_add(l, NY_MEM_DICTIONARY, small_bytes + given->keep_bytes);
    ny_lay(l, NY_MEM_DICTIONARY, entries, sizeof(struct ny_bridge));
    ny_lay_peak(l, NY_MEM_IO, 1, given->reading_bytes);
    ny_components_count(l, n);
    ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint32_t)); /* degrees */
    ny_layout_add(l, NY_MEM_DICTIONARY, 2 * NY_CHUNK_BYTES);
    ny_batch_count(l, NY_MEM_DICTIONARY, limit,
                   entries * sizeof(struct ny_bridge) + n * sizeof(uint32_t));
}

static void given_work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    const struct ny_given_edges *given = ((const struct given_sizes *)sizes)->given;
    const double entry = 400, node = 50; /* beats: an entry is parsed, sorted and joined */

    plan->stage_s[NY_STAGE_GRAPH] += ny_calibration_alone(
        &plan->rates, entry * (double)given->entries + node * (double)given->n);
    plan->result_bytes = given->entries * sizeof(struct ny_bridge) + given->n * sizeof(uint32_t);
    plan->disk_bytes = plan->result_bytes;
}

static const struct ny_stage stage_edges = {NY_STAGE_GRAPH, stage_given, count_given, given_work};
static const struct ny_stage *const stages[] = {&stage_edges, NULL};
static const struct ny_course course = {.stages = stages};

int ny_given_edges_plan(struct ny_context *ctx, const struct ny_given_edges *given,
                        struct ny_plan *plan)
{
    struct given_sizes sizes = {.job = {.ctx = ctx, .course = &course, .threads = 1},
                                .given = given};
    int err;

    *plan = (struct ny_plan){.whole = true};
    ny_plan_memory(&sizes.job, plan);
    err = ny_calibration_get(ctx, 0, plan->workers, &plan->rates);
    if (err) return err;
    ny_plan_work(&sizes.job, plan);
    ny_plan_sum_up(plan);
    return NY_OK;
}

/* ---- the job -------------------------------------------------------------------------------- */

int ny_given_edges_run(struct ny_rows *X, const struct ny_keep *keep,
                       const struct ny_given_edges *given, struct ny_record record)
{
    struct ny_context *ctx = X->ctx;
    struct given_job g = {.job = {.ctx = ctx,
                                  .X = X,
                                  .keep = *keep,
                                  .record = record,
                                  .state = ny_state_of(record),
                                  .course = &course,
                                  .after = NY_STAGE_DONE,
                                  .workers = 1,
                                  .marked_s = ny_now()},
                          .given = given};
    int err = X->ops->info(X, &g.job.points);

    if (err) return err;
    if (g.job.state.report.n != given->n)
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' was begun with another number of nodes than %s has; give --restart",
                       keep->name, given->path);
    g.job.points.n = given->n;
    return ny_job_run(&g.job);
}
