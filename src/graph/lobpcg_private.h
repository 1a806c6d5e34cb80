/* The steps of graph/lobpcg.h on tall blocks of vectors. Rows are taken in groups whose number does
 * not depend on that of the threads, and sums are those of groups in order. */
#ifndef NY_GRAPH_LOBPCG_PRIVATE_H
#define NY_GRAPH_LOBPCG_PRIVATE_H

#include "graph/lobpcg.h"
#include "linalg/matrix.h"

enum { NY_LOBPCG_GROUPS = 64, NY_LOBPCG_GROUP_STEP = 512 };

/* Columns of [X P W] that take part. */
struct ny_span {
    size_t x, p, w;
};

/* Returns the columns of [X P W] that take part in all. */
static inline size_t ny_span_columns(struct ny_span span)
{
    return span.x + span.p + span.w;
}

/* Blocks have a whole number of strips. */
static inline size_t ny_stride_of(size_t columns)
{
    return (columns + NY_STRIP_COLUMNS - 1) / NY_STRIP_COLUMNS * NY_STRIP_COLUMNS;
}

/* sum, columns × NY_STRIP_COLUMNS, += AᵀDY of so many rows; compiled once for each CPU family. */
struct ny_strip_gram {
    const double *a, *y;
    const double *weight; /* D */
    double *sum;
    size_t columns, a_stride, y_stride, sum_stride;
};
typedef void ny_strip_gram_fn(const struct ny_strip_gram *gram, size_t count);

/* M = [X P W]ᵀDY, Y n × M.cols of stride y_stride. */
int ny_lobpcg_gram(const struct ny_lobpcg *solver, struct ny_span span, const double *Y,
                   size_t y_stride, struct ny_matrix M);
/* W ← (W − [X P]C)T, T of as many columns as there are; columns of W beyond are 0. */
int ny_lobpcg_project(const struct ny_lobpcg *solver, struct ny_span span, struct ny_matrix C,
                      struct ny_matrix T);
/* [X P] ← [X P W]V, V of columns + directions columns. */
int ny_lobpcg_rotate(const struct ny_lobpcg *solver, struct ny_span span, struct ny_matrix V);
/* R = D⁻¹(D − A)X − XΘ in place of W, and residual[j] = ‖r_j‖. */
int ny_lobpcg_residuals(struct ny_lobpcg *solver);
/* W ← (D − A + σD)⁻¹DW about, columns scaled to residuals of 1. */
int ny_lobpcg_precondition(struct ny_lobpcg *solver);
/* W ← X less `length` times the solution in W, of residuals as they are. */
int ny_lobpcg_refine(const struct ny_lobpcg *solver, double length);
/* Y = D⁻¹(D − A)W of strip s, in the grid's r. */
int ny_lobpcg_apply(const struct ny_lobpcg *solver, size_t strip);
/* Counts the workspace of the largest of them, but for solver->sums. */
void ny_lobpcg_rows_count(struct ny_layout *l, size_t columns, unsigned threads);

#endif
