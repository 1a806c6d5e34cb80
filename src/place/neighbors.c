/*
 * Finds the nearest rows of a graph of each new row (place/neighbors.h).
 *
 * The search (place/search.h) is exact, or finds a share of the neighbours where that is wanted or
 * was wanted of the graph. A new row that is one of the store finds that row, at distance 0, where
 * it is exact. Rows that were appended behind the graph do not count.
 */
#include "place/neighbors.h"

#include "base/decimal.h"
#include "base/memory.h"
#include "place/search.h"
#include "model/graph.h"

struct by_list {
    struct ny_placer base;
    struct ny_new_neighbors *new;
    struct ny_seeker seeker;
    struct ny_search search;
};

static void count(struct ny_layout *l, const void *placer, unsigned workers, size_t limit)
{
    (void)limit;
    ny_search_count(l, &((const struct by_list *)placer)->search, workers);
}

static int begin(struct ny_placer *placer)
{
    return ny_search_begin(&((struct by_list *)placer)->search, placer->rows, placer->workers);
}

/* Finds the neighbours of the rows that were read, and hands them on. */
static int place_rows(struct by_list *run, size_t count, bool last)
{
    struct ny_new_rows *rows = run->base.new;
    uint64_t first = run->base.placed;
    int err = ny_search_find(&run->search, first, count, last);

    run->base.placed += count;
    return err ? err : rows->ops->put(rows, &run->base, &run->search.found, first, count);
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
            err = ny_tile_strip(&tile, first, count, run->search.raw + held * row_bytes);
            held += count;
            if (err || held < room) continue;
            err = place_rows(run, held, false);
            held = 0;
        }
    }
    if (err == NY_END) err = held ? place_rows(run, held, true) : NY_OK;
    return err;
}

/* Decides which share of the neighbours is to be found. */
static int decide_recall(struct by_list *run, struct ny_record record)
{
    const char *asked = ny_state_of(record).options.recall; /* a sieve has it */
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
static int check(struct by_list *run, struct ny_record record)
{
    struct ny_seeker *seeker = &run->seeker;
    struct ny_context *ctx = run->base.spec.ctx;
    struct ny_stored_graph graph;
    int err;

    if (!ny_stored_graph_of(&graph, seeker->X, &seeker->keep, record))
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' has no graph of its own in which to find neighbours; make one with "
                       "'nystream graph %s NAME'",
                       seeker->name, seeker->keep.place);
    err = ny_stored_graph_check(&graph);
    if (!err) err = ny_stored_graph_places(&graph);
    if (!err) err = seeker->X->ops->info(seeker->X, &seeker->points);
    if (err) return err;
    seeker->points.n = graph.n;
    if (!run->new->neighbors) run->new->neighbors = graph.neighbors;
    if (run->new->neighbors <= graph.n) return NY_OK;
    return ny_fail_most(ctx, "neighbors", run->new->neighbors, graph.n, "rows");
}

int ny_neighbors_of_rows(const struct ny_fitted *fitted, struct ny_new_rows *rows,
                         struct ny_new_neighbors *new)
{
    static const struct ny_placer_ops ops = {.count = count, .begin = begin, .place = place};
    struct ny_context *ctx = fitted->X->ctx;
    struct by_list run = {
        .base = {.ops = &ops, .spec = {.ctx = ctx}, .whose = "the store has", .fitted = fitted},
        .new = new,
        .seeker = {.X = fitted->X, .keep = fitted->keep, .name = fitted->keep.name}};
    int err = check(&run, fitted->record);

    run.search.seeker = &run.seeker;
    if (!err) err = decide_recall(&run, fitted->record);
    if (!err) err = ny_seeker_open(&run.seeker, fitted->record, new->neighbors, &run.base.spec);
    if (!err) run.search.by_tree = ny_is(ny_state_of(fitted->record).graph.knn, "tree");
    if (!err) err = ny_place_all(&run.base, rows);
    if (!err) tell(&run);
    ny_search_end(&run.search);
    ny_seeker_close(&run.seeker);
    return err;
}
