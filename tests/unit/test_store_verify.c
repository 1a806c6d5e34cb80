/* ny_store_verify(), and what reads say of a damaged, swapped or foreign block: damage costs only
 * the block it hits. */
#include "store_checks.h"

#include <dlfcn.h>
#include <errno.h>
#include <lmdb.h>

#include "store/page.h"

enum { D = 256, N = 5 * 1024 + 10 }; /* f32: blocks of 1024 rows, kept raw; the sixth is short */

/* Rows that do not compress, so that all full blocks have the same size. */
static void fill(float *rows)
{
    uint64_t hash = 88172645463325252ULL;

    for (size_t i = 0; i < (size_t)N * D; i++) {
        hash ^= hash << 13;
        hash ^= hash >> 7;
        hash ^= hash << 17;
        rows[i] = (float)(hash >> 11) / 9007199254740992.0f;
    }
}

static void import_noise(struct ny_store *into, float *values)
{
    struct ny_ingest_spec spec = {.d = D, .dtype = NY_F32, .fingerprint = 1};
    struct ny_ingest_rows rows = {.values = values, .count = N, .consumed = N};

    CHECK(case_ingest(into, &spec, &rows));
}

/* One block of this store becomes one of that. */
static void copy_block(const char *from, uint64_t source, uint64_t target)
{
    size_t bytes = sizeof(struct ny_header) + 1024 * D * sizeof(float);
    char *frame = lend(bytes);
    int in = data_file(from, "points"), out = data_file(path, "points");

    assert_int_equal(pread(in, frame, bytes, find_block(in, NY_KIND_POINTS, source, 1024)), bytes);
    assert_int_equal(pwrite(out, frame, bytes, find_block(out, NY_KIND_POINTS, target, 1024)),
                     bytes);
    close(in);
    close(out);
}

static void flip_bit(uint64_t block, off_t place)
{
    int fd = data_file(path, "points");
    off_t at = find_block(fd, NY_KIND_POINTS, block, 1024) + place;
    char byte;

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

struct list {
    unsigned count;
    uint64_t blocks[8], rows[8], first[8];
    char what[8][128];
};

static int note(void *user, const struct ny_damage *damage)
{
    struct list *list = user;

    assert_true(list->count < 8);
    list->blocks[list->count] = damage->block;
    list->first[list->count] = damage->first_row;
    list->rows[list->count] = damage->rows;
    snprintf(list->what[list->count++], 128, "%s", damage->what);
    return NY_OK;
}

/* Block `bad` cannot be read, and why; all others are right. */
static void check_reads(const float *values, uint64_t bad)
{
    float *rows = lend(1024 * D * sizeof(*rows));
    size_t count;

    for (uint64_t b = 0; b < 6; b++) {
        int err = ny_points_read_block(store, b, rows, &count);

        if (b == bad) {
            REFUSED(err, NY_ESTORE);
            continue;
        }
        CHECK(err);
        assert_memory_equal(rows, values + b * 1024 * D, count * D * sizeof(*rows));
    }
}

TEST(damaged_blocks)
{
    float *values = lend((size_t)N * D * sizeof(*values));
    struct list list = {0};
    struct ny_store *second;
    char *other = lend_text("%s/b.nys", directory);

    fill(values);
    import_noise(store, values);
    flip_bit(3, 1000);
    check_reads(values, 3);
    check_reads(values, 3);
    CHECK(ny_store_verify(store, note, &list));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.blocks[0], 3);
    assert_int_equal(list.first[0], 3072);
    assert_int_equal(list.rows[0], 1024);
    flip_bit(3, 1000);
    check_reads(values, 99);
    flip_bit(3, 26); /* in the header */
    check_reads(values, 3);
    flip_bit(3, 26);

    copy_block(path, 1, 2);
    check_reads(values, 2);
    memset(&list, 0, sizeof(list));
    CHECK(ny_store_verify(store, note, &list));
    assert_int_equal(list.count, 2); /* the block, and the digest of all of them */
    assert_int_equal(list.blocks[0], 2);
    assert_int_equal(list.rows[1], 0);

    CHECK(ny_store_create(&second, ctx, other));
    import_noise(second, values);
    ny_store_close(second);
    new_store();
    import_noise(store, values);
    copy_block(other, 4, 4);
    check_reads(values, 4);
}

TEST(damaged_chunks)
{
    struct list list = {0};
    char data[20000], got[20000];
    struct ny_chunk chunk = {.data = got, .capacity = sizeof(got)};
    struct ny_batch *batch;
    int fd;

    memset(data, 'q', sizeof(data));
    CHECK(ny_batch_begin(&batch, store));
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ny_batch_put(batch, "fit", "model", i, data, sizeof(data)));
    CHECK(ny_batch_commit(batch));
    fd = data_file(path, "results");
    for (off_t at = 16 + 32; pread(fd, got, 8, at) == 8; at += 4096)
        if (memcmp(got, "qqqqqqqq", 8) == 0) { /* the first that is found */
            assert_int_equal(pwrite(fd, "p", 1, at), 1);
            break;
        }
    close(fd);
    CHECK(ny_store_verify(store, note, &list));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.rows[0], 0);
    assert_non_null(strstr(list.what[0], "result 'fit', model, chunk "));
    assert_non_null(strstr(list.what[0], "checksum"));
    for (uint64_t i = 0, wrong = 0; i < 3; i++) {
        int err = ny_chunk_get(store, "fit", "model", i, &chunk);

        if (err) {
            REFUSED(err, NY_ESTORE);
            assert_int_equal(++wrong, 1);
        } else {
            assert_int_equal(chunk.bytes, sizeof(data));
            assert_memory_equal(got, data, sizeof(data));
        }
    }
}

static int step_fails;    /* with this code of LMDB's; 0: none does */
static long steps_before; /* that go well */

/* Hides the function of LMDB from the library. */
int mdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op op)
{
    static __typeof__(&mdb_cursor_get) next;

    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "mdb_cursor_get");
    if (step_fails && op == MDB_SET_RANGE && steps_before-- <= 0) return step_fails;
    return next(cursor, key, value, op);
}

TEST(a_list_of_chunks_that_breaks_off)
{
    struct list list = {0};
    struct ny_batch *batch;
    int err;

    CHECK(ny_batch_begin(&batch, store));
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ny_batch_put(batch, "fit", "model", i, "abc", 3));
    CHECK(ny_batch_commit(batch));
    CHECK(ny_store_verify(store, note, &list));
    assert_int_equal(list.count, 0);
    step_fails = EIO;
    steps_before = 1;
    err = ny_store_verify(store, note, &list);
    step_fails = 0;
    CHECK(err);
    assert_int_equal(list.count, 1);
    assert_non_null(strstr(list.what[0], "the list of chunks cannot be read to its end: Input"));
    step_fails = ENOMEM;
    steps_before = 1;
    err = ny_store_verify(store, note, &list);
    step_fails = 0;
    REFUSED(err, NY_EBUDGET);
    CHECK(ny_store_verify(store, note, &list));
    assert_int_equal(list.count, 1);
}

/* ---- damage that looks like another sound file --------------------------------------------- */

enum { META_TXN = 16 + 128, PAGE = 4096 };

static int closed_results(void)
{
    ny_store_close(store);
    store = NULL;
    return data_file(path, "results");
}

/* The newest meta page, dated back, would make the one before it the newest. */
TEST(an_older_state_does_not_come_back)
{
    uint64_t txn[2], newest;
    int fd;

    for (int i = 0; i < 20; i++) /* until the file has stopped growing */
        CHECK(ny_blob_put(store, "fit", "x", "abc", 3));
    fd = closed_results();
    for (int i = 0; i < 2; i++)
        assert_int_equal(pread(fd, &txn[i], 8, i * PAGE + META_TXN), 8);
    newest = txn[1] > txn[0];
    assert_int_equal(txn[newest], txn[!newest] + 1);
    txn[newest] -= 2;
    assert_int_equal(pwrite(fd, &txn[newest], 8, (off_t)newest * PAGE + META_TXN), 8);
    close(fd);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
}

/* The first big value of the file's newest leaf: where its entry has the page, and the page. */
static off_t find_big(int fd, int which, uint64_t *page)
{
    char leaf[PAGE];
    off_t found = 0;
    int seen = 0;

    for (off_t at = 2 * PAGE; pread(fd, leaf, PAGE, at) == PAGE; at += PAGE) {
        uint16_t flags, lower, offset, node[4];

        memcpy(&flags, leaf + 10, 2);
        memcpy(&lower, leaf + 12, 2);
        if (flags != 2) continue;
        for (seen = 0, offset = 16; offset < lower; offset += 2) {
            uint16_t place;

            memcpy(&place, leaf + offset, 2);
            memcpy(node, leaf + place, sizeof(node));
            if (!(node[2] & 1) || leaf[place + 8] != 'f' || seen++ != which) continue;
            memcpy(page, leaf + place + 8 + node[3], 8);
            found = at + place + 8 + node[3];
        }
    }
    assert_true(found > 0);
    return found;
}

static void put_three(void)
{
    struct ny_batch *batch;
    char data[9000] = "";

    CHECK(ny_batch_begin(&batch, store));
    for (uint64_t i = 0; i < 3; i++)
        CHECK(ny_batch_put(batch, "fit", "x", i, data, sizeof(data)));
    CHECK(ny_batch_commit(batch));
}

TEST(two_values_on_one_page)
{
    uint64_t first, second;
    off_t at;
    int fd;

    put_three();
    fd = closed_results();
    find_big(fd, 0, &first);
    at = find_big(fd, 1, &second);
    assert_true(first != second);
    assert_int_equal(pwrite(fd, &first, 8, at), 8);
    close(fd);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
}

static struct ny_meta newest_meta(int fd)
{
    struct ny_meta meta[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pread(fd, &meta[i], sizeof(*meta), i * PAGE + 16), sizeof(*meta));
    return meta[meta[1].txn > meta[0].txn];
}

/* LMDB would write its next page over the root of the tree. */
TEST(a_page_of_the_tree_among_the_free)
{
    uint64_t list[PAGE / 8] = {0}, i = 1;
    struct ny_meta meta;
    struct ny_node node;
    uint16_t place;
    off_t at;
    int fd;

    put_three();
    fd = closed_results();
    meta = newest_meta(fd);
    at = (off_t)meta.free.root * PAGE;
    assert_int_equal(meta.free.depth, 1);
    assert_int_equal(pread(fd, &place, 2, at + 16), 2);
    assert_int_equal(pread(fd, &node, sizeof(node), at + place), sizeof(node));
    at += place + (off_t)sizeof(node) + node.key_bytes;
    assert_int_equal(pread(fd, list, node.low, at), node.low);
    assert_true(list[0] >= 1);
    while (i < list[0] && list[i + 1] > meta.main.root) /* they descend */
        i++;
    list[i] = meta.main.root;
    assert_int_equal(pwrite(fd, list, node.low, at), node.low);
    close(fd);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
}

/* The tree of the free pages is walked after the values. */
TEST(a_page_of_a_value_in_the_tree_of_the_free)
{
    char data[PAGE - 16 - 64] = ""; /* of one page, with its frame */
    struct ny_meta meta;
    uint64_t page;
    off_t at;
    int fd;

    CHECK(ny_blob_put(store, "fit", "x", data, sizeof(data)));
    CHECK(ny_blob_put(store, "fit", "y", data, sizeof(data)));
    fd = closed_results();
    meta = newest_meta(fd);
    at = find_big(fd, 0, &page);
    assert_int_equal(at / PAGE, meta.main.root);
    assert_int_equal(pwrite(fd, &meta.free.root, 8, at), 8);
    close(fd);
    REFUSED(ny_store_open(&store, ctx, path), NY_ESTORE);
}

/* A value that claims more pages than it has would, when deleted, free those of its neighbours. */
TEST(a_value_that_claims_too_many_pages)
{
    uint32_t pages = 40;
    struct ny_batch *batch;
    uint64_t page;
    int fd;

    put_three();
    fd = data_file(path, "results");
    find_big(fd, 0, &page);
    assert_int_equal(pwrite(fd, &pages, 4, (off_t)page * PAGE + 12), 4);
    close(fd);
    CHECK(ny_batch_begin(&batch, store));
    REFUSED(ny_batch_delete(batch, "fit", "x"), NY_ESTORE);
    assert_int_equal(ny_batch_commit(batch), NY_ESTORE);
    CHECK(ny_blob_put(store, "other", "x", "abc", 3));
}

static int stop_at_once(void *user, const struct ny_damage *damage)
{
    (void)damage;
    ++*(int *)user;
    return NY_EUSAGE;
}

TEST(the_caller_may_stop)
{
    float *values = lend((size_t)N * D * sizeof(*values));
    int calls = 0;

    fill(values);
    import_noise(store, values);
    flip_bit(0, 500);
    flip_bit(1, 500);
    assert_int_equal(ny_store_verify(store, stop_at_once, &calls), NY_EUSAGE);
    assert_int_equal(calls, 1);
}

/* Cuts off all but ten rows, once, from another handle. */
static void cut_off(void *user, const struct ny_progress *progress)
{
    int *cuts = user;
    OWNED(ny_context) *other = NULL;
    OWNED(ny_store) *same = NULL;

    if (strcmp(progress->stage, "verify") != 0 || (*cuts)++) return;
    assert_int_equal(ny_context_new(&other), NY_OK);
    assert_int_equal(ny_store_open(&same, other, path), NY_OK);
    if (ny_store_truncate(same, 10, agree, NULL)) fail_msg("%s", ny_context_message(other));
}

TEST(blocks_that_are_cut_off_meanwhile_are_not_damaged)
{
    float *values = lend((size_t)N * D * sizeof(float));
    struct list list = {0};
    int cuts = 0;

    fill(values);
    import_noise(store, values);
    ny_context_set_threads(ctx, 1);
    ny_context_set_progress(ctx, cut_off, &cuts);
    CHECK(ny_store_verify(store, note, &list));
    ny_context_set_progress(ctx, NULL, NULL);
    assert_true(cuts > 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(points_now().n, 10);
}

struct seen {
    double points, chunks; /* the last fraction of each stage */
    uint64_t rows;
};

static void watch(void *user, const struct ny_progress *progress)
{
    struct seen *seen = user;

    if (strcmp(progress->stage, "verify") == 0) {
        seen->points = progress->fraction;
        seen->rows = progress->rows_total;
    } else if (strcmp(progress->stage, "verify results") == 0) {
        seen->chunks = progress->fraction;
    } else {
        fail_msg("stage %s", progress->stage);
    }
    assert_true(progress->fraction <= 1 && (progress->fraction < 1 || progress->eta_s <= 0));
}

/* The list is the same for any number of threads and any budget that has room for one of them. */
TEST(threads_find_the_same)
{
    static const struct {
        unsigned threads;
        size_t memory;
    } runs[] = {{1, 64 << 20}, {5, 64 << 20}, {5, 4 << 20}};
    float *values = lend((size_t)N * D * sizeof(*values));

    fill(values);
    import_noise(store, values);
    put_three();
    flip_bit(4, 500);
    flip_bit(0, 500);
    flip_bit(2, 500);
    for (size_t i = 0; i < 3; i++) {
        struct list list = {0};
        struct seen seen = {0};

        ny_context_set_threads(ctx, runs[i].threads);
        ny_context_set_memory(ctx, runs[i].memory);
        ny_context_set_progress(ctx, watch, &seen);
        CHECK(ny_store_verify(store, note, &list));
        assert_int_equal(list.count, 3);
        for (unsigned k = 0; k < 3; k++)
            assert_int_equal(list.blocks[k], 2 * k);
        assert_true(seen.points == 1 && seen.chunks == 1);
        assert_int_equal(seen.rows, N);
    }
    ny_context_set_progress(ctx, NULL, NULL);
}

AROUND_EACH(start, stop)
