/* Names of outputs (io/output.h): which endings each kind may have. api/ checks a name with
 * ny_output_check() before the work begins, and io/writer.c asks for the form of a text table.
 * Nothing is opened here; stat() alone tells a pipe or a folder from a file. */
#include "io/output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* The endings of each kind. */
static const struct {
    const char *noun, *endings;
} kinds[] = {
    [NY_OUTPUT_TABLE] = {"a table", ".npy, .csv, .csv.gz, .tsv, .eigenvec or .eigenval"},
    [NY_OUTPUT_GRAPH] = {"a graph", ".npz, .mtx, .txt, .csv or .tsv"},
    [NY_OUTPUT_NAMES] = {"a list of names", ".txt, .csv, .csv.gz or .tsv"},
    [NY_OUTPUT_MODEL] = {"a model", ".nym"},
    [NY_OUTPUT_PICTURE] = {"a picture", ".png, .svg or .pdf"},
    [NY_OUTPUT_PAGE] = {"a report", ".html or .htm"},
};

bool ny_output_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

bool ny_output_is_stream(const char *path)
{
    struct stat info;

    return ny_output_is_stdout(path) ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

/* Finds the folder of a path, which need not be there itself. */
static bool find_folder(const char *path, struct stat *folder)
{
    const char *slash = strrchr(path, '/');
    char text[PATH_MAX];
    int length = slash ? snprintf(text, sizeof(text), "%.*s/", (int)(slash - path), path)
                       : snprintf(text, sizeof(text), ".");

    return length < (int)sizeof(text) && stat(text, folder) == 0;
}

bool ny_output_is_same(const char *a, const char *b)
{
    const char *slashes[] = {strrchr(a, '/'), strrchr(b, '/')};
    struct stat folders[2];

    if (strcmp(a, b) == 0) return true;
    if (strcmp(slashes[0] ? slashes[0] + 1 : a, slashes[1] ? slashes[1] + 1 : b) != 0) return false;
    return find_folder(a, &folders[0]) && find_folder(b, &folders[1]) &&
           folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino;
}

struct ny_table_text ny_output_text(const char *path)
{
    bool packed = ny_ends_with(path, ".csv.gz"), samples = ny_ends_with(path, ".eigenvec");
    char delimiter = '\0';

    if (packed || ny_ends_with(path, ".csv")) delimiter = ',';
    if (ny_ends_with(path, ".tsv") || samples || ny_ends_with(path, ".eigenval")) delimiter = '\t';
    return (struct ny_table_text){delimiter, packed, samples};
}

/* Tells whether a name has one of the endings, and something before it. */
static bool has_ending(const char *name, const char *endings)
{
    size_t bytes = strlen(name);

    for (const char *at = endings; at; at = strstr(at, " .")) {
        size_t length = strcspn(at += *at == ' ', ", ");

        if (bytes > length && strncasecmp(name + bytes - length, at, length) == 0) return true;
    }
    return false;
}

/* Finds the store, or store of shards, whose folder a path leads into. */
static bool find_store(const char *path, char store[PATH_MAX])
{
    static const char *const files[] = {"points/data.mdb", "shards.lock"};
    const char *slash = strrchr(path, '/');
    char file[PATH_MAX + 16];

    snprintf(file, sizeof(file), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (!realpath(file, store)) return false;
    for (char *end = store + strlen(store); end && end > store; end = strrchr(store, '/')) {
        *end = '\0';
        for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
            snprintf(file, sizeof(file), "%s/%s", store, files[i]);
            if (access(file, F_OK) == 0) return true;
        }
    }
    return false;
}

int ny_output_check(struct ny_context *ctx, const char *path, enum ny_output what)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat info;
    char store[PATH_MAX];

    if (!ny_output_is_stream(path) && find_store(path, store))
        return ny_fail(ctx, NY_EUSAGE, "%s is inside the store %s; write to another folder", path,
                       store);
    if (has_ending(name, kinds[what].endings) || ny_output_is_stream(path)) return NY_OK;
    if (!*name || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return NY_OK; /* the writer says that it is a folder */
    return ny_fail(ctx, NY_EUSAGE, "%s: give %s a name that ends in %s", path, kinds[what].noun,
                   kinds[what].endings);
}
