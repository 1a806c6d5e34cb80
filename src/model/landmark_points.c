/* Stores and reads landmarks that are points, in chunks of whole rows, and turns them into the type
 * and layout that is asked for. A row that is larger than a chunk has chunks of its own, all but
 * the last of which are full. */
#include "model/landmark_points.h"

#include <string.h>

#include "base/memory.h"
#include "model/embedding.h"
#include "stream/source.h"

static const char part[] = "landmark-points";

struct ny_landmark_points ny_landmark_points_of(struct ny_record record)
{
    const struct ny_state_given given = ny_state_of(record).given;
    const char *dtype = given.dtype;
    struct ny_landmark_points how = {.dtype = dtype ? ny_dtype_parse(dtype) : NY_DTYPE_NONE};

    if (how.dtype == NY_DTYPE_NONE) return how;
    how.count = (size_t)given.landmarks;
    how.slots = (size_t)given.slots;
    return how;
}

/* Returns the layout of the part: chunks of whole rows. */
static struct ny_embedding_layout layout_of(const struct ny_landmark_points *how, size_t d)
{
    struct ny_embedding_layout layout =
        ny_embedding_layout(how->count, ny_row_bytes(how->dtype, d, how->slots), 1);

    layout.part = ny_part_of(part, 0);
    return layout;
}

/* Returns how many chunks a row takes that is larger than one; 1: a chunk has whole rows. */
static size_t chunks_of_row(const struct ny_embedding_layout *layout)
{
    return (layout->row_bytes + NY_CHUNK_BYTES - 1) / NY_CHUNK_BYTES;
}

/* The place of a chunk in the bytes of all rows. */
struct piece {
    size_t at, bytes;
};

static struct piece piece_of(const struct ny_embedding_layout *layout, size_t chunk)
{
    size_t chunks = chunks_of_row(layout), row_bytes = layout->row_bytes;
    size_t row = chunks > 1 ? chunk / chunks : chunk * layout->chunk_rows;
    size_t in_row = chunks > 1 ? chunk % chunks * NY_CHUNK_BYTES : 0;
    size_t left = (chunks > 1 ? row_bytes : ((size_t)layout->rows - row) * row_bytes) - in_row;
    size_t most = chunks > 1 ? NY_CHUNK_BYTES : layout->chunk_rows * row_bytes;

    return (struct piece){row * row_bytes + in_row, left < most ? left : most};
}

/* Writes all rows, as many chunks at a time as a batch may have. They are in memory already, so
 * that nothing is held beside them but the pages of a batch. */
static int put_rows(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                    const char *rows)
{
    size_t in_batch = ny_batch_bytes_max(ny_memory_limit(keep->ctx)) / NY_CHUNK_BYTES;
    size_t bytes = (size_t)layout->rows * layout->row_bytes, done = 0, chunk = 0;
    int err = NY_OK;

    while (!err && done < bytes) {
        struct ny_batch *batch;

        err = keep->ops->begin(keep, &batch);
        if (err) break;
        for (size_t i = 0; i < in_batch && done < bytes; i++) {
            struct piece piece = piece_of(layout, chunk);

            keep->ops->put(keep, batch, layout->part.name, chunk++, rows + piece.at, piece.bytes);
            done += piece.bytes;
        }
        err = keep->ops->commit(batch);
    }
    return err;
}

int ny_landmark_points_put(const struct ny_keep *keep, struct ny_record record,
                           const struct ny_landmark_points *how, const void *rows)
{
    struct ny_embedding_layout layout = layout_of(how, how->d);
    struct ny_state state = ny_state_of(record);
    int err = put_rows(keep, &layout, rows);

    if (err) return err;
    state.given = (struct ny_state_given){.there = true,
                                          .landmarks = how->count,
                                          .dtype = ny_dtype_name(how->dtype),
                                          .slots = how->slots};
    record.ops->put(record, &state);
    return NY_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Writes a row in the type of *as: of a record the values at their columns, or a record. */
static void convert_row(const struct ny_landmark_points *how, const void *row,
                        const struct ny_landmark_points *as, size_t d, char *out)
{
    if (!how->slots)
        ny_dtype_widen(how->dtype, row, as->dtype, out, d);
    else if (as->slots)
        ny_sparse_pack_as(out, as->slots, as->dtype, ny_sparse_of(row, how->slots), how->dtype);
    else
        ny_sparse_spread(ny_sparse_of(row, how->slots), how->dtype, d, as->dtype, out);
}

/* Tells whether the columns of each sparse row ascend, and are among d. */
static bool are_records(const char *rows, size_t count, size_t slots, size_t d, size_t row_bytes)
{
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = ny_sparse_of(rows + i * row_bytes, slots);

        for (size_t k = 0; k < row.count; k++)
            if (row.index[k] >= d || (k && row.index[k] <= row.index[k - 1])) return false;
    }
    return true;
}

/* Tells whether a record of the part, of at most d values, can be turned into one of these. */
static bool holds(const struct ny_landmark_points *how, const struct ny_landmark_points *as,
                  uint64_t first, size_t d)
{
    bool type = ny_dtype_common(how->dtype, as->dtype) == as->dtype;
    bool layout = as->slots ? how->slots && how->slots <= as->slots : true;

    return type && layout && how->slots <= d && first <= how->count &&
           as->count <= how->count - first;
}

static int not_these(const struct ny_keep *keep)
{
    return ny_fail_damaged(keep->ctx, keep->name, keep->place);
}

/* Reads rows that are larger than a chunk. */
static int get_wide_rows(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                         size_t first, size_t count, char *rows)
{
    struct ny_context *ctx = keep->ctx;
    size_t chunks = chunks_of_row(layout);
    struct ny_chunk chunk = {.data = ny_alloc(ctx, NY_MEM_STORE, NY_CHUNK_BYTES),
                             .capacity = NY_CHUNK_BYTES};
    int err = chunk.data ? NY_OK : NY_EBUDGET;

    for (size_t i = first * chunks; !err && i < (first + count) * chunks; i++) {
        struct piece piece = piece_of(layout, i);

        err = keep->ops->chunk(keep, layout->part.name, i, &chunk);
        if (err == NY_END || (!err && chunk.bytes != piece.bytes)) err = not_these(keep);
        if (!err) memcpy(rows + piece.at - first * layout->row_bytes, chunk.data, piece.bytes);
    }
    ny_free(ctx, chunk.data);
    return err;
}

static int get_rows(const struct ny_keep *keep, const struct ny_embedding_layout *layout,
                    size_t first, size_t count, char *rows)
{
    return chunks_of_row(layout) > 1 ? get_wide_rows(keep, layout, first, count, rows)
                                     : ny_embedding_rows(keep, layout, first, count, rows);
}

int ny_landmark_points_get(const struct ny_keep *keep, struct ny_record record,
                           const struct ny_landmark_points *as, uint64_t first, void *rows)
{
    struct ny_context *ctx = keep->ctx;
    struct ny_landmark_points how = ny_landmark_points_of(record);
    struct ny_embedding_layout layout;
    size_t d = as->d, wide, piece;
    char *stored;
    int err = NY_OK;

    if (!holds(&how, as, first, d)) return not_these(keep);
    layout = layout_of(&how, d);
    wide = ny_row_bytes(as->dtype, d, as->slots);
    piece = as->count < layout.chunk_rows ? as->count : layout.chunk_rows;
    stored = ny_calloc(ctx, NY_MEM_STORE, piece, layout.row_bytes);
    if (!stored) return NY_EBUDGET;
    for (size_t done = 0; err == NY_OK && done < as->count; done += piece) {
        if (piece > as->count - done) piece = as->count - done;
        err = get_rows(keep, &layout, (size_t)first + done, piece, stored);
        if (err == NY_OK && how.slots &&
            !are_records(stored, piece, how.slots, d, layout.row_bytes))
            err = not_these(keep);
        for (size_t i = 0; err == NY_OK && i < piece; i++)
            convert_row(&how, stored + i * layout.row_bytes, as, d,
                        (char *)rows + (done + i) * wide);
    }
    ny_free(ctx, stored);
    return err;
}

int ny_landmark_points_gather(struct ny_rows *X, const struct ny_landmark_points *as,
                              const uint64_t *numbers, void *rows)
{
    struct ny_context *ctx = X->ctx;
    struct ny_landmark_points how = {.count = as->count};
    struct ny_rows_info info;
    size_t row, wide;
    char *stored;
    int err = X->ops->info(X, &info);

    if (err) return err;
    how.dtype = info.dtype;
    how.slots = (size_t)info.row_slots;
    row = ny_rows_row_bytes(&info);
    wide = (size_t)info.d * ny_dtype_size(as->dtype);
    stored = ny_calloc(ctx, NY_MEM_STORE, as->count, row);
    err = stored ? X->ops->gather(X, how.slots, numbers, as->count, stored) : NY_EBUDGET;
    for (size_t i = 0; err == NY_OK && i < as->count; i++)
        convert_row(&how, stored + i * row, as, (size_t)info.d, (char *)rows + i * wide);
    ny_free(ctx, stored);
    return err;
}
