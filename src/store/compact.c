/*
 * Compaction. LMDB keeps the pages of what was removed for what comes, and no file of its ever
 * gets smaller. Here the entries of an environment are copied to a new one beside it, in order,
 * and the two folders exchange their names at once: whoever opens the store sees the old one or the
 * new one, whole. Handles that are open go on reading the old one, and are refused what they would
 * write (ny_store_check_place()). A copy that a kill left is removed by the next
 * compaction, or with the next commit of a result.
 *
 * LMDB's own copy is not used: it begins its transactions anew, which the check at open would take
 * for an older state of the file. The copy here says where it goes on counting (go_on_counting()).
 *
 * Folders are exchanged, and not files, so that the lock file and the data of LMDB stay together:
 * two processes, one on either side of the exchange, never share one of them without the other.
 * Whoever takes a lock afterwards looks whether its files are still those in place; whoever opens
 * an environment, whether what it opened is what it had looked at.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/guard.h"
#include "base/system.h"
#include "store/store_private.h"

/* At least one of 16 pages has to be free for the copy to be worth it. */
enum { WORTH = 16 };

/* A part that is not copied. */
struct dropped {
    char name[NY_NAME_MAX + 1], part[NY_NAME_MAX + 1];
};

struct compaction {
    struct ny_store *store;
    struct ny_context *ctx;
    ny_unneeded_fn *unneeded;
    struct ny_lock points, commit;
    struct ny_name_lock **name; /* of all results there are */
    size_t names;
    const char *adding; /* the one whose parts are asked for */
    struct dropped *dropped;
    size_t drops;
};

/* ---- locks ---------------------------------------------------------------------------------- */

static int refuse_held(void *user, const char *name)
{
    return ny_name_refuse(((struct compaction *)user)->store, name);
}

static int add_dropped(void *user, const char *part)
{
    struct compaction *c = user;
    struct dropped *last;
    int err = ny_resize_array(c->ctx, NY_MEM_STORE, &c->dropped, c->drops + 1, sizeof(*last));

    if (err) return err;
    last = &c->dropped[c->drops++];
    snprintf(last->name, sizeof(last->name), "%s", c->adding);
    snprintf(last->part, sizeof(last->part), "%s", part);
    return NY_OK;
}

/* Locks a NAME, and asks then which of its parts are not needed. */
static int add_name(void *user, const char *text)
{
    struct compaction *c = user;
    int err = ny_resize_array(c->ctx, NY_MEM_STORE, &c->name, c->names + 1, sizeof(*c->name));

    if (err) return err;
    c->name[c->names] = NULL;
    c->adding = text;
    err = ny_name_lock(&c->name[c->names++], c->store, text);
    return err || !c->unneeded ? err : c->unneeded(c->store, text, add_dropped, c);
}

/* Looks for jobs and imports that run before it takes any lock: whoever comes meanwhile is not
 * to be refused because of a compaction that is refused itself. */
static int lock_all(struct compaction *c)
{
    static const char importing[] = "importing into this store";
    int err = ny_store_writable(c->store);

    if (!err) err = ny_lock_refuse(c->store, "points", importing);
    if (!err) err = ny_results_list(c->store, refuse_held, c);
    if (!err) err = ny_lock_try(&c->points, c->store, "points", importing);
    if (!err) err = ny_results_list(c->store, add_name, c);
    if (!err) err = ny_lock_try(&c->commit, c->store, "commit", "writing to this store");
    return err;
}

static void unlock_all(struct compaction *c)
{
    for (size_t i = 0; i < c->names; i++)
        ny_name_unlock(c->name[i]);
    ny_free(c->ctx, c->name);
    ny_free(c->ctx, c->dropped);
    ny_lock_release(&c->commit);
    ny_lock_release(&c->points);
}

/* ---- entries -------------------------------------------------------------------------------- */

struct copy {
    MDB_cursor *cursor;
    struct ny_key key;
    MDB_val value;
    uint64_t checksum;
    void *room;
    int code;
};

static int next_entry(void *arg)
{
    struct copy *copy = arg;
    struct ny_header header = {.checksum = 0};
    MDB_val key;

    copy->code = mdb_cursor_get(copy->cursor, &key, &copy->value, MDB_NEXT);
    if (!copy->code && key.mv_size > sizeof(copy->key.data)) copy->code = MDB_CORRUPTED;
    if (copy->code) return NY_OK;
    copy->key.bytes = key.mv_size;
    memcpy(copy->key.data, key.mv_data, key.mv_size);
    if (copy->value.mv_size >= sizeof(header)) memcpy(&header, copy->value.mv_data, sizeof(header));
    copy->checksum = header.checksum;
    return NY_OK;
}

static int copy_value(void *arg)
{
    struct copy *copy = arg;

    memcpy(copy->room, copy->value.mv_data, copy->value.mv_size);
    return NY_OK;
}

/* The entry that the cursor comes to next, unless it is the pulse; NY_END: there is none. One on
 * pages of its own is in the map; others may be on a page that the deletions have changed. */
static int copy_entry(struct copy *copy, struct ny_write *view, struct ny_write *write)
{
    struct ny_context *ctx = write->store->ctx;
    int err = ny_guarded(next_entry, copy);

    if (!err && copy->code == MDB_NOTFOUND) return NY_END;
    if (!err && copy->code) return ny_env_fail(ctx, view->env->path, "read", copy->code);
    if (!err && copy->key.bytes == 1 && copy->key.data[0] == 0) return NY_OK; /* the pulse */
    if (!err)
        err = ny_write_room(write, &copy->key, copy->value.mv_size, copy->checksum, &copy->room);
    if (err == NY_OK) err = ny_guarded(copy_value, copy);
    ny_env_touched(view->env,
                   copy->value.mv_size >= view->env->page_bytes ? copy->value.mv_data : NULL,
                   copy->value.mv_size);
    return err;
}

/* Transactions of so many bytes as fit the budget. */
static int copy_entries(struct ny_write *view, struct ny_env *fresh, struct ny_meter *meter)
{
    struct ny_store *store = view->store;
    const size_t most = ny_dirty_bytes_max(ny_memory_limit(store->ctx)),
                 room = most + NY_CHUNK_BYTES;
    struct copy copy = {.code = 0};
    struct ny_write write;
    bool ended = false;
    int err = NY_OK;

    copy.code = mdb_cursor_open(view->txn, view->env->table, &copy.cursor);
    if (copy.code) return ny_env_fail(store->ctx, view->env->path, "read", copy.code);
    while (err == NY_OK && !ended) {
        err = ny_write_begin(&write, store, fresh, room);
        if (err) break;
        while (err == NY_OK && write.dirty_bytes < most) {
            err = copy_entry(&copy, view, &write);
            if (err == NY_OK) err = ny_check_interrupt(store->ctx);
            if (err == NY_OK) ny_meter_add(meter, 1, (double)copy.value.mv_size, 0);
        }
        ended = err == NY_END;
        err = ny_write_commit(&write, ended ? NY_OK : err);
    }
    mdb_cursor_close(copy.cursor);
    return err;
}

/* Checks that the old one is sound, and that the copy has as many entries as are to be left and, in
 * one format, the same sum of their hashes. */
static int check_copy(const struct ny_write *view, const struct ny_env *fresh)
{
    const struct ny_env *old = view->env;
    const struct ny_pulse *left = &view->pulse;
    struct ny_context *ctx = view->store->ctx;
    struct ny_pulse was, is;
    char why[NY_WHY_BYTES];
    int err = ny_structure_check(ctx, old->path, &was, why);

    if (!err) err = ny_structure_check(ctx, fresh->path, &is, why);
    if (!err && left->entries == is.entries &&
        (left->version != is.version || left->key_sum == is.key_sum))
        return NY_OK;
    if (err && err != NY_ESTORE) return err;
    return ny_damaged(ctx, old->path, "it is", "its copy is not as it was");
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Gives the new files the rights of the old ones: whoever could write those can write these. */
static int take_over_rights(struct ny_context *ctx, const char *from, const char *to)
{
    static const char *const files[] = {"", "/data.mdb", "/lock.mdb"};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char old[PATH_MAX + 16], new[PATH_MAX + 16];
        struct stat was, is;

        snprintf(old, sizeof(old), "%s%s", from, files[i]);
        snprintf(new, sizeof(new), "%s%s", to, files[i]);
        if (stat(old, &was) || stat(new, &is)) return ny_fail_errno(ctx, "read", new);
        if ((was.st_uid != is.st_uid || was.st_gid != is.st_gid) &&
            chown(new, was.st_uid, was.st_gid) &&
            (!(was.st_mode & S_IWGRP) || chown(new, (uid_t)-1, was.st_gid)))
            return ny_fail_errno(ctx, "write", new);
        if (was.st_mode != is.st_mode && chmod(new, was.st_mode & 07777))
            return ny_fail_errno(ctx, "write", new);
    }
    return NY_OK;
}

static int exchange(const struct compaction *c, const char *old, const char *fresh)
{
    int err = take_over_rights(c->ctx, old, fresh);

    if (!err) err = ny_directory_sync(c->ctx, fresh);
    if (!err && ny_exchange_names(fresh, old)) err = ny_fail_errno(c->ctx, "rename", old);
    return err ? err : ny_directory_sync(c->ctx, c->store->path);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_room(const struct compaction *c, uint64_t bytes)
{
    struct statvfs disk;
    uint64_t room;

    if (statvfs(c->store->path, &disk) || !disk.f_blocks) return NY_OK; /* the copy will tell */
    room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (bytes + bytes / WORTH <= room) return NY_OK;
    return ny_fail_full(c->ctx, c->store->path, bytes, room);
}

/* Transactions begin anew in the copy; its epoch goes on from that of the last commit, the one
 * before the view. */
static int go_on_counting(const struct ny_write *view, struct ny_env *copy)
{
    struct ny_memory memory;
    struct ny_write write;
    int err = ny_memory_read(view->store, view->env, view->txn, &memory);

    memory.base += mdb_txn_id(view->txn) - 1;
    memory.own = memory.base;
    if (!err) err = ny_write_begin(&write, view->store, copy, sizeof(memory));
    return err ? err : ny_write_commit(&write, ny_memory_write(&write, &memory));
}

/* The copy in the folder `fresh`, which is made. */
static int make_copy(const struct compaction *c, struct ny_write *view, const char *fresh,
                     uint64_t entries)
{
    bool points = view->env == c->store->points;
    uint32_t kind = points ? NY_POINTS_ENVIRONMENT : NY_RESULTS_ENVIRONMENT;
    struct ny_env *copy = NULL;
    struct ny_meter meter;
    int err = ny_env_create(c->ctx, fresh, kind, view->env->id);

    if (!err) err = ny_env_open(&copy, c->ctx, fresh, kind);
    if (err) return err;
    ny_meter_start(&meter, c->ctx, points ? "compact points" : "compact results", 0, entries);
    err = copy_entries(view, copy, &meter);
    ny_meter_finish(&meter);
    if (!err) err = check_copy(view, copy);
    if (!err) err = go_on_counting(view, copy);
    ny_env_close(copy);
    return err;
}

/* Begins what the copy is made of: a transaction that has no part which is dropped, and is never
 * committed, so that whoever reads the old files has them. */
static int begin_view(const struct compaction *c, struct ny_env *env, struct ny_write *view)
{
    int err = ny_write_begin(view, c->store, env, 0);

    if (err || env != c->store->results) return err;
    view->mends = true;
    for (size_t i = 0; !err && i < c->drops; i++)
        err = ny_write_delete_part(view, c->dropped[i].name, c->dropped[i].part);
    if (err) ny_write_abort(view);
    return err;
}

static int compact(const struct compaction *c, struct ny_env *env, const char *part)
{
    char old[PATH_MAX], fresh[PATH_MAX];
    uint64_t bytes; /* of the pages that hold something */
    MDB_stat table = {0};
    struct ny_write view;
    struct stat info;
    int code, end, err;

    if (snprintf(old, PATH_MAX, "%s/%s", c->store->path, part) >= PATH_MAX ||
        !ny_env_copy_path(fresh, c->store->path, part))
        return ny_fail_long_path(c->ctx, c->store->path);
    err = ny_env_remove(c->ctx, fresh);
    if (!err) err = begin_view(c, env, &view);
    if (err) return err;
    code = mdb_stat(view.txn, env->table, &table);
    if (code) err = ny_env_fail(c->ctx, env->path, "read", code);
    bytes = (uint64_t)(table.ms_branch_pages + table.ms_leaf_pages + table.ms_overflow_pages + 2) *
            table.ms_psize;
    if (!err && stat(env->path, &info)) err = ny_fail_errno(c->ctx, "read", env->path);
    if (!err && bytes / (WORTH - 1) * WORTH < (uint64_t)info.st_size) {
        err = check_room(c, bytes);
        if (!err) err = make_copy(c, &view, fresh, table.ms_entries);
        if (!err) err = exchange(c, old, fresh);
        end = ny_env_remove(c->ctx, fresh);
        if (!err) err = end;
    }
    ny_write_abort(&view);
    return err;
}

int ny_store_compact(struct ny_store *store, ny_unneeded_fn *unneeded)
{
    struct compaction c = {.store = store,
                           .ctx = store->ctx,
                           .unneeded = unneeded,
                           .points = {.fd = -1},
                           .commit = {.fd = -1}};
    int err = lock_all(&c);

    if (!err) err = compact(&c, store->results, "results");
    if (!err) err = compact(&c, store->points, "points");
    unlock_all(&c);
    return err;
}
