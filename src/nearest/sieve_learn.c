/*
 * Learns how far rows have to look for their neighbours by a sieve (nearest/sieve.h), from rows
 * whose neighbours are known. It first compares how far these are by code and by fine code: all but
 * a few are nearer than a share of the bound that is safe. The rows look into all cells for what is
 * nearer. Then each neighbour has two ranks: that of its cell among those nearest to the row, and
 * that of its fine code among those of all points. A row that looks as far as these finds it.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/thread.h"
#include "nearest/recall.h"
#include "nearest/sieve_private.h"

/* Rows that a thread ranks at a time; and the rank of what is not among the nearest. */
enum { STRIP = 32, FAR = UINT16_MAX };

/* The share of those neighbours that may be missed which may be farther by code than is looked at.
 */
static const double missed_by_code = 0.1;

struct ranks {
    uint16_t cell, fine;
};

struct learning {
    const struct ny_sieve *sieve;
    const struct ny_sieve_known *known;
    struct ranks *ranks;        /* drawn × t */
    struct ny_sieve_reach most; /* how far ranks go */
    atomic_size_t next;
};

/* The room of a thread. */
struct room {
    uint8_t code[STRIP * NY_SIEVE_COLUMNS];
    int16_t fine[STRIP * NY_SIEVE_FINE];
    uint32_t cells[STRIP * NY_SIEVE_REACH];
    struct ny_sieve_hit hit[STRIP * NY_SIEVE_WIDTH];
    uint32_t used[STRIP];
};

void ny_sieve_learn_count(struct ny_layout *l, const struct ny_knn *knn)
{
    ny_lay(l, NY_MEM_TILES, NY_SIEVE_PILOT * knn->neighbors, sizeof(struct ranks) + sizeof(double));
    for (unsigned w = 0; w < knn->workers; w++)
        ny_lay(l, NY_MEM_TILES, 1, sizeof(struct room));
}

/* ---- codes ---------------------------------------------------------------------------------- */

/* Returns how far a point is by code from a drawn row, in shares of the bound that is safe. */
static double share_of(const struct learning *learning, size_t row, uint32_t point)
{
    const struct ny_sieve *sieve = learning->sieve;
    const struct ny_sieve_codes *codes = learning->known->codes;
    size_t place = sieve->cells.place[point], q = sieve->columns;
    const uint8_t *a = codes->code + row * q;
    const uint8_t *b = (const uint8_t *)ny_columns_rows(sieve->codes).at + place * q;
    double fine = (double)ny_sieve_fine_square(sieve, codes->fine + row * sieve->fine, place);
    double square = 0;

    for (size_t k = 0; k < q; k++)
        square += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
    return square / ny_sieve_code_bound(sieve, fine);
}

/* Finds the share below which all neighbours are but those that may be missed. */
static int find_share(struct learning *learning)
{
    const struct ny_sieve_known *known = learning->known;
    size_t t = learning->sieve->knn->neighbors, count = 0;
    struct ny_context *ctx = learning->sieve->spec->ctx;
    double *share = ny_alloc(ctx, NY_MEM_TILES, known->drawn * t * sizeof(*share));

    if (!share) return NY_EBUDGET;
    for (size_t i = 0; i < known->drawn; i++)
        for (size_t k = 0; k < t; k++) {
            uint32_t point = known->row[known->index[i] * t + k];

            if (point != NY_NO_ROW) share[count++] = share_of(learning, known->index[i], point);
        }
    qsort(share, count, sizeof(*share), ny_compare_doubles);
    if (count) {
        double missed = missed_by_code * (1 - known->recall) * (double)count;

        /* rounding of the bound to f32 leaves out none that is as far, or is 0 far */
        learning->most.share = (1 + 1e-6) * share[count - 1 - (size_t)missed] + 1e-9;
    }
    ny_free(ctx, share);
    return NY_OK;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* Ranks a neighbour among the cells and the hits of a row. */
static struct ranks rank(const struct learning *learning, const uint32_t *cells,
                         const struct ny_sieve_hit *hit, size_t used, uint32_t point)
{
    const struct ny_sieve_cells *all = &learning->sieve->cells;
    size_t cell = ny_sieve_cell_of(all, all->place[point]), i = 0, k = 0;

    while (i < learning->most.cells && cells[i] != cell)
        i++;
    while (k < used && hit[k].row != point)
        k++;
    while (k < used && k > 0 && hit[k - 1].square >= hit[k].square)
        k--; /* those as near do as well */
    return (struct ranks){i < learning->most.cells ? (uint16_t)i : FAR,
                          k < used ? (uint16_t)k : FAR};
}

/* Ranks the neighbours of the i-th drawn row, the k-th of the strip. */
static void rank_row(const struct learning *learning, const struct room *room, size_t i, size_t k)
{
    const struct ny_sieve_known *known = learning->known;
    size_t t = learning->sieve->knn->neighbors;

    for (size_t j = 0; j < t; j++) {
        uint32_t point = known->row[known->index[i] * t + j];

        learning->ranks[i * t + j] = (struct ranks){FAR, FAR};
        if (point != NY_NO_ROW)
            learning->ranks[i * t + j] =
                rank(learning, room->cells + k * learning->most.cells,
                     room->hit + k * learning->most.measured, room->used[k], point);
    }
}

/* Ranks the neighbours of `count` drawn rows from the first-th on. */
static int rank_strip(const struct learning *learning, struct room *room,
                      struct ny_sieve_worker *worker, size_t first, size_t count)
{
    const struct ny_sieve *sieve = learning->sieve;
    const struct ny_sieve_codes *codes = learning->known->codes;
    size_t q = sieve->columns, fine = sieve->fine;
    const struct ny_sieve_reach all = {.cells = sieve->cells.count,
                                       .measured = learning->most.measured,
                                       .share = learning->most.share};
    struct ny_sieve_rows rows = {.count = count,
                                 .code = room->code,
                                 .fine = room->fine,
                                 .hits = {all.measured, room->hit, room->used}};
    int err;

    for (size_t k = 0; k < count; k++) {
        size_t row = learning->known->index[first + k];

        memcpy(room->code + k * q, codes->code + row * q, q);
        memcpy(room->fine + k * fine, codes->fine + row * fine, fine * sizeof(int16_t));
    }
    err = ny_sieve_look(sieve, worker, &rows, &all);
    if (!err)
        err = ny_sieve_nearest_cells(sieve, worker, room->code, count, learning->most.cells,
                                     room->cells);
    for (size_t k = 0; k < count && !err; k++)
        rank_row(learning, room, first + k, k);
    return err;
}

static int rank_some(void *arg, unsigned worker)
{
    struct learning *learning = arg;
    const struct ny_sieve *sieve = learning->sieve;
    struct room *room = ny_alloc(sieve->spec->ctx, NY_MEM_TILES, sizeof(*room));
    size_t drawn = learning->known->drawn, first;
    int err = room ? NY_OK : NY_EBUDGET;

    while (!err && (first = atomic_fetch_add(&learning->next, STRIP)) < drawn) {
        err = rank_strip(learning, room, &sieve->worker[worker], first,
                         drawn - first < STRIP ? drawn - first : STRIP);
        if (!err) err = ny_check_interrupt(sieve->spec->ctx);
    }
    ny_free(sieve->spec->ctx, room);
    return err;
}

/* ---- the choice ----------------------------------------------------------------------------- */

/* The neighbours that a reach finds: their sum over the rows, and that of the squares. */
struct found {
    double sum, squares;
};

static struct found found_by(const struct learning *learning, const struct ny_sieve_reach *reach)
{
    size_t t = learning->sieve->knn->neighbors;
    struct found found = {0};

    for (size_t i = 0; i < learning->known->drawn; i++) {
        size_t count = 0;

        for (size_t k = i * t; k < (i + 1) * t; k++)
            count +=
                learning->ranks[k].cell < reach->cells && learning->ranks[k].fine < reach->measured;
        found.sum += (double)count;
        found.squares += (double)count * (double)count;
    }
    return found;
}

static bool is_enough(const struct learning *learning, const struct ny_sieve_reach *reach)
{
    struct found found = found_by(learning, reach);

    return ny_recall_of(found.sum, found.squares, (double)learning->known->drawn,
                        (double)learning->sieve->knn->neighbors)
               .low >= learning->known->recall;
}

/* Finds the fewest points that are enough to measure in so many cells; 0: there are none. */
static size_t least_measured(const struct learning *learning, size_t cells)
{
    struct ny_sieve_reach reach = {.cells = cells, .measured = learning->most.measured};
    size_t low = learning->sieve->knn->neighbors, high = reach.measured;

    if (!is_enough(learning, &reach)) return 0;
    while (low < high) {
        reach.measured = (low + high) / 2;
        if (is_enough(learning, &reach))
            high = reach.measured;
        else
            low = reach.measured + 1;
    }
    return high;
}

/* Returns the reach of the least work that is enough; all 0: there is none. Cells are tried a
 * quarter more at a time, since the best of many pairs of numbers would be one that these rows
 * happen to favour. */
static struct ny_sieve_reach choose(const struct learning *learning, double looked)
{
    const struct ny_knn *knn = learning->sieve->knn;
    double n = (double)knn->n, d = (double)knn->spec->geometry->d, least = INFINITY;
    struct ny_sieve_reach best = {0};

    for (size_t cells = 1; cells <= learning->most.cells; cells += 1 + cells / 4) {
        struct ny_sieve_reach reach = {cells, least_measured(learning, cells), looked,
                                       learning->most.share};

        if (!reach.measured || ny_sieve_reach_ns(&reach, n, d) >= least) continue;
        least = ny_sieve_reach_ns(&reach, n, d);
        best = reach;
    }
    return best;
}

int ny_sieve_learn(const struct ny_sieve *sieve, const struct ny_sieve_known *known,
                   struct ny_sieve_reach *reach, struct ny_sieve_learned *learned)
{
    struct ny_context *ctx = sieve->spec->ctx;
    size_t n = (size_t)sieve->knn->n, t = sieve->knn->neighbors, cells = sieve->cells.count;
    struct learning learning = {.sieve = sieve,
                                .known = known,
                                .most = {.cells = cells < NY_SIEVE_REACH ? cells : NY_SIEVE_REACH,
                                         .measured = n < NY_SIEVE_WIDTH ? n : NY_SIEVE_WIDTH}};
    struct found found = {(double)(known->drawn * t), (double)known->drawn * (double)(t * t)};
    int err;

    *reach = (struct ny_sieve_reach){0};
    for (unsigned w = 0; w < sieve->knn->workers; w++)
        sieve->worker[w].looked = 0;
    learning.ranks = ny_calloc(ctx, NY_MEM_TILES, known->drawn * t, sizeof(*learning.ranks));
    err = learning.ranks ? NY_OK : NY_EBUDGET;
    if (!err) err = find_share(&learning);
    if (!err && t <= learning.most.measured)
        err = ny_parallel(ctx, sieve->knn->workers, rank_some, &learning);
    if (!err) {
        double codes = (double)known->drawn * (double)n;
        uint64_t looked = 0; /* a whole number, whichever rows each worker has taken */

        for (unsigned w = 0; w < sieve->knn->workers; w++)
            looked += sieve->worker[w].looked;
        if (t <= learning.most.measured) *reach = choose(&learning, (double)looked / codes);
        if (reach->measured) found = found_by(&learning, reach);
        learned->found += found.sum;
        learned->squares += found.squares;
        learned->rows += (double)known->drawn;
        if (learned->reach.measured < reach->measured) learned->reach = *reach;
    }
    ny_free(ctx, learning.ranks);
    return err;
}
