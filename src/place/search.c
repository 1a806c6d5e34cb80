/* Finds neighbours of new rows, in the way that suits the points (place/search.h). */
#include "place/search.h"

#include <string.h>

#include "base/memory.h"
#include "io/reader.h"

/* A tree of so many columns is the better way for any points. */
enum { FEW_COLUMNS = 6 };

/* Tells whether rows of the type of the points and new rows of theirs are prepared alike: the
 * centre of whole numbers is rounded. */
static bool prepared_alike(const struct ny_search *search)
{
    enum ny_dtype points = search->seeker->points.dtype;

    return points == search->seeker->knn.spec->dtype || points == NY_F32 || points == NY_F64;
}

static bool takes_tree(const struct ny_search *search)
{
    const struct ny_columns_spec *spec = search->seeker->knn.spec;

    return !spec->slots && spec->kernel->base == NY_BASE_SQUARE && prepared_alike(search) &&
           (search->by_tree || spec->geometry->d <= FEW_COLUMNS);
}

static size_t row_bytes(const struct ny_search *search)
{
    return ny_raw_bytes(search->seeker->knn.spec) +
           search->seeker->knn.neighbors * (sizeof(uint32_t) + sizeof(double));
}

size_t ny_search_bytes(const struct ny_search *search, unsigned workers)
{
    return ny_seeker_bytes(search->seeker, workers) + NY_COMPARE_ROWS * row_bytes(search);
}

/* Returns the bytes of a tree, with room for so many rows. */
static size_t tree_bytes(const struct ny_search *search, size_t rows)
{
    return ny_tree_bytes(&search->knn) + ny_tree_nearest_bytes(search->seeker->knn.spec, rows) +
           rows * row_bytes(search);
}

int ny_search_begin(struct ny_search *search, uint64_t rows, unsigned workers)
{
    struct ny_seeker *seeker = search->seeker;
    struct ny_context *ctx = ny_store_context(seeker->store);
    size_t most = rows < NY_SEARCH_ROWS ? (size_t)rows : NY_SEARCH_ROWS;
    size_t t = seeker->knn.neighbors;
    int err;

    search->points_spec = *seeker->knn.spec;
    search->points_spec.dtype = seeker->points.dtype;
    search->knn = seeker->knn;
    search->knn.spec = &search->points_spec;
    search->knn.workers = workers;
    search->room = NY_COMPARE_ROWS;
    err = ny_seeker_begin(seeker, workers);
    if (err) return err;
    if (takes_tree(search) && most > NY_COMPARE_ROWS &&
        tree_bytes(search, most) <= ny_memory_left(ctx)) {
        search->boxed = true;
        search->room = most;
    }
    search->found.row = ny_calloc(ctx, NY_MEM_TILES, search->room, t * sizeof(uint32_t));
    search->found.distance = ny_calloc(ctx, NY_MEM_TILES, search->room, t * sizeof(double));
    return search->found.row && search->found.distance ? NY_OK : NY_EBUDGET;
}

static int by_comparing(struct ny_search *search, const void *raw, uint64_t row, size_t count)
{
    const struct ny_measured *found = &search->seeker->found;
    size_t t = search->knn.neighbors;
    int err = NY_OK;

    for (size_t first = 0; first < count && err == NY_OK; first += NY_COMPARE_ROWS) {
        size_t left = count - first, rows = left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS;
        const char *from = (const char *)raw + first * ny_raw_bytes(search->seeker->knn.spec);

        err = ny_seeker_compare(search->seeker, from, row + first, rows);
        memcpy(search->found.row + first * t, found->row, rows * t * sizeof(*found->row));
        memcpy(search->found.distance + first * t, found->distance,
               rows * t * sizeof(*found->distance));
    }
    return err;
}

int ny_search_find(struct ny_search *search, const void *raw, uint64_t row, size_t count, bool last)
{
    int err = NY_OK;

    if (last && row == 0 && count <= NY_COMPARE_ROWS) search->boxed = false;
    if (!search->boxed) return by_comparing(search, raw, row, count);
    if (!search->tree.knn) err = ny_tree_new(&search->tree, &search->knn);
    if (!err)
        err = ny_tree_nearest(&search->tree, search->seeker->knn.spec, raw, count, &search->found);
    return err ? err : ny_seeker_check(search->seeker, &search->found, row, count);
}

void ny_search_end(struct ny_search *search)
{
    struct ny_context *ctx = ny_store_context(search->seeker->store);

    ny_tree_release(&search->tree);
    ny_free(ctx, search->found.row);
    ny_free(ctx, search->found.distance);
}
