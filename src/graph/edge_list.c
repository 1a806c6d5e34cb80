/*
 * Settles the edges of a graph that comes from elsewhere (graph/edge_list.h), in place: neighbors/
 * given.c holds no second list, so that a budget of 16 bytes an entry is enough.
 *
 * Entries are sorted by (lesser node, greater node, direction, weight). A radix sort exchanges them
 * within their buckets, a byte of the two nodes at a time from the highest, and leaves small
 * buckets and those of one pair to a heap sort. Sums therefore do not depend on the order of the
 * file.
 */
#include "graph/edge_list.h"

#include <math.h>

#include "base/memory.h"

enum { RADIX = 256, FEW = 48, KEY_BITS = 64, BYTE_BITS = 8 };

int ny_edge_list_new(struct ny_edge_list *list, struct ny_context *ctx, size_t room)
{
    *list = (struct ny_edge_list){.ctx = ctx, .room = room};
    list->edge = ny_calloc(ctx, NY_MEM_DICTIONARY, room, sizeof(struct ny_bridge));
    return list->edge ? NY_OK : NY_EBUDGET;
}

void ny_edge_list_release(struct ny_edge_list *list)
{
    if (list->ctx) ny_free(list->ctx, list->edge);
    *list = (struct ny_edge_list){0};
}

void ny_edge_list_add(struct ny_edge_list *list, uint32_t from, uint32_t to, double weight)
{
    if (from == to)
        list->loops++;
    else
        list->edge[list->count++] = (struct ny_bridge){weight, from, to};
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Returns the pair as a number: the lesser node above the greater one. */
static inline uint64_t key_of(const struct ny_bridge *edge)
{
    uint32_t low = edge->from < edge->to ? edge->from : edge->to;

    return (uint64_t)low << 32 | (edge->from ^ edge->to ^ low);
}

static bool is_before(const struct ny_bridge *a, const struct ny_bridge *b)
{
    uint64_t x = key_of(a), y = key_of(b);

    if (x != y) return x < y;
    if (a->from != b->from) return a->from < b->from;
    return a->length < b->length;
}

/* Lets the entry at `at` sink to its place in a heap whose first is the last in order. */
static void sink(struct ny_bridge *edge, size_t at, size_t count)
{
    struct ny_bridge moved = edge[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_before(&edge[child], &edge[child + 1])) child++;
        if (!is_before(&moved, &edge[child])) break;
        edge[at] = edge[child];
    }
    edge[at] = moved;
}

static void sort_heap(struct ny_bridge *edge, size_t count)
{
    for (size_t at = count / 2; at > 0; at--)
        sink(edge, at - 1, count);
    for (size_t end = count; end > 1; end--) {
        struct ny_bridge first = edge[0];

        edge[0] = edge[end - 1];
        edge[end - 1] = first;
        sink(edge, 0, end - 1);
    }
}

static inline size_t digit_of(const struct ny_bridge *edge, unsigned shift)
{
    return key_of(edge) >> shift & (RADIX - 1);
}

/* Brings each entry into the bucket of its digit: begin[b] … begin[b + 1] − 1. */
static void exchange(struct ny_bridge *edge, size_t count, unsigned shift, size_t begin[RADIX + 1])
{
    size_t next[RADIX];

    for (size_t b = 0; b <= RADIX; b++)
        begin[b] = 0;
    for (size_t i = 0; i < count; i++)
        begin[digit_of(&edge[i], shift) + 1]++;
    for (size_t b = 0; b < RADIX; b++) {
        begin[b + 1] += begin[b];
        next[b] = begin[b];
    }
    for (size_t b = 0; b < RADIX; b++)
        while (next[b] < begin[b + 1]) {
            struct ny_bridge moved = edge[next[b]];
            size_t digit = digit_of(&moved, shift);

            while (digit != b) { /* around a cycle, until one comes that belongs here */
                struct ny_bridge other = edge[next[digit]];

                edge[next[digit]++] = moved;
                moved = other;
                digit = digit_of(&moved, shift);
            }
            edge[next[b]++] = moved;
        }
}

/* A range whose entries agree in all digits above `shift`, waiting to be sorted. */
struct bucket {
    size_t first, end;
    unsigned shift; /* place of the next digit; KEY_BITS: none is left */
};

/* Sorts by all digits, without recursion: the buckets of eight digits wait at most. */
static int sort_all(struct ny_edge_list *list)
{
    enum { WAITING = KEY_BITS / BYTE_BITS * RADIX };
    struct bucket *waiting =
        ny_calloc(list->ctx, NY_MEM_DICTIONARY, WAITING, sizeof(struct bucket));
    size_t count = 1;
    int err = waiting ? NY_OK : NY_EBUDGET;

    if (err) return err;
    waiting[0] = (struct bucket){0, list->count, KEY_BITS - BYTE_BITS};
    while (count > 0 && err == NY_OK) {
        struct bucket bucket = waiting[--count];
        size_t begin[RADIX + 1], size = bucket.end - bucket.first;

        if (size > FEW) err = ny_check_interrupt(list->ctx);
        if (err) break;
        if (size <= FEW || bucket.shift >= KEY_BITS) {
            sort_heap(list->edge + bucket.first, size);
            continue;
        }
        exchange(list->edge + bucket.first, size, bucket.shift, begin);
        for (size_t b = 0; b < RADIX; b++)
            if (begin[b + 1] > begin[b])
                waiting[count++] =
                    (struct bucket){bucket.first + begin[b], bucket.first + begin[b + 1],
                                    bucket.shift ? bucket.shift - BYTE_BITS : KEY_BITS};
    }
    ny_free(list->ctx, waiting);
    return err;
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* Takes the entries of one direction from *at on: their least, or their sum; −1 where there are
 * none. */
static double take_direction(struct ny_edge_list *list, size_t *at, uint32_t from, uint32_t to)
{
    const struct ny_bridge *edge = list->edge;
    double weight = -1;

    for (size_t first = *at; *at < list->count && edge[*at].from == from && edge[*at].to == to;
         ++*at) {
        if (*at == first)
            weight = edge[*at].length;
        else if (list->affinities)
            weight += edge[*at].length;
        list->repeats += *at > first;
    }
    return weight;
}

/* Returns the weight of an edge that has come in one direction or in both, as f32. */
static float join(const struct ny_edge_list *list, double there, double back)
{
    if (there < 0) return (float)back;
    if (back < 0) return (float)there;
    return (float)(list->affinities ? there / 2 + back / 2 : fmin(there, back));
}

int ny_edge_list_settle(struct ny_edge_list *list)
{
    size_t kept = 0;
    int err = sort_all(list);

    for (size_t at = 0; at < list->count && err == NY_OK;) {
        uint64_t key = key_of(&list->edge[at]);
        uint32_t from = (uint32_t)(key >> 32), to = (uint32_t)key;
        double there = take_direction(list, &at, from, to);
        double back = take_direction(list, &at, to, from);
        float weight = join(list, there, back);

        if (!isfinite(weight))
            err = ny_fail(list->ctx, NY_EDATA,
                          "the affinities of nodes %u and %u (from 0) add up to %g, which is too "
                          "large for f32; divide all of them by some number",
                          from, to, there + back);
        if (list->affinities && !(weight > 0))
            list->zeros++;
        else
            list->edge[kept++] = (struct ny_bridge){(double)weight, from, to};
    }
    list->count = kept;
    return err;
}
