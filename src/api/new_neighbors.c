/* Writes the neighbours of new rows to files, or into memory (api/new_rows.h). */
#include "api/new_rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "nearest/knn.h"

static struct ny_neighbor_lists *lists_of(struct ny_new_rows *rows)
{
    return (struct ny_neighbor_lists *)rows;
}

/* Opens the files, where there are any, and takes the room. */
static int begin(struct ny_new_rows *rows, struct ny_placer *placer, unsigned units,
                 struct ny_source **out)
{
    struct ny_neighbor_lists *lists = lists_of(rows);
    struct ny_context *ctx = lists->rows.ctx;
    size_t t = lists->found.neighbors;
    uint64_t count = placer->rows == NY_ROWS_UNKNOWN ? NY_ROWS_COUNTED : placer->rows;
    int err = ny_read_rows_source(rows, placer, units, out);

    if (!err && lists->rows.output)
        err = ny_writer_open(&lists->numbers_writer, ctx, lists->rows.output, NY_OUT_U64, count, t);
    if (!err && lists->numbers_writer) err = ny_writer_fits(lists->numbers_writer);
    if (!err && lists->distances_output)
        err = ny_writer_open(&lists->distances_writer, ctx, lists->distances_output, NY_OUT_F32,
                             count, t);
    if (!err && lists->distances_writer) err = ny_writer_fits(lists->distances_writer);
    if (err) return err;
    lists->wide = ny_calloc(ctx, NY_MEM_IO, t, sizeof(*lists->wide));
    lists->narrow = ny_calloc(ctx, NY_MEM_IO, t, sizeof(*lists->narrow));
    return lists->wide && lists->narrow ? NY_OK : NY_EBUDGET;
}

/* Puts the neighbours of new row `at`. */
static int put_row(struct ny_neighbor_lists *lists, const uint32_t *row, const double *distance,
                   uint64_t at)
{
    size_t t = lists->found.neighbors;
    int err = NY_OK;

    for (size_t k = 0; k < t; k++) {
        lists->wide[k] = row[k];
        lists->narrow[k] = (float)distance[k];
    }
    if (lists->distances_writer && isinf(lists->narrow[t - 1]))
        return ny_fail(lists->rows.ctx, NY_ENUMERIC,
                       "new row %llu is too far from its neighbors for f32",
                       (unsigned long long)at);
    if (lists->numbers) memcpy(lists->numbers + at * t, lists->wide, t * sizeof(*lists->wide));
    if (lists->distances) memcpy(lists->distances + at * t, distance, t * sizeof(*distance));
    if (lists->numbers_writer) err = ny_writer_rows(lists->numbers_writer, lists->wide, 1);
    if (!err && lists->distances_writer)
        err = ny_writer_rows(lists->distances_writer, lists->narrow, 1);
    return err;
}

static int put(struct ny_new_rows *rows, const struct ny_placer *placer, const void *places,
               uint64_t first, size_t count)
{
    struct ny_neighbor_lists *lists = lists_of(rows);
    const struct ny_measured *found = places;
    size_t t = lists->found.neighbors;
    int err = NY_OK;

    (void)placer;
    for (size_t i = 0; !err && i < count; i++)
        err = put_row(lists, found->row + i * t, found->distance + i * t, first + i);
    return err;
}

/* Gives the files their names, the numbers last. */
static int end(struct ny_new_rows *rows, const struct ny_placer *placer)
{
    struct ny_neighbor_lists *lists = lists_of(rows);
    struct ny_writer *writer = lists->distances_writer;
    int err = ny_writer_finish(lists->numbers_writer);

    lists->rows.placed = placer->placed;
    lists->rows.left_out = ny_reader_left_out(lists->rows.reader);
    if (!err) lists->distances_writer = NULL;
    if (!err) err = ny_writer_commit(writer, NY_OK);
    if (err) return err;
    writer = lists->numbers_writer;
    lists->numbers_writer = NULL;
    return ny_writer_commit(writer, NY_OK);
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
    static const struct ny_new_rows_ops ops = {ny_read_rows_open, begin, put, end, close_lists};
    struct ny_fitted fitted;
    int err = ny_fitted_open(&fitted, store, name);

    lists->rows.base.ops = &ops;
    if (!err) err = ny_neighbors_of_rows(&fitted, &lists->rows.base, &lists->found);
    ny_record_free(fitted.record);
    return err;
}
