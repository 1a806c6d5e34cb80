/*
 * Runs a round of Borůvka's algorithm in passes over the points (graph/bridges.h);
 * neighbors/connect.c calls its functions in turn and saves `found` and `best` between them. Only
 * rows outside the largest component are compared, since the closest pairs of all other components
 * are enough: at most half of these are left after a round, beside the largest.
 */
#include "graph/bridges.h"

#include <math.h>

#include "base/memory.h"
#include "stream/rows.h"

/* Rows that are compared in one pass. */
struct batch {
    const struct ny_components *components;
    uint64_t row[NY_COMPARE_ROWS];
    uint32_t nearest[NY_COMPARE_ROWS];
    double distance[NY_COMPARE_ROWS];
    size_t count;
    void *raw; /* the rows */
};

void ny_bridges_begin(struct ny_bridging *bridging)
{
    for (uint64_t c = 0; c < bridging->components->count; c++)
        bridging->best[c] = (struct ny_bridge){INFINITY, NY_NO_ROW, NY_NO_ROW};
}

static struct batch *lay(struct ny_layout *l, const struct ny_knn *knn)
{
    struct batch spare, *batch = ny_lay_struct(l, NY_MEM_DICTIONARY, sizeof(spare), &spare);

    batch->raw = ny_lay(l, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, ny_raw_bytes(knn->spec));
    return ny_laid(l, batch);
}

void ny_bridges_count(struct ny_layout *l, const struct ny_knn *knn)
{
    lay(l, knn);
    ny_knn_compare_count(l, knn);
}

static bool of_another(const void *arg, size_t i, uint64_t row)
{
    const struct batch *batch = arg;

    return batch->components->of[row] != batch->components->of[batch->row[i]];
}

/* One order of all pairs, so that closest ones are the same from both ends. */
static bool closer(const struct ny_bridge *a, const struct ny_bridge *b)
{
    if (a->length < b->length || a->length > b->length) return a->length < b->length;
    return a->from < b->from || (a->from == b->from && a->to < b->to);
}

/* Lowers the closest pair of each component by the pairs that a batch has found. */
static void offer(struct ny_bridging *bridging, const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t a = (uint32_t)batch->row[i], b = batch->nearest[i];
        struct ny_bridge pair = {batch->distance[i], a < b ? a : b, a < b ? b : a};
        struct ny_bridge *best = &bridging->best[bridging->components->of[a]];

        if (closer(&pair, best)) *best = pair;
    }
}

static int compare(struct ny_bridging *bridging, struct batch *batch)
{
    const struct ny_knn *knn = &bridging->knn;
    const struct ny_knn_query query = {
        .raw = batch->raw, .count = batch->count, .takes = of_another, .arg = batch};
    struct ny_measured out = {.row = batch->nearest, .distance = batch->distance};
    struct ny_source *points = NULL;
    int err = knn->X->ops->gather(knn->X, knn->spec->slots, batch->row, batch->count, batch->raw);

    if (err == NY_OK) err = ny_rows_source(knn->X, knn->n, knn->spec->slots, knn->workers, &points);
    if (err == NY_OK) err = ny_knn_nearest(knn, &query, points, &out);
    ny_source_free(points);
    if (err == NY_OK) offer(bridging, batch);
    return err;
}

int ny_bridges_compare(struct ny_bridging *bridging, uint64_t *row)
{
    const struct ny_components *components = bridging->components;
    struct ny_layout l = {.ctx = bridging->knn.spec->ctx};
    struct batch *batch = lay(&l, &bridging->knn);
    int err = NY_OK;

    if (!batch) return ny_layout_end(&l);
    batch->components = components;
    for (; *row < components->n && batch->count < NY_COMPARE_ROWS; ++*row)
        if (components->of[*row] != 0) batch->row[batch->count++] = *row;
    if (batch->count) err = compare(bridging, batch);
    ny_layout_free(&l);
    return err;
}

int ny_bridges_take(struct ny_bridging *bridging)
{
    const struct ny_components *components = bridging->components;
    struct ny_context *ctx = bridging->knn.spec->ctx;
    uint32_t *parent =
        ny_calloc(ctx, NY_MEM_DICTIONARY, (size_t)components->count, sizeof(uint32_t));

    if (!parent) return NY_EBUDGET;
    for (uint32_t c = 0; c < components->count; c++)
        parent[c] = c;
    for (uint64_t c = 1; c < components->count; c++) {
        const struct ny_bridge *best = &bridging->best[c];

        if (best->from == NY_NO_ROW || best->to == NY_NO_ROW) continue; /* a state nobody saved */
        if (ny_components_join(parent, components->of[best->from], components->of[best->to]))
            bridging->found[bridging->count++] = *best;
    }
    ny_free(ctx, parent);
    return NY_OK;
}
