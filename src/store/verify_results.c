/*
 * Reads every chunk of results/, for ny_store_verify(). Threads take chunks in turn, in the order
 * of their keys; what they find is told at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "base/thread.h"
#include "store/verify_private.h"

/* ---- results ------------------------------------------------------------------------------- */

/* The chunk that is next in turn; NY_END after the last, and where the list of chunks cannot be
 * read on, which is noted. With the lock held. */
static int take_key(struct ny_verifying *v, struct ny_key *key)
{
    struct ny_snapshot *view;
    int end, err, code;

    if (v->no_more) return NY_END;
    err = ny_snapshot_begin(&view, v->store, v->store->results);
    if (err) return err;
    err = ny_snapshot_next(view, &v->next_key, &code);
    end = ny_snapshot_end(view, NY_OK);
    if (end) return end;
    if (!err && code == ENOMEM)
        return ny_env_fail(v->store->ctx, v->store->results->path, "read", code);
    if (err)
        v->broken = "the disk cannot read it";
    else if (code && code != MDB_NOTFOUND)
        v->broken = mdb_strerror(code);
    v->no_more = err || code;
    if (v->no_more) return NY_END;
    *key = v->next_key;
    v->no_more = v->next_key.bytes == NY_KEY_MAX;
    if (!v->no_more) v->next_key.data[v->next_key.bytes++] = 0; /* its successor */
    return NY_OK;
}

/* One that was removed meanwhile is not damaged. */
static int verify_chunk(struct ny_verifying *v, const struct ny_key *key, char *room, size_t *bytes)
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
    end = ny_snapshot_end(view, NY_OK);
    *bytes = want.frame.raw_bytes;
    if (end || err != NY_ESTORE) return end;
    return ny_verify_note(v,
                          (struct ny_finding){.kind = NY_KIND_CHUNK, .key = *key, .wrong = wrong});
}

/* Reads chunks in turn, until there are none. A worker that fails ends the work of the others,
 * too. */
static int read_chunks(void *arg, unsigned worker)
{
    struct ny_verifying *v = arg;
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
    const struct ny_key *x = &((const struct ny_finding *)a)->key;
    const struct ny_key *y = &((const struct ny_finding *)b)->key;
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
static int tell_chunk(struct ny_verifying *v, const struct ny_finding *finding)
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
    return ny_verify_tell(
        v,
        (struct ny_damage){
            .kind = NY_DAMAGED_RESULT, .name = text, .part = part, .chunk = index, .what = what});
}

int ny_verify_results(struct ny_verifying *v, uint64_t entries)
{
    struct ny_context *ctx = v->store->ctx;
    char list[PATH_MAX + 48];
    int err;

    v->next_key = ny_memory_key(); /* after the pulse */
    ny_meter_start(&v->meter, ctx, "verify results", 0, entries);
    err = ny_parallel(ctx, ny_verify_workers(v, NY_CHUNK_BYTES), read_chunks, v);
    if (!err) ny_meter_finish(&v->meter);
    if (!err && v->findings) qsort(v->finding, v->findings, sizeof(*v->finding), by_key);
    for (size_t i = 0; !err && i < v->findings; i++)
        err = tell_chunk(v, &v->finding[i]);
    if (err || !v->broken) return err;
    snprintf(list, sizeof(list), "%s: the list of chunks cannot be read to its end",
             v->store->results->path);
    return ny_verify_tell_wrong(v, NY_DAMAGED_OTHER, list, v->broken);
}
