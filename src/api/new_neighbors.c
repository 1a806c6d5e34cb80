#include "api/new_neighbors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

static struct ny_neighbor_lists *lists_of(struct ny_new_rows *rows)
{
    return (struct ny_neighbor_lists *)rows;
}

static size_t bytes(const struct ny_new_rows *rows, const struct ny_placer *placer, unsigned units)
{
    size_t t = ((const struct ny_neighbor_lists *)rows)->found.neighbors;

    return ny_read_rows_bytes(rows, placer, units) +
           NY_COMPARE_ROWS * t * (sizeof(uint64_t) + sizeof(float));
}

/* Opens the files, where there are any, and takes the room. */
static int begin(struct ny_new_rows *rows, const struct ny_placer *placer)
{
    struct ny_neighbor_lists *lists = lists_of(rows);
    struct ny_context *ctx = lists->rows.ctx;
    size_t t = lists->found.neighbors;
    uint64_t count = placer->rows == NY_ROWS_UNKNOWN ? NY_ROWS_COUNTED : placer->rows;
    int err = NY_OK;

    if (lists->rows.output)
        err = ny_writer_open(&lists->numbers_writer, ctx, lists->rows.output, NY_OUT_U64, count, t);
    if (!err && lists->numbers_writer) err = ny_writer_fits(lists->numbers_writer);
    if (!err && lists->distances_output)
        err = ny_writer_open(&lists->distances_writer, ctx, lists->distances_output, NY_OUT_F32,
                             count, t);
    if (!err && lists->distances_writer) err = ny_writer_fits(lists->distances_writer);
    if (err) return err;
    lists->wide = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(*lists->wide));
    lists->narrow = ny_calloc(ctx, NY_MEM_TILES, NY_COMPARE_ROWS, t * sizeof(*lists->narrow));
    return lists->wide && lists->narrow ? NY_OK : NY_EBUDGET;
}

/* Takes distances of the rows from `first` on to f32, as a file has them. */
static int narrow(const struct ny_neighbor_lists *lists, const double *distance, uint64_t first,
                  size_t items)
{
    for (size_t i = 0; i < items; i++) {
        lists->narrow[i] = (float)distance[i];
        if (isinf(lists->narrow[i]))
            return ny_fail(lists->rows.ctx, NY_ENUMERIC,
                           "new row %llu is farther from its neighbors than %.2g, the most that a "
                           "file of distances can hold; look for huge values in it",
                           (unsigned long long)(first + i / lists->found.neighbors),
                           (double)FLT_MAX);
    }
    return NY_OK;
}

static int put(struct ny_new_rows *rows, const struct ny_placer *placer, const void *places,
               uint64_t first, size_t count)
{
    struct ny_neighbor_lists *lists = lists_of(rows);
    const struct ny_measured *found = places;
    size_t t = lists->found.neighbors, items = count * t, at = (size_t)first * t;
    int err = lists->distances_writer ? narrow(lists, found->distance, first, items) : NY_OK;

    (void)placer;
    if (err) return err;
    for (size_t i = 0; i < items; i++)
        lists->wide[i] = found->row[i];
    if (lists->numbers) memcpy(lists->numbers + at, lists->wide, items * sizeof(*lists->numbers));
    if (lists->distances)
        memcpy(lists->distances + at, found->distance, items * sizeof(*lists->distances));
    if (lists->numbers_writer) err = ny_writer_rows(lists->numbers_writer, lists->wide, count);
    if (!err && lists->distances_writer)
        err = ny_writer_rows(lists->distances_writer, lists->narrow, count);
    return err;
}

/* Gives the files their names, the numbers last. */
static int end(struct ny_new_rows *rows, const struct ny_placer *placer)
{
    struct ny_neighbor_lists *lists = lists_of(rows);
    struct ny_writer *writer = lists->distances_writer;
    int err = ny_writer_finish(lists->numbers_writer);

    (void)placer;
    if (!err) lists->distances_writer = NULL;
    if (!err && writer) err = ny_writer_commit(writer);
    if (err) return err;
    writer = lists->numbers_writer;
    lists->numbers_writer = NULL;
    return writer ? ny_writer_commit(writer) : NY_OK;
}

static void close_lists(struct ny_new_rows *rows)
{
    struct ny_neighbor_lists *lists = lists_of(rows);

    ny_writer_abort(lists->numbers_writer);
    ny_writer_abort(lists->distances_writer);
    ny_free(lists->rows.ctx, lists->wide);
    ny_free(lists->rows.ctx, lists->narrow);
    ny_read_rows_close(rows);
}

int ny_neighbor_lists_find(struct ny_neighbor_lists *lists, struct ny_store *store,
                           const char *name)
{
    static const struct ny_new_rows_ops ops = {
        ny_read_rows_open, bytes, ny_read_rows_source, begin, put, end, close_lists};
    struct ny_fitted fitted;
    int err = ny_fitted_open(&fitted, store, name);

    lists->rows.base.ops = &ops;
    if (!err) err = ny_neighbors_of_rows(&fitted, &lists->rows.base, &lists->found);
    json_decref(fitted.record);
    return err;
}
