/*
 * Looks in a tree of boxes for the nearest of rows that are not of it (nearest/tree.h). The rows
 * are put in the order of the leaves that they lead to, so that those of a packet need the same
 * boxes.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "nearest/knn_private.h"
#include "nearest/tree_private.h"

/* Packets that a worker takes at a time. */
enum { TAKE_PACKETS = 16 };

/* A row, and the leaf that it leads to. */
struct arrival {
    uint32_t leaf, at;
};

struct nearest {
    const struct ny_box_tree *tree;
    double *x; /* count × d: prepared rows */
    struct arrival *arrival;
    size_t count;
    struct ny_measured *out;
    atomic_size_t next; /* packet */
};

/* Returns how far a row is outside of a box, in a norm that is good enough for an order. */
static double outside(const double *x, const double *box, size_t d)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += fmax(fmax(box[k] - x[k], x[k] - box[d + k]), 0);
    return sum;
}

static uint32_t leaf_of(const struct ny_box_tree *tree, const double *x)
{
    struct ny_tree_span span = {0, 0, tree->leaves};
    size_t d = tree->d;

    while (span.end - span.first > 1) {
        struct ny_tree_span left = ny_tree_left(span), right = ny_tree_right(span);
        bool goes_right = outside(x, tree->box + (size_t)right.node * 2 * d, d) <
                          outside(x, tree->box + (size_t)left.node * 2 * d, d);

        span = goes_right ? right : left;
    }
    return span.first;
}

static int arrive(void *arg, size_t first, size_t count)
{
    struct nearest *nearest = arg;

    for (size_t i = first; i < first + count; i++)
        nearest->arrival[i] = (struct arrival){
            leaf_of(nearest->tree, nearest->x + i * nearest->tree->d), (uint32_t)i};
    return NY_OK;
}

static int compare_arrivals(const void *a, const void *b)
{
    const struct arrival *x = a, *y = b;

    if (x->leaf != y->leaf) return x->leaf < y->leaf ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Finds the nearest of the rows of a packet, and puts them in the lists. */
static void meet(const struct nearest *nearest, struct ny_tree_packet *packet, size_t first)
{
    const struct ny_box_tree *tree = nearest->tree;
    const struct arrival *arrival = nearest->arrival + first;
    size_t t = tree->knn->neighbors, d = tree->d, left = nearest->count - first;

    packet->count = left < NY_TREE_ROWS ? left : NY_TREE_ROWS;
    for (size_t l = 0; l < NY_TREE_ROWS; l++) {
        const double *x = nearest->x + arrival[l < packet->count ? l : 0].at * d;

        packet->at[l] = NY_TREE_NOWHERE;
        for (size_t k = 0; k < d; k++)
            packet->x[k * NY_TREE_ROWS + l] = x[k];
    }
    ny_tree_packet_clear(packet);
    ny_tree_walk()(packet);
    for (size_t l = 0; l < packet->count; l++)
        for (size_t k = 0; k < t; k++) {
            double value = tree->gamma * packet->value[k * NY_TREE_ROWS + l];

            nearest->out->row[arrival[l].at * t + k] = (uint32_t)packet->row[k * NY_TREE_ROWS + l];
            nearest->out->distance[arrival[l].at * t + k] =
                ny_near_distance(tree->knn->spec, value);
        }
}

static int meet_some(void *arg, unsigned worker)
{
    struct nearest *nearest = arg;
    struct ny_context *ctx = nearest->tree->knn->spec->ctx;
    const size_t rows = (size_t)TAKE_PACKETS * NY_TREE_ROWS;
    struct ny_tree_packet packet;
    size_t first;
    int err = ny_tree_packet_init(&packet, nearest->tree);

    (void)worker;
    while (err == NY_OK && (first = atomic_fetch_add(&nearest->next, 1) * rows) < nearest->count) {
        for (size_t i = first; i < first + rows && i < nearest->count; i += NY_TREE_ROWS)
            meet(nearest, &packet, i);
        err = ny_check_interrupt(ctx);
    }
    ny_layout_free(&packet.own);
    return err;
}

static void lay(struct ny_layout *l, struct nearest *nearest, size_t count, size_t d)
{
    nearest->x = ny_lay(l, NY_MEM_TILES, count, d * sizeof(double));
    nearest->arrival = ny_lay(l, NY_MEM_TILES, count, sizeof(*nearest->arrival));
}

void ny_tree_nearest_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t count)
{
    struct nearest nearest;

    lay(l, &nearest, count, spec->geometry->d);
    ny_columns_count(l, spec, 1);
}

int ny_tree_nearest(const struct ny_box_tree *tree, const struct ny_columns_spec *spec,
                    const void *raw, size_t count, struct ny_measured *out)
{
    struct ny_layout l = {.ctx = spec->ctx};
    struct nearest nearest = {.tree = tree, .count = count, .out = out};
    struct ny_columns *columns = NULL;
    int err = ny_columns_new(&columns, spec);

    if (err) return err;
    lay(&l, &nearest, count, tree->d);
    err = l.err;
    if (err) goto done;
    ny_columns_prepare(columns, ny_raw_rows(raw), count, nearest.x);
    err = ny_parallel_ranges(l.ctx, count, arrive, &nearest);
    if (err) goto done;
    qsort(nearest.arrival, count, sizeof(*nearest.arrival), compare_arrivals);
    err = ny_parallel(l.ctx, tree->knn->workers, meet_some, &nearest);
done:
    ny_layout_free(&l);
    ny_columns_free(columns);
    return err;
}
