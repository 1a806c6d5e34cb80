/* Files that are installed with the library or the program. */
#ifndef NY_BASE_BESIDE_H
#define NY_BASE_BESIDE_H

#include <limits.h>
#include <stdbool.h>

/* Looks for a file beside the program, then beside the library; beside each also in
 * "../<sibling>/". Writes its path and returns true where it is there with the right of access()
 * `mode`. */
bool ny_find_beside(const char *file, const char *sibling, int mode, char path[PATH_MAX]);

#endif
