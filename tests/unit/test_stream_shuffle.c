/* stream/shuffle.h: every record comes out once, in the order that the seed gives it. */
#include "stream/shuffle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "support/store_case.h"

enum { RECORDS = 20000 };

static char directory[128];
static struct ny_context *ctx;

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

static void all_come_out_in_the_order_of_the_seed(void **state)
{
    static struct seen first, again, other;
    static bool met[RECORDS];

    (void)state;
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

static void an_interrupt_is_obeyed_before_the_next_record(void **state)
{
    static struct seen seen = {.stop_after = 10};

    (void)state;
    assert_int_equal(shuffle(1, &seen), NY_EINTERRUPTED);
    assert_int_equal(seen.count, 10);
}

static int start(void **state)
{
    (void)state;
    case_directory(directory);
    return ny_context_new(&ctx);
}

static int stop(void **state)
{
    (void)state;
    ny_context_free(ctx);
    case_remove(directory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_come_out_in_the_order_of_the_seed, start, stop),
        cmocka_unit_test_setup_teardown(an_interrupt_is_obeyed_before_the_next_record, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
