/*
 * Writes and reads a part that has one item a row, in chunks of whole rows (model/embedding.h):
 * embeddings, and the lists of graphs.
 *
 * A writer holds rows until a batch takes them. Whole chunks are then forgotten; the last, short
 * one is written too, stays in the buffer, and is written again when it is longer. So every commit
 * has all rows so far, and a resumed writer reads back the rows of its chunk.
 */
#include "model/embedding.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "stream/source.h"

struct ny_embedding_layout ny_embedding_layout(uint64_t rows, size_t components, size_t element)
{
    size_t row_bytes = components * element;
    size_t chunk_rows = NY_CHUNK_BYTES / row_bytes;

    return (struct ny_embedding_layout){ny_part_of("embedding", 0), rows, row_bytes,
                                        chunk_rows ? chunk_rows : 1};
}

/* Rows that a buffer holds: what a batch may carry, but at least a chunk and a unit. */
static size_t capacity_of(const struct ny_embedding_layout *layout, size_t batch_bytes)
{
    size_t least = layout->chunk_rows + NY_UNIT_ROWS;
    size_t rows = batch_bytes / 2 / layout->row_bytes;

    if (rows > layout->rows + least) rows = (size_t)layout->rows + least;
    return rows < least ? least : rows;
}

void ny_embedding_writer_count(struct ny_layout *l, const struct ny_embedding_layout *layout,
                               size_t limit)
{
    ny_layout_add(l, NY_MEM_STORE,
                  2 * capacity_of(layout, ny_batch_bytes_max(limit)) * layout->row_bytes);
}

int ny_embedding_writer_new(struct ny_embedding_writer *writer, const struct ny_keep *keep,
                            struct ny_embedding_layout layout, uint64_t first_row)
{
    struct ny_context *ctx = keep->ctx;

    *writer = (struct ny_embedding_writer){
        .keep = *keep,
        .layout = layout,
        .first_row = first_row / layout.chunk_rows * layout.chunk_rows,
        .capacity = capacity_of(&layout, ny_batch_bytes_max(ny_memory_limit(keep->ctx))),
    };
    writer->rows = ny_calloc(ctx, NY_MEM_STORE, writer->capacity, layout.row_bytes);
    if (!writer->rows) return NY_EBUDGET;
    writer->count = (size_t)(first_row - writer->first_row);
    if (!writer->count) return NY_OK;
    layout.rows = first_row;
    return ny_embedding_rows(keep, &layout, writer->first_row, writer->count, writer->rows);
}

void ny_embedding_writer_release(struct ny_embedding_writer *writer)
{
    if (writer->rows) ny_free(writer->keep.ctx, writer->rows);
    *writer = (struct ny_embedding_writer){0};
}

void ny_embedding_add(struct ny_embedding_writer *writer, const void *rows, size_t count)
{
    assert(count <= writer->capacity - writer->count); /* who adds asks ny_embedding_full() */
    memcpy(writer->rows + writer->count * writer->layout.row_bytes, rows,
           count * writer->layout.row_bytes);
    writer->count += count;
}

bool ny_embedding_full(const struct ny_embedding_writer *writer)
{
    return writer->count + NY_UNIT_ROWS > writer->capacity;
}

/* Puts all rows of the buffer into the batch, and moves those of a chunk that is not whole to
 * its front. */
static int flush(struct ny_embedding_writer *writer, struct ny_batch *batch)
{
    const struct ny_embedding_layout *layout = &writer->layout;
    size_t whole = writer->count / layout->chunk_rows * layout->chunk_rows;
    int err = NY_OK;

    for (size_t first = 0; first < writer->count && err == NY_OK; first += layout->chunk_rows) {
        size_t count = writer->count - first;

        if (count > layout->chunk_rows) count = layout->chunk_rows;
        err = writer->keep.ops->put(&writer->keep, batch, layout->part.name,
                                    (writer->first_row + first) / layout->chunk_rows,
                                    writer->rows + first * layout->row_bytes,
                                    count * layout->row_bytes);
    }
    if (err) return err;
    writer->count -= whole;
    writer->first_row += whole;
    memmove(writer->rows, writer->rows + whole * layout->row_bytes,
            writer->count * layout->row_bytes);
    return NY_OK;
}

int ny_embedding_batch(struct ny_embedding_writer *writer, struct ny_embedding_writer *beside,
                       struct ny_batch **batch)
{
    int err = writer->keep.ops->begin(&writer->keep, batch);

    if (err) return err;
    err = flush(writer, *batch);
    if (err == NY_OK && beside && beside->rows) err = flush(beside, *batch);
    if (err) writer->keep.ops->cancel(*batch);
    return err;
}

/* Reads a chunk that has to have `rows` rows or more. */
static int read_chunk(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                      uint64_t index, size_t rows, struct ny_chunk *chunk)
{
    int err = keep->ops->chunk(keep, layout->part.name, index, chunk);

    if (err == NY_END || (err == NY_OK && chunk->bytes < rows * layout->row_bytes))
        err = ny_fail(keep->ctx, NY_ESTORE,
                      "chunk %llu of part %s of '%s' in %s is missing or short; fit it again "
                      "with --restart",
                      (unsigned long long)index, layout->part.name, keep->name, keep->place);
    return err;
}

/* Rows to be read: first … first+count−1, to `out`. */
struct range {
    const struct ny_keep *keep;
    const struct ny_embedding_layout *layout;
    uint64_t first;
    size_t count;
    char *out;
};

/* Reads those rows that the chunk has which are wanted: to where they belong if they are all of
 * them, else by way of a chunk's room. */
static int read_part(const struct range *range, uint64_t index)
{
    const struct ny_embedding_layout *layout = range->layout;
    struct ny_context *ctx = range->keep->ctx;
    uint64_t begin = index * layout->chunk_rows, last = range->first + range->count;
    size_t before = begin < range->first ? (size_t)(range->first - begin) : 0;
    size_t end = last - begin < layout->chunk_rows ? (size_t)(last - begin) : layout->chunk_rows;
    char *out = range->out + (begin + before - range->first) * layout->row_bytes;
    struct ny_chunk chunk = {.data = out, .capacity = layout->chunk_rows * layout->row_bytes};
    bool whole = before == 0 && end == layout->chunk_rows;
    int err;

    if (!whole) chunk.data = ny_alloc(ctx, NY_MEM_STORE, chunk.capacity);
    if (!chunk.data) return NY_EBUDGET;
    err = read_chunk(range->keep, layout, index, end, &chunk);
    if (whole) return err;
    if (!err)
        memcpy(out, (char *)chunk.data + before * layout->row_bytes,
               (end - before) * layout->row_bytes);
    ny_free(ctx, chunk.data);
    return err;
}

/* Reads those of the rows that are in chunks first … first+count−1 of the range. */
static int read_parts(void *arg, size_t first, size_t count)
{
    const struct range *range = arg;
    uint64_t index = range->first / range->layout->chunk_rows + first;
    int err = NY_OK;

    for (size_t k = 0; k < count && !err; k++)
        err = read_part(range, index + k);
    return err;
}

int ny_embedding_rows(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                      uint64_t first, size_t count, void *rows)
{
    const size_t many = 16; /* chunks that are worth threads */
    struct range range = {keep, layout, first, count, rows};
    size_t chunks;

    if (!count) return NY_OK;
    chunks = (size_t)((first + count - 1) / layout->chunk_rows - first / layout->chunk_rows) + 1;
    return chunks < many ? read_parts(&range, 0, chunks)
                         : ny_parallel_ranges(keep->ctx, chunks, read_parts, &range);
}

/* The chunk of the smallest number from `from` on that holds any of the rows, and how many rows it
 * has to have for them; false when there is none. */
static bool next_chunk(const struct ny_embedding_layout *layout, const uint64_t *rows, size_t count,
                       uint64_t *from, size_t *needed)
{
    uint64_t next = UINT64_MAX;

    *needed = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t index = rows[i] / layout->chunk_rows;
        size_t least = (size_t)(rows[i] % layout->chunk_rows) + 1;

        if (index < *from || index > next) continue;
        *needed = index < next || least > *needed ? least : *needed;
        next = index;
    }
    *from = next;
    return *needed > 0;
}

int ny_embedding_gather(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                        const uint64_t *rows, size_t count, void *out)
{
    struct ny_context *ctx = keep->ctx;
    size_t needed, chunk_bytes = layout->chunk_rows * layout->row_bytes;
    struct ny_chunk chunk = {.data = ny_alloc(ctx, NY_MEM_STORE, chunk_bytes),
                             .capacity = chunk_bytes};
    int err = chunk.data ? NY_OK : NY_EBUDGET;

    for (uint64_t index = 0; err == NY_OK && next_chunk(layout, rows, count, &index, &needed);
         index++) {
        err = read_chunk(keep, layout, index, needed, &chunk);
        for (size_t i = 0; i < count && err == NY_OK; i++)
            if (rows[i] / layout->chunk_rows == index)
                memcpy((char *)out + i * layout->row_bytes,
                       (char *)chunk.data + rows[i] % layout->chunk_rows * layout->row_bytes,
                       layout->row_bytes);
    }
    ny_free(ctx, chunk.data);
    return err;
}
