/* Transports by the words of --peers and by what the environment tells, and which part of a job a
 * process takes. */
#include "peers/open.h"
#include "unit/processes_case.h"

static char word[160];

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

AROUND_EACH(make, clear)
