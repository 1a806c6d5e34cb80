/* The part of reading rows that does not depend on where they are. */
#include "stream/rows.h"

#include <string.h>

#include "base/memory.h"

void ny_rows_stats_release(struct ny_rows_stats *stats, struct ny_context *ctx)
{
    ny_free(ctx, stats->mean); /* one block */
    memset(stats, 0, sizeof(*stats));
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
