/*
 * Notes in the file of a store in shards how far its shards have come (shards/shards.h).
 *
 * Epochs are read while the lock of the file is held, so that a note never goes back behind a later
 * one. They are those of commits that are on the disk: a loss of power takes no commit back that
 * was noted.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shards/held.h"

/* Takes into the list how far shard k has come, if it is there. */
static int note_shard(struct ny_shards *shards, unsigned k, const struct ny_shards_noted *noted)
{
    struct ny_shard *shard = &shards->shard[k];
    struct ny_store *store;
    int err = ny_shards_store(&store, shards, k);

    ny_store_close(store);
    if (err || !shard->there) return err;
    shard->listed = true;
    shard->listed_rows = noted->cut && noted->rows < shard->rows ? noted->rows : shard->rows;
    shard->noted = shard->now;
    return NY_OK;
}

int ny_shards_note(struct ny_context *ctx, const char *path, struct ny_shards_noted noted)
{
    struct ny_shards_held held;
    struct ny_shards *shards = NULL;
    bool made = false;
    int err = ny_shards_hold(&held, ctx, path, &made);

    if (!err) err = ny_shards_load(&shards, ctx, path);
    if (!err) shards->accepts = noted.accepts;
    if (!err && (!noted.end || noted.end > shards->count)) noted.end = shards->count;
    for (unsigned k = noted.first; !err && k < noted.end; k++)
        err = note_shard(shards, k, &noted);
    if (!err) err = ny_shards_write(&held, shards);
    ny_shards_let_go(&held);
    ny_shards_free(shards);
    if (!err || noted.cut) return err;
    ny_log(ctx, NY_LOG_WARNING, "%s", ny_context_message(ctx));
    ny_error_clear(ctx);
    return NY_OK;
}

bool ny_shards_within(struct ny_context *ctx, const char *path, struct ny_shard_home *home)
{
    static const char digits[] = "0123456789";
    const size_t tail = strlen("shard-00000");
    size_t length = strlen(path);
    const char *own;
    struct ny_shards *shards;

    while (length > 0 && path[length - 1] == '/')
        length--;
    if (length < tail || length >= PATH_MAX) return false;
    own = path + length - tail;
    if ((own > path && own[-1] != '/') || strncmp(own, "shard-", 6) || strspn(own + 6, digits) != 5)
        return false;
    snprintf(home->folder, PATH_MAX, "%.*s", own > path ? (int)(own - path) : 1,
             own > path ? path : ".");
    if (!ny_shards_at(home->folder) || ny_shards_load(&shards, ctx, home->folder)) return false;
    home->shard = (unsigned)strtoul(own + 6, NULL, 10);
    home->count = shards->count;
    ny_shards_free(shards);
    return home->shard < home->count;
}
