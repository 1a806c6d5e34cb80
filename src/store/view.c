/*
 * Read transactions, and the way in which a value leaves this folder: found, checked, decoded,
 * copied.
 *
 * A view lasts for one call, since LMDB keeps old pages while a transaction is alive, and a long
 * one would let the file grow. A view that ends goes to the store's list, with its transaction and
 * its decoder, and the next call takes it from there. The pages of a map are read under the guard
 * (base/guard.h), so that a bad sector is NY_ESTORE, "the disk cannot read it", and not a SIGBUS.
 *
 * A store that is read without locks may be changed by another process meanwhile; ny_snapshot_end()
 * finds that out by the number of the last transaction, and NY_EBUSY says that what was read may
 * be torn. What looked like damage then is none, so that its status goes before any other.
 */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/guard.h"
#include "store/store_private.h"

/* Takes a view of this environment from those that are not in use; NULL: there is none. */
static struct ny_snapshot *take_idle(struct ny_store *store, struct ny_env *env)
{
    struct ny_snapshot *view = NULL;

    ny_mutex_lock(&store->lock);
    for (struct ny_snapshot **at = &store->views; *at; at = &(*at)->next)
        if ((*at)->env == env) {
            view = *at;
            *at = view->next;
            break;
        }
    ny_mutex_unlock(&store->lock);
    return view;
}

static void view_free(struct ny_snapshot *view)
{
    struct ny_context *ctx = view->store->ctx;

    if (view->txn) mdb_txn_abort(view->txn);
    ny_decoder_free(view->decoder, ctx);
    ny_free(ctx, view);
}

/* Gives the lock of a twin back, if the view has one. */
static void unlock(struct ny_snapshot *view)
{
    if (view->twin_lock >= 0) close(view->twin_lock);
    view->twin_lock = -1;
}

static int view_new(struct ny_snapshot **out, struct ny_store *store, struct ny_env *env)
{
    struct ny_snapshot *view = ny_calloc(store->ctx, NY_MEM_STORE, 1, sizeof(*view));
    int err;

    if (!view) return NY_EBUDGET;
    view->store = store;
    view->env = env;
    view->twin_lock = -1;
    err = ny_decoder_new(&view->decoder, store->ctx);
    if (err)
        view_free(view);
    else
        *out = view;
    return err;
}

int ny_set_refuse(struct ny_context *ctx, const char *path)
{
    return ny_fail(ctx, NY_EUSAGE,
                   "%s is a store in shards; give the path of one, such as %s/shard-00000", path,
                   path);
}

int ny_snapshot_begin(struct ny_snapshot **out, struct ny_store *store, struct ny_env *env)
{
    struct ny_snapshot *view;
    int err = NY_OK;

    *out = NULL;
    if (store->in_memory) return ny_in_memory_refuse(store);
    if (ny_store_set(store)) return ny_set_refuse(store->ctx, store->path);
    view = take_idle(store, env);
    if (!view) err = view_new(&view, store, env);
    if (!err) err = ny_twin_lock(store, env, &view->twin_lock);
    if (err) {
        if (view) view_free(view);
        return err;
    }
    ny_env_enter(env);
    if (view->txn && !ny_env_renew(env, view->txn)) { /* the map grew, or the slot is gone */
        mdb_txn_abort(view->txn);
        view->txn = NULL;
    }
    if (!view->txn) err = ny_env_begin(env, store->ctx, MDB_RDONLY, &view->txn);
    if (err) {
        view->txn = NULL;
        ny_env_leave(env);
        unlock(view);
        view_free(view);
        return err;
    }
    *out = view;
    return NY_OK;
}

int ny_snapshot_end(struct ny_snapshot *view, int err)
{
    struct ny_store *store = view->store;
    struct ny_env *env = view->env;
    bool moved = false;

    if (env->read_only) moved = ny_env_info(env).me_last_txnid != mdb_txn_id(view->txn);
    ny_env_rest(env, &view->txn);
    ny_env_leave(env);
    unlock(view);
    ny_mutex_lock(&store->lock);
    view->next = store->views;
    store->views = view;
    ny_mutex_unlock(&store->lock);
    if (!moved) return err;
    if (ny_context_error(store->ctx)->status == NY_ESTORE) ny_error_clear(store->ctx);
    return ny_fail_changed(store->ctx, env->path);
}

void ny_snapshots_free(struct ny_store *store)
{
    while (store->views) {
        struct ny_snapshot *view = store->views;

        store->views = view->next;
        view_free(view);
    }
}

struct reading {
    struct ny_snapshot *view;
    struct ny_want *want;
    void *out;
    const char *wrong;
    bool there;
};

static const char *check_size(const struct ny_want *want, const struct ny_frame *found)
{
    if (want->exact &&
        (found->rows != want->frame.rows || found->raw_bytes != want->frame.raw_bytes))
        return "it has another number of rows than the store says";
    return found->raw_bytes > want->capacity ? "it is larger than it can be" : NULL;
}

static int read_value(void *arg)
{
    struct reading *r = arg;
    struct ny_want *want = r->want;
    struct ny_frame found = want->frame;
    MDB_val key = {want->key.bytes, want->key.data}, value;
    int code = mdb_get(r->view->txn, r->view->env->table, &key, &value);

    if (code == MDB_NOTFOUND) return NY_OK;
    r->there = true;
    r->wrong = code ? mdb_strerror(code) : ny_frame_check(&found, value.mv_data, value.mv_size);
    if (!r->wrong) r->wrong = check_size(want, &found);
    if (!r->wrong)
        r->wrong = ny_frame_decode(r->view->decoder, &found, value.mv_data, value.mv_size, r->out);
    if (!code) ny_env_touched(r->view->env, value.mv_data, value.mv_size);
    want->frame = found;
    return NY_OK;
}

int ny_snapshot_read(struct ny_snapshot *view, struct ny_want *want, void *out, const char **wrong)
{
    struct reading r = {.view = view, .want = want, .out = out};

    if (ny_guarded(read_value, &r)) {
        r.there = true;
        r.wrong = "the disk cannot read it";
    }
    *wrong = r.there ? r.wrong : "it is missing";
    if (!r.there) return NY_END;
    return r.wrong ? NY_ESTORE : NY_OK;
}

struct glance {
    struct ny_snapshot *view;
    const struct ny_key *key;
    struct ny_header header;
    bool there, whole;
};

static int read_header(void *arg)
{
    struct glance *g = arg;
    MDB_val key = {g->key->bytes, (void *)(uintptr_t)g->key->data}, value;

    if (mdb_get(g->view->txn, g->view->env->table, &key, &value)) return NY_OK;
    g->there = true;
    g->whole = value.mv_size >= sizeof(g->header);
    if (g->whole) memcpy(&g->header, value.mv_data, sizeof(g->header));
    return NY_OK;
}

int ny_snapshot_size(struct ny_snapshot *view, const struct ny_key *key, size_t *raw_bytes)
{
    struct glance g = {.view = view, .key = key};

    if (ny_guarded(read_header, &g)) return NY_ESTORE;
    *raw_bytes = g.header.raw_bytes;
    if (!g.there) return NY_END;
    return g.whole ? NY_OK : NY_ESTORE;
}

uint64_t ny_snapshot_checksum(struct ny_snapshot *view, const struct ny_key *key)
{
    struct glance g = {.view = view, .key = key};

    return ny_guarded(read_header, &g) ? 0 : g.header.checksum;
}

/* A key that is looked for, and LMDB's code. */
struct seek {
    struct ny_snapshot *view;
    struct ny_key *key;
    int code;
};

static int find_next(void *arg)
{
    struct seek *seek = arg;
    MDB_val key = {seek->key->bytes, seek->key->data}, value;
    MDB_cursor *cursor;

    seek->code = mdb_cursor_open(seek->view->txn, seek->view->env->table, &cursor);
    if (seek->code) return NY_OK;
    seek->code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (!seek->code && key.mv_size > NY_KEY_MAX) seek->code = MDB_BAD_VALSIZE;
    if (!seek->code) {
        seek->key->bytes = key.mv_size;
        memcpy(seek->key->data, key.mv_data, key.mv_size);
    }
    mdb_cursor_close(cursor);
    return NY_OK;
}

int ny_snapshot_next(struct ny_snapshot *view, struct ny_key *key, int *code)
{
    struct seek seek = {view, key, 0};
    int err = ny_guarded(find_next, &seek);

    *code = seek.code;
    return err;
}
