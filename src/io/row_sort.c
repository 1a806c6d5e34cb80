/*
 * The external sort of row_sort.h: one pass of a bucket sort, then a counting sort of each bucket.
 *
 * A bucket holds as many consecutive rows as the others. Its entries go to a stream of the spool
 * (base/spool.h) as they come, each of 8 bytes (row in the bucket, column) and its value. When the
 * first of its rows is asked for, a bucket is loaded and its entries are counted by row and put in
 * place, which keeps those of a row in the order in which they came: the result depends neither
 * on the number of buckets nor on the budget. Buckets are so many that one takes about a 32nd of
 * the budget, and rows that are fuller than others by some factors find room as well. A matrix that
 * fits in the pieces in memory never touches the disk.
 *
 * Nothing is kept for an import that is resumed: its reader sorts again.
 */
#include "io/row_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/spool.h"
#include "io/refuse.h"

enum { BUCKETS_MAX = 4096, PIECE_BYTES_MIN = 4096, PIECE_BYTES_MAX = 256 * 1024 };

/* Shares of the budget: of the pieces of all buckets, and of a bucket that is sorted. */
enum { PIECES_SHARE = 8, BUCKET_SHARE = 32 };

/* Precedes the value of an entry in the spool. */
struct place {
    uint32_t row; /* in the bucket */
    uint32_t column;
};

struct ny_row_sort {
    struct ny_context *ctx;
    const char *path;
    struct ny_row_sort_spec spec;
    struct ny_spool *spool;
    uint64_t width; /* rows of a bucket */
    size_t value_bytes;
    uint64_t bucket; /* that is loaded; UINT64_MAX: none */
    size_t *start;   /* places where its rows begin; width + 1 numbers */
    struct ny_layout loaded;
    uint32_t *column;
    char *value;
};

void ny_row_sort_free(struct ny_row_sort *sort)
{
    if (!sort) return;
    ny_layout_free(&sort->loaded);
    ny_spool_free(sort->spool);
    ny_free(sort->ctx, sort->start);
    ny_free(sort->ctx, sort);
}

/* Returns the folder of the file: the caller's, or $TMPDIR or /tmp. */
const char *ny_scratch_folder(const struct ny_reader *reader)
{
    const char *set = getenv("TMPDIR");

    if (reader->options.scratch) return reader->options.scratch;
    return set && *set ? set : "/tmp";
}

/* Chooses the number of buckets and the bytes of their pieces. */
static struct ny_spool_spec plan(const struct ny_row_sort *sort, const struct ny_reader *reader)
{
    size_t budget = ny_memory_left(sort->ctx), entry = sizeof(struct place) + sort->value_bytes;
    double bytes = (double)sort->spec.entries * (double)entry;
    double buckets = bytes / ((double)budget / BUCKET_SHARE) + 1;
    size_t most = budget / PIECES_SHARE / PIECE_BYTES_MIN, piece;

    if (most > BUCKETS_MAX) most = BUCKETS_MAX;
    if (buckets > (double)most) buckets = (double)most;
    if (buckets > (double)sort->spec.rows) buckets = (double)sort->spec.rows;
    if (buckets < 1) buckets = 1;
    piece = budget / PIECES_SHARE / (size_t)buckets;
    if (2 * bytes <= (double)(budget / PIECES_SHARE)) {
        /* All stay in memory, unless most of them are in one bucket. */
        if ((double)piece > 2 * bytes) piece = (size_t)(2 * bytes);
    } else if (piece > PIECE_BYTES_MAX) {
        piece = PIECE_BYTES_MAX;
    }
    if (piece < PIECE_BYTES_MIN) piece = PIECE_BYTES_MIN;
    return (struct ny_spool_spec){.folder = ny_scratch_folder(reader),
                                  .what = "the entries to sort by row",
                                  .streams = (size_t)buckets,
                                  .piece_bytes = piece};
}

int ny_row_sort_new(struct ny_row_sort **out, struct ny_reader *reader,
                    const struct ny_row_sort_spec *spec)
{
    struct ny_row_sort *sort = ny_calloc(reader->ctx, NY_MEM_IO, 1, sizeof(*sort));
    struct ny_spool_spec spool;
    int err;

    *out = NULL;
    if (!sort) return NY_EBUDGET;
    sort->ctx = sort->loaded.ctx = reader->ctx;
    sort->path = reader->path;
    sort->spec = *spec;
    sort->value_bytes = ny_dtype_size(spec->type);
    sort->bucket = UINT64_MAX;
    spool = plan(sort, reader);
    sort->width = spec->rows / spool.streams + (spec->rows % spool.streams > 0);
    err =
        sort->width > UINT32_MAX ? ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE) : NY_OK;
    if (!err) err = ny_spool_new(&sort->spool, sort->ctx, &spool);
    if (!err) {
        sort->start =
            ny_calloc(sort->ctx, NY_MEM_IO, (size_t)sort->width + 2, sizeof(*sort->start));
        if (!sort->start) err = NY_EBUDGET;
    }
    if (err)
        ny_row_sort_free(sort);
    else
        *out = sort;
    return err;
}

int ny_row_sort_add(struct ny_row_sort *sort, uint64_t row, uint32_t column, const void *value)
{
    struct place place = {(uint32_t)(row % sort->width), column};
    char entry[sizeof(place) + sizeof(double)];

    memcpy(entry, &place, sizeof(place));
    memcpy(entry + sizeof(place), value, sort->value_bytes);
    return ny_spool_put(sort->spool, (size_t)(row / sort->width), entry,
                        sizeof(place) + sort->value_bytes);
}

/* Adds the entries of a column, whose row numbers have index_bytes each. NY_EDATA with the row for
 * one that is not there. */
static int add_column(struct ny_row_sort *sort, uint64_t column,
                      const struct ny_row_entries *entries, unsigned index_bytes)
{
    int err = NY_OK;

    for (size_t k = 0; !err && k < entries->count; k++) {
        long long row = index_bytes == 4 ? ((const int32_t *)entries->column)[k]
                                         : ((const int64_t *)entries->column)[k];

        if (row < 0 || (uint64_t)row >= sort->spec.rows)
            return ny_refuse_damaged(sort->ctx, sort->path, (uint64_t)row);
        err = ny_row_sort_add(sort, (uint64_t)row, (uint32_t)column,
                              (const char *)entries->value + k * sort->value_bytes);
    }
    return err;
}

/* Puts the entries in the order of their rows. start[r + 1] is where the next entry of row r goes,
 * and so becomes where row r + 1 begins. */
static void sort_entries(struct ny_row_sort *sort, const char *entries, size_t count)
{
    size_t value_bytes = sort->value_bytes, entry_bytes = sizeof(struct place) + value_bytes;
    struct place place;
    size_t sum = 0;

    memset(sort->start, 0, ((size_t)sort->width + 2) * sizeof(*sort->start));
    for (size_t k = 0; k < count; k++) {
        memcpy(&place, entries + k * entry_bytes, sizeof(place));
        sort->start[place.row + 2]++;
    }
    for (uint64_t r = 2; r < sort->width + 2; r++)
        sort->start[r] = sum += sort->start[r];
    for (size_t k = 0; k < count; k++) {
        const char *entry = entries + k * entry_bytes;
        size_t to;

        memcpy(&place, entry, sizeof(place));
        to = sort->start[place.row + 1]++;
        sort->column[to] = place.column;
        memcpy(sort->value + to * value_bytes, entry + sizeof(place), value_bytes);
    }
}

/* Loads a bucket and sorts it. */
static int load_bucket(struct ny_row_sort *sort, uint64_t bucket)
{
    size_t entry_bytes = sizeof(struct place) + sort->value_bytes, bytes, count;
    char *entries;
    int err;

    ny_layout_free(&sort->loaded);
    sort->bucket = bucket;
    bytes = ny_spool_bytes(sort->spool, (size_t)bucket);
    count = bytes / entry_bytes;
    err = ny_budget_need(sort->ctx, "sort by row", 2 * bytes);
    if (err) return err;
    entries = ny_alloc(sort->ctx, NY_MEM_IO, bytes);
    sort->column = ny_lay(&sort->loaded, NY_MEM_IO, count + 1, sizeof(*sort->column));
    sort->value = ny_lay(&sort->loaded, NY_MEM_IO, count + 1, sort->value_bytes);
    err = sort->loaded.err || !entries ? NY_EBUDGET
                                       : ny_spool_load(sort->spool, (size_t)bucket, entries);
    if (!err) sort_entries(sort, entries, count);
    ny_free(sort->ctx, entries);
    return err;
}

int ny_row_sort_row(struct ny_row_sort *sort, uint64_t row, struct ny_row_entries *entries)
{
    uint64_t bucket = row / sort->width, here = row % sort->width;
    size_t first;

    if (bucket != sort->bucket) {
        int err = load_bucket(sort, bucket);

        if (err) return err;
    }
    first = sort->start[here];
    *entries =
        (struct ny_row_entries){sort->column + first, sort->value + first * sort->value_bytes,
                                sort->start[here + 1] - first};
    return NY_OK;
}

/* The fetch() of rows that are sorted. */
static int next_row(struct ny_reader *reader, struct ny_row_entries *entries)
{
    return ny_row_sort_row(reader->sort, reader->consumed, entries);
}

void ny_row_sort_serves(struct ny_sparse_rows *rows)
{
    rows->index_bytes = sizeof(uint32_t);
    rows->fetch = next_row;
}

int ny_row_sort_columns(struct ny_reader *reader, struct ny_sparse_rows *rows, uint64_t columns,
                        const struct ny_row_sort_spec *spec)
{
    int err = ny_row_sort_new(&reader->sort, reader, spec);

    for (uint64_t column = 0; !err && column < columns; column++) {
        struct ny_row_entries entries;

        err = rows->fetch(reader, &entries);
        if (!err) err = add_column(reader->sort, column, &entries, rows->index_bytes);
    }
    ny_row_sort_serves(rows);
    return err;
}
