/* Peers exchange bytes and sums in the order of their shards, whatever the number of processes, and
 * a peer that fails ends the others. Processes are stood in for by threads with a transport that
 * copies memory. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/progress.h"
#include "nystream.h"
#include "support/context.h"
#include "support/exchange_case.h"

enum { SHARDS = CASE_SHARDS, COUNT = CASE_COUNT };

/* ---- ranks in one process -------------------------------------------------------------------- */

static struct {
    pthread_barrier_t barrier;
    unsigned ranks;
    const void *given[SHARDS];
} net;

/* Gives this rank the bytes of all, or none. */
static int pass_on(struct ny_transport *t, const void *mine, const size_t *sizes, void *all)
{
    char *to = all;

    net.given[t->rank] = mine;
    pthread_barrier_wait(&net.barrier);
    for (unsigned rank = 0; to && rank < t->ranks; to += sizes[rank++])
        memcpy(to, net.given[rank], sizes[rank]);
    pthread_barrier_wait(&net.barrier);
    return 0;
}

static int net_collect(struct ny_transport *t, const void *mine, const size_t *sizes, void *all)
{
    return pass_on(t, mine, sizes, t->rank ? NULL : all);
}

static int net_trade(struct ny_transport *t, const void *out, size_t bytes, void *in)
{
    net.given[t->rank] = out;
    pthread_barrier_wait(&net.barrier);
    for (unsigned rank = 0; rank < t->ranks; rank++)
        memcpy((char *)in + rank * bytes, (const char *)net.given[rank] + t->rank * bytes, bytes);
    pthread_barrier_wait(&net.barrier);
    return 0;
}

static void net_abandon(struct ny_transport *t, int status, const char *message)
{
    (void)t;
    (void)status;
    (void)message;
}

static const struct ny_transport_ops net_ops = {
    .gather = pass_on, .collect = net_collect, .trade = net_trade, .abandon = net_abandon};

/* ---- the work of peers ----------------------------------------------------------------------- */

struct outcome {
    double *sums;       /* COUNT, of shard 0's process */
    atomic_uchar wrong; /* set by any peer */
};

static int exchange(void *arg, struct ny_context *peer, unsigned shard)
{
    struct outcome *outcome = arg;
    struct ny_peers *peers = ny_context_peers(peer);
    double *sums = lend(COUNT * sizeof(*sums));
    size_t sizes[SHARDS], at = 0;
    char mine[64], all[SHARDS * 64], word[8] = "none";
    uint64_t least = 100 + (shard * 3 + 2) % SHARDS;
    int err;

    for (unsigned k = 0; k < SHARDS; k++)
        sizes[k] = k == 1 ? 0 : 3 + k;
    memset(mine, 'a' + (int)shard, sizeof(mine));
    err = ny_peers_gather(peers, mine, sizes, all);
    if (!err) err = case_collect(peer, mine, sizes, all);
    for (unsigned k = 0; k < SHARDS; at += sizes[k++])
        for (size_t i = 0; i < sizes[k]; i++)
            outcome->wrong |= all[at + i] != 'a' + (int)k;
    for (size_t i = 0; i < COUNT; i++)
        sums[i] = case_number(shard, i);
    if (!err) err = ny_peers_fold(peers, sums, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        double sum = case_number(0, i);

        for (unsigned k = 1; k < SHARDS; k++)
            sum += case_number(k, i);
        outcome->wrong |= sums[i] != sum;
    }
    if (!err) err = case_reduce(peer, sums);
    if (shard == 0) snprintf(word, sizeof(word), "first");
    if (!err) err = ny_peers_share(peers, word, sizeof(word));
    if (!err) err = ny_peers_least(peers, &least);
    outcome->wrong |= strcmp(word, "first") != 0 || least != 100;
    if (!err) err = ny_peers_agree(peers, 42, "numbers");
    return err;
}

struct process {
    pthread_t thread;
    struct ny_transport transport;
    struct outcome outcome;
    int status;
};

static void *run_process(void *arg)
{
    struct process *process = arg;
    struct ny_group_shape shape =
        ny_group_shape(SHARDS, process->transport.rank, process->transport.ranks);
    OWNED(ny_context) *own = NULL;

    process->status = ny_context_new(&own);
    if (!process->status)
        process->status =
            ny_group_run(own, &shape, process->transport.ranks > 1 ? &process->transport : NULL,
                         exchange, &process->outcome);
    return NULL;
}

TEST(test_any_number_of_processes)
{
    for (unsigned ranks = 1; ranks <= SHARDS; ranks++) {
        struct process process[SHARDS] = {0};

        pthread_barrier_init(&net.barrier, NULL, ranks);
        for (unsigned rank = 0; rank < ranks; rank++) {
            process[rank].transport =
                (struct ny_transport){.ops = &net_ops, .rank = rank, .ranks = ranks};
            pthread_create(&process[rank].thread, NULL, run_process, &process[rank]);
        }
        for (unsigned rank = 0; rank < ranks; rank++) {
            pthread_join(process[rank].thread, NULL);
            assert_int_equal(process[rank].status, NY_OK);
            assert_false(process[rank].outcome.wrong);
        }
        pthread_barrier_destroy(&net.barrier);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Shard 3 fails while the others wait, and shard 1 computes until it hears of it. */
static int fail_one(void *arg, struct ny_context *peer, unsigned shard)
{
    struct ny_peers *peers = ny_context_peers(peer);
    char *ended = arg;
    int err = NY_OK;

    if (shard == 3) return ny_fail(peer, NY_EIO, "the disk is full");
    while (shard == 1 && !err)
        err = ny_check_interrupt(peer);
    if (!err) err = ny_peers_agree(peers, 1, "anything");
    ended[shard] = (char)(err == NY_EINTERRUPTED);
    return err;
}

TEST(test_a_failure_ends_all)
{
    struct ny_group_shape shape = ny_group_shape(SHARDS, 0, 1);
    char ended[SHARDS] = {0};

    assert_int_equal(ny_group_run(ctx, &shape, NULL, fail_one, ended), NY_EIO);
    assert_string_equal(ny_context_message(ctx), "shard 3: the disk is full");
    for (unsigned shard = 0; shard < SHARDS; shard++)
        assert_int_equal(ended[shard], shard != 3);
}

static int fail_of_another(void *arg, struct ny_context *peer, unsigned shard)
{
    (void)arg;
    if (shard == 3) return ny_fail(peer, NY_ESTORE, "shard 1 has lost rows");
    return ny_peers_agree(ny_context_peers(peer), 1, "anything");
}

TEST(test_a_message_that_names_its_shard_stays)
{
    struct ny_group_shape shape = ny_group_shape(SHARDS, 0, 1);

    assert_int_equal(ny_group_run(ctx, &shape, NULL, fail_of_another, NULL), NY_ESTORE);
    assert_string_equal(ny_context_message(ctx), "shard 1 has lost rows");
}

/* ---- a process that is lost while the last peer is about to speak -----------------------------
 */

static struct {
    atomic_bool watched, coming, spoken;
} losing;

static int losing_gather(struct ny_transport *t, const void *mine, const size_t *sizes, void *all)
{
    (void)t;
    (void)mine;
    (void)sizes;
    (void)all;
    losing.spoken = true;
    return 0;
}

/* Takes until the last peer waits for its turn. */
static int losing_lost(struct ny_transport *t)
{
    losing.watched = true;
    while (!losing.coming)
        usleep(1000);
    usleep(200000);
    t->status = NY_EIO;
    snprintf(t->why, sizeof(t->why), "rank 1 has ended");
    return 1;
}

static int come_late(void *arg, struct ny_context *peer, unsigned shard)
{
    (void)arg;
    while (shard && !losing.watched)
        usleep(1000);
    if (shard) losing.coming = true;
    return ny_peers_agree(ny_context_peers(peer), 1, "anything");
}

/* The last peer does not speak for those that waited, whose buffers are gone. */
TEST(test_nobody_speaks_after_a_loss)
{
    static const struct ny_transport_ops ops = {
        .gather = losing_gather, .abandon = net_abandon, .lost = losing_lost};
    struct ny_transport transport = {.ops = &ops, .ranks = 2};
    struct ny_group_shape shape = ny_group_shape(3, 0, 2);

    assert_int_equal(ny_group_run(ctx, &shape, &transport, come_late, NULL), NY_EIO);
    assert_false(losing.spoken);
}

static int disagree(void *arg, struct ny_context *peer, unsigned shard)
{
    return ny_peers_agree(ny_context_peers(peer), shard == *(unsigned *)arg, "options");
}

TEST(test_differing_digests_are_refused)
{
    struct ny_group_shape shape = ny_group_shape(SHARDS, 0, 1);

    for (unsigned other = 0; other < SHARDS; other++) {
        char words[60];

        ny_error_clear(ctx);
        assert_int_equal(ny_group_run(ctx, &shape, NULL, disagree, &other), NY_EUSAGE);
        snprintf(words, sizeof(words), "shard %u has other options than shard 0",
                 other ? other : 1);
        assert_non_null(strstr(ny_context_message(ctx), words));
    }
}

static int interrupt_all(void *arg, struct ny_context *peer, unsigned shard)
{
    int err = NY_OK;

    if (shard == 2) ny_context_interrupt(arg, 15);
    while (!err)
        err = ny_check_interrupt(peer);
    return err;
}

TEST(test_an_interrupt_reaches_all)
{
    struct ny_group_shape shape = ny_group_shape(SHARDS, 0, 1);

    assert_int_equal(ny_group_run(ctx, &shape, NULL, interrupt_all, ctx), NY_ETERMINATED);
    assert_string_equal(ny_context_message(ctx), "terminated");
    ny_context_interrupt(ctx, 0);
}

/* The callbacks of the whole job note here what they have seen. */
static struct {
    atomic_bool begun, under_way, heard, mixed;
} callbacks;

static void take_long(void *user, const struct ny_progress *progress)
{
    (void)user;
    (void)progress;
    callbacks.under_way = true;
    callbacks.begun = true;
    usleep(200000);
    callbacks.under_way = false;
}

static void hear(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
    callbacks.heard = true;
    callbacks.mixed = callbacks.under_way;
}

static int tell(void *arg, struct ny_context *peer, unsigned shard)
{
    struct ny_meter meter;

    (void)arg;
    while (shard && !callbacks.begun)
        usleep(1000);
    if (shard) {
        ny_log(peer, NY_LOG_WARNING, "a warning of shard %u", shard);
    } else {
        ny_meter_start(&meter, peer, "pass", 0, 1);
        ny_meter_finish(&meter);
    }
    return NY_OK;
}

/* One shard tells its progress, and another warns: callbacks never run two at a time. */
TEST(test_callbacks_take_turns)
{
    struct ny_group_shape shape = ny_group_shape(2, 0, 1);

    ny_context_set_progress(ctx, take_long, NULL);
    ny_context_set_log(ctx, hear, NULL);
    assert_int_equal(ny_group_run(ctx, &shape, NULL, tell, NULL), NY_OK);
    ny_context_set_progress(ctx, NULL, NULL);
    ny_context_set_log(ctx, NULL, NULL);
    assert_true(callbacks.begun && callbacks.heard);
    assert_false(callbacks.mixed);
}

/* Each call leaves what there is to one who has no peers. */
TEST(test_alone)
{
    double sums[2] = {1, 2}, all[2];
    uint64_t value = 7;

    assert_int_equal(ny_peers_shards(NULL), 1);
    assert_int_equal(ny_peers_fold(NULL, sums, 2), NY_OK);
    assert_int_equal(ny_peers_gather_equal(NULL, sums, sizeof(sums), all), NY_OK);
    assert_int_equal(ny_peers_least(NULL, &value), NY_OK);
    assert_true(all[0] == 1 && all[1] == 2 && value == 7);
}

TEST(test_shards_are_dealt)
{
    for (unsigned ranks = 1; ranks <= 7; ranks++) {
        unsigned next = 0;

        for (unsigned rank = 0; rank < ranks; rank++) {
            struct ny_group_shape shape = ny_group_shape(7, rank, ranks);

            assert_int_equal(shape.first, next);
            assert_true(shape.count == 7 / ranks || shape.count == 7 / ranks + 1);
            next += shape.count;
        }
        assert_int_equal(next, 7);
    }
}

static void forget(void)
{
    ny_error_clear(ctx);
}

AROUND_ALL(start, stop)
AROUND_EACH(forget, NULL)
