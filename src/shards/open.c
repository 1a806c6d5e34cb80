#include "shards/open.h"

#include "shards/set.h"
#include "shards/whole.h"

int ny_shards_open(struct ny_store **out, struct ny_context *ctx, const char *path,
                   const char *name, enum ny_shards_which which)
{
    struct ny_shards *shards;
    bool whole;
    int err;

    *out = NULL;
    if (!ny_shards_at(path)) return ny_store_open(out, ctx, path);
    err = ny_whole_has(ctx, path, name, &whole);
    if (!err) err = ny_shards_read(&shards, ctx, path);
    if (err) return err;
    if (whole) return ny_whole_of(out, shards);
    if (which != NY_SHARDS_SOME) err = ny_shards_complete(shards);
    if (!err) return ny_shards_set(out, shards, which == NY_SHARDS_STEADY);
    ny_shards_free(shards);
    return err;
}

int ny_shards_each(struct ny_context *ctx, const char *path, enum ny_shards_way way,
                   ny_shard_fn *each, void *arg)
{
    char missing[NY_SHARD_LIST_BYTES], whole[PATH_MAX];
    struct ny_shards *shards;
    int err;

    if (!ny_shards_at(path)) return each(arg, path, NULL, -1);
    err = way == NY_SHARDS_CHANGE ? ny_shards_read(&shards, ctx, path)
                                  : ny_shards_load(&shards, ctx, path);
    if (err) return err;
    shards->accepts = way == NY_SHARDS_MEND;
    shards->there = 0;
    for (unsigned k = 0; !err && k < shards->count; k++) {
        bool made = ny_shards_made(shards, k);

        if (made) err = each(arg, shards->shard[k].path, shards, (int)k);
        shards->shard[k].there = made;
        shards->there += made;
    }
    if (!err && ny_whole_path(path, whole)) err = each(arg, whole, shards, -1);
    if (!err && way != NY_SHARDS_VERIFY)
        ny_shards_note(ctx, path, (struct ny_shards_noted){.accepts = shards->accepts});
    if (!err && shards->there < shards->count)
        ny_log(ctx, NY_LOG_WARNING, "shards of %s that are not here are left out: %s", path,
               ny_shards_missing(shards, missing));
    ny_shards_free(shards);
    return err;
}
