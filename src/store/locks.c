/*
 * Locks between processes: flock on files of our own in STORE/locks, because LMDB's writer mutex
 * can only be waited for, and because its lock file must not be opened by anybody else (closing it
 * drops LMDB's locks). Inside: who holds it. The kernel drops them with the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"
#include "store/store_private.h"

enum { HOLDER_BYTES = 160, HOST_MAX = 64, VERB_MAX = 16, TRIES = 100 };

/* A process that only looks at a lock holds it, shared, for an instant, so a lock counts as held
 * only if it stays so. A lock that is marked as brief is waited for, for three seconds. */
enum { GLANCES = 10, BRIEF_GLANCES = 1000, GLANCE_NS = 3000000 };
static const char brief[] = "for a moment";

/* "4711 nystream import on node-7": the process, the program, the first argument where it looks
 * like a verb, and the machine. */
static void who_am_i(char *text, size_t bytes)
{
    char line[256] = {0}, host[HOST_MAX] = "?";
    size_t length = 0, first;
    size_t got = ny_program_words(line, sizeof(line) - 1);
    const char *verb = "";

    first = strlen(line) + 1;
    if (got > first) length = strspn(line + first, "abcdefghijklmnopqrstuvwxyz");
    if (length > 0 && length <= VERB_MAX && line[first + length] == '\0') verb = line + first;
    gethostname(host, sizeof(host) - 1);
    snprintf(text, bytes, "%ld %.40s%s%s on %s", (long)getpid(), ny_program_name(),
             verb[0] ? " " : "", verb, host);
}

/* Writes into the lock file who holds it, for example "4711 nystream import on node-7", or that
 * it is brief. */
static void write_holder(const struct ny_lock *lock)
{
    char text[HOLDER_BYTES];
    int fd = lock->fd;

    if (lock->brief)
        snprintf(text, sizeof(text), "%s", brief);
    else
        who_am_i(text, sizeof(text));
    /* The text is for the other's message only: the lock holds even if the disk is full. */
    if (ftruncate(fd, 0) || pwrite(fd, text, strlen(text), 0) < 0) return;
}

/* Reads who holds a lock. Anybody may have written the file, so that control bytes are replaced
 * before the text gets into a message. */
static void read_holder(int fd, char *text, size_t bytes)
{
    ssize_t got = pread(fd, text, bytes - 1, 0);

    text[got > 0 ? got : 0] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
}

/* Fails with NY_EBUSY and the process that holds the lock, as far as its file says; closes the
 * file. */
static int busy(struct ny_lock *lock, struct ny_context *ctx, const char *what)
{
    char holder[HOLDER_BYTES];

    read_holder(lock->fd, holder, sizeof(holder));
    close(lock->fd);
    lock->fd = -1;
    return ny_fail(ctx, NY_EBUSY, "%s is held by process %s; wait for it to end", what, holder);
}

/* Tells whether the holder has said that it needs the lock only for a moment. */
static bool held_briefly(int fd)
{
    char holder[HOLDER_BYTES];

    read_holder(fd, holder, sizeof(holder));
    return strcmp(holder, brief) == 0;
}

/* Calls flock again after a signal, unless it means to stop, and while others only look. */
static int flock_patiently(int fd, int operation, struct ny_context *ctx)
{
    const struct timespec glance = {.tv_nsec = GLANCE_NS};
    int glances = 0, number, err;

    while (flock(fd, operation)) {
        number = errno;
        if (number == EWOULDBLOCK &&
            (glances++ < GLANCES || (glances < BRIEF_GLANCES && held_briefly(fd)))) {
            nanosleep(&glance, NULL);
            continue;
        }
        errno = number;
        if (number != EINTR) return NY_EBUSY;
        err = ny_check_interrupt(ctx);
        if (err) return err;
    }
    return NY_OK;
}

/* A holder may remove its file when it lets go: the lock counts if the file is still in place. */
static bool in_place(const struct ny_lock *lock)
{
    struct stat held, named;

    return fstat(lock->fd, &held) == 0 && stat(lock->path, &named) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/* Opens and locks the file, again if its holder has removed it meanwhile: a lock on a file that
 * has lost its name excludes nobody. */
static int acquire(struct ny_lock *lock, struct ny_context *ctx, int operation, const char *what)
{
    for (int try = 0; try < TRIES; try++) {
        int err;

        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (lock->fd < 0) return ny_fail_errno(ctx, "open", lock->path);
        ny_share(lock->path);
        err = flock_patiently(lock->fd, operation, ctx);
        if (err == NY_EBUSY && errno == EWOULDBLOCK) return busy(lock, ctx, what);
        if (err == NY_EBUSY) err = ny_env_fail(ctx, lock->path, "lock", errno);
        if (!err && in_place(lock)) {
            write_holder(lock);
            return NY_OK;
        }
        close(lock->fd);
        lock->fd = -1;
        if (err) return err;
    }
    return ny_fail_changed(ctx, what);
}

/* The path of the lock's folder, and room behind it for the file; false: it is too long. */
static bool folder_path(struct ny_lock *lock, const char *path)
{
    lock->fd = -1;
    lock->removed_after = lock->brief = false;
    return snprintf(lock->path, PATH_MAX, "%s/locks", path) < PATH_MAX - NY_NAME_MAX - 8;
}

/* Appends the file's name to the path of the folder; folder_path() has made sure of the room. */
static void add_file(struct ny_lock *lock, const char *file)
{
    size_t length = strlen(lock->path);

    snprintf(lock->path + length, PATH_MAX - length, "/%s.lock", file);
}

/* Makes the folder where there is none: in another one, that a link leads to, files would be made,
 * emptied and removed. */
static int lock_path(struct ny_lock *lock, struct ny_context *ctx, const char *path,
                     const char *file)
{
    struct stat info;
    int err;

    if (!folder_path(lock, path)) return ny_fail_long_path(ctx, path);
    if (mkdir(lock->path, 0777) == 0)
        ny_share(lock->path);
    else if (errno != EEXIST)
        return ny_fail_errno(ctx, "create", lock->path);
    err = ny_env_entry(ctx, lock->path, S_IFDIR, true, &info);
    if (!err) add_file(lock, file);
    return err;
}

int ny_store_check_place(struct ny_store *store)
{
    if (ny_env_in_place(store->points) && ny_env_in_place(store->results)) return NY_OK;
    return ny_fail_at(store->ctx, NY_EIO, store->path, NY_NO_LINE,
                      "%s was removed or compacted while it was open; run the same command again",
                      store->path);
}

/* Takes a lock of an open store without waiting. The store is looked at once more under the lock,
 * because it may have been compacted or removed before that. */
static int take(struct ny_lock *lock, struct ny_store *store, const char *file, const char *what,
                bool for_a_moment)
{
    int err = lock_path(lock, store->ctx, store->path, file);

    lock->brief = for_a_moment;
    if (!err) err = acquire(lock, store->ctx, LOCK_EX | LOCK_NB, what);
    if (err) return err;
    err = ny_store_check_place(store);
    if (err) ny_lock_release(lock);
    return err;
}

bool ny_store_replaced(const struct ny_store *store)
{
    const struct ny_env *const parts[] = {store->points, store->results};
    bool there = !ny_store_set(store) && !store->in_memory, same = true;

    for (size_t i = 0; there && i < sizeof(parts) / sizeof(*parts); i++) {
        there = access(parts[i]->path, F_OK) == 0;
        same = same && ny_env_in_place(parts[i]);
    }
    return there && !same;
}

int ny_lock_try(struct ny_lock *lock, struct ny_store *store, const char *file, const char *what)
{
    return take(lock, store, file, what, false);
}

int ny_lock_brief(struct ny_lock *lock, struct ny_store *store, const char *file)
{
    return take(lock, store, file, file, true);
}

/* Opens the lock where somebody holds it now; disturbs nobody who is about to take it. */
static bool open_held(struct ny_lock *lock, const struct ny_store *store, const char *file)
{
    if (!folder_path(lock, store->path)) return false;
    add_file(lock, file);
    lock->fd = open(lock->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock->fd < 0) return false;
    if (flock(lock->fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) return true;
    close(lock->fd);
    return false;
}

bool ny_lock_held(struct ny_store *store, const char *file)
{
    struct ny_lock lock;
    bool held = open_held(&lock, store, file);

    if (held) close(lock.fd);
    return held;
}

int ny_lock_refuse(struct ny_store *store, const char *file, const char *what)
{
    struct ny_lock lock;

    return open_held(&lock, store, file) ? busy(&lock, store->ctx, what) : NY_OK;
}

int ny_twin_lock(struct ny_store *store, const struct ny_env *env, int *fd)
{
    bool points = env == store->points;
    struct ny_lock lock;
    int err;

    *fd = -1;
    if (!env->twin || !folder_path(&lock, store->path)) return NY_OK;
    add_file(&lock, points ? "points" : "commit");
    lock.fd = open(lock.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (lock.fd < 0) return errno == ENOENT ? NY_OK : ny_fail_errno(store->ctx, "open", lock.path);
    err = flock_patiently(lock.fd, points ? LOCK_SH | LOCK_NB : LOCK_SH, store->ctx);
    if (!err) {
        *fd = lock.fd;
        return NY_OK;
    }
    close(lock.fd);
    if (err != NY_EBUSY) return err;
    return ny_fail(store->ctx, NY_EBUSY, NY_TWINS, store->path, (long)getpid());
}

int ny_lock_wait(struct ny_lock *lock, struct ny_context *ctx, const char *path, const char *file)
{
    int err = lock_path(lock, ctx, path, file);

    return err ? err : acquire(lock, ctx, LOCK_EX, file);
}

void ny_lock_release(struct ny_lock *lock)
{
    if (lock->fd < 0) return;
    if (lock->removed_after) unlink(lock->path);
    flock(lock->fd, LOCK_UN); /* a forked child may hold a copy of the descriptor */
    close(lock->fd);
    lock->fd = -1;
}
