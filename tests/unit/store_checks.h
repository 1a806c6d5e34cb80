/* Shared by the tests of one store: set-up, checks, and comparing rows with the generator's. */
#ifndef TESTS_UNIT_STORE_CHECKS_H
#define TESTS_UNIT_STORE_CHECKS_H

#include <fcntl.h>
#include <unistd.h>

#include "store/codec.h"
#include "support/store_folder.h"

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

/* Asks the store for the record of its rows. */
static inline struct ny_rows_info points_now(void)
{
    struct ny_rows_info info;

    CHECK(ny_points_info(store, &info));
    return info;
}

/* All that readers see of the points, as they are stored, but the number of their transaction. */
struct points_seen {
    struct ny_stored_points points;
    struct ny_points_state state;
};

static inline struct points_seen points_seen(void)
{
    struct points_seen seen;

    memset(&seen, 0, sizeof(seen));
    CHECK(ny_points_stored(store, &seen.points));
    CHECK(ny_points_state(store, &seen.state));
    seen.state.txn = 0;
    return seen;
}

/* Returns how many rows are staged, from which an import would go on. */
static inline uint64_t staged_rows(const struct ny_ingest_spec *spec)
{
    struct ny_ingest *ingest;
    uint64_t consumed;

    CHECK(ny_ingest_begin(&ingest, store, spec, &consumed));
    ny_ingest_free(ingest);
    return consumed;
}

/* Rows first … of the store are rows first_of_set … of data set `seed`. */
static inline void check_rows(unsigned seed, uint64_t first, uint64_t count, uint64_t first_of_set)
{
    struct ny_rows_info info = points_now();
    size_t bytes = count * info.d * ny_dtype_size(info.dtype);
    char *got = lend(bytes + 1), *want = lend(bytes + 1);

    case_rows(want, seed, info.dtype, info.d, first_of_set, count);
    CHECK(ROWS_OF(store, read, 0, first, count, got));
    assert_memory_equal(got, want, bytes);
}

static inline void reopen(void)
{
    ny_store_close(store);
    CHECK(ny_store_open(&store, ctx, path));
}

/* For ny_store_verify(), which must find none. */
static inline int no_damage(void *user, const struct ny_damage *damage)
{
    (void)user;
    fail_msg("%s", damage->what);
    return NY_OK;
}

/* For ny_store_truncate(); `user`: an int that counts the calls, or NULL. */
static inline int agree(void *user, bool now)
{
    if (user) *(int *)user += now ? 10 : 1;
    return NY_OK;
}

/* Opens the file of points or of results, to damage it. */
static inline int data_file(const char *of, const char *part)
{
    int fd;
    char *file = lend_text("%s/%s/data.mdb", of, part);

    fd = open(file, O_RDWR);
    assert_true(fd >= 0);
    return fd;
}

/* Finds the frame of a block, in its last version, as an append leaves older ones behind. */
static inline off_t find_block(int fd, unsigned kind, uint64_t number, uint32_t rows)
{
    struct ny_header header;

    for (off_t at = 16; pread(fd, &header, sizeof(header), at) == sizeof(header); at += 4096)
        if (header.number == number && header.packed >> 28 == kind &&
            (header.packed & 0xffffff) == rows)
            return at;
    fail_msg("block %d is not in the file", (int)number);
    return 0;
}

/* An empty store under the same name. */
static inline void new_store(void)
{
    ny_store_close(store);
    case_remove(path);
    open_store();
}

#endif
