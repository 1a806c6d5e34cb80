/*
 * A record of what a process does to the data files below a directory, and from it images of the
 * disk as a loss of power may leave them.
 *
 * A disk promises this, and no more: a write is there for certain once a sync of its file, begun
 * after it, has returned; before that it may be there, be missing, or be torn at any sector, whatever
 * became of the writes around it. A descriptor with O_DSYNC syncs its own writes. Changes of
 * directories happen in their order, as journals keep it, and are certain once the directory was
 * synced. An event that is the last before the cut had not returned yet.
 *
 * The functions are interposed in this program and record while `record->on`; the record is shared
 * with forked children, so that the process that is recorded need not be the one that builds.
 */
#ifndef NY_TESTS_DISK_RECORD_H
#define NY_TESTS_DISK_RECORD_H

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fault/next.h"

enum { EVENTS_MAX = 1 << 16, FILES_MAX = 16, PATH_BYTES = 256, SECTOR = 512, PAGE = 4096 };
#define DATA_MAX ((size_t)1 << 30) /* of address space */

enum event_kind { WRITE, SYNC, ENTRY, SYNC_ENTRIES, RETURNED };
enum entry_kind { MAKE_FOLDER, MAKE_FILE, MOVE, EXCHANGE, UNLINK, REMOVE_FOLDER };

struct event {
    enum event_kind kind;
    enum entry_kind entry;
    bool through;      /* WRITE: the descriptor has O_DSYNC */
    int file;          /* WRITE, SYNC, MAKE_FILE */
    uint64_t at;       /* WRITE: place */
    size_t bytes, data; /* WRITE: in record->data; ENTRY: the path, and behind it where it goes */
    ino_t folder;      /* ENTRY: that holds the name; SYNC_ENTRIES: that was synced */
};

struct record {
    volatile bool on;
    char root[PATH_BYTES];
    size_t events, bytes;
    int files;
    ino_t inode[FILES_MAX];
    struct event event[EVENTS_MAX];
    char data[];
};
static struct record *record;
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

static void record_new(const char *root)
{
    record = mmap(NULL, sizeof(*record) + DATA_MAX, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (record == MAP_FAILED) abort();
    snprintf(record->root, sizeof(record->root), "%s/", root);
}

static void record_free(void)
{
    munmap(record, sizeof(*record) + DATA_MAX);
}

/* ---- recording ----------------------------------------------------------------------------- */

static struct event *add_event(struct event event, const void *data, size_t bytes)
{
    if (record->events == EVENTS_MAX || record->bytes + bytes > DATA_MAX) abort();
    event.data = record->bytes;
    event.bytes = bytes;
    if (bytes) memcpy(record->data + record->bytes, data, bytes);
    record->bytes += bytes;
    record->event[record->events] = event;
    return &record->event[record->events++];
}

/* A call of the program returned: what it promised holds from here on. */
static void record_return(void)
{
    pthread_mutex_lock(&record_lock);
    add_event((struct event){.kind = RETURNED}, NULL, 0);
    pthread_mutex_unlock(&record_lock);
}

static ino_t folder_of(const char *path)
{
    char folder[PATH_BYTES];
    struct stat info;
    char *slash;

    snprintf(folder, sizeof(folder), "%s", path);
    slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
    return stat(folder, &info) == 0 ? info.st_ino : 0;
}

/* Tells whether a path below the root is recorded; lock files are not, as nobody relies on them. */
static bool is_recorded(const char *path)
{
    size_t length = strlen(record->root);

    return strncmp(path, record->root, length) == 0 && !strstr(path + length, "/locks") &&
           !strstr(path + length, "lock.mdb");
}

static void add_entry(enum entry_kind kind, const char *path, const char *to, int file)
{
    size_t skip = strlen(record->root);
    char names[2 * PATH_BYTES];
    size_t bytes;

    bytes = (size_t)snprintf(names, sizeof(names), "%s%c%s", path + skip, '\0', to ? to + skip : "");
    add_event((struct event){.kind = ENTRY, .entry = kind, .file = file,
                             .folder = folder_of(to ? to : path)},
              names, bytes + 1);
}

static void record_entry(enum entry_kind kind, const char *path, const char *to)
{
    if (!record || !record->on || !is_recorded(path)) return;
    pthread_mutex_lock(&record_lock);
    add_entry(kind, path, to, 0);
    pthread_mutex_unlock(&record_lock);
}

/* The number of the data file behind a descriptor; −1: it is none. With the lock held. */
static int file_of(int fd)
{
    char link[64], path[PATH_BYTES] = "";
    struct stat info;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof(path) - 1) < 0 || !is_recorded(path) || fstat(fd, &info) ||
        !S_ISREG(info.st_mode))
        return -1;
    for (int i = 0; i < record->files; i++)
        if (record->inode[i] == info.st_ino) return i;
    if (record->files == FILES_MAX) abort();
    record->inode[record->files] = info.st_ino;
    add_entry(MAKE_FILE, path, NULL, record->files);
    return record->files++;
}

static void record_write(int fd, const void *data, ssize_t bytes, off_t at)
{
    int file;

    if (!record || !record->on || bytes <= 0) return;
    pthread_mutex_lock(&record_lock);
    file = file_of(fd);
    if (file >= 0)
        add_event((struct event){.kind = WRITE, .file = file, .at = (uint64_t)at,
                                 .through = (fcntl(fd, F_GETFL) & O_DSYNC) != 0},
                  data, (size_t)bytes);
    pthread_mutex_unlock(&record_lock);
}

static void record_sync(int fd)
{
    char link[64], path[PATH_BYTES] = "";
    struct stat info;
    int file;

    if (!record || !record->on || fstat(fd, &info)) return;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    pthread_mutex_lock(&record_lock);
    file = file_of(fd);
    if (file >= 0) add_event((struct event){.kind = SYNC, .file = file}, NULL, 0);
    else if (S_ISDIR(info.st_mode) && readlink(link, path, sizeof(path) - 1) > 0)
        add_event((struct event){.kind = SYNC_ENTRIES, .folder = info.st_ino}, NULL, 0);
    pthread_mutex_unlock(&record_lock);
}

#pragma GCC visibility push(default) /* LMDB finds these too */
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    NEXT(pwrite);
    ssize_t done = next(fd, data, bytes, at);

    record_write(fd, data, done, at);
    return done;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    NEXT(write);
    off_t at = record && record->on ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t done = next(fd, data, bytes);

    record_write(fd, data, done, at);
    return done;
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    NEXT(writev);
    off_t at = record && record->on ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t done = next(fd, pieces, count), left = done;

    for (int i = 0; i < count && left > 0; i++) {
        ssize_t piece = left < (ssize_t)pieces[i].iov_len ? left : (ssize_t)pieces[i].iov_len;

        record_write(fd, pieces[i].iov_base, piece, at);
        at += piece;
        left -= piece;
    }
    return done;
}

/* Nobody gives a data file another length; who begins to must record it. */
int ftruncate(int fd, off_t length)
{
    NEXT(ftruncate);

    if (record && record->on && file_of(fd) >= 0) abort();
    return next(fd, length);
}

int fsync(int fd)
{
    NEXT(fsync);
    int err = next(fd);

    if (!err) record_sync(fd);
    return err;
}

int fdatasync(int fd)
{
    NEXT(fdatasync);
    int err = next(fd);

    if (!err) record_sync(fd);
    return err;
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    int err = next(path, mode);

    if (!err) record_entry(MAKE_FOLDER, path, NULL);
    return err;
}

int rename(const char *from, const char *to)
{
    NEXT(rename);
    int err = next(from, to);

    if (!err) record_entry(MOVE, from, to);
    return err;
}

/* Used only to exchange two folders of one store. */
int renameat2(int at, const char *one, int other_at, const char *other, unsigned flags)
{
    NEXT(renameat2);
    int err = next(at, one, other_at, other, flags);

    if (!err && flags == RENAME_EXCHANGE) record_entry(EXCHANGE, one, other);
    else if (!err && record && record->on) abort();
    return err;
}

int unlink(const char *path)
{
    NEXT(unlink);
    int err = next(path);

    if (!err) record_entry(UNLINK, path, NULL);
    return err;
}

int rmdir(const char *path)
{
    NEXT(rmdir);
    int err = next(path);

    if (!err) record_entry(REMOVE_FOLDER, path, NULL);
    return err;
}
#pragma GCC visibility pop

/* ---- images -------------------------------------------------------------------------------- */

/* The way in which the disk treats writes that were not synced. */
enum disk {
    IN_ORDER,  /* all of it is there */
    TORN_LAST, /* but for the end of the last write */
    SHUFFLED,  /* any subset, torn or whole */
    LYING,     /* the same of everything: the disk forgets syncs */
    DISKS
};

struct image {
    size_t cut; /* events before this one happened */
    enum disk disk;
    size_t sector;
    uint64_t (*draw)(uint64_t below);
};

struct content {
    char path[PATH_BYTES]; /* "": its name is not there */
    char *data;
    size_t bytes, room;
    size_t certain; /* events of this file before this one are on the disk */
};

static void place_bytes(struct content *file, uint64_t at, const char *data, size_t bytes)
{
    size_t end = (size_t)at + bytes;

    if (end > file->room) {
        file->data = realloc(file->data, 2 * end);
        if (!file->data) abort();
        memset(file->data + file->room, 0, 2 * end - file->room);
        file->room = 2 * end;
    }
    if (data) memcpy(file->data + at, data, bytes);
    if (end > file->bytes) file->bytes = end;
}

/* Sectors of the write that reached the disk. */
static void tear(struct content *file, const struct event *event, const struct image *image)
{
    const char *data = record->data + event->data;
    size_t sectors = (event->bytes + image->sector - 1) / image->sector;
    bool prefix = image->draw(2) == 0;
    size_t kept = (size_t)image->draw(sectors + 1);

    for (size_t i = 0; i < sectors; i++) {
        size_t from = i * image->sector, bytes = event->bytes - from;

        if (prefix ? i >= kept : image->draw(2) == 0) continue;
        if (bytes > image->sector) bytes = image->sector;
        place_bytes(file, event->at + from, data + from, bytes);
    }
}

static void apply_write(struct content *file, size_t index, const struct image *image)
{
    const struct event *event = &record->event[index];
    const char *data = record->data + event->data;
    bool returned = index + 1 < image->cut;
    bool certain = index < file->certain || (event->through && returned);
    uint64_t fate;

    if (image->disk == LYING) certain = false;
    if (certain || image->disk == IN_ORDER || (image->disk == TORN_LAST && returned)) {
        place_bytes(file, event->at, data, event->bytes);
        return;
    }
    fate = image->disk == TORN_LAST ? 3 : image->draw(4);
    if (fate == 3) tear(file, event, image);
    else if (fate > 0) place_bytes(file, event->at, data, event->bytes);
    else if (image->draw(2)) place_bytes(file, event->at + event->bytes, NULL, 0); /* a hole */
}

/* The last change of directories that is certain, plus one. */
static size_t certain_entries(const struct image *image)
{
    size_t certain = 0;

    for (size_t i = 0; i + 1 < image->cut && image->disk != LYING; i++) {
        if (record->event[i].kind != SYNC_ENTRIES) continue;
        for (size_t k = certain; k < i; k++)
            if (record->event[k].kind == ENTRY && record->event[k].folder == record->event[i].folder)
                certain = k + 1;
    }
    return certain;
}

static void move_contents(struct content *files, const char *from, const char *to)
{
    size_t length = strlen(from);

    for (int i = 0; i < record->files; i++) {
        char rest[PATH_BYTES];

        if (strncmp(files[i].path, from, length) != 0 || !strchr("/", files[i].path[length]))
            continue;
        snprintf(rest, sizeof(rest), "%s", files[i].path + length);
        snprintf(files[i].path, sizeof(files[i].path), "%.100s%.150s", to, rest);
    }
}

static void apply_entry(struct content *files, const struct event *event, const char *root)
{
    const char *path = record->data + event->data, *to = path + strlen(path) + 1;
    char here[2 * PATH_BYTES], there[2 * PATH_BYTES];

    snprintf(here, sizeof(here), "%s/%s", root, path);
    snprintf(there, sizeof(there), "%s/%s", root, to);
    switch (event->entry) {
    case MAKE_FOLDER: mkdir(here, 0777); break;
    case MAKE_FILE:
        snprintf(files[event->file].path, sizeof(files[event->file].path), "%s", path);
        break;
    case MOVE:
        rename(here, there);
        move_contents(files, path, to);
        break;
    case EXCHANGE:
        renameat2(AT_FDCWD, here, AT_FDCWD, there, RENAME_EXCHANGE);
        move_contents(files, path, "?");
        move_contents(files, to, path);
        move_contents(files, "?", to);
        break;
    case UNLINK:
        for (int i = 0; i < record->files; i++)
            if (strcmp(files[i].path, path) == 0) files[i].path[0] = '\0';
        break;
    case REMOVE_FOLDER: rmdir(here); break;
    }
}

static void write_content(const struct content *file, const char *root)
{
    char path[2 * PATH_BYTES];
    FILE *out;

    snprintf(path, sizeof(path), "%.200s/%.250s", root, file->path);
    out = fopen(path, "wb");
    if (!out) abort();
    if (file->bytes && fwrite(file->data, 1, file->bytes, out) != file->bytes) abort();
    if (fclose(out)) abort();
}

/* Writes the image below `root`, an empty directory. */
static void build_image(const struct image *image, const char *root)
{
    struct content files[FILES_MAX] = {{.path = ""}};
    size_t entries = certain_entries(image), last = entries;

    for (size_t i = entries; i < image->cut; i++)
        if (record->event[i].kind == ENTRY) last = i + 1;
    if (last > entries && image->disk >= SHUFFLED) entries += image->draw(last - entries + 1);
    else entries = last;
    for (size_t i = 0; i + 1 < image->cut; i++)
        if (record->event[i].kind == SYNC) files[record->event[i].file].certain = i;
    for (size_t i = 0; i < image->cut; i++) {
        const struct event *event = &record->event[i];

        if (event->kind == WRITE) apply_write(&files[event->file], i, image);
        else if (event->kind == ENTRY && i < entries) apply_entry(files, event, root);
    }
    for (int i = 0; i < record->files; i++) {
        if (files[i].path[0]) write_content(&files[i], root);
        free(files[i].data);
    }
}

#endif
