/* Relaxing a patch's edges, for one source or for all of a batch at once; compiled once for each
 * CPU family.
 *
 * Nodes that wait are in buckets of rising keys, the least of which is emptied first. A node's key
 * is its distance from one source, as far as it is known: it falls as long as paths to the node are
 * found, and the node goes to another bucket then.
 */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "graph/relax.h"

typedef float floats_t __attribute__((vector_size(NY_VECTOR_BYTES)));

typedef float few_t __attribute__((vector_size(NY_FEW_LANES * sizeof(float))));
typedef int32_t few_bits_t __attribute__((vector_size(NY_FEW_LANES * sizeof(float))));

extern ny_relax_fn NY_VARIANT_NAME(ny_relax);

/* ---- one edge ------------------------------------------------------------------------------- */

static inline floats_t choose(ny_vector_bits where, floats_t a, floats_t b)
{
    return (floats_t)(((ny_vector_bits)a & where) | ((ny_vector_bits)b & ~where));
}

/* to ← min(to, from + length) in NY_FEW_LANES lanes, without a branch. Tells whether that changed
 * it. */
static inline __attribute__((always_inline)) bool relax_few(const float *from, float length,
                                                            float *to)
{
    few_t through, now;
    few_bits_t nearer;
    uint64_t word[sizeof(nearer) / sizeof(uint64_t)];

    memcpy(&through, from, sizeof(through));
    memcpy(&now, to, sizeof(now));
    through += length;
    nearer = through < now;
    now = (few_t)(((few_bits_t)through & nearer) | ((few_bits_t)now & ~nearer));
    memcpy(to, &now, sizeof(now));
    memcpy(word, &nearer, sizeof(word));
    return (word[0] | word[1]) != 0;
}

/* Does that in all lanes, which are a constant. */
static inline __attribute__((always_inline)) bool relax(const float *from, float length, float *to,
                                                        size_t lanes)
{
    const size_t each = NY_VECTOR_BYTES / sizeof(*from);
    ny_vector_bits changed = {0};
    bool any = false;

    if (lanes < each || lanes == NY_FEW_LANES) {
        for (size_t l = 0; l < lanes; l += NY_FEW_LANES)
            any |= relax_few(from + l, length, to + l);
        return any;
    }
    for (size_t l = 0; l < lanes; l += each) {
        floats_t through, now;
        ny_vector_bits nearer;

        memcpy(&through, from + l, sizeof(through));
        memcpy(&now, to + l, sizeof(now));
        through += length;
        nearer = through < now;
        now = choose(nearer, through, now);
        memcpy(to + l, &now, sizeof(now));
        changed |= nearer;
    }
    return ny_vector_any(changed);
}

/* Does it in one lane. */
static inline bool relax_one(float from, float length, float *to)
{
    float through = from + length;
    bool nearer = through < *to;

    *to = nearer ? through : *to;
    return nearer;
}

/* ---- buckets -------------------------------------------------------------------------------- */

/* The buckets of a patch, as long as it is relaxed. */
struct waiting {
    struct ny_patch_queue *queue;
    uint64_t filled; /* buckets, bit by bit */
    float from, scale;
};

static inline uint32_t bucket_of(const struct waiting *waiting, float key)
{
    float at = (key - waiting->from) * waiting->scale;

    return at > 0 ? (at < NY_PATCH_BUCKETS - 1 ? (uint32_t)at : NY_PATCH_BUCKETS - 1) : 0;
}

/* Puts node i of the patch in front of the list of a bucket. */
static inline void enter(struct waiting *waiting, uint32_t i, uint32_t bucket)
{
    struct ny_patch_queue *queue = waiting->queue;
    uint16_t next = queue->head[bucket];

    queue->bucket[i] = (uint8_t)bucket;
    queue->after[i] = next;
    queue->before[i] = NY_NO_NEXT;
    if (next != NY_NO_NEXT) queue->before[next] = (uint16_t)i;
    queue->head[bucket] = (uint16_t)i;
    waiting->filled |= (uint64_t)1 << bucket;
}

/* Takes node i out of the list of its bucket. */
static inline void leave(struct waiting *waiting, uint32_t i)
{
    struct ny_patch_queue *queue = waiting->queue;
    uint32_t bucket = queue->bucket[i];
    uint16_t before = queue->before[i], after = queue->after[i];

    if (before != NY_NO_NEXT)
        queue->after[before] = after;
    else
        queue->head[bucket] = after;
    if (after != NY_NO_NEXT) queue->before[after] = before;
    if (queue->head[bucket] == NY_NO_NEXT) waiting->filled &= ~((uint64_t)1 << bucket);
    queue->before[i] = NY_IN_NONE;
}

/* Node i has come nearer, so that this is its key. */
static inline void come_nearer(struct waiting *waiting, uint32_t i, float key)
{
    uint32_t bucket = bucket_of(waiting, key);

    if (waiting->queue->before[i] != NY_IN_NONE) {
        if (waiting->queue->bucket[i] == bucket) return;
        leave(waiting, i);
    }
    enter(waiting, i, bucket);
}

/* ---- the patch ------------------------------------------------------------------------------ */

/* Collects the nodes that wait in the stretch; patch->rest is the least key of the others. */
static inline void gather(struct ny_patch *patch, struct waiting *waiting)
{
    const uint8_t *waits = patch->waits + patch->first;
    const float *key = patch->distance + patch->first * patch->stride + patch->key;
    float rest = INFINITY;
    uint64_t eight;

    for (uint32_t i = 0; i < patch->count; i++) {
        if (i + sizeof(eight) <= patch->count) {
            memcpy(&eight, waits + i, sizeof(eight));
            if (!eight) {
                i += sizeof(eight) - 1;
                continue;
            }
        }
        if (!waits[i]) continue;
        if (key[i * patch->stride] <= patch->until)
            enter(waiting, i, bucket_of(waiting, key[i * patch->stride]));
        else
            rest = fminf(rest, key[i * patch->stride]);
    }
    patch->rest = rest;
}

/* Edges that are tried before what comes of it is looked at: so all that they reach is read at the
 * same time. */
enum { EDGES = 32 };

/* Tries edges of node v, at most EDGES, and returns those that led nearer, bit by bit. `lanes` is a
 * constant where this is compiled into its callers. */
static inline __attribute__((always_inline)) uint32_t
try_edges(const struct ny_patch *patch, const float *from, uint64_t e, uint64_t stop, size_t lanes)
{
    const size_t stride = lanes == 1 ? patch->stride : lanes;
    uint32_t found = 0;

    for (uint64_t k = e; k < stop; k++) {
        size_t w = patch->edges.target[k] * stride;
        float length = patch->edges.length[k];
        bool nearer;

        if (lanes == 1 && patch->within && !(patch->within[w] <= patch->radius)) continue;
        nearer = lanes == 1 ? relax_one(*from, length, patch->distance + w)
                            : relax(from, length, patch->distance + w, lanes);
        found |= (uint32_t)nearer << (k - e);
    }
    return found;
}

/* Has the ends of the edges from e on wait that are found to be nearer. */
static inline void take_found(struct ny_patch *patch, struct waiting *waiting, uint64_t e,
                              uint32_t found, size_t stride)
{
    for (; found; found &= found - 1) {
        uint32_t w = patch->edges.target[e + (uint32_t)__builtin_ctz(found)];
        float key = patch->distance[w * stride + patch->key];
        uint64_t head;

        if (w - patch->first >= patch->count) {
            patch->wake(patch->arg, w, key);
            continue;
        }
        patch->waits[w] = 1;
        if (key > patch->until) {
            patch->rest = fminf(patch->rest, key);
            continue;
        }
        head = patch->edges.head[w - patch->edges.first];
        __builtin_prefetch(patch->edges.target + head);
        __builtin_prefetch(patch->edges.length + head);
        come_nearer(waiting, w - patch->first, key);
    }
}

static inline __attribute__((always_inline)) void relax_patch(struct ny_patch *patch, size_t lanes)
{
    const struct ny_edge_page *edges = &patch->edges;
    const size_t stride = lanes == 1 ? patch->stride : lanes;
    const float scale = NY_PATCH_BUCKETS / (patch->until - patch->from);
    struct waiting waiting = {patch->queue, 0, patch->from, isfinite(scale) ? scale : 0};

    gather(patch, &waiting);
    for (; waiting.filled; patch->relaxed++) {
        uint32_t i = waiting.queue->head[__builtin_ctzll(waiting.filled)], v = patch->first + i;
        uint64_t e = edges->head[v - edges->first], end = edges->head[v - edges->first + 1];
        float from[NY_LANES];

        leave(&waiting, i);
        patch->waits[v] = 0;
        memcpy(from, patch->distance + v * stride, lanes * sizeof(*from));
        for (; e < end; e += EDGES) {
            uint64_t stop = end - e < EDGES ? end : e + EDGES;

            take_found(patch, &waiting, e, try_edges(patch, from, e, stop, lanes), stride);
        }
    }
}

void NY_VARIANT_NAME(ny_relax)(struct ny_patch *patch)
{
    if (patch->lanes == NY_LANES)
        relax_patch(patch, NY_LANES);
    else if (patch->lanes == NY_HALF_LANES)
        relax_patch(patch, NY_HALF_LANES);
    else if (patch->lanes == NY_FEW_LANES)
        relax_patch(patch, NY_FEW_LANES);
    else
        relax_patch(patch, 1);
}
