#include "shards/whole.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "shards/set.h"

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
