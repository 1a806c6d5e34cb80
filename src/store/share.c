/* Rights of a group that shares a store: ny_share(). */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"

void ny_share(const char *path)
{
    const char *end = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    struct stat of, is;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (end) snprintf(folder, sizeof(folder), "%.*s", (int)(end - path) + 1, path);
    if (fd >= 0 && !stat(folder, &of) && of.st_mode & S_IWGRP && !fstat(fd, &is) &&
        is.st_uid == geteuid() && (S_ISDIR(is.st_mode) || is.st_nlink == 1) &&
        (is.st_gid == of.st_gid || !fchown(fd, (uid_t)-1, of.st_gid)))
        (void)fchmod(fd, (is.st_mode & 07777) | S_IRGRP | S_IWGRP |
                             (S_ISDIR(is.st_mode) ? of.st_mode & S_IXGRP : 0));
    if (fd >= 0) close(fd);
}
