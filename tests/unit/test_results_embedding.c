/* model/embedding.h: rows of a part in chunks come back in the order in which they are asked for,
 * and what is missing is said. */
#include "base/error.h"
#include "nystream.h"
#include "model/embedding.h"
#include "results/keep.h"
#include "support/store_folder.h"

/* Rows of two f64, (i, −i), in chunks of three; the last one has two. */
enum { N = 101, ROWS = 3 };

static struct ny_store *store;
static struct ny_keep whole, short_one;

static const struct ny_embedding_layout layout = {
    .part = {"embedding"}, .rows = N, .row_bytes = 2 * sizeof(double), .chunk_rows = ROWS};

static void put_chunks(const char *name, uint64_t end)
{
    struct ny_batch *batch;

    assert_int_equal(ny_batch_begin(&batch, store), NY_OK);
    for (uint64_t first = 0; first < end; first += ROWS) {
        uint64_t rows = end - first < ROWS ? end - first : ROWS;
        double chunk[2 * ROWS];

        for (uint64_t i = 0; i < rows; i++) {
            chunk[2 * i] = (double)(first + i);
            chunk[2 * i + 1] = -chunk[2 * i];
        }
        CHECK(ny_batch_put(batch, name, "embedding", first / ROWS, chunk, rows * layout.row_bytes));
    }
    assert_int_equal(ny_batch_commit(batch), NY_OK);
}

static void start(void)
{
    make_folder();
    ny_context_set_threads(ctx, 3);
    assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
    whole = ny_store_keep(store, "whole");
    short_one = ny_store_keep(store, "short");
    put_chunks("whole", N);
    put_chunks("short", N - 1);
}

static void stop(void)
{
    ny_store_close(store);
    remove_folder();
}

static void gather(const uint64_t *rows, size_t count)
{
    double out[2 * N] = {0};

    assert_int_equal(ny_embedding_gather(&whole, &layout, rows, count, out), NY_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(out[2 * i] == (double)rows[i]);
        assert_true(out[2 * i + 1] == -(double)rows[i]);
    }
}

TEST(rows_are_gathered_in_any_order)
{
    const uint64_t mixed[] = {10, 0, 7, 7, 2, 3, 10, 1, 6}, last[] = {N - 1}, ends[] = {2, 3, 5, 9};

    gather(mixed, sizeof(mixed) / sizeof(mixed[0]));
    gather(last, 1);
    gather(ends, sizeof(ends) / sizeof(ends[0]));
    gather(NULL, 0);
}

/* From any row to any later one: few chunks by one thread, many by three. */
TEST(rows_in_a_range_are_read)
{
    for (uint64_t first = 0; first < N; first += 2)
        for (uint64_t end = first; end <= N; end += 5) {
            double out[2 * N + 2];

            out[2 * (end - first)] = 0.5;
            CHECK(ny_embedding_rows(&whole, &layout, first, (size_t)(end - first), out));
            for (uint64_t i = first; i < end; i++)
                assert_true(out[2 * (i - first)] == (double)i &&
                            out[2 * (i - first) + 1] == -(double)i);
            assert_true(out[2 * (end - first)] == 0.5);
        }
}

TEST(missing_rows_are_said)
{
    const uint64_t there[] = {9, 4}, short_of[] = {4, N - 1, 9}, beyond[] = {N + 1};
    double out[2 * N];

    assert_int_equal(ny_embedding_gather(&short_one, &layout, there, 2, out), NY_OK);
    REFUSED(ny_embedding_gather(&short_one, &layout, short_of, 3, out), NY_ESTORE);
    assert_int_equal(ny_embedding_gather(&short_one, &layout, beyond, 1, out), NY_ESTORE);
    assert_int_equal(ny_embedding_rows(&short_one, &layout, N - 3, 3, out), NY_ESTORE);
}

AROUND_ALL(start, stop)
