/*
 * Each of the two tables remembers how far the other one was: store/format.h. A part of a store
 * that was put back from an older copy is then older than the other one remembers. Only that is
 * ever reported: a part that is newer is what a kill between two commits leaves, and what an older
 * nystream leaves, which does not write what is remembered.
 *
 * An epoch is remembered only after its commit was on the disk: otherwise a loss of power could
 * take back a commit that the other table remembers.
 */
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/guard.h"
#include "store/store_private.h"

struct ny_frame ny_memory_frame(const struct ny_store *store)
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
    struct reading r = {.txn = txn, .table = env->table, .frame = ny_memory_frame(store)};

    *memory = (struct ny_memory){0};
    if (ny_guarded(read_memory, &r)) r.wrong = "the disk cannot read it";
    if (r.code && r.code != MDB_NOTFOUND) return ny_env_fail(store->ctx, env->path, "read", r.code);
    *memory = r.memory;
    if (!r.wrong) return NY_OK;
    return ny_damaged(store->ctx, env->path, "the record of the other folder is", r.wrong);
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

int ny_store_epochs(struct ny_store *store, struct ny_store_epochs *epochs)
{
    struct ny_epoch points = {.now = 0}, results = {.now = 0};
    int err = ny_epoch_read(store, store->points, &points);

    if (!err) err = ny_epoch_read(store, store->results, &results);
    *epochs = (struct ny_store_epochs){points.now, results.now};
    return err;
}
