/*
 * The stage neighbors with a forest: trees until rounds of refinement are likely to do the rest,
 * then these, each followed by a look at the recall of a sample; where rounds help no more, more
 * trees.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "neighbors/job_private.h"

enum step { TREE, ROUND, MEASURE, WRITE };
static const char *const step_names[] = {"tree", "round", "measure", "write"};

/* Share of the missing neighbours that two or three rounds leave. A round takes as long as some
 * three trees, and half as many distances as one. */
static const double rounds_leave = 0.2;
/* A round that finds less than this share of what is missing is the last before more trees. */
static const double round_finds = 0.1;
/* Buckets of a tree do not overlap: with the edges of one alone they would be components of the
 * graph, whatever the recall is. */
enum { TREES_LEAST = 3 };
/* A gain of less than this share of all neighbours is not worth a step where enough were found. */
static const double settled = 0.002;

/* The state of the stage. Checkpoints have its numbers, beside the lists; the sample, and the
 * interval of the recall, are made again. */
struct grow {
    struct ny_graph_job *g;
    struct ny_recall_sample sample;
    struct ny_recall recall;
    enum step step;
    uint64_t trees, rounds; /* done */
    uint64_t goal;          /* trees after which rounds follow; 0: as recall says */
    uint64_t done;          /* of the walk under way */
    bool linked;            /* the round under way has its links */
    double share;           /* recall.share before the last step */
};

/* ---- checkpoints ---------------------------------------------------------------------------- */

static int checkpoint(void *arg, uint64_t done)
{
    const struct grow *grow = arg;
    struct ny_forest *forest = &grow->g->forest;
    struct ny_pieces pieces = {ny_forest_piece, forest, ny_forest_image_bytes(forest)};
    json_t *at = ny_job_checkpoint(&grow->g->job);

    ny_field_set_text(at, "step", step_names[grow->step]);
    ny_field_set_count(at, "trees", grow->trees);
    ny_field_set_count(at, "rounds", grow->rounds);
    ny_field_set_count(at, "goal", grow->goal);
    ny_field_set_count(at, "done", done);
    ny_field_set_count(at, "linked", grow->linked);
    ny_field_set_number(at, "share", grow->recall.share);
    ny_field_set_number(at, "pairs", forest->pairs);
    return ny_job_checkpoint_pieces(&grow->g->job, NY_STAGE_NEIGHBORS, "lists", &pieces, 0);
}

/* Takes over the last checkpoint. A job without one begins with step tree, at 0. */
static int restore(struct grow *grow)
{
    struct ny_forest *forest = &grow->g->forest;
    json_t *at = ny_job_checkpoint(&grow->g->job);
    const char *step = ny_field_text(at, "step");
    int err = NY_OK;

    while (step && strcmp(step, step_names[grow->step]) != 0 && grow->step < WRITE)
        grow->step++;
    grow->trees = ny_field_count(at, "trees", 0);
    grow->rounds = ny_field_count(at, "rounds", 0);
    grow->goal = ny_field_count(at, "goal", 0);
    grow->done = ny_field_count(at, "done", 0);
    grow->linked = ny_field_count(at, "linked", 0) > 0;
    grow->recall.share = ny_field_number(at, "share", 0);
    forest->pairs = ny_field_number(at, "pairs", 0);
    if (ny_job_has_image(&grow->g->job, "lists"))
        err = ny_job_read_image(&grow->g->job, "lists", ny_forest_image(forest),
                                ny_forest_image_bytes(forest));
    if (err || ny_forest_plausible(forest)) return err;
    return ny_job_not_its_checkpoint(&grow->g->job);
}

/* ---- what comes next ------------------------------------------------------------------------ */

/* Tells whether the recall is reached: by the low end of its interval, or by its estimate when the
 * last step has hardly raised it. */
static bool enough(const struct grow *grow)
{
    double wanted = grow->g->settings->recall, share = grow->recall.share;

    if (grow->recall.low >= wanted || share >= 1) return true;
    return share >= wanted && share - grow->share < settled;
}

static enum step after_tree(const struct grow *grow)
{
    double missing = 1 - grow->recall.share, allowed = 1 - grow->g->settings->recall;

    if (grow->trees < TREES_LEAST && grow->g->knn.n > grow->g->settings->leaf) return TREE;
    if (enough(grow)) return MEASURE;
    if (grow->trees >= NY_FOREST_TREES) return ROUND;
    if (grow->goal) return grow->trees < grow->goal ? TREE : ROUND;
    return missing * rounds_leave <= allowed ? ROUND : TREE;
}

static enum step after_round(struct grow *grow)
{
    double missing = 1 - grow->share, found = grow->recall.share - grow->share;

    if (enough(grow)) return MEASURE;
    if (found >= round_finds * missing) return ROUND;
    if (grow->trees >= NY_FOREST_TREES) return MEASURE;
    grow->goal = grow->trees + grow->trees / 2 + 1;
    return TREE;
}

/* Measures the recall of the sample after a step, which counts then. */
static int look(struct grow *grow)
{
    struct ny_recall found;
    int err = ny_forest_recall(&grow->g->forest, &grow->sample, &found);

    if (err) return err;
    grow->share = grow->recall.share;
    grow->recall = found;
    grow->trees += grow->step == TREE;
    grow->rounds += grow->step == ROUND;
    ny_log(grow->g->job.ctx, NY_LOG_DETAIL, "%llu trees, %llu rounds: %.4f of the neighbours",
           (unsigned long long)grow->trees, (unsigned long long)grow->rounds, grow->recall.share);
    return NY_OK;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static int walk(struct grow *grow)
{
    struct ny_forest *forest = &grow->g->forest;
    struct ny_forest_progress progress = {grow->done, checkpoint, grow};

    switch (grow->step) {
    case TREE:
        return ny_forest_tree(forest, grow->trees, progress);
    case ROUND:
        if (!grow->linked) ny_forest_link(forest);
        grow->linked = true;
        return ny_forest_round(forest, progress);
    default:
        return ny_forest_measure(forest, progress);
    }
}

static void report(const struct grow *grow)
{
    struct ny_graph_job *g = grow->g;
    json_t *facts = ny_graph_facts(g->job.record), *interval = json_array();
    double pairs = g->forest.pairs, wanted = g->settings->recall;

    ny_field_append(interval, json_real(grow->recall.low));
    ny_field_append(interval, json_real(grow->recall.high));
    ny_field_set_number(facts, "recall", grow->recall.share);
    ny_field_set_json(facts, "recall_interval", interval);
    ny_field_set_count(facts, "trees", grow->trees);
    ny_field_set_count(facts, "rounds", grow->rounds);
    ny_field_set_number(facts, "distances_per_point", pairs / (double)g->knn.n);
    ny_job_count_pass(&g->job, g->knn.n, 2 * pairs * ny_entry_products(&g->spec));
    if (grow->recall.share < wanted)
        ny_log(g->job.ctx, NY_LOG_WARNING,
               "%llu trees find %.4f of the neighbours (95 %% interval %.4f to %.4f), not %.4g; "
               "make the graph again with --knn exact --restart, which finds all, or with a larger "
               "--leaf",
               (unsigned long long)grow->trees, grow->recall.share, grow->recall.low,
               grow->recall.high, wanted);
}

/* A step, and what it has brought; the checkpoint where it is time for one, and before the lists
 * are written. */
static int take_step(struct grow *grow)
{
    struct ny_forest *forest = &grow->g->forest;
    struct ny_forest_progress progress = {0, checkpoint, grow};
    int err = walk(grow);

    if (err) return err;
    grow->done = grow->step == TREE ? forest->buckets : grow->g->knn.n;
    err = ny_forest_keep(forest, &progress, grow->done, look(grow));
    if (err) return err;
    grow->linked = false;
    grow->done = 0;
    if (grow->step == MEASURE) {
        report(grow);
        grow->step = WRITE;
        return checkpoint(grow, 0);
    }
    grow->step = grow->step == TREE ? after_tree(grow) : after_round(grow);
    return ny_forest_pace(forest, &progress, 0, 0, NY_OK);
}

/* ---- the stage ------------------------------------------------------------------------------ */

static int measured(struct ny_graph_job *g, uint64_t first, size_t count, struct ny_measured *out)
{
    const struct ny_neighbors *lists = &g->forest.lists;
    size_t t = g->knn.neighbors;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < t; k++) {
            size_t at = ((size_t)first + i) * lists->width + k;

            out->row[i * t + k] = lists->row[at];
            out->distance[i * t + k] = (double)lists->value[at];
        }
    return NY_OK;
}

static int find_neighbors(struct grow *grow)
{
    struct ny_graph_job *g = grow->g;
    int err;

    if (grow->step == WRITE) return NY_OK;
    err = ny_recall_sample_new(&grow->sample, &g->knn, g->settings->seed);
    while (err == NY_OK && grow->step != WRITE)
        err = take_step(grow);
    ny_recall_sample_release(&grow->sample);
    return err;
}

int ny_graph_grow(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    struct grow grow = {.g = g};
    int err =
        ny_forest_new(&g->forest, &g->knn, g->settings->leaf, g->settings->seed, g->plan.held_rows);

    if (err == NY_OK) err = restore(&grow);
    if (err == NY_OK) err = find_neighbors(&grow);
    if (err == NY_OK) err = ny_graph_write(g, measured, 0, g->knn.n);
    ny_forest_release(&g->forest);
    if (err) return err;
    json_object_clear(ny_job_checkpoint(job));
    return ny_job_save(job, ny_job_next(job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* A forest, with a sample of the recall or what is written. */
size_t ny_graph_forest_bytes(const struct ny_graph_sizes *f, unsigned workers, size_t limit)
{
    struct ny_knn knn = f->knn;
    size_t sample, writing = ny_graph_writing_bytes(f, limit);

    knn.workers = workers;
    sample = ny_recall_sample_bytes(&knn);
    return ny_rows_source_bytes(f->points, workers) + ny_graph_lists_batch(f, limit) +
           2 * workers * f->points->block_bytes +
           ny_forest_bytes(&knn, f->settings->leaf, (size_t)f->part) +
           (sample > writing ? sample : writing);
}
