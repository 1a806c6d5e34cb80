/*
 * Results: parts of NAMEs, in chunks.
 *
 * Jobs write by batches, each one transaction that is short and waits for its turn, so that
 * several jobs may run on one store. A batch remembers its first failure, so that callers may put
 * and delete without looking and judge the commit alone. An array that is larger than a batch may
 * be takes several of them; it becomes current by the record that names it, which the caller puts
 * last. Readers copy one chunk at a time: its header has a hash of name, part and index, so that a
 * chunk in another's place is damage, and a chunk on pages of its own is compared with its voucher
 * (store/format.h).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/store_private.h"

_Static_assert(sizeof(struct ny_header) + NY_CHUNK_BYTES + 16 == (size_t)256 * 4096,
               "a chunk fills its pages");

/* Checks the length of a part's name, which comes from the program, and not from users. */
static int check_part(struct ny_context *ctx, const char *part)
{
    size_t length = strlen(part);

    return length > 0 && length <= NY_NAME_MAX ? NY_OK : NY_BUG(ctx);
}

/* ---- batches ------------------------------------------------------------------------------- */

struct ny_batch {
    struct ny_store *store;
    struct ny_lock lock; /* commits of different jobs take turns */
    struct ny_write write;
    size_t reserved;
    int failed;
};

/* Aborts what was not committed, and releases the lock and the charge. */
static void batch_free(struct ny_batch *batch)
{
    ny_write_abort(&batch->write);
    ny_lock_release(&batch->lock);
    ny_unreserve(batch->store->ctx, NY_MEM_STORE, batch->reserved);
    ny_free(batch->store->ctx, batch);
}

int ny_batch_begin(struct ny_batch **out, struct ny_store *store)
{
    struct ny_batch *batch;
    int err = ny_store_writable(store);

    *out = NULL;
    if (err) return err;
    batch = ny_calloc(store->ctx, NY_MEM_STORE, 1, sizeof(*batch));
    if (!batch) return NY_EBUDGET;
    batch->store = store;
    err = ny_lock_wait(&batch->lock, store->ctx, store->path, "commit");
    if (!err) err = ny_store_check_place(store);
    if (!err) ny_env_remove_copies(store->ctx, store->path);
    if (!err)
        err = ny_write_begin(&batch->write, store, store->results,
                             ny_batch_bytes_max(ny_memory_limit(store->ctx)));
    if (err) {
        batch_free(batch);
        return err;
    }
    *out = batch;
    return NY_OK;
}

void ny_batch_mend(struct ny_batch *batch)
{
    batch->write.mends = true;
}

/* A chunk belongs to its place: name, part and index are in its header as one hash. */
static struct ny_frame chunk_frame(const struct ny_store *store, const struct ny_key *key)
{
    return (struct ny_frame){
        .store = store->id, .number = ny_checksum(key->data, key->bytes), .kind = NY_KIND_CHUNK};
}

/* Writes the voucher of a chunk that lies on pages of its own; removes that of a larger one that
 * the chunk replaces. */
static int vouch(struct ny_batch *batch, const struct ny_key *chunk, bool apart, uint64_t checksum)
{
    struct ny_key key = ny_voucher_key(chunk);
    struct ny_frame frame = chunk_frame(batch->store, &key);

    frame.raw_bytes = sizeof(checksum);
    return apart ? ny_write_record(&batch->write, &key, &frame, &checksum)
                 : ny_write_delete(&batch->write, &key);
}

/* Puts a chunk and its voucher. The charge for its dirty pages stays until the batch ends. */
static int put(struct ny_batch *batch, const char *name, const char *part, uint64_t index,
               const void *data, size_t bytes)
{
    struct ny_context *ctx = batch->store->ctx;
    struct ny_key key = ny_chunk_key(name, part, index);
    struct ny_frame frame = chunk_frame(batch->store, &key);
    bool apart = ny_write_apart(&batch->write, &key, sizeof(struct ny_header) + bytes);
    struct ny_header header;
    int err = ny_name_check(ctx, name);

    if (!err) err = check_part(ctx, part);
    if (!err && bytes > NY_CHUNK_BYTES) err = NY_BUG(ctx);
    if (!err) err = ny_reserve(ctx, NY_MEM_STORE, bytes);
    if (err) return err;
    batch->reserved += bytes;
    frame.raw_bytes = (uint32_t)bytes;
    frame.rows = apart ? NY_VOUCHED : 0;
    header = ny_frame_seal(&frame, data, bytes);
    err = ny_write_sealed(&batch->write, &key, &header, data);
    return err ? err : vouch(batch, &key, apart, header.checksum);
}

int ny_batch_put(struct ny_batch *batch, const char *name, const char *part, uint64_t index,
                 const void *data, size_t bytes)
{
    if (!batch->failed) batch->failed = put(batch, name, part, index, data, bytes);
    return batch->failed;
}

/* A key that begins as this one does. */
static bool has_prefix(const void *arg, const MDB_val *key)
{
    const struct ny_key *prefix = arg;

    return key->mv_size > prefix->bytes && memcmp(key->mv_data, prefix->data, prefix->bytes) == 0;
}

static struct ny_key prefix_of(const char *name, const char *part)
{
    struct ny_key key = ny_chunk_key(name, part ? part : "", 0);

    key.bytes = strlen(name) + 1 + (part ? strlen(part) + 1 : 0);
    return key;
}

int ny_write_delete_part(struct ny_write *write, const char *name, const char *part)
{
    struct ny_key prefix;
    size_t count;
    int err = ny_name_check(write->store->ctx, name);

    if (!err && part) err = check_part(write->store->ctx, part);
    if (err) return err;
    prefix = prefix_of(name, part);
    return ny_write_delete_from(write, &prefix, has_prefix, &prefix, SIZE_MAX, &count);
}

int ny_batch_delete(struct ny_batch *batch, const char *name, const char *part)
{
    if (!batch->failed) batch->failed = ny_write_delete_part(&batch->write, name, part);
    return batch->failed;
}

int ny_batch_commit(struct ny_batch *batch)
{
    int err = ny_write_commit(&batch->write, batch->failed);

    if (!err) batch->store->wrote_results = true;
    batch_free(batch);
    return err;
}

void ny_batch_abort(struct ny_batch *batch)
{
    if (batch) batch_free(batch);
}

/* ---- chunks and blobs ---------------------------------------------------------------------- */

static int chunk_damaged(struct ny_store *store, const char *name, const char *part,
                         const char *wrong)
{
    char what[2 * NY_NAME_MAX + 32];

    snprintf(what, sizeof(what), "%s of result '%s' is", part, name);
    return ny_damaged(store->ctx, store->results->path, what, wrong);
}

int ny_snapshot_chunk(struct ny_snapshot *view, struct ny_want *want, void *out, const char **wrong)
{
    uint64_t checksum = 0;
    struct ny_want voucher = {.key = ny_voucher_key(&want->key), .capacity = sizeof(checksum)};
    const char *none;
    int err = ny_snapshot_read(view, want, out, wrong);

    if (err || want->frame.rows != NY_VOUCHED) return err;
    voucher.frame = chunk_frame(view->store, &voucher.key);
    if (!ny_snapshot_read(view, &voucher, &checksum, &none) &&
        checksum == ny_snapshot_checksum(view, &want->key))
        return NY_OK;
    *wrong = "it is of an earlier commit: the disk has lost a write";
    return NY_ESTORE;
}

/* NY_END: no such chunk. NY_ESTORE: *wrong says what is. Neither sets an error. */
static int read_chunk(struct ny_store *store, const struct ny_key *key, void *data, size_t capacity,
                      size_t *bytes, const char **wrong)
{
    struct ny_want want = {.key = *key, .frame = chunk_frame(store, key), .capacity = capacity};
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, store, store->results);

    *wrong = NULL;
    if (err) return err;
    err = ny_snapshot_chunk(view, &want, data, wrong);
    end = ny_snapshot_end(view, NY_OK);
    *bytes = !err || want.frame.raw_bytes > capacity ? want.frame.raw_bytes : 0;
    if (end) *wrong = NULL;
    return end ? end : err;
}

/* Finds the last store of a set that has a part: an update changes that one alone. */
static int find_part(struct ny_store **store, const char *name, const char *part)
{
    struct ny_key key = ny_chunk_key(name, part, 0);
    struct ny_store *set = *store;

    for (size_t k = set->set->count; k-- > 0;) {
        struct ny_snapshot *view;
        size_t bytes;
        int end, err = ny_set_store(set, k, store);

        if (!err) err = ny_snapshot_begin(&view, *store, (*store)->results);
        if (err) return err;
        err = ny_snapshot_size(view, &key, &bytes);
        end = ny_snapshot_end(view, NY_OK);
        if (end || err != NY_END) return end; /* whoever reads it tells what is damaged */
    }
    return NY_END;
}

int ny_chunk_get(struct ny_store *store, const char *name, const char *part, uint64_t index,
                 struct ny_chunk *chunk)
{
    struct ny_key key = ny_chunk_key(name, part, index);
    const char *wrong;
    int err = check_part(store->ctx, part);

    chunk->bytes = 0;
    if (err) return err;
    if (!ny_name_valid(name)) return NY_END;
    if (ny_store_set(store)) err = find_part(&store, name, part);
    if (err) return err;
    err = read_chunk(store, &key, chunk->data, chunk->capacity, &chunk->bytes, &wrong);
    if (!wrong || err == NY_END) return err;
    if (chunk->bytes > chunk->capacity && chunk->bytes <= NY_CHUNK_BYTES) return NY_BUG(store->ctx);
    return chunk_damaged(store, name, part, wrong);
}

int ny_blob_put(struct ny_store *store, const char *name, const char *part, const void *data,
                size_t bytes)
{
    struct ny_pieces pieces = ny_pieces_of(data, bytes);

    return ny_blob_put_pieces(store, name, part, &pieces);
}

int ny_blob_put_pieces(struct ny_store *store, const char *name, const char *part,
                       const struct ny_pieces *pieces)
{
    size_t bytes = pieces->bytes;
    size_t chunks = bytes / NY_CHUNK_BYTES + (bytes % NY_CHUNK_BYTES > 0 || bytes == 0);
    size_t in_batch = ny_batch_bytes_max(ny_memory_limit(store->ctx)) / NY_CHUNK_BYTES;
    int err = NY_OK;

    for (size_t i = 0; !err && i < chunks;) {
        size_t end = chunks - i < in_batch ? chunks : i + in_batch;
        struct ny_batch *batch;

        err = ny_batch_begin(&batch, store);
        if (err) break;
        if (i == 0) ny_batch_delete(batch, name, part);
        for (; i < end; i++) {
            size_t at = i * NY_CHUNK_BYTES;
            size_t count = bytes - at < NY_CHUNK_BYTES ? bytes - at : NY_CHUNK_BYTES;

            ny_batch_put(batch, name, part, i, pieces->piece(pieces->arg, at, count), count);
        }
        err = ny_batch_commit(batch);
    }
    return err;
}

int ny_blob_get(struct ny_store *store, const char *name, const char *part, void *data,
                size_t bytes)
{
    size_t chunks = bytes / NY_CHUNK_BYTES + (bytes % NY_CHUNK_BYTES > 0 || bytes == 0);
    const char *wrong;
    int err = check_part(store->ctx, part);

    if (!err && ny_store_set(store) && find_part(&store, name, part))
        err = ny_damaged(store->ctx, store->path, part, "no shard has it");
    for (size_t i = 0; !err && i <= chunks; i++) { /* and that there is none beyond */
        struct ny_key key = ny_chunk_key(name, part, i);
        size_t at = i * NY_CHUNK_BYTES, want = 0, got;

        if (i < chunks) want = bytes - at < NY_CHUNK_BYTES ? bytes - at : NY_CHUNK_BYTES;
        err = read_chunk(store, &key, (char *)data + (i < chunks ? at : 0), want, &got, &wrong);
        if (err == NY_END && i == chunks) return NY_OK;
        if (!err && (got != want || i == chunks)) wrong = "it has another size than it should";
        if (wrong) err = chunk_damaged(store, name, part, wrong);
    }
    return err;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int next_name(struct ny_store *store, char name[NY_NAME_MAX + 1]);

/* The name that follows `name` in any store of a set. */
static int next_of_all(struct ny_store *set, char name[NY_NAME_MAX + 1])
{
    char first[NY_NAME_MAX + 1] = "";
    int err = NY_OK;

    for (size_t k = 0; k < set->set->count; k++) {
        char next[NY_NAME_MAX + 1];
        struct ny_store *store;

        strcpy(next, name);
        err = ny_set_store(set, k, &store);
        if (!err) err = next_name(store, next);
        if (err && err != NY_END) return err;
        if (!err && (!first[0] || strcmp(next, first) < 0)) strcpy(first, next);
    }
    strcpy(name, first);
    return first[0] ? NY_OK : NY_END;
}

/* The name that follows `name`; NY_END after the last. */
static int next_name(struct ny_store *store, char name[NY_NAME_MAX + 1])
{
    struct ny_key key = {.bytes = strlen(name) + 1};
    char next[NY_KEY_MAX + 1] = "";
    struct ny_snapshot *view;
    int end, err, code;

    if (ny_store_set(store)) return next_of_all(store, name);
    if (store->in_memory) return ny_in_memory_next_name(store, name);
    err = ny_snapshot_begin(&view, store, store->results);
    if (err) return err;
    memcpy(key.data, name, key.bytes);
    key.data[key.bytes - 1] = 1; /* above every part of `name` */
    err = ny_snapshot_next(view, &key, &code);
    end = ny_snapshot_end(view, NY_OK);
    if (end) return end;
    if (code == MDB_NOTFOUND) return NY_END;
    if (code == ENOMEM) return ny_env_fail(store->ctx, store->results->path, "read", code);
    if (!err && !code) memcpy(next, key.data, key.bytes);
    if (!ny_name_valid(next))
        return ny_damaged(store->ctx, store->results->path, "the list of results is",
                          "it has another form than it should");
    strcpy(name, next);
    return NY_OK;
}

int ny_results_list(struct ny_store *store, ny_name_fn *each, void *user)
{
    char name[NY_NAME_MAX + 1] = "";
    int err;

    while ((err = next_name(store, name)) == NY_OK) {
        err = each(user, name);
        if (err) return err;
    }
    return err == NY_END ? NY_OK : err;
}

int ny_result_missing(struct ny_store *store, const char *name)
{
    return ny_fail(store->ctx, NY_EUSAGE,
                   "%s has no result '%s'; 'nystream list' shows those that it has", store->path,
                   name);
}

struct search {
    const char *name;
    bool there;
};

static int compare_name(void *user, const char *name)
{
    struct search *search = user;

    search->there = search->there || strcmp(search->name, name) == 0;
    return NY_OK;
}

/* Entries that one transaction removes. Until it ends, LMDB lists all pages that it frees, in 2 KiB
 * for each chunk of 1 MiB. */
enum { REMOVED_MAX = 2048 };

/* Removes some entries of a NAME, and its record before them: what is left is never taken for a
 * result. *count of them, beside the record. */
static int remove_some(struct ny_store *store, const char *name, size_t *count)
{
    const struct ny_key prefix = prefix_of(name, NULL);
    struct ny_batch *batch;
    int err = ny_batch_begin(&batch, store);

    if (err) return err;
    ny_batch_delete(batch, name, NY_RECORD_PART);
    if (!batch->failed)
        batch->failed =
            ny_write_delete_from(&batch->write, &prefix, has_prefix, &prefix, REMOVED_MAX, count);
    return ny_batch_commit(batch);
}

int ny_result_remove(struct ny_store *store, const char *name)
{
    struct search search = {.name = name};
    size_t count = REMOVED_MAX;
    int err = ny_results_list(store, compare_name, &search);

    if (!err && !search.there) err = ny_result_missing(store, name);
    while (!err && count == REMOVED_MAX)
        err = remove_some(store, name, &count);
    return err;
}
