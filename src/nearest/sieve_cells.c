/*
 * Sorts the codes of a sieve into cells (nearest/sieve.h): centres are moved to the mean of those
 * codes of a sample that are nearest to them, for a few rounds (Lloyd 1982), and each code goes to
 * its nearest centre. Centres are bytes, too, so that the products are exact, and nothing depends
 * on threads.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "nearest/sieve_private.h"

/* There are √n cells, but of LEAST_POINTS at least on the average: with more of them a row compares
 * fewer codes, but has to find the nearest of more centres. */
enum { LEAST_POINTS = 64 };
/* The sample has so many codes for each cell. */
enum { SAMPLE = 32, ROUNDS = 4, SEED = 3 };

static size_t cells_for(size_t n)
{
    size_t root = (size_t)sqrt((double)n), most = n / LEAST_POINTS;
    size_t count = root < most ? root : most;

    return count ? count : 1;
}

double ny_sieve_codes_of(const struct ny_sieve_reach *reach, double n)
{
    double cells = (double)cells_for((size_t)n);

    return cells + (double)reach->cells * n / cells;
}

double ny_sieve_reach_ns(const struct ny_sieve_reach *reach, double n, double d)
{
    const double code = 0.45, look = 30, row = 150, value = 0.5;
    double codes = ny_sieve_codes_of(reach, n);

    return codes * (code + reach->looked * look) + (double)reach->measured * (row + d * value);
}

/* A sample of the codes, and what moves the centres. */
struct sample {
    size_t rows;
    uint8_t *code;   /* rows × columns */
    uint32_t *cell;  /* rows */
    uint8_t *centre; /* cells × columns */
    uint32_t *sum;   /* cells × columns */
    uint32_t *size;  /* cells */
};

static void lay_sample(struct ny_layout *l, struct sample *sample, size_t cells, size_t columns)
{
    sample->rows = cells * SAMPLE;
    sample->code = ny_lay(l, NY_MEM_TILES, sample->rows, columns);
    sample->cell = ny_lay(l, NY_MEM_TILES, sample->rows, sizeof(uint32_t));
    sample->centre = ny_lay(l, NY_MEM_TILES, cells, columns);
    sample->sum = ny_lay(l, NY_MEM_TILES, cells, columns * sizeof(uint32_t));
    sample->size = ny_lay(l, NY_MEM_TILES, cells, sizeof(uint32_t));
}

static void lay(struct ny_layout *l, struct ny_sieve_cells *cells, size_t n)
{
    cells->begin = ny_lay(l, NY_MEM_TILES, cells->count + 1, sizeof(*cells->begin));
    cells->row = ny_lay(l, NY_MEM_TILES, n, sizeof(*cells->row));
    cells->place = ny_lay(l, NY_MEM_TILES, n, sizeof(*cells->place));
}

void ny_sieve_cells_count(struct ny_layout *l, const struct ny_columns_spec *code, size_t n,
                          unsigned workers)
{
    struct ny_sieve_cells cells = {.count = cells_for(n)};

    lay(l, &cells, n);
    for (unsigned w = 0; w < workers; w++)
        ny_lay(l, NY_MEM_TILES, cells.count, sizeof(uint32_t)); /* visits */
    ny_columns_count(l, code, cells.count);
}

/* The cells of all points, with a sample that finds centres, or with the codes in their order. */
void ny_sieve_cells_making_count(struct ny_layout *l, size_t n)
{
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_TILES, n, sizeof(uint32_t));
    mark = ny_layout_mark(l);
    lay_sample(l, &(struct sample){0}, cells_for(n), NY_SIEVE_COLUMNS);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_TILES, n, NY_SIEVE_COLUMNS);
}

size_t ny_sieve_cell_of(const struct ny_sieve_cells *cells, size_t place)
{
    size_t low = 0, high = cells->count;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        if (cells->begin[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- nearest centres ------------------------------------------------------------------------ */

struct assigning {
    const struct ny_sieve *sieve;
    const uint8_t *code;
    size_t count;
    uint32_t *cell; /* count: which each is in */
    atomic_size_t next;
};

static int assign_some(void *arg, unsigned worker)
{
    struct assigning *assigning = arg;
    const struct ny_sieve *sieve = assigning->sieve;
    size_t first;
    int err = NY_OK;

    while (!err &&
           (first = atomic_fetch_add(&assigning->next, NY_SIEVE_STRIP)) < assigning->count) {
        size_t left = assigning->count - first;

        err = ny_sieve_nearest_cells(
            sieve, &sieve->worker[worker], assigning->code + first * sieve->columns,
            left < NY_SIEVE_STRIP ? left : NY_SIEVE_STRIP, 1, assigning->cell + first);
        if (!err) err = ny_check_interrupt(sieve->spec->ctx);
    }
    return err;
}

/* Finds the nearest centre of each of some codes. */
static int assign(const struct ny_sieve *sieve, const uint8_t *code, size_t count, uint32_t *cell)
{
    struct assigning assigning = {.sieve = sieve, .code = code, .count = count, .cell = cell};

    return ny_parallel(sieve->spec->ctx, sieve->knn->workers, assign_some, &assigning);
}

/* ---- centres -------------------------------------------------------------------------------- */

/* Moves each centre to the mean of its codes; one without codes stays. */
static void move_centres(const struct ny_sieve *sieve, const struct sample *sample)
{
    size_t q = sieve->columns, cells = sieve->cells.count;

    memset(sample->sum, 0, cells * q * sizeof(*sample->sum));
    memset(sample->size, 0, cells * sizeof(*sample->size));
    for (size_t i = 0; i < sample->rows; i++) {
        uint32_t *sum = sample->sum + sample->cell[i] * q;

        sample->size[sample->cell[i]]++;
        for (size_t k = 0; k < q; k++)
            sum[k] += sample->code[i * q + k];
    }
    for (size_t c = 0; c < cells; c++)
        for (size_t k = 0; k < q && sample->size[c]; k++)
            sample->centre[c * q + k] =
                (uint8_t)((sample->sum[c * q + k] + sample->size[c] / 2) / sample->size[c]);
}

/* Draws the sample, one code of each of as many equal stretches, and centres from it. */
static void draw(const struct ny_sieve *sieve, const uint8_t *code, const struct sample *sample)
{
    size_t q = sieve->columns;
    uint64_t n = sieve->knn->n;

    for (size_t i = 0; i < sample->rows; i++) {
        uint64_t begin = n * i / sample->rows, length = n * (i + 1) / sample->rows - begin;
        uint64_t row = begin + ny_hash64(SEED, NY_STREAM_SAMPLE, i) % length;

        memcpy(sample->code + i * q, code + row * q, q);
    }
    for (size_t c = 0; c < sieve->cells.count; c++) {
        size_t from = c * SAMPLE + ny_hash64(SEED, NY_STREAM_LANDMARKS, c) % SAMPLE;

        memcpy(sample->centre + c * q, sample->code + from * q, q);
    }
}

static int set_centres(struct ny_sieve *sieve, const uint8_t *centre)
{
    ny_columns_clear(sieve->cells.centres);
    return ny_columns_append(sieve->cells.centres, ny_raw_rows(centre), sieve->cells.count);
}

static int find_centres(struct ny_sieve *sieve, const uint8_t *code)
{
    struct ny_layout l = {.ctx = sieve->spec->ctx};
    struct sample sample;
    int err;

    lay_sample(&l, &sample, sieve->cells.count, sieve->columns);
    err = l.err;
    if (err) goto done;
    draw(sieve, code, &sample);
    err = set_centres(sieve, sample.centre);
    for (int round = 0; round < ROUNDS && !err; round++) {
        err = assign(sieve, sample.code, sample.rows, sample.cell);
        if (err) break;
        move_centres(sieve, &sample);
        err = set_centres(sieve, sample.centre);
    }
done:
    ny_layout_free(&l);
    return err;
}

/* ---- the order of the points ---------------------------------------------------------------- */

/* Orders the points by the cells that they are in, and in each by their numbers. */
static void order(struct ny_sieve_cells *cells, const uint32_t *cell, size_t n)
{
    memset(cells->begin, 0, (cells->count + 1) * sizeof(*cells->begin));
    for (size_t row = 0; row < n; row++)
        cells->begin[cell[row] + 1]++;
    for (size_t c = 0; c < cells->count; c++)
        cells->begin[c + 1] += cells->begin[c];
    for (size_t row = 0; row < n; row++) {
        cells->place[row] = cells->begin[cell[row]]++;
        cells->row[cells->place[row]] = (uint32_t)row;
    }
    memmove(cells->begin + 1, cells->begin, cells->count * sizeof(*cells->begin));
    cells->begin[0] = 0;
}

/* Makes the codes landmarks, in their order. */
static int append(struct ny_sieve *sieve, const uint8_t *code)
{
    struct ny_context *ctx = sieve->spec->ctx;
    size_t q = sieve->columns, n = (size_t)sieve->knn->n;
    uint8_t *sorted = ny_calloc(ctx, NY_MEM_TILES, n, q);
    int err = sorted ? NY_OK : NY_EBUDGET;

    for (size_t at = 0; at < n && !err; at++)
        memcpy(sorted + at * q, code + sieve->cells.row[at] * q, q);
    if (!err) err = ny_columns_append(sieve->codes, ny_raw_rows(sorted), n);
    ny_free(ctx, sorted);
    return err;
}

/* Brings the fine codes into that order, along each circle of places. */
static int sort_fine(struct ny_sieve *sieve)
{
    struct ny_context *ctx = sieve->spec->ctx;
    size_t n = (size_t)sieve->knn->n, fine = sieve->fine, bytes = fine * sizeof(int16_t);
    const uint32_t *row = sieve->cells.row;
    bool *sorted = ny_calloc(ctx, NY_MEM_TILES, n, sizeof(*sorted));
    int16_t first[NY_SIEVE_FINE];

    for (size_t begin = 0; begin < n && sorted; begin++) {
        size_t at = begin;

        if (sorted[begin]) continue;
        memcpy(first, sieve->fine_code + begin * fine, bytes);
        for (; row[at] != begin; at = row[at]) {
            memcpy(sieve->fine_code + at * fine, sieve->fine_code + row[at] * fine, bytes);
            sorted[at] = true;
        }
        memcpy(sieve->fine_code + at * fine, first, bytes);
        sorted[at] = true;
    }
    ny_free(ctx, sorted);
    return sorted ? NY_OK : NY_EBUDGET;
}

int ny_sieve_cells_new(struct ny_sieve *sieve, const uint8_t *code, bool nearly)
{
    struct ny_context *ctx = sieve->spec->ctx;
    struct ny_layout *l = &sieve->own;
    struct ny_sieve_cells *cells = &sieve->cells;
    size_t n = (size_t)sieve->knn->n;
    uint32_t *cell = ny_calloc(ctx, NY_MEM_TILES, n, sizeof(*cell));
    int err = cell ? NY_OK : NY_EBUDGET;

    cells->count = nearly ? cells_for(n) : 1;
    lay(l, cells, n);
    for (unsigned w = 0; w < sieve->knn->workers; w++)
        sieve->worker[w].visits = ny_lay(l, NY_MEM_TILES, cells->count, sizeof(uint32_t));
    if (!err) err = l->err;
    if (!err) err = ny_columns_new(&cells->centres, &sieve->code);
    if (!err && cells->count > 1) err = find_centres(sieve, code);
    if (!err && cells->count > 1) err = assign(sieve, code, n, cell);
    if (!err) order(cells, cell, n);
    ny_free(ctx, cell);
    if (!err) err = ny_columns_new(&sieve->codes, &sieve->code);
    if (!err) err = append(sieve, code);
    return err ? err : sort_fine(sieve);
}
