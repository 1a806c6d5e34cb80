/* The tests of columns that have a folder of their own, which is gone after each of them. */
#ifndef TESTS_UNIT_FOLDER_CASE_H
#define TESTS_UNIT_FOLDER_CASE_H

#include <unistd.h>

#include "unit/columns_case.h"

static char folder[64];

static int start_folder(void **state)
{
    strcpy(folder, "/tmp/nystream-columns-XXXXXX");
    return mkdtemp(folder) ? start(state) : -1;
}

static int stop_folder(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) != 0 || stop(state);
}

#endif
