/* The part of reading rows that does not depend on where they are. */
#include "stream/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "stream/source.h"

int ny_rows_stats_of(struct ny_rows_stats *stats, struct ny_context *ctx,
                     const struct ny_moments *moments, double norms)
{
    const double *cells = moments->cells;
    size_t d = moments->d;
    double *all = ny_alloc(ctx, NY_MEM_OTHER, 4 * d * sizeof(double));
    double n = (double)moments->n, squares = 0;

    if (!all) return NY_EBUDGET;
    memcpy(all, cells, d * sizeof(double));
    memcpy(all + d, cells + 2 * d, 2 * d * sizeof(double));
    for (size_t j = 0; j < d; j++) {
        double variance = cells[d + j] / n;

        all[3 * d + j] = variance;
        squares += variance + cells[j] * cells[j]; /* E x² = var + mean² */
    }
    *stats = (struct ny_rows_stats){.n = moments->n,
                                    .d = d,
                                    .mean = all,
                                    .minimum = all + d,
                                    .maximum = all + 2 * d,
                                    .variance = all + 3 * d,
                                    .mean_square_norm = squares,
                                    .mean_norm = norms / n};
    return NY_OK;
}

void ny_rows_stats_release(struct ny_rows_stats *stats, struct ny_context *ctx)
{
    ny_free(ctx, stats->mean); /* one block */
    ny_free(ctx, stats->missing);
    memset(stats, 0, sizeof(*stats));
}

uint64_t ny_rows_unit_most(const struct ny_rows_info *info, uint64_t block_values)
{
    uint64_t blocks = NY_UNIT_ROWS / info->block_rows + 1, most;

    if (info->lost || __builtin_mul_overflow(blocks, block_values, &most)) return 0;
    return most < info->nnz ? most : info->nnz;
}

void ny_rows_name_column(uint64_t column, const char *name, char words[NY_COLUMN_WORDS_BYTES])
{
    if (name)
        snprintf(words, NY_COLUMN_WORDS_BYTES, "column '%.80s'", name);
    else
        snprintf(words, NY_COLUMN_WORDS_BYTES, "column %llu of the store (from 0)",
                 (unsigned long long)column);
}

/* Rows on their way into a list: their sizes, then their values. */
struct filling {
    enum ny_dtype dtype;
    size_t bytes;
    struct ny_sparse *row;
    struct ny_sparse_room room;
};

static int add_size(void *arg, size_t position, struct ny_sparse row)
{
    struct filling *filling = arg;

    (void)position;
    filling->bytes += ny_sparse_bytes(filling->dtype, row.count);
    return NY_OK;
}

static int fill_row(void *arg, size_t position, struct ny_sparse row)
{
    struct filling *filling = arg;

    (void)ny_sparse_room_put(&filling->room, filling->dtype, row, &filling->row[position]);
    return NY_OK;
}

int ny_rows_gather_list(struct ny_rows *X, const struct ny_gather_wish *wish,
                        struct ny_sparse_list *list)
{
    struct ny_rows_info info;
    struct filling filling = {0};
    size_t first = list->count;
    int err = X->ops->info(X, &info);

    filling.dtype = info.dtype;
    if (!err) err = X->ops->visit(X, wish->slots, wish->rows, wish->count, add_size, &filling);
    if (!err)
        err = ny_sparse_list_extend(list, X->ctx, wish->purpose, wish->count, filling.bytes,
                                    &filling.room);
    if (err) return err;
    filling.row = list->row + first;
    return X->ops->visit(X, wish->slots, wish->rows, wish->count, fill_row, &filling);
}
