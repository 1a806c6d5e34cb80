/* A small store that tests open, and the paths of files in it. */
#ifndef TESTS_UNIT_STORE_OPENED_H
#define TESTS_UNIT_STORE_OPENED_H

#include "support/store_folder.h"

static const struct case_import small = {
    .seed = 1, .count = 3000, .batch = 1000, .spec = {.d = 784, .dtype = NY_U8, .fingerprint = 1}};

static inline void make_store(const char *where)
{
    OWNED(ny_store) *store = NULL;

    CHECK(ny_store_create(&store, ctx, where));
    CHECK(case_import(store, &small));
}

static inline char *in_store(const char *name)
{
    static char files[2][256];
    static int turn;

    turn = !turn;
    snprintf(files[turn], sizeof(files[turn]), "%s/%s", path, name);
    return files[turn];
}

#endif
