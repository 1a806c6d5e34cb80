/*
 * Writes that a disk acknowledged and forgot: each page in turn has what was there before one of
 * the last commits. Whatever is read is of the last commit, or the call says NY_ESTORE. But for the
 * meta pages: without the last write of one the file is what it was one commit earlier, as a whole.
 */
#include <fcntl.h>
#include <unistd.h>

#include "store/store.h"
#include "support/files.h"
#include "support/store_folder.h"
#include "support/test.h"

/* Small values, inside the leaves of a tree with several of them; each commit rewrites one, in its
 * size. The points have their small records, manifest and statistics, behind many blocks. */
enum { CHUNKS = 120, CHUNK_BYTES = 200, COMMITS = 8, PAGE = 4096, D = 8192, ROWS = 100 };

/* Large values, on pages of their own: a record of one page, a model of two and a checkpoint of
 * five; each commit rewrites them in their sizes, and LMDB uses the same few pages in turn. */
enum { LARGE = 3, LARGE_MAX = 18000 };
static const struct {
    const char *part;
    size_t bytes;
} large[LARGE] = {{"job", 3000}, {"model", 7000}, {"checkpoint", LARGE_MAX}};

static uint8_t last[CHUNKS]; /* what each chunk holds */
static uint8_t last_large;
static uint64_t rows_last;

struct image {
    char *data;
    size_t bytes;
};
static const char *const parts[2] = {"points", "results"};
static struct image images[2][COMMITS + 1];

static void data_file(char file[200], int which)
{
    snprintf(file, 200, "%s/%s/data.mdb", path, parts[which]);
}

static void keep_image(int which, int commit)
{
    struct image *image = &images[which][commit];
    char file[200];

    data_file(file, which);
    image->data = file_content(file, &image->bytes);
}

static void put(struct ny_store *store, uint64_t index, uint8_t value)
{
    char data[CHUNK_BYTES];
    struct ny_batch *batch;

    memset(data, value, sizeof(data));
    CHECK(ny_batch_begin(&batch, store));
    CHECK(ny_batch_put(batch, "fit", "part", index, data, sizeof(data)));
    CHECK(ny_batch_commit(batch));
    last[index] = value;
}

static void put_large(struct ny_store *store, uint8_t value)
{
    char data[LARGE_MAX];
    struct ny_batch *batch;

    memset(data, value, sizeof(data));
    CHECK(ny_batch_begin(&batch, store));
    for (int i = 0; i < LARGE; i++)
        CHECK(ny_batch_put(batch, "large", large[i].part, 0, data, large[i].bytes));
    CHECK(ny_batch_commit(batch));
    last_large = value;
}

static void append(struct ny_store *store, unsigned number)
{
    struct case_import import = {.seed = 5,
                                 .first = rows_last,
                                 .count = ROWS,
                                 .batch = ROWS,
                                 .spec = {.d = D, .dtype = NY_U8, .append = true,
                                          .fingerprint = number + 1}};

    CHECK(case_import(store, &import));
    rows_last += ROWS;
}

static void build(void)
{
    struct ny_store *store;

    make_folder();
    CHECK(ny_store_create(&store, ctx, path));
    for (unsigned i = 0; i < CHUNKS; i++)
        put(store, i, 1);
    for (unsigned i = 0; i < 60; i++)
        append(store, i);
    for (unsigned commit = 0; commit <= COMMITS; commit++) {
        put(store, 30, (uint8_t)(2 + commit));
        put_large(store, (uint8_t)(2 + commit));
        append(store, 100 + commit);
        if (commit == COMMITS) ny_store_close(store); /* points/ remember results/ then */
        keep_image(0, (int)commit);
        keep_image(1, (int)commit);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++)
        for (int commit = 0; commit <= COMMITS; commit++)
            free(images[i][commit].data);
    remove_folder();
}

static bool fine(int err)
{
    if (err && err != NY_ESTORE) fail_msg("status %d: %s", err, ny_context_message(ctx));
    ny_error_clear(ctx);
    return err == NY_OK;
}

static int count_damage(void *user, const struct ny_damage *damage)
{
    (void)damage;
    ++*(unsigned *)user;
    return NY_OK;
}

/* Large values: by the chunk, and as a whole. */
static bool examine_large(struct ny_store *store)
{
    bool all = true;

    for (int i = 0; i < LARGE; i++) {
        uint8_t data[LARGE_MAX];
        struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};
        bool one = fine(ny_chunk_get(store, "large", large[i].part, 0, &chunk));

        if (one) assert_int_equal(data[large[i].bytes - 1], last_large);
        assert_true(fine(ny_blob_get(store, "large", large[i].part, data, large[i].bytes)) == one);
        if (one) assert_int_equal(data[large[i].bytes - 1], last_large);
        all = all && one;
    }
    return all;
}

/* True: all of it is there and of the last commit; false: something is refused, and verify says
 * so. */
static bool examine(void)
{
    struct ny_rows_info info;
    struct ny_rows_stats stats;
    struct ny_store *store;
    unsigned damages = 0;
    bool all;

    if (!fine(ny_store_open(&store, ctx, path))) return false;
    all = examine_large(store);
    for (uint64_t i = 0; i < CHUNKS; i++) {
        uint8_t data[CHUNK_BYTES];
        struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};

        if (fine(ny_chunk_get(store, "fit", "part", i, &chunk)))
            assert_int_equal(data[CHUNK_BYTES - 1], last[i]);
        else all = false;
    }
    if (fine(ny_points_info(store, &info))) assert_int_equal(info.n, rows_last);
    else all = false;
    if (fine(ROWS_OF(store, stats, &stats))) {
        assert_int_equal(stats.n, rows_last);
        ny_rows_stats_release(&stats, ctx);
    } else all = false;
    if (!all) {
        assert_true(fine(ny_store_verify(store, count_damage, &damages)));
        assert_true(damages > 0);
    }
    ny_store_close(store);
    return all;
}

TEST(every_page_as_it_was_earlier)
{
    unsigned tried = 0, refused = 0;

    assert_true(examine());
    for (int which = 0; which < 2; which++) {
        const struct image *now = &images[which][COMMITS];
        char file[200];
        int fd;

        data_file(file, which);
        fd = open(file, O_RDWR);
        assert_true(fd >= 0);
        for (int commit = 0; commit < COMMITS; commit++) {
            const struct image *then = &images[which][commit];

            for (size_t at = 2 * PAGE; at + PAGE <= then->bytes; at += PAGE) {
                if (memcmp(then->data + at, now->data + at, PAGE) == 0) continue;
                assert_int_equal(pwrite(fd, then->data + at, PAGE, (off_t)at), PAGE);
                tried++;
                refused += !examine();
                assert_int_equal(pwrite(fd, now->data + at, PAGE, (off_t)at), PAGE);
            }
        }
        close(fd);
    }
    assert_true(examine());
    print_message("%u of %u were noticed\n", refused, tried);
    print_message("counted: %u damaged stores\n", tried);
    assert_true(refused > 20);
}

AROUND_ALL(build, tear_down)
