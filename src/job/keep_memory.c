/*
 * A keep in memory: a list of chunks, each with the name of its part. A record is the chunk of a
 * part without bytes; it is copied, since a job goes on to change its own.
 *
 * A batch is a list as well, of what it puts and drops, in order. All memory that a commit needs is
 * taken before, so that it only moves chunks from one list to the other and cannot fail halfway.
 * Arrays are put in batches of one chunk: an old one is freed before the new one is there.
 */
#include "job/keep_memory.h"

#include <string.h>

#include "base/memory.h"
#include "base/mutex.h"
#include "job/record.h"

struct chunk {
    struct chunk *next;
    struct ny_part part;
    uint64_t index; /* or `dropped`: the whole part is */
    json_t *record; /* NULL: it is none */
    size_t bytes;
    char data[];
};

static const uint64_t dropped = UINT64_MAX;

struct memory {
    struct ny_mutex mutex;
    struct chunk *chunks;
};

/* Behind the struct ny_batch of this keep. */
struct batch {
    const struct ny_keep *keep;
    struct chunk *chunks, **end;
    int failed;
};

static void chunk_free(struct ny_context *ctx, struct chunk *chunk)
{
    json_decref(chunk->record);
    ny_free(ctx, chunk);
}

/* Takes the first chunk from a list. */
static struct chunk *pop(struct chunk **list)
{
    struct chunk *chunk = *list;

    if (chunk) *list = chunk->next;
    return chunk;
}

static int check_part(const struct ny_keep *keep, const char *part)
{
    if (part[0] && strlen(part) < NY_PART_BYTES) return NY_OK;
    return ny_fail(keep->ctx, NY_EINTERNAL, "'%.80s' cannot name a part of a result", part);
}

/* ---- batches ------------------------------------------------------------------------------- */

static size_t batch_bytes(const struct ny_keep *keep)
{
    return ny_batch_bytes_max(ny_memory_limit(keep->ctx));
}

static int begin(const struct ny_keep *keep, struct ny_batch **out)
{
    struct batch *batch = ny_calloc(keep->ctx, NY_MEM_STORE, 1, sizeof(*batch));

    *out = (struct ny_batch *)batch;
    if (!batch) return NY_EBUDGET;
    *batch = (struct batch){.keep = keep, .end = &batch->chunks};
    return NY_OK;
}

/* Adds a chunk to a batch, unless that has failed; NULL: it has. */
static struct chunk *add(struct batch *batch, const char *part, uint64_t index, size_t bytes)
{
    struct ny_context *ctx = batch->keep->ctx;
    struct chunk *chunk = NULL;

    if (!batch->failed) batch->failed = check_part(batch->keep, part);
    if (!batch->failed && bytes > NY_CHUNK_BYTES)
        batch->failed = ny_fail(ctx, NY_EINTERNAL, "a chunk of %zu bytes is too large", bytes);
    if (batch->failed) return NULL;
    chunk = ny_alloc(ctx, NY_MEM_STORE, sizeof(*chunk) + bytes);
    if (!chunk) {
        batch->failed = NY_EBUDGET;
        return NULL;
    }
    *chunk = (struct chunk){.part = ny_part_of(part, 0), .index = index, .bytes = bytes};
    *batch->end = chunk;
    batch->end = &chunk->next;
    return chunk;
}

static int put(const struct ny_keep *keep, struct ny_batch *to, const char *part, uint64_t index,
               const void *data, size_t bytes)
{
    struct batch *batch = (struct batch *)to;
    struct chunk *chunk = add(batch, part, index, bytes);

    (void)keep;
    if (chunk && bytes) memcpy(chunk->data, data, bytes);
    return batch->failed;
}

static int drop(const struct ny_keep *keep, struct ny_batch *from, const char *part)
{
    (void)keep;
    (void)add((struct batch *)from, part, dropped, 0);
    return ((struct batch *)from)->failed;
}

static int save(const struct ny_keep *keep, struct ny_batch *to, const json_t *record)
{
    struct batch *batch = (struct batch *)to;
    bool updates = json_is_object(json_object_get(record, "update"));
    struct chunk *chunk = add(batch, updates ? "update" : "job", 0, 0);

    if (!chunk) return batch->failed;
    chunk->record = json_deep_copy(record);
    batch->failed = chunk->record ? ny_fields_check(keep->ctx) : ny_fields_no_memory(keep->ctx);
    return batch->failed;
}

/* Removes the chunk with this part and index, or all of the part. */
static void discard(const struct ny_keep *keep, const char *part, uint64_t index)
{
    struct chunk **at = &((struct memory *)keep->at)->chunks;

    while (*at) {
        bool same = index == dropped || (*at)->index == index;

        if (same && strcmp((*at)->part.name, part) == 0)
            chunk_free(keep->ctx, pop(at));
        else
            at = &(*at)->next;
    }
}

static void cancel(struct ny_batch *ended)
{
    struct batch *batch = (struct batch *)ended;

    if (!batch) return;
    while (batch->chunks)
        chunk_free(batch->keep->ctx, pop(&batch->chunks));
    ny_free(batch->keep->ctx, batch);
}

static int commit(struct ny_batch *ended)
{
    struct batch *batch = (struct batch *)ended;
    struct memory *memory = batch->keep->at;
    int err = batch->failed;

    ny_mutex_lock(&memory->mutex);
    while (!err && batch->chunks) {
        struct chunk *chunk = pop(&batch->chunks);

        discard(batch->keep, chunk->part.name, chunk->index);
        chunk->next = memory->chunks;
        if (chunk->index == dropped)
            chunk_free(batch->keep->ctx, chunk);
        else
            memory->chunks = chunk;
    }
    ny_mutex_unlock(&memory->mutex);
    cancel(ended);
    return err;
}

static int put_pieces(const struct ny_keep *keep, const char *part, const struct ny_pieces *pieces)
{
    size_t at = 0;
    int err;

    do {
        size_t left = pieces->bytes - at, count = left < NY_CHUNK_BYTES ? left : NY_CHUNK_BYTES;
        struct ny_batch *batch;

        err = begin(keep, &batch);
        if (err) break;
        if (!at) (void)drop(keep, batch, part);
        (void)put(keep, batch, part, at / NY_CHUNK_BYTES, pieces->piece(pieces->arg, at, count),
                  count);
        err = commit(batch);
        at += count;
    } while (!err && at < pieces->bytes);
    return err;
}

/* ---- reading ------------------------------------------------------------------------------- */

static const struct chunk *find(const struct memory *memory, const char *part, uint64_t index)
{
    const struct chunk *chunk = memory->chunks;

    while (chunk && (chunk->index != index || strcmp(chunk->part.name, part) != 0))
        chunk = chunk->next;
    return chunk;
}

/* Copies a chunk, if there is room for it. NY_END: there is none; no error is set. */
static int copy(struct memory *memory, const char *part, uint64_t index, struct ny_chunk *out)
{
    const struct chunk *found;

    ny_mutex_lock(&memory->mutex);
    found = find(memory, part, index);
    out->bytes = found ? found->bytes : 0;
    if (out->bytes && out->bytes <= out->capacity) memcpy(out->data, found->data, out->bytes);
    ny_mutex_unlock(&memory->mutex);
    return found ? NY_OK : NY_END;
}

static int chunk(const struct ny_keep *keep, const char *part, uint64_t index, struct ny_chunk *out)
{
    int err = check_part(keep, part);

    out->bytes = 0;
    if (!err) err = copy(keep->at, part, index, out);
    if (err || out->bytes <= out->capacity) return err;
    return ny_fail(keep->ctx, NY_EINTERNAL, "a chunk of %s of '%s' has %zu bytes, room is for %zu",
                   part, keep->name, out->bytes, out->capacity);
}

static int get(const struct ny_keep *keep, const char *part, void *data, size_t bytes)
{
    uint64_t last = bytes ? (bytes - 1) / NY_CHUNK_BYTES : 0;
    int err = check_part(keep, part);

    for (uint64_t i = 0; !err && i <= last + 1; i++) { /* and that there is none beyond */
        size_t at = i <= last ? (size_t)i * NY_CHUNK_BYTES : bytes, left = bytes - at;
        struct ny_chunk piece = {.data = (char *)data + at,
                                 .capacity = left < NY_CHUNK_BYTES ? left : NY_CHUNK_BYTES};
        bool there = copy(keep->at, part, i, &piece) == NY_OK;

        if (there != (i <= last) || piece.bytes != piece.capacity)
            err = ny_fail(keep->ctx, NY_ESTORE,
                          "chunk %llu of %s of result '%s' in %s is damaged: it has another size "
                          "than it should",
                          (unsigned long long)i, part, keep->name, keep->place);
    }
    return err;
}

static uint64_t bytes(const struct ny_keep *keep)
{
    const struct chunk *chunk = ((const struct memory *)keep->at)->chunks;
    uint64_t sum = 0;

    for (; chunk; chunk = chunk->next)
        sum += chunk->bytes;
    return sum;
}

static uint64_t room(const struct ny_keep *keep)
{
    (void)keep;
    return UINT64_MAX;
}

/* ---- making it ------------------------------------------------------------------------------ */

int ny_memory_keep_new(struct ny_keep *keep, struct ny_context *ctx, const char *name)
{
    static const struct ny_keep_ops ops = {batch_bytes, begin, put,        drop, save,  commit,
                                           cancel,      chunk, put_pieces, get,  bytes, room};
    struct memory *memory = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*memory));

    *keep = (struct ny_keep){&ops, ctx, name, "memory", memory};
    if (!memory) return NY_EBUDGET;
    ny_mutex_init(&memory->mutex);
    return NY_OK;
}

void ny_memory_keep_free(struct ny_keep *keep)
{
    struct memory *memory = keep->at;

    if (!memory) return;
    while (memory->chunks)
        chunk_free(keep->ctx, pop(&memory->chunks));
    ny_mutex_release(&memory->mutex);
    ny_free(keep->ctx, memory);
    keep->at = NULL;
}

const json_t *ny_memory_keep_record(const struct ny_keep *keep)
{
    const struct chunk *found = find(keep->at, "job", 0);

    return found ? found->record : NULL;
}
