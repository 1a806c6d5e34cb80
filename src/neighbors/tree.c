/*
 * The stage neighbors with a tree of boxes (nearest/tree.h): the neighbours of all rows, a range at
 * a time where the budget does not hold the lists of all. The checkpoint has nothing but how many
 * rows are written, since a tree is made anew sooner than its lists are read: a killed job makes it
 * again, and goes on behind these rows.
 *
 * Whether a tree is less work than all pairs depends on the points more than on the number of
 * columns: 38 columns of a log of connections are few, 16 of noise are many. So --knn auto makes
 * the tree and lets it find the neighbours of some rows, in a twentieth of the time of all pairs at
 * most. It counts the work and not the seconds, so that the choice, which the record keeps, is the
 * same on every run.
 */
#include <math.h>

#include "columns/pairs.h"
#include "neighbors/job_private.h"

static int measured(struct ny_graph_job *g, uint64_t first, size_t count, struct ny_measured *out)
{
    const struct ny_tree_lists *lists = &g->boxed;
    size_t t = g->knn.neighbors, at = (size_t)(first - lists->first) * t;

    for (size_t k = 0; k < count * t; k++) {
        out->row[k] = lists->row[at + k];
        out->distance[k] = (double)lists->distance[at + k];
    }
    return NY_OK;
}

/* Finds and writes the lists of all rows that are not written yet, in ranges of `rows`. */
static int search_ranges(struct ny_graph_job *g, const struct ny_box_tree *tree, uint64_t rows)
{
    struct ny_context *ctx = g->job.ctx;
    size_t t = g->knn.neighbors;
    uint64_t row = ny_field_count(ny_job_checkpoint(&g->job), "measured", 0), n = g->knn.n;
    int err = row > n ? ny_job_not_its_checkpoint(&g->job) : NY_OK;

    if (rows > n) rows = n;
    g->boxed.row = ny_calloc(ctx, NY_MEM_DICTIONARY, (size_t)rows, t * sizeof(uint32_t));
    g->boxed.distance = ny_calloc(ctx, NY_MEM_DICTIONARY, (size_t)rows, t * sizeof(float));
    if (!g->boxed.row || !g->boxed.distance) err = NY_EBUDGET;
    for (; row < n && err == NY_OK; row += g->boxed.rows) {
        g->boxed.first = row;
        g->boxed.rows = (size_t)(n - row < rows ? n - row : rows);
        err = ny_tree_search(tree, &g->boxed);
        if (err == NY_OK) err = ny_graph_write(g, measured, row, row + g->boxed.rows);
    }
    ny_free(ctx, g->boxed.distance);
    ny_free(ctx, g->boxed.row);
    return err;
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* Nanoseconds of one thread with AVX-512. They are compared with one another only. */
static double pairs_ns(double n, double d)
{
    return n * n / 2 * (1.6 + 0.02 * d);
}

static double making_ns(double n, double d)
{
    return n * log2(n / NY_TREE_ROWS + 1) * (18 + 1.6 * d);
}

static double work_ns(const struct ny_tree_work *work, double d)
{
    double apart = d > NY_EXACT_DIRECT ? 2 : 1; /* sums in 16 lanes */

    return (double)work->boxes * (8 + 2 * apart * d) + (double)work->rows * (3 + 0.9 * apart * d) +
           (double)work->moves * 8;
}

double ny_graph_tree_ns(const struct ny_points_info *points)
{
    const double row_ns = 100, column = 1.8; /* rows that fill all of their columns */
    double n = (double)points->n, d = (double)points->d, pairs = pairs_ns(n, d);
    double tree = making_ns(n, d) + n * row_ns * pow(column, d);

    return tree < pairs ? tree : pairs;
}

bool ny_graph_tries_tree(const struct ny_graph_settings *settings,
                         const struct ny_points_info *points)
{
    const double share = 0.15; /* part of the time of all pairs, for a tree that may not be used */
    double n = (double)points->n, d = (double)points->d;

    if (points->n <= 2 * NY_UNIT_ROWS || !ny_graph_takes_tree(settings, points)) return false;
    return making_ns(n, d) < share * pairs_ns(n, d);
}

/* Lets the tree find the neighbours of at most 2,048 rows, fewer where even boxes that exclude
 * nothing would take too long. */
static int choose(struct ny_graph_job *g, const struct ny_box_tree *tree)
{
    const double share = 0.05; /* part of the time of all pairs */
    const uint32_t most = 256, least = 8;
    double n = (double)g->knn.n, d = (double)tree->d;
    struct ny_tree_work work = {tree->leaves, g->knn.n, 0};
    double packets = share * pairs_ns(n, d) / work_ns(&work, d), searching;
    uint32_t count = packets > most ? most : packets < least ? least : (uint32_t)packets;
    int err = ny_tree_pilot(tree, count, &work);

    if (err) return err;
    searching = work_ns(&work, d) / count * tree->leaves;
    ny_graph_set_way(g, searching < pairs_ns(n, d) ? NY_KNN_TREE : NY_KNN_EXACT);
    ny_log(g->job.ctx, NY_LOG_DETAIL, "a tree is %.3g of the work of all pairs: --knn %s",
           searching / pairs_ns(n, d), ny_knn_way_name(g->way));
    return NY_OK;
}

int ny_graph_search_tree(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    struct ny_box_tree tree = {0};
    int err = ny_tree_new(&tree, &g->knn);

    if (err == NY_OK && g->way == NY_KNN_AUTO) err = choose(g, &tree);
    if (err == NY_OK && g->way == NY_KNN_TREE)
        err = search_ranges(g, &tree, g->plan.tree_panels * NY_UNIT_ROWS);
    ny_tree_release(&tree);
    if (err || g->way == NY_KNN_EXACT) return err;
    ny_field_set_count(ny_graph_facts(job->record), "remeasured", 0);
    json_object_clear(ny_job_checkpoint(job));
    return ny_job_save(job, ny_job_next(job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

size_t ny_graph_tree_bytes(const struct ny_graph_sizes *f, unsigned workers, size_t limit)
{
    uint64_t range = f->part * NY_UNIT_ROWS;
    size_t rows = (size_t)(range < f->points->n ? range : f->points->n);
    struct ny_knn knn = f->knn;

    knn.workers = workers;
    return ny_tree_bytes(&knn) + rows * knn.neighbors * (sizeof(uint32_t) + sizeof(float)) +
           ny_source_of_points_bytes(f->points, workers) + ny_graph_lists_batch(f, limit) +
           ny_graph_writing_bytes(f, limit);
}
