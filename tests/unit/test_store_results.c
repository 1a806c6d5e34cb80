/* store/store.h, results: batches, chunks, blobs, names. */
#include "store_checks.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/random.h"

static void put(const char *name, const char *part, uint64_t index, const char *text)
{
    struct ny_batch *batch;

    CHECK(ny_batch_begin(&batch, store));
    CHECK(ny_batch_put(batch, name, part, index, text, strlen(text)));
    CHECK(ny_batch_commit(batch));
}

/* `text`, or NULL: there is no such chunk. */
static void check_chunk(const char *name, const char *part, uint64_t index, const char *text)
{
    char data[64];
    struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};
    int err = ny_chunk_get(store, name, part, index, &chunk);

    if (!text) {
        assert_int_equal(err, NY_END);
        assert_int_equal(ny_context_error(ctx)->status, NY_OK);
        return;
    }
    if (err) fail_msg("%s", ny_context_message(ctx));
    assert_int_equal(chunk.bytes, strlen(text));
    assert_memory_equal(data, text, chunk.bytes);
}

TEST(chunks_come_back)
{
    put("fit", "job", 0, "zero");
    put("fit", "job", 1, "one");
    put("fit", "job", 1ULL << 40, "far");
    put("fit", "jo", 0, "another part");
    put("fi", "job", 0, "another name");
    put("fit", "empty", 0, "");
    check_chunk("fit", "job", 0, "zero");
    check_chunk("fit", "job", 1, "one");
    check_chunk("fit", "job", 1ULL << 40, "far");
    check_chunk("fit", "jo", 0, "another part");
    check_chunk("fi", "job", 0, "another name");
    check_chunk("fit", "empty", 0, "");
    check_chunk("fit", "job", 2, NULL);
    check_chunk("fit", "jobs", 0, NULL);
    check_chunk("none", "job", 0, NULL);
    put("fit", "job", 1, "another one, longer");
    check_chunk("fit", "job", 1, "another one, longer");
    reopen();
    check_chunk("fit", "job", 1, "another one, longer");
}

TEST(a_batch_is_all_or_nothing)
{
    struct ny_batch *batch;

    put("fit", "job", 0, "before");
    CHECK(ny_batch_begin(&batch, store));
    CHECK(ny_batch_put(batch, "fit", "job", 0, "after", 5));
    CHECK(ny_batch_put(batch, "fit", "model", 0, "m", 1));
    check_chunk("fit", "job", 0, "before");
    check_chunk("fit", "model", 0, NULL);
    ny_batch_abort(batch);
    check_chunk("fit", "job", 0, "before");
    CHECK(ny_batch_begin(&batch, store));
    CHECK(ny_batch_delete(batch, "fit", "job"));
    CHECK(ny_batch_put(batch, "fit", "model", 0, "m", 1));
    CHECK(ny_batch_commit(batch));
    check_chunk("fit", "job", 0, NULL);
    check_chunk("fit", "model", 0, "m");
    ny_batch_abort(NULL);
}

/* One bad call, and nothing of the batch is there. */
TEST(a_failed_put_fails_the_batch)
{
    char *large = lend_zeros((NY_CHUNK_BYTES + 1));
    struct ny_batch *batch;

    CHECK(ny_batch_begin(&batch, store));
    CHECK(ny_batch_put(batch, "fit", "job", 0, "x", 1));
    assert_int_equal(ny_batch_put(batch, "fit", "job", 1, large, NY_CHUNK_BYTES + 1), NY_EINTERNAL);
    REFUSED(ny_batch_commit(batch), NY_EINTERNAL);
    check_chunk("fit", "job", 0, NULL);
    CHECK(ny_batch_begin(&batch, store));
    CHECK(ny_batch_put(batch, "fit", "job", 1, large, NY_CHUNK_BYTES));
    CHECK(ny_batch_commit(batch));
}

TEST(a_small_buffer_is_a_defect)
{
    char data[3];
    struct ny_chunk chunk = {.data = data, .capacity = sizeof(data)};

    put("fit", "job", 0, "four");
    REFUSED(ny_chunk_get(store, "fit", "job", 0, &chunk), NY_EINTERNAL);
}

TEST(blobs_of_every_size)
{
    static const size_t sizes[] = {0, 1, NY_CHUNK_BYTES - 1, NY_CHUNK_BYTES, NY_CHUNK_BYTES + 1,
                                   5 * NY_CHUNK_BYTES, 7 * NY_CHUNK_BYTES + 12345};
    size_t most = 8 * NY_CHUNK_BYTES;
    unsigned char *data = lend(most), *got = lend(most + 1);

    for (size_t i = 0; i < most; i++)
        data[i] = (unsigned char)(i * i >> 7);
    ny_context_set_memory(ctx, 32 << 20); /* several batches a blob */
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            size_t bytes = sizes[round ? sizeof(sizes) / sizeof(*sizes) - 1 - i : i];

            CHECK(ny_blob_put(store, "fit", "model", data, bytes));
            got[bytes] = 0x5a;
            CHECK(ny_blob_get(store, "fit", "model", got, bytes));
            assert_memory_equal(got, data, bytes);
            assert_int_equal(got[bytes], 0x5a);
            REFUSED(ny_blob_get(store, "fit", "model", got, bytes + 1), NY_ESTORE);
            if (bytes) REFUSED(ny_blob_get(store, "fit", "model", got, bytes - 1), NY_ESTORE);
        }
    REFUSED(ny_blob_get(store, "fit", "none", got, 1), NY_ESTORE);
}

struct names {
    char text[256];
    int stop_after;
};

static int note_name(void *user, const char *name)
{
    struct names *names = user;

    strcat(strcat(names->text, name), " ");
    return --names->stop_after ? NY_OK : NY_EUSAGE;
}

static void check_names(const char *text)
{
    struct names names = {.stop_after = 100};

    CHECK(ny_results_list(store, note_name, &names));
    assert_string_equal(names.text, text);
}

TEST(names_are_listed_and_removed)
{
    struct names names = {.stop_after = 2};

    check_names("");
    REFUSED(ny_result_remove(store, "fit"), NY_EUSAGE);
    put("mnist-50", "job", 0, "x");
    put("a", "job", 0, "x");
    put("a", "model", 3, "y");
    put("a.b", "job", 0, "z");
    put("Z_1", "job", 0, "x");
    check_names("Z_1 a a.b mnist-50 ");
    REFUSED(ny_result_remove(store, "mnist_5"), NY_EUSAGE);
    CHECK(ny_result_remove(store, "a"));
    check_names("Z_1 a.b mnist-50 ");
    check_chunk("a", "model", 3, NULL);
    check_chunk("a.b", "job", 0, "z");
    assert_int_equal(ny_results_list(store, note_name, &names), NY_EUSAGE);
    assert_string_equal(names.text, "Z_1 a.b ");
}

/* Looking whether a NAME is held keeps nobody from taking it. */
TEST(looking_disturbs_nobody)
{
    struct ny_name_lock *lock, *other;
    pid_t child;

    assert_false(ny_name_held(store, "fit"));
    CHECK(ny_name_lock(&lock, store, "fit"));
    assert_true(ny_name_held(store, "fit"));
    REFUSED(ny_name_lock(&other, store, "fit"), NY_EBUSY);
    child = fork();
    if (child == 0)
        for (;;)
            ny_name_held(store, "fit");
    ny_name_unlock(lock);
    for (int i = 0; i < 300; i++) {
        CHECK(ny_name_lock(&lock, store, "fit"));
        ny_name_unlock(lock);
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(ny_name_held(store, "fit"));
}

/* A large result is removed in several commits, its record in the first; what a kill leaves behind
 * one of them is no result, and is removed by the same call. */
TEST(a_large_result_is_removed_in_pieces)
{
    enum { CHUNKS = 5000 };
    struct ny_batch *batch;
    uint64_t before = 0, after = 0;

    put("large", "job", 0, "record");
    put("other", "job", 0, "stays");
    CHECK(ny_batch_begin(&batch, store));
    for (uint64_t i = 0; i < CHUNKS; i++)
        CHECK(ny_batch_put(batch, "large", "embedding", i, "row", 3));
    CHECK(ny_batch_commit(batch));
    (void)ny_results_moved(store, &before);
    CHECK(ny_result_remove(store, "large"));
    (void)ny_results_moved(store, &after);
    assert_int_equal(after - before, 3);
    REFUSED(ny_result_remove(store, "large"), NY_EUSAGE);
    for (uint64_t i = 0; i < CHUNKS; i++)
        check_chunk("large", "embedding", i, NULL);
    check_chunk("other", "job", 0, "stays");

    put("large", "embedding", 4000, "left");
    REFUSED(ny_result_missing(store, "large"), NY_EUSAGE);
    CHECK(ny_result_remove(store, "large"));
    check_chunk("large", "embedding", 4000, NULL);
}

/* A handle that was opened before reads what there was, and writes nothing that nobody would find. */
TEST(a_compacted_store_takes_no_writes_of_before)
{
    enum { BYTES = 3 << 20 };
    struct ny_store *other;
    struct ny_name_lock *lock;
    struct ny_batch *batch;
    char *large = lend(BYTES);

    for (size_t i = 0; i < BYTES; i++)
        large[i] = (char)ny_hash64(1, NY_STREAM_DATA, i);
    put("fit", "job", 0, "zero");
    CHECK(ny_blob_put(store, "large", "job", large, BYTES));
    CHECK(ny_result_remove(store, "large"));
    CHECK(ny_store_open(&other, ctx, path));
    CHECK(ny_store_compact(other, NULL));
    ny_store_close(other);
    check_chunk("fit", "job", 0, "zero");
    assert_int_equal(ny_name_lock(&lock, store, "new"), NY_EIO);
    REFUSED(ny_batch_begin(&batch, store), NY_EIO);
    reopen();
    put("fit", "job", 1, "one");
    check_chunk("fit", "job", 0, "zero");
}

AROUND_EACH(start, stop)
