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

/* ---- the nearest cells ---------------------------------------------------------------------- */

/* One row in so many of a strip looks at all centres with no bound; the others begin with the bound
 * that it ended with, and some more, since rows of a strip are often near to one another. */
enum { GUIDES = 8 };
static const float more = 1.2F;

/* Lets the rows listed look at all centres. */
static void look_at_centres(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                            const struct ny_strip *strip, struct ny_neighbors *lists, size_t count)
{
    const struct ny_columns_watch watch = {.end = sieve->cells.count,
                                           .row = worker->visitors,
                                           .rows = count,
                                           .bound = lists->bound,
                                           .take = add,
                                           .arg = lists,
                                           .room = worker->tile};

    ny_columns_below(sieve->cells.centres, strip, &watch);
}

/* Fills the lists of a strip: of the guides, of the others, and again those that had too low a
 * bound. */
static void fill_lists(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                       const struct ny_strip *strip, struct ny_neighbors *lists)
{
    uint32_t *listed = worker->visitors;
    size_t count = 0, width = lists->width;

    for (size_t i = 0; i < strip->count; i += GUIDES)
        listed[count++] = (uint32_t)i;
    look_at_centres(sieve, worker, strip, lists, count);
    count = 0;
    for (size_t i = 0; i < strip->count; i++) {
        if (i % GUIDES == 0) continue;
        lists->bound[i] = more * lists->bound[i / GUIDES * GUIDES] + 1;
        listed[count++] = (uint32_t)i;
    }
    look_at_centres(sieve, worker, strip, lists, count);
    count = 0;
    for (size_t i = 0; i < strip->count; i++) {
        if (lists->row[i * width + width - 1] != NY_NO_ROW) continue;
        ny_neighbors_clear(lists, i);
        listed[count++] = (uint32_t)i;
    }
    look_at_centres(sieve, worker, strip, lists, count);
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
        fill_lists(sieve, worker, &strip, &lists);
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
    struct ny_neighbors lists;   /* of places, by fine code */
    float bound[NY_SIEVE_STRIP]; /* the squared distance by code of what may be as near */
};

/* Returns how far a code may be of what is nearer than this by fine code, which has the directions
 * of a code and more. Rounding to bytes adds a sixth to each square of a code, and some spread. */
static float code_bound(const struct ny_sieve *sieve, float fine)
{
    const double spread = 1.6;
    double steps = sieve->fine_scale.step / sieve->scale.step;
    double square = steps * steps * (double)fine;

    return (float)(square + (double)sieve->columns / 6 + spread * (sqrt(square) + 2));
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
    look->bound[row] = code_bound(sieve, look->lists.bound[row]);
}

/* Lists the rows of a strip by cell: those of which it is one of the nearest, from rank[0] to the
 * one before rank[1]. `cells` has `count` of each row; the rows of cell c end before end[c]. */
static void list_visitors(const struct look *look, const uint32_t *cells, size_t count,
                          const size_t rank[2], struct ny_sieve_worker *worker)
{
    size_t rows = look->rows->count, all = look->sieve->cells.count;
    uint32_t *end = worker->visits;

    memset(end, 0, all * sizeof(*end));
    for (size_t i = 0; i < rows; i++)
        for (size_t k = rank[0]; k < rank[1]; k++)
            end[cells[i * count + k]]++;
    for (size_t c = 0, sum = 0; c < all; c++) {
        size_t visitors = end[c];

        end[c] = (uint32_t)sum; /* where they begin, until they are listed */
        sum += visitors;
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t k = rank[0]; k < rank[1]; k++)
            worker->visitors[end[cells[i * count + k]]++] = (uint32_t)i;
}

/* Lets the listed rows look into their cells. */
static void visit(struct look *look, const struct ny_strip *strip, struct ny_sieve_worker *worker)
{
    const struct ny_sieve_cells *cells = &look->sieve->cells;
    struct ny_columns_watch watch = {
        .bound = look->bound, .take = meet, .arg = look, .room = worker->tile};

    for (size_t c = 0, first = 0; c < cells->count; first = worker->visits[c++]) {
        watch.first = cells->begin[c];
        watch.end = cells->begin[c + 1];
        watch.row = worker->visitors + first;
        watch.rows = worker->visits[c] - first;
        if (watch.rows && watch.end > watch.first)
            ny_columns_below(look->sieve->codes, strip, &watch);
    }
}

/* The nearest cells come first, so that the lists are good soon. */
static int look_into_cells(struct look *look, struct ny_sieve_worker *worker, size_t count)
{
    struct ny_context *ctx = look->sieve->spec->ctx;
    const struct ny_sieve_rows *rows = look->rows;
    uint32_t *cells = ny_calloc(ctx, NY_MEM_TILES, rows->count, count * sizeof(*cells));
    struct ny_strip strip;
    int err = NY_EBUDGET;

    if (cells)
        err = ny_sieve_nearest_cells(look->sieve, worker, rows->code, rows->count, count, cells);
    if (!err) err = strip_of(worker, rows->code, rows->count, &strip);
    for (size_t rank[2] = {0, 1}; rank[0] < count && !err;) {
        list_visitors(look, cells, count, rank, worker);
        visit(look, &strip, worker);
        rank[0] = rank[1];
        rank[1] = 4 * rank[1] < count ? 4 * rank[1] : count;
    }
    ny_free(ctx, cells);
    return err;
}

int ny_sieve_look(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                  const struct ny_sieve_rows *rows, const struct ny_sieve_reach *reach)
{
    struct look look = {.sieve = sieve, .worker = worker, .rows = rows};
    int err = ny_neighbors_new(&look.lists, sieve->spec->ctx, 0, rows->count, reach->measured);

    for (size_t i = 0; i < rows->count; i++)
        look.bound[i] = INFINITY;
    if (!err && reach->cells >= sieve->cells.count)
        err = scan(sieve, worker, rows,
                   (struct ny_columns_watch){.bound = look.bound, .take = meet, .arg = &look});
    else if (!err)
        err = look_into_cells(&look, worker, reach->cells);
    for (size_t i = 0; i < rows->count && !err; i++)
        put_hits(sieve, &look.lists, i, &rows->hits);
    ny_neighbors_release(&look.lists);
    return err;
}

/* ---- those within a bound ------------------------------------------------------------------- */

struct within {
    const struct ny_sieve *sieve;
    struct ny_sieve_worker *worker;
    const struct ny_sieve_rows *rows;
    struct ny_sieve_hit last[NY_SIEVE_STRIP]; /* the farthest of the nearest so far */
    float below[NY_SIEVE_STRIP];
};

static void keep(void *arg, size_t row, size_t place, float square)
{
    struct within *within = arg;
    const struct ny_sieve *sieve = within->sieve;
    const struct ny_sieve_rows *rows = within->rows;
    const int16_t *fine = rows->fine + row * sieve->fine;
    struct ny_sieve_hit last = within->last[row];
    uint32_t used = rows->hits.used[row], point = sieve->cells.row[place];

    if (square < last.square || (square == last.square && place <= sieve->cells.place[last.row]))
        return;
    within->worker->looked++;
    if ((double)ny_sieve_fine_square(sieve, fine, place) > rows->fine_bound[row]) return;
    if (used < rows->hits.room)
        rows->hits.hit[row * rows->hits.room + used] = (struct ny_sieve_hit){square, point};
    else
        within->below[row] = -1; /* it has too many */
    rows->hits.used[row]++;
}

int ny_sieve_within(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_sieve_rows *rows)
{
    struct within within = {.sieve = sieve, .worker = worker, .rows = rows};

    for (size_t i = 0; i < rows->count; i++) {
        within.last[i] = rows->hits.hit[i * rows->hits.room + rows->hits.used[i] - 1];
        within.below[i] = above(rows->bound[i]);
    }
    return scan(sieve, worker, rows,
                (struct ny_columns_watch){.bound = within.below, .take = keep, .arg = &within});
}
