/*
 * Puts the rows of a tree in order and makes its boxes (nearest/tree.h). Nodes are halved in place,
 * by quickselect: the upper ones by all workers, level by level, then each worker takes whole
 * subtrees. The order depends on the rows alone.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/thread.h"
#include "nearest/tree_private.h"

/* Subtrees that a worker takes on average; rows by which the widest coordinate is chosen; rows from
 * which on a quickselect looks for its pivot in a part of them; rows of a block that is parted. */
enum { LEAST_SUBTREES = 64, SHARES = 8, SAMPLE_ROWS = 256, SELECT_ROWS = 600, BLOCK_ROWS = 64 };

struct build {
    struct ny_box_tree *tree;
    struct ny_tree_span *span; /* nodes of the level under way */
    atomic_uint next;
    unsigned count;
    bool whole; /* subtrees, not only their roots */
};

static uint64_t row_of(const struct ny_box_tree *tree, uint32_t leaf)
{
    uint64_t row = (uint64_t)leaf * NY_TREE_ROWS;

    return row < tree->knn->n ? row : tree->knn->n;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* Orders rows of the same coordinate by the next ones, in turn, then by number. */
static bool tie_before(const struct ny_box_tree *tree, size_t column, uint64_t i, uint64_t j)
{
    const double *x = tree->x + i * tree->d, *y = tree->x + j * tree->d;

    for (size_t k = 1; k < tree->d; k++) {
        column = column + 1 < tree->d ? column + 1 : 0;
        if (x[column] != y[column]) return x[column] < y[column];
    }
    return tree->row[i] < tree->row[j];
}

static inline bool before(const struct ny_box_tree *tree, size_t column, uint64_t i, uint64_t j)
{
    double x = tree->x[i * tree->d + column], y = tree->x[j * tree->d + column];

    return x == y ? tie_before(tree, column, i, j) : x < y;
}

static inline void swap(const struct ny_box_tree *tree, uint64_t i, uint64_t j)
{
    double *x = tree->x + i * tree->d, *y = tree->x + j * tree->d;
    uint32_t row = tree->row[i];

    for (size_t k = 0; k < tree->d; k++) {
        double value = x[k];

        x[k] = y[k];
        y[k] = value;
    }
    tree->row[i] = tree->row[j];
    tree->row[j] = row;
}

/* Moves blocks from *from on that belong in front of the row at `low`, and blocks before *end that
 * belong behind it, to their sides. The places of rows on the wrong side are noted first, without a
 * branch that depends on them, and then exchanged (Edelkamp and Weiss 2016). What is left between
 * *from and *end is not parted. */
static void part_blocks(const struct ny_box_tree *tree, size_t column, uint64_t low, uint64_t *from,
                        uint64_t *end)
{
    uint64_t l = *from, r = *end;
    uint8_t left[BLOCK_ROWS], right[BLOCK_ROWS];
    size_t lefts = 0, rights = 0, left_at = 0, right_at = 0;

    while (r - l > 2 * BLOCK_ROWS) {
        if (lefts == left_at) {
            lefts = left_at = 0;
            for (size_t i = 0; i < BLOCK_ROWS; i++) {
                left[lefts] = (uint8_t)i;
                lefts += !before(tree, column, l + i, low);
            }
        }
        if (rights == right_at) {
            rights = right_at = 0;
            for (size_t i = 0; i < BLOCK_ROWS; i++) {
                right[rights] = (uint8_t)i;
                rights += !before(tree, column, low, r - 1 - i);
            }
        }
        while (left_at < lefts && right_at < rights)
            swap(tree, l + left[left_at++], r - 1 - right[right_at++]);
        if (left_at == lefts) l += BLOCK_ROWS;
        if (right_at == rights) r -= BLOCK_ROWS;
    }
    *from = l;
    *end = r;
}

/* Parts places low … high − 1 by the row at `low`; returns the place that it goes to. Ends at the
 * bounds whatever the comparisons say, as those of NaN contradict each other. */
static uint64_t part(const struct ny_box_tree *tree, size_t column, uint64_t low, uint64_t high)
{
    uint64_t i = low + 1, j = high;

    part_blocks(tree, column, low, &i, &j);
    i--;
    for (;;) {
        do
            i++;
        while (i < high && before(tree, column, i, low));
        do
            j--;
        while (j > low && before(tree, column, low, j));
        if (i >= j) break;
        swap(tree, i, j);
    }
    swap(tree, low, j);
    return j;
}

/* Puts the row that belongs at place k of low … high − 1 there, lesser rows in front of it and
 * greater ones behind it. Among many rows the pivot is looked for in the part around k where it is
 * likely to be (Floyd and Rivest 1975). */
static void select_row(const struct ny_box_tree *tree, size_t column, uint64_t low, uint64_t high,
                       uint64_t k)
{
    while (high - low > 1) {
        uint64_t rows = high - low, place;

        if (rows > SELECT_ROWS) {
            double n = (double)rows, share = (double)(k - low) / n;
            double some = 0.5 * exp(2 * log(n) / 3);
            double spare = 0.5 * sqrt(log(n) * some * (1 - some / n));
            double from = (double)k - share * some - spare;
            double to = (double)k + (1 - share) * some + spare;

            select_row(tree, column, from > (double)low ? (uint64_t)from : low,
                       to + 2 < (double)high ? (uint64_t)to + 2 : high, k);
        }
        swap(tree, low, k);
        place = part(tree, column, low, high);
        if (place == k) return;
        if (place < k)
            low = place + 1;
        else
            high = place;
    }
}

/* Returns the column along which some of the rows spread most. */
static size_t widest(const struct ny_box_tree *tree, uint64_t first, uint64_t end)
{
    uint64_t step = (end - first + SAMPLE_ROWS - 1) / SAMPLE_ROWS;
    double most = 0;
    size_t best = 0;

    for (size_t k = 0; k < tree->d; k++) {
        double low = INFINITY, high = -INFINITY;

        for (uint64_t i = first; i < end; i += step) {
            double x = tree->x[i * tree->d + k];

            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (high - low > most) {
            most = high - low;
            best = k;
        }
    }
    return best;
}

static void halve(const struct ny_box_tree *tree, struct ny_tree_span span)
{
    uint64_t first = row_of(tree, span.first), end = row_of(tree, span.end);

    select_row(tree, widest(tree, first, end), first, end, row_of(tree, ny_tree_middle(span)));
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* A NaN leaves a box as it is: its distances are never near. */
static void close_leaf(const struct ny_box_tree *tree, struct ny_tree_span span)
{
    size_t d = tree->d;
    double *low = tree->box + span.node * 2 * d, *high = low + d;
    uint32_t least = NY_NO_ROW;

    for (size_t k = 0; k < d; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (uint64_t i = row_of(tree, span.first); i < row_of(tree, span.end); i++) {
        const double *x = tree->x + i * d;

        for (size_t k = 0; k < d; k++) {
            low[k] = x[k] < low[k] ? x[k] : low[k];
            high[k] = x[k] > high[k] ? x[k] : high[k];
        }
        least = tree->row[i] < least ? tree->row[i] : least;
    }
    tree->least[span.node] = least;
}

/* The box of a node is that of its halves. */
static void close_node(const struct ny_box_tree *tree, struct ny_tree_span span)
{
    uint32_t left = ny_tree_left(span).node, right = ny_tree_right(span).node;
    size_t d = tree->d;
    double *box = tree->box + span.node * 2 * d;
    const double *a = tree->box + left * 2 * d, *b = tree->box + right * 2 * d;

    for (size_t k = 0; k < d; k++) {
        box[k] = a[k] < b[k] ? a[k] : b[k];
        box[d + k] = a[d + k] > b[d + k] ? a[d + k] : b[d + k];
    }
    tree->least[span.node] =
        tree->least[left] < tree->least[right] ? tree->least[left] : tree->least[right];
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void grow(const struct ny_box_tree *tree, struct ny_tree_span span)
{
    if (span.end - span.first == 1) {
        close_leaf(tree, span);
        return;
    }
    halve(tree, span);
    grow(tree, ny_tree_left(span));
    grow(tree, ny_tree_right(span));
    close_node(tree, span);
}

static int take_spans(void *arg, unsigned worker)
{
    struct build *build = arg;
    unsigned at;
    int err = NY_OK;

    (void)worker;
    while (err == NY_OK && (at = atomic_fetch_add(&build->next, 1)) < build->count) {
        err = ny_check_interrupt(build->tree->knn->spec->ctx);
        if (err) break;
        if (build->whole)
            grow(build->tree, build->span[at]);
        else
            halve(build->tree, build->span[at]);
    }
    return err;
}

/* All workers take the spans in turn. */
static int run_level(struct build *build, struct ny_tree_span *span, unsigned count, bool whole)
{
    const struct ny_knn *knn = build->tree->knn;

    build->span = span;
    build->count = count;
    build->whole = whole;
    atomic_store(&build->next, 0);
    return ny_parallel(knn->spec->ctx, knn->workers, take_spans, build);
}

/* The upper nodes lie as in a heap: the halves of span[i] are span[2 i] and span[2 i + 1]. */
int ny_tree_build(struct ny_box_tree *tree)
{
    const struct ny_knn *knn = tree->knn;
    unsigned subtrees = 1;
    struct build build = {.tree = tree};
    struct ny_tree_span *span;
    int err = NY_OK;

    while (subtrees < LEAST_SUBTREES + SHARES * knn->workers && subtrees * 4 <= tree->leaves)
        subtrees *= 2; /* an interrupt is heeded between two */
    span = ny_calloc(knn->spec->ctx, NY_MEM_TILES, 2 * subtrees, sizeof(*span));
    if (!span) return NY_EBUDGET;
    span[1] = (struct ny_tree_span){0, 0, tree->leaves};
    for (unsigned first = 1; first < subtrees && err == NY_OK; first *= 2) {
        err = run_level(&build, span + first, first, false);
        for (unsigned i = first; i < 2 * first; i++) {
            span[2 * i] = ny_tree_left(span[i]);
            span[2 * i + 1] = ny_tree_right(span[i]);
        }
    }
    if (err == NY_OK) err = run_level(&build, span + subtrees, subtrees, true);
    for (unsigned i = subtrees - 1; i > 0 && err == NY_OK; i--)
        close_node(tree, span[i]);
    ny_free(knn->spec->ctx, span);
    return err;
}
