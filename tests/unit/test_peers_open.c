/* Transports by the words of --peers and by what the environment tells, and which part of a job a
 * process takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "peers/open.h"
#include "unit/processes_case.h"

static char word[128];

static void refuse_word(const char *peers, unsigned shards, const char *words)
{
    struct ny_transport_wish wish = {.peers = peers, .shards = shards, .wait_s = 1};
    struct ny_transport *transport;

    assert_int_equal(ny_transport_open(&transport, ctx, &wish), NY_EUSAGE);
    assert_null(transport);
    if (!strstr(ny_context_message(ctx), words))
        fail_msg("'%s' is not in '%s'", words, ny_context_message(ctx));
    ny_error_clear(ctx);
}

static void test_words(void **state)
{
    static const char *const alone[] = {NULL, "alone", "folder:1:/none/at/all"};
    struct ny_transport *transport = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
        struct ny_transport_wish wish = {.peers = alone[i], .shards = 4};

        assert_int_equal(ny_transport_open(&transport, ctx, &wish), NY_OK);
        assert_null(transport);
    }
    refuse_word("files", 4, "none of alone, mpi, folder:PATH");
    refuse_word("folder:", 4, "names no folder");
    refuse_word("folder:2:", 4, "names no folder");
    refuse_word("folder:0:x", 4, "names no folder");
    refuse_word("folder:5:x", 4, "5 processes were started for 4 shards");
    setenv("PMI_SIZE", "3", 1);
    refuse_word(NULL, 2, "3 processes were started for 2 shards");
    refuse_word(NULL, 1, "3 processes were started for a store that has no shards");
    setenv("NYSTREAM_MPI", "/none/plugin.so", 1);
    refuse_word(NULL, 4, "make mpi");
    setenv("NYSTREAM_MPI", "libm.so.6", 1);
    refuse_word("mpi", 4, "belongs to another version");
    unsetenv("NYSTREAM_MPI");
    unsetenv("PMI_SIZE");
}

static const uint64_t odd[] = {0, 11, 0, 13};

/* Rank 1 has the shards of odd numbers alone; rank 0 could have any. */
static int open_with_shards(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport_wish wish = {
        .peers = word, .shards = ranks, .wait_s = 20, .ids = rank ? odd : NULL};
    struct ny_transport *transport;
    int err;

    if (!rank) rest(0.2);
    err = ny_transport_open(&transport, own, &wish);
    if (err) return err;
    answer[rank].at = (int)transport->rank;
    transport->ops->close(transport);
    return NY_OK;
}

static void test_ranks_go_where_their_shards_are(void **state)
{
    struct ny_transport_wish wish = {.peers = "folder:2:x", .shards = 4, .wait_s = 20, .ids = odd};
    struct ny_transport *transport;

    (void)state;
    snprintf(word, sizeof(word), "folder:%s", folder);
    run(2, open_with_shards);
    for (unsigned rank = 0; rank < 2; rank++) {
        assert_int_equal(answer[rank].status, NY_OK);
        assert_int_equal(answer[rank].at, rank);
    }
    assert_int_equal(ny_transport_open(&transport, ctx, &wish), NY_EUSAGE);
    assert_non_null(strstr(ny_context_message(ctx), "on this machine"));
    ny_error_clear(ctx);
}

static int open_by_word(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport_wish wish = {.peers = word, .shards = ranks + 1, .wait_s = 20};
    struct ny_transport *transport;
    int err;

    snprintf(word, sizeof(word), "folder:%u:%s/made", ranks, folder);
    err = ny_transport_open(&transport, own, &wish);
    if (err) return err;
    answer[rank].at = (int)transport->rank;
    transport->ops->close(transport);
    return NY_OK;
}

static void test_a_folder_by_its_word(void **state)
{
    (void)state;
    run(2, open_by_word);
    for (unsigned rank = 0; rank < 2; rank++)
        assert_int_equal(answer[rank].status, NY_OK);
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

static void test_processes_of_two_commands_do_not_wait(void **state)
{
    (void)state;
    snprintf(word, sizeof(word), "folder:2:%s", folder);
    run(2, open_for_one_of_two);
    for (unsigned rank = 0; rank < 2; rank++) {
        assert_int_equal(answer[rank].status, NY_EUSAGE);
        assert_true(answer[rank].at);
        assert_non_null(strstr(answer[rank].message, "fit with --update full"));
    }
    run(2, open_for_other_shards);
    for (unsigned rank = 0; rank < 2; rank++) {
        assert_int_equal(answer[rank].status, NY_EUSAGE);
        assert_non_null(strstr(answer[rank].message, "works on"));
    }
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

static void test_processes_of_two_stores_do_not_work_together(void **state)
{
    (void)state;
    snprintf(word, sizeof(word), "folder:2:%s", folder);
    run(2, open_for_other_stores);
    for (unsigned rank = 0; rank < 2; rank++) {
        assert_int_equal(answer[rank].status, NY_EUSAGE);
        assert_non_null(strstr(answer[rank].message, "rank 1 has another store as shard 1"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_words, make, clear),
        cmocka_unit_test_setup_teardown(test_a_folder_by_its_word, make, clear),
        cmocka_unit_test_setup_teardown(test_ranks_go_where_their_shards_are, make, clear),
        cmocka_unit_test_setup_teardown(test_processes_of_two_commands_do_not_wait, make, clear),
        cmocka_unit_test_setup_teardown(test_processes_of_two_stores_do_not_work_together, make,
                                        clear),
    };

    return cmocka_run_group_tests_name("peers_open", tests, NULL, NULL);
}
