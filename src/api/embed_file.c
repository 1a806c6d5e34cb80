/* ny_embed_file: import, fit, export, in a temporary store. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/options.h"
#include "base/memory.h"
#include "io/writer.h"

/* The folder of a file name: "." where it names none. */
static void folder_of(const char *file, char *folder, size_t size)
{
    const char *slash = strrchr(file, '/');

    if (!slash)
        snprintf(folder, size, ".");
    else if (slash == file)
        snprintf(folder, size, "/");
    else
        snprintf(folder, size, "%.*s", (int)(slash - file), file);
}

/* Removes what ny_import made: two levels of plain files. Nothing is followed. */
static void remove_store(const char *path, int depth)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        char child[4600];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(child, sizeof(child), "%s/%s", path, entry->d_name) >= (int)sizeof(child))
            continue;
        if (unlink(child) != 0 && depth > 0) remove_store(child, depth - 1);
    }
    if (directory) closedir(directory);
    rmdir(path);
}

static int make_folder(struct ny_context *ctx, const char *output, const struct ny_options *options,
                       char *path, size_t size)
{
    const char *typed = options ? ny_options_text(options, "tmpdir") : NULL;
    char folder[4096];

    if (typed)
        snprintf(folder, sizeof(folder), "%s", typed);
    else if (strcmp(output, "-") == 0)
        snprintf(folder, sizeof(folder), ".");
    else
        folder_of(output, folder, sizeof(folder));
    snprintf(path, size, "%s/.nystream-XXXXXX", folder);
    return mkdtemp(path) ? NY_OK : ny_fail_errno(ctx, "make a temporary store in", folder);
}

int ny_embed_file(struct ny_context *context, const char *file, const char *output,
                  const struct ny_options *options, struct ny_report **report)
{
    const char *const files[] = {file};
    char folder[4200], store[4300];
    struct ny_options *defaults = NULL;
    int err;

    if (report) *report = NULL;
    ny_error_clear(context);
    err = ny_options_new(&defaults, context);
    if (err) return err;
    err = ny_writer_check(context, output); /* now, not when the work is done */
    if (err) goto done;
    err = make_folder(context, output, options, folder, sizeof(folder));
    if (err) goto done;
    snprintf(store, sizeof(store), "%s/store.nys", folder);
    err = ny_import(context, store, files, 1, options ? options : defaults, NULL);
    if (err == NY_OK)
        err = ny_fit(context, store, "embedding", options ? options : defaults, report);
    if (err == NY_OK) err = ny_export(context, store, "embedding", "embedding", output);
    remove_store(folder, 3);
done:
    ny_options_free(defaults);
    return err;
}
