#include "shards/open.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/* ---- results of all rows -------------------------------------------------------------------- */

bool ny_whole_path(const char *path, char whole[PATH_MAX])
{
    struct stat info;

    return snprintf(whole, PATH_MAX, "%s/whole", path) < PATH_MAX && lstat(whole, &info) == 0;
}

struct search {
    const char *name; /* NULL: any */
    char found[128];
};

static int compare_name(void *arg, const char *name)
{
    struct search *search = arg;

    if (search->name && strcmp(name, search->name) != 0) return NY_OK;
    snprintf(search->found, sizeof(search->found), "%s", name);
    return NY_END;
}

/* Looks for a result in the store of those of all rows; found[0] = 0: it is not there. */
static int look(struct ny_context *ctx, const char *path, struct search *search)
{
    char whole[PATH_MAX];
    struct ny_store *store;
    int err;

    search->found[0] = 0;
    if (!ny_whole_path(path, whole)) return NY_OK;
    err = ny_store_open(&store, ctx, whole);
    if (!err) err = ny_results_list(store, compare_name, search);
    ny_store_close(store);
    return err == NY_END ? NY_OK : err;
}

int ny_whole_has(struct ny_context *ctx, const char *path, const char *name, bool *has)
{
    struct search search = {.name = name};
    int err = name ? look(ctx, path, &search) : NY_OK;

    *has = search.found[0] != 0;
    return err;
}

int ny_whole_refuse(struct ny_context *ctx, const char *path)
{
    struct search search = {.name = NULL};
    int err = look(ctx, path, &search);

    if (err || !search.found[0]) return err;
    return ny_fail(ctx, NY_EUSAGE, "'%s' has rows of all shards; remove it with 'nystream rm'",
                   search.found);
}

int ny_whole_of(struct ny_store **out, struct ny_shards *shards)
{
    struct ny_context *ctx = shards->ctx;
    char path[PATH_MAX];
    int err = ny_shards_complete(shards);

    *out = NULL;
    ny_whole_path(shards->path, path);
    if (!err) err = ny_store_create(out, ctx, path);
    if (err) {
        ny_shards_free(shards);
        return err;
    }
    err = ny_shards_lend(*out, shards);
    if (!err) return NY_OK;
    ny_store_close(*out);
    *out = NULL;
    return err;
}

int ny_whole_open(struct ny_store **out, struct ny_context *ctx, const char *path)
{
    struct ny_shards *shards;
    int err = ny_shards_read(&shards, ctx, path);

    *out = NULL;
    return err ? err : ny_whole_of(out, shards);
}
