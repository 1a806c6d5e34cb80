/*
 * The sources are halved again and again, by which end of where they are is nearer, so that halves
 * are about as long as they are wide. How far two of them are from one another is told by pivots,
 * sources that are far from one another: at least |d(p, x) − d(p, y)|, for a pivot p.
 */
#include "graph/batches.h"

#include <math.h>
#include <stdlib.h>

#include "graph/buckets.h"

/* The most pivots; with fewer batches, there is one for each. */
enum { PIVOTS = 8 };

struct place {
    float far[PIVOTS]; /* from the pivots; 0 where there are fewer */
    float key;
    uint32_t node, source;
};

struct ny_batching {
    struct place *place; /* of each source */
    float *near;         /* of each node, from a pivot */
    struct ny_buckets *buckets;
};

/* ---- pivots --------------------------------------------------------------------------------- */

/* The source that is farthest from all pivots before k. */
static size_t next_pivot(const struct place *place, size_t count, size_t k)
{
    float most = -1;
    size_t pivot = 0;

    for (size_t i = 0; i < count; i++) {
        float least = INFINITY;

        for (size_t p = 0; p < k; p++)
            least = fminf(least, place[i].far[p]);
        if (least <= most) continue;
        most = least;
        pivot = i;
    }
    return pivot;
}

static int measure(const struct ny_batching *b, const struct ny_edges *graph, size_t count)
{
    const struct ny_reach reach = {.distance = b->near, .stride = 1};
    size_t batches = (count + NY_LANES - 1) / NY_LANES;
    int err = NY_OK;

    for (size_t k = 0; k < PIVOTS && k < batches && err == NY_OK; k++) {
        size_t pivot = next_pivot(b->place, count, k);

        for (uint32_t v = 0; v < graph->n; v++)
            b->near[v] = INFINITY;
        err = ny_buckets_run(b->buckets, &reach, b->place[pivot].node);
        for (size_t i = 0; i < count; i++)
            b->place[i].far[k] = b->near[b->place[i].node];
    }
    return err;
}

static float between(const struct place *x, const struct place *y)
{
    float most = 0;

    for (size_t p = 0; p < PIVOTS; p++)
        most = fmaxf(most, fabsf(x->far[p] - y->far[p]));
    return most;
}

/* ---- halves --------------------------------------------------------------------------------- */

static size_t farthest_from(const struct place *place, size_t count, size_t from)
{
    size_t farthest = from;
    float most = 0;

    for (size_t i = 0; i < count; i++) {
        float far = between(&place[i], &place[from]);

        if (far <= most) continue;
        most = far;
        farthest = i;
    }
    return farthest;
}

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->key < y->key || x->key > y->key) return x->key < y->key ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* The place of a batch from which the farthest one is nearest goes to the middle. */
static void centre(struct place *place, size_t count)
{
    float least = INFINITY;
    size_t midst = 0;
    struct place swap;

    for (size_t i = 0; i < count; i++) {
        float far = between(&place[i], &place[farthest_from(place, count, i)]);

        if (far >= least) continue;
        least = far;
        midst = i;
    }
    swap = place[midst];
    place[midst] = place[count / 2];
    place[count / 2] = swap;
}

static void halve(struct place *place, size_t count)
{
    size_t left = NY_LANES * ((count / NY_LANES + 1) / 2), one, other;
    struct place ends[2];

    if (count <= NY_LANES) {
        centre(place, count);
        return;
    }
    one = farthest_from(place, count, 0);
    other = farthest_from(place, count, one);
    ends[0] = place[one];
    ends[1] = place[other];
    for (size_t i = 0; i < count; i++)
        place[i].key = between(&place[i], &ends[0]) - between(&place[i], &ends[1]);
    qsort(place, count, sizeof(*place), by_key);
    halve(place, left);
    halve(place + left, count - left);
}

/* ---- the whole ------------------------------------------------------------------------------ */

struct ny_batching *ny_batches_lay(struct ny_layout *l, const struct ny_edges *graph, size_t count)
{
    struct ny_batching spare, *b = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);

    b->place = ny_lay(l, NY_MEM_TILES, count, sizeof(*b->place));
    b->near = ny_lay(l, NY_MEM_TILES, graph->n, sizeof(float));
    b->buckets = ny_buckets_lay(l, graph);
    return ny_laid(l, b);
}

int ny_batches_form(const struct ny_edges *graph, const uint32_t *sources, size_t count,
                    uint32_t *order)
{
    struct ny_layout l = {.ctx = graph->ctx};
    struct ny_batching *b = ny_batches_lay(&l, graph, count);
    int err = l.err;

    if (err) goto done;
    for (size_t i = 0; i < count; i++)
        b->place[i] = (struct place){.node = sources[i], .source = (uint32_t)i};
    qsort(b->place, count, sizeof(*b->place), by_key); /* by node */
    err = measure(b, graph, count);
    if (err) goto done;
    halve(b->place, count);
    for (size_t i = 0; i < count; i++)
        order[i] = b->place[i].source;
done:
    ny_layout_free(&l);
    return err;
}
