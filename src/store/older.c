/*
 * A part of a store that is older than the other one remembers (store/epoch.c) was put back from a
 * copy: this finds it out when a store is opened, says so, and has the store taken as it is.
 */
#include <stdio.h>

#include "store/store_private.h"

/* Each memory is read before the epoch that it is compared with, so that commits which end
 * meanwhile make no part look older. */
int ny_store_compare_epochs(struct ny_store *store)
{
    struct ny_epoch points, results, later;
    int err = ny_epoch_read(store, store->points, &points);

    if (!err) err = ny_epoch_read(store, store->results, &results);
    if (!err) err = ny_epoch_read(store, store->points, &later);
    store->older = NULL;
    if (err || !ny_env_in_place(store->points) || !ny_env_in_place(store->results)) return err;
    if (results.memory.other > later.now) {
        store->older = store->points;
        store->behind = results.memory.other - later.now;
    } else if (points.memory.other > results.now) {
        store->older = store->results;
        store->behind = points.memory.other - results.now;
    }
    return NY_OK;
}

const char *ny_store_older(const struct ny_store *store, char text[NY_OLDER_BYTES])
{
    bool points = store->older == store->points;

    if (!store->older) return NULL;
    snprintf(text, NY_OLDER_BYTES,
             "%s/ is from an older copy of the store than %s/, which has seen %llu more of its "
             "commits",
             points ? "points" : "results", points ? "results" : "points",
             (unsigned long long)store->behind);
    return text;
}

int ny_store_accept_older(struct ny_store *store)
{
    struct ny_env *env = store->older == store->points ? store->results : store->points;
    struct ny_write write;
    struct ny_lock lock;
    int err = ny_lock_wait(&lock, store->ctx, store->path, "commit");

    if (err) return err;
    err = ny_write_begin(&write, store, env, (size_t)1 << 16);
    if (!err) {
        write.accepts = true;
        err = ny_write_commit(&write, NY_OK);
    }
    ny_lock_release(&lock);
    return err ? err : ny_store_compare_epochs(store);
}

/* Does nothing while an import runs, which does it itself at its next commit. A failure here is no
 * error of the call that has ended well: a part of an older copy would not be noticed, and that is
 * all. */
void ny_store_remember_results(struct ny_store *store)
{
    struct ny_context *ctx = store->ctx;
    struct ny_write write;
    struct ny_lock lock;

    if (ny_context_error(ctx)->status || ny_lock_held(store, "points")) return;
    if (ny_lock_brief(&lock, store, "points") == NY_OK) {
        if (ny_write_begin(&write, store, store->points, (size_t)1 << 16) == NY_OK)
            (void)ny_write_commit(&write, NY_OK);
        ny_lock_release(&lock);
    }
    ny_error_clear(ctx);
}
