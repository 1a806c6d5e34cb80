/*
 * Makes and removes scratch folders.
 *
 * A process that is killed leaves its folder, and the next that makes one removes it. Names begin
 * with the id that the system has since it was started, which no other machine has. A process keeps
 * its folder open under a shared flock. An exclusive one is granted when neither it nor a process
 * that was forked from it is left, in whatever container, and never where there are no such locks.
 */
#include "api/scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/given.h"
#include "base/error.h"
#include "base/system.h"
#include "nystream.h"
#include "store/store.h"

/* Opens a folder in another one, or from where we are, and follows nothing; −1: it cannot be. */
static int open_folder(int parent, const char *name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes a file, or a folder with what is in it, so many levels deep. */
static void remove_entry(int folder, const char *name, int depth)
{
    int child;

    if (unlinkat(folder, name, 0) == 0 || depth == 0) return;
    child = open_folder(folder, name);
    if (child < 0) return;
    ny_folder_walk(child, depth - 1, remove_entry);
    close(child);
    unlinkat(folder, name, AT_REMOVEDIR);
}

/* Writes what the names of folders begin with: ".nystream-", the begin of the system's id, "-". */
static void write_prefix(char *prefix, size_t size)
{
    char id[9];

    ny_boot_id(id);
    snprintf(prefix, size, ".nystream-%s-", id);
}

/* Removes a folder that this user has made, unless a process holds it. */
static void remove_stale(int parent, const char *name, int depth)
{
    char prefix[32];
    struct stat info;
    int folder;

    if (strncmp(name, ".nystream-", 10) != 0) return;
    write_prefix(prefix, sizeof(prefix));
    if (strncmp(name, prefix, strlen(prefix)) != 0) return;
    folder = open_folder(parent, name);
    if (folder < 0) return;
    if (fstat(folder, &info) == 0 && info.st_uid == geteuid() &&
        flock(folder, LOCK_EX | LOCK_NB) == 0)
        remove_entry(parent, name, depth);
    close(folder);
}

static void remove_all_stale(const char *parent)
{
    int folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0) return;
    ny_folder_walk(folder, 4, remove_stale);
    close(folder);
}

/* The folder gets the name by which others find it when it is locked. */
int ny_scratch_make(struct ny_context *ctx, const char *parent, struct ny_scratch_folder *folder)
{
    char prefix[32], first[sizeof(folder->path)];
    int err = NY_GIVEN(ctx, parent, folder);

    if (err) return err;
    remove_all_stale(parent);
    write_prefix(prefix, sizeof(prefix));
    snprintf(first, sizeof(first), "%s/.nystream-XXXXXX", parent);
    if (!mkdtemp(first)) return ny_fail_errno(ctx, "make a temporary store in", parent);
    snprintf(folder->path, sizeof(folder->path), "%s/%s%s", parent, prefix,
             first + strlen(first) - 6);
    folder->held = open_folder(AT_FDCWD, first);
    if (folder->held >= 0) (void)flock(folder->held, LOCK_SH);
    if (folder->held >= 0 && rename(first, folder->path) == 0) return NY_OK;
    err = ny_fail_errno(ctx, "make a temporary store in", parent);
    if (folder->held >= 0) close(folder->held);
    rmdir(first);
    return err;
}

/* Says of an error in a file of the store that it is in this folder: the user knows no such file.
 */
static void tell_folder(struct ny_context *ctx, const char *file, const char *folder)
{
    int status = ny_context_error(ctx)->status;
    char place[4300], text[5200];

    snprintf(place, sizeof(place), "the temporary store in %s", folder);
    ny_error_rename(ctx, file, place);
    ny_error_rename(ctx, NY_STORE_SAFE,
                    "make space there, or choose another folder by --tmpdir, and");
    snprintf(text, sizeof(text), "%s", ny_context_message(ctx));
    ny_error_clear(ctx);
    ny_fail_at(ctx, status, folder, NY_NO_LINE, "%s", text);
}

void ny_scratch_told(struct ny_context *ctx, const char *store, const char *input)
{
    const char *file = ny_context_error(ctx)->file, *end = strrchr(store, '/');
    char folder[4200], inside[4400];

    if (file && strncmp(file, store, strlen(store)) == 0) {
        end = memrchr(store, '/', (size_t)(end - store));
        snprintf(folder, sizeof(folder), "%.*s", (int)(end - store), store);
        snprintf(inside, sizeof(inside), "%s", file);
        tell_folder(ctx, inside, folder);
    } else {
        ny_error_rename(ctx, store, input);
    }
}

void ny_scratch_remove(const struct ny_scratch_folder *folder)
{
    if (!folder) return;
    ny_folder_walk(folder->held, 3, remove_entry);
    rmdir(folder->path);
    close(folder->held);
}
