/*
 * Carries the clusters of a result to the rows that a frozen update has added
 * (evaluate/new_clusters.h).
 *
 * Rows from before keep their numbers: they are copied, piece by piece, to the other slot of the
 * clusters (results/clusters.c). The centres are the means of these rows alone, so that new rows
 * get what transform would have given them before the update. Clusters are whole in one commit, so
 * that a kill leaves them to be carried by the next call.
 */
#include "base/layout.h"
#include "evaluate/new_clusters.h"
#include "results/clusters.h"
#include "results/shards.h"
#include "stream/source.h"

/* One carrying: `rows` rows have clusters, those behind them get theirs. */
struct carry {
    struct ny_result result;
    struct ny_cluster_finder finder;
    struct ny_embedding_writer writer;
    uint64_t rows;
    void *place;       /* room for a unit's coordinates, */
    uint64_t *cluster; /* its clusters, and these twice: what is stored is u32 */
    uint32_t *narrow;
    uint64_t *sizes; /* rows of each cluster */
};

/* Finds the clusters of new rows from their coordinates. */
static int find(struct carry *carry, uint64_t first, size_t count)
{
    struct ny_cluster_finder *finder = &carry->finder;
    int err = ny_part_fill(&carry->result, ny_part_find("embedding"), first, count, carry->place);

    finder->number = carry->cluster;
    finder->found = 0;
    return err ? err : ny_cluster_finder_put(finder, carry->result.f64, carry->place, count);
}

/* Gives rows to the writer, and counts them. A row without coordinates is of no cluster. */
static int add(struct carry *carry, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t c = carry->cluster[i];
        bool of_one = c < carry->finder.k;

        if (of_one) carry->sizes[c]++;
        carry->narrow[i] = of_one ? (uint32_t)c : UINT32_MAX;
    }
    ny_embedding_add(&carry->writer, carry->narrow, count);
    return ny_embedding_full(&carry->writer) ? ny_carried_clusters_flush(&carry->writer) : NY_OK;
}

static int add_all(struct carry *carry)
{
    uint64_t n = carry->result.n, first = 0;
    int err = NY_OK;

    while (!err && first < n) {
        uint64_t end = first < carry->rows ? carry->rows : n;
        size_t count = end - first < NY_UNIT_ROWS ? (size_t)(end - first) : NY_UNIT_ROWS;

        err = first < carry->rows
                  ? ny_stored_clusters_get(&carry->result, first, count, carry->cluster)
                  : find(carry, first, count);
        if (!err) err = add(carry, count);
        first += count;
        if (!err) err = ny_check_interrupt(carry->result.ctx);
    }
    return err;
}

/* Makes room, finds the centres, and writes the clusters of all rows. */
static int run(struct carry *carry, size_t k)
{
    struct ny_result *result = &carry->result;
    struct ny_layout l = {.ctx = result->ctx};
    size_t p = ny_coordinates_count(&result->coordinates);
    int err;

    carry->place = ny_lay(&l, NY_MEM_IO, NY_UNIT_ROWS, p * sizeof(double));
    carry->cluster = ny_lay(&l, NY_MEM_IO, NY_UNIT_ROWS, sizeof(*carry->cluster));
    carry->narrow = ny_lay(&l, NY_MEM_IO, NY_UNIT_ROWS, sizeof(*carry->narrow));
    carry->sizes = ny_lay(&l, NY_MEM_OTHER, k, sizeof(*carry->sizes));
    err = l.err;
    if (!err) err = ny_result_prepare(result, ny_part_find("embedding"), NY_UNIT_ROWS);
    if (!err) err = ny_cluster_finder_of(&carry->finder, result, k, carry->rows);
    if (!err) err = ny_carried_clusters_open(result, &carry->writer);
    if (!err) err = add_all(carry);
    if (!err) err = ny_carried_clusters_end(result, &carry->writer, k, carry->sizes);
    ny_embedding_writer_release(&carry->writer);
    ny_cluster_finder_close(&carry->finder);
    ny_layout_free(&l);
    return err;
}

int ny_clusters_carry(struct ny_store *store, const char *name)
{
    struct ny_context *ctx = ny_store_context(store);
    struct carry carry = {0};
    int err = ny_result_open(&carry.result, store, name);
    size_t k = err ? 0 : ny_carried_clusters(&carry.result, &carry.rows);

    if (k) err = run(&carry, k);
    ny_result_close(&carry.result);
    if (err != NY_EBUDGET) return err;
    ny_log(ctx, NY_LOG_WARNING,
           "the clusters of '%s' do not cover the new rows yet, because there is no memory to find "
           "theirs: give the same command again with more --memory",
           name);
    ny_error_clear(ctx);
    return NY_OK;
}
