/* How much results can take before the disk is full: ny_results_room(). */
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/guard.h"
#include "store/store_private.h"

struct tally {
    struct ny_snapshot *view;
    struct ny_key from; /* the name, and its end */
    uint64_t bytes;
    int code;
};

/* The values under a name. */
static int add_up(void *arg)
{
    struct tally *tally = arg;
    MDB_val key = {tally->from.bytes, tally->from.data}, value;
    MDB_cursor *cursor;

    tally->code = mdb_cursor_open(tally->view->txn, tally->view->env->table, &cursor);
    if (tally->code) return NY_OK;
    tally->code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (!tally->code && key.mv_size > tally->from.bytes &&
           memcmp(key.mv_data, tally->from.data, tally->from.bytes) == 0) {
        tally->bytes += value.mv_size;
        tally->code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return NY_OK;
}

uint64_t ny_results_room(struct ny_store *store, const char *name)
{
    struct tally tally = {.from = {.bytes = name ? strlen(name) + 1 : 0}};
    uint64_t held = 0, used = 0;
    struct statvfs disk;
    struct stat info;
    MDB_stat stats;
    int failed;

    if (store->in_memory) return UINT64_MAX;
    failed = statvfs(store->results->path, &disk) || stat(store->results->path, &info);

    /* A file system without blocks, such as FUSE's by default, does not tell its room. */
    if (failed || !disk.f_blocks) return UINT64_MAX;
    failed = ny_snapshot_begin(&tally.view, store, store->results);
    if (!failed) {
        if (name) memcpy(tally.from.data, name, tally.from.bytes);
        failed = name ? ny_guarded(add_up, &tally) : NY_OK;
        if (mdb_stat(tally.view->txn, store->results->table, &stats)) failed = NY_EIO;
        if (ny_snapshot_end(tally.view, NY_OK)) failed = NY_EIO;
    }
    if (failed) ny_error_clear(store->ctx); /* whoever writes is told what is wrong */
    if (failed) return UINT64_MAX;
    used = (uint64_t)(stats.ms_branch_pages + stats.ms_leaf_pages + stats.ms_overflow_pages) *
           stats.ms_psize;
    held = (uint64_t)info.st_blocks * 512;
    return (uint64_t)disk.f_bavail * disk.f_frsize + (held > used ? held - used : 0) + tally.bytes;
}
