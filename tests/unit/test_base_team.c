/* base/thread.h: workers that take steps together. */
#include <signal.h>

#include "support/context.h"

#include "base/thread.h"
#include "nystream.h"

enum { ITEMS = 5000, STEPS = 400 };

struct walk {
    size_t items;
    uint32_t *from, *to; /* items each: how often it was met, in the previous step and this one */
};

/* Reads items of another worker: all workers see the results of the step before. */
static void count_beside(void *arg, size_t first, size_t count)
{
    const struct walk *walk = arg;

    for (size_t i = first; i < first + count; i++)
        walk->to[i] = walk->from[(i + walk->items / 2) % walk->items] + 1;
}

static int walk_steps(void *arg, const struct ny_worker *worker)
{
    struct walk mine = *(const struct walk *)arg;

    for (int i = 0; i < STEPS; i++) {
        uint32_t *swap = mine.to;

        ny_team_step(worker, mine.items, count_beside, &mine);
        mine.to = mine.from;
        mine.from = swap;
    }
    return NY_OK;
}

TEST(steps_are_taken_together)
{
    static const size_t sizes[] = {1, 2, 1000, 1024, ITEMS - 1, ITEMS};
    static uint32_t counts[2][ITEMS];

    for (unsigned threads = 1; threads <= 7; threads += 2)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            struct walk walk = {sizes[s], counts[0], counts[1]};

            for (size_t i = 0; i < sizes[s]; i++)
                counts[0][i] = 0;
            ny_context_set_threads(ctx, threads);
            assert_int_equal(ny_parallel_team(ctx, walk_steps, &walk), NY_OK);
            for (size_t i = 0; i < sizes[s]; i++)
                assert_int_equal(counts[0][i], STEPS);
        }
}

static void interrupt(void *arg, size_t first, size_t count)
{
    (void)arg;
    if (first + count == ITEMS) ny_context_interrupt(ctx, SIGINT);
}

/* One worker interrupts in the midst of a step, and all of them stop after it. */
static int walk_on(void *arg, const struct ny_worker *worker)
{
    size_t *steps = arg;
    int err = NY_OK;

    while (steps[worker->index] < STEPS && err == NY_OK) {
        ny_team_step(worker, steps[worker->index]++ == STEPS / 2 ? ITEMS : 0, interrupt, NULL);
        err = ny_team_check(worker);
    }
    return err;
}

TEST(an_interrupt_stops_all)
{
    enum { WORKERS = 5 };
    size_t steps[WORKERS] = {0};

    ny_context_set_threads(ctx, WORKERS);
    assert_int_equal(ny_parallel_team(ctx, walk_on, steps), NY_EINTERRUPTED);
    for (int w = 0; w < WORKERS; w++)
        assert_int_equal(steps[w], STEPS / 2 + 1);
}

AROUND_ALL(start, stop)
