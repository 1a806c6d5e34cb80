/* Compares codes of rows with those of the points (nearest/sieve.h): squared distances, which are
 * whole numbers, of which the few that count are looked at. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nearest/sieve_private.h"

/* Makes a strip of codes. */
static int strip_of(struct ny_sieve_worker *worker, const uint8_t *code, size_t rows,
                    struct ny_strip *strip)
{
    int err;

    ny_columns_clear(worker->own);
    err = ny_columns_append(worker->own, ny_raw_rows(code), rows);
    if (!err) *strip = ny_columns_own_strip(worker->own, worker->in, 0, rows);
    return err;
}

/* Tells each row of the points whose codes are below its bound. */
static int scan(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                const struct ny_sieve_rows *rows, struct ny_columns_watch watch)
{
    struct ny_strip strip;
    int err = strip_of(worker, rows->code, rows->count, &strip);

    watch.end = (size_t)sieve->knn->n;
    watch.room = worker->tile;
    if (!err) ny_columns_below(sieve->codes, &strip, &watch);
    return err;
}

/* Returns the number just above a squared distance of codes, which are whole. */
static float above(double bound)
{
    return nextafterf((float)floor(fmin(bound, 0x1p24)), INFINITY);
}

/* ---- the nearest ---------------------------------------------------------------------------- */

static void add(void *lists, size_t row, size_t place, float square)
{
    ny_neighbors_insert(lists, row, square, place);
}

/* Makes a list of places the hits of a row. */
static void put_hits(const struct ny_sieve *sieve, const struct ny_neighbors *lists, size_t i,
                     const struct ny_sieve_hits *hits)
{
    struct ny_sieve_hit *hit = hits->hit + i * hits->room;
    const float *square = lists->value + i * lists->width;
    const uint32_t *place = lists->row + i * lists->width;
    size_t used = 0;

    for (; used < lists->width && place[used] != NY_NO_ROW; used++)
        hit[used] = (struct ny_sieve_hit){square[used], sieve->cells.row[place[used]]};
    hits->used[i] = (uint32_t)used;
}

int ny_sieve_nearest(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                     const struct ny_sieve_rows *rows, size_t width)
{
    struct ny_neighbors lists;
    int err = ny_neighbors_new(&lists, sieve->spec->ctx, 0, rows->count, width);

    if (!err)
        err = scan(sieve, worker, rows,
                   (struct ny_columns_watch){.bound = lists.bound, .take = add, .arg = &lists});
    for (size_t i = 0; i < rows->count && !err; i++)
        put_hits(sieve, &lists, i, &rows->hits);
    ny_neighbors_release(&lists);
    return err;
}

/* ---- lists by guides ------------------------------------------------------------------------ */

/* One row in so many of a strip looks with no bound; the others begin with the bound that it ended
 * with, and some more, since rows of a strip are often near to one another. */
enum { GUIDES = 8 };
static const float more = 1.4F;

/* Rows of a strip. */
struct listed {
    size_t count;
    uint32_t row[NY_SIEVE_STRIP];
};

/* Fills the lists of the rows of a strip by `look`, which looks for those listed below the bounds
 * of their lists: of the guides, of the others, and again those that had too low a bound. */
static void fill_lists(struct ny_neighbors *lists, size_t rows,
                       void (*look)(void *arg, const struct listed *listed), void *arg)
{
    struct listed listed = {0};
    size_t width = lists->width;

    for (size_t i = 0; i < rows; i += GUIDES)
        listed.row[listed.count++] = (uint32_t)i;
    look(arg, &listed);
    listed.count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (i % GUIDES == 0) continue;
        lists->bound[i] = more * lists->bound[i / GUIDES * GUIDES] + 1;
        listed.row[listed.count++] = (uint32_t)i;
    }
    look(arg, &listed);
    listed.count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (lists->row[i * width + width - 1] != NY_NO_ROW) continue;
        ny_neighbors_clear(lists, i);
        listed.row[listed.count++] = (uint32_t)i;
    }
    look(arg, &listed);
}

/* ---- the nearest cells ---------------------------------------------------------------------- */

/* Rows that look at the centres. */
struct centres {
    const struct ny_sieve *sieve;
    const struct ny_strip *strip;
    struct ny_neighbors *lists;
    float *room;
};

/* Lets the rows listed look at all centres. */
static void look_at_centres(void *arg, const struct listed *listed)
{
    const struct centres *centres = arg;
    const struct ny_columns_watch watch = {.end = centres->sieve->cells.count,
                                           .row = listed->row,
                                           .rows = listed->count,
                                           .bound = centres->lists->bound,
                                           .take = add,
                                           .arg = centres->lists,
                                           .room = centres->room};

    ny_columns_below(centres->sieve->cells.centres, centres->strip, &watch);
}

int ny_sieve_nearest_cells(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                           const uint8_t *code, size_t rows, size_t count, uint32_t *cells)
{
    struct ny_neighbors lists;
    struct ny_strip strip;
    int err;

    memset(cells, 0, rows * count * sizeof(*cells));
    if (sieve->cells.count == 1) return NY_OK; /* it has no centre */
    err = ny_neighbors_new(&lists, sieve->spec->ctx, 0, rows, count);
    if (!err) err = strip_of(worker, code, rows, &strip);
    if (!err) {
        fill_lists(&lists, rows, look_at_centres,
                   &(struct centres){sieve, &strip, &lists, worker->tile});
        memcpy(cells, lists.row, rows * count * sizeof(*cells));
    }
    ny_neighbors_release(&lists);
    return err;
}

/* ---- the nearest in some cells -------------------------------------------------------------- */

/* Rows that look into cells, and the nearest by fine code that they have found. */
struct look {
    const struct ny_sieve *sieve;
    struct ny_sieve_worker *worker;
    const struct ny_sieve_rows *rows;
    const struct ny_sieve_reach *reach;
    struct ny_neighbors lists;   /* of places, by fine code */
    float bound[NY_SIEVE_STRIP]; /* the squared distance by code of what may be as near */
    struct ny_strip strip;       /* of the codes */
    uint32_t *cells;             /* rows × reach->cells, the nearest first */
};

double ny_sieve_code_bound(const struct ny_sieve *sieve, double fine)
{
    const double spread = 1.6;
    double steps = sieve->fine_scale.step / sieve->scale.step, square = steps * steps * fine;

    return square + (double)sieve->columns / 6 + spread * (sqrt(square) + 2);
}

/* Bounds what a row looks at by what its list takes. */
static void bound_code(struct look *look, size_t row)
{
    double bound = ny_sieve_code_bound(look->sieve, (double)look->lists.bound[row]);

    look->bound[row] = (float)(look->reach->share * bound);
}

static void meet(void *arg, size_t row, size_t place, float square)
{
    struct look *look = arg;
    const struct ny_sieve *sieve = look->sieve;
    const int16_t *fine = look->rows->fine + row * sieve->fine;
    float apart = (float)ny_sieve_fine_square(sieve, fine, place);

    (void)square;
    look->worker->looked++;
    if (!(apart < look->lists.bound[row])) return;
    ny_neighbors_insert(&look->lists, row, apart, place);
    bound_code(look, row);
}

static struct ny_columns_watch watch_of(struct look *look)
{
    return (struct ny_columns_watch){.bound = look->bound,
                                     .take = meet,
                                     .arg = look,
                                     .read = look->sieve->fine_code,
                                     .read_bytes = look->sieve->fine * sizeof(int16_t),
                                     .room = look->worker->tile};
}

/* Lists the rows of a strip by cell: those of which it is one of the nearest, from the first-th to
 * the one before the end-th. The visitors of cell c end before visits[c]. */
static void list_visitors(const struct look *look, const struct listed *listed, size_t first,
                          size_t end)
{
    const struct ny_sieve_worker *worker = look->worker;
    size_t all = look->sieve->cells.count, count = look->reach->cells;
    uint32_t *visits = worker->visits;

    memset(visits, 0, all * sizeof(*visits));
    for (size_t i = 0; i < listed->count; i++)
        for (size_t k = first; k < end; k++)
            visits[look->cells[listed->row[i] * count + k]]++;
    for (size_t c = 0, sum = 0; c < all; c++) {
        size_t visitors = visits[c];

        visits[c] = (uint32_t)sum; /* where they begin, until they are listed */
        sum += visitors;
    }
    for (size_t i = 0; i < listed->count; i++)
        for (size_t k = first; k < end; k++)
            worker->visitors[visits[look->cells[listed->row[i] * count + k]]++] = listed->row[i];
}

/* Lets the rows listed look into their cells from the first-th to the one before the end-th. */
static void visit(struct look *look, const struct listed *listed, size_t first, size_t end)
{
    const struct ny_sieve_cells *cells = &look->sieve->cells;
    const uint32_t *visits = look->worker->visits;
    struct ny_columns_watch watch = watch_of(look);

    list_visitors(look, listed, first, end);
    for (size_t c = 0, begin = 0; c < cells->count; begin = visits[c++]) {
        watch.first = cells->begin[c];
        watch.end = cells->begin[c + 1];
        watch.row = look->worker->visitors + begin;
        watch.rows = visits[c] - begin;
        if (watch.rows && watch.end > watch.first)
            ny_columns_below(look->sieve->codes, &look->strip, &watch);
    }
}

/* Lets the rows listed look into their nearest cell. */
static void visit_nearest(void *arg, const struct listed *listed)
{
    struct look *look = arg;

    for (size_t i = 0; i < listed->count; i++)
        bound_code(look, listed->row[i]);
    visit(look, listed, 0, 1);
}

/* The nearest cells come first, so that the lists are good soon. */
static int look_into_cells(struct look *look)
{
    struct ny_context *ctx = look->sieve->spec->ctx;
    const struct ny_sieve_rows *rows = look->rows;
    size_t count = look->reach->cells;
    struct listed all = {.count = rows->count};
    int err = NY_EBUDGET;

    for (size_t i = 0; i < rows->count; i++)
        all.row[i] = (uint32_t)i;
    look->cells = ny_calloc(ctx, NY_MEM_TILES, rows->count, count * sizeof(*look->cells));
    if (look->cells)
        err = ny_sieve_nearest_cells(look->sieve, look->worker, rows->code, rows->count, count,
                                     look->cells);
    if (!err) err = strip_of(look->worker, rows->code, rows->count, &look->strip);
    if (!err) fill_lists(&look->lists, rows->count, visit_nearest, look);
    for (size_t first = 1, end; first < count && !err; first = end) {
        end = 4 * first < count ? 4 * first : count;
        visit(look, &all, first, end);
    }
    ny_free(ctx, look->cells);
    return err;
}

int ny_sieve_look(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                  const struct ny_sieve_rows *rows, const struct ny_sieve_reach *reach)
{
    struct look look = {.sieve = sieve, .worker = worker, .rows = rows, .reach = reach};
    int err = ny_neighbors_new(&look.lists, sieve->spec->ctx, 0, rows->count, reach->measured);

    for (size_t i = 0; i < rows->count; i++)
        look.bound[i] = INFINITY;
    if (!err && reach->cells >= sieve->cells.count)
        err = scan(sieve, worker, rows, watch_of(&look));
    else if (!err)
        err = look_into_cells(&look);
    for (size_t i = 0; i < rows->count && !err; i++)
        put_hits(sieve, &look.lists, i, &rows->hits);
    ny_neighbors_release(&look.lists);
    return err;
}

/* ---- those within a bound ------------------------------------------------------------------- */

/* A point whose fine code is to be looked at. */
struct waiting {
    uint32_t row, place;
    float square;
};

/* Fine codes lie all over memory: some are asked for before the first of them is looked at. */
enum { WAITING = 16 };

struct within {
    const struct ny_sieve *sieve;
    struct ny_sieve_worker *worker;
    const struct ny_sieve_rows *rows;
    struct ny_sieve_hit last[NY_SIEVE_STRIP]; /* the farthest of the nearest so far */
    float below[NY_SIEVE_STRIP];
    struct waiting waiting[WAITING];
    size_t count; /* of those that wait */
};

/* Keeps those of the waiting points that are within the bounds of their fine codes. */
static void keep_waiting(struct within *within)
{
    const struct ny_sieve *sieve = within->sieve;
    const struct ny_sieve_rows *rows = within->rows;

    for (size_t k = 0; k < within->count; k++) {
        struct waiting at = within->waiting[k];
        const int16_t *fine = rows->fine + at.row * sieve->fine;
        uint32_t *used = &rows->hits.used[at.row];

        if ((double)ny_sieve_fine_square(sieve, fine, at.place) > rows->fine_bound[at.row])
            continue;
        if (*used < rows->hits.room)
            rows->hits.hit[at.row * rows->hits.room + *used] =
                (struct ny_sieve_hit){at.square, sieve->cells.row[at.place]};
        else
            within->below[at.row] = -1; /* it has too many */
        ++*used;
    }
    within->worker->looked += within->count;
    within->count = 0;
}

static void keep(void *arg, size_t row, size_t place, float square)
{
    struct within *within = arg;
    const struct ny_sieve *sieve = within->sieve;
    struct ny_sieve_hit last = within->last[row];

    if (square < last.square || (square == last.square && place <= sieve->cells.place[last.row]))
        return;
    ny_sieve_fine_ask(sieve, place);
    within->waiting[within->count++] = (struct waiting){(uint32_t)row, (uint32_t)place, square};
    if (within->count == WAITING) keep_waiting(within);
}

int ny_sieve_within(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_sieve_rows *rows)
{
    struct within within = {.sieve = sieve, .worker = worker, .rows = rows};
    int err;

    for (size_t i = 0; i < rows->count; i++) {
        within.last[i] = rows->hits.hit[i * rows->hits.room + rows->hits.used[i] - 1];
        within.below[i] = above(rows->bound[i]);
    }
    err = scan(sieve, worker, rows,
               (struct ny_columns_watch){.bound = within.below, .take = keep, .arg = &within});
    if (!err) keep_waiting(&within);
    return err;
}
