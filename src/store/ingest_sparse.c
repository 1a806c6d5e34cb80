/* An import of sparse rows: the block that is being filled is packed row after row, and grows with
 * what its rows hold. It is flushed as soon as it is full, so there is one. */
#include <string.h>

#include "base/memory.h"
#include "store/ingest_private.h"

int ny_ingest_sparse_allocate(struct ny_ingest *ingest)
{
    size_t nnz = NY_BLOCK_BYTES / (sizeof(uint32_t) + ny_dtype_size(ingest->dtype));
    int err = ny_counting_sparse(&ingest->counting);

    ingest->sparse.csr.dtype = ingest->dtype;
    ingest->sparse.full.block_rows = ingest->block_rows;
    if (err) return err;
    return ny_csr_reserve(&ingest->sparse.csr, ingest->ctx, NY_MEM_STORE,
                          (size_t)ingest->block_rows, nnz);
}

void ny_ingest_sparse_free(struct ny_ingest *ingest)
{
    ny_free(ingest->ctx, ingest->sparse.room.at);
    ny_csr_release(&ingest->sparse.csr, ingest->ctx);
}

/* Makes room for an encoded block of so many values, and besides for its LZ4 form. */
int ny_ingest_sparse_reserve(struct ny_ingest *ingest, size_t nnz)
{
    size_t bound = (ny_csr_bound((size_t)ingest->block_rows, nnz, ingest->dtype) + 7) / 8 * 8;
    size_t bytes = bound + sizeof(struct ny_header) + ny_lz4_room(bound);

    if (nnz > NY_BLOCK_NNZ_MAX)
        return ny_fail(ingest->ctx, NY_EDATA,
                       "rows have too many values to be sparse; import with --layout dense");
    if (bytes > ingest->sparse.room.bytes) ingest->sparse.encoded_bytes = bound;
    return ny_ingest_grow(ingest, &ingest->sparse.room, bytes);
}

/* ---- rows ---------------------------------------------------------------------------------- */

int ny_ingest_misfit(struct ny_ingest *ingest, uint64_t row, size_t column)
{
    return ny_fail_at(
        ingest->ctx, NY_EDATA, NULL, row,
        "row %llu, column %zu (both from 0): the number is none of %s, the type of %s; round it",
        (unsigned long long)row, column, ny_dtype_name(ingest->dtype), ingest->store->path);
}

/* Values of a row that has no zeros, which are of the store's type, behind those that are there. */
static void copy_row(struct ny_csr *csr, struct ny_sparse row, size_t nnz)
{
    size_t bytes = ny_dtype_size(csr->dtype);

    if (!row.count) return;
    memcpy(csr->index + nnz, row.index, row.count * sizeof(*row.index));
    memcpy((char *)csr->value + nnz * bytes, row.value, row.count * bytes);
}

/* Values that are not 0 behind those that are there, of which *nnz counts them all; number: that of
 * the row in its source. */
static int pick_row(struct ny_ingest *ingest, struct ny_sparse row, uint64_t number, size_t *nnz)
{
    enum ny_dtype from = ingest->spec.dtype;
    struct ny_csr *csr = &ingest->sparse.csr;
    size_t from_bytes = ny_dtype_size(from), bytes = ny_dtype_size(csr->dtype);

    for (size_t k = 0; k < row.count; k++) {
        const char *in = (const char *)row.value + k * from_bytes;
        char *out = (char *)csr->value + *nnz * bytes;
        uint32_t column = row.index ? row.index[k] : (uint32_t)k;

        if (ny_dtype_has_zero(from, in, 1)) continue;
        if (!ny_dtype_convert(from, in, csr->dtype, true, out, 1))
            return ny_ingest_misfit(ingest, number, column);
        if (ny_dtype_has_zero(csr->dtype, out, 1)) continue; /* it was rounded to 0 */
        csr->index[(*nnz)++] = column;
    }
    return NY_OK;
}

/* One row behind the others; zeros are left out. */
static int take_row(struct ny_ingest *ingest, const struct ny_ingest_rows *rows, size_t i)
{
    enum ny_dtype from = ingest->spec.dtype;
    struct ny_csr *csr = &ingest->sparse.csr;
    size_t d = ingest->counting.moments.d, nnz = ny_csr_nnz(csr);
    uint64_t staged = ny_ingest_total(ingest) - ingest->base.n + csr->rows - ingest->filled;
    struct ny_sparse row = {d, NULL, NULL};
    int err;

    if (rows->sparse)
        row = ny_csr_row(rows->sparse, i);
    else
        row.value = (const char *)rows->values + i * d * ny_dtype_size(from);
    err = ny_csr_reserve(csr, ingest->ctx, NY_MEM_STORE, csr->rows + 1, nnz + row.count);
    if (err) return err;
    if (rows->sparse && from == csr->dtype && !ny_dtype_has_zero(from, row.value, row.count)) {
        copy_row(csr, row, nnz);
        nnz += row.count;
    } else {
        err = pick_row(ingest, row, rows->source ? rows->source[i] : staged, &nnz);
    }
    if (!err) csr->start[++csr->rows] = (uint32_t)nnz;
    return err;
}

int ny_ingest_sparse_take(struct ny_ingest *ingest, const struct ny_ingest_rows *rows, size_t at,
                          size_t count)
{
    int err = NY_OK;

    for (size_t i = at; !err && i < at + count; i++)
        err = take_row(ingest, rows, i);
    return err ? err : ny_ingest_sparse_reserve(ingest, ny_csr_nnz(&ingest->sparse.csr));
}

/* ---- the block ----------------------------------------------------------------------------- */

void ny_ingest_sparse_pack(struct ny_ingest *ingest, struct ny_packed *packed, size_t rows)
{
    char *encoded = ingest->sparse.room.at, *room = encoded + ingest->sparse.encoded_bytes;
    size_t bytes = ny_csr_encode(&ingest->sparse.csr, rows, encoded);
    struct ny_want as =
        ny_points_want(ingest->store, NY_KIND_POINTS, ingest->first_block, rows, bytes);

    *packed = ny_frame_pack(&as.frame, encoded, ingest->spec.raw ? NULL : room);
}

struct ny_sparse_progress ny_ingest_sparse_total(const struct ny_ingest *ingest)
{
    struct ny_sparse_progress total = ingest->sparse.full;
    size_t nnz = ny_csr_nnz(&ingest->sparse.csr);

    for (size_t i = 0; i < ingest->sparse.csr.rows; i++) {
        size_t count = ny_csr_row(&ingest->sparse.csr, i).count;

        if (count > total.row_nnz) total.row_nnz = count;
    }
    total.nnz += nnz;
    if (nnz > total.block_nnz) total.block_nnz = nnz;
    return total;
}

void ny_ingest_sparse_raise(struct ny_ingest *ingest)
{
    uint64_t nnz = ingest->sparse.full.nnz;

    ingest->sparse.full = ny_ingest_sparse_total(ingest);
    ingest->sparse.full.nnz = nnz;
}

void ny_ingest_sparse_lengths(const struct ny_ingest *ingest, struct ny_lengths *lengths)
{
    for (size_t i = 0; i < ingest->sparse.csr.rows; i++)
        ny_lengths_count(lengths, ny_csr_row(&ingest->sparse.csr, i).count);
}

void ny_ingest_sparse_clear(struct ny_ingest *ingest)
{
    ny_ingest_sparse_lengths(ingest, &ingest->sparse.lengths);
    ingest->sparse.full = ny_ingest_sparse_total(ingest);
    ingest->sparse.csr.rows = 0;
}

int ny_ingest_sparse_load(struct ny_ingest *ingest, struct ny_snapshot *view, unsigned flag,
                          size_t rows, uint64_t block_nnz, const char **wrong)
{
    struct ny_csr *csr = &ingest->sparse.csr;
    struct ny_manifest m = ingest->base;
    struct ny_csr_image image = {.rows = rows};
    size_t nnz;
    int err;

    m.block_nnz = block_nnz;
    err = ny_ingest_sparse_reserve(ingest, (size_t)block_nnz);
    if (err) return err;
    image.at = ingest->sparse.room.at;
    if (ny_csr_read(view, &m, ny_points_key(NY_KIND_POINTS | flag, ingest->first_block), &image,
                    wrong))
        return NY_ESTORE;
    nnz = ny_csr_count(&image, wrong);
    err = ny_csr_reserve(csr, ingest->ctx, NY_MEM_STORE, rows, nnz);
    if (err) return err;
    *wrong = ny_csr_decode(&image, nnz, csr->start, csr->index, csr->value);
    if (*wrong) return NY_ESTORE;
    csr->rows = rows;
    return NY_OK;
}
