/* Rows of products with the walk, of VALUE = double or float; affinity_variant.c includes it for
 * each, ROWS being the function's name. */
#define LANES NY_JOIN(lanes_of, VALUE)
#define WALK_ROW NY_JOIN(walk_row_of, VALUE)

typedef VALUE LANES __attribute__((vector_size(VECTOR_BYTES)));

/* `vectors` vectors of a row from column `first` on; inlined for each number of them, so that the
 * sums stay in registers. */
static inline __attribute__((always_inline)) void WALK_ROW(const struct ny_walk *product,
                                                           size_t row, size_t first, int vectors)
{
    const struct ny_affinity *affinity = product->affinity;
    const struct ny_edges *graph = affinity->graph;
    size_t stride = product->stride;
    const VALUE *x = (const VALUE *)product->x + first;
    VALUE *y = (VALUE *)product->y + first + row * stride;
    VALUE own = (VALUE)product->own, before = (VALUE)product->before;
    double walk = product->walk * affinity->inverse[row];
    const LANES *at = (const LANES *)(const void *)(x + row * stride);
    LANES *to = (LANES *)(void *)y, sum[MOST];

    for (int v = 0; v < vectors; v++)
        sum[v] = (LANES){0};
    for (uint64_t e = graph->head[row]; e < graph->head[row + 1]; e++) {
        const VALUE *neighbor = x + graph->target[e] * stride;
        const LANES *from = (const LANES *)(const void *)neighbor;
        VALUE weight = (VALUE)(walk * affinity->weight[e]); /* which may be far below f32 */

        for (int v = 0; v < vectors; v++)
            sum[v] += weight * from[v];
    }
    if (product->before == 0) /* there may be anything */
        for (int v = 0; v < vectors; v++)
            to[v] = own * at[v] + sum[v];
    else
        for (int v = 0; v < vectors; v++)
            to[v] = own * at[v] + sum[v] + before * to[v];
}

extern ny_walk_fn ROWS;

void ROWS(const struct ny_walk *product, size_t first, size_t count)
{
    const size_t lanes = VECTOR_BYTES / sizeof(VALUE);

    for (size_t row = first; row < first + count; row++) {
        size_t column = 0;

        for (; column + 4 * lanes <= product->stride; column += 4 * lanes)
            WALK_ROW(product, row, column, 4);
        if (product->stride - column == 3 * lanes)
            WALK_ROW(product, row, column, 3);
        else if (product->stride - column == 2 * lanes)
            WALK_ROW(product, row, column, 2);
        else if (product->stride - column == lanes)
            WALK_ROW(product, row, column, 1);
    }
}

#undef LANES
#undef WALK_ROW
