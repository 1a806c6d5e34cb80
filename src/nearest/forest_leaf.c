/*
 * Cuts a bucket into leaves and compares all pairs of each leaf, in the memory of one thread
 * (nearest/forest_private.h). A node is cut at its median along the plane on which its rows spread
 * most, and the 5 % of rows on either side of the median go both ways.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nearest/forest_private.h"

/* Rows of a leaf that meet all before them at a time: the rest of the square is their transpose. */
enum { BLOCK_ROWS = 64, SPARE_ROWS = 16 };

/* τ: the share of a node's rows, on either side of the median, that go to both children. */
static const double overlap = 0.05;

struct ny_lower {
    struct ny_forest *forest;
    uint64_t tree, bucket;
    const uint32_t *rows;            /* rows of the bucket */
    struct ny_columns *pivots, *own; /* own: rows of a leaf */
    struct ny_columns_workspace *workspace;
    float *V; /* rows of the bucket × NY_PIVOTS */
    struct ny_item *items;
    uint32_t *at;    /* places in the bucket, and a stack of those that wait */
    char *raw;       /* rows of a leaf */
    float *values;   /* leaf × leaf */
    uint32_t *row;   /* leaf */
    uint16_t *found; /* leaf + 1 */
};

/* ---- memory --------------------------------------------------------------------------------- */

/* All waiting right children of a path: half of a node and its overlap, of that again, … */
static size_t places_max(size_t rows)
{
    return rows + (size_t)((double)rows * (0.5 + overlap) / (0.5 - overlap)) + 128;
}

size_t ny_lower_bytes(const struct ny_knn *knn, size_t leaf)
{
    size_t rows = ny_bucket_rows_max(leaf);
    size_t bucket = (rows + NY_STRIP_ROWS) * NY_PIVOTS * sizeof(float) +
                    2 * rows * sizeof(struct ny_item) + /* and what sorting takes */
                    places_max(rows) * sizeof(uint32_t);
    size_t own = leaf * (ny_raw_bytes(knn->spec) + sizeof(uint32_t) + sizeof(uint16_t)) +
                 (leaf + SPARE_ROWS) * leaf * sizeof(float);

    return bucket + own + ny_columns_bytes(knn->spec, NY_PIVOTS) +
           NY_PIVOTS * ny_raw_bytes(knn->spec) + ny_columns_bytes(knn->spec, leaf) +
           ny_columns_workspace_bytes(knn->spec, NY_STRIP_ROWS) + sizeof(struct ny_lower) + 1024;
}

void ny_lower_free(struct ny_lower *lower)
{
    struct ny_context *ctx;

    if (!lower) return;
    ctx = lower->forest->knn->spec->ctx;
    ny_columns_free(lower->pivots);
    ny_columns_free(lower->own);
    ny_columns_workspace_free(lower->workspace);
    ny_free(ctx, lower->V);
    ny_free(ctx, lower->items);
    ny_free(ctx, lower->at);
    ny_free(ctx, lower->raw);
    ny_free(ctx, lower->values);
    ny_free(ctx, lower->row);
    ny_free(ctx, lower->found);
    ny_free(ctx, lower);
}

static int allocate(struct ny_lower *lower)
{
    const struct ny_columns_spec *spec = lower->forest->knn->spec;
    struct ny_context *ctx = spec->ctx;
    size_t leaf = lower->forest->leaf, rows = ny_bucket_rows_max(leaf);
    int err;

    lower->V = ny_calloc(ctx, NY_MEM_TILES, (rows + NY_STRIP_ROWS) * NY_PIVOTS, sizeof(float));
    lower->items = ny_calloc(ctx, NY_MEM_TILES, rows, sizeof(*lower->items));
    lower->at = ny_calloc(ctx, NY_MEM_TILES, places_max(rows), sizeof(uint32_t));
    lower->raw = ny_calloc(ctx, NY_MEM_TILES, leaf, ny_raw_bytes(spec));
    lower->values = ny_calloc(ctx, NY_MEM_TILES, (leaf + SPARE_ROWS) * leaf, sizeof(float));
    lower->row = ny_calloc(ctx, NY_MEM_TILES, leaf, sizeof(uint32_t));
    lower->found = ny_calloc(ctx, NY_MEM_TILES, leaf + 1, sizeof(uint16_t));
    if (!lower->V || !lower->items || !lower->at || !lower->raw || !lower->values || !lower->row ||
        !lower->found)
        return NY_EBUDGET;
    err = ny_columns_new(&lower->own, spec);
    return err ? err : ny_columns_workspace_new(&lower->workspace, spec, NY_STRIP_ROWS);
}

int ny_lower_new(struct ny_lower **out, struct ny_forest *forest, uint64_t tree)
{
    struct ny_lower *lower = ny_calloc(forest->knn->spec->ctx, NY_MEM_TILES, 1, sizeof(*lower));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!lower) return err;
    lower->forest = forest;
    lower->tree = tree;
    err = allocate(lower);
    if (err)
        ny_lower_free(lower);
    else
        *out = lower;
    return err;
}

/* ---- leaves --------------------------------------------------------------------------------- */

/* All values among the leaf's rows; a row is not its own neighbour. */
static void compare(struct ny_lower *lower, size_t count)
{
    size_t stride = lower->forest->leaf;
    float *values = lower->values;

    for (size_t first = 0; first < count; first += BLOCK_ROWS) {
        size_t rows = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
        struct ny_strip strip = ny_columns_own_strip(lower->own, lower->workspace, first, rows);
        struct ny_matrix32 K = {values + first * stride, rows, first + rows, stride, false};

        ny_columns_block(lower->own, &strip, 0, K);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            values[j * stride + i] = values[i * stride + j];
        values[i * stride + i] = INFINITY;
    }
}

static int meet(struct ny_lower *lower, const uint32_t *at, size_t count)
{
    struct ny_forest *forest = lower->forest;
    size_t row_bytes = forest->held.row_bytes;
    int err;

    for (size_t i = 0; i < count; i++) {
        lower->row[i] = lower->rows[at[i]];
        memcpy(lower->raw + i * row_bytes, ny_held_row(&forest->held, lower->row[i]), row_bytes);
    }
    ny_columns_clear(lower->own);
    err = ny_columns_append(lower->own, ny_raw_rows(lower->raw), count);
    if (err) return err;
    compare(lower, count);
    for (size_t i = 0; i < count; i++) {
        struct ny_mutex *lock = ny_forest_lock(forest, lower->row[i]);

        ny_mutex_lock(lock);
        ny_neighbors_meet(&forest->lists, lower->row[i], lower->values + i * forest->leaf,
                          lower->row, count, lower->found);
        ny_mutex_unlock(lock);
    }
    ny_forest_count(forest, (double)count * (double)(count - 1) / 2);
    return NY_OK;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* at: places of the node's rows, which are put in order; stack: room for those that wait. */
static int cut(struct ny_lower *lower, uint64_t node, uint32_t *at, size_t count, uint32_t *stack)
{
    struct ny_forest *forest = lower->forest;
    uint64_t number = (lower->tree << 44) + ((uint64_t)1 << 43) + (lower->bucket << 20) + node;
    size_t side = count - count / 2 + (size_t)(overlap * (double)count);
    struct ny_plane plane;
    int err;

    if (count <= forest->leaf) return meet(lower, at, count);
    plane = ny_plane_choose(forest, number, lower->V, at, count);
    for (size_t i = 0; i < count; i++)
        lower->items[i] =
            (struct ny_item){ny_plane_side(plane, lower->V + (size_t)at[i] * NY_PIVOTS),
                             ny_forest_tie(forest, lower->rows[at[i]]), at[i]};
    ny_items_sort(lower->items, count);
    for (size_t i = 0; i < side; i++) {
        at[i] = lower->items[i].at;
        stack[i] = lower->items[count - side + i].at;
    }
    err = cut(lower, 2 * node, at, side, stack + side);
    return err ? err : cut(lower, 2 * node + 1, stack, side, stack + side);
}

int ny_lower_bucket(struct ny_lower *lower, size_t bucket)
{
    struct ny_forest *forest = lower->forest;
    size_t count = (size_t)(forest->bucket[bucket + 1] - forest->bucket[bucket]);
    int err = NY_OK;

    lower->bucket = bucket;
    lower->rows = forest->row + forest->bucket[bucket];
    for (size_t i = 0; i < count; i++)
        lower->at[i] = (uint32_t)i;
    if (count > forest->leaf) {
        err = ny_pivots_new(&lower->pivots, forest, lower->rows, count,
                            (lower->tree << 44) + ((uint64_t)1 << 43) + bucket);
        if (err == NY_OK)
            err = ny_pivot_values(forest, lower->pivots, lower->workspace, lower->rows, count,
                                  lower->V);
    }
    return err ? err : cut(lower, 1, lower->at, count, lower->at + count);
}
