/*
 * Walks a tree of boxes for several rows at once (graph/tree.h): a lane of the vectors is a row.
 * Compiled once for each CPU family.
 *
 * Sums follow the order of columns/exact.c: column by column up to NY_EXACT_DIRECT columns, in 16
 * lanes beyond. Each begins with a zero that compilers do not know: they would otherwise fuse other
 * products with sums than they fuse there.
 */
#include <math.h>

#include "base/vector.h"
#include "graph/tree_private.h"

enum { LANES = NY_TREE_ROWS, WIDTH = NY_VECTOR_BYTES / sizeof(double), PARTS = LANES / WIDTH };

typedef double doubles_t __attribute__((vector_size(NY_VECTOR_BYTES)));
typedef int64_t longs_t __attribute__((vector_size(NY_VECTOR_BYTES)));

/* One number for each row of the packet. */
struct lanes {
    doubles_t part[PARTS];
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
    longs_t *row;          /* t × PARTS */
    size_t last;           /* t − 1 */
    double zero;
    struct waiting stack[NY_TREE_DEPTH + 1];
};

static inline doubles_t choose(longs_t where, doubles_t a, doubles_t b)
{
    return (doubles_t)(((longs_t)a & where) | ((longs_t)b & ~where));
}

static inline longs_t choose_long(longs_t where, longs_t a, longs_t b)
{
    return (a & where) | (b & ~where);
}

/* a where it is greater than b; so b where a is no number. */
static inline doubles_t greater(doubles_t a, doubles_t b)
{
    return choose(a > b, a, b);
}

static inline bool any(const longs_t where[PARTS])
{
    longs_t all = where[0];

    for (size_t p = 1; p < PARTS; p++)
        all |= where[p];
    return ny_vector_any((ny_vector_bits)all);
}

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
    const doubles_t zero = {0};
    struct lanes out;

    for (size_t p = 0; p < PARTS; p++)
        out.part[p] =
            greater(walk->x[k].part[p] - box[d + k], greater(box[k] - walk->x[k].part[p], zero));
    return out;
}

static inline struct lanes begin(const struct walk *walk)
{
    const doubles_t zero = {0};
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
static inline longs_t comes_before(const struct walk *walk, const struct lanes *value, int64_t row,
                                   size_t k, size_t p)
{
    doubles_t other = walk->value[k].part[p];

    return (value->part[p] < other) |
           ((value->part[p] == other) & (row < walk->row[k * PARTS + p]));
}

/* Tells whether some list may take a row of this number, or one greater, at these distances. */
static inline bool reaches(const struct walk *walk, const struct lanes *value, int64_t row)
{
    longs_t where[PARTS];

    for (size_t p = 0; p < PARTS; p++)
        where[p] = comes_before(walk, value, row, walk->last, p);
    return any(where);
}

/* Inserts a row into the lists that it belongs in; those behind it move by one place. */
static inline void insert(struct walk *walk, const struct lanes *value, int64_t row)
{
    longs_t here[PARTS], above[PARTS], number = (longs_t){0} + row;
    size_t k = walk->last;

    for (size_t p = 0; p < PARTS; p++)
        here[p] = comes_before(walk, value, row, k, p);
    for (; k > 0; k--) {
        for (size_t p = 0; p < PARTS; p++)
            above[p] = comes_before(walk, value, row, k - 1, p);
        for (size_t p = 0; p < PARTS; p++) {
            doubles_t *to = &walk->value[k].part[p];
            longs_t *to_row = &walk->row[k * PARTS + p];

            *to =
                choose(above[p], walk->value[k - 1].part[p], choose(here[p], value->part[p], *to));
            *to_row = choose_long(above[p], walk->row[(k - 1) * PARTS + p],
                                  choose_long(here[p], number, *to_row));
            here[p] = above[p];
        }
        if (!any(here)) break;
    }
    walk->packet->work.moves += walk->last - k + 1;
    if (k > 0) return;
    for (size_t p = 0; p < PARTS; p++) {
        walk->value[0].part[p] = choose(here[p], value->part[p], walk->value[0].part[p]);
        walk->row[p] = choose_long(here[p], number, walk->row[p]);
    }
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

        if (i >= packet->at[0] && i <= packet->at[packet->count - 1])
            leave_out_self(packet, i, &value);
        if (reaches(walk, &value, tree->row[i])) insert(walk, &value, tree->row[i]);
    }
}

static inline struct waiting look_at(struct walk *walk, struct ny_tree_span span, size_t d)
{
    walk->packet->work.boxes++;
    return (struct waiting){measure(walk, walk->tree->box + span.node * 2 * d, d, true), span};
}

static inline bool needed(const struct walk *walk, const struct waiting *node)
{
    return reaches(walk, &node->bound, walk->tree->least[node->span.node]);
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

/* The leaf of the first row of the packet, then the other halves of the nodes above it. */
static inline void climb(struct walk *walk, size_t d)
{
    uint32_t leaf = (uint32_t)(walk->packet->at[0] / LANES);
    struct ny_tree_span span = {0, 0, walk->tree->leaves}, beside[NY_TREE_DEPTH];
    size_t depth = 0;

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
                        .row = (longs_t *)(void *)packet->row,
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
