/* Searches for the neighbours of a lot of rows by the codes of a sieve (nearest/sieve.h), a batch
 * after another. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/thread.h"
#include "columns/kernels.h"
#include "nearest/sieve_private.h"
#include "stream/source.h"

/* Points beyond the t-th that are measured first where all neighbours are to be found. */
enum { SPARE = 54 };
/* Rows that a thread looks up at a time where they are searched exactly, for which there are many
 * hits, and rows of a batch, of each thread: threads wait for one another at the end of a batch. */
enum { EXACT_STRIP = 48, EXACT_ROWS = 2 * EXACT_STRIP, NEARLY_ROWS = 4 * NY_SIEVE_STRIP };
/* The most points that are measured for a row: one in so many, within these limits. With more, it
 * is less work to compare it with all. */
enum { MEASURED_SHARE = 8, MEASURED_LEAST = 1024, MEASURED_MOST = 16384 };

struct lot {
    struct ny_layout own;
    struct ny_sieve *sieve;
    const struct ny_sieve_lot *given;
    struct ny_measured *out;
    struct ny_columns *columns;  /* prepare new rows */
    double gamma;                /* values are gamma ‖x−y‖² of prepared rows */
    struct ny_sieve_codes codes; /* codes of all rows */
    uint32_t *left;              /* rows that are to be compared with all points */
    double *near;                /* values that the t-th of these do not exceed */
    size_t left_count;
    size_t measured; /* points that were measured of rows that were searched exactly */
    struct ny_meter meter;
};

/* ---- memory --------------------------------------------------------------------------------- */

static size_t first_width(const struct ny_knn *knn)
{
    size_t width = knn->neighbors + SPARE;

    return width < knn->n ? width : (size_t)knn->n;
}

static size_t hits_room(const struct ny_knn *knn)
{
    size_t most = (size_t)(knn->n / MEASURED_SHARE);

    if (most < MEASURED_LEAST) most = MEASURED_LEAST;
    if (most > MEASURED_MOST) most = MEASURED_MOST;
    return first_width(knn) + most;
}

size_t ny_sieve_held_least(const struct ny_knn *knn)
{
    size_t most = hits_room(knn) > NY_SIEVE_WIDTH ? hits_room(knn) : NY_SIEVE_WIDTH;

    if (most < knn->neighbors) most = knn->neighbors;
    return most < knn->n ? most : (size_t)knn->n;
}

void ny_sieve_worker_lay(struct ny_layout *l, struct ny_sieve_worker *worker,
                         const struct ny_columns_spec *spec, const struct ny_columns_spec *code,
                         size_t fine)
{
    size_t d = spec->geometry->d, strip = NY_SIEVE_STRIP;

    worker->prepared = ny_lay(l, NY_MEM_TILES, d, sizeof(double));
    worker->narrow = ny_lay(l, NY_MEM_TILES, strip, d * sizeof(float));
    worker->parts = ny_lay(l, NY_MEM_TILES, strip, fine * sizeof(float));
    worker->tile = ny_lay(l, NY_MEM_TILES, strip, NY_WATCH_COLS * sizeof(float));
    worker->raw = ny_lay(l, NY_MEM_TILES, NY_SIEVE_PIECE, ny_raw_bytes(spec));
    worker->values = ny_lay(l, NY_MEM_TILES, NY_SIEVE_PIECE, sizeof(double));
    worker->visitors = ny_lay(l, NY_MEM_TILES, strip, NY_SIEVE_REACH * sizeof(uint32_t));
    worker->in = ny_columns_workspace_lay(l, code, strip);
}

void ny_sieve_workers_count(struct ny_layout *l, const struct ny_knn *knn,
                            const struct ny_columns_spec *spec, const struct ny_columns_spec *code)
{
    const size_t strip = NY_SIEVE_STRIP;

    for (unsigned w = 0; w < knn->workers; w++) {
        struct ny_sieve_worker worker;

        ny_sieve_worker_lay(l, &worker, spec, code, NY_SIEVE_FINE);
        ny_one_row_count(l, spec);
        ny_columns_count(l, code, strip);
        ny_columns_count(l, code, strip);
        ny_neighbors_count(l, strip, NY_SIEVE_WIDTH);
        ny_neighbors_count(l, strip, NY_SIEVE_REACH);
        ny_lay(l, NY_MEM_TILES, strip, NY_SIEVE_REACH * sizeof(uint32_t));
    }
}

void ny_sieve_search_count(struct ny_layout *l, const struct ny_knn *knn,
                           const struct ny_columns_spec *spec, size_t rows, size_t coded)
{
    struct ny_sieve sieve = {.columns = NY_SIEVE_COLUMNS, .fine = NY_SIEVE_FINE};
    struct ny_rows_info points = {.dtype = spec->dtype, .n = knn->n, .d = spec->geometry->d};
    struct ny_knn compared = *knn;
    struct ny_sieve_codes codes = {0};
    struct ny_layout_mark mark;

    compared.spec = spec;
    ny_sieve_codes_lay(l, &codes, &sieve, coded);
    ny_lay(l, NY_MEM_TILES, rows, sizeof(double) + 4 * sizeof(uint32_t));
    ny_sieve_learn_count(l, knn);
    ny_columns_count(l, spec, 1);
    mark = ny_layout_mark(l);
    for (unsigned w = 0; w < knn->workers; w++)
        ny_sieve_batch_count(l, knn, NEARLY_ROWS, NY_SIEVE_WIDTH);
    ny_layout_back(l, &mark);
    for (unsigned w = 0; w < knn->workers; w++)
        ny_sieve_batch_count(l, knn, EXACT_ROWS, hits_room(knn));
    ny_lay(l, NY_MEM_TILES, NY_COMPARE_ROWS,
           ny_raw_bytes(spec) + sizeof(double) +
               knn->neighbors * (sizeof(uint32_t) + sizeof(double)));
    ny_knn_compare_count(l, &compared);
    ny_rows_source_count(l, NY_MEM_STORE, &points, knn->workers);
}

/* ---- codes ---------------------------------------------------------------------------------- */

struct coding {
    struct lot *lot;
    atomic_size_t next;
};

static int code_rows(void *arg, unsigned worker)
{
    struct coding *coding = arg;
    struct lot *lot = coding->lot;
    const struct ny_sieve *sieve = lot->sieve;
    size_t row_bytes = ny_raw_bytes(sieve->spec), first;

    while ((first = atomic_fetch_add(&coding->next, 1) * NY_SIEVE_STRIP) < lot->given->count) {
        struct ny_sieve_codes out = ny_sieve_codes_from(sieve, &lot->codes, first, NY_SIEVE_STRIP);

        ny_sieve_strip(sieve, &sieve->worker[worker], lot->columns,
                       ny_raw_rows((const char *)lot->given->raw + first * row_bytes), &out);
    }
    return ny_check_interrupt(sieve->spec->ctx);
}

static int make_codes(struct lot *lot)
{
    const struct ny_sieve *sieve = lot->sieve;
    struct coding coding = {.lot = lot};

    ny_sieve_codes_lay(&lot->own, &lot->codes, sieve, lot->given->count);
    return lot->own.err ? lot->own.err
                        : ny_parallel(sieve->spec->ctx, sieve->knn->workers, code_rows, &coding);
}

static void put(const struct lot *lot, const struct ny_sieve_batch *batch, size_t i)
{
    const struct ny_near *near = batch->near + i * lot->sieve->knn->neighbors;
    size_t t = lot->sieve->knn->neighbors, at = batch->index[i] * t;

    for (size_t k = 0; k < t; k++) {
        lot->out->row[at + k] = near[k].row;
        lot->out->distance[at + k] = ny_near_distance(lot->sieve->spec, near[k].value);
    }
}

/* ---- exactly -------------------------------------------------------------------------------- */

/* Compares rows of the lot with all points. */
static int compare_with_all(const struct lot *lot, const uint32_t *index, const double *near,
                            size_t count)
{
    const struct ny_columns_spec *spec = lot->sieve->spec;
    size_t t = lot->sieve->knn->neighbors, row_bytes = ny_raw_bytes(spec);
    struct ny_layout l = {.ctx = spec->ctx};
    char *raw = ny_lay(&l, NY_MEM_TILES, count, row_bytes);
    struct ny_measured found = {.row = ny_lay(&l, NY_MEM_TILES, count, t * sizeof(uint32_t)),
                                .distance = ny_lay(&l, NY_MEM_TILES, count, t * sizeof(double))};
    struct ny_knn_query query = {.raw = raw, .count = count, .near = near};
    struct ny_knn knn = *lot->sieve->knn;
    struct ny_source *points = NULL;
    int err = l.err;

    knn.spec = spec;
    for (size_t i = 0; i < count && !err; i++)
        memcpy(raw + i * row_bytes, (const char *)lot->given->raw + index[i] * row_bytes,
               row_bytes);
    if (!err) err = ny_rows_source(knn.X, knn.n, spec->slots, knn.workers, &points);
    if (!err) err = ny_source_widen(&points, points, spec->dtype, knn.workers);
    if (!err) err = ny_knn_nearest(&knn, &query, points, &found);
    for (size_t i = 0; i < count && !err; i++) {
        memcpy(lot->out->row + index[i] * t, found.row + i * t, t * sizeof(uint32_t));
        memcpy(lot->out->distance + index[i] * t, found.distance + i * t, t * sizeof(double));
    }
    ny_source_free(points);
    ny_layout_free(&l);
    return err;
}

/* Compares all rows that are left, a pass of the points for every NY_COMPARE_ROWS of them. */
static int compare_left(struct lot *lot)
{
    int err = NY_OK;

    for (size_t first = 0; first < lot->left_count && !err; first += NY_COMPARE_ROWS) {
        size_t left = lot->left_count - first;

        err = compare_with_all(lot, lot->left + first, lot->near + first,
                               left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS);
    }
    lot->left_count = 0;
    return err;
}

/* Puts the lists of the batch; rows with too many hits are left. */
static void put_exact(struct lot *lot, const struct ny_sieve_batch *batch)
{
    size_t t = lot->sieve->knn->neighbors;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->hits.used[i] <= batch->hits.room) {
            put(lot, batch, i);
            lot->measured += batch->hits.used[i];
            continue;
        }
        lot->near[lot->left_count] = batch->near[i * t + t - 1].value;
        lot->left[lot->left_count++] = batch->index[i];
    }
}

/* Makes room for batches of rows of the lot. */
static int new_batch(struct ny_sieve_batch *batch, const struct lot *lot, size_t rows, size_t room)
{
    int err = ny_sieve_batch_new(batch, lot->sieve, rows, room);

    batch->raw = lot->given->raw;
    batch->codes = lot->given->points ? NULL : &lot->codes;
    batch->before = (size_t)lot->given->before;
    batch->gamma = lot->gamma;
    return err;
}

/* Searches rows of the lot exactly; some may be left. */
static int search_exactly(struct lot *lot, const uint32_t *index, size_t count)
{
    const struct ny_knn *knn = lot->sieve->knn;
    size_t rows = (size_t)knn->workers * EXACT_ROWS;
    struct ny_sieve_batch batch;
    int err = new_batch(&batch, lot, rows, hits_room(knn));

    batch.strip = EXACT_STRIP;
    batch.width = first_width(knn);
    for (size_t first = 0; first < count && !err; first += rows) {
        ny_sieve_batch_begin(&batch, index + first, count - first < rows ? count - first : rows);
        err = ny_sieve_batch_look_up(&batch, false);
        if (!err) err = ny_sieve_batch_measure(&batch);
        ny_sieve_batch_bound(&batch);
        if (!err) err = ny_sieve_batch_look_up(&batch, true);
        if (!err) err = ny_sieve_batch_measure(&batch);
        if (!err) put_exact(lot, &batch);
        ny_meter_add(&lot->meter, batch.count, 0, 0);
    }
    ny_layout_free(&batch.own);
    return err;
}

/* ---- nearly --------------------------------------------------------------------------------- */

/* Finds the nearest cell of each row of the lot. */
struct sorting {
    const struct lot *lot;
    uint32_t *cell;
    atomic_size_t next;
};

static int find_some(void *arg, unsigned worker)
{
    struct sorting *sorting = arg;
    const struct ny_sieve *sieve = sorting->lot->sieve;
    const struct ny_sieve_codes *codes = &sorting->lot->codes;
    size_t first;
    int err = NY_OK;

    while (!err && (first = atomic_fetch_add(&sorting->next, NY_SIEVE_STRIP)) < codes->count) {
        struct ny_sieve_codes strip = ny_sieve_codes_from(sieve, codes, first, NY_SIEVE_STRIP);

        err = ny_sieve_nearest_cells(sieve, &sieve->worker[worker], strip.code, strip.count, 1,
                                     sorting->cell + first);
    }
    return err ? err : ny_check_interrupt(sieve->spec->ctx);
}

static int find_cells(const struct lot *lot, uint32_t *cell)
{
    const struct ny_sieve *sieve = lot->sieve;
    const struct ny_sieve_lot *given = lot->given;
    struct sorting sorting = {.lot = lot, .cell = cell};

    if (!given->points)
        return ny_parallel(sieve->spec->ctx, sieve->knn->workers, find_some, &sorting);
    for (size_t i = 0; i < given->count; i++)
        cell[i] = (uint32_t)ny_sieve_cell_of(&sieve->cells, sieve->cells.place[given->before + i]);
    return NY_OK;
}

/* Sorts rows of the lot by their cells, so that those that look into the same come together. */
static int sort_by_cells(const struct lot *lot, const uint32_t *index, size_t count,
                         uint32_t *sorted)
{
    struct ny_layout l = {.ctx = lot->sieve->spec->ctx};
    size_t cells = lot->sieve->cells.count;
    uint32_t *cell = ny_lay(&l, NY_MEM_TILES, lot->given->count, sizeof(*cell));
    uint32_t *at = ny_lay(&l, NY_MEM_TILES, cells + 1, sizeof(*at));
    int err = l.err ? l.err : find_cells(lot, cell);

    for (size_t i = 0; i < count && !err; i++)
        at[cell[index[i]] + 1]++;
    for (size_t c = 0; c < cells && !err; c++)
        at[c + 1] += at[c];
    for (size_t i = 0; i < count && !err; i++)
        sorted[at[cell[index[i]]]++] = index[i];
    ny_layout_free(&l);
    return err;
}

/* Puts the lists of the batch. Rows whose cells have fewer points than a list go to `left`, behind
 * the `count` that are there already; returns how many are there then. */
static size_t put_nearly(const struct lot *lot, const struct ny_sieve_batch *batch, uint32_t *left,
                         size_t count)
{
    size_t t = lot->sieve->knn->neighbors;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->near[i * t + t - 1].row == NY_NO_ROW)
            left[count++] = batch->index[i];
        else
            put(lot, batch, i);
    }
    return count;
}

/* Searches rows of the lot as far as they are to look, and exactly where that finds too few. */
static int search_nearly(struct lot *lot, const uint32_t *index, size_t count,
                         const struct ny_sieve_reach *reach)
{
    struct ny_context *ctx = lot->sieve->spec->ctx;
    size_t rows = (size_t)lot->sieve->knn->workers * NEARLY_ROWS;
    uint32_t *sorted = ny_calloc(ctx, NY_MEM_TILES, count, sizeof(*sorted));
    size_t left = 0; /* rows in the first places of `sorted`, which are free by then */
    struct ny_sieve_batch batch;
    int err = new_batch(&batch, lot, rows, reach->measured);

    batch.strip = NY_SIEVE_STRIP;
    batch.reach = reach;
    if (!err) err = sorted ? sort_by_cells(lot, index, count, sorted) : NY_EBUDGET;
    for (size_t first = 0; first < count && !err; first += rows) {
        ny_sieve_batch_begin(&batch, sorted + first, count - first < rows ? count - first : rows);
        err = ny_sieve_batch_look_up(&batch, false);
        if (!err) err = ny_sieve_batch_measure(&batch);
        if (!err) left = put_nearly(lot, &batch, sorted, left);
        ny_meter_add(&lot->meter, batch.count, 0, 0);
    }
    ny_layout_free(&batch.own);
    if (!err && left) err = search_exactly(lot, sorted, left);
    ny_free(ctx, sorted);
    return err;
}

/* ---- the lot -------------------------------------------------------------------------------- */

/* Puts the places of the drawn rows, one of each of as many equal stretches, before the others. */
static size_t draw(const struct lot *lot, uint32_t *index)
{
    enum { SEED = 1 };
    size_t count = lot->given->count, drawn = count, others;

    if (lot->given->recall < 1 && count > NY_SIEVE_ROWS) drawn = NY_SIEVE_ROWS;
    others = drawn;
    for (size_t i = 0; i < drawn; i++) {
        size_t begin = count * i / drawn, end = count * (i + 1) / drawn;

        index[i] = (uint32_t)(begin + ny_hash64(SEED, NY_STREAM_RECALL, i) % (end - begin));
        for (size_t row = begin; row < end; row++)
            if (row != index[i]) index[others++] = (uint32_t)row;
    }
    return drawn;
}

/* Adds the work of the rows that were searched exactly, before those that are left are compared. */
static void add_work(const struct lot *lot, struct ny_sieve_work *work)
{
    work->measured += (double)lot->measured;
    work->left += (double)lot->left_count;
    for (unsigned w = 0; w < lot->sieve->knn->workers; w++)
        work->looked += (double)lot->sieve->worker[w].looked;
}

/* Searches rows of the lot as far as others have told. */
static int search_as_told(struct lot *lot, const uint32_t *index, size_t count,
                          const struct ny_sieve_reach *reach)
{
    int err = reach->measured ? search_nearly(lot, index, count, reach)
                              : search_exactly(lot, index, count);

    return err ? err : compare_left(lot);
}

/* Searches the drawn rows exactly, and the others in the way that these tell. */
static int search_all(struct lot *lot, uint32_t *index, struct ny_sieve_learned *learned)
{
    size_t drawn = draw(lot, index), others = lot->given->count - drawn;
    struct ny_sieve_known known = {.drawn = drawn,
                                   .index = index,
                                   .codes = &lot->codes,
                                   .row = lot->out->row,
                                   .recall = lot->given->recall};
    struct ny_sieve_reach reach;
    int err;

    if (lot->given->reach) return search_as_told(lot, index, lot->given->count, lot->given->reach);
    err = search_exactly(lot, index, drawn);
    add_work(lot, &learned->work);
    if (!err) err = compare_left(lot);
    if (err || known.recall >= 1 || !(others || lot->given->pilot)) return err;
    err = ny_sieve_learn(lot->sieve, &known, &reach, learned);
    return err || !others ? err : search_as_told(lot, index + drawn, others, &reach);
}

int ny_sieve_search(struct ny_sieve *sieve, const struct ny_sieve_lot *given,
                    struct ny_measured *out, struct ny_sieve_learned *learned)
{
    struct ny_context *ctx = sieve->spec->ctx;
    size_t count = given->count;
    struct lot lot = {.own.ctx = ctx, .sieve = sieve, .given = given, .out = out};
    uint32_t *index = ny_lay(&lot.own, NY_MEM_TILES, count, sizeof(*index));
    int err = ny_columns_new(&lot.columns, sieve->spec);

    for (unsigned w = 0; w < sieve->knn->workers; w++)
        sieve->worker[w].looked = 0;
    lot.left = ny_lay(&lot.own, NY_MEM_TILES, count, sizeof(*lot.left));
    lot.near = ny_lay(&lot.own, NY_MEM_TILES, count, sizeof(double));
    if (!err) err = lot.own.err;
    ny_meter_start(&lot.meter, ctx, "neighbors", given->before,
                   given->total ? given->total : count);
    if (!err) lot.gamma = ny_columns_gamma(lot.columns);
    if (!err && !given->points) err = make_codes(&lot);
    if (!err) err = search_all(&lot, index, learned);
    ny_meter_finish(&lot.meter);
    ny_columns_free(lot.columns);
    ny_layout_free(&lot.own);
    return err;
}
