/*
 * Rows in memory. A dense row is its d values. A sparse row is a record of fixed size, so that rows
 * of both layouts can be cut, copied and gathered alike: a count, then room for `slots` column
 * numbers, ascending, then for as many values; what is behind the count is unspecified. `slots` is
 * the number of non-zeros of the fullest row; 0 says that rows are dense.
 *
 * Sparse rows on their way into or out of a store are packed one after another: struct ny_csr.
 *
 * Records of fixed size cost room and buy simplicity: whoever cuts, copies or gathers a few rows
 * needs only ny_raw_bytes() of them. Where many are held, one full row would make all of them dear:
 * landmarks, strips and fronts hold views (struct ny_sparse) of rows that take as many bytes as
 * they have values (struct ny_sparse_list, struct ny_sparse_room). Landmarks are indexed by column
 * besides (columns/sparse_index.h). A block of the store is encoded instead (store/csr.h). What is
 * appended to a store is converted to its layout. Sparse rows are not centred, as that would fill
 * them, and `--scale` only divides; pca's centre comes in by corrections of products.
 *
 * LIBSVM files are kept sparse where less than an eighth of the values is not 0: above, a GEMM is
 * faster and dense rows are not larger by much. Measured with 10⁶ rows of 77 values in 47,236
 * columns (`data-tools/sparse-text -n 1000000`, two busy cores): 431 MB in the store, imported in
 * 48 s, and fitted with 500 landmarks in 54 s with a resident set of 87 MB.
 */
#ifndef NY_BASE_SPARSE_H
#define NY_BASE_SPARSE_H

#include <stdint.h>

#include "base/context.h"
#include "base/dtype.h"
#include "base/memory.h"

enum ny_row_layout { NY_DENSE = 0, NY_CSR = 1 }; /* part of the store format */

/* The index of the first column in LIBSVM files. */
enum ny_indices { NY_INDICES_UNKNOWN, NY_INDICES_FROM_0, NY_INDICES_FROM_1 };

/* Bytes of a row in memory: a multiple of 8 for records. */
size_t ny_row_bytes(enum ny_dtype dtype, size_t d, size_t slots);

/* The values that a record holds. */
struct ny_sparse {
    size_t count;
    const uint32_t *index;
    const void *value;
};
/* Returns a view of the record, which is valid as long as the record is. */
struct ny_sparse ny_sparse_of(const void *record, size_t slots);
/* Writes row.count ≤ slots values into a record. */
void ny_sparse_pack(void *record, size_t slots, enum ny_dtype dtype, struct ny_sparse row);
/* Like ny_sparse_pack(), to a dtype that can hold the values of row_dtype. */
void ny_sparse_pack_as(void *record, size_t slots, enum ny_dtype dtype, struct ny_sparse row,
                       enum ny_dtype row_dtype);
/* Writes a row as d values, to a dtype likewise. */
void ny_sparse_spread(struct ny_sparse row, enum ny_dtype row_dtype, size_t d, enum ny_dtype dtype,
                      void *dense);
/* A dense row of d values; true: it has no more than `slots` that are not 0, and is in the record.
 */
bool ny_sparse_from_dense(const void *row, size_t d, enum ny_dtype dtype, void *record,
                          size_t slots);
/* Tells whether column numbers of 4 or 8 bytes each rise from one to the next, and are below d. */
bool ny_columns_rise(const void *column, unsigned index_bytes, size_t count, uint64_t d);
/* Value k of a packed array, in f64. */
double ny_dtype_at(enum ny_dtype dtype, const void *values, size_t k);

/* Sparse rows of any number of values, in memory that is not theirs: a view each. */
struct ny_raw_rows {
    const void *at;               /* dense rows, or records, one after another; NULL: */
    const struct ny_sparse *list; /* views */
};
static inline struct ny_raw_rows ny_raw_rows(const void *at)
{
    return (struct ny_raw_rows){at, NULL};
}
static inline struct ny_raw_rows ny_raw_list(const struct ny_sparse *list)
{
    return (struct ny_raw_rows){NULL, list};
}
/* Returns row i of sparse ones; records have so many slots and bytes. */
static inline struct ny_sparse ny_raw_sparse(struct ny_raw_rows rows, size_t slots, size_t bytes,
                                             size_t i)
{
    return rows.list ? rows.list[i] : ny_sparse_of((const char *)rows.at + i * bytes, slots);
}

/* Bytes of the values of a row that is packed: a multiple of 8. */
size_t ny_sparse_bytes(enum ny_dtype dtype, size_t count);

/* Returns a view of a row of so many values that is packed there. */
struct ny_sparse ny_sparse_packed(const void *at, size_t count);

/* Room of fixed size, into which rows are packed one after another. */
struct ny_sparse_room {
    char *bytes; /* the caller's */
    size_t used, size;
};
/* Copies a row into the room; *view is then the copy. False: there is no room for it. */
bool ny_sparse_room_put(struct ny_sparse_room *room, enum ny_dtype dtype, struct ny_sparse row,
                        struct ny_sparse *view);

/* Rows of any number of values that are kept: each lot that is added takes as many bytes as it has
 * values, and stays where it is. Zeroed, it is empty. */
struct ny_sparse_list {
    size_t count, rows_max;
    struct ny_sparse *row; /* views, which move when rows are added */
    struct ny_sparse_lot *lots;
};
/* Makes room for `count` rows of so many packed bytes in all, and appends them as empty ones; they
 * are put into *room, and set, by the caller. NY_EBUDGET. */
int ny_sparse_list_extend(struct ny_sparse_list *list, struct ny_context *ctx,
                          enum ny_purpose purpose, size_t count, size_t bytes,
                          struct ny_sparse_room *room);
/* Frees the rows; the list is empty afterwards. */
void ny_sparse_list_release(struct ny_sparse_list *list, struct ny_context *ctx);
/* Bytes of a list of so many rows and values, which were added in so many lots. */
size_t ny_sparse_list_bytes(enum ny_dtype dtype, size_t rows, size_t values, size_t lots);

/* Rows packed one after another; all arrays grow as needed. Zeroed but for dtype, it is empty. */
struct ny_csr {
    enum ny_dtype dtype;
    size_t rows, rows_max, nnz_max;
    uint32_t *start; /* rows + 1 once there is room: row i is start[i] … start[i+1]−1 */
    uint32_t *index; /* ascending in a row */
    void *value;
};

/* Room for so many rows and values in all; at least doubles what it grows. */
int ny_csr_reserve(struct ny_csr *csr, struct ny_context *ctx, enum ny_purpose purpose, size_t rows,
                   size_t nnz);
/* Adds a row behind the others: those of its values that are not 0. Its index may be NULL: then it
 * has a value for each column. */
int ny_csr_add(struct ny_csr *csr, struct ny_context *ctx, enum ny_purpose purpose,
               struct ny_sparse row);
/* Frees the arrays; the rows are empty afterwards. */
void ny_csr_release(struct ny_csr *csr, struct ny_context *ctx);
/* Returns row i as a view into the arrays. */
struct ny_sparse ny_csr_row(const struct ny_csr *csr, size_t i);

/* Returns the values of all rows. */
static inline size_t ny_csr_nnz(const struct ny_csr *csr)
{
    return csr->rows ? csr->start[csr->rows] : 0;
}

#endif
