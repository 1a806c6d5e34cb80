/*
 * Each of the two tables remembers how far the other one was: store/format.h. A part of a store
 * that was put back from an older copy is then older than the other one remembers. Only that is
 * ever reported: a part that is newer is what a kill between two commits leaves, and what an older
 * nystream leaves, which does not write what is remembered.
 *
 * An epoch is remembered only after its commit was on the disk: otherwise a loss of power could
 * take back a commit that the other table remembers.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "store/guard.h"
#include "store/store_private.h"

/* The frame is that of a chunk in both tables, so that a reader which knows only chunks can check
 * it. */
static struct ny_frame memory_frame(const struct ny_store *store)
{
    const struct ny_key key = ny_memory_key();

    return (struct ny_frame){.store = store->id,
                             .number = ny_checksum(key.data, key.bytes),
                             .kind = NY_KIND_CHUNK,
                             .raw_bytes = sizeof(struct ny_memory)};
}

struct reading {
    MDB_txn *txn;
    MDB_dbi table;
    struct ny_frame frame;
    struct ny_memory memory;
    const char *wrong;
    int code;
};

static int read_memory(void *arg)
{
    struct reading *r = arg;
    struct ny_key key = ny_memory_key();
    MDB_val name = {key.bytes, key.data}, value;

    r->code = mdb_get(r->txn, r->table, &name, &value);
    if (r->code) return NY_OK;
    r->wrong = ny_frame_check(&r->frame, value.mv_data, value.mv_size);
    if (!r->wrong && r->frame.raw_bytes != sizeof(r->memory)) r->wrong = "its size is wrong";
    if (!r->wrong)
        memcpy(&r->memory, (const char *)value.mv_data + sizeof(struct ny_header),
               sizeof(r->memory));
    return NY_OK;
}

int ny_memory_read(struct ny_store *store, struct ny_env *env, MDB_txn *txn,
                   struct ny_memory *memory)
{
    struct reading r = {.txn = txn, .table = env->table, .frame = memory_frame(store)};

    *memory = (struct ny_memory){0};
    if (ny_guarded(read_memory, &r)) r.wrong = "the disk cannot read it";
    if (r.code && r.code != MDB_NOTFOUND) return ny_env_fail(store->ctx, env->path, "read", r.code);
    *memory = r.memory;
    if (!r.wrong) return NY_OK;
    return ny_fail_at(store->ctx, NY_ESTORE, env->path, NY_NO_LINE,
                      "%s is damaged: what it knows of the other folder: %s", env->path, r.wrong);
}

int ny_epoch_read(struct ny_store *store, struct ny_env *env, struct ny_epoch *epoch)
{
    MDB_txn *txn;
    int fd, err = ny_twin_lock(store, env, &fd);

    if (err) return err;
    ny_env_enter(env);
    err = ny_env_begin(env, store->ctx, MDB_RDONLY, &txn);
    if (!err) {
        err = ny_memory_read(store, env, txn, &epoch->memory);
        epoch->now = epoch->memory.base + mdb_txn_id(txn);
        mdb_txn_abort(txn);
    }
    ny_env_leave(env);
    if (fd >= 0) close(fd);
    return err;
}

int ny_epoch_of_other(struct ny_write *write)
{
    struct ny_store *store = write->store;
    struct ny_env *other = write->env == store->points    ? store->results
                           : write->env == store->results ? store->points
                                                          : NULL;
    struct ny_epoch epoch;
    int err = other ? ny_epoch_read(store, other, &epoch) : NY_OK;

    write->other = other && !err ? epoch.now : 0;
    return err;
}

/* Makes what others have committed there survive a loss of power. */
static int sync_other(const struct ny_write *write)
{
    const struct ny_store *store = write->store;
    const struct ny_env *other = write->env == store->points ? store->results : store->points;
    int fd;

    if (mdb_env_get_fd(other->lmdb, &fd) || fdatasync(fd))
        return ny_fail_errno(store->ctx, "write", other->path);
    return NY_OK;
}

int ny_memory_write(struct ny_write *write, const struct ny_memory *memory)
{
    struct ny_key key = ny_memory_key();
    struct ny_frame frame = memory_frame(write->store);

    return ny_write_record(write, &key, &frame, memory);
}

int ny_memory_renew(struct ny_write *write)
{
    struct ny_memory memory;
    int err;

    if (write->pulse.version <= NY_FORMAT_OF_1_0) return NY_OK;
    err = ny_memory_read(write->store, write->env, write->txn, &memory);

    if (err || !write->other) return err;
    memory.own = memory.base + mdb_txn_id(write->txn);
    if (write->other > memory.other || write->accepts) {
        if (write->other != memory.other) err = sync_other(write);
        memory.other = write->other;
    }
    return err ? err : ny_memory_write(write, &memory);
}

/* ---- the store ----------------------------------------------------------------------------- */

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
        err = ny_write_commit(&write);
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
            (void)ny_write_commit(&write);
        ny_lock_release(&lock);
    }
    ny_error_clear(ctx);
}
