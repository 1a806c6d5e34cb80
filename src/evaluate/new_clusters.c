/*
 * Finds the clusters of new rows (evaluate/new_clusters.h).
 *
 * Centres are not stored: k-means ends at the means of its clusters, which the stored clusters and
 * the embedding have. Sums are f64, in the order of the rows.
 */
#include "evaluate/new_clusters.h"

#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "evaluate/vectors.h"
#include "results/clusters.h"
#include "results/shards.h"

/* A piece of the embedding with its clusters. */
struct piece {
    double *y, *room; /* in f64, and as it is stored */
    uint64_t *cluster;
};

/* Adds the rows first … first + count − 1 to the sums and sizes of their clusters. */
static int add_piece(struct ny_cluster_finder *finder, struct ny_result *result,
                     const struct piece *piece, uint64_t first, size_t count, uint64_t *sizes)
{
    const struct ny_result_part *clusters = ny_part_find("clusters");
    const struct ny_result_part *embedding = ny_part_find("embedding");
    size_t p = finder->p;
    int err = ny_part_fill(result, clusters, first, count, piece->cluster);

    if (!err)
        err = ny_vectors_read(result, embedding, first, count, ny_matrix(piece->y, count, p),
                              piece->room);
    for (size_t i = 0; !err && i < count; i++) {
        uint64_t c = piece->cluster[i];

        if (c == UINT64_MAX) continue; /* a row without coordinates */
        if (c >= finder->k)
            return ny_fail(finder->ctx, NY_ESTORE,
                           "the clusters of '%s' are damaged: row %llu is in cluster %llu, but "
                           "there are only %zu; 'nystream eval' finds them anew",
                           result->name, (unsigned long long)(first + i), (unsigned long long)c,
                           finder->k);
        sizes[c]++;
        for (size_t j = 0; j < p; j++)
            finder->centre[c * p + j] += piece->y[i * p + j];
    }
    return err;
}

/* Computes the means of the clusters' rows, which are the first n of the result. */
static int find_centres(struct ny_cluster_finder *finder, struct ny_result *result, uint64_t n)
{
    size_t rows = n < NY_VECTOR_ROWS ? (size_t)n : NY_VECTOR_ROWS;
    size_t element = result->f64 ? sizeof(double) : sizeof(float);
    struct ny_layout l = {.ctx = finder->ctx};
    uint64_t *sizes = ny_lay(&l, NY_MEM_OTHER, finder->k, sizeof(*sizes));
    struct piece piece = {
        .y = ny_lay(&l, NY_MEM_IO, rows, finder->p * sizeof(double)),
        .room = ny_lay(&l, NY_MEM_IO, rows, finder->p * element),
        .cluster = ny_lay(&l, NY_MEM_IO, rows, sizeof(uint64_t)),
    };
    int err = l.err ? l.err : ny_result_prepare(result, ny_part_find("embedding"), rows);

    for (uint64_t first = 0; !err && first < n; first += rows) {
        size_t count = n - first < rows ? (size_t)(n - first) : rows;

        err = add_piece(finder, result, &piece, first, count, sizes);
    }
    for (size_t c = 0; !err && c < finder->k; c++)
        for (size_t j = 0; j < finder->p; j++)
            finder->centre[c * finder->p + j] /= sizes[c] ? (double)sizes[c] : NAN;
    ny_layout_free(&l);
    return err;
}

int ny_cluster_finder_of(struct ny_cluster_finder *finder, struct ny_result *result, size_t k,
                         uint64_t rows)
{
    finder->ctx = result->ctx;
    finder->k = k;
    finder->p = ny_coordinates_count(&result->coordinates);
    finder->centre = ny_calloc(finder->ctx, NY_MEM_MODEL, k, finder->p * sizeof(double));
    return finder->centre ? find_centres(finder, result, rows) : NY_EBUDGET;
}

int ny_cluster_finder_open(struct ny_cluster_finder *finder, struct ny_store *store,
                           const char *name)
{
    struct ny_result result = {0};
    size_t k;
    int err = ny_result_open_any(&result, store, name);

    finder->ctx = ny_store_context(store);
    if (err) goto done;
    k = ny_stored_clusters(&result);
    if (k)
        err = ny_cluster_finder_of(finder, &result, k, result.rows.count);
    else
        err = ny_fail(finder->ctx, NY_EUSAGE,
                      "'%s' has no clusters of its current rows; 'nystream eval %s %s --clusters "
                      "K' finds them",
                      name, ny_store_path(store), name);
done:
    ny_result_close_any(&result);
    return err;
}

int ny_cluster_finder_begin(struct ny_cluster_finder *finder, uint64_t rows)
{
    int err;

    if (!finder->output) return NY_OK;
    err = ny_writer_open(&finder->writer, finder->ctx, finder->output, NY_OUT_I64, rows, 0);
    return err ? err : ny_writer_fits(finder->writer);
}

/* Returns the cluster whose centre is nearest, of several the first. A centre that is NaN is not;
 * 2^64-1 of a row that is. */
static uint64_t nearest(const struct ny_cluster_finder *finder, const double *y)
{
    const double *centre = finder->centre;
    double least = INFINITY;
    uint64_t found = UINT64_MAX;

    for (size_t c = 0; c < finder->k; c++, centre += finder->p) {
        double square = 0;

        for (size_t j = 0; j < finder->p; j++)
            square += (y[j] - centre[j]) * (y[j] - centre[j]);
        if (!(square < least)) continue;
        least = square;
        found = c;
    }
    return found;
}

int ny_cluster_finder_put(struct ny_cluster_finder *finder, bool f64, const void *rows,
                          size_t count)
{
    size_t p = finder->p, element = f64 ? sizeof(double) : sizeof(float);
    double *y = ny_alloc(finder->ctx, NY_MEM_OTHER, p * sizeof(*y));
    int err = y ? NY_OK : NY_EBUDGET;

    for (size_t i = 0; !err && i < count; i++) {
        uint64_t cluster;

        ny_dtype_to_f64(f64 ? NY_F64 : NY_F32, (const char *)rows + i * p * element, y, p);
        cluster = nearest(finder, y);
        if (finder->writer)
            err = ny_writer_rows(finder->writer, &cluster, 1);
        else
            finder->number[finder->found + i] = cluster;
    }
    finder->found += count;
    ny_free(finder->ctx, y);
    return err;
}

int ny_cluster_finder_end(struct ny_cluster_finder *finder)
{
    struct ny_writer *writer = finder->writer;

    finder->writer = NULL;
    return ny_writer_commit(writer, NY_OK);
}

void ny_cluster_finder_close(struct ny_cluster_finder *finder)
{
    ny_writer_abort(finder->writer);
    ny_free(finder->ctx, finder->centre);
    *finder = (struct ny_cluster_finder){.ctx = finder->ctx};
}
