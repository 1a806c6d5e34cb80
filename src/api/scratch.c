/* Makes and removes folders for files of one call, which programs of version 1.1 may use. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/call.h"
#include "base/error.h"

int ny_scratch_make(struct ny_context *ctx, const char *parent, struct ny_scratch_folder *folder)
{
    int err = NY_GIVEN(ctx, parent, folder);

    if (err) return err;
    snprintf(folder->path, sizeof(folder->path), "%s/.nystream-XXXXXX", parent);
    if (!mkdtemp(folder->path)) return ny_fail_errno(ctx, "write", parent);
    folder->held = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return NY_OK;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    remove(path);
    return 0;
}

void ny_scratch_remove(const struct ny_scratch_folder *folder)
{
    enum { DEPTH = 4 };

    if (!folder) return;
    nftw(folder->path, remove_entry, DEPTH, FTW_DEPTH | FTW_PHYS);
    if (folder->held >= 0) close(folder->held);
}
