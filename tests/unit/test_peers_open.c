/* Transports by the words of --peers and by what the environment tells, and which part of a job a
 * process takes. */
#include "peers/open.h"
#include "support/test.h"
#include "unit/processes_case.h"

static char word[128];

static void refuse_word(const char *peers, unsigned shards)
{
    struct ny_transport_wish wish = {.peers = peers, .shards = shards, .wait_s = 1};
    struct ny_transport *transport;

    assert_int_equal(ny_transport_open(&transport, ctx, &wish), NY_EUSAGE);
    assert_null(transport);
    ny_error_clear(ctx);
}

TEST(test_words)
{
    static const char *const alone[] = {NULL, "alone", "folder:1:/none/at/all"};
    struct ny_transport *transport = NULL;

    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
        struct ny_transport_wish wish = {.peers = alone[i], .shards = 4};

        assert_int_equal(ny_transport_open(&transport, ctx, &wish), NY_OK);
        assert_null(transport);
    }
    refuse_word("files", 4);
    refuse_word("folder:", 4);
    refuse_word("folder:2:", 4);
    refuse_word("folder:0:x", 4);
    refuse_word("folder:5:x", 4);
    setenv("PMI_SIZE", "3", 1);
    refuse_word(NULL, 2);
    refuse_word(NULL, 1);
    setenv("NYSTREAM_MPI", "/none/plugin.so", 1);
    refuse_word(NULL, 4);
    setenv("NYSTREAM_MPI", "libm.so.6", 1);
    refuse_word("mpi", 4);
    unsetenv("NYSTREAM_MPI");
    unsetenv("PMI_SIZE");
}

static const uint64_t odd[] = {0, 11, 0, 13};

/* Rank 1 has the shards of odd numbers alone; rank 0 could have any. */
static int open_with_shards(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport_wish wish = {
        .peers = word, .shards = ranks, .wait_s = 20, .ids = rank ? odd : NULL};
    OWNED(ny_transport) *transport = NULL;
    int err;

    if (!rank) rest(0.2);
    err = ny_transport_open(&transport, own, &wish);
    if (err) return err;
    answer[rank].at = (int)transport->rank;
    return NY_OK;
}

TEST(test_ranks_go_where_their_shards_are)
{
    struct ny_transport_wish wish = {.peers = "folder:2:x", .shards = 4, .wait_s = 20, .ids = odd};
    struct ny_transport *transport;

    snprintf(word, sizeof(word), "folder:%s", folder);
    run(2, open_with_shards);
    assert_ended(2, NY_OK, "");
    assert_true(answer[0].at == 0 && answer[1].at == 1);
    REFUSED(ny_transport_open(&transport, ctx, &wish), NY_EUSAGE);
}

static int open_by_word(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport_wish wish = {.peers = word, .shards = ranks + 1, .wait_s = 20};
    OWNED(ny_transport) *transport = NULL;
    int err;

    snprintf(word, sizeof(word), "folder:%u:%s/made", ranks, folder);
    err = ny_transport_open(&transport, own, &wish);
    if (err) return err;
    answer[rank].at = (int)transport->rank;
    return NY_OK;
}

TEST(test_a_folder_by_its_word)
{
    run(2, open_by_word);
    assert_ended(2, NY_OK, "");
    assert_int_equal(answer[0].at + answer[1].at, 1); /* each rank once */
}

/* The second of two processes is to do something else than the first. */
static int open_for_one_of_two(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport_wish wish = {.peers = word,
                                     .shards = ranks,
                                     .wait_s = 20,
                                     .command = rank % 2 ? "fit with --update full" : "fit"};
    struct ny_transport *transport;
    int err = ny_transport_open(&transport, own, &wish);

    answer[rank].at = transport == NULL;
    return err;
}

/* Rank 0 has the first of two shards, rank 1 the last of three. */
static int open_for_other_shards(struct ny_context *own, unsigned rank, unsigned ranks)
{
    static const uint64_t ids[2][3] = {{5, 0}, {0, 0, 7}};
    struct ny_transport_wish wish = {
        .peers = word, .shards = ranks + rank, .wait_s = 20, .command = "fit", .ids = ids[rank]};
    struct ny_transport *transport;

    return ny_transport_open(&transport, own, &wish);
}

TEST(test_processes_of_two_commands_do_not_wait)
{
    snprintf(word, sizeof(word), "folder:2:%s", folder);
    run(2, open_for_one_of_two);
    assert_ended(2, NY_EUSAGE, "");
    assert_true(answer[0].at && answer[1].at);
    run(2, open_for_other_shards);
    assert_ended(2, NY_EUSAGE, "");
}

/* Rank 0 has shards 0 and 1 of three, rank 1 another store as shard 1, and shard 2. */
static int open_for_other_stores(struct ny_context *own, unsigned rank, unsigned ranks)
{
    static const uint64_t ids[2][3] = {{5, 6, 0}, {0, 9, 8}};
    struct ny_transport_wish wish = {
        .peers = word, .shards = 3, .wait_s = 20, .command = "fit", .ids = ids[rank]};
    struct ny_transport *transport;

    (void)ranks;
    return ny_transport_open(&transport, own, &wish);
}

TEST(test_processes_of_two_stores_do_not_work_together)
{
    snprintf(word, sizeof(word), "folder:2:%s", folder);
    run(2, open_for_other_stores);
    assert_ended(2, NY_EUSAGE, "");
}

AROUND_EACH(make, clear)
