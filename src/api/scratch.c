/* Makes and removes scratch folders. */
#include "api/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Removes what is in an open folder, with folders so many levels below. It allocates nothing, as
 * opendir() would: the folder goes after a call that found no memory, too. Nothing is followed. */
static void empty_folder(int folder, int depth)
{
    _Alignas(struct dirent64) char entries[2048];
    ssize_t bytes;

    while ((bytes = getdents64(folder, entries, sizeof(entries))) > 0)
        for (const char *at = entries; at < entries + bytes;) {
            const struct dirent64 *entry = (const struct dirent64 *)at;
            int child;

            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
            if (unlinkat(folder, entry->d_name, 0) == 0 || depth == 0) continue;
            child = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (child < 0) continue;
            empty_folder(child, depth - 1);
            close(child);
            unlinkat(folder, entry->d_name, AT_REMOVEDIR);
        }
}

int ny_scratch_make(struct ny_context *ctx, const char *parent, char *path, size_t size)
{
    snprintf(path, size, "%s/.nystream-XXXXXX", parent);
    return mkdtemp(path) ? NY_OK : ny_fail_errno(ctx, "make a temporary store in", parent);
}

void ny_scratch_remove(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0) return;
    empty_folder(folder, 3);
    close(folder);
    rmdir(path);
}
