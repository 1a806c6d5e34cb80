/*
 * Walks a tree of boxes for several rows at once (nearest/tree.h): a lane of the vectors is a row.
 * Compiled once for each CPU family.
 *
 * Sums follow the order of columns/exact.c: column by column up to NY_EXACT_DIRECT columns, in 16
 * lanes beyond. Each begins with a zero that compilers do not know: they would otherwise fuse other
 * products with sums than they fuse there.
 */
#include <math.h>

#include "base/vector.h"
#include "nearest/tree_private.h"

enum { LANES = NY_TREE_ROWS, WIDTH = NY_VECTOR_BYTES / sizeof(double), PARTS = LANES / WIDTH };

/* One number for each row of the packet. */
struct lanes {
    ny_doubles part[PARTS];
};

/* A node that waits, with the bounds of its box. */
struct waiting {
    struct lanes bound;
    struct ny_tree_span span;
};

struct walk {
    struct ny_tree_packet *packet;
    const struct ny_box_tree *tree;
    const struct lanes *x; /* d */
    struct lanes *value;   /* t */
    ny_longs *row;         /* t × PARTS */
    size_t last;           /* t − 1 */
    size_t filled;         /* places of the lists that may hold a row: no more than were inserted */
    double zero;
    struct waiting stack[NY_TREE_DEPTH + 1];
};

/* ---- distances and bounds ------------------------------------------------------------------- */

/* By how much row y, or a row in the box, differs from each row of the packet in a column. */
static inline struct lanes from_row(const struct walk *walk, const double *y, size_t k)
{
    struct lanes out;

    for (size_t p = 0; p < PARTS; p++)
        out.part[p] = y[k] - walk->x[k].part[p];
    return out;
}

static inline struct lanes from_box(const struct walk *walk, const double *box, size_t k, size_t d)
{
    const ny_doubles zero = {0};
    struct lanes out;

    for (size_t p = 0; p < PARTS; p++)
        out.part[p] = ny_doubles_greater(walk->x[k].part[p] - box[d + k],
                                         ny_doubles_greater(box[k] - walk->x[k].part[p], zero));
    return out;
}

static inline struct lanes begin(const struct walk *walk)
{
    const ny_doubles zero = {0};
    struct lanes sum;

    for (size_t p = 0; p < PARTS; p++)
        sum.part[p] = zero + walk->zero;
    return sum;
}

static inline void add_square(struct lanes *sum, const struct lanes *term)
{
    for (size_t p = 0; p < PARTS; p++)
        sum->part[p] += term->part[p] * term->part[p];
}

/* Squared distances from row y, or from a box, of d columns. */
static inline struct lanes squares(const struct walk *walk, const double *y, size_t d, bool box)
{
    struct lanes sum = begin(walk);

    for (size_t k = 0; k < d; k++) {
        struct lanes term = box ? from_box(walk, y, k, d) : from_row(walk, y, k);

        add_square(&sum, &term);
    }
    return sum;
}

/* Squared distances likewise, in 16 partial sums, which are then added up. */
static inline struct lanes squares_apart(const struct walk *walk, const double *y, size_t d,
                                         bool box)
{
    enum { APART = 16 };
    struct lanes part[APART], rest = begin(walk), sum = begin(walk), term;
    size_t k = 0;

    for (size_t l = 0; l < APART; l++)
        part[l] = begin(walk);
    for (; k + APART <= d; k += APART)
        for (size_t l = 0; l < APART; l++) {
            term = box ? from_box(walk, y, k + l, d) : from_row(walk, y, k + l);
            add_square(&part[l], &term);
        }
    for (; k < d; k++) {
        term = box ? from_box(walk, y, k, d) : from_row(walk, y, k);
        add_square(&rest, &term);
    }
    for (size_t l = 0; l < APART; l++)
        for (size_t p = 0; p < PARTS; p++)
            sum.part[p] += part[l].part[p];
    for (size_t p = 0; p < PARTS; p++)
        sum.part[p] += rest.part[p];
    return sum;
}

static __attribute__((noinline)) struct lanes far_row(const struct walk *walk, const double *y,
                                                      size_t d)
{
    return squares_apart(walk, y, d, false);
}

static __attribute__((noinline)) struct lanes far_box(const struct walk *walk, const double *box,
                                                      size_t d)
{
    return squares_apart(walk, box, d, true);
}

/* With the number of columns known to compilers where they are few. */
static inline struct lanes measure(const struct walk *walk, const double *y, size_t d, bool box)
{
    switch (d) {
    case 1:
        return squares(walk, y, 1, box);
    case 2:
        return squares(walk, y, 2, box);
    case 3:
        return squares(walk, y, 3, box);
    default:
        if (d <= NY_EXACT_DIRECT) return squares(walk, y, d, box);
        return box ? far_box(walk, y, d) : far_row(walk, y, d);
    }
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Finds the lists in which a row of this number, at these squared distances, comes before the one
 * at place k. */
static inline ny_lanes comes_before(const struct walk *walk, const struct lanes *value,
                                    ny_longs number, size_t k, size_t p)
{
    return ny_lanes_before(value->part[p], number, walk->value[k].part[p],
                           walk->row[k * PARTS + p]);
}

/* Finds the lists that take a row of this number, or may take one greater, at these distances. */
static inline bool reaches(const struct walk *walk, const struct lanes *value, ny_longs number,
                           ny_lanes where[PARTS])
{
    for (size_t p = 0; p < PARTS; p++)
        where[p] = comes_before(walk, value, number, walk->last, p);
    return ny_lanes_any(where, PARTS);
}

/* Inserts a row into the lists that take it; those behind it move by one place. */
static inline void insert(struct walk *walk, const struct lanes *value, ny_longs number,
                          ny_lanes here[PARTS])
{
    size_t k = walk->filled < walk->last ? walk->filled++ : walk->last;

    do {
        for (size_t p = 0; p < PARTS; p++) {
            ny_doubles *to = &walk->value[k].part[p];
            ny_longs *to_row = &walk->row[k * PARTS + p];
            ny_lanes above = {0};

            *to = ny_lanes_choose(here[p], value->part[p], *to);
            *to_row = ny_lanes_choose_longs(here[p], number, *to_row);
            if (k > 0) {
                above = comes_before(walk, value, number, k - 1, p);
                *to = ny_lanes_choose(above, walk->value[k - 1].part[p], *to);
                *to_row = ny_lanes_choose_longs(above, walk->row[(k - 1) * PARTS + p], *to_row);
            }
            here[p] = above;
        }
        walk->packet->work.moves++;
    } while (k-- > 0 && ny_lanes_any(here, PARTS));
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* A row is not its own neighbour. */
static void leave_out_self(const struct ny_tree_packet *packet, uint64_t place, struct lanes *value)
{
    for (size_t l = 0; l < packet->count; l++)
        if (packet->at[l] == place) value->part[l / WIDTH][l % WIDTH] = NAN;
}

static inline void meet_leaf(struct walk *walk, uint32_t leaf, size_t d)
{
    struct ny_tree_packet *packet = walk->packet;
    const struct ny_box_tree *tree = walk->tree;
    uint64_t first = (uint64_t)leaf * LANES, end = first + LANES;

    if (end > tree->knn->n) end = tree->knn->n;
    packet->work.rows += end - first;
    for (uint64_t i = first; i < end; i++) {
        struct lanes value = measure(walk, tree->x + i * d, d, false);
        ny_longs number;
        ny_lanes where[PARTS];

        if (i >= packet->at[0] && i <= packet->at[packet->count - 1])
            leave_out_self(packet, i, &value);
        number = (ny_longs){0} + tree->row[i];
        if (reaches(walk, &value, number, where)) insert(walk, &value, number, where);
    }
}

static inline struct waiting look_at(struct walk *walk, struct ny_tree_span span, size_t d)
{
    walk->packet->work.boxes++;
    return (struct waiting){measure(walk, walk->tree->box + span.node * 2 * d, d, true), span};
}

static inline bool needed(const struct walk *walk, const struct waiting *node)
{
    ny_longs number = (ny_longs){0} + walk->tree->least[node->span.node];
    ny_lanes where[PARTS];

    return reaches(walk, &node->bound, number, where);
}

/* Meets the leaves below a node that some row needs, the nearer half first. */
static inline void visit(struct walk *walk, struct ny_tree_span span, size_t d)
{
    size_t count = 1;

    walk->stack[0] = look_at(walk, span, d);
    while (count > 0) {
        struct waiting node = walk->stack[--count], left, right;
        bool first;

        if (!needed(walk, &node)) continue;
        if (node.span.end - node.span.first == 1) {
            meet_leaf(walk, node.span.first, d);
            continue;
        }
        left = look_at(walk, ny_tree_left(node.span), d);
        right = look_at(walk, ny_tree_right(node.span), d);
        first = left.bound.part[0][0] == right.bound.part[0][0]
                    ? walk->tree->least[left.span.node] < walk->tree->least[right.span.node]
                    : left.bound.part[0][0] < right.bound.part[0][0];
        walk->stack[count++] = first ? right : left;
        walk->stack[count++] = first ? left : right;
    }
}

/* The leaf of the first row of the packet, then the other halves of the nodes above it. Rows that
 * are not of the tree begin at its root. */
static inline void climb(struct walk *walk, size_t d)
{
    uint32_t leaf = (uint32_t)(walk->packet->at[0] / LANES);
    struct ny_tree_span span = {0, 0, walk->tree->leaves}, beside[NY_TREE_DEPTH];
    size_t depth = 0;

    if (walk->packet->at[0] == NY_TREE_NOWHERE) {
        visit(walk, span, d);
        return;
    }
    while (span.end - span.first > 1) {
        bool right = leaf >= ny_tree_middle(span);

        beside[depth++] = right ? ny_tree_left(span) : ny_tree_right(span);
        span = right ? ny_tree_right(span) : ny_tree_left(span);
    }
    meet_leaf(walk, leaf, d);
    while (depth > 0)
        visit(walk, beside[--depth], d);
}

extern ny_tree_walk_fn NY_VARIANT_NAME(ny_tree_walk);

void NY_VARIANT_NAME(ny_tree_walk)(struct ny_tree_packet *packet)
{
    static volatile const double zero = 0;
    struct walk walk = {.packet = packet,
                        .tree = packet->tree,
                        .x = (const struct lanes *)(const void *)packet->x,
                        .value = (struct lanes *)(void *)packet->value,
                        .row = (ny_longs *)(void *)packet->row,
                        .last = packet->tree->knn->neighbors - 1,
                        .zero = zero};

    switch (packet->tree->d) {
    case 1:
        climb(&walk, 1);
        break;
    case 2:
        climb(&walk, 2);
        break;
    case 3:
        climb(&walk, 3);
        break;
    default:
        climb(&walk, packet->tree->d);
    }
}
