/*
 * Sparse rows in memory, in two forms (base/sparse.h).
 *
 * A record has room for a fixed number of slots, so that records of one size follow each other: the
 * count, the column numbers, padded to 8 bytes, and the values. Packed rows (struct ny_csr) have no
 * gaps and grow. For instance, a record of 3 slots of f32 has 8 + 16 + 16 bytes. A record whose
 * count is above its slots is read as if it were full, so that a damaged one leads to no address
 * beyond it.
 */
#include "base/sparse.h"

#include <string.h>

/* Bytes of the count, and four more that keep what follows aligned. */
enum { HEAD_BYTES = 8 };

size_t ny_row_bytes(enum ny_dtype dtype, size_t d, size_t slots)
{
    if (!slots) return d * ny_dtype_size(dtype);
    return HEAD_BYTES + ny_padded(slots * sizeof(uint32_t)) +
           ny_padded(slots * ny_dtype_size(dtype));
}

/* Returns where the values of a record begin: behind the room of all its column numbers. */
static char *values_of(const void *record, size_t slots)
{
    return (char *)(uintptr_t)record + HEAD_BYTES + ny_padded(slots * sizeof(uint32_t));
}

struct ny_sparse ny_sparse_of(const void *record, size_t slots)
{
    uint32_t count;

    memcpy(&count, record, sizeof(count));
    return (struct ny_sparse){count < slots ? count : slots,
                              (const uint32_t *)record + HEAD_BYTES / sizeof(uint32_t),
                              values_of(record, slots)};
}

static void set_count(void *record, size_t count)
{
    const uint32_t head[2] = {(uint32_t)count, 0};

    memcpy(record, head, sizeof(head));
}

void ny_sparse_pack_as(void *record, size_t slots, enum ny_dtype dtype, struct ny_sparse row,
                       enum ny_dtype row_dtype)
{
    set_count(record, row.count);
    if (!row.count) return;
    memcpy((char *)record + HEAD_BYTES, row.index, row.count * sizeof(*row.index));
    ny_dtype_widen(row_dtype, row.value, dtype, values_of(record, slots), row.count);
}

void ny_sparse_pack(void *record, size_t slots, enum ny_dtype dtype, struct ny_sparse row)
{
    ny_sparse_pack_as(record, slots, dtype, row, dtype);
}

void ny_sparse_spread(struct ny_sparse row, enum ny_dtype row_dtype, size_t d, enum ny_dtype dtype,
                      void *dense)
{
    size_t bytes = ny_dtype_size(dtype), row_bytes = ny_dtype_size(row_dtype);

    memset(dense, 0, d * bytes);
    for (size_t k = 0; k < row.count; k++)
        ny_dtype_widen(row_dtype, (const char *)row.value + k * row_bytes, dtype,
                       (char *)dense + row.index[k] * bytes, 1);
}

double ny_dtype_at(enum ny_dtype dtype, const void *values, size_t k)
{
    double wide;

    switch (dtype) {
    case NY_U8:
        return ((const uint8_t *)values)[k];
    case NY_I16:
        return ((const int16_t *)values)[k];
    case NY_F32:
        return (double)((const float *)values)[k];
    case NY_F64:
        return ((const double *)values)[k];
    case NY_GENOTYPE:
        ny_dtype_to_f64(dtype, (const uint8_t *)values + k, &wide, 1);
        return wide;
    case NY_DTYPE_NONE:
        break;
    }
    return 0;
}

bool ny_sparse_from_dense(const void *row, size_t d, enum ny_dtype dtype, void *record,
                          size_t slots)
{
    uint32_t *index = (uint32_t *)record + HEAD_BYTES / sizeof(uint32_t);
    size_t size = ny_dtype_size(dtype), count = 0;
    char *values = values_of(record, slots);

    for (size_t k = 0; k < d; k++) {
        if (ny_dtype_at(dtype, row, k) == 0) continue;
        if (count == slots) return false;
        index[count] = (uint32_t)k;
        memcpy(values + count++ * size, (const char *)row + k * size, size);
    }
    set_count(record, count);
    return true;
}

/* The loop has no exit, so that it runs at the speed of memory. Negative numbers are the largest,
 * and the last is that of all. */
#define RISES(type)                                                                                \
    do {                                                                                           \
        const type *number = column;                                                               \
        unsigned falls = 0;                                                                        \
                                                                                                   \
        for (size_t k = 1; k < count; k++)                                                         \
            falls |= number[k] <= number[k - 1];                                                   \
        return !count || (!falls && number[count - 1] < d);                                        \
    } while (0)

bool ny_columns_rise(const void *column, unsigned index_bytes, size_t count, uint64_t d)
{
    if (index_bytes == 4) RISES(uint32_t);
    RISES(uint64_t);
}

/* ---- rows of any size ---------------------------------------------------------------------- */

size_t ny_sparse_bytes(enum ny_dtype dtype, size_t count)
{
    return ny_padded(count * sizeof(uint32_t)) + ny_padded(count * ny_dtype_size(dtype));
}

struct ny_sparse ny_sparse_packed(const void *at, size_t count)
{
    return (struct ny_sparse){count, at, (const char *)at + ny_padded(count * sizeof(uint32_t))};
}

bool ny_sparse_room_put(struct ny_sparse_room *room, enum ny_dtype dtype, struct ny_sparse row,
                        struct ny_sparse *view)
{
    size_t bytes = ny_sparse_bytes(dtype, row.count);
    char *index = room->bytes + room->used,
         *value = index + ny_padded(row.count * sizeof(uint32_t));

    if (bytes > room->size - room->used) return false;
    if (row.count) {
        memcpy(index, row.index, row.count * sizeof(uint32_t));
        memcpy(value, row.value, row.count * ny_dtype_size(dtype));
    }
    room->used += bytes;
    *view = ny_sparse_packed(index, row.count);
    return true;
}

/* Rows that were added at once; their values follow. */
struct ny_sparse_lot {
    struct ny_sparse_lot *before;
};

/* Makes room for the views: at least doubles what it grows. */
static int reserve_views(struct ny_sparse_list *list, struct ny_context *ctx,
                         enum ny_purpose purpose, size_t rows)
{
    size_t most = rows > 2 * list->rows_max ? rows : 2 * list->rows_max;
    int err;

    if (rows <= list->rows_max) return NY_OK;
    err = ny_resize_array(ctx, purpose, &list->row, most, sizeof(*list->row));
    if (!err) list->rows_max = most;
    return err;
}

int ny_sparse_list_extend(struct ny_sparse_list *list, struct ny_context *ctx,
                          enum ny_purpose purpose, size_t count, size_t bytes,
                          struct ny_sparse_room *room)
{
    struct ny_sparse_lot *lot;
    int err = reserve_views(list, ctx, purpose, list->count + count);

    if (err) return err;
    lot = ny_alloc(ctx, purpose, sizeof(*lot) + bytes);
    if (!lot) return NY_EBUDGET;
    lot->before = list->lots;
    list->lots = lot;
    for (size_t i = 0; i < count; i++)
        list->row[list->count++] = (struct ny_sparse){0, NULL, NULL};
    *room = (struct ny_sparse_room){(char *)(lot + 1), 0, bytes};
    return NY_OK;
}

void ny_sparse_list_release(struct ny_sparse_list *list, struct ny_context *ctx)
{
    while (list->lots) {
        struct ny_sparse_lot *lot = list->lots;

        list->lots = lot->before;
        ny_free(ctx, lot);
    }
    ny_free(ctx, list->row);
    *list = (struct ny_sparse_list){0};
}

size_t ny_sparse_list_bytes(enum ny_dtype dtype, size_t rows, size_t values, size_t lots)
{
    const size_t block = 128, padding = 2 * sizeof(uint64_t);

    return rows * (sizeof(struct ny_sparse) + padding) +
           values * (sizeof(uint32_t) + ny_dtype_size(dtype)) +
           (lots + 1) * (sizeof(struct ny_sparse_lot) + block);
}

/* ---- packed rows -------------------------------------------------------------------------- */

int ny_csr_reserve(struct ny_csr *csr, struct ny_context *ctx, enum ny_purpose purpose, size_t rows,
                   size_t nnz)
{
    int err = NY_OK;

    if (nnz > UINT32_MAX / 2)
        return ny_fail(ctx, NY_EBUDGET, "%zu values of sparse rows cannot be held at once", nnz);
    if (rows > csr->rows_max || !csr->start) {
        size_t most = rows > 2 * csr->rows_max ? rows : 2 * csr->rows_max;

        err = ny_resize_array(ctx, purpose, &csr->start, most + 1, sizeof(*csr->start));
        if (err) return err;
        if (!csr->rows) csr->start[0] = 0;
        csr->rows_max = most;
    }
    if (nnz > csr->nnz_max || !csr->index || !csr->value) {
        size_t most = nnz > 2 * csr->nnz_max ? nnz : 2 * csr->nnz_max;

        err = ny_resize_array(ctx, purpose, &csr->index, most, sizeof(*csr->index));
        if (!err) err = ny_resize_array(ctx, purpose, &csr->value, most, ny_dtype_size(csr->dtype));
        if (!err) csr->nnz_max = most;
    }
    return err;
}

void ny_csr_release(struct ny_csr *csr, struct ny_context *ctx)
{
    ny_free(ctx, csr->start);
    ny_free(ctx, csr->index);
    ny_free(ctx, csr->value);
    *csr = (struct ny_csr){.dtype = csr->dtype};
}

int ny_csr_add(struct ny_csr *csr, struct ny_context *ctx, enum ny_purpose purpose,
               struct ny_sparse row)
{
    size_t nnz = ny_csr_nnz(csr), element = ny_dtype_size(csr->dtype);
    int err = ny_csr_reserve(csr, ctx, purpose, csr->rows + 1, nnz + row.count);

    if (err) return err;
    for (size_t k = 0; k < row.count; k++) {
        const char *value = (const char *)row.value + k * element;

        if (ny_dtype_has_zero(csr->dtype, value, 1)) continue;
        csr->index[nnz] = row.index ? row.index[k] : (uint32_t)k;
        memcpy((char *)csr->value + nnz++ * element, value, element);
    }
    csr->start[++csr->rows] = (uint32_t)nnz;
    return NY_OK;
}

struct ny_sparse ny_csr_row(const struct ny_csr *csr, size_t i)
{
    size_t first = csr->start[i];

    return (struct ny_sparse){csr->start[i + 1] - first, csr->index + first,
                              (const char *)csr->value + first * ny_dtype_size(csr->dtype)};
}
