/* Rows in memory as a source. They may be a mapped file's, of which pages ahead of the units are
 * asked for, and those that were read are given back. */
#include "stream/source.h"

#include <string.h>

#include "base/memory.h"

/* Bytes that are asked for at a time; and those of a strip from which each is given back by itself:
 * of less, all of a unit is, as a call of the system takes as long as to read a few KiB. */
enum { AHEAD_BYTES = 16 << 20, WIDE_BYTES = 1 << 20 };

struct memory_source {
    struct ny_source base;
    uint64_t asked;               /* rows before this one were asked for */
    struct ny_kept_rows kept;     /* or records, from one to the next */
    bool dense;                   /* they are, and are to become records */
    const struct ny_sparse *list; /* sparse rows in place of these; NULL: none */
};

/* Returns where row i is. */
static const char *row_at(const struct memory_source *source, uint64_t i)
{
    return source->kept.values.at + i * source->kept.row_bytes;
}

/* Asks for rows beyond the tile, many at a time. */
static void look_ahead(struct memory_source *source, const struct ny_tile *tile)
{
    size_t row_bytes = source->kept.row_bytes;
    uint64_t ahead = AHEAD_BYTES / row_bytes, end = tile->first_row + tile->rows;
    uint64_t first = source->asked > tile->first_row ? source->asked : tile->first_row;

    if (source->asked == source->base.n || source->asked > end + ahead / 2) return;
    end = source->base.n - end < ahead ? source->base.n : end + ahead;
    ny_memory_advise(row_at(source, first), (size_t)(end - first) * row_bytes, MADV_WILLNEED);
    source->asked = end;
}

/* Gives back the pages of a strip that was read, or of its unit when the last strip was. */
static void look_behind(const struct memory_source *source, const struct ny_tile *tile,
                        size_t first, size_t count)
{
    size_t row_bytes = source->kept.row_bytes;
    bool wide = count * row_bytes >= WIDE_BYTES;
    size_t begin = wide ? first : 0, end = first + count;

    if (!source->kept.values.shared || (!wide && end != tile->rows)) return;
    ny_borrowed_done(&source->kept.values, row_at(source, tile->first_row + begin),
                     (end - begin) * row_bytes);
}

static int take(struct ny_source *base, struct ny_tile *tile)
{
    struct memory_source *source = (struct memory_source *)base;
    uint64_t left;

    if (tile->first_row >= base->n) return NY_END;
    left = base->n - tile->first_row;
    tile->rows = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
    if (source->kept.values.at && !tile->skipped) look_ahead(source, tile);
    return NY_OK;
}

/* Copies rows without the gaps between them, to the end of their room, and prepares them there. */
static int copy_rows(const struct memory_source *source, const char *from, size_t count, char *out)
{
    const struct ny_source *base = &source->base;
    const struct ny_kept_rows *kept = &source->kept;
    size_t to_bytes = ny_row_bytes(base->dtype, base->d, base->slots);
    size_t bytes = ny_row_bytes(kept->dtype, base->d, base->slots);
    size_t pieces = bytes == kept->row_bytes ? 1 : count, piece = count / pieces * bytes;
    char *to = out + count * (to_bytes - bytes);
    int err = NY_OK;

    for (size_t i = 0; !err && i < pieces; i++)
        err = ny_borrowed_copy(base->ctx, to + i * piece, from + i * kept->row_bytes, piece);
    if (!err && ny_prepares(&kept->how))
        ny_prepare_in_place(&kept->how, kept->dtype, base->dtype, out, count, base->d);
    return err;
}

static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    const struct memory_source *source = (const struct memory_source *)base;
    size_t bytes = ny_row_bytes(base->dtype, base->d, base->slots);
    uint64_t row = tile->first_row + first;
    int err;

    for (size_t i = 0; source->list && i < count; i++)
        ny_sparse_pack((char *)rows + i * bytes, base->slots, base->dtype, source->list[row + i]);
    if (source->list || !count) return NY_OK;
    if (!source->dense) {
        err = copy_rows(source, row_at(source, row), count, rows);
        look_behind(source, tile, first, count);
        return err;
    }
    for (size_t i = 0; i < count; i++)
        if (!ny_sparse_from_dense(row_at(source, row + i), base->d, base->dtype,
                                  (char *)rows + i * bytes, base->slots))
            return NY_BUG(base->ctx);
    return NY_OK;
}

static void release(struct ny_source *base)
{
    ny_free(base->ctx, base);
}

void ny_source_of_memory_slots(struct ny_source *base, size_t slots, bool dense)
{
    struct memory_source *source = (struct memory_source *)base;

    base->slots = slots;
    source->dense = dense && slots > 0;
    source->kept.row_bytes = ny_row_bytes(base->dtype, base->d, source->dense ? 0 : slots);
}

int ny_source_of_raw(struct ny_source **out, struct ny_context *ctx, struct ny_raw_rows rows,
                     const struct ny_raw_shape *shape)
{
    int err = ny_source_of_memory(out, ctx, rows.at, shape->dtype, shape->n, shape->d);

    if (err) return err;
    if (shape->slots) ny_source_of_memory_slots(*out, shape->slots, false);
    ((struct memory_source *)*out)->list = rows.list;
    return NY_OK;
}

int ny_source_of_memory(struct ny_source **out, struct ny_context *ctx, const void *rows,
                        enum ny_dtype dtype, uint64_t n, size_t d)
{
    const struct ny_kept_rows kept = {.dtype = dtype, .n = n, .d = d, .values = {.at = rows}};

    return ny_source_of_kept(out, ctx, &kept);
}

int ny_source_of_kept(struct ny_source **out, struct ny_context *ctx,
                      const struct ny_kept_rows *rows)
{
    static const struct ny_source_ops ops = {.take = take, .strip = strip, .free = release};
    struct memory_source *source = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*source));

    *out = NULL;
    if (!source) return NY_EBUDGET;
    source->kept = *rows;
    if (!rows->row_bytes) source->kept.row_bytes = rows->d * ny_dtype_size(rows->dtype);
    source->base = (struct ny_source){.ops = &ops,
                                      .ctx = ctx,
                                      .dtype = ny_prepared_dtype(&rows->how, rows->dtype),
                                      .d = rows->d,
                                      .n = rows->n,
                                      .stored_bytes_per_row = (double)source->kept.row_bytes};
    *out = &source->base;
    return NY_OK;
}
