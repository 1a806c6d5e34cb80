#include "base/beside.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"

/* Looks in the folder of `neighbor`, "…/NEIGHBOR", and in its sibling. */
static bool find_by(const char *neighbor, const char *file, const char *sibling, int mode,
                    char *path)
{
    const char *slash = strrchr(neighbor, '/');
    int folder = slash ? (int)(slash - neighbor) : 0;

    if (!slash || strlen(neighbor) + strlen(sibling) + strlen(file) + 8 > PATH_MAX) return false;
    snprintf(path, PATH_MAX, "%.*s/%s", folder, neighbor, file);
    if (access(path, mode) == 0) return true;
    snprintf(path, PATH_MAX, "%.*s/../%s/%s", folder, neighbor, sibling, file);
    return access(path, mode) == 0;
}

bool ny_find_beside(const char *file, const char *sibling, int mode, char path[PATH_MAX])
{
    char program[PATH_MAX];
    Dl_info library;

    if (ny_program_path(program) && find_by(program, file, sibling, mode, path)) return true;
    return dladdr((const void *)(uintptr_t)ny_find_beside, &library) && library.dli_fname &&
           find_by(library.dli_fname, file, sibling, mode, path);
}
