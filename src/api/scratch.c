/* Chooses, makes and removes scratch folders. */
#include "api/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "nystream.h"
#include "store/store.h"

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

/* Bytes, about, of a store without rows and of what a fit of so many keeps in it: coordinates,
 * neighbours, and what the landmarks share. */
static double results_bytes(const struct ny_options *options, uint64_t rows)
{
    const double empty = 1 << 20;
    uint64_t components = 0, neighbors = 0, landmarks = 0;

    ny_options_size(options, "components", &components);
    ny_options_size(options, "neighbors", &neighbors);
    ny_options_size(options, "landmarks", &landmarks);
    if (landmarks > rows) landmarks = rows;
    return empty + 8 * ((double)rows * ((double)components + (double)neighbors) +
                        (double)landmarks * (double)landmarks);
}

const char *ny_scratch_parent(const struct ny_context *ctx, const struct ny_options *options,
                              const struct ny_table *table)
{
    static const char memory_disk[] = "/dev/shm";
    const double share = 4;
    const char *typed = ny_options_text(options, "tmpdir"), *set = getenv("TMPDIR");
    uint64_t values = table->row_start ? 2 * table->entries : table->rows * table->columns;
    struct statvfs disk;
    double bytes =
        share * ((double)values * (double)sizeof(double) + results_bytes(options, table->rows));

    if (typed || (set && *set)) return typed ? typed : set;
    if (access(memory_disk, W_OK) == 0 && statvfs(memory_disk, &disk) == 0 &&
        bytes < (double)disk.f_bavail * (double)disk.f_frsize &&
        bytes < (double)ny_context_memory(ctx))
        return memory_disk;
    return "/tmp";
}

int ny_scratch_make(struct ny_context *ctx, const char *parent, char *path, size_t size)
{
    snprintf(path, size, "%s/.nystream-XXXXXX", parent);
    return mkdtemp(path) ? NY_OK : ny_fail_errno(ctx, "make a temporary store in", parent);
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

void ny_scratch_remove(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0) return;
    empty_folder(folder, 3);
    close(folder);
    rmdir(path);
}
