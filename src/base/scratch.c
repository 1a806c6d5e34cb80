/* The temporary file of scratch.h, behind the streams of a spool and the pages of a graph. */
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system.h"

/* Makes a file under a name that nobody has, and takes the name away; −1: it cannot be made. */
static int open_named(const char *folder)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    char path[PATH_MAX];
    uint64_t number;
    int fd;

    if (getentropy(&number, sizeof(number)) ||
        snprintf(path, sizeof(path), "%s/.nystream-%016llx.tmp", folder,
                 (unsigned long long)number) >= PATH_MAX)
        return -1;
    fd = open(path, flags, 0600);
    if (fd >= 0) unlink(path);
    return fd;
}

int ny_scratch_open(struct ny_scratch *scratch)
{
    scratch->fd = ny_open_unnamed(scratch->folder, 0600);
    if (scratch->fd < 0) scratch->fd = open_named(scratch->folder); /* NFS, FUSE */
    if (scratch->fd >= 0) return NY_OK;
    return ny_fail_errno(scratch->ctx, "make a temporary file in", scratch->folder);
}

void ny_scratch_close(struct ny_scratch *scratch)
{
    if (scratch->ctx && scratch->fd >= 0) close(scratch->fd);
    scratch->fd = -1;
}

/* Fails after a call that moved no byte. */
static int fail(const struct ny_scratch *scratch, const char *verb)
{
    char action[96];

    snprintf(action, sizeof(action), "%s %s in", verb, scratch->what);
    if (errno == ENOSPC || errno == EDQUOT)
        return ny_fail_at(scratch->ctx, NY_EIO, scratch->folder, NY_NO_LINE,
                          "cannot %s %s: %s; make space there", action, scratch->folder,
                          strerror(errno));
    return ny_fail_errno(scratch->ctx, action, scratch->folder);
}

int ny_scratch_put(const struct ny_scratch *scratch, const void *data, size_t bytes, uint64_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t moved =
            pwrite(scratch->fd, (const char *)data + done, bytes - done, (off_t)(at + done));

        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) return fail(scratch, "write");
        done += (size_t)moved;
    }
    return NY_OK;
}

ssize_t ny_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(at + done));

        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int ny_scratch_get(const struct ny_scratch *scratch, void *data, size_t bytes, uint64_t at)
{
    return ny_read_at(scratch->fd, data, bytes, at) == (ssize_t)bytes ? NY_OK
                                                                      : fail(scratch, "read back");
}
