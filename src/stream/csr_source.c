/* Sparse rows in the memory of a caller as a source: shown where they are, or copied into records.
 */
#include <string.h>

#include "base/memory.h"
#include "stream/source.h"

struct csr_source {
    struct ny_source base;
    struct ny_kept_rows kept;
    char *rooms; /* workers × room_bytes, for rows that cannot be shown as they are */
    size_t room_bytes;
};

uint64_t ny_kept_start(const struct ny_kept_rows *rows, uint64_t i)
{
    return rows->start_bytes == 4 ? ((const uint32_t *)rows->row_start)[i]
                                  : ((const uint64_t *)rows->row_start)[i];
}

/* Gives back what lies at items first … end − 1 of an array of `count`. */
static void array_done(const void *array, size_t item, uint64_t count, uint64_t first, uint64_t end)
{
    const struct ny_borrowed_rows all = {array, (size_t)count * item, true, true};

    ny_borrowed_done(&all, all.at + first * item, (size_t)(end - first) * item);
}

void ny_kept_done(const struct ny_kept_rows *rows, uint64_t first, uint64_t end)
{
    size_t element = ny_dtype_size(rows->dtype);
    uint64_t from, to, all;

    if (!rows->row_start)
        ny_borrowed_done(&rows->values, rows->values.at + first * rows->row_bytes,
                         (size_t)(end - first) * rows->row_bytes);
    if (!rows->row_start || !rows->values.shared) return;
    from = ny_kept_start(rows, first), to = ny_kept_start(rows, end);
    all = ny_kept_start(rows, rows->n);
    array_done(rows->values.at, element, all, from, to);
    array_done(rows->column, rows->index_bytes, all, from, to);
    array_done(rows->row_start, rows->start_bytes, rows->n + 1, first, end);
}

size_t ny_kept_room(const struct ny_kept_rows *rows, size_t slots)
{
    if (rows->index_bytes == 4 && !ny_prepares(&rows->how)) return 0;
    return ny_sparse_bytes(ny_prepared_dtype(&rows->how, rows->dtype), slots);
}

static int take(struct ny_source *base, struct ny_tile *tile)
{
    uint64_t left;

    if (tile->first_row >= base->n) return NY_END;
    left = base->n - tile->first_row;
    tile->rows = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS;
    return NY_OK;
}

/* Sets *row to row i, in the room of a worker where it is not shown as it is. */
static int find_row(const struct csr_source *source, uint64_t i, unsigned worker,
                    struct ny_sparse *row)
{
    const struct ny_kept_rows *kept = &source->kept;
    uint64_t first = ny_kept_start(kept, i);
    size_t count = (size_t)(ny_kept_start(kept, i + 1) - first), slots = source->base.slots;
    const char *value = kept->values.at + first * ny_dtype_size(kept->dtype);
    char *room = source->rooms + worker * source->room_bytes;
    char *prepared = room + ny_padded(slots * sizeof(uint32_t));
    uint32_t *index = (uint32_t *)(void *)room;

    if (count > slots) return NY_BUG(source->base.ctx);
    *row = (struct ny_sparse){count, (const uint32_t *)kept->column + first, value};
    if (kept->index_bytes == 8) {
        for (size_t k = 0; k < count; k++)
            index[k] = (uint32_t)((const uint64_t *)kept->column)[first + k];
        row->index = index;
    }
    if (ny_prepares(&kept->how)) {
        ny_prepare_row(&kept->how, kept->dtype, value, count, source->base.dtype, prepared);
        row->value = prepared;
    }
    return NY_OK;
}

/* Gives back the pages of a tile when its rows up to `end`, the last ones, were read. */
static void look_behind(const struct ny_source *base, const struct ny_tile *tile, size_t end)
{
    if (end == tile->rows)
        ny_kept_done(&((const struct csr_source *)base)->kept, tile->first_row,
                     tile->first_row + end);
}

static int strip(struct ny_source *base, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows)
{
    size_t row_bytes = ny_row_bytes(base->dtype, base->d, base->slots);
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++) {
        struct ny_sparse row;

        err = find_row((struct csr_source *)base, tile->first_row + first + i, tile->worker, &row);
        if (!err) ny_sparse_pack((char *)rows + i * row_bytes, base->slots, base->dtype, row);
    }
    look_behind(base, tile, first + count);
    return err;
}

static int visit(struct ny_source *base, const struct ny_tile *tile, size_t first,
                 ny_sparse_row_fn *each, void *arg)
{
    int err = NY_OK;
    size_t i = first;

    for (; !err && i < tile->rows; i++) {
        struct ny_sparse row;

        err = find_row((struct csr_source *)base, tile->first_row + i, tile->worker, &row);
        if (!err) err = each(arg, row);
    }
    look_behind(base, tile, i);
    return err == NY_END ? NY_OK : err;
}

static void release(struct ny_source *base)
{
    ny_free(base->ctx, ((struct csr_source *)base)->rooms);
    ny_free(base->ctx, base);
}

int ny_source_of_kept_csr(struct ny_source **out, struct ny_context *ctx,
                          const struct ny_kept_rows *rows, size_t slots, unsigned workers)
{
    static const struct ny_source_ops ops = {take, strip, release, visit};
    struct csr_source *source = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*source));
    double values = (double)(ny_kept_start(rows, rows->n) - ny_kept_start(rows, 0));
    size_t value_bytes = sizeof(uint32_t) + ny_dtype_size(rows->dtype);

    *out = NULL;
    if (!source) return NY_EBUDGET;
    source->kept = *rows;
    source->room_bytes = ny_kept_room(rows, slots);
    source->base = (struct ny_source){.ops = &ops,
                                      .ctx = ctx,
                                      .dtype = ny_prepared_dtype(&rows->how, rows->dtype),
                                      .d = rows->d,
                                      .slots = slots,
                                      .n = rows->n,
                                      .stored_bytes_per_row = values * (double)value_bytes /
                                                              (double)(rows->n ? rows->n : 1)};
    source->rooms = ny_calloc(ctx, NY_MEM_STORE, workers, source->room_bytes);
    if (source->rooms)
        *out = &source->base;
    else
        release(&source->base);
    return *out ? NY_OK : NY_EBUDGET;
}
