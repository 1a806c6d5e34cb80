/* Finds neighbours of new rows, in the way that suits the points (place/search.h). */
#include "place/search.h"

#include <string.h>

#include "base/budget.h"
#include "base/memory.h"

/* A tree of so many columns is the better way for any points. */
enum { FEW_COLUMNS = 6 };

/* Tells whether rows of the type of the points and new rows of theirs are prepared alike: the
 * centre of whole numbers is rounded. */
static bool prepared_alike(const struct ny_search *search)
{
    enum ny_dtype points = search->seeker->points.dtype;

    return points == search->seeker->knn.spec->dtype || points == NY_F32 || points == NY_F64;
}

/* Lays out room for so many rows, and their lists. */
static void lay(struct ny_layout *l, struct ny_search *search, size_t rows)
{
    const struct ny_knn *knn = &search->seeker->knn;

    search->raw = ny_lay(l, NY_MEM_TILES, rows, ny_raw_bytes(knn->spec));
    search->found.row = ny_lay(l, NY_MEM_TILES, rows, knn->neighbors * sizeof(uint32_t));
    search->found.distance = ny_lay(l, NY_MEM_TILES, rows, knn->neighbors * sizeof(double));
}

void ny_search_count(struct ny_layout *l, const struct ny_search *search, unsigned workers)
{
    struct ny_search other = *search;

    ny_seeker_count(l, *search->seeker, workers);
    lay(l, &other, NY_COMPARE_ROWS);
}

/* Returns the bytes of a way that holds the points, with room for so many rows. */
static size_t way_bytes(struct ny_search search, size_t rows, size_t held)
{
    const struct ny_columns_spec *spec = search.seeker->knn.spec;
    struct ny_layout counted = {0};

    lay(&counted, &search, rows);
    if (search.way == NY_SEARCH_TREE) {
        ny_tree_count(&counted, &search.knn);
        ny_tree_nearest_count(&counted, spec, rows);
    } else {
        ny_sieve_count(&counted, &search.knn, spec, held, rows, false);
    }
    return ny_layout_most(&counted);
}

static enum ny_search_way wished_way(const struct ny_search *search)
{
    const struct ny_columns_spec *spec = search->seeker->knn.spec;

    if (spec->slots || !prepared_alike(search)) return NY_SEARCH_COMPARE;
    if (spec->kernel->base == NY_BASE_SQUARE &&
        (search->by_tree || spec->geometry->d <= FEW_COLUMNS))
        return NY_SEARCH_TREE;
    return NY_SEARCH_SIEVE;
}

/* Holds as many points as there is room for, or takes the way that needs none. */
static int fit_in(struct ny_search *search, size_t rows)
{
    struct ny_context *ctx = search->seeker->X->ctx;
    size_t least = ny_sieve_held_least(&search->knn), n = (size_t)search->knn.n;
    size_t left = ny_memory_left(ctx), bytes = way_bytes(*search, rows, least), one;

    search->room = rows;
    search->held = n;
    if (way_bytes(*search, rows, n) <= left) return NY_OK;
    if (search->way == NY_SEARCH_SIEVE && bytes <= left) {
        one = ny_raw_bytes(&search->points_spec);
        search->held = least + (left - bytes) / one;
        while (search->held > least && way_bytes(*search, rows, search->held) > left)
            search->held = least + (search->held - least) / 2;
        return NY_OK;
    }
    if (search->way == NY_SEARCH_SIEVE &&
        (search->recall < 1 || search->seeker->knn.spec->kernel->base != NY_BASE_SQUARE))
        return ny_budget_refuse(ctx, "search", ny_memory_used(ctx) + bytes, " to hold all codes",
                                ", or fewer new rows at a time");
    search->way = NY_SEARCH_COMPARE;
    search->room = NY_COMPARE_ROWS;
    return NY_OK;
}

int ny_search_begin(struct ny_search *search, uint64_t rows, unsigned workers)
{
    struct ny_seeker *seeker = search->seeker;
    size_t most = rows < NY_SEARCH_ROWS ? (size_t)rows : NY_SEARCH_ROWS;
    int err;

    search->points_spec = *seeker->knn.spec;
    search->points_spec.dtype = seeker->points.dtype;
    search->knn = seeker->knn;
    search->knn.spec = &search->points_spec;
    search->knn.workers = workers;
    search->room = NY_COMPARE_ROWS;
    search->way = most > NY_COMPARE_ROWS ? wished_way(search) : NY_SEARCH_COMPARE;
    err = ny_seeker_begin(seeker, workers);
    if (!err && search->way != NY_SEARCH_COMPARE) err = fit_in(search, most);
    if (err) return err;
    search->own.ctx = seeker->X->ctx;
    lay(&search->own, search, search->room);
    return search->own.err;
}

static int by_comparing(struct ny_search *search, uint64_t row, size_t count)
{
    const struct ny_measured *found = &search->seeker->found;
    size_t t = search->knn.neighbors;
    int err = NY_OK;

    for (size_t first = 0; first < count && err == NY_OK; first += NY_COMPARE_ROWS) {
        size_t left = count - first, rows = left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS;
        const char *from = search->raw + first * ny_raw_bytes(search->seeker->knn.spec);

        err = ny_seeker_compare(search->seeker, from, row + first, rows);
        memcpy(search->found.row + first * t, found->row, rows * t * sizeof(*found->row));
        memcpy(search->found.distance + first * t, found->distance,
               rows * t * sizeof(*found->distance));
    }
    return err;
}

static int by_tree(struct ny_search *search, size_t count)
{
    int err = search->tree.knn ? NY_OK : ny_tree_new(&search->tree, &search->knn);

    return err ? err
               : ny_tree_nearest(&search->tree, search->seeker->knn.spec, search->raw, count,
                                 &search->found);
}

static int by_sieve(struct ny_search *search, size_t count)
{
    const struct ny_sieve_lot lot = {.raw = search->raw, .count = count, .recall = search->recall};
    int err = NY_OK;

    if (!search->sieve.spec)
        err = ny_sieve_new(&search->sieve, &search->knn, search->seeker->knn.spec, search->held,
                           search->recall < 1);
    return err ? err : ny_sieve_search(&search->sieve, &lot, &search->found, &search->learned);
}

int ny_search_find(struct ny_search *search, uint64_t row, size_t count, bool last)
{
    int err;

    if (last && row == 0 && count <= NY_COMPARE_ROWS) search->way = NY_SEARCH_COMPARE;
    if (search->way == NY_SEARCH_COMPARE) return by_comparing(search, row, count);
    err = search->way == NY_SEARCH_TREE ? by_tree(search, count) : by_sieve(search, count);
    return err ? err : ny_seeker_check(search->seeker, &search->found, row, count);
}

void ny_search_end(struct ny_search *search)
{
    ny_tree_release(&search->tree);
    ny_sieve_release(&search->sieve);
    ny_layout_free(&search->own);
}
