/* Names of outputs (io/output.h): which endings each kind may have, and what to say about another
 * one. api/ checks a name with ny_output_check() before the work begins, and io/writer.c asks for
 * the form of a text table. Nothing is opened here; stat() alone tells a pipe or a folder from a
 * file. */
#include "io/output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* Endings of each kind, the one to suggest first. */
static const struct {
    const char *noun;
    const char *endings[6];
} kinds[] = {
    [NY_OUTPUT_TABLE] = {"a table", {".npy", ".csv", ".csv.gz", ".tsv"}},
    [NY_OUTPUT_NEIGHBORS] = {"a table of neighbours", {".npy", ".csv", ".csv.gz", ".tsv"}},
    [NY_OUTPUT_GRAPH] = {"a graph", {".npz", ".mtx", ".txt", ".csv", ".tsv"}},
    [NY_OUTPUT_NAMES] = {"a list of names", {".txt", ".csv", ".csv.gz", ".tsv"}},
    [NY_OUTPUT_MODEL] = {"a model", {".nym"}},
    [NY_OUTPUT_PICTURE] = {"a picture", {".png", ".svg", ".pdf"}},
    [NY_OUTPUT_PAGE] = {"a report", {".html", ".htm"}},
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
    bool packed = ny_ends_with(path, ".csv.gz");
    char delimiter = '\0';

    if (packed || ny_ends_with(path, ".csv")) delimiter = ',';
    if (ny_ends_with(path, ".tsv")) delimiter = '\t';
    return (struct ny_table_text){delimiter, packed};
}

/* Writes ".npy, .csv, .csv.gz or .tsv", for the message. */
static void list_endings(enum ny_output what, char *text, size_t size)
{
    const char *const *endings = kinds[what].endings;
    size_t used = 0;

    for (size_t i = 0; endings[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0           ? ""
                                 : endings[i + 1] ? ", "
                                                  : " or ",
                                 endings[i]);
}

/* Writes the end of the message for a name that somebody had a reason to choose: graphs have no
 * formats of their own, models, pictures and pages have commands of their own. Writes "" for other
 * names. */
static void put_reason(const char *name, const char *end, enum ny_output what, char *text,
                       size_t bytes)
{
    bool table = what == NY_OUTPUT_TABLE;

    text[0] = '\0';
    if (what == NY_OUTPUT_NEIGHBORS && ny_one_of(end, ".mtx|.npz"))
        snprintf(text, bytes,
                 "; 'nystream export --part graph' writes the graph as a sparse matrix");
    else if (table && ny_one_of(end, ".nym"))
        snprintf(text, bytes, "; 'nystream export --part model' writes a model");
    else if (table && ny_one_of(end, ".png|.svg|.pdf"))
        snprintf(text, bytes, "; 'nystream plot STORE NAME -o %s' draws a picture of a result",
                 name);
    else if (table && ny_one_of(end, ".html|.htm"))
        snprintf(text, bytes, "; 'nystream report STORE NAME -o %s' writes a page of a result",
                 name);
}

/* Suggests .csv to those who want text or the format of a program that reads text. */
static const char *suggested(const char *end, enum ny_output what)
{
    bool table = what == NY_OUTPUT_TABLE || what == NY_OUTPUT_NEIGHBORS;

    return table && ny_one_of(end, ".txt|.dat|.parquet|.feather|.arrow|.xlsx|.json")
               ? ".csv"
               : kinds[what].endings[0];
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
    const char *end = strrchr(name, '.'), *const *endings = kinds[what].endings;
    struct stat info;
    char list[64], reason[NAME_MAX + 128], store[PATH_MAX];
    size_t stem;

    if (!ny_output_is_stream(path) && find_store(path, store))
        return ny_fail(ctx, NY_EUSAGE,
                       "%s is inside %s, a store, whose folder is for its own files alone; write "
                       "to another folder",
                       path, store);
    for (size_t i = 0; endings[i]; i++)
        if (strlen(name) > strlen(endings[i]) && ny_ends_with(name, endings[i])) return NY_OK;
    if (ny_output_is_stream(path)) return NY_OK;
    if (!*name || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return NY_OK; /* the writer says that it is a folder */
    list_endings(what, list, sizeof(list));
    if (!end || end == name) end = "";
    stem = strlen(path) - strlen(end);
    put_reason(name, end, what, reason, sizeof(reason));
    return ny_fail(ctx, NY_EUSAGE,
                   "%s: %s is written to a name that ends in %s; give one that does, such as "
                   "%.*s%s%s",
                   path, kinds[what].noun, list, (int)stem, path, suggested(end, what),
                   reason);
}
