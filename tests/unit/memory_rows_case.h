/* Rows as their caller has them in memory, of any shape, and a store that imports them. */
#ifndef TESTS_UNIT_MEMORY_ROWS_CASE_H
#define TESTS_UNIT_MEMORY_ROWS_CASE_H

#include "store_checks.h"

#include "base/random.h"
#include "stream/rows_memory.h"

static const struct ny_prepared as_they_are = {NY_ROWS_NONE, NY_VALUES_RAW, 0};
static const struct ny_prepared by_total = {NY_ROWS_TOTAL, NY_VALUES_LOG1P, 10000};

struct shape {
    uint64_t n, d;
    enum ny_dtype dtype;
    size_t gap;           /* dense: bytes behind a row */
    unsigned index_bytes; /* 0: dense */
    const struct ny_prepared *how;
};

/* Value (i, k): whole numbers from 0 on where rows are prepared. */
static inline double value_of(const struct shape *shape, uint64_t i, uint64_t k)
{
    double x = ny_hash01(1, NY_STREAM_DATA, i * 16384 + k);

    if (ny_prepares(shape->how)) return floor(40 * x * x);
    if (shape->dtype == NY_U8) return floor(256 * x);
    if (shape->dtype == NY_I16) return floor(60000 * x) - 30000;
    return 1e3 * x - 300 + (k % 3 == 0 ? 1e5 : 0);
}

static inline void put_value(enum ny_dtype dtype, double value, char *to)
{
    const uint8_t u8 = (uint8_t)(dtype == NY_U8 ? value : 0);
    const int16_t i16 = (int16_t)(dtype == NY_I16 ? value : 0);
    const float f32 = (float)value;

    if (dtype == NY_U8) memcpy(to, &u8, sizeof(u8));
    if (dtype == NY_I16) memcpy(to, &i16, sizeof(i16));
    if (dtype == NY_F32) memcpy(to, &f32, sizeof(f32));
    if (dtype == NY_F64) memcpy(to, &value, sizeof(value));
}

/* Rows as their caller has them, and packed, as they are imported. */
struct rows {
    struct shape shape;
    char *values, *packed;
    char *start, *column; /* of index_bytes each */
    struct ny_csr csr;
    struct ny_memory_rows memory;
};

static inline void make_dense(struct rows *rows)
{
    const struct shape *shape = &rows->shape;
    size_t element = ny_dtype_size(shape->dtype), row_bytes = shape->d * element;
    size_t stride = row_bytes + shape->gap;

    rows->packed = malloc(shape->n * row_bytes);
    rows->values = malloc(shape->n * stride);
    memset(rows->values, 0xFF, shape->n * stride); /* NaN, where floats are */
    for (uint64_t i = 0; i < shape->n; i++) {
        char *row = rows->packed + i * row_bytes;

        for (uint64_t k = 0; k < shape->d; k++)
            put_value(shape->dtype, value_of(shape, i, k), row + k * element);
        memcpy(rows->values + i * stride, row, row_bytes);
    }
    rows->memory.kept.values = ny_borrowed_of(rows->values, shape->n * stride - shape->gap);
    rows->memory.kept.row_bytes = shape->gap ? stride : 0;
}

static inline void put_number(const struct rows *rows, char *array, size_t at, uint64_t number)
{
    const uint32_t narrow = (uint32_t)number;

    memcpy(array + at * rows->shape.index_bytes,
           rows->shape.index_bytes == 4 ? (const void *)&narrow : (const void *)&number,
           rows->shape.index_bytes);
}

/* A tenth of the values, of every 7th row none; the first three entries are of no row. */
static inline void make_sparse(struct rows *rows)
{
    enum { BEFORE = 3 };
    const struct shape *shape = &rows->shape;
    size_t element = ny_dtype_size(shape->dtype), most = shape->n * shape->d, nnz = 0;
    struct ny_csr *csr = &rows->csr;

    csr->dtype = shape->dtype;
    CHECK(ny_csr_reserve(csr, ctx, NY_MEM_OTHER, shape->n, most));
    rows->values = malloc((BEFORE + most) * element);
    rows->column = malloc((BEFORE + most) * shape->index_bytes);
    rows->start = malloc((shape->n + 1) * shape->index_bytes);
    memset(rows->values, 0xFF, BEFORE * element);
    put_number(rows, rows->start, 0, BEFORE);
    for (uint64_t i = 0; i < shape->n; i++) {
        for (uint64_t k = 0; i % 7 && k < shape->d; k++) {
            double value = value_of(shape, i, k);

            if (ny_hash01(2, NY_STREAM_DATA, i * 16384 + k) > 0.1 || value == 0) continue;
            put_value(shape->dtype, value, rows->values + (BEFORE + nnz) * element);
            put_number(rows, rows->column, BEFORE + nnz, k);
            csr->index[nnz++] = (uint32_t)k;
        }
        csr->start[++csr->rows] = (uint32_t)nnz;
        put_number(rows, rows->start, i + 1, BEFORE + nnz);
    }
    memcpy(csr->value, rows->values + BEFORE * element, nnz * element);
    rows->memory.kept.values.at = rows->values;
    rows->memory.kept.row_start = rows->start;
    rows->memory.kept.column = rows->column;
    rows->memory.kept.index_bytes = rows->memory.kept.start_bytes = shape->index_bytes;
}

static inline struct rows rows_of_shape(const struct shape *shape)
{
    struct rows rows = {.shape = *shape, .memory = {.name = "the table"}};

    rows.memory.kept.dtype = shape->dtype;
    rows.memory.kept.n = shape->n;
    rows.memory.kept.d = shape->d;
    rows.memory.kept.how = *shape->how;
    if (shape->index_bytes)
        make_sparse(&rows);
    else
        make_dense(&rows);
    return rows;
}

static inline void free_rows(struct rows *rows)
{
    ny_csr_release(&rows->csr, ctx);
    free(rows->values), free(rows->packed), free(rows->start), free(rows->column);
}

/* Imports the rows into the store, in batches; `entries`: that they came with, 0: those they have.
 */
static inline int import(const struct rows *rows, uint64_t entries)
{
    const struct shape *shape = &rows->shape;
    bool sparse = shape->index_bytes > 0;
    struct ny_ingest_spec spec = {.d = shape->d,
                                  .dtype = shape->dtype,
                                  .layout = sparse ? NY_CSR : NY_DENSE,
                                  .preparation = *shape->how,
                                  .fingerprint = 7};
    struct ny_ingest *ingest;
    uint64_t consumed;
    int err;

    if (sparse && !entries) entries = ny_csr_nnz(&rows->csr);
    spec.row_nnz = (entries + shape->n - 1) / shape->n;
    if (spec.row_nnz > shape->d) spec.row_nnz = shape->d;
    CHECK(ny_ingest_begin(&ingest, store, &spec, &consumed));
    err = NY_OK;
    for (uint64_t at = 0, count; !err && at < shape->n; at += count) {
        struct ny_csr part = rows->csr;
        struct ny_ingest_rows batch = {0};

        count = shape->n - at < 777 ? shape->n - at : 777;
        part.start += at;
        part.rows = (size_t)count;
        batch.count = (size_t)count;
        batch.consumed = at + count;
        if (sparse)
            batch.sparse = &part;
        else
            batch.values = rows->packed + at * shape->d * ny_dtype_size(shape->dtype);
        err = ny_ingest_rows(ingest, &batch);
    }
    if (!err) err = ny_ingest_commit(ingest);
    ny_ingest_free(ingest);
    return err;
}

#endif
