/*
 * Answers questions about the undirected graph of neighbour lists without building it: degrees and
 * number of edges, the components, and quantiles of distances. The stages graph and connect of the
 * verb graph call it (neighbors/components.c, neighbors/connect.c), and graph/affinity.c for the
 * median length; graph/bridges.c joins components by the same trees of parents.
 *
 * Components come from a forest of parents with path halving; the root of a tree is its smallest
 * row, so that the numbering depends on the lists alone, and not on the order in which edges are
 * met; numbers come from a count of the sizes. The quantile is Hoare's selection, in place: it
 * leaves the values reordered.
 */
#include "graph/components.h"

#include <math.h>

uint64_t ny_lists_degrees(const struct ny_lists *lists, uint32_t *degree)
{
    uint64_t edges = 0;

    for (uint64_t i = 0; i < lists->n; i++)
        degree[i] = 0;
    for (uint64_t i = 0; i < lists->n; i++)
        for (size_t k = 0; k < lists->t; k++) {
            uint32_t j = lists->row[i * lists->stored + k];

            if (!ny_lists_edge(lists, i, k)) continue;
            if (ny_lists_met(lists, i, j)) continue;
            edges++;
            degree[i]++;
            degree[j]++;
        }
    for (size_t k = 0; k < lists->bridges; k++) {
        degree[lists->bridge[k].from]++;
        degree[lists->bridge[k].to]++;
    }
    return edges + lists->bridges;
}

/* The root of a tree is its smallest row. */
static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

bool ny_components_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
    return a != b;
}

static void join_all(const struct ny_lists *lists, uint32_t *parent)
{
    for (uint64_t i = 0; i < lists->n; i++)
        parent[i] = (uint32_t)i;
    for (uint64_t i = 0; i < lists->n; i++)
        for (size_t k = 0; k < lists->t; k++)
            if (ny_lists_edge(lists, i, k))
                ny_components_join(parent, (uint32_t)i, lists->row[i * lists->stored + k]);
    for (size_t k = 0; k < lists->bridges; k++)
        ny_components_join(parent, lists->bridge[k].from, lists->bridge[k].to);
}

static uint32_t *words(struct ny_layout *l, uint64_t count)
{
    return ny_lay(l, NY_MEM_DICTIONARY, (size_t)count, sizeof(uint32_t));
}

/* The components, sizes of roots, and how many there are of a size. */
void ny_components_count(struct ny_layout *l, uint64_t n)
{
    words(l, n);
    words(l, n);
    words(l, n + 1);
}

/* Turns the sizes of roots into numbers of components: counts those of each size, so that the
 * largest come first, and those of one size as their roots do. */
static void number_roots(uint32_t *size, uint64_t n, uint32_t *first, uint64_t largest)
{
    uint32_t before = 0;

    for (uint64_t i = 0; i < n; i++)
        first[size[i]]++;
    for (uint64_t s = largest; s > 0; s--) {
        uint32_t count = first[s];

        first[s] = before;
        before += count;
    }
    for (uint64_t i = 0; i < n; i++)
        if (size[i]) size[i] = first[size[i]]++;
}

/* Turns parents into component numbers, by way of the sizes of the roots. */
static int number(struct ny_components *components, uint32_t *rows)
{
    struct ny_layout *l = &components->own;
    uint32_t *of = components->of, *first;

    for (uint64_t i = 0; i < components->n; i++)
        rows[i] = 0;
    for (uint64_t i = 0; i < components->n; i++) {
        of[i] = root_of(of, (uint32_t)i);
        components->count += rows[of[i]]++ == 0;
        if (rows[of[i]] > components->largest) components->largest = rows[of[i]];
    }
    first = words(l, components->largest + 1);
    if (!first) return l->err;
    number_roots(rows, components->n, first, components->largest);
    for (uint64_t i = 0; i < components->n; i++)
        of[i] = rows[of[i]];
    return NY_OK;
}

int ny_components_find(struct ny_components *components, struct ny_context *ctx,
                       const struct ny_lists *lists)
{
    struct ny_layout *l = &components->own;
    struct ny_layout_mark mark;
    uint32_t *rows;
    int err;

    *components = (struct ny_components){.own.ctx = ctx, .n = lists->n};
    components->of = words(l, lists->n);
    mark = ny_layout_mark(l);
    rows = words(l, lists->n);
    err = l->err;
    if (err == NY_OK) {
        join_all(lists, components->of);
        err = number(components, rows);
    }
    ny_layout_back(l, &mark);
    if (err) ny_components_release(components);
    return err;
}

void ny_components_release(struct ny_components *components)
{
    ny_layout_free(&components->own);
    components->of = NULL;
}

/* ---- quantile ------------------------------------------------------------------------------- */

/* The k-th smallest goes to place k, what is smaller before it. */
static float select_kth(float *values, size_t count, size_t k)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        float pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;

        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j) break;
            float swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[k];
}

double ny_quantile(float *values, size_t count, double q)
{
    double place = q * (double)(count - 1), below = floor(place);
    size_t k = (size_t)below;
    double low = select_kth(values, count, k), high = low;

    if (k + 1 < count && place > below) { /* the least of those behind it */
        high = values[k + 1];
        for (size_t i = k + 2; i < count; i++)
            if (values[i] < high) high = values[i];
    }
    return low + (place - below) * (high - low);
}
