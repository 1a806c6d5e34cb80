/*
 * Runs stage neighbors of the verb graph: finds the lists of the nearest rows of each row, exact
 * ones a range of rows at a time, those of a tree of boxes (neighbors/tree.c) or of a sieve of
 * codes (neighbors/sieve.c). Which of them it is with --knn auto may be left to what some rows show
 * (neighbors/ways.c). An exact range has two steps, the pass over pairs and the measuring of
 * candidates, and the checkpoint says which of them is under way. The stage is run again for each
 * range until the last is done.
 */
#include "columns/pairs.h"
#include "neighbors/job_private.h"
#include "model/embedding.h"

/* Saves the lists in pieces, so that no image of them is in memory. */
static int checkpoint(void *arg, uint64_t tiles_done)
{
    struct ny_graph_job *g = arg;
    struct ny_pieces pieces = {ny_neighbors_piece, &g->lists, ny_neighbors_image_bytes(&g->lists)};

    return ny_job_checkpoint_pieces(&g->job, NY_STAGE_NEIGHBORS, "lists", &pieces, tiles_done);
}

/* Reads the image of the checkpoint, if there is one, into the lists, which are its room; the first
 * tile is then the next one. */
static int restore(struct ny_graph_job *g, uint64_t *first_tile)
{
    const struct ny_job *job = &g->job;
    size_t bytes = ny_neighbors_image_bytes(&g->lists);

    if (!ny_job_has_image(job, "lists")) return NY_OK;
    *first_tile = job->state.at.units;
    if (job->state.at.bytes != bytes) return ny_job_not_its_checkpoint(job);
    return ny_job_read_image(job, "lists", g->lists.bound, bytes);
}

/* The range under way: that of the checkpoint, whatever the budget was then, or the next. */
static int open_range(struct ny_graph_job *g, uint64_t *first_tile)
{
    struct ny_job *job = &g->job;
    struct ny_state_at *at = &job->state.at;
    uint64_t first = at->first_row, rows = at->range_rows, left = job->points.n - first;
    int err;

    if (first >= job->points.n || first % NY_UNIT_ROWS || rows > left)
        return ny_job_not_its_checkpoint(job);
    if (!rows) {
        rows = g->plan.range_panels * NY_UNIT_ROWS;
        if (rows > left) rows = left;
        at->range_rows = rows;
    }
    err = ny_neighbors_new(&g->lists, job->ctx, first, (size_t)rows, ny_knn_width(&g->knn));
    if (err == NY_OK) err = restore(g, first_tile);
    if (err || ny_rows_below(g->lists.row, g->lists.rows * g->lists.width, job->points.n))
        return err;
    return ny_job_not_its_checkpoint(job);
}

static int measure(struct ny_graph_job *g, uint64_t first, size_t count, struct ny_measured *out)
{
    return ny_knn_measure(&g->knn, &g->lists, first, count, out);
}

/* Finds and writes the lists of one range, then moves the checkpoint to the next. */
static int run_range(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    struct ny_state_at *at = &job->state.at;
    struct ny_held held = {0};
    uint64_t first_tile = 0, next;
    int err = open_range(g, &first_tile);

    next = g->lists.first + g->lists.rows;
    if (g->plan.paired_rows) g->knn.held = &held; /* all points have room in memory */
    if (err == NY_OK && g->knn.held)
        err = ny_held_new(&held, job->X, &g->spec, g->knn.n, (size_t)g->knn.n, g->knn.workers);
    if (err == NY_OK && at->measured == NY_NONE) {
        err = ny_knn_pass(&g->knn, &g->lists, first_tile, checkpoint, g);
        if (err == NY_OK) {
            ny_job_count_pass(job, g->lists.rows,
                              2 * ny_knn_pass_pairs(&g->knn, ny_units_of(g->lists.rows)) *
                                  ny_entry_products(&g->spec));
            at->measured = g->lists.first;
            err = checkpoint(g, 0);
        }
    }
    if (err == NY_OK) err = ny_graph_write(g, measure, g->lists.first, next);
    ny_neighbors_release(&g->lists);
    ny_held_release(&held);
    g->knn.held = NULL;
    if (err) return err;
    ny_index_add(&job->state.graph.remeasured, 0);
    ny_job_clear_checkpoint(job);
    at->first_row = at->rows = next;
    return ny_job_save(job, next < job->points.n ? NY_STAGE_NEIGHBORS : ny_job_next(job));
}

static int stage_neighbors(struct ny_job *job)
{
    struct ny_graph_job *g = (struct ny_graph_job *)job;
    int err = g->geometry ? NY_OK : ny_graph_load_spec(g);

    if (err) return err;
    if (g->way == NY_KNN_AUTO && g->plan.tree_panels) {
        err = ny_graph_search_tree(g);
        if (err || g->way == NY_KNN_TREE) return err;
    }
    if (g->way == NY_KNN_AUTO || g->way == NY_KNN_SIEVE) {
        err = ny_graph_sift(g);
        if (err || g->way == NY_KNN_SIEVE) return err;
    }
    return g->way == NY_KNN_TREE ? ny_graph_search_tree(g) : run_range(g);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* A pass over pairs, then the candidates of some rows, both beside the lists of a range. */
static void count_exact(struct ny_layout *l, const struct ny_graph_sizes *f, unsigned workers,
                        size_t limit)
{
    uint64_t range = f->part * NY_UNIT_ROWS;
    size_t rows = (size_t)(range < f->points->n ? range : f->points->n);
    struct ny_layout_mark mark;

    if (f->held_rows)
        ny_held_count(l, f->knn.spec, f->held_rows, f->held_rows, workers);
    else
        ny_rows_source_count(l, NY_MEM_DICTIONARY, f->points, workers);
    ny_neighbors_count(l, rows, ny_knn_width(&f->knn));
    ny_graph_lists_count(l, f, limit);
    mark = ny_layout_mark(l);
    ny_knn_pass_count(l, f->knn.spec, f->points->n, workers);
    ny_layout_back(l, &mark);
    ny_knn_measure_count(l, &f->knn);
    ny_layout_add(l, NY_MEM_DICTIONARY, 2 * f->points->block_bytes);
}

static void count_neighbors(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                            size_t limit)
{
    const struct ny_graph_sizes *f = ny_graph_sizes_of(sizes);
    ny_graph_count_fn *count = f->way == NY_KNN_TREE    ? ny_graph_tree_count
                               : f->way == NY_KNN_SIEVE ? ny_graph_sieve_count
                                                        : count_exact;

    ny_graph_common(l, f, workers);
    count(l, f, workers, limit);
    ny_graph_writing_count(l, f, limit);
}

const struct ny_stage ny_stage_graph_neighbors = {NY_STAGE_NEIGHBORS, stage_neighbors,
                                                  count_neighbors, NULL};
