/*
 * The work of each way to find neighbours, by which --knn auto chooses one. It is counted in
 * nanoseconds of one thread, from the shape of the points and from what a few rows show. No clock
 * is read, so that the choice, which the record keeps, is the same on every run and machine.
 *
 * Whether a tree is the least work depends on the points more than on the number of columns: 38
 * columns of a log of connections are few, 16 of noise are many. So auto makes the tree and lets it
 * find the neighbours of some rows, in a twentieth of the time of the other way at most.
 *
 * The other way is all pairs or, of many rows of hundreds of columns, a sieve that finds all
 * neighbours. Where fewer than all are asked for (--recall) it is a sieve. Codes may tell nothing
 * about the rows, as of noise in many columns. A sieve therefore searches for some rows first, and
 * gives way to all pairs where it would be more work (neighbors/sieve.c). Sparse rows of many
 * columns, such as texts, have codes that tell little and take long to make: all pairs are compared
 * at once.
 *
 * All pairs, a tree, and a sieve that finds all neighbours give the same lists, so that the budget
 * may decide between them. It does not decide where fewer are asked for: the plan has room for each
 * way that may be taken.
 */
#include <math.h>

#include "neighbors/job_private.h"

/* All pairs of so many rows take no time. Codes are made of sparse rows of so many columns. */
enum { FEW_ROWS = 2 * NY_UNIT_ROWS, SPARSE_COLUMNS = 2048 };

const struct ny_sieve_reach ny_graph_usual_reach = {.cells = 24, .measured = 24, .looked = 0.05};

/* ---- work ----------------------------------------------------------------------------------- */

/* The nanoseconds are those of a CPU with AVX-512. Those of a sieve that finds nearly all
 * neighbours were measured on one with AVX2, beside a tree and all pairs, and are in proportion. */

double ny_graph_pairs_ns(const struct ny_rows_info *points)
{
    const double sparse = 0.3; /* a value of a sparse row */
    double n = (double)points->n, value = ny_dtype_size(points->dtype) == 1 ? 0.0065 : 0.02;

    if (points->row_slots) return n / 2 * (1.8 * n + sparse * (double)points->nnz);
    return n * n / 2 * (1.8 + value * (double)points->d);
}

static double tree_making_ns(double n, double d)
{
    return n * log2(n / NY_TREE_ROWS + 1) * (18 + 1.6 * d);
}

double ny_graph_boxes_ns(const struct ny_tree_work *work, size_t columns)
{
    double d = (double)columns, apart = d > NY_EXACT_DIRECT ? 2 : 1; /* sums in 16 lanes */

    return (double)work->boxes * (8 + 2 * apart * d) + (double)work->rows * (3 + 0.9 * apart * d) +
           (double)work->moves * 8;
}

double ny_graph_tree_ns(const struct ny_rows_info *points)
{
    const double row = 100, column = 1.8; /* rows that fill all of their columns */
    double n = (double)points->n, d = (double)points->d, pairs = ny_graph_pairs_ns(points);
    double tree = tree_making_ns(n, d) + n * row * pow(column, d);

    return tree < pairs ? tree : pairs;
}

double ny_graph_tree_share(const struct ny_rows_info *points)
{
    return ny_graph_tree_ns(points) / ny_graph_pairs_ns(points);
}

/* For each value of a row, of making its codes. */
static const double codes_ns = 6;

double ny_graph_sieve_ns(const struct ny_rows_info *points, const struct ny_sieve_reach *reach)
{
    double n = (double)points->n, d = (double)points->d;

    return n * (d * codes_ns + ny_sieve_reach_ns(reach, n, d));
}

/* Codes are compared twice, with fewer rows at a time than where not all neighbours are found. */
double ny_graph_sieve_all_ns(const struct ny_rows_info *points, const struct ny_sieve_work *work,
                             size_t rows)
{
    const double code = 0.65, look = 90, row = 100;
    double value = 0.3 + 0.1 * (double)ny_dtype_size(points->dtype);
    double n = (double)points->n, d = (double)points->d, share = 1 / (double)rows;
    double compared = 2 * ny_graph_pairs_ns(points) / n; /* of one row with all */

    return n * (2 * n * code + d * codes_ns +
                share * (work->looked * look + work->measured * (row + d * value) +
                         work->left * compared));
}

/* ---- the choice ----------------------------------------------------------------------------- */

enum ny_knn_way ny_graph_other_way(const struct ny_graph_settings *settings,
                                   const struct ny_rows_info *points)
{
    double exactly;

    if (!ny_graph_nearly(settings) || points->n <= FEW_ROWS) return NY_KNN_EXACT;
    if (points->row_slots && points->d > SPARSE_COLUMNS) return NY_KNN_EXACT;
    exactly = ny_graph_takes_tree(settings, points) ? ny_graph_tree_ns(points)
                                                    : ny_graph_pairs_ns(points);
    return exactly < ny_graph_sieve_ns(points, &ny_graph_usual_reach) ? NY_KNN_EXACT : NY_KNN_SIEVE;
}

double ny_graph_other_ns(const struct ny_graph_settings *settings,
                         const struct ny_rows_info *points)
{
    return ny_graph_other_way(settings, points) == NY_KNN_SIEVE
               ? ny_graph_sieve_ns(points, &ny_graph_usual_reach)
               : ny_graph_pairs_ns(points);
}

bool ny_graph_tries_tree(const struct ny_graph_settings *settings,
                         const struct ny_rows_info *points)
{
    /* Part of the time of the other way, if the tree is not used: less where a sieve of all
     * neighbours may be tried behind it, too. */
    const double share = ny_graph_nearly(settings) ? 0.22 : 0.1;
    const double most = 1 << 30; /* bytes of a tree, where the budget must not decide about it */
    double n = (double)points->n, d = (double)points->d;

    if (points->n <= FEW_ROWS || !ny_graph_takes_tree(settings, points)) return false;
    if (ny_graph_other_way(settings, points) != NY_KNN_EXACT &&
        n * d * sizeof(double) * (1 + 4.0 / NY_TREE_ROWS) > most)
        return false;
    return tree_making_ns(n, d) < share * ny_graph_other_ns(settings, points);
}

bool ny_graph_tries_sieve(const struct ny_graph_settings *settings,
                          const struct ny_rows_info *points)
{
    const struct ny_sieve_work common = {.looked = 250, .measured = 75}; /* of a row */
    const double share = 0.06; /* part of the time of all pairs, if the sieve is not used */
    double n = (double)points->n, sieve = ny_graph_sieve_all_ns(points, &common, 1);
    double making = n * (double)points->d * codes_ns, pairs = ny_graph_pairs_ns(points);

    return n > FEW_ROWS && ny_graph_takes_tree(settings, points) &&
           making + NY_SIEVE_PILOT / n * sieve < share * pairs && sieve < ny_graph_tree_ns(points);
}
