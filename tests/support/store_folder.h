/* Set-up of the tests of a store: a context, a folder of its own and the path of a store in it,
 * which the tests make. In the end all memory that was charged to the context has been given
 * back. */
#ifndef TESTS_SUPPORT_STORE_FOLDER_H
#define TESTS_SUPPORT_STORE_FOLDER_H

#include "support/folder.h"

static char path[160];

static inline void make_folder(void)
{
    new_folder();
    snprintf(path, sizeof(path), "%s/a.nys", directory);
}

#endif
