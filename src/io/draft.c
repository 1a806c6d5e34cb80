/*
 * A file that nobody sees until it is whole (io/draft.h). io/writer.c calls it for every regular
 * file that is written.
 *
 * A draft is opened in the folder of its path, so that giving it its name never copies bytes. It
 * has the rights of the file that it replaces, and never more than these, not even for a moment.
 * The commit syncs the content, links or renames the file, and syncs the folder. After a kill
 * before the commit the path is as it was; a file without a name is gone, and on file systems
 * without such files one ".nystream-….tmp" is left.
 */
#include "io/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"

enum { NAME_TRIES = 16, NAME_BYTES = 40 };

struct ny_draft {
    struct ny_context *ctx;
    int fd;
    bool named;
    size_t folder_bytes; /* of the path, with its last slash; 0: the folder we are in */
    char *path;
    char *name; /* in the same folder, once there is one */
};

/* ---- names --------------------------------------------------------------------------------- */

/* Makes another name in the folder; false: the system gives no random numbers. */
static bool choose_name(struct ny_draft *draft)
{
    uint64_t number = 0;

    if (getentropy(&number, sizeof(number))) return false;
    snprintf(draft->name + draft->folder_bytes, NAME_BYTES, ".nystream-%016llx.tmp",
             (unsigned long long)number);
    return true;
}

/* "." or the folder's path, in the room of the name. */
static const char *folder_of(struct ny_draft *draft)
{
    if (!draft->folder_bytes) return ".";
    memcpy(draft->name, draft->path, draft->folder_bytes);
    draft->name[draft->folder_bytes] = '\0';
    return draft->name;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Opens a file without a name, if it can be given one later; else draft->fd stays −1. */
static void open_unnamed(struct ny_draft *draft, mode_t rights)
{
    draft->fd = ny_open_unnamed(folder_of(draft), rights);
    if (draft->fd < 0 || ny_link_unnamed(draft->fd, NULL)) return;
    close(draft->fd);
    draft->fd = -1;
}

/* Opens a file under a name that nobody has. */
static void open_named(struct ny_draft *draft, mode_t rights)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

    for (int try = 0; try < NAME_TRIES && choose_name(draft); try++) {
        draft->fd = open(draft->name, flags, rights);
        draft->named = draft->fd >= 0;
        if (draft->named || errno != EEXIST) return;
    }
}

/* The rights of the file that is replaced: the new one is opened with no more than these, less the
 * umask, and has all of them where the file system allows it. */
static int open_draft(struct ny_draft *draft)
{
    struct stat old;
    bool replaces = lstat(draft->path, &old) == 0 && S_ISREG(old.st_mode);
    mode_t rights = replaces ? old.st_mode & 0777 : 0666;

    open_unnamed(draft, rights);
    if (draft->fd < 0) open_named(draft, rights);
    if (draft->fd >= 0 && (!replaces || fchmod(draft->fd, rights) == 0 || errno == EPERM ||
                           errno == ENOTSUP))
        return NY_OK;
    return ny_fail_errno(draft->ctx, "write", draft->path);
}

int ny_draft_open(struct ny_draft **out, struct ny_context *ctx, const char *path, int *fd)
{
    struct ny_draft *draft = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*draft));
    const char *slash = strrchr(path, '/');
    int err = NY_EBUDGET;

    *out = NULL;
    *fd = -1;
    if (!draft) return err;
    draft->ctx = ctx;
    draft->fd = -1;
    draft->folder_bytes = slash ? (size_t)(slash - path) + 1 : 0;
    draft->path = ny_strdup(ctx, path);
    if (draft->path) draft->name = ny_alloc(ctx, NY_MEM_IO, draft->folder_bytes + NAME_BYTES);
    if (!draft->name) goto done;
    memcpy(draft->name, path, draft->folder_bytes);
    err = open_draft(draft);
done:
    if (err) {
        ny_draft_abort(draft);
    } else {
        *fd = draft->fd;
        *out = draft;
    }
    return err;
}

/* ---- ending -------------------------------------------------------------------------------- */

/* Gives the file its path, or, where a file is there, a name that can be renamed to it. */
static bool name_draft(struct ny_draft *draft)
{
    if (draft->named || ny_link_unnamed(draft->fd, draft->path)) return true;
    for (int try = 0; errno == EEXIST && try < NAME_TRIES && choose_name(draft); try++)
        if (ny_link_unnamed(draft->fd, draft->name)) {
            draft->named = true;
            return true;
        }
    return false;
}

/* The new name survives a power failure once its folder is on disk. */
static int sync_folder(struct ny_draft *draft)
{
    int fd = open(folder_of(draft), O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = NY_OK;

    if (fd < 0) return NY_OK; /* a folder that can be written, but not read */
    if (fsync(fd) && errno != EINVAL) err = ny_fail_errno(draft->ctx, "write", draft->path);
    close(fd);
    return err;
}

int ny_draft_commit(struct ny_draft *draft)
{
    int err = NY_OK;

    if (fsync(draft->fd)) err = ny_fail_errno(draft->ctx, "write", draft->path);
    if (!err && (!name_draft(draft) || (draft->named && rename(draft->name, draft->path))))
        err = ny_fail_errno(draft->ctx, "write", draft->path);
    if (!err) {
        draft->named = false;
        err = sync_folder(draft);
    }
    if (close(draft->fd) && !err) err = ny_fail_errno(draft->ctx, "write", draft->path);
    draft->fd = -1;
    ny_draft_abort(draft);
    return err;
}

void ny_draft_abort(struct ny_draft *draft)
{
    if (!draft) return;
    if (draft->fd >= 0) close(draft->fd);
    if (draft->named) unlink(draft->name);
    ny_free(draft->ctx, draft->path);
    ny_free(draft->ctx, draft->name);
    ny_free(draft->ctx, draft);
}
