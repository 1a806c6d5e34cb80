/* Says what to do where a directory is given as a file of points. io/bytes.c calls
 * ny_directory_given() when it has opened one. A store and a folder of images are the usual
 * mistakes, and each gets advice of its own. */
#include "io/directory.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

/* Tells a store by the file of its points. */
static bool is_store(const char *path)
{
    char file[PATH_MAX];

    return snprintf(file, sizeof(file), "%s/points/data.mdb", path) < (int)sizeof(file) &&
           access(file, F_OK) == 0;
}

/* Tells an image by the end of its name; nothing is opened. */
static bool is_image(const char *name)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (ny_ends_with(name, endings[i])) return true;
    return false;
}

/* Looks at a few entries of the folder itself: what lies deeper says nothing of what it is. */
static bool holds_images(const char *path)
{
    enum { ENTRIES_MAX = 200 };
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool found = false;

    for (int i = 0; directory && !found && i < ENTRIES_MAX && (entry = readdir(directory)); i++)
        found = is_image(entry->d_name);
    if (directory) closedir(directory);
    return found;
}

int ny_directory_given(struct ny_context *ctx, const char *path)
{
    if (is_store(path))
        return ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE,
                          "%s is a store and not a file of points; the store is named before the "
                          "files",
                          path);
    if (holds_images(path))
        return ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE,
                          "%s is a directory of images; make a table of them first: " NY_IMAGE_ROWS,
                          path);
    return ny_fail_at(
        ctx, NY_EIO, path, NY_NO_LINE,
        "%s is a directory; give a file of points. Images in folders become one by " NY_IMAGE_ROWS,
        path);
}
