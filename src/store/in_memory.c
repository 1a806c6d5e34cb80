/*
 * A store that is nowhere but in memory: rows that something else reads (struct ny_rows), and what
 * is made of them. It has no environments and no locks; readers of points and results ask here
 * where a handle is one of these. A context may hold one, which its path then opens. One without
 * rows takes those of one import, which are kept beside it (ny_store_fill()).
 */
#include <string.h>

#include "base/memory.h"
#include "job/keep_memory.h"
#include "store/store_private.h"

static void let_go(struct ny_in_memory *held)
{
    if (!held || --held->users > 0) return;
    ny_memory_results_free(held->results);
    if (held->given.free) held->given.free(held->given.arg);
    ny_free(held->ctx, held->path);
    ny_free(held->ctx, held);
}

static int handle_of(struct ny_store **out, struct ny_in_memory *held)
{
    struct ny_store *store = ny_calloc(held->ctx, NY_MEM_STORE, 1, sizeof(*store));

    *out = store;
    if (!store) return NY_EBUDGET;
    store->ctx = held->ctx;
    store->path = held->path;
    store->in_memory = held;
    held->users++;
    ny_mutex_init(&store->lock);
    return NY_OK;
}

int ny_store_of_rows(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const struct ny_given_rows *rows)
{
    struct ny_in_memory *held = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*held));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!held) {
        if (rows->free) rows->free(rows->arg);
        return NY_EBUDGET;
    }
    *held = (struct ny_in_memory){.ctx = ctx, .given = *rows, .users = 1};
    held->path = ny_strdup(ctx, path);
    if (held->path) err = ny_memory_results_new(&held->results, ctx, held->path, rows->folder);
    if (!err) err = handle_of(out, held);
    let_go(held);
    return err;
}

bool ny_store_takes_rows(const struct ny_store *store)
{
    return store->in_memory && store->in_memory->given.none;
}

void ny_store_fill(struct ny_store *store, const struct ny_given_rows *rows)
{
    struct ny_given_rows *given = &store->in_memory->given;

    given->free(given->arg);
    *given = *rows;
}

const char *ny_store_folder(const struct ny_store *store)
{
    return store->in_memory ? ny_memory_folder(store->in_memory->results) : store->path;
}

void ny_in_memory_close(struct ny_store *store)
{
    struct ny_in_memory *held = store->in_memory;

    ny_mutex_release(&store->lock);
    ny_free(store->ctx, store);
    let_go(held);
}

static void close_handle(void *store)
{
    ny_in_memory_close(store);
}

void ny_store_hold(struct ny_context *ctx, struct ny_store *store)
{
    ny_context_hold(ctx, store, store ? close_handle : NULL);
}

bool ny_in_memory_at(const struct ny_context *ctx, const char *path)
{
    const struct ny_store *store = ny_context_held(ctx);

    return store && strcmp(store->path, path) == 0;
}

int ny_in_memory_open(struct ny_store **out, struct ny_context *ctx)
{
    const struct ny_store *store = ny_context_held(ctx);

    return handle_of(out, store->in_memory);
}

int ny_in_memory_create(struct ny_store **out, struct ny_context *ctx)
{
    const struct ny_store *store = ny_context_held(ctx);

    return ny_store_takes_rows(store) ? ny_in_memory_open(out, ctx) : ny_in_memory_refuse(store);
}

int ny_in_memory_refuse(const struct ny_store *store)
{
    return ny_fail(store->ctx, NY_EUSAGE, "%s is in memory; import it", store->path);
}

enum ny_kept ny_store_kept(const struct ny_store *store)
{
    if (!store->in_memory) return NY_KEPT_IN_STORE;
    return ny_memory_is_filed(store->in_memory->results) ? NY_KEPT_IN_FILE : NY_KEPT_IN_MEMORY;
}

struct ny_memory_results *ny_store_memory_results(const struct ny_store *store)
{
    return store->in_memory ? store->in_memory->results : NULL;
}

bool ny_store_memory_keep(const struct ny_store *store, const char *name, struct ny_keep *keep)
{
    if (store->in_memory) *keep = ny_memory_keep(store->in_memory->results, name);
    return store->in_memory != NULL;
}

int ny_in_memory_names(const struct ny_store *store, uint64_t first, size_t count,
                       struct ny_names *names)
{
    const struct ny_given_names *given = &store->in_memory->given.names;

    return given->text && count
               ? ny_names_append(names, store->ctx, given->text + given->start[first], count)
               : ny_names_add_empty(names, store->ctx, count);
}

int ny_in_memory_column_names(const struct ny_store *store, uint64_t first, size_t count,
                              struct ny_names *names)
{
    const struct ny_names *columns = store->in_memory->given.columns;

    return columns ? ny_names_append(names, store->ctx, ny_names_skip(columns->text, (size_t)first),
                                     count)
                   : ny_names_add_empty(names, store->ctx, count);
}

int ny_in_memory_next_name(const struct ny_store *store, char name[NY_NAME_MAX + 1])
{
    const char *next;

    if (!ny_memory_next(store->in_memory->results, name, &next)) return NY_END;
    strcpy(name, next);
    return NY_OK;
}

uint64_t ny_in_memory_commits(const struct ny_store *store)
{
    return ny_memory_commits(store->in_memory->results);
}
