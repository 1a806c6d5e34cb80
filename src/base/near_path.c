/*
 * "Did you mean" of a path that is not there: the nearest name in the folder that it is said to be
 * in. Of names that are equally near it is the first by the alphabet, in whatever order the system
 * lists them. Folders of very many entries are not read to their end.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"
#include "nystream.h"

enum { ENTRIES_MAX = 20000 };

/* A path, cut into its folder and its last name. */
struct place {
    char path[PATH_MAX];
    const char *folder, *name;
};

/* Cuts the path; slashes at its end are none of the name. Returns false where nothing is left. */
static bool cut(struct place *place, const char *path)
{
    size_t length = strlen(path);
    char *slash;

    while (length && path[length - 1] == '/')
        length--;
    if (length == 0 || length >= sizeof(place->path)) return false;
    memcpy(place->path, path, length);
    place->path[length] = '\0';
    slash = strrchr(place->path, '/');
    place->name = slash ? slash + 1 : place->path;
    place->folder = !slash ? "." : slash == place->path ? "/" : place->path;
    if (slash) *slash = '\0';
    return true;
}

/* Tells whether names are near, too, without the extension that both have: "b.csv" is as good as
 * any other name for "a.csv". */
static bool stems_are_near(const char *name, const char *entry)
{
    const char *name_end = strrchr(name, '.'), *entry_end = strrchr(entry, '.');
    char word[NAME_MAX + 1], stem[NAME_MAX + 1];
    const char *const candidates[1] = {stem};

    if (!name_end || !entry_end || strcasecmp(name_end, entry_end) != 0) return true;
    snprintf(word, sizeof(word), "%.*s", (int)(name_end - name), name);
    snprintf(stem, sizeof(stem), "%.*s", (int)(entry_end - entry), entry);
    return ny_suggest(word, candidates, 1) != NULL;
}

/* Tells whether an entry is nearer to the name than the nearest so far, "" before the first. */
static bool is_nearer(const struct place *place, const char *entry, const char *nearest)
{
    bool earlier = strcmp(entry, nearest) < 0;
    const char *const two[2] = {earlier ? entry : nearest, earlier ? nearest : entry};

    return entry[0] != '.' && ny_suggest(place->name, two, 2) == entry &&
           stems_are_near(place->name, entry);
}

struct ny_hint ny_hint_path(const char *path, ny_path_fn *may_be)
{
    char nearest[NAME_MAX + 1] = "", whole[PATH_MAX], shown[sizeof(struct ny_hint)];
    const char *const candidates[1] = {shown};
    const struct dirent *entry;
    struct place place;
    DIR *folder = cut(&place, path) ? opendir(place.folder) : NULL;

    for (int i = 0; folder && i < ENTRIES_MAX && (entry = readdir(folder)); i++) {
        if (!is_nearer(&place, entry->d_name, nearest)) continue;
        snprintf(whole, sizeof(whole), "%s/%s", place.folder, entry->d_name);
        if (may_be(whole)) snprintf(nearest, sizeof(nearest), "%s", entry->d_name);
    }
    if (folder) closedir(folder);
    ny_clean_text(nearest, shown, sizeof(shown));
    return ny_hint(place.name, candidates, nearest[0] ? 1 : 0);
}

static bool is_no_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

struct ny_hint ny_hint_file(const char *path)
{
    return ny_hint_path(path, is_no_folder);
}
