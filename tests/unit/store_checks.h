/* Shared by the tests of one store: set-up, checks, and comparing rows with the generator's. */
#ifndef TESTS_UNIT_STORE_CHECKS_H
#define TESTS_UNIT_STORE_CHECKS_H

#include "base/memory.h"
#include "store/store.h"
#include "support/store_folder.h"
#include "support/test.h"

static struct ny_store *store;

static void open_store(void)
{
    CHECK(ny_store_create(&store, ctx, path));
}

static void start(void)
{
    make_folder();
    open_store();
}

static void stop(void)
{
    ny_store_close(store);
    remove_folder();
}

static inline struct case_import import_of(enum ny_dtype dtype, uint64_t d, uint64_t count)
{
    return (struct case_import){.seed = 3,
                                .count = count,
                                .batch = 777,
                                .spec = {.d = d, .dtype = dtype, .fingerprint = 11}};
}

/* Rows first … of the store are rows first_of_set … of data set `seed`. */
static inline void check_rows(unsigned seed, uint64_t first, uint64_t count,
                              uint64_t first_of_set)
{
    struct ny_rows_info info;
    size_t bytes;
    char *got, *want;

    CHECK(ny_points_info(store, &info));
    bytes = count * info.d * ny_dtype_size(info.dtype);
    got = lend(bytes + 1);
    want = lend(bytes + 1);
    case_rows(want, seed, info.dtype, info.d, first_of_set, count);
    CHECK(ny_points_read(store, 0, first, count, got));
    assert_memory_equal(got, want, bytes);
}

/* An empty store under the same name. */
static inline void new_store(void)
{
    ny_store_close(store);
    case_remove(path);
    open_store();
}

#endif
