/*
 * The stage neighbors with a sieve of codes (nearest/sieve.h): nearly all neighbours of all rows,
 * or for --recall 1 all of them, with the bytes of all pairs, but for the last bits of cosine
 * distances. Rows are searched for as new rows are, with one neighbour more, as a row finds itself.
 * Lots of rows follow one another, whose size depends on the bytes of a row alone, since each lot
 * learns from rows of its own how far it has to look. The checkpoint has how many rows are written,
 * and what the lots have learned: a killed job makes the sieve anew, and searches the lot again
 * that it was in. With --knn auto a few rows are searched for before, to choose (neighbors/ways.c).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "columns/pairs.h"
#include "neighbors/job_private.h"

/* Rows of a lot, and bytes of it from which on it has fewer. */
enum { LOT_ROWS = 8 * NY_UNIT_ROWS, LOT_BYTES = 1 << 26 };

/* The state of the stage. */
struct ny_sieving {
    struct ny_knn knn; /* finds a neighbour more than is stored */
    struct ny_sieve sieve;
    struct ny_sieve_learned learned; /* by all lots up to the one under way */
    char *raw;                       /* the rows of a lot, where not all points are held */
    struct ny_measured found;        /* lists of the lot that begins with row `first` */
    uint64_t first;
};

static size_t lot_rows(const struct ny_columns_spec *spec, uint64_t n)
{
    size_t rows = LOT_BYTES / ny_raw_bytes(spec) / NY_UNIT_ROWS * NY_UNIT_ROWS;

    if (rows > LOT_ROWS) rows = LOT_ROWS;
    if (rows < NY_UNIT_ROWS) rows = NY_UNIT_ROWS;
    return n < rows ? (size_t)n : rows;
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

/* Keeps what all lots have learned with the next commit; `end`: the first row behind them. */
static void keep(struct ny_graph_job *g, uint64_t end)
{
    const struct ny_sieve_learned *learned = &g->sieving->learned;
    json_t *at = ny_job_checkpoint(&g->job);

    ny_field_set_number(at, "found", learned->found);
    ny_field_set_number(at, "squares", learned->squares);
    ny_field_set_number(at, "drawn", learned->rows);
    ny_field_set_count(at, "learned", end);
}

/* Returns the share that is to be found where rows find themselves, too. */
static double recall_of_lists(const struct ny_graph_job *g)
{
    double t = (double)g->knn.neighbors;

    return (g->settings->recall * t + 1) / (t + 1);
}

/* Searches a lot. One that was searched before, and interrupted while it was written, has been
 * learned from already. */
static int search(struct ny_graph_job *g, uint64_t first, size_t count)
{
    struct ny_sieving *s = g->sieving;
    struct ny_sieve_learned learned = s->learned;
    struct ny_sieve_lot lot = {.raw = s->raw,
                               .count = count,
                               .before = first,
                               .total = g->knn.n,
                               .recall = recall_of_lists(g)};
    int err = NY_OK;

    if (ny_held_all(&s->sieve.held))
        lot.raw = ny_held_row(&s->sieve.held, first);
    else
        err = ny_points_read(g->job.store, 0, first, count, s->raw);
    s->first = first;
    if (err == NY_OK) err = ny_sieve_search(&s->sieve, &lot, &s->found, &learned);
    if (err || ny_field_count(ny_job_checkpoint(&g->job), "learned", 0) > first) return err;
    s->learned = learned;
    keep(g, first + count);
    return NY_OK;
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* Reads the rows of a pilot, one of each of as many equal stretches. */
static int read_pilot(const struct ny_graph_job *g, char *raw)
{
    enum { SEED = 2 };
    const struct ny_held *held = &g->sieving->sieve.held;
    size_t row_bytes = ny_raw_bytes(&g->spec);
    int err = NY_OK;

    for (uint64_t i = 0; i < NY_SIEVE_ROWS && err == NY_OK; i++) {
        uint64_t begin = g->knn.n * i / NY_SIEVE_ROWS, end = g->knn.n * (i + 1) / NY_SIEVE_ROWS;
        uint64_t row = begin + ny_hash64(SEED, NY_STREAM_RECALL, i) % (end - begin);

        if (ny_held_all(held))
            memcpy(raw + i * row_bytes, ny_held_row(held, row), row_bytes);
        else
            err = ny_points_read(g->job.store, 0, row, 1, raw + i * row_bytes);
    }
    return err;
}

/* Decides by the width that some rows need, or by the work of finding all of their neighbours, and
 * gives way to all pairs, or to a tree, where there is no width or it is more work. */
static void decide(struct ny_graph_job *g, const struct ny_sieve_learned *learned)
{
    double pairs = ny_graph_pairs_ns(&g->job.points), sieve = INFINITY;
    enum ny_knn_way way = g->tree_ns < pairs ? NY_KNN_TREE : NY_KNN_EXACT;

    if (!ny_graph_nearly(g->settings))
        sieve = ny_graph_sieve_all_ns(&g->job.points, &learned->work, NY_SIEVE_ROWS);
    else if (learned->width)
        sieve = ny_graph_sieve_ns(&g->job.points, learned->width);
    if (sieve < pairs && sieve < g->tree_ns) way = NY_KNN_SIEVE;
    ny_graph_set_way(g, way);
    ny_log(g->job.ctx, NY_LOG_DETAIL,
           "a sieve is %.3g of the work of all pairs, with %.0f points a row looked at, %.0f "
           "measured, and %.3g of the rows left: --knn %s",
           sieve / pairs, learned->work.looked / NY_SIEVE_ROWS,
           learned->work.measured / NY_SIEVE_ROWS, learned->work.left / NY_SIEVE_ROWS,
           ny_knn_way_name(way));
}

/* Lets the sieve find all neighbours of some rows, and decides whether it is taken. */
static int choose(struct ny_graph_job *g)
{
    struct ny_context *ctx = g->job.ctx;
    struct ny_sieving *s = g->sieving;
    size_t lists = NY_SIEVE_ROWS * s->knn.neighbors;
    char *raw = ny_calloc(ctx, NY_MEM_DICTIONARY, NY_SIEVE_ROWS, ny_raw_bytes(&g->spec));
    struct ny_measured found = {ny_calloc(ctx, NY_MEM_DICTIONARY, lists, sizeof(uint32_t)),
                                ny_calloc(ctx, NY_MEM_DICTIONARY, lists, sizeof(double)), 0};
    struct ny_sieve_lot lot = {.raw = raw,
                               .count = NY_SIEVE_ROWS,
                               .total = g->knn.n,
                               .recall = recall_of_lists(g),
                               .pilot = true};
    struct ny_sieve_learned learned = {0};
    int err = raw && found.row && found.distance ? read_pilot(g, raw) : NY_EBUDGET;

    if (err == NY_OK) err = ny_sieve_search(&s->sieve, &lot, &found, &learned);
    ny_free(ctx, found.distance);
    ny_free(ctx, found.row);
    ny_free(ctx, raw);
    if (err == NY_OK) decide(g, &learned);
    return err;
}

/* ---- the stage ------------------------------------------------------------------------------ */

static void restore(struct ny_graph_job *g)
{
    const json_t *at = ny_job_checkpoint(&g->job);
    struct ny_sieve_learned *learned = &g->sieving->learned;

    learned->found = ny_field_number(at, "found", 0);
    learned->squares = ny_field_number(at, "squares", 0);
    learned->rows = ny_field_number(at, "drawn", 0);
}

static int search_lots(struct ny_graph_job *g)
{
    struct ny_sieving *s = g->sieving;
    uint64_t n = g->knn.n, row = ny_field_count(ny_job_checkpoint(&g->job), "measured", 0);
    size_t rows = lot_rows(&g->spec, n), lists = rows * s->knn.neighbors;
    bool all = ny_held_all(&s->sieve.held);
    int err = row > n ? ny_job_not_its_checkpoint(&g->job) : NY_OK;

    restore(g);
    s->raw = ny_alloc(g->job.ctx, NY_MEM_DICTIONARY, all ? 0 : rows * ny_raw_bytes(&g->spec));
    s->found.row = ny_calloc(g->job.ctx, NY_MEM_DICTIONARY, lists, sizeof(uint32_t));
    s->found.distance = ny_calloc(g->job.ctx, NY_MEM_DICTIONARY, lists, sizeof(double));
    if (!s->raw || !s->found.row || !s->found.distance) err = NY_EBUDGET;
    for (uint64_t first = row / rows * rows; first < n && err == NY_OK; first += rows) {
        size_t count = n - first < rows ? (size_t)(n - first) : rows;

        err = search(g, first, count);
        if (err == NY_OK) err = ny_graph_write(g, measured, first, first + count);
    }
    ny_free(g->job.ctx, s->found.distance);
    ny_free(g->job.ctx, s->found.row);
    ny_free(g->job.ctx, s->raw);
    return err;
}

/* Reports the recall without the rows that have found themselves. */
static void report(struct ny_graph_job *g)
{
    const struct ny_sieve_learned *learned = &g->sieving->learned;
    json_t *facts = ny_graph_facts(g->job.record), *interval = json_null();
    double t = (double)g->knn.neighbors, share = 1;

    if (learned->rows > 0) {
        struct ny_recall recall =
            ny_recall_of(learned->found, learned->squares, learned->rows, t + 1);

        share = (recall.share * (t + 1) - 1) / t;
        interval = json_array();
        ny_field_append(interval, json_real((recall.low * (t + 1) - 1) / t));
        ny_field_append(interval, json_real((recall.high * (t + 1) - 1) / t));
    }
    ny_field_set_number(facts, "recall", share);
    ny_field_set_json(facts, "recall_interval", interval);
    ny_field_set_count(facts, "remeasured", 0);
    ny_job_count_pass(&g->job, g->knn.n, 2 * g->plan.pairs * NY_SIEVE_COLUMNS);
}

int ny_graph_sift(struct ny_graph_job *g)
{
    struct ny_sieving sieving = {.knn = g->knn};
    int err;

    sieving.knn.neighbors++;
    g->sieving = &sieving;
    err = ny_sieve_new(&sieving.sieve, &sieving.knn, &g->spec, g->plan.held_rows);
    if (err == NY_OK && g->way == NY_KNN_AUTO) err = choose(g);
    if (err == NY_OK && g->way == NY_KNN_SIEVE) err = search_lots(g);
    ny_sieve_release(&sieving.sieve);
    if (err == NY_OK && g->way == NY_KNN_SIEVE) report(g);
    g->sieving = NULL;
    if (err || g->way != NY_KNN_SIEVE) return err;
    json_object_clear(ny_job_checkpoint(&g->job));
    return ny_job_save(&g->job, ny_job_next(&g->job));
}

/* ---- the plan ------------------------------------------------------------------------------- */

uint64_t ny_graph_sieve_held_least(const struct ny_knn *knn)
{
    struct ny_knn more = *knn;

    more.neighbors++;
    return ny_sieve_held_least(&more);
}

size_t ny_graph_sieve_bytes(const struct ny_graph_sizes *f, unsigned workers, size_t limit)
{
    struct ny_knn knn = f->knn;
    size_t rows = lot_rows(knn.spec, f->points->n);
    size_t list = (knn.neighbors + 1) * (sizeof(uint32_t) + sizeof(double));
    size_t lot = rows * list + (f->part < f->points->n ? rows * ny_raw_bytes(knn.spec) : 0);
    size_t pilot = NY_SIEVE_ROWS * (list + ny_raw_bytes(knn.spec));

    knn.workers = workers;
    knn.neighbors++;
    if (f->settings->way == NY_KNN_AUTO && lot < pilot) lot = pilot;
    return ny_sieve_bytes(&knn, knn.spec, (size_t)f->part, rows) + lot +
           ny_graph_lists_batch(f, limit) + ny_graph_writing_bytes(f, limit);
}
