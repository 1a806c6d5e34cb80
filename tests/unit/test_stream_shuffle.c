/* stream/shuffle.h: every record comes out once, in the order that the seed gives it. */
#include "stream/shuffle.h"

#include "base/random.h"
#include "support/folder.h"

enum { RECORDS = 20000 };

struct seen {
    size_t count, stop_after; /* records, interrupted at; 0: never */
    uint32_t order[RECORDS];
};

static int see(void *arg, const void *record, size_t bytes)
{
    struct seen *seen = arg;

    assert_int_equal(bytes, sizeof(uint32_t));
    memcpy(&seen->order[seen->count++], record, bytes);
    if (seen->count == seen->stop_after) ny_context_interrupt(ctx, 2);
    return NY_OK;
}

static int shuffle(uint64_t seed, struct seen *seen)
{
    struct ny_shuffle *records;
    int err;

    assert_int_equal(ny_shuffle_new(&records, ctx, directory, seed, 1 << 20), NY_OK);
    for (uint32_t i = 0; i < RECORDS; i++)
        assert_int_equal(ny_shuffle_add(records, i, &i, sizeof(i)), NY_OK);
    err = ny_shuffle_drain(records, see, seen);
    ny_shuffle_free(records);
    assert_int_equal(ny_memory_used(ctx), 0);
    return err;
}

TEST(all_come_out_in_the_order_of_the_seed)
{
    static struct seen first, again, other;
    static bool met[RECORDS];

    assert_int_equal(shuffle(1, &first), NY_OK);
    assert_int_equal(shuffle(1, &again), NY_OK);
    assert_int_equal(shuffle(2, &other), NY_OK);
    assert_int_equal(first.count, RECORDS);
    for (size_t i = 0; i < RECORDS; i++) {
        assert_false(met[first.order[i]]);
        met[first.order[i]] = true;
    }
    assert_memory_equal(&first, &again, sizeof(first));
    assert_memory_not_equal(&first, &other, sizeof(first));
}

TEST(an_interrupt_is_obeyed_before_the_next_record)
{
    static struct seen seen = {.stop_after = 10};

    assert_int_equal(shuffle(1, &seen), NY_EINTERRUPTED);
    assert_int_equal(seen.count, 10);
}

/* Records of one bucket, which is larger than the budget. */
enum { LARGE_BYTES = 4100, LARGE_RECORDS = 5000, SMALL_BUDGET = 16 << 20 };

struct large {
    uint64_t hash, sum; /* of the record before; of the numbers of all rows */
    size_t count;
};

static int see_large(void *arg, const void *record, size_t bytes)
{
    struct large *large = arg;
    unsigned char content[LARGE_BYTES];
    uint64_t row, hash;

    assert_int_equal(bytes, LARGE_BYTES);
    memcpy(&row, record, sizeof(row));
    hash = ny_hash64(1, NY_STREAM_SHUFFLE, row);
    assert_true(hash >= large->hash);
    memset(content, (int)(row % 251), sizeof(content));
    memcpy(content, &row, sizeof(row));
    assert_memory_equal(record, content, sizeof(content));
    large->hash = hash;
    large->sum += row;
    large->count++;
    return NY_OK;
}

TEST(a_bucket_larger_than_the_budget_comes_out_in_order)
{
    unsigned char record[LARGE_BYTES];
    struct large seen = {.count = 0};
    struct ny_shuffle *records;
    uint64_t sum = 0, row = 0;

    ny_context_set_memory(ctx, SMALL_BUDGET);
    assert_int_equal(ny_shuffle_new(&records, ctx, directory, 1, 1 << 20), NY_OK);
    for (size_t count = 0; count < LARGE_RECORDS; row++) {
        if (ny_hash64(1, NY_STREAM_SHUFFLE, row) >> 56 != 77) continue;
        memset(record, (int)(row % 251), sizeof(record));
        memcpy(record, &row, sizeof(row));
        assert_int_equal(ny_shuffle_add(records, row, record, sizeof(record)), NY_OK);
        sum += row;
        count++;
    }
    assert_int_equal(ny_shuffle_drain(records, see_large, &seen), NY_OK);
    ny_shuffle_free(records);
    assert_int_equal(seen.count, LARGE_RECORDS);
    assert_int_equal(seen.sum, sum);
    assert_int_equal(ny_memory_used(ctx), 0);
}

AROUND_EACH(new_folder, remove_folder)
