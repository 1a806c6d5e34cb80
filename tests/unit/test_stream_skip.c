/* stream/pass.h where units are skipped, and where folds have seen enough. Violations seen by
 * workers are counted and asserted afterwards: an assertion of cmocka must not jump out of a
 * thread. */
#include "unit/stream_case.h"

OWNS_POINTER(ny_source, ny_source_free)

struct skipping {
    atomic_int strips, violations;
    uint64_t folded, last; /* the unit whose fold ends the pass */
};

static bool every_third(void *arg, uint64_t number)
{
    (void)arg;
    return number % 3 == 1;
}

static int read_unit(void *arg, const struct ny_tile *tile)
{
    struct skipping *skipping = arg;
    float strip[D];

    if (tile->skipped) atomic_fetch_add(&skipping->violations, 1);
    atomic_fetch_add(&skipping->strips, 1);
    return ny_tile_strip(tile, 0, 1, strip);
}

static int fold_in_order(void *arg, const struct ny_tile *tile)
{
    struct skipping *skipping = arg;

    if (tile->unit != skipping->folded || tile->skipped != every_third(NULL, tile->unit))
        atomic_fetch_add(&skipping->violations, 1);
    if (tile->unit == skipping->last) return NY_END;
    skipping->folded++;
    return NY_OK;
}

TEST(skipped_units_are_folded_unread)
{
    const struct ny_pass_work work = {.unit = read_unit, .fold = fold_in_order};
    OWNED(ny_source) *source = NULL;

    assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, N, D), NY_OK);
    for (unsigned workers = 1; workers <= WORKERS_MAX; workers++) {
        const struct ny_pass pass = {.source = source,
                                     .stage = "select",
                                     .workers = workers,
                                     .ahead_max = 4,
                                     .skip = every_third};
        struct skipping all = {.last = UNITS}, some = {.last = 9};

        assert_int_equal(ny_pass_run(&pass, &work, &all), NY_OK);
        assert_int_equal(all.folded, UNITS);
        assert_int_equal(atomic_load(&all.strips), UNITS - (UNITS + 1) / 3);
        assert_int_equal(atomic_load(&all.violations), 0);
        assert_int_equal(ny_pass_run(&pass, &work, &some), NY_OK);
        assert_int_equal(some.folded, 9);
        assert_in_range(atomic_load(&some.strips), 7, 10);
        assert_int_equal(atomic_load(&some.violations), 0);
    }
}

static bool all_but_two(void *arg, uint64_t number)
{
    (void)arg;
    return number != 5 && number != 17;
}

/* Waits, for 10 s at most, until both units are under way. */
static int wait_for_both(void *arg, const struct ny_tile *tile)
{
    struct skipping *skipping = arg;
    double end_s = ny_now() + 10;

    (void)tile;
    atomic_fetch_add(&skipping->strips, 1);
    while (atomic_load(&skipping->strips) < 2 && ny_now() < end_s)
        sleep_s(1e-3);
    if (atomic_load(&skipping->strips) < 2) atomic_fetch_add(&skipping->violations, 1);
    return NY_OK;
}

TEST(units_between_skipped_ones_run_side_by_side)
{
    OWNED(ny_source) *source = NULL;
    struct skipping skipping = {.folded = 0};

    assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, N, D), NY_OK);
    CHECK(ny_pass_run(
        &(struct ny_pass){.source = source, .stage = "select", .workers = 2, .skip = all_but_two},
        &(struct ny_pass_work){.unit = wait_for_both}, &skipping));
    assert_int_equal(atomic_load(&skipping.violations), 0);
}

AROUND_ALL(start, stop)
