#include "results/keep.h"

#include "records/record.h"

static int begin(const struct ny_keep *keep, struct ny_batch **out)
{
    return ny_batch_begin(out, keep->at);
}

static int put(const struct ny_keep *keep, struct ny_batch *batch, const char *part, uint64_t index,
               const void *data, size_t bytes)
{
    return ny_batch_put(batch, keep->name, part, index, data, bytes);
}

static int drop(const struct ny_keep *keep, struct ny_batch *batch, const char *part)
{
    return ny_batch_delete(batch, keep->name, part);
}

static int chunk(const struct ny_keep *keep, const char *part, uint64_t index,
                 struct ny_chunk *chunk)
{
    return ny_chunk_get(keep->at, keep->name, part, index, chunk);
}

static int put_pieces(const struct ny_keep *keep, const char *part, const struct ny_pieces *pieces)
{
    return ny_blob_put_pieces(keep->at, keep->name, part, pieces);
}

static int get(const struct ny_keep *keep, const char *part, void *data, size_t bytes)
{
    return ny_blob_get(keep->at, keep->name, part, data, bytes);
}

static uint64_t bytes(const struct ny_keep *keep)
{
    return ny_store_bytes(keep->at);
}

static uint64_t room(const struct ny_keep *keep)
{
    return ny_results_room(keep->at, NULL);
}

struct ny_keep ny_store_keep(struct ny_store *store, const char *name)
{
    static const struct ny_keep_ops ops = {begin, put,        drop, ny_batch_commit, ny_batch_abort,
                                           chunk, put_pieces, get,  bytes,           room};
    struct ny_keep keep = {.ops = &ops,
                           .ctx = ny_store_context(store),
                           .name = name,
                           .place = ny_store_path(store),
                           .folder = ny_store_path(store),
                           .at = store};

    (void)ny_store_memory_keep(store, name, &keep); /* in place of it, where results are there */
    keep.records = &ny_records_json;
    return keep;
}
