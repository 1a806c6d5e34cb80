/* stream/share.h in passes over rows in memory: who does the pieces of a tile, and what of it is
 * seen. Violations seen by workers are counted and asserted afterwards. */
#include "stream/share.h"
#include "unit/stream_case.h"

enum { PIECES = 64, UNIT_PIECES = NY_UNIT_ROWS / NY_STRIP_ROWS };

struct shared {
    atomic_uint runs[PIECES], of_worker[WORKERS_MAX], waiting;
    unsigned together; /* so many have to be at a piece at once; 0: none */
    size_t pieces, fails_from;
};

/* Waits until `together` workers are at their pieces: those who have no tile have to come. */
static void await_others(struct shared *shared)
{
    const double patience_s = 20;

    atomic_fetch_add(&shared->waiting, 1);
    for (double began = ny_now(); atomic_load(&shared->waiting) < shared->together;)
        if (ny_now() - began > patience_s)
            return;
        else
            sleep_s(1e-4);
}

static int piece(void *arg, size_t index, unsigned worker)
{
    struct shared *shared = arg;

    atomic_fetch_add(&shared->runs[index], 1);
    atomic_fetch_add(&shared->of_worker[worker], 1);
    if (shared->together) await_others(shared);
    return index >= shared->fails_from ? NY_EDATA + (index == shared->fails_from) : NY_OK;
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct shared *shared = arg;

    return ny_tile_share(tile, shared->pieces, piece, shared);
}

/* Runs a pass over n rows, each unit of which shares out its pieces. */
static int run(struct shared *shared, uint64_t n, unsigned workers)
{
    static const struct ny_pass_work of_unit = {.unit = unit};
    struct ny_source *source;
    int err;

    assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, n, D), NY_OK);
    err = ny_pass_run(&(struct ny_pass){.source = source, .stage = "share", .workers = workers},
                      &of_unit, shared);
    ny_source_free(source);
    return err;
}

TEST(workers_without_a_tile_do_pieces_of_another)
{
    struct shared shared = {.pieces = PIECES, .fails_from = PIECES, .together = 3};

    assert_int_equal(run(&shared, 100, 3), NY_OK); /* one unit: two workers have none */
    for (size_t k = 0; k < PIECES; k++)
        assert_int_equal(atomic_load(&shared.runs[k]), 1);
    for (unsigned w = 0; w < 3; w++)
        assert_true(atomic_load(&shared.of_worker[w]) > 0);
    assert_true(atomic_load(&shared.waiting) == PIECES);
}

TEST(every_piece_of_every_unit_is_done_once)
{
    for (unsigned workers = 1; workers <= WORKERS_MAX; workers++) {
        struct shared shared = {.pieces = PIECES, .fails_from = PIECES};

        assert_int_equal(run(&shared, N, workers), NY_OK);
        for (size_t k = 0; k < PIECES; k++)
            assert_int_equal(atomic_load(&shared.runs[k]), UNITS);
    }
}

TEST(the_lowest_piece_that_failed_is_reported)
{
    for (unsigned workers = 1; workers <= WORKERS_MAX; workers++) {
        struct shared shared = {.pieces = PIECES, .fails_from = 40};

        assert_int_equal(run(&shared, 100, workers), NY_EDATA + 1);
    }
}

/* ---- rows seen through views ---------------------------------------------------------------- */

struct copy {
    const struct ny_tile *tile;
    float strip[UNIT_PIECES][NY_STRIP_ROWS * D];
    atomic_uint broken;
};

static int copy_strip(void *arg, size_t index, unsigned worker)
{
    struct copy *copy = arg;
    const struct ny_tile seen = ny_tile_seen_by(copy->tile, worker);
    size_t first = index * NY_STRIP_ROWS, left = seen.rows > first ? seen.rows - first : 0;
    size_t count = left < NY_STRIP_ROWS ? left : NY_STRIP_ROWS;
    const float *expected = rows + (seen.first_row + first) * D;
    int err = count ? ny_tile_strip(&seen, first, count, copy->strip[index]) : NY_OK;

    if (!err && memcmp(copy->strip[index], expected, count * D * sizeof(float)) != 0)
        atomic_fetch_add(&copy->broken, 1);
    return err;
}

static int copy_unit(void *arg, const struct ny_tile *tile)
{
    struct copy *copy = (struct copy *)arg + tile->worker;

    copy->tile = tile;
    return ny_tile_share(tile, UNIT_PIECES, copy_strip, copy);
}

TEST(views_have_the_rows_of_the_tile)
{
    static const struct ny_pass_work work = {.unit = copy_unit};
    static struct copy copies[WORKERS_MAX];
    struct ny_source *source;

    for (unsigned workers = 1; workers <= WORKERS_MAX; workers++) {
        assert_int_equal(ny_source_of_memory(&source, ctx, rows, NY_F32, N, D), NY_OK);
        CHECK(ny_pass_run(&(struct ny_pass){.source = source, .stage = "views", .workers = workers},
                          &work, copies));
        ny_source_free(source);
        for (unsigned w = 0; w < workers; w++)
            assert_int_equal(atomic_load(&copies[w].broken), 0);
    }
}

AROUND_ALL(start, stop)
