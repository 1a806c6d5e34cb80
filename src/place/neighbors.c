/*
 * Finds the nearest rows of a graph of each new row (place/neighbors.h). As of a file, row numbers
 * are u64 and distances f32, as a graph's own lists are exported; in memory distances are f64.
 *
 * The search (place/search.h) is exact, or finds a share of the neighbours where that is wanted or
 * was wanted of the graph. A new row that is one of the store finds that row, at distance 0, where
 * it is exact. Rows that were appended behind the graph do not count.
 */
#include "place/neighbors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "place/search.h"
#include "model/graph.h"
#include "results/keep.h"
#include "results/record.h"

struct by_list {
    struct ny_placer base;
    struct ny_new_neighbors *new;
    struct ny_seeker seeker;
    struct ny_search search;
    char *raw; /* search.room rows */
    struct ny_writer *numbers, *distances;
    uint64_t *wide; /* NY_COMPARE_ROWS rows of numbers */
    float *narrow;  /* NY_COMPARE_ROWS rows of distances, for the file */
};

static bool is_any(const void *arg, size_t i, uint64_t row)
{
    (void)arg, (void)i, (void)row;
    return true;
}

static size_t bytes(const void *placer, unsigned workers, size_t limit)
{
    const struct by_list *run = placer;
    size_t one = run->new->neighbors *(sizeof(uint64_t) + sizeof(float));

    (void)limit;
    return ny_search_bytes(&run->search, workers) + NY_COMPARE_ROWS * one;
}

/* Opens the files, where there are any. */
static int open_files(struct ny_placer *placer)
{
    struct by_list *run = (struct by_list *)placer;
    const struct ny_new_neighbors *new = run->new;
    struct ny_context *ctx = placer->spec.ctx;
    uint64_t rows = placer->rows == NY_ROWS_UNKNOWN ? NY_ROWS_COUNTED : placer->rows;
    int err = NY_OK;

    if (new->rows.output)
        err =
            ny_writer_open(&run->numbers, ctx, new->rows.output, NY_OUT_U64, rows, new->neighbors);
    if (!err && run->numbers) err = ny_writer_fits(run->numbers);
    if (!err && new->distances_output)
        err = ny_writer_open(&run->distances, ctx, new->distances_output, NY_OUT_F32, rows,
                             new->neighbors);
    if (!err && run->distances) err = ny_writer_fits(run->distances);
    return err;
}

static int begin(struct ny_placer *placer)
{
    struct by_list *run = (struct by_list *)placer;
    struct ny_context *ctx = placer->spec.ctx;
    size_t t = run->new->neighbors, bytes;
    int err;

    run->wide = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(*run->wide));
    run->narrow = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(*run->narrow));
    if (!run->wide || !run->narrow) return NY_EBUDGET;
    err = ny_search_begin(&run->search, placer->rows, placer->workers);
    if (err) return err;
    err = ny_product(ctx, &bytes, run->search.room, ny_raw_bytes(&placer->spec), 1);
    if (err) return err;
    run->raw = ny_alloc(ctx, NY_MEM_TILES, bytes);
    return run->raw ? NY_OK : NY_EBUDGET;
}

/* Takes distances of the rows that come next to f32, as a file has them. */
static int narrow(const struct by_list *run, const double *distance, size_t items)
{
    const struct ny_new_neighbors *new = run->new;

    for (size_t i = 0; i < items; i++) {
        run->narrow[i] = (float)distance[i];
        if (isinf(run->narrow[i]))
            return ny_fail(run->base.spec.ctx, NY_ENUMERIC,
                           "new row %llu is farther from its neighbors than %.2g, the most that a "
                           "file of distances can hold; look for huge values in it",
                           (unsigned long long)(new->placed + i / new->neighbors), (double)FLT_MAX);
    }
    return NY_OK;
}

/* Writes the neighbours of rows first … first + count − 1 of those that were found, at most
 * NY_COMPARE_ROWS, or copies them to the caller's room. */
static int put(struct by_list *run, size_t first, size_t count)
{
    const struct ny_new_neighbors *new = run->new;
    const uint32_t *row = run->search.found.row + first * new->neighbors;
    const double *distance = run->search.found.distance + first * new->neighbors;
    size_t items = count * new->neighbors, at = (size_t) new->placed *new->neighbors;
    int err = run->distances ? narrow(run, distance, items) : NY_OK;

    if (err) return err;
    for (size_t i = 0; i < items; i++)
        run->wide[i] = row[i];
    if (new->numbers) memcpy(new->numbers + at, run->wide, items * sizeof(*new->numbers));
    if (new->distances) memcpy(new->distances + at, distance, items * sizeof(*new->distances));
    if (run->numbers) err = ny_writer_rows(run->numbers, run->wide, count);
    if (!err && run->distances) err = ny_writer_rows(run->distances, run->narrow, count);
    run->new->placed += count;
    return err;
}

/* Finds the neighbours of the rows that were read, and writes them. */
static int place_rows(struct by_list *run, size_t count, bool last)
{
    int err = ny_search_find(&run->search, run->raw, run->new->placed, count, last);

    for (size_t first = 0; first < count && err == NY_OK; first += NY_COMPARE_ROWS) {
        size_t left = count - first;

        err = put(run, first, left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS);
    }
    return err;
}

/* Reads as many rows as are searched for at a time, unit by unit. */
static int place(struct ny_placer *placer, struct ny_source *rows)
{
    struct by_list *run = (struct by_list *)placer;
    size_t row_bytes = ny_raw_bytes(&placer->spec), room = run->search.room, held = 0;
    struct ny_tile tile = {.source = rows};
    int err = NY_OK;

    for (; err == NY_OK; tile.unit++) {
        tile.first_row = tile.unit * NY_UNIT_ROWS;
        err = rows->ops->take(rows, &tile);
        for (size_t first = 0, count; first < tile.rows && err == NY_OK; first += count) {
            count = tile.rows - first;
            if (count > room - held) count = room - held;
            if (count > NY_STRIP_ROWS) count = NY_STRIP_ROWS;
            err = ny_tile_strip(&tile, first, count, run->raw + held * row_bytes);
            held += count;
            if (err || held < room) continue;
            err = place_rows(run, held, false);
            held = 0;
        }
    }
    if (err == NY_END) err = held ? place_rows(run, held, true) : NY_OK;
    return err;
}

/* Gives the files their names, the numbers last. */
static int end(struct ny_placer *placer)
{
    struct by_list *run = (struct by_list *)placer;
    int err = ny_writer_finish(run->numbers);

    if (!err && run->distances) {
        err = ny_writer_commit(run->distances);
        run->distances = NULL;
    }
    if (!err && run->numbers) {
        err = ny_writer_commit(run->numbers);
        run->numbers = NULL;
    }
    return err;
}

/* Decides which share of the neighbours is to be found. */
static int decide_recall(struct by_list *run, const json_t *record)
{
    const json_t *options = json_object_get(record, "options");
    const char *asked = ny_field_text(options, "recall"); /* a forest or a sieve has it */
    double *recall = &run->new->recall;

    if (*recall == 0) *recall = asked ? ny_decimal_read(asked, NULL) : 1;
    run->search.recall = *recall;
    if (*recall > 0 && *recall <= 1) return NY_OK;
    return ny_fail(run->base.spec.ctx, NY_EUSAGE, "--recall is a share, above 0 and up to 1");
}

/* Tells how the neighbours were found, and how many of them. */
static void tell(const struct by_list *run)
{
    static const char *const ways[] = {"exact", "tree", "sieve"};
    const struct ny_sieve_learned *learned = &run->search.learned;
    struct ny_new_neighbors *new = run->new;

    new->way = ways[run->search.way];
    new->drawn = learned->reach.measured ? (uint64_t)learned->rows : 0;
    new->found = (struct ny_recall){1, 1, 1};
    if (new->drawn)
        new->found =
            ny_recall_of(learned->found, learned->squares, learned->rows, (double)new->neighbors);
}

/* Checks that the result has a graph of enough rows, and of how many. */
static int check(struct by_list *run, const json_t *record)
{
    struct ny_seeker *seeker = &run->seeker;
    const struct ny_keep keep = ny_store_keep(seeker->store, seeker->name);
    struct ny_context *ctx = run->base.spec.ctx;
    struct ny_stored_graph graph;
    int err;

    if (!ny_stored_graph_of(&graph, ny_store_rows(seeker->store), &keep, record))
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' has no graph of its own in which to find neighbours; make one with "
                       "'nystream graph %s NAME'",
                       seeker->name, ny_store_path(seeker->store));
    err = ny_stored_graph_check(&graph);
    if (!err) err = ny_stored_graph_places(&graph);
    if (!err) err = ny_points_info(seeker->store, &seeker->points);
    if (err) return err;
    seeker->points.n = graph.n;
    if (!run->new->neighbors) run->new->neighbors = graph.neighbors;
    if (run->new->neighbors <= graph.n) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--neighbors %zu: the graph '%s' has %llu rows, and no new row can have more "
                   "neighbors",
                   run->new->neighbors, seeker->name, (unsigned long long)graph.n);
}

int ny_neighbors_of_rows(struct ny_store *store, const char *name, struct ny_new_neighbors *new)
{
    static const struct ny_placer_ops ops = {
        .bytes = bytes, .open = open_files, .begin = begin, .place = place, .end = end};
    struct ny_context *ctx = ny_store_context(store);
    struct by_list run = {.base = {.ops = &ops,
                                   .spec = {.ctx = ctx},
                                   .whose = "the store has",
                                   .store = store,
                                   .name = name},
                          .new = new,
                          .seeker = {.store = store, .name = name, .takes = is_any}};
    json_t *record = NULL;
    int err = ny_record_need_done(store, name, &record);

    run.search.seeker = &run.seeker;
    run.base.record = record;
    if (!err) err = ny_store_skip_lost(store);
    if (!err) err = ny_record_check_lost(store, name, record);
    if (!err) err = check(&run, record);
    if (!err) err = decide_recall(&run, record);
    if (!err) err = ny_seeker_open(&run.seeker, record, new->neighbors, &run.base.spec);
    if (!err) run.search.by_tree = ny_field_is(ny_graph_facts(record), "knn", "tree");
    if (!err) err = ny_place_all(&run.base, &new->rows);
    if (!err) tell(&run);
    ny_writer_abort(run.numbers);
    ny_writer_abort(run.distances);
    ny_search_end(&run.search);
    ny_seeker_close(&run.seeker);
    ny_free(ctx, run.raw);
    ny_free(ctx, run.wide);
    ny_free(ctx, run.narrow);
    json_decref(record);
    return err;
}
