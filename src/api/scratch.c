/* Makes and removes scratch folders. */
#include "api/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Removes a folder of a few levels of plain files. Nothing is followed. */
static void remove_folder(const char *path, int depth)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        char child[4600];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) >= (int)sizeof(child))
            continue;
        if (unlink(child) != 0 && depth > 0) remove_folder(child, depth - 1);
    }
    if (directory) closedir(directory);
    rmdir(path);
}

int ny_scratch_make(struct ny_context *ctx, const char *parent, char *path, size_t size)
{
    snprintf(path, size, "%s/.nystream-XXXXXX", parent);
    return mkdtemp(path) ? NY_OK : ny_fail_errno(ctx, "make a temporary store in", parent);
}

void ny_scratch_remove(const char *path)
{
    remove_folder(path, 3);
}
