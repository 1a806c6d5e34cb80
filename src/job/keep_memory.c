/*
 * A keep in memory: a list of chunks, each with the names of its result and its part.
 *
 * A batch is a list as well, of what it puts and drops, in order. All memory that a commit needs is
 * taken before, so that it only moves chunks from one list to the other and cannot fail halfway.
 * Arrays are put in batches of one chunk: an old one is freed before the new one is there.
 */
#include "job/keep_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/mutex.h"

enum { NAME_BYTES = 65, PART_BYTES = 40 };

struct chunk {
    struct chunk *next;
    char name[NAME_BYTES], part[PART_BYTES];
    uint64_t index; /* or `dropped`: the whole part is; one without a name: all parts are */
    size_t bytes;
    char data[];
};

static const uint64_t dropped = UINT64_MAX;

struct ny_memory_results {
    struct ny_context *ctx;
    const char *place, *folder;
    struct ny_mutex mutex;
    struct chunk *chunks;
    uint64_t commits;
};

/* Behind the struct ny_batch of this keep. */
struct batch {
    struct ny_keep keep;
    struct chunk *chunks, **end;
    int failed;
};

/* Takes the first chunk from a list. */
static struct chunk *pop(struct chunk **list)
{
    struct chunk *chunk = *list;

    if (chunk) *list = chunk->next;
    return chunk;
}

static int check_part(const struct ny_keep *keep, const char *part)
{
    if (part[0] && strlen(part) < PART_BYTES) return NY_OK;
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
    *batch = (struct batch){.keep = *keep, .end = &batch->chunks};
    return NY_OK;
}

/* Adds a chunk to a batch, unless that has failed; NULL: it has. */
static struct chunk *add(struct batch *batch, const char *part, uint64_t index, size_t bytes)
{
    struct ny_context *ctx = batch->keep.ctx;
    struct chunk *chunk = NULL;

    if (!batch->failed && part) batch->failed = check_part(&batch->keep, part);
    if (!batch->failed && bytes > NY_CHUNK_BYTES)
        batch->failed = ny_fail(ctx, NY_EINTERNAL, "a chunk of %zu bytes is too large", bytes);
    if (batch->failed) return NULL;
    chunk = ny_alloc(ctx, NY_MEM_STORE, sizeof(*chunk) + bytes);
    if (!chunk) {
        batch->failed = NY_EBUDGET;
        return NULL;
    }
    *chunk = (struct chunk){.index = index, .bytes = bytes};
    memcpy(chunk->name, batch->keep.name, strlen(batch->keep.name)); /* the rest is 0 */
    if (part) memcpy(chunk->part, part, strlen(part));
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

/* Tells whether a chunk is the one that another replaces, or is of what that drops. */
static bool is_replaced(const struct chunk *chunk, const struct chunk *by)
{
    if (strcmp(chunk->name, by->name) != 0) return false;
    if (by->index == dropped && !by->part[0]) return true;
    return strcmp(chunk->part, by->part) == 0 &&
           (by->index == dropped || by->index == chunk->index);
}

static void discard(struct ny_memory_results *all, const struct chunk *by)
{
    struct chunk **at = &all->chunks;

    while (*at)
        if (is_replaced(*at, by))
            ny_free(all->ctx, pop(at));
        else
            at = &(*at)->next;
}

static void cancel(struct ny_batch *ended)
{
    struct batch *batch = (struct batch *)ended;

    if (!batch) return;
    while (batch->chunks)
        ny_free(batch->keep.ctx, pop(&batch->chunks));
    ny_free(batch->keep.ctx, batch);
}

static int commit(struct ny_batch *ended)
{
    struct batch *batch = (struct batch *)ended;
    struct ny_memory_results *all = batch->keep.at;
    int err = batch->failed;

    ny_mutex_lock(&all->mutex);
    all->commits += !err;
    while (!err && batch->chunks) {
        struct chunk *chunk = pop(&batch->chunks);

        discard(all, chunk);
        chunk->next = all->chunks;
        if (chunk->index == dropped)
            ny_free(all->ctx, chunk);
        else
            all->chunks = chunk;
    }
    ny_mutex_unlock(&all->mutex);
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

static const struct chunk *find(const struct ny_keep *keep, const char *part, uint64_t index)
{
    const struct chunk *chunk = ((const struct ny_memory_results *)keep->at)->chunks;

    while (chunk && (chunk->index != index || strcmp(chunk->part, part) != 0 ||
                     strcmp(chunk->name, keep->name) != 0))
        chunk = chunk->next;
    return chunk;
}

/* Copies a chunk, if there is room for it. NY_END: there is none; no error is set. */
static int copy(const struct ny_keep *keep, const char *part, uint64_t index, struct ny_chunk *out)
{
    struct ny_memory_results *all = keep->at;
    const struct chunk *found;

    ny_mutex_lock(&all->mutex);
    found = find(keep, part, index);
    out->bytes = found ? found->bytes : 0;
    if (out->bytes && out->bytes <= out->capacity) memcpy(out->data, found->data, out->bytes);
    ny_mutex_unlock(&all->mutex);
    return found ? NY_OK : NY_END;
}

static int chunk(const struct ny_keep *keep, const char *part, uint64_t index, struct ny_chunk *out)
{
    int err = check_part(keep, part);

    out->bytes = 0;
    if (!err) err = copy(keep, part, index, out);
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
        bool there = copy(keep, part, i, &piece) == NY_OK;

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
    const struct chunk *chunk = ((const struct ny_memory_results *)keep->at)->chunks;
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

int ny_memory_results_new(struct ny_memory_results **out, struct ny_context *ctx, const char *place)
{
    const char *set = getenv("TMPDIR");
    struct ny_memory_results *all = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*all));

    *out = all;
    if (!all) return NY_EBUDGET;
    all->ctx = ctx;
    all->place = place;
    all->folder = set && *set ? set : "/tmp";
    ny_mutex_init(&all->mutex);
    return NY_OK;
}

void ny_memory_results_free(struct ny_memory_results *all)
{
    if (!all) return;
    while (all->chunks)
        ny_free(all->ctx, pop(&all->chunks));
    ny_mutex_release(&all->mutex);
    ny_free(all->ctx, all);
}

struct ny_keep ny_memory_keep(struct ny_memory_results *all, const char *name)
{
    static const struct ny_keep_ops ops = {batch_bytes, begin,      put, drop,  commit, cancel,
                                           chunk,       put_pieces, get, bytes, room};

    return (struct ny_keep){&ops, all->ctx, name, all->place, all->folder, all};
}

uint64_t ny_memory_commits(const struct ny_memory_results *all)
{
    return all->commits;
}

/* The names are few, and each is looked for from the beginning. */
bool ny_memory_next(const struct ny_memory_results *all, const char *before, const char **name)
{
    *name = NULL;
    for (const struct chunk *chunk = all->chunks; chunk; chunk = chunk->next)
        if (strcmp(chunk->name, before) > 0 && (!*name || strcmp(chunk->name, *name) < 0))
            *name = chunk->name;
    return *name != NULL;
}
