/*
 * Reads every byte of a store, and goes on where something is damaged. ny_store_verify() serves
 * the verb verify; it changes nothing.
 *
 * The order is: structure of both files, then points with their digests and records, then results.
 * Blocks and chunks are read by as many threads as the budget has room for. Their findings are
 * kept, sorted, and told at the end, so that the caller's `damaged` is called in one thread and in
 * the same order every time. Each value is read in a view of its own: other processes may import
 * and fit meanwhile, and a long view would keep LMDB from using freed pages again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/progress.h"
#include "store/csr.h"
#include "store/guard.h"
#include "store/store_private.h"

/* A damaged block of points, labels or source row numbers, or a chunk. */
struct finding {
    enum ny_kind kind;
    uint64_t block;
    struct ny_key key; /* of a chunk */
    const char *wrong;
};

/* State of one run, shared by its threads. */
struct verifying {
    struct ny_store *store;
    ny_damage_fn *damaged;
    void *user;
    struct ny_manifest m;
    struct ny_lost lost;
    struct ny_mutex lock; /* guards what follows */
    struct ny_meter meter;
    uint64_t next, blocks;  /* the block that is read next */
    struct ny_key next_key; /* the chunk that is read next is the first from this key on */
    bool no_more;           /* chunks, or a worker has failed */
    const char *broken;     /* why the list of chunks cannot be read to its end; NULL: it can */
    struct finding *finding;
    size_t findings, room;
};

/* The buffer of one thread, which has room for any decoded value. */
struct reader {
    struct verifying *v;
    char *block;
    size_t room;
};

/* Reports a damage to the caller; an error that it returns ends the run. */
static int tell(struct verifying *v, struct ny_damage damage)
{
    return v->damaged(v->user, &damage);
}

/* Reports what is wrong with a thing that is no block and no chunk. */
static int tell_wrong(struct verifying *v, const char *thing, const char *wrong)
{
    char what[NY_WHY_BYTES + PATH_MAX + 64];

    snprintf(what, sizeof(what), "%s: %s", thing, wrong);
    return tell(v, (struct ny_damage){.what = what});
}

/* Keeps a finding until all have read. */
static int note(struct verifying *v, struct finding finding)
{
    int err = NY_OK;

    ny_mutex_lock(&v->lock);
    if (v->findings == v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        struct finding *larger =
            ny_resize(v->store->ctx, NY_MEM_STORE, v->finding, room * sizeof(*larger));

        if (larger) {
            v->finding = larger;
            v->room = room;
        } else
            err = NY_EBUDGET;
    }
    if (!err) v->finding[v->findings++] = finding;
    ny_mutex_unlock(&v->lock);
    return err;
}

/* Threads that read at a time values of so many bytes. */
static unsigned workers_for(const struct verifying *v, size_t bytes)
{
    struct ny_context *ctx = v->store->ctx;
    size_t fit = ny_memory_left(ctx) / 2 / (bytes + ny_reading_bytes(1));
    unsigned threads = ny_context_threads(ctx);

    if (fit < 1) return 1;
    return fit < threads ? (unsigned)fit : threads;
}

/* ---- trees --------------------------------------------------------------------------------- */

/* Reports that one of the two files is older than the other remembers: it was put back from a
 * copy. */
static int verify_epochs(const struct verifying *v)
{
    char older[NY_OLDER_BYTES];

    if (!ny_store_older(v->store, older)) return NY_OK;
    return v->damaged(v->user, &(struct ny_damage){.kind = NY_DAMAGED_OLDER, .what = older});
}

/* Checks the trees of one file. *entries: how many values it has, for the progress. */
static int verify_structure(struct verifying *v, const struct ny_env *env, uint64_t *entries)
{
    char why[NY_WHY_BYTES];
    struct ny_pulse pulse;
    int err = ny_structure_check(v->store->ctx, env->path, &pulse, why);

    *entries = err ? 0 : pulse.entries;
    return err == NY_ESTORE ? tell_wrong(v, env->path, why) : err;
}

/* ---- points -------------------------------------------------------------------------------- */

/* The manifest of this very view: an append that ended meanwhile has rewritten the last block. If
 * it cannot be read any more, it is taken as it was. */
static struct ny_manifest manifest_now(const struct verifying *v, struct ny_snapshot *view)
{
    struct ny_manifest now;

    return ny_manifest_fetch(view, &now) ? v->m : now;
}

/* Bytes of a decoded block of any kind. */
static size_t block_room(const struct ny_manifest *m)
{
    enum ny_dtype dtype = (enum ny_dtype)m->dtype;
    size_t marks = (size_t)m->block_rows * 8; /* labels, source */
    size_t points = m->layout == NY_CSR
                        ? ny_csr_bound((size_t)m->block_rows, (size_t)m->block_nnz, dtype)
                        : (size_t)m->block_rows * m->d * ny_dtype_size(dtype);

    return points > marks ? points : marks;
}

/* Stored bytes of a row, on average. */
static double row_share(const struct ny_manifest *m)
{
    return (double)(m->full_bytes + m->tail_bytes) / (double)m->n;
}

/* Rows of points. Sparse ones take as much room as the fullest block has now. */
static int read_points(struct reader *reader, struct ny_snapshot *view,
                       const struct ny_manifest *now, uint64_t block, const char **wrong)
{
    struct ny_csr_image image = {.rows = (size_t)ny_rows_in_block(now, block)};
    size_t bytes;

    if (now->layout == NY_DENSE) {
        ny_block_read(view, now, NY_KIND_POINTS, block, reader->block, wrong);
        return NY_OK;
    }
    bytes =
        ny_csr_bound((size_t)now->block_rows, (size_t)now->block_nnz, (enum ny_dtype)now->dtype);
    if (bytes > reader->room) {
        char *larger = ny_resize(view->store->ctx, NY_MEM_STORE, reader->block, bytes);

        if (!larger) return NY_EBUDGET;
        reader->block = larger;
        reader->room = bytes;
    }
    image.at = reader->block;
    ny_csr_read(view, now, ny_points_key(NY_KIND_POINTS, block), &image, wrong);
    return NY_OK;
}

/* Reads one kind of a block, with its checksum, in a view of its own. */
static int verify_block(struct reader *reader, enum ny_kind kind, uint64_t block)
{
    struct verifying *v = reader->v;
    const char *wrong = NULL;
    struct ny_manifest now;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    if (kind == NY_KIND_POINTS)
        err = read_points(reader, view, &now, block, &wrong);
    else
        ny_block_read(view, &now, kind, block, reader->block, &wrong);
    end = ny_snapshot_end(view);
    if (err || end || !wrong) return err ? err : end;
    return note(v, (struct finding){.kind = kind, .block = block, .wrong = wrong});
}

/* Reads a block of points with its labels and source row numbers. Points that are known as lost,
 * after a repair, are passed over. */
static int verify_kinds(struct reader *reader, uint64_t block)
{
    const struct ny_manifest *m = &reader->v->m;
    uint64_t first = block * m->block_rows, end = first + ny_rows_in_block(m, block);
    int err = NY_OK;

    if (!ny_lost_covers(&reader->v->lost, first, end))
        err = verify_block(reader, NY_KIND_POINTS, block);
    if (!err && m->flags & NY_FLAG_LABELS) err = verify_block(reader, NY_KIND_LABELS, block);
    if (!err && m->flags & NY_FLAG_SOURCE && block >= m->source_from)
        err = verify_block(reader, NY_KIND_SOURCE, block);
    return err ? err : ny_check_interrupt(reader->v->store->ctx);
}

/* Blocks in turn, until there are none or another worker has failed. */
static int read_blocks(void *arg, unsigned worker)
{
    struct verifying *v = arg;
    const struct ny_manifest *m = &v->m;
    struct reader reader = {.v = v, .room = block_room(m)};
    int err = NY_OK;

    (void)worker;
    reader.block = ny_alloc(v->store->ctx, NY_MEM_STORE, reader.room);
    if (!reader.block) err = NY_EBUDGET;
    for (;;) {
        uint64_t block, rows;

        ny_mutex_lock(&v->lock);
        if (err) v->next = v->blocks;
        block = v->next < v->blocks ? v->next++ : v->blocks;
        ny_mutex_unlock(&v->lock);
        if (block == v->blocks) break;
        err = verify_kinds(&reader, block);
        rows = ny_rows_in_block(m, block);
        ny_mutex_lock(&v->lock);
        ny_meter_add(&v->meter, rows, (double)rows * row_share(m), 0);
        ny_mutex_unlock(&v->lock);
    }
    ny_free(v->store->ctx, reader.block);
    return err;
}

/* Order of findings: blocks ascending, and the kinds of one block by number. */
static int by_block(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;

    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Reports a damaged block with the rows that it holds. */
static int tell_block(struct verifying *v, const struct finding *finding)
{
    static const enum ny_damaged kinds[] = {[NY_KIND_POINTS] = NY_DAMAGED_POINTS,
                                            [NY_KIND_LABELS] = NY_DAMAGED_LABELS,
                                            [NY_KIND_SOURCE] = NY_DAMAGED_SOURCE};
    static const char *const names[] = {[NY_KIND_POINTS] = "points",
                                        [NY_KIND_LABELS] = "labels",
                                        [NY_KIND_SOURCE] = "source row numbers"};
    char what[NY_WHY_BYTES];

    snprintf(what, sizeof(what), "%s of block %llu: %s", names[finding->kind],
             (unsigned long long)finding->block, finding->wrong);
    return tell(v, (struct ny_damage){.kind = kinds[finding->kind],
                                      .block = finding->block,
                                      .first_row = finding->block * v->m.block_rows,
                                      .rows = ny_rows_in_block(&v->m, finding->block),
                                      .what = what});
}

/* Reads all blocks in parallel, then reports what was found. */
static int verify_blocks(struct verifying *v)
{
    struct ny_context *ctx = v->store->ctx;
    int err;

    v->blocks = (v->m.n + v->m.block_rows - 1) / v->m.block_rows;
    if (v->blocks == 0) return NY_OK;
    ny_meter_start(&v->meter, ctx, "verify", 0, v->m.n);
    err = ny_parallel(ctx, workers_for(v, block_room(&v->m)), read_blocks, v);
    if (!err) ny_meter_finish(&v->meter);
    if (!err && v->findings) qsort(v->finding, v->findings, sizeof(*v->finding), by_block);
    for (size_t i = 0; !err && i < v->findings; i++)
        err = tell_block(v, &v->finding[i]);
    v->findings = 0;
    return err;
}

/* The manifest's digests are chains over the checksums of the blocks. */
static int verify_digests(struct verifying *v)
{
    uint64_t full, digest = 0, tail = 0;
    struct ny_manifest now;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    full = now.n / now.block_rows;
    for (uint64_t b = 0; b <= full; b++) {
        struct ny_key key = ny_points_key(NY_KIND_POINTS, b);

        if (b < full)
            digest = ny_digest_add(digest, ny_snapshot_checksum(view, &key));
        else if (now.n % now.block_rows)
            tail = ny_snapshot_checksum(view, &key);
    }
    end = ny_snapshot_end(view);
    if (end) return end;
    if (now.n == 0 || (digest == now.digest && tail == now.tail_digest)) return NY_OK;
    return tell(v, (struct ny_damage){
                       .kind = NY_DAMAGED_DIGEST,
                       .what = "the blocks are not those that were imported: a digest is wrong"});
}

/* The statistics must be those of as many rows and columns as the manifest of their view has. */
static const char *check_stats(const struct verifying *v, struct ny_snapshot *view,
                               const char *room)
{
    const struct ny_manifest now = manifest_now(v, view);
    struct ny_stats_record record;

    memcpy(&record, room, sizeof(record));
    return record.n == now.n && record.d == now.d ? NULL : "they are of other points";
}

/* Reads a single record of points/ and says what is wrong with it. Class names have no fixed size,
 * which is asked for first. */
static int read_record(struct verifying *v, enum ny_kind kind, size_t bytes, const char **wrong)
{
    struct ny_want want = {
        .key = ny_points_key(kind, 0),
        .frame = {.store = v->store->id, .raw_bytes = (uint32_t)bytes, .kind = kind},
        .exact = kind == NY_KIND_STATS,
        .capacity = bytes};
    struct ny_snapshot *view;
    char *room;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    *wrong = NULL;
    if (err) return err;
    if (kind == NY_KIND_CLASSES && ny_snapshot_size(view, &want.key, &want.capacity) != NY_OK) {
        *wrong = "it is missing";
        return ny_snapshot_end(view);
    }
    room = ny_alloc(v->store->ctx, NY_MEM_STORE, want.capacity);
    if (!room)
        err = NY_EBUDGET;
    else if (!ny_snapshot_read(view, &want, room, wrong) && kind == NY_KIND_STATS)
        *wrong = check_stats(v, view, room);
    end = ny_snapshot_end(view);
    ny_free(v->store->ctx, room);
    return err ? err : end;
}

/* Checks the sum of norms. */
static int verify_norms(struct verifying *v)
{
    struct ny_snapshot *view;
    const char *wrong;
    double sum;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    ny_norms_read(view, v->m.n, &sum, &wrong);
    end = ny_snapshot_end(view);
    return end || !wrong ? end : tell_wrong(v, "sum of norms", wrong);
}

/* Checks the records beside the blocks: statistics, norms, and class names where there are
 * some. */
static int verify_records(struct verifying *v)
{
    const char *wrong = NULL;
    int err;

    if (v->m.n == 0) return NY_OK;
    err = read_record(v, NY_KIND_STATS,
                      sizeof(struct ny_stats_record) + 4 * (size_t)v->m.d * sizeof(double), &wrong);
    if (!err && wrong) err = tell_wrong(v, "column statistics", wrong);
    if (!err) err = verify_norms(v);
    if (err || v->m.classes == 0) return err;
    err = read_record(v, NY_KIND_CLASSES, 0, &wrong);
    return err || !wrong ? err : tell_wrong(v, "class names", wrong);
}

/* Checks points/. Without a manifest nothing else of it can be read, and that alone is
 * reported. */
static int verify_points(struct verifying *v)
{
    struct ny_snapshot *view;
    const char *wrong;
    int err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    wrong = ny_manifest_fetch(view, &v->m);
    err = ny_snapshot_end(view);
    if (err) return err;
    if (wrong) return tell_wrong(v, "the manifest, without which no point can be read", wrong);
    err = ny_points_lost(v->store, &v->lost);
    if (err == NY_ESTORE) { /* its message says so */
        err = tell(v, (struct ny_damage){.what = ny_context_message(v->store->ctx)});
        ny_error_clear(v->store->ctx);
    }
    if (!err) err = verify_blocks(v);
    if (!err) err = verify_digests(v);
    if (!err) err = verify_records(v);
    return err;
}

/* ---- results ------------------------------------------------------------------------------- */

struct next_chunk {
    struct ny_snapshot *view;
    struct ny_key *key; /* at least; then the chunk's */
    int code;           /* LMDB's; MDB_NOTFOUND after the last */
};

/* Finds the first key from next->key on. It runs guarded: a page that the disk cannot read raises
 * SIGBUS. */
static int find_next(void *arg)
{
    struct next_chunk *next = arg;
    MDB_val key = {next->key->bytes, next->key->data}, value;
    MDB_cursor *cursor;

    next->code = mdb_cursor_open(next->view->txn, next->view->env->table, &cursor);
    if (next->code) return NY_OK;
    next->code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (!next->code && key.mv_size > NY_KEY_MAX) next->code = MDB_BAD_VALSIZE;
    if (!next->code) {
        next->key->bytes = key.mv_size;
        memcpy(next->key->data, key.mv_data, key.mv_size);
    }
    mdb_cursor_close(cursor);
    return NY_OK;
}

/* The chunk that is next in turn; NY_END after the last, and where the list of chunks cannot be
 * read on, which is noted. With the lock held. */
static int take_key(struct verifying *v, struct ny_key *key)
{
    struct next_chunk next = {.key = &v->next_key};
    int end, err;

    if (v->no_more) return NY_END;
    err = ny_snapshot_begin(&next.view, v->store, v->store->results);
    if (err) return err;
    err = ny_guarded(find_next, &next);
    end = ny_snapshot_end(next.view);
    if (end) return end;
    if (!err && next.code == ENOMEM)
        return ny_env_fail(v->store->ctx, v->store->results->path, "read", next.code);
    if (err)
        v->broken = "the disk cannot read it";
    else if (next.code && next.code != MDB_NOTFOUND)
        v->broken = mdb_strerror(next.code);
    v->no_more = err || next.code;
    if (v->no_more) return NY_END;
    *key = v->next_key;
    v->no_more = v->next_key.bytes == NY_KEY_MAX;
    if (!v->no_more) v->next_key.data[v->next_key.bytes++] = 0; /* its successor */
    return NY_OK;
}

/* One that was removed meanwhile is not damaged. */
static int verify_chunk(struct verifying *v, const struct ny_key *key, char *room, size_t *bytes)
{
    struct ny_want want = {.key = *key,
                           .frame = {.store = v->store->id,
                                     .number = ny_checksum(key->data, key->bytes),
                                     .kind = NY_KIND_CHUNK},
                           .capacity = NY_CHUNK_BYTES};
    const char *wrong = NULL;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->results);

    if (err) return err;
    err = ny_snapshot_chunk(view, &want, room, &wrong);
    end = ny_snapshot_end(view);
    *bytes = want.frame.raw_bytes;
    if (end || err != NY_ESTORE) return end;
    return note(v, (struct finding){.kind = NY_KIND_CHUNK, .key = *key, .wrong = wrong});
}

/* Reads chunks in turn, until there are none. A worker that fails ends the work of the others,
 * too. */
static int read_chunks(void *arg, unsigned worker)
{
    struct verifying *v = arg;
    struct ny_context *ctx = v->store->ctx;
    char *room = ny_alloc(ctx, NY_MEM_STORE, NY_CHUNK_BYTES);
    int err = room ? NY_OK : NY_EBUDGET;
    size_t bytes = 0;

    (void)worker;
    while (!err) {
        struct ny_key key;

        ny_mutex_lock(&v->lock);
        if (bytes) ny_meter_add(&v->meter, 1, (double)bytes, 0);
        err = take_key(v, &key);
        ny_mutex_unlock(&v->lock);
        if (!err) err = verify_chunk(v, &key, room, &bytes);
        if (!err) err = ny_check_interrupt(ctx);
    }
    if (err != NY_END) {
        ny_mutex_lock(&v->lock);
        v->no_more = true;
        ny_mutex_unlock(&v->lock);
    }
    ny_free(ctx, room);
    return err == NY_END ? NY_OK : err;
}

/* Order of findings of results: by key, which is the order of the table. */
static int by_key(const void *a, const void *b)
{
    const struct ny_key *x = &((const struct finding *)a)->key;
    const struct ny_key *y = &((const struct finding *)b)->key;
    int order = memcmp(x->data, y->data, x->bytes < y->bytes ? x->bytes : y->bytes);

    return order ? order : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* The index in a key of a chunk, or of its voucher: eight bytes behind the part. */
static uint64_t index_of(const struct ny_key *key, size_t at)
{
    uint64_t index = 0;

    for (size_t i = at; i < at + 8 && i < key->bytes; i++)
        index = index << 8 | (unsigned char)key->data[i];
    return index;
}

/* Reports a damaged chunk by the parts of its key: name and part end in NUL, and the index
 * follows. */
static int tell_chunk(struct verifying *v, const struct finding *finding)
{
    const struct ny_key *key = &finding->key;
    char what[2 * NY_WHY_BYTES], text[NY_KEY_MAX + 1] = {0};
    const char *part;
    uint64_t index;

    memcpy(text, key->data, key->bytes);
    part = strlen(text) < key->bytes ? text + strlen(text) + 1 : "";
    index = index_of(key, strlen(text) + strlen(part) + 2);
    snprintf(what, sizeof(what), "result '%.64s', %.64s, chunk %llu: %s", text, part,
             (unsigned long long)index, finding->wrong);
    return tell(
        v,
        (struct ny_damage){
            .kind = NY_DAMAGED_RESULT, .name = text, .part = part, .chunk = index, .what = what});
}

/* Reads all chunks in parallel, then reports what was found. */
static int verify_results(struct verifying *v, uint64_t entries)
{
    struct ny_context *ctx = v->store->ctx;
    char list[PATH_MAX + 48];
    int err;

    v->next_key = ny_memory_key(); /* after the pulse */
    ny_meter_start(&v->meter, ctx, "verify results", 0, entries);
    err = ny_parallel(ctx, workers_for(v, NY_CHUNK_BYTES), read_chunks, v);
    if (!err) ny_meter_finish(&v->meter);
    if (!err && v->findings) qsort(v->finding, v->findings, sizeof(*v->finding), by_key);
    for (size_t i = 0; !err && i < v->findings; i++)
        err = tell_chunk(v, &v->finding[i]);
    if (err || !v->broken) return err;
    snprintf(list, sizeof(list), "%s: the list of chunks cannot be read to its end",
             v->store->results->path);
    return tell_wrong(v, list, v->broken);
}

int ny_store_verify(struct ny_store *store, ny_damage_fn *damaged, void *user)
{
    struct verifying v = {.store = store, .damaged = damaged, .user = user, .m = {.block_rows = 1}};
    uint64_t chunks = 0, entries;
    int err;

    ny_mutex_init(&v.lock);
    err = verify_structure(&v, store->points, &entries);
    if (!err) err = verify_structure(&v, store->results, &chunks);
    if (!err) err = verify_epochs(&v);
    if (!err) err = verify_points(&v);
    ny_snapshots_free(store); /* of each thread that read: room for others */
    if (!err) err = verify_results(&v, chunks);
    ny_snapshots_free(store);
    ny_free(store->ctx, v.finding);
    ny_lost_release(&v.lost, store->ctx);
    ny_mutex_release(&v.lock);
    return err;
}
