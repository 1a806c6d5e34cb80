/* The rows of a handle and what they charge as they are read: of a shard, those of all shards. */
#include "store/store_private.h"
#include "stream/source.h"

/* Sets the rows that are here; of a shard, n and what follows from it are those of all. */
static void count_all(const struct ny_store *store, struct ny_rows_info *info)
{
    unsigned shard = ny_peers_shard(store->peers);

    info->here = (struct ny_row_range){0, info->n};
    info->aligned = true;
    if (!store->peers) return;
    info->here = (struct ny_row_range){store->shard_first[shard], store->shard_first[shard + 1]};
    for (unsigned k = 0; k < ny_peers_shards(store->peers); k++)
        info->aligned = info->aligned && store->shard_first[k] % NY_UNIT_ROWS == 0;
    info->n = store->shard_first[ny_peers_shards(store->peers)];
    info->nnz = store->shards_nnz;
    info->row_slots = store->shards_slots;
    info->unit_values = store->shards_unit;
    info->lengths = store->shards_lengths;
}

/* Sets what a gather charges beside its blocks, and what statistics charge beside what they return,
 * where the rows are those of several shards. */
static void count_charges(const struct ny_store *store, struct ny_rows_info *info)
{
    unsigned shards = ny_peers_shards(store->peers);
    struct ny_layout travel = {0};

    info->reader_bytes = NY_READING_BYTES; /* of a set, in each of its stores */
    if (store->set) info->reader_bytes *= store->set->count;
    if (ny_rows_here(info) != info->n) ny_points_travel_count(&travel, info, shards);
    info->gather_bytes = ny_layout_most(&travel);
    if (shards > 1) info->stats_bytes = (shards + 1) * (2 + 4 * (size_t)info->d) * sizeof(double);
}

int ny_points_stored(struct ny_store *store, struct ny_stored_points *points)
{
    struct ny_rows_info *info = &points->rows;
    int err = ny_points_stored_all(store, points);

    if (err || store->in_memory) return err;
    info->n -= store->skipped.rows;
    info->block_bytes = store->set ? store->set->block_bytes : ny_points_block_bytes(points);
    if (info->row_slots) info->unit_values = ny_rows_unit_most(info, points->block_nnz);
    count_all(store, info);
    count_charges(store, info);
    return NY_OK;
}

int ny_points_info(struct ny_store *store, struct ny_rows_info *info)
{
    struct ny_stored_points points;
    int err = ny_points_stored(store, &points);

    *info = points.rows;
    return err;
}
