/*
 * A keep in memory: a list of chunks, each with the names of its result and its part. Where results
 * have a folder, the values are in a temporary file there, and the list alone is in memory.
 *
 * A batch is a list as well, of what it puts and drops, in order. All memory that a commit needs is
 * taken before, so that it only moves chunks from one list to the other and cannot fail halfway.
 * Arrays are put in batches of one chunk: an old one is freed before the new one is there.
 */
#include "job/keep_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/memory.h"
#include "base/mutex.h"
#include "base/scratch.h"

enum { NAME_BYTES = 65, PART_BYTES = 40 };

struct chunk {
    struct chunk *next;
    char name[NAME_BYTES], part[PART_BYTES];
    uint64_t index; /* or `dropped`: the whole part is; one without a name: all parts are */
    size_t bytes;
    uint64_t at; /* where the file has them */
    char data[]; /* or, if there is no file, themselves */
};

static const uint64_t dropped = UINT64_MAX;

struct ny_memory_results {
    struct ny_context *ctx;
    const char *place;
    char *folder;
    struct ny_mutex mutex;
    struct chunk *chunks;
    uint64_t commits;
    bool filed;             /* values are in the file: */
    struct ny_scratch file; /* opened for the first of them */
    uint64_t end;
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
    return NY_BUG(keep->ctx);
}

/* ---- batches ------------------------------------------------------------------------------- */

static int begin(const struct ny_keep *keep, struct ny_batch **out)
{
    struct batch *batch = ny_calloc(keep->ctx, NY_MEM_STORE, 1, sizeof(*batch));

    *out = (struct ny_batch *)batch;
    if (!batch) return NY_EBUDGET;
    *batch = (struct batch){.keep = *keep, .end = &batch->chunks};
    return NY_OK;
}

/* Writes the values of a chunk behind those that the file has. */
static int file_values(struct ny_memory_results *all, struct chunk *chunk, const void *data)
{
    int err = all->file.fd < 0 ? ny_scratch_open(&all->file) : NY_OK;

    chunk->at = all->end;
    if (!err) err = ny_scratch_put(&all->file, data, chunk->bytes, chunk->at);
    if (!err) all->end += chunk->bytes;
    return err;
}

/* Adds a chunk to a batch, unless that has failed; NULL: it has. */
static struct chunk *add(struct batch *batch, const char *part, uint64_t index, size_t bytes)
{
    const struct ny_memory_results *all = batch->keep.at;
    struct ny_context *ctx = batch->keep.ctx;
    struct chunk *chunk = NULL;

    if (!batch->failed && part) batch->failed = check_part(&batch->keep, part);
    if (!batch->failed && bytes > NY_CHUNK_BYTES) batch->failed = NY_BUG(ctx);
    if (batch->failed) return NULL;
    chunk = ny_alloc(ctx, NY_MEM_STORE, sizeof(*chunk) + (all->filed ? 0 : bytes));
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
    struct ny_memory_results *all = keep->at;

    if (!chunk || !bytes) return batch->failed;
    if (all->filed)
        batch->failed = file_values(all, chunk, data);
    else
        memcpy(chunk->data, data, bytes);
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

/* Copies a chunk, if there is room for it. NY_END: there is none; no error is set. NY_EIO: the file
 * cannot be read. */
static int copy(const struct ny_keep *keep, const char *part, uint64_t index, struct ny_chunk *out)
{
    struct ny_memory_results *all = keep->at;
    const struct chunk *found;
    bool fits;
    int err;

    ny_mutex_lock(&all->mutex);
    found = find(keep, part, index);
    err = found ? NY_OK : NY_END;
    out->bytes = found ? found->bytes : 0;
    fits = out->bytes && out->bytes <= out->capacity;
    if (fits && all->filed)
        err = ny_scratch_get(&all->file, out->data, out->bytes, found->at);
    else if (fits)
        memcpy(out->data, found->data, out->bytes);
    ny_mutex_unlock(&all->mutex);
    return err;
}

static int chunk(const struct ny_keep *keep, const char *part, uint64_t index, struct ny_chunk *out)
{
    int err = check_part(keep, part);

    out->bytes = 0;
    if (!err) err = copy(keep, part, index, out);
    if (err || out->bytes <= out->capacity) return err;
    return NY_BUG(keep->ctx);
}

static int get(const struct ny_keep *keep, const char *part, void *data, size_t bytes)
{
    uint64_t last = bytes ? (bytes - 1) / NY_CHUNK_BYTES : 0;
    int err = check_part(keep, part);

    for (uint64_t i = 0; !err && i <= last + 1; i++) { /* and that there is none beyond */
        size_t at = i <= last ? (size_t)i * NY_CHUNK_BYTES : bytes, left = bytes - at;
        struct ny_chunk piece = {.data = (char *)data + at,
                                 .capacity = left < NY_CHUNK_BYTES ? left : NY_CHUNK_BYTES};
        int found = copy(keep, part, i, &piece);

        if (found != NY_OK && found != NY_END)
            err = found;
        else if ((found == NY_OK) != (i <= last) || piece.bytes != piece.capacity)
            err = ny_fail_damaged(keep->ctx, keep->name, keep->place);
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
    const struct ny_memory_results *all = keep->at;
    struct statvfs disk;

    if (!all->filed || statvfs(all->folder, &disk) || !disk.f_blocks) return UINT64_MAX;
    return (uint64_t)disk.f_bavail * disk.f_frsize;
}

/* ---- images --------------------------------------------------------------------------------- */

/* Stands before the values of a chunk. */
struct entry {
    char name[NAME_BYTES + 7], part[PART_BYTES];
    uint64_t index, bytes;
};

int ny_memory_image(struct ny_memory_results *all, void *image, size_t *bytes)
{
    char *at = image;
    int err = NY_OK;

    *bytes = 0;
    for (const struct chunk *c = all->chunks; !err && c; c = c->next) {
        struct entry entry = {.index = c->index, .bytes = c->bytes};
        struct ny_chunk room = {at + *bytes + sizeof(entry), c->bytes, 0};
        const struct ny_keep keep = ny_memory_keep(all, c->name);

        if (image) {
            memcpy(entry.name, c->name, NAME_BYTES);
            memcpy(entry.part, c->part, PART_BYTES);
            memcpy(at + *bytes, &entry, sizeof(entry));
            err = copy(&keep, c->part, c->index, &room);
        }
        *bytes += sizeof(entry) + c->bytes;
    }
    return err;
}

static int load_entry(struct ny_memory_results *all, const struct entry *entry, const void *values)
{
    struct ny_keep keep = ny_memory_keep(all, entry->name);
    struct ny_batch *batch;
    int err = begin(&keep, &batch);

    if (err) return err;
    (void)put(&keep, batch, entry->part, entry->index, values, (size_t)entry->bytes);
    return commit(batch);
}

int ny_memory_load(struct ny_memory_results *all, const void *image, size_t bytes)
{
    const char *at = image;
    int err = NY_OK;

    while (!err && bytes) {
        struct entry entry = {.bytes = UINT64_MAX};

        if (bytes >= sizeof(entry)) memcpy(&entry, at, sizeof(entry));
        if (entry.bytes > bytes - sizeof(entry) || strnlen(entry.name, NAME_BYTES) == NAME_BYTES ||
            strnlen(entry.part, PART_BYTES) == PART_BYTES)
            return ny_fail(all->ctx, NY_ESTORE, "these bytes are no results, or damaged");
        err = load_entry(all, &entry, at + sizeof(entry));
        at += sizeof(entry) + entry.bytes;
        bytes -= sizeof(entry) + (size_t)entry.bytes;
    }
    return err;
}

/* ---- making it ------------------------------------------------------------------------------ */

int ny_memory_results_new(struct ny_memory_results **out, struct ny_context *ctx, const char *place,
                          const char *folder)
{
    const char *set = getenv("TMPDIR");
    struct ny_memory_results *all = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*all));

    *out = all;
    if (!all) return NY_EBUDGET;
    all->ctx = ctx;
    all->place = place;
    all->folder = ny_strdup(ctx, folder ? folder : set && *set ? set : "/tmp");
    all->filed = folder;
    all->file = (struct ny_scratch){ctx, all->folder, "results", -1};
    ny_mutex_init(&all->mutex);
    return all->folder ? NY_OK : NY_EBUDGET;
}

void ny_memory_results_free(struct ny_memory_results *all)
{
    if (!all) return;
    while (all->chunks)
        ny_free(all->ctx, pop(&all->chunks));
    ny_scratch_close(&all->file);
    ny_free(all->ctx, all->folder);
    ny_mutex_release(&all->mutex);
    ny_free(all->ctx, all);
}

struct ny_keep ny_memory_keep(struct ny_memory_results *all, const char *name)
{
    static const struct ny_keep_ops ops = {begin, put,        drop, commit, cancel,
                                           chunk, put_pieces, get,  bytes,  room};

    return (struct ny_keep){.ops = &ops,
                            .ctx = all->ctx,
                            .name = name,
                            .place = all->place,
                            .folder = all->folder,
                            .at = all};
}

const char *ny_memory_folder(const struct ny_memory_results *all)
{
    return all->folder;
}

bool ny_memory_is_filed(const struct ny_memory_results *all)
{
    return all->filed;
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
