/*
 * Write transactions: every entry is counted in the pulse, which each commit rewrites. Imports,
 * batches of results, repair and compaction write through these functions, under a lock of this
 * folder.
 *
 * A value that is replaced or deleted is looked up first, under the guard: LMDB frees as many
 * pages as the value's own head claims, and a damaged head would free pages of others. Such a head
 * ends in NY_ESTORE, or is written again where repair asks for it (write->mends).
 *
 * A commit writes the memory and the pulse, keeps the meta page that LMDB will write, and puts it
 * back where the commit fails. From then on the environment takes no more writes until it was
 * closed; what was committed before is there.
 */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/guard.h"
#include "store/page.h"
#include "store/store_private.h"

enum { NODE_HEADER = 8, MIB = 1 << 20, META_BYTES_MAX = 512 };

static MDB_val val_of(const struct ny_key *key)
{
    return (MDB_val){key->bytes, (void *)(uintptr_t)key->data};
}

/* LMDB keeps a value on pages of its own when its node exceeds half a page. */
static bool on_own_pages(const struct ny_env *env, size_t key_bytes, size_t bytes)
{
    size_t node_max = ((env->page_bytes - sizeof(struct ny_page)) / 2 & ~(size_t)1) - 2;

    return NODE_HEADER + key_bytes + bytes > node_max;
}

struct lookup {
    struct ny_write *write;
    MDB_val key, value;
    struct ny_header header; /* zeros where the value is too short for one */
    int code;
    bool sound;
};

/* Freeing a value frees as many pages as its first one claims: that claim is checked here, which
 * also reads the path down the tree under the guard. */
static int look_up(void *arg)
{
    struct lookup *l = arg;
    const struct ny_env *env = l->write->env;
    struct ny_page head;
    uint32_t pages;

    l->code = mdb_get(l->write->txn, env->table, &l->key, &l->value);
    if (!l->code && l->value.mv_size >= sizeof(l->header))
        memcpy(&l->header, l->value.mv_data, sizeof(l->header));
    if (l->code || !on_own_pages(env, l->key.mv_size, l->value.mv_size)) return NY_OK;
    memcpy(&head, (const char *)l->value.mv_data - sizeof(head), sizeof(head));
    memcpy(&pages, &head.lower, sizeof(pages));
    ny_env_touched(l->write->env, NULL, l->value.mv_size);
    l->sound = (head.flags & ~NY_PAGE_DIRTY) == NY_PAGE_OVERFLOW &&
               pages == ny_overflow_pages(l->value.mv_size, env->page_bytes);
    return NY_OK;
}

/* Writes the head of a value's pages again: what it must say follows from where it is and from the
 * value's size in the tree. The map shows it at once. */
static bool mend(const struct ny_write *write, const MDB_val *value)
{
    const struct ny_env *env = write->env;
    uint32_t pages = (uint32_t)ny_overflow_pages(value->mv_size, env->page_bytes);
    struct ny_page head = {.flags = NY_PAGE_OVERFLOW};
    const char *at = (const char *)value->mv_data - sizeof(head);
    size_t length;
    const char *map = ny_mapping_of(at, &length);
    int fd;

    if (!map || mdb_env_get_fd(env->lmdb, &fd)) return false;
    head.number = (uint64_t)(at - map) / env->page_bytes;
    memcpy(&head.lower, &pages, sizeof(pages));
    return pwrite(fd, &head, sizeof(head), at - map) == sizeof(head);
}

static int find(struct ny_write *write, struct lookup *l)
{
    struct ny_context *ctx = write->store->ctx;
    int err;

    l->write = write;
    l->sound = true;
    err = ny_guarded(look_up, l);
    if (!err && !l->code && !l->sound && write->mends) l->sound = mend(write, &l->value);
    if (err || (!l->code && !l->sound))
        return ny_damaged(ctx, write->env->path, "a value to be replaced is", "it cannot be read");
    if (l->code && l->code != MDB_NOTFOUND)
        return ny_env_fail(ctx, write->env->path, "read", l->code);
    return NY_OK;
}

int ny_write_size(struct ny_write *write, const struct ny_key *key, size_t *bytes)
{
    struct lookup l = {.key = val_of(key)};
    int err = find(write, &l);

    *bytes = err || l.code ? 0 : l.value.mv_size;
    return err;
}

int ny_write_checksum(struct ny_write *write, const struct ny_key *key, uint64_t *checksum)
{
    struct lookup l = {.key = val_of(key)};
    int err = find(write, &l);

    *checksum = l.header.checksum;
    return err;
}

static int read_pulse(struct ny_write *write)
{
    struct ny_key key = ny_pulse_key();
    struct ny_frame frame = {.kind = NY_KIND_PULSE, .store = write->store->id};
    struct lookup l = {.key = val_of(&key)};
    int err = find(write, &l);

    if (err) return err;
    if (l.code || l.value.mv_size != sizeof(struct ny_header) + sizeof(write->pulse) ||
        ny_frame_check(&frame, l.value.mv_data, l.value.mv_size))
        return ny_damaged(write->store->ctx, write->env->path, "the last transaction is",
                          "its record cannot be read");
    memcpy(&write->pulse, (const char *)l.value.mv_data + sizeof(struct ny_header),
           sizeof(write->pulse));
    return NY_OK;
}

/* Reads the epoch of the other table, before a transaction begins. */
static int read_other(struct ny_write *write)
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

/* The map must hold what the transaction may write, before it begins: it cannot grow later. */
static int ensure_room(struct ny_env *env, struct ny_context *ctx, size_t room_bytes)
{
    const size_t need =
        (ny_env_info(env).me_last_pgno + 1) * env->page_bytes + 2 * room_bytes + (size_t)16 * MIB;

    return need > env->map_bytes ? ny_env_grow(env, ctx, need) : NY_OK;
}

int ny_write_begin(struct ny_write *write, struct ny_store *store, struct ny_env *env,
                   size_t room_bytes)
{
    struct ny_context *ctx = store->ctx;
    int err;

    *write = (struct ny_write){.store = store, .env = env};
    if (env->failed)
        return ny_fail_at(ctx, env->failed, env->path, NY_NO_LINE,
                          "an earlier write to %s failed: close the store and open it again",
                          env->path);
    err = read_other(write);
    if (!err) err = ensure_room(env, ctx, room_bytes);
    if (err) return err;
    ny_env_enter(env);
    err = ny_env_begin(env, ctx, 0, &write->txn);
    if (err) {
        write->txn = NULL;
        ny_env_leave(env);
        return err;
    }
    err = read_pulse(write);
    if (err) ny_write_abort(write);
    return err;
}

static uint64_t entry_hash(const struct ny_write *write, const MDB_val *key, size_t bytes,
                           uint64_t checksum)
{
    struct ny_entry entry = {key->mv_data, key->mv_size, bytes, checksum};

    if (on_own_pages(write->env, key->mv_size, bytes)) entry.checksum = 0;
    return ny_entry_hash(&write->pulse, &entry);
}

static int remove_entry(struct ny_write *write, struct lookup *found)
{
    int code;

    write->pulse.entries--;
    write->pulse.key_sum -=
        entry_hash(write, &found->key, found->value.mv_size, found->header.checksum);
    code = mdb_del(write->txn, write->env->table, &found->key, NULL);
    return code ? ny_env_fail(write->store->ctx, write->env->path, "write", code) : NY_OK;
}

int ny_write_room(struct ny_write *write, const struct ny_key *key, size_t bytes, uint64_t checksum,
                  void **room)
{
    struct ny_env *env = write->env;
    MDB_val name = val_of(key), value;
    struct lookup l = {.key = name};
    int code, err = find(write, &l);

    *room = NULL;
    if (!err && !l.code) err = remove_entry(write, &l);
    if (err) return err;
    value = (MDB_val){bytes, NULL};
    code = mdb_put(write->txn, env->table, &name, &value, MDB_RESERVE);
    if (code) return ny_env_fail(write->store->ctx, env->path, "write", code);
    write->pulse.entries++;
    write->pulse.key_sum += entry_hash(write, &name, bytes, checksum);
    write->dirty_bytes += ny_overflow_pages(bytes, env->page_bytes) * env->page_bytes;
    *room = value.mv_data;
    return NY_OK;
}

bool ny_write_apart(const struct ny_write *write, const struct ny_key *key, size_t bytes)
{
    return on_own_pages(write->env, key->bytes, bytes);
}

int ny_write_sealed(struct ny_write *write, const struct ny_key *key,
                    const struct ny_header *header, const void *raw)
{
    void *room;
    int err =
        ny_write_room(write, key, sizeof(*header) + header->raw_bytes, header->checksum, &room);

    if (err) return err;
    memcpy(room, header, sizeof(*header));
    memcpy((char *)room + sizeof(*header), raw, header->raw_bytes);
    return NY_OK;
}

int ny_write_record(struct ny_write *write, const struct ny_key *key, const struct ny_frame *frame,
                    const void *raw)
{
    const struct ny_header header = ny_frame_seal(frame, raw, frame->raw_bytes);

    return ny_write_sealed(write, key, &header, raw);
}

int ny_points_put(struct ny_write *write, enum ny_kind kind, uint64_t number, const void *raw,
                  size_t bytes)
{
    const struct ny_want as = ny_points_want(write->store, kind, number, 0, bytes);

    return ny_write_record(write, &as.key, &as.frame, raw);
}

int ny_points_delete(struct ny_write *write, unsigned kind, uint64_t number)
{
    const struct ny_key key = ny_points_key(kind, number);

    return ny_write_delete(write, &key);
}

int ny_write_delete(struct ny_write *write, const struct ny_key *key)
{
    struct lookup l = {.key = val_of(key)};
    int err = find(write, &l);

    if (!err && !l.code) err = remove_entry(write, &l);
    return err;
}

/* The first key not below `at` that `match` wants, copied into it; NY_END: none. */
static int next_match(struct ny_write *write, struct ny_key *at, ny_match_fn *match,
                      const void *arg)
{
    MDB_val key = val_of(at), value;
    MDB_cursor *cursor = NULL;
    int code = mdb_cursor_open(write->txn, write->env->table, &cursor);

    if (!code) code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (!code && key.mv_size <= sizeof(at->data) && match(arg, &key)) {
        at->bytes = key.mv_size;
        memcpy(at->data, key.mv_data, key.mv_size);
    } else if (!code)
        code = MDB_NOTFOUND;
    if (cursor) mdb_cursor_close(cursor);
    if (code == MDB_NOTFOUND) return NY_END;
    return code ? ny_env_fail(write->store->ctx, write->env->path, "read", code) : NY_OK;
}

int ny_write_delete_from(struct ny_write *write, const struct ny_key *first, ny_match_fn *match,
                         const void *arg, size_t most, size_t *count)
{
    struct ny_key at = *first;
    int err = NY_OK;

    for (*count = 0; !err && *count < most; ++*count) {
        err = next_match(write, &at, match, arg);
        if (err == NY_END) return NY_OK;
        if (!err) err = ny_write_delete(write, &at);
    }
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
    struct ny_frame frame = ny_memory_frame(write->store);

    return ny_write_record(write, &key, &frame, memory);
}

/* Writes the table's memory, with the epoch of the other where it is newer, before the transaction
 * ends. */
static int renew_memory(struct ny_write *write)
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

/* When the write of a meta page fails, LMDB leaves there the roots of the new transaction under the
 * number of the old one. It would not use them, but the page is no longer what it was, which counts
 * as damage here. So the page is kept before, and put back after a failure. */
struct kept {
    int fd; /* −1: the page could not be read */
    off_t at;
    size_t bytes;
    char page[META_BYTES_MAX];
};

static void keep_meta(struct kept *kept, const struct ny_write *write)
{
    const struct ny_env *env = write->env;

    kept->bytes = env->page_bytes < sizeof(kept->page) ? env->page_bytes : sizeof(kept->page);
    kept->at = (off_t)(mdb_txn_id(write->txn) & 1 ? env->page_bytes : 0);
    if (mdb_env_get_fd(env->lmdb, &kept->fd) ||
        pread(kept->fd, kept->page, kept->bytes, kept->at) != (ssize_t)kept->bytes)
        kept->fd = -1;
}

/* If this fails too, the next opening reports it. */
static void put_meta_back(const struct kept *kept)
{
    char now[META_BYTES_MAX];

    if (kept->fd < 0) return;
    if (pread(kept->fd, now, kept->bytes, kept->at) == (ssize_t)kept->bytes &&
        memcmp(now, kept->page, kept->bytes) == 0)
        return;
    if (pwrite(kept->fd, kept->page, kept->bytes, kept->at) == (ssize_t)kept->bytes)
        (void)fdatasync(kept->fd);
}

int ny_write_commit(struct ny_write *write, int err)
{
    struct ny_key key = ny_pulse_key();
    struct ny_frame frame = {
        .kind = NY_KIND_PULSE, .store = write->store->id, .raw_bytes = sizeof(write->pulse)};
    struct ny_header header;
    MDB_val name = val_of(&key), value = {sizeof(header) + sizeof(write->pulse), NULL};
    struct kept kept;
    int code;

    if (!err) err = renew_memory(write);
    if (err) {
        ny_write_abort(write);
        return err;
    }
    write->pulse.txn = mdb_txn_id(write->txn);
    header = ny_frame_seal(&frame, &write->pulse, sizeof(write->pulse));
    code = mdb_put(write->txn, write->env->table, &name, &value, MDB_RESERVE);
    if (!code) {
        memcpy(value.mv_data, &header, sizeof(header));
        memcpy((char *)value.mv_data + sizeof(header), &write->pulse, sizeof(write->pulse));
        keep_meta(&kept, write);
        code = mdb_txn_commit(write->txn);
        if (code) put_meta_back(&kept);
        write->txn = NULL;
        ny_env_leave(write->env);
    }
    if (!code) return NY_OK;
    ny_write_abort(write);
    write->env->failed = ny_env_fail(write->store->ctx, write->env->path, "write", code);
    return write->env->failed;
}

void ny_write_abort(struct ny_write *write)
{
    if (!write->txn) return;
    mdb_txn_abort(write->txn);
    write->txn = NULL;
    ny_env_leave(write->env);
}
