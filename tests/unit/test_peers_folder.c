/* The transport through files in a folder, between real processes: the bytes of one process, ranks
 * that are killed, do not come, or are replaced, folders that cannot be written, and what runs that
 * were killed have left. */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "unit/processes_case.h"

enum { NOTICE_S = 5 };

/* Entries of the folder that begin so. */
static unsigned count_entries(const char *prefix)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(listing)))
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(listing);
    return count;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int exchange(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_group_shape shape;
    OWNED(ny_transport) *transport = NULL;
    int err = open_rank(&transport, own, rank, ranks);

    if (err) return err;
    shape = ny_group_shape(CASE_SHARDS, transport->rank, ranks);
    err = ny_group_run(own, &shape, transport, case_exchange, answer[rank].digests);
    if (!err && transport->on_host != ranks) err = NY_EINTERNAL;
    return err;
}

TEST(test_any_number_of_processes)
{
    static const unsigned counts[] = {1, 2, 3, 5};
    struct ny_group_shape all = ny_group_shape(CASE_SHARDS, 0, 1);
    uint64_t alone[CASE_SHARDS];

    assert_int_equal(ny_group_run(ctx, &all, NULL, case_exchange, alone), NY_OK);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        run(counts[i], exchange);
        assert_ended(counts[i], NY_OK, "");
        for (unsigned rank = 0; rank < counts[i]; rank++) {
            struct ny_group_shape shape = ny_group_shape(CASE_SHARDS, rank, counts[i]);

            for (unsigned k = shape.first; k < shape.first + shape.count; k++)
                assert_true(answer[rank].digests[k] == alone[0]);
        }
        assert_int_equal(count_entries("run-"), 0);
    }
}

/* Runs follow one another in one folder, each rank at its own pace; a rank that begins the next one
 * is not taken for dead by those that end the last one. */
static int hurry(struct ny_context *own, unsigned rank, unsigned ranks)
{
    unsigned mine = rank, all[RANKS_MAX], in[RANKS_MAX], out[RANKS_MAX];
    size_t sizes[RANKS_MAX];
    int err = NY_OK;

    for (unsigned k = 0; k < ranks; k++)
        sizes[k] = sizeof(mine);
    for (unsigned i = 0; i < 20 && !err; i++) {
        OWNED(ny_transport) *transport = NULL;

        err = open_rank(&transport, own, rank, ranks);
        for (unsigned round = 0; round < 10 && !err; round++) {
            mine = 1000 * i + 10 * round + rank;
            for (unsigned k = 0; k < ranks; k++)
                out[k] = mine + 100 * k;
            err = transport->ops->gather(transport, &mine, sizes, all);
            if (!err) err = transport->ops->trade(transport, out, sizeof(*out), in);
            for (unsigned k = 0; k < ranks && !err; k++)
                if (all[k] != 1000 * i + 10 * round + k || in[k] != all[k] + 100 * rank)
                    err = NY_EINTERNAL;
        }
        if (rank == 1) rest(0.03);
        if (!err) err = transport->ops->lost(transport);
        if (err) ny_fail(own, err, "%s", transport->why);
    }
    return err;
}

/* All three ranks have done their part, and nothing of their runs is there. */
static void assert_left_well(void)
{
    assert_ended(3, NY_OK, "");
    assert_int_equal(count_entries("run-"), 0);
}

TEST(test_runs_follow_one_another)
{
    run(3, hurry);
    assert_left_well();
}

/* Rank 2 begins the next run while rank 0 has not left the last one, and so waits in that. */
static int begin_early(struct ny_context *own, unsigned rank, unsigned ranks)
{
    int err = NY_OK;

    for (unsigned i = 0; i < 2 && !err; i++) {
        OWNED(ny_transport) *transport = NULL;
        size_t nothing[RANKS_MAX] = {0};

        err = open_rank(&transport, own, rank, ranks);
        if (err) break;
        err = transport->ops->gather(transport, NULL, nothing, NULL);
        if (rank == 0) rest(0.3);
        if (err) ny_fail(own, err, "%s", transport->why);
    }
    return err;
}

TEST(test_who_waits_in_a_run_that_ends_leaves_nothing_of_it)
{
    run(3, begin_early);
    assert_left_well();
}

/* ---- ranks that end -------------------------------------------------------------------------- */

/* Rank 1 waits for ever, rank 2 for the others, and rank 0 computes, as far as they know. */
static int work_or_wait(void *arg, struct ny_context *peer, unsigned shard)
{
    int err = NY_OK;

    answer[*(unsigned *)arg].at = 1;
    if (shard == 1)
        for (;;)
            rest(1);
    while (shard == 0 && !err)
        err = ny_check_interrupt(peer);
    return err ? err : ny_peers_agree(ny_context_peers(peer), 1, "anything");
}

static void on_term(int number)
{
    (void)number;
    ny_context_interrupt(ctx, 15);
}

static int run_work(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_group_shape shape = ny_group_shape(ranks, rank, ranks);
    OWNED(ny_transport) *transport = NULL;
    int err = open_rank(&transport, own, rank, ranks);

    if (err) return err;
    ctx = own;
    signal(SIGTERM, on_term);
    err = ny_group_run(own, &shape, transport, work_or_wait, &rank);
    return err;
}

/* Rank 1 is killed, and all others hear of it: of a few, and of more than one looks at at a time.
 */
static void notice_killed(unsigned ranks)
{
    double killed_s;
    char *words = lend_text("rank 1 of %u", ranks);

    begin_all(ranks, run_work);
    rest(0.3);
    kill_rank(1);
    killed_s = ny_now();
    for (unsigned rank = 0; rank < ranks; rank++) {
        if (rank == 1) continue;
        end(rank);
        assert_int_equal(answer[rank].status, NY_EBUSY);
        assert_non_null(strstr(answer[rank].message, words));
        assert_null(strstr(answer[rank].message, "shard"));
        assert_true(answer[rank].ended_s - killed_s < NOTICE_S);
    }
    assert_int_equal(count_entries("run-"), 0);
}

TEST(test_a_killed_rank_is_noticed)
{
    notice_killed(3);
    notice_killed(12);
}

/* Rank 2, which waits for the others, is told to end; rank 0, which computes, hears why. */
TEST(test_an_interrupt_ends_all)
{
    double began_s;

    begin_all(3, run_work);
    rest(0.3);
    kill(answer[2].process, SIGTERM);
    began_s = ny_now();
    end(2);
    end(0);
    assert_true(ny_now() - began_s < NOTICE_S);
    assert_int_equal(answer[2].status, NY_ETERMINATED);
    assert_string_equal(answer[2].message, "terminated");
    assert_int_equal(answer[0].status, NY_ETERMINATED);
    assert_string_equal(answer[0].message, "shard 2: terminated");
    kill_rank(1); /* it would never look */
}

/* A process that takes the rank of the dead one is not taken for it, and waits for a new run. */
TEST(test_a_successor_is_told_apart)
{
    begin_all(3, run_work);
    kill(answer[1].process, SIGSTOP); /* so that its lock is gone for no time that is seen */
    kill_rank(1);
    begin(1, 3, exchange);
    for (unsigned rank = 0; rank < 3; rank += 2) {
        end(rank);
        assert_non_null(strstr(answer[rank].message, "rank 1 of 3"));
        begin(rank, 3, exchange);
    }
    for (unsigned rank = 0; rank < 3; rank++)
        end(rank);
    assert_ended(3, NY_OK, "");
}

static int fail_last(void *arg, struct ny_context *peer, unsigned shard)
{
    (void)arg;
    if (shard == 2) return ny_fail(peer, NY_EDATA, "row 7 is no row");
    return ny_peers_agree(ny_context_peers(peer), 1, "anything");
}

static int run_failing(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_group_shape shape = ny_group_shape(ranks, rank, ranks);
    OWNED(ny_transport) *transport = NULL;
    int err = open_rank(&transport, own, rank, ranks);

    if (err) return err;
    err = ny_group_run(own, &shape, transport, fail_last, NULL);
    return err;
}

TEST(test_a_failure_is_told_to_all)
{
    run(3, run_failing);
    assert_ended(3, NY_EDATA, "shard 2: row 7 is no row");
}

static int wait_alone(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_folder_wish wish = {.path = folder, .ranks = ranks, .wait_s = 1};
    struct ny_transport *transport;

    (void)rank;
    return ny_folder_open(&transport, own, &wish);
}

/* The rank's message has these words, and the folder after them. */
static void tells_folder(unsigned rank, const char *words)
{
    const char *at = strstr(answer[rank].message, words);

    assert_non_null(at);
    assert_int_equal(strncmp(at + strlen(words), folder, strlen(folder)), 0);
}

TEST(test_ranks_are_taken)
{
    begin(0, 2, run_work); /* two that run */
    begin(1, 2, run_work);
    await(1, 1);
    begin(2, 2, wait_alone);
    end(2);
    assert_int_equal(answer[2].status, NY_EBUSY);
    assert_non_null(strstr(answer[2].message, "hold all 2 ranks of"));
    kill_rank(1);
    end(0);
}

/* Rank 0 counts two processes, rank 1 three; both hear of it. */
static int count_more(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport *transport;

    return open_rank(&transport, own, rank, ranks + rank);
}

TEST(test_counts_agree)
{
    run(2, count_more);
    assert_ended(2, NY_EUSAGE, "give the same command to each");
}

static int be_interrupted(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport *transport;

    ctx = own;
    signal(SIGTERM, on_term);
    answer[rank].at = 1;
    return open_rank(&transport, own, rank, ranks);
}

TEST(test_waiting_is_interrupted)
{
    double began_s = ny_now();

    begin(0, 2, be_interrupted);
    await(0, 1);
    rest(0.2);
    kill(answer[0].process, SIGTERM);
    end(0);
    assert_int_equal(answer[0].status, NY_ETERMINATED);
    assert_string_equal(answer[0].message, "terminated");
    assert_true(ny_now() - began_s < 3);
}

/* ---- folders --------------------------------------------------------------------------------- */

static int refuse_folder(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct ny_transport *transport;

    (void)rank;
    if (geteuid() == 0 && (setegid(65534) || seteuid(65534))) return NY_EINTERNAL;
    return open_rank(&transport, own, 0, ranks);
}

TEST(test_a_folder_without_rights)
{
    assert_int_equal(chmod(folder, 0555), 0);
    begin(0, 2, refuse_folder);
    end(0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(answer[0].status, NY_EIO);
    assert_non_null(strstr(answer[0].message, "/peer-00000: Permission denied"));
}

/* The disk takes 100,000 bytes of a file of rank 1. */
static int fill_disk(struct ny_context *own, unsigned rank, unsigned ranks)
{
    struct rlimit limit = {100000, 100000};

    signal(SIGXFSZ, SIG_IGN);
    if (rank == 1 && setrlimit(RLIMIT_FSIZE, &limit)) return NY_EINTERNAL;
    return exchange(own, rank, ranks);
}

TEST(test_a_full_disk)
{
    run(2, fill_disk);
    assert_ended(2, NY_EIO, "File too large");
    for (unsigned rank = 0; rank < 2; rank++)
        tells_folder(rank, ": cannot write ");
}

/* All ranks are killed in their second round; half of them have written their files. */
static int stop_in_round(struct ny_context *own, unsigned rank, unsigned ranks)
{
    size_t sizes[RANKS_MAX];
    char all[RANKS_MAX];
    struct ny_transport *transport;
    int err = open_rank(&transport, own, rank, ranks);

    for (unsigned k = 0; k < ranks; k++)
        sizes[k] = 1;
    if (!err) err = transport->ops->gather(transport, "x", sizes, all);
    answer[rank].at = 1;
    if (rank < 2 && !err) err = transport->ops->gather(transport, "y", sizes, all);
    for (;;)
        rest(1);
    return err;
}

TEST(test_a_word_on_a_full_disk_leaves_no_file_open)
{
    struct ny_folder_word word;
    char fresh[PATH_MAX + 4], why[BUFSIZ + 1];
    int before = dup(0), after;

    close(before);
    snprintf(word.path, sizeof(word.path), "%s/word", folder);
    snprintf(fresh, sizeof(fresh), "%s.new", word.path);
    assert_int_equal(symlink("/dev/full", fresh), 0);
    memset(why, 'x', sizeof(why) - 1);
    why[sizeof(why) - 1] = '\0';
    ny_folder_word_leave(&word, why);
    assert_int_equal(access(word.path, F_OK), -1);
    after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

TEST(test_leftovers_mislead_nobody)
{
    for (int i = 0; i < 2; i++) {
        begin_all(3, stop_in_round);
        rest(0.05);
        for (unsigned rank = 3; rank-- > 0;)
            kill_rank(rank);
        assert_int_equal(count_entries("run-"), 1);
    }
    run(3, exchange);
    assert_left_well();
    assert_int_equal(count_entries("peer-"), 3);
}

AROUND_EACH(make, clear)
