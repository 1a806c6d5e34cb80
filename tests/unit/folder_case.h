/* The tests of columns that have a folder of their own, which is gone after each of them. */
#ifndef TESTS_UNIT_FOLDER_CASE_H
#define TESTS_UNIT_FOLDER_CASE_H

#include "support/store_case.h"
#include "unit/columns_case.h"

static char folder[128];

static void start_folder(void)
{
    case_directory(folder);
    start();
}

static void stop_folder(void)
{
    case_remove(folder);
    stop();
}

#endif
