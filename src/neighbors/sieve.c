/*
 * The stage neighbors with a sieve of codes (nearest/sieve.h): nearly all neighbours of all rows,
 * or for --recall 1 all of them, with the bytes of all pairs, but for the last bits of cosine
 * distances. Rows are searched for as new rows are, with one neighbour more, as a row finds itself,
 * and lots of them follow one another. Where not all neighbours count, a few rows are searched for
 * before, the pilot, from which all others learn how far to look; and also with --knn auto, to
 * choose (neighbors/ways.c). The checkpoint has how many rows are written: a killed job makes the
 * sieve and the pilot anew, and searches the lot again that it was in.
 */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "columns/pairs.h"
#include "nearest/recall.h"
#include "neighbors/job_private.h"

/* Rows of a lot where all neighbours are found, and where nearly all: rows that are near to one
 * another are searched for together then. Of a lot of more bytes there are fewer. */
enum { EXACT_ROWS = 8 * NY_UNIT_ROWS, NEARLY_ROWS = 32 * NY_UNIT_ROWS, LOT_BYTES = 1 << 28 };

/* The state of the stage. */
struct ny_sieving {
    struct ny_knn knn; /* finds a neighbour more than is stored */
    struct ny_sieve sieve;
    struct ny_sieve_learned learned; /* from the pilot */
    char *raw;                       /* the rows of a lot, where not all points are held */
    struct ny_measured found;        /* lists of the lot that begins with row `first` */
    uint64_t first;
};

static size_t lot_rows(const struct ny_columns_spec *spec, uint64_t n, double recall)
{
    size_t rows = LOT_BYTES / ny_raw_bytes(spec) / NY_UNIT_ROWS * NY_UNIT_ROWS;
    size_t most = recall < 1 ? NEARLY_ROWS : EXACT_ROWS;

    if (rows > most) rows = most;
    if (rows < NY_UNIT_ROWS) rows = NY_UNIT_ROWS;
    return n < rows ? (size_t)n : rows;
}

/* Lays out lists of some rows, and these rows, unless all points are held. */
static char *lay(struct ny_layout *l, struct ny_measured *found, const struct ny_knn *knn,
                 size_t rows, bool held)
{
    size_t lists = rows * knn->neighbors;

    found->row = ny_lay(l, NY_MEM_DICTIONARY, lists, sizeof(uint32_t));
    found->distance = ny_lay(l, NY_MEM_DICTIONARY, lists, sizeof(double));
    return ny_lay(l, NY_MEM_DICTIONARY, held ? 0 : rows, ny_raw_bytes(knn->spec));
}

/* ---- a lot ---------------------------------------------------------------------------------- */

/* Copies the lists of rows of the lot without these rows themselves. One that is not in its own
 * list has equal rows with smaller numbers, which fill the list, or its nearest were not found. */
static int measured(struct ny_graph_job *g, uint64_t first, size_t count, struct ny_measured *out)
{
    const struct ny_sieving *sieving = g->sieving;
    size_t t = g->knn.neighbors;

    for (size_t i = 0; i < count; i++) {
        size_t from = (size_t)(first - sieving->first + i) * (t + 1);

        for (size_t k = 0; k < t; k++, from++) {
            if (sieving->found.row[from] == first + i) from++;
            out->row[i * t + k] = sieving->found.row[from];
            out->distance[i * t + k] = sieving->found.distance[from];
        }
    }
    return NY_OK;
}

/* Returns the share that is to be found where rows find themselves, too. */
static double recall_of_lists(const struct ny_graph_job *g)
{
    double t = (double)g->knn.neighbors;

    return (g->settings->recall * t + 1) / (t + 1);
}

/* Searches a lot. */
static int search(struct ny_graph_job *g, uint64_t first, size_t count)
{
    struct ny_sieving *s = g->sieving;
    struct ny_sieve_learned none = {0};
    struct ny_sieve_lot lot = {.raw = s->raw,
                               .count = count,
                               .points = true,
                               .before = first,
                               .total = g->knn.n,
                               .recall = recall_of_lists(g),
                               .reach = &s->learned.reach};
    int err = NY_OK;

    if (ny_held_all(&s->sieve.held))
        lot.raw = ny_held_row(&s->sieve.held, first);
    else
        err = g->job.X->ops->read(g->job.X, g->spec.slots, first, count, s->raw);
    s->first = first;
    return err ? err : ny_sieve_search(&s->sieve, &lot, &s->found, &none);
}

/* ---- the pilot ------------------------------------------------------------------------------ */

/* Decides by how far some rows look, or by the work of finding all of their neighbours, and
 * gives way to all pairs, or to a tree, where that is more work. */
static void decide(struct ny_graph_job *g, const struct ny_sieve_learned *learned)
{
    double pairs = ny_graph_pairs_ns(&g->job.points), sieve = INFINITY;
    size_t rows = ny_smaller((size_t)g->knn.n, NY_SIEVE_PILOT);
    enum ny_knn_way way = g->tree_ns < pairs ? NY_KNN_TREE : NY_KNN_EXACT;

    if (!ny_graph_nearly(g->settings))
        sieve = ny_graph_sieve_all_ns(&g->job.points, &learned->work, rows);
    else if (learned->reach.measured)
        sieve = ny_graph_sieve_ns(&g->job.points, &learned->reach);
    if (sieve < pairs && sieve < g->tree_ns) way = NY_KNN_SIEVE;
    ny_graph_set_way(g, way);
    ny_log(g->job.ctx, NY_LOG_DETAIL,
           "a sieve is %.3g of the work of all pairs, with %.0f points a row looked at, %.0f "
           "measured, and %.3g of the rows left: --knn %s",
           sieve / pairs, learned->work.looked / (double)rows,
           learned->work.measured / (double)rows, learned->work.left / (double)rows,
           ny_knn_way_name(way));
}

/* Lets the sieve find all neighbours of some rows, and learns from them. */
static int pilot(struct ny_graph_job *g)
{
    enum { SEED = 2 };
    struct ny_layout l = {.ctx = g->job.ctx};
    struct ny_sieving *s = g->sieving;
    uint64_t row[NY_SIEVE_PILOT];
    size_t rows = ny_smaller((size_t)g->knn.n, NY_SIEVE_PILOT);
    struct ny_measured found = {0};
    char *raw = lay(&l, &found, &s->knn, rows, false);
    struct ny_sieve_lot lot = {
        .raw = raw, .count = rows, .total = g->knn.n, .recall = recall_of_lists(g), .pilot = true};
    int err = l.err;

    if (err == NY_OK) err = ny_held_draw(&s->sieve.held, SEED, NY_STREAM_RECALL, rows, row, raw);
    if (err == NY_OK) err = ny_sieve_search(&s->sieve, &lot, &found, &s->learned);
    ny_layout_free(&l);
    return err;
}

/* ---- the stage ------------------------------------------------------------------------------ */

static int search_lots(struct ny_graph_job *g)
{
    struct ny_sieving *s = g->sieving;
    uint64_t n = g->knn.n, row = ny_graph_measured(g, 0);
    size_t rows = lot_rows(&g->spec, n, g->settings->recall);
    struct ny_layout l = {.ctx = g->job.ctx};
    int err = row > n ? ny_job_not_its_checkpoint(&g->job) : NY_OK;

    s->raw = lay(&l, &s->found, &s->knn, rows, ny_held_all(&s->sieve.held));
    if (l.err) err = l.err;
    for (uint64_t first = row / rows * rows; first < n && err == NY_OK; first += rows) {
        size_t count = n - first < rows ? (size_t)(n - first) : rows;

        err = search(g, first, count);
        if (err == NY_OK) err = ny_graph_write(g, measured, first, first + count);
    }
    ny_layout_free(&l);
    return err;
}

/* Reports the recall without the rows that have found themselves. */
static void report(struct ny_graph_job *g)
{
    const struct ny_sieve_learned *learned = &g->sieving->learned;
    struct ny_record record = g->job.record;
    double t = (double)g->knn.neighbors, share = 1;

    if (learned->reach.measured) {
        struct ny_recall recall =
            ny_recall_of(learned->found, learned->squares, learned->rows, t + 1);

        share = (recall.share * (t + 1) - 1) / t;
        record.ops->begin_list(record, NY_LIST_RECALL_INTERVAL);
        record.ops->append(record, NY_LIST_RECALL_INTERVAL, (recall.low * (t + 1) - 1) / t);
        record.ops->append(record, NY_LIST_RECALL_INTERVAL, (recall.high * (t + 1) - 1) / t);
    }
    g->job.state.graph.recall = share;
    g->job.state.graph.remeasured = 0;
    ny_job_count_pass(&g->job, g->knn.n, 2 * g->plan.pairs * NY_SIEVE_COLUMNS);
}

int ny_graph_sift(struct ny_graph_job *g)
{
    struct ny_sieving sieving = {.knn = g->knn};
    bool nearly = g->settings->recall < 1;
    int err;

    sieving.knn.neighbors++;
    g->sieving = &sieving;
    err = ny_sieve_new(&sieving.sieve, &sieving.knn, &g->spec, g->plan.held_rows, nearly);
    if (err == NY_OK && (g->way == NY_KNN_AUTO || nearly)) err = pilot(g);
    if (err == NY_OK && g->way == NY_KNN_AUTO) decide(g, &sieving.learned);
    if (err == NY_OK && g->way == NY_KNN_SIEVE) err = search_lots(g);
    ny_sieve_release(&sieving.sieve);
    if (err == NY_OK && g->way == NY_KNN_SIEVE) report(g);
    g->sieving = NULL;
    if (err || g->way != NY_KNN_SIEVE) return err;
    ny_job_clear_checkpoint(&g->job);
    return ny_job_save(&g->job, ny_job_next(&g->job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

uint64_t ny_graph_sieve_held_least(const struct ny_knn *knn)
{
    struct ny_knn more = *knn;

    more.neighbors++;
    return ny_sieve_held_least(&more);
}

void ny_graph_sieve_count(struct ny_layout *l, const struct ny_graph_sizes *f, unsigned workers,
                          size_t limit)
{
    size_t rows = lot_rows(f->knn.spec, f->points->n, f->settings->recall);
    struct ny_knn knn = f->knn;
    struct ny_layout_mark mark;
    struct ny_measured found;

    knn.workers = workers;
    knn.neighbors++;
    ny_sieve_count(l, &knn, knn.spec, (size_t)f->part, rows, true);
    ny_graph_lists_count(l, f, limit);
    mark = ny_layout_mark(l);
    lay(l, &found, &knn, NY_SIEVE_PILOT, false);
    ny_layout_back(l, &mark);
    lay(l, &found, &knn, rows, f->part >= f->points->n);
}
