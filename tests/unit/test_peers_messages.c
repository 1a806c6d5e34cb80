/* The files of the transport through a folder, between processes that all live: messages of another
 * size than is waited for, rounds that are over, and failures that are told. And the memory that a
 * process gives its peers. */
#include "unit/processes_case.h"

/* Rank 0 gathers, or trades, twice as many bytes as the others: it reads their files, and they read
 * a part of its own, which is there. */
static int give_more(struct ny_context *own, unsigned rank, unsigned ranks, bool trades)
{
    char out[16 * RANKS_MAX] = {0}, in[16 * RANKS_MAX];
    OWNED(ny_transport) *transport = NULL;
    size_t bytes = rank ? 8 : 16, sizes[RANKS_MAX];
    int err = open_rank(&transport, own, rank, ranks);

    if (err) return err;
    for (unsigned k = 0; k < ranks; k++)
        sizes[k] = bytes;
    err = trades ? transport->ops->trade(transport, out, bytes, in)
                 : transport->ops->gather(transport, out, sizes, in);
    if (err) err = ny_fail(own, transport->status, "%s", transport->why);
    return err;
}

static int gather_more(struct ny_context *own, unsigned rank, unsigned ranks)
{
    return give_more(own, rank, ranks, false);
}

static int trade_more(struct ny_context *own, unsigned rank, unsigned ranks)
{
    return give_more(own, rank, ranks, true);
}

TEST(test_messages_of_another_size_are_refused)
{
    for (int trades = 0; trades < 2; trades++) {
        run(2, trades ? trade_more : gather_more);
        assert_ended(2, NY_ESTORE, "is damaged");
    }
}

/* Rounds leave no files behind: a rank has those of the last two. */
static int make_rounds(struct ny_context *own, unsigned rank, unsigned ranks)
{
    unsigned mine = rank, all[RANKS_MAX], files = 0;
    size_t sizes[RANKS_MAX];
    OWNED(ny_transport) *transport = NULL;
    char command[256];
    int err = open_rank(&transport, own, rank, ranks);

    for (unsigned k = 0; k < ranks; k++)
        sizes[k] = sizeof(mine);
    for (unsigned round = 0; round < 40 && !err; round++)
        err = transport->ops->gather(transport, &mine, sizes, all);
    if (!err) {
        FILE *listing;

        snprintf(command, sizeof(command), "ls %s/run-*/ | grep -c '^[0-9]*-0000%u$'", folder,
                 rank);
        listing = popen(command, "r");
        if (!listing || fscanf(listing, "%u", &files) != 1 || pclose(listing) || files > 2)
            err = ny_fail(own, NY_EINTERNAL, "%u files", files);
    }
    if (!err) err = transport->ops->gather(transport, &mine, sizes, all); /* none ends before */
    return err;
}

TEST(test_rounds_leave_no_files)
{
    run(2, make_rounds);
    assert_ended(2, NY_OK, "");
}

/* Rank 0 tells two failures, of which the others hear the first. */
static int fail_twice(struct ny_context *own, unsigned rank, unsigned ranks)
{
    OWNED(ny_transport) *transport = NULL;
    size_t sizes[2] = {1, 1};
    char in[2];
    int err = open_rank(&transport, own, rank, ranks);

    if (err) return err;
    if (rank == 0) {
        transport->ops->abandon(transport, NY_EDATA, "row 7 is no row");
        transport->ops->abandon(transport, NY_EIO, "the disk is full");
        answer[0].at = 1;
        rest(0.1);
    } else {
        await(0, 1);
        err = transport->ops->gather(transport, "x", sizes, in);
        if (!err) err = transport->ops->lost(transport);
        if (err) err = ny_fail(own, transport->status, "%s", transport->why);
    }
    return err;
}

TEST(test_the_first_failure_is_heard)
{
    run(2, fail_twice);
    assert_int_equal(answer[0].status, NY_OK);
    assert_int_equal(answer[1].status, NY_EDATA);
    assert_string_equal(answer[1].message, "row 7 is no row");
}

/* ---- memory -----------------------------------------------------------------------------------
 */

enum { BUDGET = 600 << 20 };

/* Leaves the memory of a peer, in MiB, where the parent finds it. */
static int tell_memory(void *arg, struct ny_context *peer, unsigned shard)
{
    ((uint64_t *)arg)[shard] = ny_memory_limit(peer) >> 20;
    return NY_OK;
}

/* Rank 0 has a budget that was given; rank 1 takes its share of what is free. */
static int share_memory(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_group_shape shape;
    OWNED(ny_transport) *transport = NULL;
    int err = open_rank(&transport, own, rank, ranks);

    if (err) return err;
    if (rank == 0) ny_context_set_memory(own, BUDGET);
    shape = ny_group_shape(CASE_SHARDS, rank, ranks);
    answer[rank].at = (int)((ny_memory_left(own) - NY_TRANSPORT_BYTES) >> 20);
    err = ny_group_run(own, &shape, transport, tell_memory, answer[rank].digests);
    return err;
}

/* Processes of one machine share what is free on it, but not what each was given. */
TEST(test_a_budget_that_was_given_is_not_shared)
{
    run(2, share_memory);
    for (unsigned rank = 0; rank < 2; rank++) {
        struct ny_group_shape shape = ny_group_shape(CASE_SHARDS, rank, 2);
        double most = (double)answer[rank].at / shape.count / (rank ? 2 : 1);

        assert_string_equal(answer[rank].message, "");
        for (unsigned k = shape.first; k < shape.first + shape.count; k++)
            assert_true(fabs((double)answer[rank].digests[k] / most - 1) < 0.05);
    }
}

AROUND_EACH(make, clear)
