/*
 * Exports by the processes that have the shards of a store (results/export.h). Each reads its own
 * rows; the one that leads gets them in the order of the shards, and writes the file in any format.
 * So no process needs the shards of another, and each machine may have its own disk. A part that
 * all shards have alike, such as the model, is written from the first.
 */
#include "results/export.h"

#include <string.h>

#include "base/memory.h"
#include "base/peers.h"
#include "results/clusters.h"
#include "results/current.h"
#include "results/names.h"
#include "results/shards.h"

/* Pieces of rows, and how many of them may wait for the peer that leads. */
enum { PIECE_BYTES = 4 << 20, AHEAD = 8 };

struct shared_export {
    struct ny_result result; /* the result in this peer's shard */
    const struct ny_result_part *part;
    struct ny_peers *peers;
    struct ny_writer *writer; /* NULL: another peer leads */
    size_t row_bytes, piece;  /* rows at a time */
    uint64_t *rows;           /* rows of each shard */
    uint64_t *now, *then;     /* rows before each shard: in the stores, and in those of the fit */
    size_t *sizes;            /* bytes that each shard gives */
    char *mine, *all;         /* a piece of rows; all: of the peer that leads */
};

static int alone(struct ny_context *ctx, const char *part)
{
    return ny_fail(ctx, NY_EUSAGE, "several processes cannot export %s; start one", part);
}

/* Refuses a part that this shard does not have, or that is not of the result as a whole. */
static int check_part(const struct shared_export *export)
{
    const struct ny_result *result = &export->result;
    bool fitted = json_is_object(json_object_get(result->record, "sharded"));

    if (strcmp(export->part->name, "source") == 0 ||
        (strcmp(export->part->name, "clusters") == 0 && !fitted))
        return alone(result->ctx, export->part->name);
    if (export->part->count(result)) return NY_OK;
    return ny_result_lacks(result->store, result->name, export->part->name);
}

static int allocate(struct shared_export *export)
{
    struct ny_context *ctx = export->result.ctx;
    unsigned shards = ny_peers_shards(export->peers);
    uint64_t bytes = ny_memory_limit(ctx) / 16;
    int err;

    if (bytes > PIECE_BYTES) bytes = PIECE_BYTES;
    err = ny_peers_least(export->peers, &bytes);
    if (err) return err;
    export->piece = (size_t)bytes / export->row_bytes + 1;
    export->rows = ny_calloc(ctx, NY_MEM_IO, shards, sizeof(*export->rows));
    export->sizes = ny_calloc(ctx, NY_MEM_IO, shards, sizeof(*export->sizes));
    export->mine = ny_calloc(ctx, NY_MEM_IO, export->piece, export->row_bytes);
    if (ny_peers_leads(export->peers))
        export->all = ny_calloc(ctx, NY_MEM_IO, export->piece, export->row_bytes);
    if (!export->rows || !export->sizes || !export->mine ||
        (ny_peers_leads(export->peers) && !export->all))
        return NY_EBUDGET;
    return ny_result_prepare(&export->result, export->part, export->piece);
}

/* Finds how rows are numbered over all shards. */
static int find_numbers(struct shared_export *export)
{
    struct ny_context *ctx = export->result.ctx;
    const json_t *sharded = json_object_get(export->result.record, "sharded");
    unsigned shards = ny_peers_shards(export->peers);
    uint64_t then = ny_field_count(sharded, "first", 0), before = 0;
    struct ny_rows_info info;
    int err = ny_points_info(export->result.store, &info);

    if (err) return err;
    export->now = ny_calloc(ctx, NY_MEM_IO, 2 * (size_t)shards, sizeof(*export->now));
    if (!export->now) return NY_EBUDGET;
    export->then = export->now + shards;
    err = ny_peers_gather_equal(export->peers, &info.n, sizeof(info.n), export->now);
    if (!err) err = ny_peers_gather_equal(export->peers, &then, sizeof(then), export->then);
    for (unsigned shard = 0; shard < shards && !err; shard++) {
        uint64_t rows = export->now[shard];

        export->now[shard] = before;
        before += rows;
    }
    return err;
}

/* Counts the rows of all shards, and opens the file where this peer leads. */
static int begin(struct shared_export *export, const char *output)
{
    const struct ny_result *result = &export->result;
    const struct ny_result_part *part = export->part;
    uint64_t mine = part->count(result), total = 0;
    int err = ny_peers_gather_equal(export->peers, &mine, sizeof(mine), export->rows);

    if (err || !ny_peers_leads(export->peers)) return err;
    for (unsigned shard = 0; shard < ny_peers_shards(export->peers); shard++)
        total += export->rows[shard];
    err = ny_writer_open(&export->writer, result->ctx, output, ny_result_element(result, part),
                         total, part->columns ? part->columns(result) : 0);
    return err ? err : ny_writer_fits(export->writer);
}

/* Reads rows of this shard, as the whole numbers them. */
static int fill(struct shared_export *export, uint64_t first, size_t count)
{
    uint64_t *numbers = (uint64_t *)(void *)export->mine;
    int err = ny_part_fill(&export->result, export->part, first, count, export->mine);

    if (err || strcmp(export->part->name, "rows") != 0) return err;
    for (size_t i = 0; i < count; i++)
        numbers[i] += export->now[ny_peers_shard(export->peers)];
    return NY_OK;
}

/* Brings the rows of one shard to the file. */
static int copy_shard(struct shared_export *export, unsigned shard)
{
    bool here = shard == ny_peers_shard(export->peers);
    int err = NY_OK;

    for (uint64_t first = 0, k = 1; first < export->rows[shard] && !err;
         first += export->piece, k++) {
        uint64_t left = export->rows[shard] - first;
        size_t count = left < export->piece ? (size_t)left : export->piece;

        err = ny_check_interrupt(export->result.ctx);
        if (!err && here) err = fill(export, first, count);
        export->sizes[shard] = count * export->row_bytes;
        if (!err) err = ny_peers_collect(export->peers, export->mine, export->sizes, export->all);
        if (!err && export->writer) err = ny_writer_rows(export->writer, export->all, count);
        if (!err && k % AHEAD == 0) err = ny_peers_wait(export->peers);
    }
    export->sizes[shard] = 0;
    return err;
}

/* Refuses clusters that an evaluation of all shards has not found together. Where a shard has got
 * others since it was opened, one was under way. */
static int refuse_clusters(struct shared_export *export)
{
    struct ny_result *result = &export->result;
    int err = ny_result_current(result, export->part, NY_OK);
    uint64_t untouched = err != NY_EBUSY;

    if (err && untouched) return err;
    ny_error_clear(result->ctx);
    err = ny_peers_least(export->peers, &untouched);
    if (err) return err;
    if (untouched) return alone(result->ctx, "clusters of each shard");
    return ny_fail_changed(result->ctx, result->name);
}

/* Compares the clusters of all shards before any of them is written. */
static int agree_on_clusters(struct shared_export *export)
{
    struct ny_result *result = &export->result;
    uint64_t mine, lead, same;
    int err = ny_stored_clusters_digest(result->ctx, result->record, &mine);

    lead = mine;
    if (!err) err = ny_peers_share(export->peers, &lead, sizeof(lead));
    same = mine == lead;
    if (!err) err = ny_peers_least(export->peers, &same);
    return err || same ? err : refuse_clusters(export);
}

static int write_rows(struct shared_export *export, const char *output)
{
    struct ny_result *result = &export->result;
    size_t cols = export->part->columns ? export->part->columns(result) : 1;
    int err = check_part(export);

    export->row_bytes =
        (cols ? cols : 1) * ny_output_bytes(ny_result_element(result, export->part));
    if (!err && strcmp(export->part->name, "clusters") == 0) err = agree_on_clusters(export);
    if (!err && strcmp(export->part->name, "rows") == 0) err = find_numbers(export);
    if (!err) err = allocate(export);
    if (!err) err = begin(export, output);
    for (unsigned shard = 0; shard < ny_peers_shards(export->peers) && !err; shard++)
        err = copy_shard(export, shard);
    err = ny_writer_commit(export->writer, err);
    ny_free(result->ctx, export->all);
    ny_free(result->ctx, export->mine);
    ny_free(result->ctx, export->sizes);
    ny_free(result->ctx, export->rows);
    ny_free(result->ctx, export->now);
    return err;
}

/* Refuses names of classes of which the shard that leads has not all, as the rows of another came
 * later and brought more. */
static int check_classes(const struct shared_export *export)
{
    struct ny_context *ctx = export->result.ctx;
    char **names = NULL;
    size_t count = 0;
    uint64_t lead, all;
    int err = ny_points_class_names(export->result.store, &names, &count);

    ny_free(ctx, names);
    lead = count;
    if (!err) err = ny_peers_share(export->peers, &lead, sizeof(lead));
    all = lead >= count;
    if (!err) err = ny_peers_least(export->peers, &all);
    return err || all ? err : alone(ctx, "classes");
}

/* Writes the landmarks, with the numbers that their rows have now, by the peer that leads. */
static int write_landmarks(struct shared_export *export, const char *output)
{
    struct ny_context *ctx = export->result.ctx;
    size_t count = export->part->count(&export->result);
    uint64_t *rows = NULL;
    int err = check_part(export);

    if (!err) err = find_numbers(export);
    if (err || !ny_peers_leads(export->peers)) goto done;
    rows = ny_calloc(ctx, NY_MEM_IO, count, sizeof(*rows));
    err = rows ? ny_part_fill(&export->result, export->part, 0, count, rows) : NY_EBUDGET;
    for (size_t i = 0; i < count && !err; i++)
        rows[i] = ny_row_now(export->then, export->now, ny_peers_shards(export->peers), rows[i]);
    if (!err) err = ny_writer_open(&export->writer, ctx, output, NY_OUT_U64, count, 0);
    if (!err) err = ny_writer_rows(export->writer, rows, count);
    err = ny_writer_commit(export->writer, err);
done:
    ny_free(ctx, rows);
    ny_free(ctx, export->now);
    return err;
}

/* Writes what all shards have alike, by the peer that leads. */
static int write_once(struct shared_export *export, const char *part, const char *output)
{
    const struct ny_result *result = &export->result;
    struct ny_names_part names;
    int err = strcmp(part, "classes") == 0 ? check_classes(export) : NY_OK;

    if (strcmp(part, "ids") == 0) return alone(result->ctx, "ids");
    if (strcmp(part, "landmarks") == 0) return write_landmarks(export, output);
    if (err || !ny_peers_leads(export->peers)) return err;
    if (!ny_is_names_part(part))
        return ny_part_export(result->store, result->name, part, output, NULL);
    err = ny_names_part_find(&names, result->store, NULL, part); /* points have them, too */
    return err ? err : ny_names_part_export(&names, output, NULL);
}

/* Opens what is exported. Results are those of one map where they have the same model. */
static int open_result(struct shared_export *export, struct ny_store *store, const char *name)
{
    uint64_t digest = 0;
    int err;

    if (!name) return ny_result_of_points(&export->result, store);
    err = ny_result_open(&export->result, store, name);
    if (!err) err = ny_result_digest(&export->result, &digest);
    return err ? err : ny_peers_agree(export->peers, digest, "models");
}

int ny_part_export_peers(struct ny_store *store, const char *name, const char *part,
                         const char *output)
{
    struct shared_export export = {.part = ny_part_find(part),
                                   .peers = ny_context_peers(ny_store_context(store))};
    int err = open_result(&export, store, name);

    if (!err)
        err = export.part && export.part->by_row ? write_rows(&export, output)
                                                 : write_once(&export, part, output);
    ny_result_close(&export.result);
    return err;
}
