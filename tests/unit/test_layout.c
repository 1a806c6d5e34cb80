/* Layouts: what is counted is what is charged, a failure is kept, and all of it is given back. */
#include "base/context.h"
#include "base/layout.h"
#include "nystream.h"
#include "support/context.h"

/* Blocks of the heap and mapped ones, and what is held for a while. */
static unsigned char *lay_some(struct ny_layout *l, struct ny_layout_mark *mark)
{
    unsigned char *kept = ny_lay(l, NY_MEM_TILES, 3, 7);

    ny_lay(l, NY_MEM_GRAM, 1000, 1000);
    *mark = ny_layout_mark(l);
    ny_lay(l, NY_MEM_SOLVE, 100, sizeof(double));
    ny_lay(l, NY_MEM_SOLVE, 300000, sizeof(double));
    return kept;
}

TEST(what_is_counted_is_charged)
{
    struct ny_layout l = {.ctx = ctx}, counted = {0};
    struct ny_layout_mark mark, counted_mark;
    size_t before = ny_memory_used(ctx), most;
    unsigned char *kept = lay_some(&l, &mark);

    assert_null(lay_some(&counted, &counted_mark));
    most = ny_layout_most(&counted);
    assert_int_equal(ny_memory_used(ctx) - before, most);
    assert_int_equal(ny_charges_total(&counted.now), most);
    assert_int_equal(counted.most.of[NY_MEM_TILES], 128);
    assert_in_range(counted.most.of[NY_MEM_GRAM], 1000000, 1000200);
    assert_int_equal((uintptr_t)kept % 64, 0);
    for (size_t i = 0; i < 21; i++)
        assert_int_equal(kept[i], 0);
    ny_layout_back(&l, &mark);
    ny_layout_back(&counted, &counted_mark);
    assert_int_equal(ny_memory_used(ctx) - before, ny_charges_total(&counted.now));
    assert_true(ny_charges_total(&counted.now) < 1100000);
    assert_int_equal(ny_layout_most(&counted), most);
    kept[20] = 1; /* what was laid out before the mark stays */
    assert_int_equal(ny_layout_end(&l), NY_OK);
    assert_int_equal(ny_memory_used(ctx), before);
}

TEST(the_first_failure_is_kept)
{
    struct ny_layout l = {.ctx = ctx};
    uint64_t limit = ny_context_memory(ctx);
    size_t before = ny_memory_used(ctx);
    int spare, *object;

    ny_context_set_memory(ctx, before + (2 << 20));
    assert_non_null(ny_lay(&l, NY_MEM_TILES, 1000, 1));
    assert_null(ny_lay(&l, NY_MEM_GRAM, 4 << 20, 1));
    assert_null(ny_lay(&l, NY_MEM_GRAM, 1, 1)); /* though it would fit */
    object = ny_lay_struct(&l, NY_MEM_GRAM, sizeof(spare), &spare);
    assert_ptr_equal(object, &spare);
    assert_null(ny_laid(&l, object));
    assert_non_null(strstr(ny_context_message(ctx), "'gram'"));
    assert_int_equal(ny_layout_end(&l), NY_EBUDGET);
    assert_int_equal(ny_memory_used(ctx), before);
    ny_context_set_memory(ctx, limit);
    object = ny_lay_struct(&l, NY_MEM_GRAM, sizeof(spare), &spare); /* it can be used again */
    assert_ptr_not_equal(object, &spare);
    assert_ptr_equal(ny_laid(&l, object), object);
    ny_layout_free(&l);
}

TEST(sizes_that_overflow_fit_nothing)
{
    struct ny_layout l = {.ctx = ctx}, counted = {0};

    assert_null(ny_lay(&l, NY_MEM_TILES, SIZE_MAX / 2, 4));
    assert_int_equal(ny_layout_end(&l), NY_EBUDGET);
    for (int i = 0; i < 100; i++)
        assert_null(ny_lay(&counted, i % 2 ? NY_MEM_TILES : NY_MEM_GRAM, SIZE_MAX / 2, 4));
    assert_true(ny_layout_most(&counted) > SIZE_MAX / 100);
}

AROUND_ALL(start, stop)
