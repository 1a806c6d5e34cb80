/* The points of a store as the rows of a computation (stream/rows.h). */
#include "store/store_private.h"

static struct ny_store *store_of(const struct ny_rows *X)
{
    return (struct ny_store *)(uintptr_t)X;
}

static int info(struct ny_rows *X, struct ny_rows_info *out)
{
    return ny_points_info(store_of(X), out);
}

static int stats(struct ny_rows *X, struct ny_rows_stats *out)
{
    return ny_points_stats(store_of(X), out);
}

static int column_words(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES])
{
    return ny_points_column_words(store_of(X), column, words);
}

static int source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out)
{
    return ny_points_source_new(store_of(X), n, slots, workers, out);
}

static int read_rows(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *out)
{
    return ny_points_read(store_of(X), slots, first, count, out);
}

static int gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    return ny_points_gather(store_of(X), slots, rows, count, out);
}

static int visit(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                 ny_gathered_fn *take, void *arg)
{
    return ny_points_visit(store_of(X), slots, rows, count, take, arg);
}

static int complete(struct ny_rows *X, uint64_t rows, void *array, size_t element)
{
    return ny_points_complete(store_of(X), rows, array, element);
}

static uint64_t number(const struct ny_rows *X, uint64_t row)
{
    uint64_t run;

    return ny_lost_place(&store_of(X)->skipped, row, &run);
}

static void raw(struct ny_rows *X, bool as_kept)
{
    store_of(X)->unprepared = as_kept;
}

void ny_store_init_rows(struct ny_store *store)
{
    static const struct ny_rows_ops ops = {info,   stats, column_words, source, read_rows,
                                           gather, visit, complete,     number, raw};

    store->rows = (struct ny_rows){.ops = &ops, .ctx = store->ctx, .name = store->path};
}

struct ny_rows *ny_store_rows(struct ny_store *store)
{
    return store->in_memory ? store->in_memory->given.X : &store->rows;
}
