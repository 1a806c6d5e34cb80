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

/* A store in the folder with the rows of data. */
static struct ny_store *store_of(const struct data *data, struct ny_prepared prepared)
{
    static int number;
    struct ny_ingest_spec spec = {.d = data->d, .dtype = data->dtype, .preparation = prepared};
    struct ny_ingest_rows rows = {.values = data->raw, .count = data->rows, .consumed = data->rows};
    struct ny_store *store;
    char path[200];

    snprintf(path, sizeof(path), "%s/%d.nys", folder, number++);
    assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
    assert_int_equal(case_ingest(store, &spec, &rows), NY_OK);
    return store;
}

static void stop_folder(void)
{
    case_remove(folder);
    stop();
}

#endif
