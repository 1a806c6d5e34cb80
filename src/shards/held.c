/*
 * Locks the folder of a store in shards, and writes its file (shards/held.h), in which it notes how
 * far its shards have come (shards/shards.h).
 *
 * The lock is flock on a file of the folder, which the kernel drops with the process. Whoever takes
 * back the first import removes the lock with the rest, so that a lock counts only if its file is
 * still in place.
 *
 * Epochs are read while the lock of the file is held, so that a note never goes back behind a later
 * one. They are those of commits that are on the disk: a loss of power takes no commit back that
 * was noted.
 */
#include "shards/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/draft.h"

enum { TRIES = 100 };
static const char lock_name[] = "shards.lock", new_name[] = "shards.new" /* of 1.1.0 */,
                  name[] = "shards";

static int entry_path(struct ny_context *ctx, const char *path, const char *entry, char *out)
{
    return snprintf(out, PATH_MAX, "%s/%s", path, entry) < PATH_MAX ? NY_OK
                                                                    : ny_fail_long_path(ctx, path);
}

/* ---- the folder ---------------------------------------------------------------------------- */

/* Tells whether an entry of a folder is one that a store in shards has. */
static bool is_ours(const char *entry)
{
    static const char *const names[] = {".", "..", lock_name, new_name, name};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], entry) == 0) return true;
    return strncmp(entry, "shard-", 6) == 0 || strncmp(entry, ".nystream-", 10) == 0;
}

/* Refuses a folder that holds other things, which would be taken for parts of the store. */
static int check_vacant(struct ny_context *ctx, const char *path)
{
    char points[PATH_MAX];

    snprintf(points, sizeof(points), "%s/points", path);
    if (access(points, F_OK) == 0)
        return ny_fail(ctx, NY_EUSAGE, "%s is a store without shards; choose another name", path);
    return ny_check_vacant(ctx, path, is_ours);
}

/* ---- the lock ------------------------------------------------------------------------------ */

static int wait_for(struct ny_shards_held *held)
{
    int err = NY_OK;

    while (!err && flock(held->fd, LOCK_EX)) {
        if (errno != EINTR) return ny_fail_errno(held->ctx, "lock", held->lock);
        err = ny_check_interrupt(held->ctx);
    }
    return err;
}

static bool in_place(const struct ny_shards_held *held)
{
    struct stat mine, named;

    return fstat(held->fd, &mine) == 0 && lstat(held->lock, &named) == 0 &&
           mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

/* Makes the folder and opens the lock in it once. NY_END: it was removed meanwhile, or its holder
 * has removed the lock. */
static int try_to_hold(struct ny_shards_held *held, bool *made)
{
    int err;

    if (mkdir(held->path, 0777) == 0)
        *made = true;
    else if (errno != EEXIST)
        return ny_fail_errno(held->ctx, "create", held->path);
    err = *made || ny_shards_at(held->path) ? NY_OK : check_vacant(held->ctx, held->path);
    if (err) return err;
    held->fd = open(held->lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (held->fd < 0 && errno == ENOENT) return NY_END;
    if (held->fd < 0) return ny_fail_errno(held->ctx, "open", held->lock);
    ny_share(held->lock);
    err = wait_for(held);
    if (!err && !in_place(held)) err = NY_END;
    if (err) ny_shards_let_go(held);
    return err;
}

int ny_shards_hold(struct ny_shards_held *held, struct ny_context *ctx, const char *path,
                   bool *made)
{
    int err;

    *held = (struct ny_shards_held){.ctx = ctx, .path = path, .fd = -1};
    err = entry_path(ctx, path, lock_name, held->lock);
    if (err) return err;
    for (int try = 0; try < TRIES; try++) {
        err = try_to_hold(held, made);
        if (err != NY_END) return err;
    }
    return ny_fail_changed(ctx, path);
}

void ny_shards_let_go(struct ny_shards_held *held)
{
    if (held->fd < 0) return;
    flock(held->fd, LOCK_UN); /* a forked child may hold a copy of the descriptor */
    close(held->fd);
    held->fd = -1;
}

/* ---- the file ------------------------------------------------------------------------------ */

int ny_shards_write(const struct ny_shards_held *held, const struct ny_shards *shards)
{
    struct ny_context *ctx = held->ctx;
    struct ny_draft *draft = NULL;
    char file[PATH_MAX], *text = NULL;
    size_t bytes = 0;
    int fd, err = entry_path(ctx, held->path, name, file);

    if (!err) err = ny_shards_print(shards, &text, &bytes);
    if (!err) err = ny_draft_open(&draft, ctx, file, &fd);
    for (size_t at = 0; !err && at < bytes;) {
        ssize_t put = write(fd, text + at, bytes - at);

        if (put < 0 && errno != EINTR) err = ny_fail_errno(ctx, "write", file);
        if (put > 0) at += (size_t)put;
    }
    ny_free(ctx, text);
    if (!err) {
        err = ny_draft_commit(draft);
        if (!err) ny_share(file);
        return err;
    }
    ny_draft_abort(draft);
    return err;
}

void ny_shards_remove(const struct ny_shards_held *held, bool made)
{
    char file[PATH_MAX];

    if (snprintf(file, sizeof(file), "%s/%s", held->path, name) < PATH_MAX) unlink(file);
    unlink(held->lock);
    if (made) rmdir(held->path);
}

/* ---- how far shards have come -------------------------------------------------------------- */

/* Takes into the list how far shard k has come, if it is there. */
static int note_shard(struct ny_shards *shards, unsigned k, const struct ny_shards_noted *noted)
{
    struct ny_shard *shard = &shards->shard[k];
    struct ny_store *store;
    int err = ny_shards_store(&store, shards, k);

    ny_store_close(store);
    if (err || !shard->there) return err;
    shard->listed = true;
    shard->listed_rows = noted->cut && noted->rows < shard->rows ? noted->rows : shard->rows;
    shard->noted = shard->now;
    return NY_OK;
}

int ny_shards_note(struct ny_context *ctx, const char *path, struct ny_shards_noted noted)
{
    struct ny_shards_held held;
    struct ny_shards *shards = NULL;
    bool made = false;
    int err = ny_shards_hold(&held, ctx, path, &made);

    if (!err) err = ny_shards_load(&shards, ctx, path);
    if (!err) shards->accepts = noted.accepts;
    if (!err && (!noted.end || noted.end > shards->count)) noted.end = shards->count;
    for (unsigned k = noted.first; !err && k < noted.end; k++)
        err = note_shard(shards, k, &noted);
    if (!err) err = ny_shards_write(&held, shards);
    ny_shards_let_go(&held);
    ny_shards_free(shards);
    if (!err || noted.cut) return err;
    ny_log(ctx, NY_LOG_WARNING, "%s", ny_context_message(ctx));
    ny_error_clear(ctx);
    return NY_OK;
}

bool ny_shards_within(struct ny_context *ctx, const char *path, struct ny_shard_home *home)
{
    static const char digits[] = "0123456789";
    const size_t tail = strlen("shard-00000");
    size_t length = strlen(path);
    const char *own;
    struct ny_shards *shards;

    while (length > 0 && path[length - 1] == '/')
        length--;
    if (length < tail || length >= PATH_MAX) return false;
    own = path + length - tail;
    if ((own > path && own[-1] != '/') || strncmp(own, "shard-", 6) || strspn(own + 6, digits) != 5)
        return false;
    snprintf(home->folder, PATH_MAX, "%.*s", own > path ? (int)(own - path) : 1,
             own > path ? path : ".");
    if (!ny_shards_at(home->folder) || ny_shards_load(&shards, ctx, home->folder)) return false;
    home->shard = (unsigned)strtoul(own + 6, NULL, 10);
    home->count = shards->count;
    ny_shards_free(shards);
    return home->shard < home->count;
}
