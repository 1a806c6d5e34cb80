/* Reading every byte, and going on where something is damaged. */
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "store/csr.h"
#include "store/guard.h"
#include "store/store_private.h"

struct verifying {
    struct ny_store *store;
    ny_damage_fn *damaged;
    void *user;
    struct ny_manifest m;
    char *block;  /* room for any decoded value */
    size_t room;
};

static int report(struct verifying *v, uint64_t block, const char *what)
{
    uint64_t rows = block == UINT64_MAX ? 0 : ny_rows_in_block(&v->m, block);
    struct ny_damage damage = {.block = rows ? block : 0,
                               .first_row = rows ? block * v->m.block_rows : 0,
                               .rows = rows,
                               .what = what};

    return v->damaged(v->user, &damage);
}

/* ---- trees --------------------------------------------------------------------------------- */

static int verify_structure(struct verifying *v, const struct ny_env *env)
{
    char why[NY_WHY_BYTES], what[NY_WHY_BYTES + PATH_MAX + 8];
    struct ny_pulse pulse;
    int err = ny_structure_check(v->store->ctx, env->path, &pulse, why);

    if (err != NY_ESTORE) return err;
    snprintf(what, sizeof(what), "%s: %s", env->path, why);
    return report(v, UINT64_MAX, what);
}

/* ---- points -------------------------------------------------------------------------------- */

/* The manifest of this very view: an append that ended meanwhile has rewritten the last block. What
 * cannot be read any more is taken as it was. */
static struct ny_manifest manifest_now(const struct verifying *v, struct ny_view *view)
{
    struct ny_manifest now;

    return ny_manifest_fetch(view, &now) ? v->m : now;
}

/* Rows of points. Sparse ones take as much room as the fullest block has now. */
static int read_points(struct verifying *v, struct ny_view *view, const struct ny_manifest *now,
                        uint64_t block, const char **wrong)
{
    struct ny_csr_image image = {.rows = (size_t)ny_rows_in_block(now, block)};
    size_t bytes;

    if (now->layout == NY_DENSE) {
        ny_block_read(view, now, NY_KIND_POINTS, block, v->block, wrong);
        return NY_OK;
    }
    bytes = ny_csr_bound((size_t)now->block_rows, (size_t)now->block_nnz,
                         (enum ny_dtype)now->dtype);
    if (bytes > v->room) {
        char *larger = ny_resize(v->store->ctx, NY_MEM_STORE, v->block, bytes);

        if (!larger) return NY_EBUDGET;
        v->block = larger;
        v->room = bytes;
    }
    image.at = v->block;
    ny_csr_read(view, now, ny_points_key(NY_KIND_POINTS, block), &image, wrong);
    return NY_OK;
}

static int verify_block(struct verifying *v, enum ny_kind kind, uint64_t block)
{
    static const char *const names[] = {[NY_KIND_POINTS] = "points",
                                        [NY_KIND_LABELS] = "labels",
                                        [NY_KIND_SOURCE] = "source row numbers"};
    char what[NY_WHY_BYTES];
    const char *wrong = NULL;
    struct ny_manifest now;
    struct ny_view *view;
    int end, err = ny_view_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    if (kind == NY_KIND_POINTS) err = read_points(v, view, &now, block, &wrong);
    else ny_block_read(view, &now, kind, block, v->block, &wrong);
    end = ny_view_end(view);
    if (err || end || !wrong) return err ? err : end;
    snprintf(what, sizeof(what), "%s of block %llu: %s", names[kind], (unsigned long long)block,
             wrong);
    return report(v, block, what);
}

static int verify_blocks(struct verifying *v)
{
    uint64_t blocks = (v->m.n + v->m.block_rows - 1) / v->m.block_rows;
    int err = NY_OK;

    for (uint64_t b = 0; !err && b < blocks; b++) {
        err = verify_block(v, NY_KIND_POINTS, b);
        if (!err && v->m.flags & NY_FLAG_LABELS) err = verify_block(v, NY_KIND_LABELS, b);
        if (!err && v->m.flags & NY_FLAG_SOURCE && b >= v->m.source_from)
            err = verify_block(v, NY_KIND_SOURCE, b);
        if (!err) err = ny_check_interrupt(v->store->ctx);
    }
    return err;
}

/* The manifest's digests are chains over the checksums of the blocks. */
static int verify_digests(struct verifying *v)
{
    uint64_t full, digest = 0, tail = 0;
    struct ny_manifest now;
    struct ny_view *view;
    int end, err = ny_view_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    full = now.n / now.block_rows;
    for (uint64_t b = 0; b <= full; b++) {
        struct ny_key key = ny_points_key(NY_KIND_POINTS, b);

        if (b < full) digest = ny_digest_add(digest, ny_view_checksum(view, &key));
        else if (now.n % now.block_rows) tail = ny_view_checksum(view, &key);
    }
    end = ny_view_end(view);
    if (end) return end;
    if (now.n == 0 || (digest == now.digest && tail == now.tail_digest)) return NY_OK;
    return report(v, UINT64_MAX, "the blocks are not those that were imported: a digest is wrong");
}

static int read_record(struct verifying *v, enum ny_kind kind, size_t bytes, const char **wrong)
{
    struct ny_want want = {.key = ny_points_key(kind, 0),
                           .frame = {.store = v->store->id,
                                     .raw_bytes = (uint32_t)bytes,
                                     .kind = kind},
                           .exact = kind == NY_KIND_STATS,
                           .capacity = bytes};
    struct ny_view *view;
    char *room;
    int end, err = ny_view_begin(&view, v->store, v->store->points);

    *wrong = NULL;
    if (err) return err;
    if (kind == NY_KIND_CLASSES && ny_view_size(view, &want.key, &want.capacity) != NY_OK) {
        *wrong = "it is missing";
        return ny_view_end(view);
    }
    room = ny_alloc(v->store->ctx, NY_MEM_STORE, want.capacity);
    if (!room) err = NY_EBUDGET;
    else ny_view_read(view, &want, room, wrong);
    end = ny_view_end(view);
    ny_free(v->store->ctx, room);
    return err ? err : end;
}

static int verify_records(struct verifying *v)
{
    char what[NY_WHY_BYTES];
    const char *wrong = NULL;
    int err;

    if (v->m.n == 0) return NY_OK;
    err = read_record(v, NY_KIND_STATS,
                      sizeof(struct ny_stats_record) + 4 * (size_t)v->m.d * sizeof(double), &wrong);
    if (!err && wrong) {
        snprintf(what, sizeof(what), "column statistics: %s", wrong);
        err = report(v, UINT64_MAX, what);
    }
    if (err || v->m.classes == 0) return err;
    err = read_record(v, NY_KIND_CLASSES, 0, &wrong);
    if (!err && wrong) {
        snprintf(what, sizeof(what), "class names: %s", wrong);
        err = report(v, UINT64_MAX, what);
    }
    return err;
}

static int verify_points(struct verifying *v)
{
    struct ny_view *view;
    char what[NY_WHY_BYTES];
    const char *wrong;
    enum ny_dtype dtype;
    size_t points;
    int err = ny_view_begin(&view, v->store, v->store->points);

    if (err) return err;
    wrong = ny_manifest_fetch(view, &v->m);
    err = ny_view_end(view);
    if (err) return err;
    if (wrong) {
        snprintf(what, sizeof(what), "the manifest, without which no point can be read: %s", wrong);
        return report(v, UINT64_MAX, what);
    }
    dtype = (enum ny_dtype)v->m.dtype;
    v->room = (size_t)v->m.block_rows * 8; /* labels, source; points may be more */
    points = v->m.layout == NY_CSR
                 ? ny_csr_bound((size_t)v->m.block_rows, (size_t)v->m.block_nnz, dtype)
                 : (size_t)v->m.block_rows * v->m.d * ny_dtype_size(dtype);
    if (v->room < points) v->room = points;
    v->block = ny_alloc(v->store->ctx, NY_MEM_STORE, v->room);
    if (!v->block) return NY_EBUDGET;
    err = verify_blocks(v);
    if (!err) err = verify_digests(v);
    if (!err) err = verify_records(v);
    ny_free(v->store->ctx, v->block);
    v->block = NULL;
    return err;
}

/* ---- results ------------------------------------------------------------------------------- */

struct next_chunk {
    struct ny_view *view;
    struct ny_key key; /* the last one seen; then the next */
    bool there;
};

static int find_next(void *arg)
{
    struct next_chunk *next = arg;
    MDB_val key = {next->key.bytes, next->key.data}, value;
    MDB_cursor *cursor;

    next->there = false;
    if (mdb_cursor_open(next->view->txn, next->view->env->table, &cursor)) return NY_OK;
    if (!mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE) && key.mv_size <= NY_KEY_MAX) {
        next->there = true;
        next->key.bytes = key.mv_size;
        memcpy(next->key.data, key.mv_data, key.mv_size);
    }
    mdb_cursor_close(cursor);
    return NY_OK;
}

static int report_chunk(struct verifying *v, const struct ny_key *key, const char *wrong)
{
    char what[2 * NY_WHY_BYTES], text[NY_KEY_MAX + 1] = {0};
    size_t name;
    uint64_t index = 0;

    memcpy(text, key->data, key->bytes);
    name = strlen(text);
    for (size_t i = key->bytes > 8 ? key->bytes - 8 : 0; i < key->bytes; i++)
        index = index << 8 | (unsigned char)key->data[i];
    snprintf(what, sizeof(what), "result '%.64s', %.64s, chunk %llu: %s", text,
             name < key->bytes ? text + name + 1 : "", (unsigned long long)index, wrong);
    return report(v, UINT64_MAX, what);
}

static int verify_chunk(struct verifying *v, struct next_chunk *next)
{
    struct ny_store *store = v->store;
    struct ny_want want = {.key = next->key,
                           .frame = {.store = store->id,
                                     .number = ny_checksum(next->key.data, next->key.bytes),
                                     .kind = NY_KIND_CHUNK},
                           .capacity = NY_CHUNK_BYTES};
    const char *wrong = NULL;
    int end;

    ny_view_read(next->view, &want, v->block, &wrong);
    end = ny_view_end(next->view);
    return end || !wrong ? end : report_chunk(v, &want.key, wrong);
}

static int verify_results(struct verifying *v)
{
    struct next_chunk next = {.key = {.bytes = 1, .data = {1}}}; /* after the pulse */
    int err = NY_OK;

    v->m = (struct ny_manifest){.block_rows = 1};
    v->block = ny_alloc(v->store->ctx, NY_MEM_STORE, NY_CHUNK_BYTES);
    if (!v->block) return NY_EBUDGET;
    while (!err) {
        err = ny_view_begin(&next.view, v->store, v->store->results);
        if (err) break;
        if (ny_guarded(find_next, &next) || !next.there) {
            err = ny_view_end(next.view);
            break;
        }
        err = verify_chunk(v, &next);
        if (next.key.bytes < NY_KEY_MAX) next.key.data[next.key.bytes++] = 0; /* its successor */
        else break;
        if (!err) err = ny_check_interrupt(v->store->ctx);
    }
    ny_free(v->store->ctx, v->block);
    v->block = NULL;
    return err;
}

int ny_store_verify(struct ny_store *store, ny_damage_fn *damaged, void *user)
{
    struct verifying v = {.store = store, .damaged = damaged, .user = user, .m = {.block_rows = 1}};
    int err = verify_structure(&v, store->points);

    if (!err) err = verify_structure(&v, store->results);
    if (!err) err = verify_points(&v);
    if (!err) err = verify_results(&v);
    return err;
}
