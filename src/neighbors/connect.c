/* --connect: bridges between the components, before the graph is described (graph/bridges.h). After
 * a kill, the checkpoint has the bridges so far and the pairs of the round. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "neighbors/job_private.h"
#include "graph/bridges.h"

struct connect {
    struct ny_graph_job *g;
    struct ny_bridging bridging;
    size_t image_bytes;
    uint64_t first; /* components there were, */
    uint64_t row;   /* and where the round is */
    double saved_s;
};

static int checkpoint(struct connect *connect)
{
    struct ny_job *job = &connect->g->job;

    job->state.at.bridges = connect->bridging.count;
    connect->saved_s = ny_now();
    return ny_job_checkpoint_image(job, NY_STAGE_GRAPH, "joins", connect->bridging.found,
                                   connect->image_bytes, connect->row);
}

/* Pairs of the components of a round, to its end. */
static int run_round(struct connect *connect)
{
    struct ny_graph_job *g = connect->g;
    size_t bridges = connect->bridging.count;
    int err = NY_OK;

    while (connect->row < g->job.points.n && err == NY_OK) {
        uint64_t before = connect->row;

        err = ny_bridges_compare(&connect->bridging, &connect->row);
        if (ny_is_interrupt(err)) {
            int late;

            connect->row = before;
            late = checkpoint(connect);
            return late ? late : err;
        }
        if (err == NY_OK && ny_now() - connect->saved_s >= ny_context_checkpoint_s(g->job.ctx))
            err = checkpoint(connect);
    }
    if (err == NY_OK) err = ny_bridges_take(&connect->bridging);
    if (err || connect->bridging.count > bridges) return err;
    return ny_fail_infinite(g->job.ctx, "distance", NY_NO_LINE);
}

/* Bridges so far, and pairs of the round where there are some. */
static bool are_rows(const struct connect *connect)
{
    const struct ny_bridging *bridging = &connect->bridging;
    size_t room = (size_t)connect->first;
    uint64_t n = connect->g->job.points.n;

    if (bridging->count >= room || connect->row > n) return false;
    for (size_t k = 0; k < bridging->count; k++)
        if (bridging->found[k].from >= n || bridging->found[k].to >= n) return false;
    for (size_t c = 0; c < room; c++) {
        const uint32_t ends[2] = {bridging->best[c].from, bridging->best[c].to};

        if (!ny_rows_below(ends, 2, n)) return false;
    }
    return true;
}

/* Begins, or goes on where the checkpoint is: `found` and `best` are one image. */
static int open(struct connect *connect, const struct ny_components *components)
{
    struct ny_graph_job *g = connect->g;
    struct ny_job *job = &g->job;
    size_t room = (size_t)components->count;
    int err = NY_OK;

    connect->first = components->count;
    connect->bridging.knn = g->knn;
    connect->bridging.knn.neighbors = 1;
    connect->bridging.components = components;
    connect->image_bytes = 2 * room * sizeof(struct ny_bridge);
    connect->saved_s = ny_now();
    g->bridge = ny_calloc(job->ctx, NY_MEM_DICTIONARY, 2 * room, sizeof(struct ny_bridge));
    if (!g->bridge) return NY_EBUDGET;
    connect->bridging.found = g->bridge;
    connect->bridging.best = g->bridge + room;
    ny_bridges_begin(&connect->bridging);
    connect->row = job->state.at.units;
    connect->bridging.count = (size_t)job->state.at.bridges;
    if (ny_job_has_image(job, "joins"))
        err = ny_job_read_image(job, "joins", g->bridge, connect->image_bytes);
    return err || are_rows(connect) ? err : ny_job_not_its_checkpoint(job);
}

/* Reports how many bridges there are and how long they are. */
static void describe(const struct connect *connect)
{
    struct ny_state_graph *facts = &connect->g->job.state.graph;
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < connect->bridging.count; i++) {
        least = fmin(least, connect->bridging.found[i].length);
        most = fmax(most, connect->bridging.found[i].length);
    }
    facts->bridges = connect->bridging.count;
    if (!connect->bridging.count) return;
    facts->bridge_shortest = least;
    facts->bridge_longest = most;
    ny_log(connect->g->job.ctx, NY_LOG_DETAIL,
           "%zu edges of %g to %g join the %llu components of the graph", connect->bridging.count,
           least, most, (unsigned long long)connect->first);
}

int ny_graph_connect(struct ny_graph_job *g, struct ny_lists *lists,
                     struct ny_components *components)
{
    struct ny_job *job = &g->job;
    struct connect connect = {.g = g};
    int err = open(&connect, components);

    while (err == NY_OK) {
        lists->bridge = connect.bridging.found;
        lists->bridges = connect.bridging.count;
        ny_components_release(components);
        err = ny_components_find(components, job->ctx, lists);
        if (err == NY_OK && components->count + lists->bridges != connect.first)
            err = ny_job_not_its_checkpoint(job); /* some of its bridges join nothing */
        if (err || components->count == 1) break;
        if (connect.row == 0) ny_bridges_begin(&connect.bridging);
        err = run_round(&connect);
        connect.row = 0;
    }
    if (err) return err;
    describe(&connect);
    return ny_keep_put(&job->keep, "bridges", connect.bridging.found,
                       connect.bridging.count * sizeof(struct ny_bridge));
}

/* There may be as many components as rows. */
void ny_graph_bridges_count(struct ny_layout *l, const struct ny_graph_sizes *f, unsigned workers,
                            size_t limit)
{
    struct ny_knn knn = f->knn;
    size_t room = 2 * (size_t)f->points->n;

    if (!f->settings->connect) return;
    knn.neighbors = 1;
    knn.workers = workers;
    ny_lay(l, NY_MEM_DICTIONARY, room, sizeof(struct ny_bridge));
    ny_bridges_count(l, &knn);
    ny_rows_source_count(l, NY_MEM_DICTIONARY, f->points, workers);
    ny_batch_count(l, NY_MEM_DICTIONARY, limit, room * sizeof(struct ny_bridge));
}
