/*
 * Measures how well isomap's distances keep those of the paths, over pairs of nodes that are drawn
 * at random, whatever the landmarks are: pairs with a landmark are placed better than others, and
 * those that --select maxmin takes are the outermost points. Called at the end of stage project,
 * when Y is whole; paths come from a sweep of its own, of a few batches. If all nodes are
 * landmarks, the sample of sweep 1, each node with hashed ones, is drawn at random already. A node
 * is no pair with itself.
 */
#include <math.h>

#include "base/random.h"
#include "maps/isomap_private.h"
#include "graph/batches.h"

/* Sums over pairs of the path δ and the distance d. */
struct sums {
    double pairs, x, y, xx, yy, xy, off;
};

struct measure {
    const struct ny_isomap *map;
    uint32_t sources[NY_ISOMAP_SOURCES];
    size_t count, each; /* of sources; pairs of one */
    struct sums sums;
};

static double distance_of(const struct ny_isomap *map, uint32_t a, uint32_t b)
{
    double sum = 0;

    for (size_t k = 0; k < map->p; k++) {
        double d = map->Y.at[(size_t)a * map->p + k] - map->Y.at[(size_t)b * map->p + k];

        sum += d * d;
    }
    return sqrt(sum);
}

static void add_pair(struct sums *sums, double path, double d)
{
    sums->pairs++;
    sums->x += path, sums->xx += path * path;
    sums->y += d, sums->yy += d * d;
    sums->xy += path * d;
    sums->off += (d - path) * (d - path); /* xx − 2xy + yy, which may round to below 0 */
}

/* Returns the sum of squared deviations from the mean; 0 where rounding leaves no more of it. */
static double spread(double sum, double squares, double count)
{
    double left = squares - sum * sum / count;

    return left > 1e-12 * squares ? left : 0;
}

/* 1 − r² of paths and distances (Tenenbaum's residual variance), which tells nothing where all of
 * either are equal, and 1 − √(Σ(d − δ)²/Σδ²). */
static void report(const struct ny_isomap *map, const struct sums *s)
{
    struct ny_state_report *report = &map->fit->base.job.state.report;
    double n = s->pairs, both = spread(s->x, s->xx, n) * spread(s->y, s->yy, n);
    double variance = both > 0 ? 1 - pow(s->xy - s->x * s->y / n, 2) / both : NAN;

    if (variance < 0) variance = 0; /* but for rounding; NaN stays */
    report->residual_variance = variance;
    report->distance_preservation = 1 - sqrt(s->off / s->xx);
    report->sampled_pairs = (uint64_t)n;
}

/* ---- pairs of sweep 1 ----------------------------------------------------------------------- */

static int measure_sample(const struct ny_isomap *map, struct sums *sums)
{
    struct ny_job *job = &map->fit->base.job;
    size_t q = map->samples;
    float *sample = ny_calloc(job->ctx, NY_MEM_SOLVE, map->m, q * sizeof(float));
    int err =
        sample ? ny_job_get_part(job, "sample", sample, map->m * q * sizeof(float)) : NY_EBUDGET;

    for (size_t i = 0; i < map->m && err == NY_OK; i++)
        for (size_t s = 0; s < q; s++) {
            uint32_t node = ny_isomap_sampled(map, i, s);

            if (node != map->nodes[i])
                add_pair(sums, (double)sample[i * q + s], distance_of(map, map->nodes[i], node));
        }
    ny_free(job->ctx, sample);
    return err;
}

/* ---- pairs of any nodes --------------------------------------------------------------------- */

static uint32_t hashed_node(const struct ny_isomap *map, uint64_t index)
{
    return (uint32_t)(ny_hash64(map->fit->base.settings->seed, NY_STREAM_PAIRS, index) %
                      map->fit->edges.n);
}

/* Takes four batches of a sweep, which cost little besides those of the landmarks; more in a small
 * graph, where they cost nothing and each is a larger share of all; and one in a graph of which a
 * batch takes minutes. */
size_t ny_isomap_sources(uint64_t nodes)
{
    const uint64_t small = 4096, large = 1 << 24;
    size_t sources = nodes <= small ? NY_ISOMAP_SOURCES : nodes > large ? NY_LANES : 4 * NY_LANES;

    return nodes < sources ? (size_t)nodes : sources;
}

/* Draws different nodes, by hash, in an order in which those of a batch are near one another. */
static int draw_sources(struct measure *run)
{
    const struct ny_isomap *map = run->map;
    uint32_t drawn[NY_ISOMAP_SOURCES], order[NY_ISOMAP_SOURCES];
    size_t wanted = ny_isomap_sources(map->fit->edges.n);
    int err;

    for (uint64_t index = 0; run->count < wanted; index++) {
        uint32_t node = hashed_node(map, index);
        size_t before = 0;

        while (before < run->count && drawn[before] != node)
            before++;
        if (before == run->count) drawn[run->count++] = node;
    }
    err = ny_batches_form(&map->fit->edges, drawn, run->count, order);
    for (size_t i = 0; i < run->count && err == NY_OK; i++)
        run->sources[i] = drawn[order[i]];
    return err;
}

/* Each source with as many hashed nodes. */
static int add_batch(void *arg, const struct ny_swept *batch)
{
    struct measure *run = arg;
    const struct ny_isomap *map = run->map;

    for (size_t l = 0; l < batch->count; l++) {
        uint32_t source = run->sources[batch->first + l];

        for (size_t s = 0; s < run->each; s++) {
            uint64_t index = ((uint64_t)source + 1) << 32 | s;
            uint32_t node = hashed_node(map, index);

            if (node != source)
                add_pair(&run->sums, (double)batch->distances[(size_t)node * batch->lanes + l],
                         distance_of(map, source, node));
        }
    }
    return NY_OK;
}

static int measure_pairs(const struct ny_isomap *map, struct sums *sums)
{
    struct ny_job *job = &map->fit->base.job;
    struct measure run = {.map = map};
    int err = draw_sources(&run);

    if (err) return err;
    run.each = ny_isomap_samples(run.count);
    err = ny_sweep_run(&(struct ny_sweep){.graph = &map->fit->edges,
                                          .sources = run.sources,
                                          .count = run.count,
                                          .stage = ny_stage_name(job->stage),
                                          .workers = job->workers,
                                          .lanes = map->fit->lanes,
                                          .fold = add_batch,
                                          .arg = &run});
    *sums = run.sums;
    return err;
}

int ny_isomap_measure(const struct ny_isomap *map)
{
    struct sums sums = {0};
    int err = map->m == map->fit->edges.n ? measure_sample(map, &sums) : measure_pairs(map, &sums);

    if (err == NY_OK) report(map, &sums);
    return err;
}
