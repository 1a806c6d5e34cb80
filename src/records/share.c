/* The exchange of records between the shards of a store (records/record.h). */
#include "base/checksum.h"
#include "base/memory.h"
#include "base/peers.h"
#include "records/record.h"

static int agree(struct ny_context *ctx, const json_t *object, const char *what)
{
    char *text = NULL;
    size_t bytes;
    int err = object ? ny_fields_text(ctx, object, JSON_SORT_KEYS, &text, &bytes) : NY_OK;

    if (!err)
        err = ny_peers_agree(ny_context_peers(ctx), text ? ny_checksum(text, bytes) : 0, what);
    ny_free(ctx, text);
    return err;
}

int ny_shards_agree(struct ny_context *ctx, const json_t *options, const json_t *inputs)
{
    int err;

    if (!ny_context_peers(ctx)) return NY_OK;
    err = agree(ctx, options, "options");
    return err ? err : agree(ctx, inputs, "files that options name");
}

int ny_shards_share_json(struct ny_context *ctx, unsigned shard, const json_t *mine,
                         json_t **shared)
{
    struct ny_peers *peers = ny_context_peers(ctx);
    bool gives = ny_peers_shard(peers) == shard;
    char *text = NULL;
    size_t bytes = 0;
    int err = gives ? ny_fields_text(ctx, mine, JSON_SORT_KEYS, &text, &bytes) : NY_OK;

    *shared = NULL;
    if (!err) err = ny_peers_share_of(peers, shard, &bytes, sizeof(bytes));
    if (!err && !gives) text = ny_alloc(ctx, NY_MEM_OTHER, bytes);
    if (!err && !text) err = NY_EBUDGET;
    if (!err) err = ny_peers_share_of(peers, shard, text, bytes);
    if (!err) *shared = json_loadb(text, bytes, 0, NULL);
    if (!err && !*shared) err = ny_fields_no_memory(ctx);
    ny_free(ctx, text);
    return err;
}

/* Makes the record that of another shard, which is changed, too, but for what is this one's
 * own: checkpoint, sums, command, first, rounded, lost, and what an update has of its parts. */
static void take(json_t *record, json_t *other)
{
    static const char *const own[] = {"checkpoint", "sums",       "command", "command_around",
                                      "first",      "rounded",    "lost",    "update",
                                      "generation", "generations"};
    const char *key;
    json_t *value;

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        value = json_object_get(record, own[i]);
        json_object_del(other, own[i]);
        if (value) ny_field_set_json(other, own[i], json_incref(value));
    }
    json_object_clear(record);
    json_object_foreach(other, key, value) ny_field_set_json(record, key, json_incref(value));
}

int ny_record_share(struct ny_record record, struct ny_context *ctx, unsigned shard)
{
    json_t *shared;
    int err = ny_shards_share_json(ctx, shard, record.of, &shared);

    if (!err && ny_peers_shard(ny_context_peers(ctx)) != shard) take(record.of, shared);
    json_decref(shared);
    return err ? err : ny_fields_check(ctx);
}
