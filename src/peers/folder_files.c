/*
 * Files of the folder transport: how they are written and read, who is alive, and how to wait.
 *
 * A file is written under another name and renamed, so that whoever finds it finds all of it, and
 * its bytes are sealed, so that what comes is what was written. A rank lives as long as its lock
 * file is locked; a process that has taken the rank of a dead one is told apart by the number in
 * its note.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "peers/folder_private.h"

static const char magic[8] = "nystrm2";

int ny_folder_fail(struct ny_folder *folder, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(folder->transport.why, sizeof(folder->transport.why), format, args);
    va_end(args);
    folder->transport.status = status;
    folder->transport.others = status == NY_EBUSY;
    return status;
}

int ny_folder_fail_errno(struct ny_folder *folder, const char *action, const char *path)
{
    int number = errno, err = folder->member ? ny_folder_look(folder) : NY_OK;

    return err ? err
               : ny_folder_fail(folder, NY_EIO, "cannot %s %s: %s", action, path, strerror(number));
}

/* ---- names ---------------------------------------------------------------------------------- */

void ny_folder_rank_path(const struct ny_folder *folder, const char *kind, unsigned rank,
                         char *path)
{
    snprintf(path, PATH_MAX, "%s/%s-%05u", folder->path, kind, rank);
}

void ny_folder_run_path(const struct ny_folder *folder, const char *file, char *path)
{
    snprintf(path, PATH_MAX, "%s/run-%016llx%s%s", folder->path,
             (unsigned long long)folder->self.run, *file ? "/" : "", file);
}

void ny_folder_round_path(const struct ny_folder *folder, uint64_t round, unsigned rank, char *path)
{
    char name[32];

    snprintf(name, sizeof(name), "%llu-%05u", (unsigned long long)round, rank);
    ny_folder_run_path(folder, name, path);
}

void ny_folder_closed_path(const struct ny_folder *folder, unsigned rank, char *path)
{
    char name[32];

    snprintf(name, sizeof(name), "closed-%05u", rank);
    ny_folder_run_path(folder, name, path);
}

/* ---- whole files ---------------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t put = write(fd, data, bytes);

        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        data += put;
        bytes -= (size_t)put;
    }
    return true;
}

/* Returns the seal of a piece. The name of its file says whose it is, of which round and run. */
static uint64_t seal_of(const struct ny_folder *folder, const char *path, size_t piece,
                        const void *data, size_t bytes)
{
    const char *name = path + strlen(folder->path);
    const uint64_t parts[] = {ny_checksum(name, strlen(name)), piece, ny_checksum(data, bytes)};

    return ny_checksum(parts, sizeof(parts));
}

static bool write_pieces(const struct ny_folder *folder, int fd, const char *path,
                         const struct ny_folder_shape *shape, const char *data)
{
    bool whole = true;

    for (size_t k = 0; k < shape->pieces && whole; k++, data += shape->bytes) {
        uint64_t seal = seal_of(folder, path, k, data, shape->bytes);

        whole =
            write_all(fd, data, shape->bytes) && write_all(fd, (const char *)&seal, sizeof(seal));
    }
    return whole;
}

/* Writes a file that nobody sees before it is whole; false with errno set. */
static bool put_file(const struct ny_folder *folder, const char *path,
                     const struct ny_folder_shape *shape, const void *data)
{
    char fresh[PATH_MAX + 8];
    bool whole;
    int fd, number;

    snprintf(fresh, sizeof(fresh), "%s.%05u", path, folder->transport.rank);
    fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return false;
    whole = write_pieces(folder, fd, path, shape, data);
    number = errno;
    if (close(fd) && whole) { /* network file systems write here */
        whole = false;
        number = errno;
    }
    if (whole && rename(fresh, path) == 0) return true;
    if (whole) number = errno;
    unlink(fresh);
    errno = number;
    return false;
}

int ny_folder_write(struct ny_folder *folder, const char *path, const struct ny_folder_shape *shape,
                    const void *data)
{
    return put_file(folder, path, shape, data) ? NY_OK
                                               : ny_folder_fail_errno(folder, "write", path);
}

/* Reads a piece once; NY_ESTORE where it is not what was written. */
static int read_piece(struct ny_folder *folder, const char *path,
                      const struct ny_folder_shape *shape, size_t piece, void *data)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), err = NY_OK;
    size_t stride = shape->bytes + sizeof(uint64_t), at = piece * stride;
    uint64_t seal = 0;
    struct stat info;

    if (fd < 0) return errno == ENOENT ? NY_END : ny_folder_fail_errno(folder, "open", path);
    if (fstat(fd, &info) || ny_read_at(fd, data, shape->bytes, at) < 0 ||
        ny_read_at(fd, (char *)&seal, sizeof(seal), at + shape->bytes) < 0)
        err = ny_folder_fail_errno(folder, "read", path);
    else if ((size_t)info.st_size != shape->pieces * stride ||
             seal != seal_of(folder, path, piece, data, shape->bytes))
        err = NY_ESTORE;
    close(fd);
    return err;
}

int ny_folder_read(struct ny_folder *folder, const char *path, const struct ny_folder_shape *shape,
                   size_t piece, void *data)
{
    const long least_ns = 30000000, most_ns = 500000000;
    int err = read_piece(folder, path, shape, piece, data);

    for (long ns = least_ns; err == NY_ESTORE && ns < most_ns; ns *= 2) {
        nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
        err = read_piece(folder, path, shape, piece, data);
    }
    if (err != NY_ESTORE) return err;
    return ny_folder_fail(folder, NY_ESTORE,
                          "%s is damaged: it is not what another process wrote, however often it "
                          "is read; start all processes again, and they resume",
                          path);
}

void ny_folder_remove(const char *path)
{
    DIR *listing = opendir(path);
    struct dirent *entry;

    while (listing && (entry = readdir(listing)))
        unlinkat(dirfd(listing), entry->d_name, 0); /* not . and .., which are folders */
    if (listing) closedir(listing);
    rmdir(path);
}

void ny_folder_leave(struct ny_folder *folder)
{
    int members = folder->locks[NY_FOLDER_MEMBERS];
    char path[PATH_MAX];

    if (members >= 0) {
        ny_folder_run_path(folder, "", path);
        if (flock(members, LOCK_EX | LOCK_NB) == 0) ny_folder_remove(path);
        flock(members, LOCK_UN); /* a forked child may hold a copy of the descriptor */
        close(members);
    }
    folder->locks[NY_FOLDER_MEMBERS] = -1;
    folder->self.run = 0;
}

/* ---- who is there --------------------------------------------------------------------------- */

static const struct ny_folder_shape note_shape = {1, sizeof(struct ny_folder_note)};

int ny_folder_tell(struct ny_folder *folder)
{
    char path[PATH_MAX];

    memcpy(folder->self.magic, magic, sizeof(magic));
    ny_folder_rank_path(folder, "who", folder->transport.rank, path);
    return ny_folder_write(folder, path, &note_shape, &folder->self);
}

int ny_folder_hear(struct ny_folder *folder, unsigned rank, struct ny_folder_note *note)
{
    char path[PATH_MAX];
    int err;

    ny_folder_rank_path(folder, "who", rank, path);
    err = ny_folder_read(folder, path, &note_shape, 0, note);
    return !err && memcmp(note->magic, magic, sizeof(magic)) != 0 ? NY_END : err;
}

bool ny_folder_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool held;

    if (fd < 0) return errno != ENOENT; /* too many open files, for example, kill nobody */
    held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return held;
}

enum ny_folder_state ny_folder_state_of(struct ny_folder *folder, unsigned rank)
{
    struct ny_folder_note note;
    char path[PATH_MAX];
    bool alive;

    ny_folder_rank_path(folder, "peer", rank, path);
    alive = ny_folder_held(path);
    if (alive && ny_folder_hear(folder, rank, &note) == NY_OK)
        alive = note.process == folder->member[rank].process;
    ny_folder_closed_path(folder, rank, path); /* last, since a rank says so and then lets go */
    if (access(path, F_OK) == 0) return NY_FOLDER_CLOSED;
    return alive ? NY_FOLDER_ALIVE : NY_FOLDER_GONE;
}

/* Why a rank ended: the content of run-…/abandoned. */
struct ending {
    int status;
    char message[sizeof(((struct ny_transport *)0)->why)];
};
static const struct ny_folder_shape ending_shape = {1, sizeof(struct ending)};

/* NY_OK where no rank has said why it ended; else its status and message, which become those of
 * this rank: "shard 2: the disk is full". */
static int hear_abandoned(struct ny_folder *folder)
{
    struct ny_transport *transport = &folder->transport;
    struct ending ending;
    char path[PATH_MAX];
    int err;

    ny_folder_run_path(folder, "abandoned", path);
    if (access(path, F_OK)) return NY_OK;
    err = ny_folder_read(folder, path, &ending_shape, 0, &ending);
    if (err == NY_END || (!err && (ending.status <= NY_END || ending.status > NY_ETERMINATED)))
        return NY_OK;
    if (!err) err = ny_folder_fail(folder, ending.status, "%s", ending.message);
    transport->others = 1;
    return err;
}

void ny_folder_abandon(const struct ny_folder *folder, int status, const char *message)
{
    struct ending ending = {.status = status};
    char path[PATH_MAX];

    snprintf(ending.message, sizeof(ending.message), "%s", message);
    ny_folder_run_path(folder, "abandoned", path);
    if (access(path, F_OK)) (void)put_file(folder, path, &ending_shape, &ending);
}

int ny_folder_check_own(struct ny_folder *folder, uint64_t round)
{
    char path[PATH_MAX];

    ny_folder_round_path(folder, round, folder->transport.rank, path);
    if (access(path, F_OK) == 0 || errno != ENOENT) return NY_OK;
    return ny_folder_fail(folder, NY_EIO,
                          "%s was removed before all processes had read it; leave that folder to "
                          "them, and start all of them again, which resume",
                          path);
}

int ny_folder_look(struct ny_folder *folder)
{
    enum { MOST = 8 };
    unsigned ranks = folder->transport.ranks, others = ranks - 1;
    int err = hear_abandoned(folder);

    if (!err && folder->owed) err = ny_folder_check_own(folder, folder->owed - 1);
    folder->looked_s = ny_now();
    for (unsigned i = 0; i < others && i < MOST && !err; i++) {
        unsigned rank;

        folder->looked = folder->looked % others + 1;
        rank = (folder->transport.rank + folder->looked) % ranks;
        if (ny_folder_state_of(folder, rank) != NY_FOLDER_GONE) continue;
        err = hear_abandoned(folder);
        if (err) break;
        err = ny_folder_fail(folder, NY_EBUSY,
                             "the process with rank %u of %u, on %.*s, has ended without notice; "
                             "start all of them again, and they resume",
                             rank, ranks, NY_HOST_BYTES, folder->member[rank].host);
        ny_folder_abandon(folder, err, folder->transport.why);
    }
    return err;
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* Opens folders and closes them: network file systems then ask whether there is anything new. */
static void refresh(const struct ny_folder *folder)
{
    char path[PATH_MAX];
    int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) close(fd);
    ny_folder_run_path(folder, "", path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) close(fd);
}

int ny_folder_sleep(struct ny_folder *folder, double began_s)
{
    const double least_s = 5e-5, usual_s = 2e-2, most_s = 0.2;
    double waited_s = ny_now() - began_s, seconds = waited_s / 4;
    const struct ny_transport *transport = &folder->transport;
    struct timespec time;

    if (transport->interrupted && transport->interrupted(transport->arg))
        return ny_folder_fail(folder, NY_EINTERRUPTED, "interrupted");
    if (seconds < least_s) seconds = least_s;
    if (seconds > usual_s) seconds = waited_s / 100 > usual_s ? waited_s / 100 : usual_s;
    if (seconds > most_s) seconds = most_s;
    time = (struct timespec){.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&time, NULL);
    if (seconds >= usual_s) refresh(folder);
    return NY_OK;
}
