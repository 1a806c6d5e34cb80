/*
 * Sparse rows against many others: for each column, who has a value there, and which. A row x then
 * meets every y it has a column in common with, and no other.
 *
 * Values are prepared, (x − centre)·factor with a centre of 0. A centre c ≠ 0 (pca) comes in by
 * (x − c)·(y − c) = x·y − x·c − y·c + c·c, all in f64.
 *
 * A row adds up x_j·y_j in f64 over the columns that it has in common with a landmark. Distances
 * follow by corrections: ‖x − y‖² = ‖x‖² + ‖y‖² − 2x·y, and ‖x − y‖₁ = ‖x‖₁ + ‖y‖₁ plus |x_j − y_j|
 * − |x_j| − |y_j| of each common column. Near-equal rows, whose difference has cancelled, are
 * compared directly where f64 decides (ny_sparse_pair()).
 */
#ifndef NY_COLUMNS_SPARSE_INDEX_H
#define NY_COLUMNS_SPARSE_INDEX_H

#include "columns/columns.h"

struct ny_preparation;

/* Rows that are indexed together: their sums stay in the nearest cache, and their numbers take 16
 * bits. */
enum { NY_INDEX_ROWS = 2048 };

/* ‖x‖², ‖x‖₁ and x·c of a prepared row, and its length ‖x‖. */
struct ny_sparse_norms {
    double square, absolute, cross, length;
};

struct ny_sparse_panel {
    size_t rows;
    uint32_t *start; /* d + 1: where a column's entries begin */
    uint16_t *row;   /* row of an entry within the panel; ascending in a column */
    void *value;     /* in the type of raw rows */
    size_t entries_max;
};

struct ny_sparse_index {
    size_t count, panels_max, norms_max;
    struct ny_sparse_panel *panel;
    struct ny_sparse_norms *norms; /* count */
};

/* The spec of the index, and how its rows are prepared. */
struct ny_sparse_preparation {
    const struct ny_columns_spec *spec;
    const struct ny_preparation *preparation;
};

/* Indexes `count` raw rows in all, of which the first index->count were there already. */
int ny_sparse_index_extend(struct ny_sparse_index *index, const struct ny_sparse_preparation *in,
                           struct ny_raw_rows rows, size_t count);
/* Frees the panels and the norms; the index is empty afterwards. */
void ny_sparse_index_release(struct ny_sparse_index *index, struct ny_context *ctx);
/* Counts an index of so many rows. */
void ny_sparse_index_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t count);

/* A raw row with its norms. */
struct ny_sparse_point {
    struct ny_sparse row; /* which the point does not own */
    struct ny_sparse_norms norms;
};
/* Computes the norms of a row, in f64 and in column order. */
struct ny_sparse_point ny_sparse_point_of(const struct ny_sparse_preparation *in,
                                          struct ny_sparse row);
/* Rows that are multiplied at a time, at most, and the f64 sums that stay in cache meanwhile. */
enum { NY_SPARSE_GROUP = 64, NY_SPARSE_SUMS = 1 << 16 };
/* out (rows × cols, at most NY_SPARSE_GROUP rows) = base quantities of the points and the indexed
 * rows first … first+cols−1, which are in one panel. Sums run over the columns in order: they
 * depend on the two rows alone. */
void ny_sparse_base(const struct ny_sparse_index *index, const struct ny_sparse_preparation *in,
                    const struct ny_sparse_point *points, size_t first, struct ny_matrix out);
/* Tells whether two raw rows have the same values. */
bool ny_sparse_equal(const struct ny_sparse_preparation *in, struct ny_sparse x,
                     struct ny_sparse y);
/* The base quantity of two raw rows, without cancellation. */
double ny_sparse_pair(const struct ny_sparse_preparation *in, struct ny_sparse x,
                      struct ny_sparse y);
/* ‖x/‖x‖ − y/‖y‖‖² of two rows that are not 0 and have no centre. */
double ny_sparse_chord(const struct ny_sparse_preparation *in, const struct ny_sparse_point *x,
                       struct ny_sparse y);
/* k(x, x) from the norms. */
double ny_sparse_diagonal(const struct ny_sparse_preparation *in,
                          const struct ny_sparse_norms *norms);

struct ny_columns;
struct ny_strip;
/* Computes the base quantities of a strip, in f64, and stores them in f32 as ny_strip_base() does.
 * */
void ny_sparse_strip_base(const struct ny_columns *columns, const struct ny_strip *strip,
                          size_t first, struct ny_matrix32 K);
/* Computes kernel values of raw rows against landmarks `first` … as ny_columns_exact() does, for
 * sparse rows. */
int ny_sparse_exact(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                    size_t first, struct ny_matrix K);
/* Computes the kernel values of raw rows among themselves as ny_columns_exact_square() does, for
 * sparse rows. */
int ny_sparse_exact_square(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                           struct ny_matrix K);
/* Computes W, the square of the landmarks, whose index is there, as ny_columns_square() does. */
int ny_sparse_square(const struct ny_columns *columns, struct ny_matrix W);
/* Computes k(x,x) of raw rows as ny_columns_diagonal() does, for sparse rows. */
int ny_sparse_diagonals(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                        double *diagonal);

#endif
