/*
 * The stage neighbors with a tree of boxes (nearest/tree.h). The lists come in the order of the
 * tree and are written by row number: where the budget does not hold them all, they go through a
 * temporary file, in buckets of rows that it does hold. The checkpoint has nothing but how many
 * rows are written, since a tree is made anew sooner than its lists are read: a killed job makes it
 * again, and goes on behind these rows.
 */
#include <string.h>

#include "base/mutex.h"
#include "base/spool.h"
#include "columns/pairs.h"
#include "neighbors/job_private.h"

/* The lists of rows from `first` on: t row numbers and distances each. */
struct ny_tree_lists {
    struct ny_layout own;
    uint64_t first;
    size_t t;
    uint32_t *row;
    float *distance;
};

static void lay(struct ny_layout *l, struct ny_tree_lists *lists, size_t rows, size_t t)
{
    lists->t = t;
    lists->row = ny_lay(l, NY_MEM_DICTIONARY, rows, t * sizeof(uint32_t));
    lists->distance = ny_lay(l, NY_MEM_DICTIONARY, rows, t * sizeof(float));
}

static int lists_new(struct ny_tree_lists *lists, struct ny_graph_job *g, uint64_t rows)
{
    lists->own.ctx = g->job.ctx;
    lay(&lists->own, lists, (size_t)rows, g->knn.neighbors);
    g->boxed = lists;
    return lists->own.err;
}

static void lists_release(struct ny_tree_lists *lists, struct ny_graph_job *g)
{
    g->boxed = NULL;
    ny_layout_free(&lists->own);
}

/* Puts lists that were found in their places. Several workers do, of different rows. */
static int place(void *arg, const struct ny_tree_found *found)
{
    const struct ny_tree_lists *lists = arg;
    size_t t = lists->t;

    for (size_t i = 0; i < found->count; i++) {
        size_t at = (size_t)(found->of[i] - lists->first) * t;

        memcpy(lists->row + at, found->row + i * t, t * sizeof(uint32_t));
        memcpy(lists->distance + at, found->distance + i * t, t * sizeof(float));
    }
    return NY_OK;
}

static int measured(struct ny_graph_job *g, uint64_t first, size_t count, struct ny_measured *out)
{
    const struct ny_tree_lists *lists = g->boxed;
    size_t at = (size_t)(first - lists->first) * lists->t;

    for (size_t k = 0; k < count * lists->t; k++) {
        out->row[k] = lists->row[at + k];
        out->distance[k] = (double)lists->distance[at + k];
    }
    return NY_OK;
}

/* Finds and writes the lists of all rows from `first` on in memory. */
static int search_held(struct ny_graph_job *g, const struct ny_box_tree *tree, uint64_t first)
{
    uint64_t n = g->knn.n;
    struct ny_tree_lists lists = {.first = first};
    int err = lists_new(&lists, g, n - first);

    if (err == NY_OK) err = ny_tree_search(tree, first, place, &lists);
    if (err == NY_OK) err = ny_graph_write(g, measured, first, n);
    lists_release(&lists, g);
    return err;
}

/* ---- through a file ------------------------------------------------------------------------- */

/* A row and its list, as they are in the file. */
static size_t entry_bytes(size_t t)
{
    return sizeof(uint32_t) + t * (sizeof(uint32_t) + sizeof(float));
}

/* Returns the rows of a bucket: as many as some megabytes hold, but a sixteenth of them at most. */
static size_t bucket_rows(uint64_t n, size_t t)
{
    const size_t bytes = 6 << 20;
    uint64_t rows = n / 16, most = bytes / entry_bytes(t);

    if (rows > most) rows = most;
    return (size_t)(rows / NY_UNIT_ROWS + 1) * NY_UNIT_ROWS;
}

static struct ny_spool_spec spool_of(const char *folder, uint64_t n, size_t t)
{
    size_t rows = bucket_rows(n, t);

    return (struct ny_spool_spec){.folder = folder,
                                  .what = "the neighbours of all rows",
                                  .streams = (size_t)((n + rows - 1) / rows),
                                  .piece_bytes = 16 << 10};
}

uint64_t ny_graph_tree_file_bytes(uint64_t n, size_t neighbors)
{
    const struct ny_spool_spec spool = spool_of("", n, neighbors);
    uint64_t all = n * entry_bytes(neighbors), held = spool.streams * spool.piece_bytes;

    return all > held ? all - held : 0;
}

struct spooling {
    struct ny_spool *spool;
    size_t rows, t; /* of a bucket, of a list */
    struct ny_mutex lock;
};

/* Adds lists that were found to the buckets of their rows. */
static int put(void *arg, const struct ny_tree_found *found)
{
    struct spooling *to = arg;
    size_t t = to->t;
    int err = NY_OK;

    ny_mutex_lock(&to->lock);
    for (size_t i = 0; i < found->count && err == NY_OK; i++) {
        size_t bucket = found->of[i] / to->rows;

        err = ny_spool_put(to->spool, bucket, found->of + i, sizeof(uint32_t));
        if (err == NY_OK)
            err = ny_spool_put(to->spool, bucket, found->row + i * t, t * sizeof(uint32_t));
        if (err == NY_OK)
            err = ny_spool_put(to->spool, bucket, found->distance + i * t, t * sizeof(float));
    }
    ny_mutex_unlock(&to->lock);
    return err;
}

/* Reads the lists of a bucket, and puts each in its place. */
static int read_bucket(struct spooling *from, size_t bucket, char *held,
                       struct ny_tree_lists *lists)
{
    size_t t = lists->t, bytes = ny_spool_bytes(from->spool, bucket),
           row_bytes = t * sizeof(uint32_t);
    int err = ny_spool_load(from->spool, bucket, held);

    for (const char *at = held; err == NY_OK && at < held + bytes; at += entry_bytes(t)) {
        uint32_t of;
        size_t to;

        memcpy(&of, at, sizeof(of));
        to = (size_t)(of - lists->first) * t;
        memcpy(lists->row + to, at + sizeof(of), row_bytes);
        memcpy(lists->distance + to, at + sizeof(of) + row_bytes, t * sizeof(float));
    }
    return err;
}

/* Writes the lists of all rows from `first` on, bucket by bucket. */
static int write_buckets(struct ny_graph_job *g, struct spooling *from, uint64_t first)
{
    struct ny_tree_lists lists = {0};
    int err = lists_new(&lists, g, from->rows);
    char *held = ny_lay(&lists.own, NY_MEM_IO, from->rows, entry_bytes(from->t));

    if (!held) err = lists.own.err;
    for (uint64_t end; first < g->knn.n && err == NY_OK; first = end) {
        size_t bucket = (size_t)(first / from->rows);

        lists.first = bucket * from->rows;
        end = lists.first + from->rows < g->knn.n ? lists.first + from->rows : g->knn.n;
        err = read_bucket(from, bucket, held, &lists);
        if (err == NY_OK) err = ny_graph_write(g, measured, first, end);
    }
    lists_release(&lists, g);
    return err;
}

/* Finds and writes the lists of all rows from `first` on by way of a file. */
static int search_spooled(struct ny_graph_job *g, const struct ny_box_tree *tree, uint64_t first)
{
    size_t t = g->knn.neighbors;
    struct ny_spool_spec spec = spool_of(g->job.keep.folder, g->knn.n, t);
    struct spooling spooling = {.rows = bucket_rows(g->knn.n, t), .t = t};
    int err = ny_spool_new(&spooling.spool, g->job.ctx, &spec);

    ny_mutex_init(&spooling.lock);
    if (err == NY_OK) err = ny_tree_search(tree, first, put, &spooling);
    if (err == NY_OK) err = write_buckets(g, &spooling, first);
    ny_mutex_release(&spooling.lock);
    ny_spool_free(spooling.spool);
    return err;
}

static int search(struct ny_graph_job *g, const struct ny_box_tree *tree)
{
    uint64_t first = ny_graph_measured(g, 0), n = g->knn.n;

    if (first > n) return ny_job_not_its_checkpoint(&g->job);
    return g->plan.tree_panels >= ny_units_of(n) ? search_held(g, tree, first)
                                                 : search_spooled(g, tree, first);
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* Lets the tree find the neighbours of at most 2,048 rows, fewer where even boxes that exclude
 * nothing would take too long. It is taken where it is less work than what is taken otherwise. */
static int choose(struct ny_graph_job *g, const struct ny_box_tree *tree)
{
    const double share = 0.05; /* part of the time of the other way */
    const uint32_t most = 256, least = 8;
    double other = ny_graph_other_ns(g->settings, &g->job.points);
    struct ny_tree_work work = {tree->leaves, g->knn.n, 0};
    double packets = share * other / ny_graph_boxes_ns(&work, tree->d), way;
    uint32_t count = packets > most ? most : packets < least ? least : (uint32_t)packets;
    int err = ny_tree_pilot(tree, count, &work);

    if (err) return err;
    way = g->tree_ns = ny_graph_boxes_ns(&work, tree->d) / count * tree->leaves;
    if (way < other)
        ny_graph_set_way(g, NY_KNN_TREE);
    else if (g->plan.other != NY_KNN_SIEVE)
        ny_graph_set_way(g, g->plan.other);
    ny_log(g->job.ctx, NY_LOG_DETAIL, "a tree is %.3g of the work of --knn %s", way / other,
           ny_knn_way_name(ny_graph_other_way(g->settings, &g->job.points)));
    return NY_OK;
}

int ny_graph_search_tree(struct ny_graph_job *g)
{
    struct ny_job *job = &g->job;
    struct ny_box_tree tree = {0};
    int err = ny_tree_new(&tree, &g->knn);

    if (err == NY_OK && g->way == NY_KNN_AUTO) err = choose(g, &tree);
    if (err == NY_OK && g->way == NY_KNN_TREE) err = search(g, &tree);
    ny_tree_release(&tree);
    if (err || g->way != NY_KNN_TREE) return err;
    job->state.graph.remeasured = 0;
    ny_job_clear_checkpoint(job);
    return ny_job_save(job, ny_job_next(job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* The lists of all rows, or, of fewer, the buckets and one of them. */
static void count_lists(struct ny_layout *l, const struct ny_graph_sizes *f)
{
    size_t n = (size_t)f->points->n, t = f->knn.neighbors, rows = bucket_rows(n, t);
    struct ny_spool_spec spool = spool_of("", n, t);
    bool all = f->part >= ny_units_of(n);
    struct ny_tree_lists lists;

    lay(l, &lists, all ? n : rows, t);
    if (all) return;
    ny_lay(l, NY_MEM_IO, rows, entry_bytes(t));
    ny_layout_add(l, NY_MEM_IO, spool.streams * spool.piece_bytes);
}

void ny_graph_tree_count(struct ny_layout *l, const struct ny_graph_sizes *f, unsigned workers,
                         size_t limit)
{
    struct ny_knn knn = f->knn;

    knn.workers = workers;
    count_lists(l, f);
    ny_tree_count(l, &knn);
    ny_rows_source_count(l, NY_MEM_DICTIONARY, f->points, workers);
    ny_graph_lists_count(l, f, limit);
}
