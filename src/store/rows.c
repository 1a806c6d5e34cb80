/* The points of a store, or of a set, as the rows of a computation (stream/rows.h). */
#include "store/store_private.h"

static int info(struct ny_rows *X, struct ny_rows_info *out)
{
    return ny_points_info(ny_store_of(X), out);
}

static uint64_t number(const struct ny_rows *X, uint64_t row)
{
    uint64_t run;

    return ny_lost_place(&ny_store_of(X)->skipped, row, &run);
}

static void raw(struct ny_rows *X, bool as_kept)
{
    ny_store_of(X)->unprepared = as_kept;
}

void ny_store_init_rows(struct ny_store *store)
{
    static const struct ny_rows_ops ops = {info,
                                           ny_points_stats,
                                           ny_points_column_words,
                                           ny_points_pass,
                                           ny_points_read,
                                           ny_points_gather,
                                           ny_points_visit,
                                           ny_points_complete,
                                           number,
                                           raw};

    store->rows = (struct ny_rows){.ops = &ops, .ctx = store->ctx, .name = store->path};
}

struct ny_rows *ny_store_rows(struct ny_store *store)
{
    return store->in_memory ? store->in_memory->given.X : &store->rows;
}
