/*
 * Rows in memory (stream/rows_memory.h). Both layouts are read through a source of their own
 * (stream/memory_source.c, stream/csr_source.c), also where a few rows are asked for: a range is a
 * strip of a tile, and so is each row of a gather. So there is one place that knows of gaps,
 * preparation, and the pages of mapped files.
 */
#include "stream/rows_memory.h"

#include <string.h>

#include "base/memory.h"
#include "stream/kept_count.h"
#include "stream/wishes.h"

struct memory {
    struct ny_rows rows;
    struct ny_memory_rows given;
    struct ny_rows_info info; /* of rows that are prepared */
    struct ny_moments moments;
    double norms;
    bool raw;
};

/* Returns the rows as they are handed out at the moment. */
static struct ny_kept_rows kept_of(const struct memory *memory)
{
    struct ny_kept_rows kept = memory->given.kept;

    if (memory->raw) kept.how = (struct ny_prepared){.rows = NY_ROWS_NONE};
    return kept;
}

static int info(struct ny_rows *X, struct ny_rows_info *out)
{
    const struct memory *memory = (const struct memory *)X;

    *out = memory->info;
    if (!memory->raw) return NY_OK;
    out->dtype = out->stored_dtype;
    out->preparation = (struct ny_prepared){.rows = NY_ROWS_NONE};
    return NY_OK;
}

static int stats(struct ny_rows *X, struct ny_rows_stats *out)
{
    const struct memory *memory = (const struct memory *)X;

    return ny_rows_stats_of(out, X->ctx, &memory->moments, memory->norms);
}

static int column_words(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES])
{
    const struct ny_names *names = ((const struct memory *)X)->given.columns;

    ny_rows_name_column(column, names ? ny_names_skip(names->text, (size_t)column) : NULL, words);
    return NY_OK;
}

static int source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out)
{
    const struct memory *memory = (const struct memory *)X;
    struct ny_kept_rows kept = kept_of(memory);

    *out = NULL;
    if ((memory->info.row_slots > 0) != (slots > 0)) return NY_BUG(X->ctx);
    if (n < kept.n) kept.n = n;
    return slots ? ny_source_of_kept_csr(out, X->ctx, &kept, slots, workers)
                 : ny_source_of_kept(out, X->ctx, &kept);
}

static int check_range(const struct memory *memory, uint64_t first, size_t count)
{
    uint64_t n = memory->info.n;

    if (first <= n && count <= n - first) return NY_OK;
    return NY_BUG(memory->rows.ctx);
}

static int read_rows(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *out)
{
    struct ny_tile tile = {.first_row = first, .rows = count};
    int err = check_range((const struct memory *)X, first, count);

    if (!err) err = source(X, UINT64_MAX, slots, 1, &tile.source);
    if (!err) err = ny_tile_strip(&tile, 0, count, out);
    ny_source_free(tile.source);
    return err;
}

/* ---- rows by their numbers ----------------------------------------------------------------- */

/* Takes row `at` of a tile. */
typedef int found_fn(void *arg, const struct ny_tile *tile, size_t at, size_t position);

/* Sets the tile to the row of the first wish and, in a mapped file, those close behind it, so that
 * its pages are given back behind the last of them. */
static void set_tile(const struct memory *memory, struct ny_tile *tile,
                     const struct ny_wish *wishes, size_t count)
{
    size_t last = 0;

    tile->first_row = wishes[0].row;
    while (memory->given.kept.values.mapped && last + 1 < count &&
           wishes[last + 1].row - tile->first_row < memory->info.block_rows)
        last++;
    tile->rows = (size_t)(wishes[last].row - tile->first_row) + 1;
}

static int find_wishes(const struct memory *memory, struct ny_tile *tile,
                       const struct ny_wish *wishes, size_t count, found_fn *found, void *arg)
{
    const struct ny_kept_rows *kept = &memory->given.kept;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++)
        err = check_range(memory, wishes[i].row, 1);
    for (size_t i = 0; !err && i < count; i++) {
        if (kept->row_bytes) ny_wishes_ahead(&kept->values, kept->row_bytes, wishes, count, i);
        if (i == 0 || wishes[i].row - tile->first_row >= tile->rows)
            set_tile(memory, tile, wishes + i, count - i);
        err = found(arg, tile, (size_t)(wishes[i].row - tile->first_row), wishes[i].position);
    }
    return err;
}

static int find_rows(struct memory *memory, size_t slots, const uint64_t *rows, size_t count,
                     found_fn *found, void *arg)
{
    struct ny_context *ctx = memory->rows.ctx;
    struct ny_wish *wishes = ny_calloc(ctx, NY_MEM_STORE, count, sizeof(*wishes));
    struct ny_tile tile = {.source = NULL};
    int err = wishes ? source(&memory->rows, UINT64_MAX, slots, 1, &tile.source) : NY_EBUDGET;

    for (size_t i = 0; !err && i < count; i++)
        wishes[i] = (struct ny_wish){rows[i], i};
    if (!err) {
        if (slots || memory->given.kept.values.mapped) ny_wishes_sort(wishes, count);
        err = find_wishes(memory, &tile, wishes, count, found, arg);
    }
    ny_source_free(tile.source);
    ny_free(ctx, wishes);
    return err;
}

/* The rows of a gather, one after another. */
struct gathering {
    char *out;
    size_t row_bytes;
};

static int copy_found(void *arg, const struct ny_tile *tile, size_t at, size_t position)
{
    const struct gathering *gathering = arg;

    return ny_tile_strip(tile, at, 1, gathering->out + position * gathering->row_bytes);
}

static int gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    struct ny_rows_info now;
    struct gathering gathering = {.out = out};

    (void)info(X, &now);
    gathering.row_bytes = ny_row_bytes(now.dtype, (size_t)now.d, slots);
    return find_rows((struct memory *)X, slots, rows, count, copy_found, &gathering);
}

/* Whoever looks at sparse rows, and what he said of the last. */
struct visitor {
    ny_gathered_fn *take;
    void *arg;
    size_t position;
    int err;
};

static int show_row(void *arg, struct ny_sparse row)
{
    struct visitor *visitor = arg;

    visitor->err = visitor->take(visitor->arg, visitor->position, row);
    return visitor->err ? visitor->err : NY_END; /* no other row of the tile */
}

static int show_found(void *arg, const struct ny_tile *tile, size_t at, size_t position)
{
    struct visitor *visitor = arg;
    int err;

    visitor->position = position;
    err = tile->source->ops->visit(tile->source, tile, at, show_row, visitor);
    return err ? err : visitor->err;
}

static int visit(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                 ny_gathered_fn *take, void *arg)
{
    struct visitor visitor = {.take = take, .arg = arg};

    return find_rows((struct memory *)X, slots, rows, count, show_found, &visitor);
}

static void raw(struct ny_rows *X, bool as_kept)
{
    ((struct memory *)X)->raw = as_kept;
}

/* ---- making them ---------------------------------------------------------------------------- */

void ny_memory_rows_free(struct ny_rows *X)
{
    struct memory *memory = (struct memory *)X;

    if (!memory) return;
    ny_free(X->ctx, memory->moments.cells);
    ny_free(X->ctx, memory);
}

int ny_rows_of_memory(struct ny_rows **out, struct ny_context *ctx,
                      const struct ny_memory_rows *rows)
{
    static const struct ny_rows_ops ops = {info,      stats,  column_words, source,
                                           read_rows, gather, visit,        .raw = raw};
    struct memory *memory = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*memory));
    struct ny_kept_rows *kept;
    int err = NY_OK;

    *out = NULL;
    if (!memory) return NY_EBUDGET;
    memory->rows = (struct ny_rows){.ops = &ops, .ctx = ctx, .name = rows->name};
    memory->given = *rows;
    kept = &memory->given.kept;
    if (!kept->row_start && !kept->row_bytes)
        kept->row_bytes = kept->d * ny_dtype_size(kept->dtype);
    memory->moments.d = kept->d;
    memory->moments.cells = ny_calloc(ctx, NY_MEM_STORE, 4 * kept->d, sizeof(double));
    if (!memory->moments.cells) err = NY_EBUDGET;
    if (!err) err = ny_kept_info(ctx, kept, rows->entries, &memory->info);
    if (!err)
        err = ny_kept_count(ctx, &memory->given, &memory->info, &memory->moments, &memory->norms);
    if (err)
        ny_memory_rows_free(&memory->rows);
    else
        *out = &memory->rows;
    return err;
}
